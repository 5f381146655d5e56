package run

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"slices"
	"strconv"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/tagged"
)

// asideRow is a note that was set aside.
type asideRow struct {
	Row    int64  `parquet:"row"`
	Reason string `parquet:"reason"`
	Line   int64  `parquet:"line"`
}

// writeRows writes rows.csv of the private tree: what became of every row of every file. Its lines have file, outcome (masked,
// quarantined, excluded, unread), reason, rows, and line, which is that of a file of text, or 0. Of a file all rows add up to what it
// has, and of an output to what its manifest says.
func writeRows(f *commit.Final) error {
	part, err := f.Create("rows", "rows.csv", true)
	if err != nil {
		return err
	}
	w := csv.NewWriter(part)
	put := func(file, outcome, reason string, rows, line int64) {
		if reason == pipeline.Excluded.String() {
			outcome = "excluded"
		}
		_ = w.Write([]string{file, outcome, reason, strconv.FormatInt(rows, 10), strconv.FormatInt(line, 10)}) // w.Error has it
	}
	_ = w.Write([]string{"file", "outcome", "reason", "rows", "line"})
	for i := range f.Manifest.Units {
		u := &f.Manifest.Units[i]
		var aside []asideRow
		for _, p := range u.Parts {
			if p.Kind != "quarantine" {
				continue
			}
			data, err := f.Read(p)
			if err == nil {
				err = tagged.RowsIn(p.Path, bytes.NewReader(data), func(r asideRow) error { aside = append(aside, r); return nil })
			}
			if err != nil {
				return fmt.Errorf("%s: %w", p.Path, err)
			}
		}
		slices.SortFunc(aside, func(a, b asideRow) int { return cmp.Compare(a.Row, b.Row) })
		for _, file := range u.Files() {
			left := file.Rows
			for _, r := range aside {
				if !file.Shares || r.Row >= file.First && r.Row < file.First+file.Rows {
					put(file.Input, "quarantined", r.Reason, 1, r.Line)
					left--
				}
			}
			if masked := u.Masked; file.Damage == "" && (file.Shares || masked > 0) {
				if !file.Shares {
					left -= masked
				} else {
					masked, left = left, 0
				}
				put(file.Input, "masked", "", masked, 0)
			}
			if left > 0 { // nothing of it could be decoded
				put(file.Input, "quarantined", pipeline.BadUnit.String(), left, 0)
			}
		}
	}
	for _, bad := range f.Manifest.BadInputs {
		put(bad.Input, "unread", bad.Cause, 0, 0)
	}
	w.Flush()
	return w.Error()
}
