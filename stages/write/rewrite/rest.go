package rewrite

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/idset"
	"github.com/velum-health/velum/pipeline/tally"
	"github.com/velum-health/velum/stages/write/summary"
	"github.com/velum-health/velum/stages/write/table"
)

// Remaining updates an encoded shortlist after notes were removed: place returns the new position of a note among those
// that are written, or false if it is removed.
type Remaining func(list []byte, place func(was int32) (now int32, stays bool)) ([]byte, error)

// Rest rewrites the parts of a unit without the rows of removed files, as commit.UnitOptions.Rest needs it. The other
// rows keep their numbers, and every column keeps its type. Counts of the removed rows are subtracted. Words examined
// for the language are counted per unit only, so these counts are reduced in proportion. Uses of rules and operators
// stay, since they record what was done. Forms of harmless masked words are dropped, because they may come from a
// removed note. A removed note that was chosen and not listed among the candidates is counted still: no part has it.
func Rest(parts *commit.Parts, of *commit.UnitRecord, open func(commit.PartRecord) (durable.File, error), stays func(row int64) bool,
	list Remaining) (commit.Counts, error) {
	r := remaining{parts: parts, stays: stays, spanned: map[int64]bool{}, gone: tally.Counts{}}
	for _, p := range of.Parts {
		if err := r.part(commit.Staged{PartRecord: p, Open: func() (durable.File, error) { return open(p) }}); err != nil {
			return commit.Counts{}, fmt.Errorf("%s: %w", p.Path, err)
		}
	}
	if err := r.summarize(list); err != nil {
		return commit.Counts{}, err
	}
	return r.counts(of), nil
}

// remaining copies the rows of a unit's parts that stay when some of its files are removed.
type remaining struct {
	parts      *commit.Parts
	stays      func(row int64) bool
	done       commit.Counts
	masked     int64            // rows that go of the masked part
	spanned    map[int64]bool   // rows that go and have spans
	gone       tally.Counts     // what was counted of them
	ids        idset.Set        // of the notes that stay
	summary    *summary.Summary // of all notes; nil: the unit has none
	candidates []int32          // by the place that each had, that which it has now; goes
}

// goes is returned in place of the new position of a candidate that is removed.
const goes = -1

// sum reads the summary of all notes.
func (r *remaining) sum(p commit.Staged) error {
	file, err := p.Open()
	if err != nil {
		return err
	}
	data, err := io.ReadAll(file)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	s, err := summary.Parse(data)
	if err != nil {
		return err
	}
	r.summary = &s
	return nil
}

// summarize computes the summary of the rows that stay.
func (r *remaining) summarize(list Remaining) (err error) {
	s := r.summary
	if s == nil {
		return nil
	}
	if len(s.Candidates) > 0 {
		s.Candidates, err = list(s.Candidates, func(was int32) (int32, bool) {
			if was < 0 || int(was) >= len(r.candidates) {
				return 0, false
			}
			return r.candidates[was], r.candidates[was] != goes
		})
		if err != nil {
			return err
		}
	}
	had := len(s.IDs) > 0
	if s.IDs = nil; had {
		s.IDs = r.ids.AppendBinary(nil)
	}
	to, err := r.parts.Create("summary", summary.Ext, true)
	if err == nil {
		_, err = to.Write(s.Append(nil))
	}
	return err
}

// part writes the rest of a part.
func (r *remaining) part(p commit.Staged) (err error) {
	if p.Kind == "summary" {
		return r.sum(p)
	}
	from, err := openPart(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.file.Close()) }()
	c := rowCopier{remaining: r, from: from, kind: p.Kind, at: map[string]int{}}
	for i, leaf := range from.footer.Schema().Columns() {
		if len(leaf) == 1 {
			c.at[leaf[0]] = i
		}
	}
	if from.called < 0 {
		return errors.New("has no column of rows")
	}
	if p.Kind == "masked" || p.Kind == "notes" { // which are there even if they are empty
		if err := c.begin(); err != nil {
			return err
		}
	}
	for err = from.next(nil); err == nil && from.row != nil; {
		if err = c.row(from.row); err == nil {
			err = from.next(c.to)
		}
	}
	if err != nil || c.to == nil {
		return err
	}
	return c.to.End()
}

// rowCopier copies the rows of a part that stay, and counts the others.
type rowCopier struct {
	*remaining
	kind   string
	at     map[string]int // leaves that are a column of their own, by name
	from   *reader
	to     *table.Part // nil: nothing has stayed yet
	placed int32       // rows that have stayed
}

func (c *rowCopier) begin() error {
	file, err := c.parts.Create(c.kind, ".parquet", c.from.of.Private)
	if err == nil {
		c.to, err = c.from.again(file, 0)
	}
	return err
}

func (c *rowCopier) row(row parquet.Row) error {
	number := c.from.number
	stays := c.stays(number)
	if c.kind == "candidates" {
		place := int32(goes)
		if stays {
			place = c.placed
			c.placed++
		}
		c.candidates = append(c.candidates, place)
	}
	if !stays {
		c.count(number, row)
		return nil
	}
	switch c.kind {
	case "masked":
		c.ids.Add(c.value(row, "note_id").ByteArray())
		c.done.Masked++
	case "quarantine":
		c.ids.Add(c.value(row, "note_id").ByteArray())
		c.done.Quarantined++
		if c.done.Reasons == nil {
			c.done.Reasons = map[string]int64{}
		}
		c.done.Reasons[c.text(row, "reason")]++
	}
	if c.to == nil {
		if err := c.begin(); err != nil {
			return err
		}
	}
	return c.to.Take(row)
}

// value is that of a column that has one a row.
func (c *rowCopier) value(row parquet.Row, name string) parquet.Value {
	for _, v := range row {
		if at, there := c.at[name]; there && v.Column() == at {
			return v
		}
	}
	return parquet.NullValue()
}

func (c *rowCopier) text(row parquet.Row, name string) string {
	return string(c.value(row, name).ByteArray())
}

// count adds a removed row to the counts that will be subtracted: see counted.named.
func (c *rowCopier) count(number int64, row parquet.Row) {
	switch c.kind {
	case "masked":
		c.masked++
		if strings.TrimSpace(c.text(row, "text")) == "" {
			c.gone.Note(tally.Empty, "", 1)
		}
	case "notes":
		confidence := c.value(row, "confidence").Float()
		bin := calibrate.BinName(calibrate.DoubtBin(confidence))
		c.gone.Note(tally.Language, cmp.Or(c.text(row, "language"), "unknown"), 1)
		c.gone.Note(tally.DoubtBy, tally.Pair(tally.ByLanguage+c.text(row, "language"), bin), 1)
		c.gone.Note(tally.DoubtBy, tally.Pair(tally.ByCenter+c.text(row, "center"), bin), 1) // that of no centre goes below 0, and away
		c.gone.Note(tally.Confidence, tally.BinName(tally.Bin(confidence)), 1)
		c.gone.Note(tally.Doubt, bin, 1)
	case "original":
		c.gone.NoteSpans(c.text(row, "category"), c.text(row, "source"), 1)
		if !c.spanned[number] {
			c.spanned[number] = true
			c.gone.Note(tally.WithSpans, "", 1)
		}
	case "candidates":
		c.gone.Note(tally.Chosen, c.text(row, "choice"), 1)
	}
}

// counts returns the counts of the rows that stay.
func (r *remaining) counts(of *commit.UnitRecord) commit.Counts {
	r.done.Rows = r.done.Masked + r.done.Quarantined
	r.done.Tally = maps.Clone(of.Tally)
	for name, n := range r.gone {
		r.done.Tally[name] -= n
	}
	for _, name := range []tally.Of{tally.Words, tally.Unknown, tally.Foreign} {
		if n, there := r.done.Tally[string(name)]; there {
			r.done.Tally[string(name)] = n * r.done.Masked / max(r.done.Masked+r.masked, 1)
		}
	}
	maps.DeleteFunc(r.done.Tally, func(name string, n int64) bool { return n <= 0 })
	return r.done
}
