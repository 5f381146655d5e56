package run

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/tagged"
)

// asideRow is a quarantined note: its row in the unit, the reason, and its line in a text file.
type asideRow struct {
	Row    int64  `parquet:"row"`
	Reason string `parquet:"reason"`
	Line   int64  `parquet:"line"`
}

// rowsHeader names the columns of rows.csv. part and row say where a note that was set aside stands: the part of the private
// tree, and its row there.
var rowsHeader = []string{"file", "outcome", "reason", "rows", "line", "row", "part"}

// writeRows writes rows.csv of the private tree, which says what became of every row of every file. rowsHeader names
// its columns. outcome is masked, quarantined, excluded or unread; line is the line in a text file, otherwise 0. The
// rows of a file add up to the number of rows that it has, and those of the output to the counts of its manifest. The
// result holds the same numbers, added up by file.
func writeRows(f *commit.Final) ([]report.FileRows, error) {
	before, err := asideBefore(f)
	if err != nil {
		return nil, err
	}
	part, err := f.Create("rows", "rows.csv", true)
	if err != nil {
		return nil, err
	}
	w := csv.NewWriter(part)
	_ = w.Write(rowsHeader) // w.Error has it
	var sums report.RowSums
	put := func(file, outcome, reason string, rows int64, at asideRow, part string) {
		if reason == pipeline.Excluded.String() {
			outcome = "excluded"
		}
		sums.Add(file, outcome, reason, rows)
		_ = w.Write([]string{file, outcome, reason, strconv.FormatInt(rows, 10), strconv.FormatInt(at.Line, 10), strconv.FormatInt(at.Row, 10),
			part})
	}
	for i := range f.Manifest.Units {
		u := &f.Manifest.Units[i]
		var aside []asideRow
		var from string
		for _, p := range u.Parts {
			if p.Kind != "quarantine" {
				continue
			}
			from = p.Path
			if aside = before[from]; len(aside) > 0 {
				continue
			}
			data, err := f.Read(p)
			if err == nil {
				err = tagged.RowsIn(p.Path, bytes.NewReader(data), func(r asideRow) error { aside = append(aside, r); return nil })
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", p.Path, err)
			}
		}
		slices.SortFunc(aside, func(a, b asideRow) int { return cmp.Compare(a.Row, b.Row) })
		for _, file := range u.Files() {
			left := file.Rows
			for _, r := range aside {
				if !file.Shares || r.Row >= file.First && r.Row < file.First+file.Rows {
					put(file.Input, "quarantined", r.Reason, 1, r, from)
					left--
				}
			}
			if masked := u.Masked; file.Damage == "" && (file.Shares || masked > 0) {
				if !file.Shares {
					left -= masked
				} else {
					masked, left = left, 0
				}
				put(file.Input, "masked", "", masked, asideRow{}, "")
			}
			if left > 0 { // nothing of it could be decoded
				put(file.Input, "quarantined", pipeline.BadUnit.String(), left, asideRow{}, "")
			}
		}
	}
	for _, bad := range f.Manifest.BadInputs {
		put(bad.Input, "unread", bad.Cause, 0, asideRow{}, "")
	}
	w.Flush()
	return sums.Files, w.Error()
}

// asideBefore returns the quarantined rows in rows.csv of the last commit, by part. The name of a part holds a digest
// of its content, so the parts need not be opened. It is empty if the file is of an older velum or has changed.
func asideBefore(f *commit.Final) (map[string][]asideRow, error) {
	by := map[string][]asideRow{}
	for _, p := range f.Before {
		if p.Kind != "rows" {
			continue
		}
		data, err := f.Read(p)
		if _, changed := errors.AsType[*durable.IntegrityError](err); changed {
			return by, nil
		}
		if err != nil {
			return nil, err
		}
		lines := csv.NewReader(bytes.NewReader(data))
		lines.FieldsPerRecord, lines.ReuseRecord = len(rowsHeader), true
		for {
			line, err := lines.Read()
			if err != nil { // the end, or the columns of an older velum
				return by, nil
			}
			at, bad := strconv.ParseInt(line[4], 10, 64)
			row, worse := strconv.ParseInt(line[5], 10, 64)
			if part := line[6]; part != "" && bad == nil && worse == nil {
				by[part] = append(by[part], asideRow{row, strings.Clone(line[2]), at})
			}
		}
	}
	return by, nil
}
