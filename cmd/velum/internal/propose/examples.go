package propose

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/limit"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/vet"
)

// examples are notes of a column, masked by the stages of a run.
type examples struct {
	notes     []example
	seen      int            // notes that were masked or set aside
	aside     map[string]int // by reason
	found     map[string]int // by category
	languages map[string]int
	vetter    *vet.Vetter
}

type example struct {
	ID    string `json:"note_id"`
	Text  string `json:"text"`
	kinds int    // of what was masked in it
}

// draw masks some notes of a column, or of files that have none: nil.
func (p *proposal) draw(ctx context.Context, c *column, src pipeline.Source) error {
	e := &examples{aside: map[string]int{}, found: map[string]int{}, languages: map[string]int{}, vetter: vet.NewVetter()}
	p.examples[c] = e
	steps, err1 := p.flow.StreamSteps(nil, false)
	apart, err2 := p.flow.Apart()
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return pipeline.Run(ctx, src, append(apart, steps...), e, nil)
}

// valueOf is the value of a column in a row; "" if it has none.
func valueOf(row []parquet.Cell, c *column) string {
	for _, cell := range row {
		if c != nil && cell.Column == c.number {
			return cell.Text
		}
	}
	return ""
}

// cells is a pipeline.Source of one column of the rows that were kept.
type cells struct {
	p    *proposal
	text *column
	at   int
}

// Next implements pipeline.Source.
func (c *cells) Next(b *pipeline.Batch) error {
	t := c.p.table
	for b.First = int64(c.at); c.at < len(t.kept) && !input.Full(b); c.at++ {
		note := valueOf(t.kept[c.at], c.text)
		if note == "" {
			continue
		}
		b.ID.Append([]byte(valueOf(t.kept[c.at], c.p.roles.id)))
		input.AppendText(b, []byte(note), limit.NoteBytes)
	}
	if b.Len() == 0 {
		return io.EOF
	}
	return nil
}

// units is a pipeline.Source of the first notes of files that have no columns.
type units struct {
	archive *archive.Archive
	open    archive.UnitSource
	at      int
	left    int // notes
}

func (p *proposal) unitsOf(ctx context.Context, files []archive.File) (*units, error) {
	var paths []string
	for _, f := range files[:min(len(files), max(p.o.Try, 50))] {
		paths = append(paths, f.Path)
	}
	a, err := archive.Scan(ctx, paths, p.read, nil)
	if err != nil {
		return nil, err
	}
	p.flow.Documents = a.HasDocuments()
	if p.notes = fmt.Sprintf("%d notes", a.Rows()); len(paths) < len(files) {
		p.notes = fmt.Sprintf("about %d notes", a.Rows()*int64(len(files))/int64(len(paths)))
	}
	return &units{archive: a, left: max(p.o.Try, mostKept)}, nil
}

// Next implements pipeline.Source.
func (u *units) Next(b *pipeline.Batch) (err error) {
	for u.left > 0 {
		if u.open == nil {
			if u.at == len(u.archive.Units) {
				return io.EOF
			}
			if u.open, err = u.archive.Open(&u.archive.Units[u.at]); err != nil {
				return err
			}
			u.at++
		}
		if err = u.open.Next(b); err != io.EOF {
			u.left -= b.Len()
			return err
		}
		if err = u.open.Close(); err != nil {
			return err
		}
		u.open = nil
	}
	return io.EOF
}

// Put implements pipeline.Sink. Text that verify has not passed is not kept.
func (e *examples) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		e.seen++
		if b.Reason[i] == pipeline.Sound && !b.Sealed(i) {
			b.Quarantine(i, pipeline.Unsealed)
		}
		if b.Reason[i] != pipeline.Sound {
			e.aside[b.Reason[i].String()]++
			continue
		}
		e.languages[b.Language[i].String()]++
		kinds := map[pipeline.Category]bool{}
		for _, s := range b.Spans.At(i) {
			kinds[s.Category] = true
			e.found[s.Category.String()]++
		}
		id := string(b.ID.At(i))
		if e.vetter.Holds(b.ID.At(i)) != "" {
			id = "(says who somebody is)"
		}
		e.notes = append(e.notes, example{id, string(b.Masked.At(i)), len(kinds)})
	}
	return nil
}

// shown are the first n notes; of a few those in which most was masked, since they say more, and none twice.
func (e *examples) shown(n int) (notes []example) {
	if n >= 10 {
		return e.notes[:min(n, len(e.notes))]
	}
	notes = slices.Clone(e.notes)
	slices.SortStableFunc(notes, func(a, b example) int {
		return cmp.Or(cmp.Compare(min(b.kinds, 3), min(a.kinds, 3)), strings.Compare(a.Text, b.Text))
	})
	notes = slices.CompactFunc(notes, func(a, b example) bool { return a.Text == b.Text })
	return notes[:min(n, len(notes))]
}

// summary says what became of the notes.
func (e *examples) summary(shown int) string {
	line := fmt.Sprintf("%d notes shown of %d that were looked at", min(shown, len(e.notes)), e.seen)
	for _, name := range byCount(e.found) {
		line += fmt.Sprintf("; %s %d", name, e.found[name])
	}
	for _, reason := range byCount(e.aside) {
		line += fmt.Sprintf("; set aside (%s) %d", reason, e.aside[reason])
	}
	return line
}

// tongues are the languages of the notes with their shares.
func (e *examples) tongues() string {
	var all []string
	for _, l := range byCount(e.languages) {
		if share := 100 * e.languages[l] / max(len(e.notes), 1); share > 0 {
			all = append(all, fmt.Sprintf("%s %d %%", cmp.Or(l, "not told"), share))
		}
	}
	return strings.Join(all, ", ")
}

// byCount are the keys of a count, the largest first.
func byCount(count map[string]int) []string {
	return slices.SortedFunc(maps.Keys(count), func(a, b string) int { return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(a, b)) })
}
