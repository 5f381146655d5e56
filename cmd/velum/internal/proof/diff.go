package proof

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/tagged"
)

// DiffOptions names the two outputs to compare, and the file for the differences.
type DiffOptions struct {
	Before, After string
	Places        string // file of the places that differ, a line of JSON each; "" for none
}

// difference counts the differences of two outputs over the same notes: counts alone.
type difference struct {
	Kind     string                `json:"message_type"`
	Notes    int64                 `json:"notes"` // that both have
	Same     int64                 `json:"same"`  // of these, with the same places, categories and replacements
	Held     int64                 `json:"held_back_now"`
	Released int64                 `json:"released_now"`
	Only     [2]int64              `json:"notes_of_one_alone"` // before, after
	By       map[string]*diffCount `json:"by_category"`
}

// diffCount counts differences of one category. A span whose category differs counts under its category in this output.
type diffCount struct {
	Hidden   int64 `json:"hidden_now"`        // was readable
	Readable int64 `json:"readable_now"`      // was hidden
	Category int64 `json:"other_category"`    // hidden in both
	Replaced int64 `json:"other_replacement"` // the same place and category, another text in its place
}

// place is a line of the file DiffOptions.Places. It holds words of a note: those that one of the two outputs leaves
// readable.
type place struct {
	ID     string `json:"id"`
	Part   string `json:"part"`
	Row    int64  `json:"row"`
	What   string `json:"what"`  // hidden_now, readable_now, other_category
	Start  int32  `json:"start"` // in bytes of the note
	End    int32  `json:"end"`
	Before string `json:"before,omitempty"` // category
	After  string `json:"after,omitempty"`
	Text   string `json:"text,omitempty"`
}

// Diff compares two outputs of the same notes and prints which spans are masked only in the second one, and which only
// in the first.
func Diff(ctx context.Context, c *console.Console, o *DiffOptions) error {
	before, err := openOutput(o.Before)
	if err != nil {
		return err
	}
	after, err := openOutput(o.After)
	if err != nil {
		return err
	}
	d := &differ{d: difference{Kind: "diff", By: map[string]*diffCount{}}}
	if o.Places == "" {
		err = d.compare(ctx, before, after)
	} else {
		err = d.listed(o.Places, func() error { return d.compare(ctx, before, after) })
	}
	if err != nil {
		return err
	}
	if d.d.Notes == 0 {
		return exit.Errorf(exit.Nothing, "name two outputs of the same archive, made with the same read.unit_notes",
			"%s and %s have no note in common", o.Before, o.After)
	}
	return c.Tell(d.d, differences)
}

// listed writes the places to a file while do compares.
func (d *differ) listed(name string, do func() error) (err error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, durable.FileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	d.to = json.NewEncoder(w)
	d.to.SetEscapeHTML(false)
	return errors.Join(do(), w.Flush())
}

// compare takes the files that both outputs have.
func (d *differ) compare(ctx context.Context, before, after *output) error {
	for _, key := range slices.SortedFunc(maps.Keys(before.files), pieceKey.compare) {
		if err := context.Cause(ctx); err != nil {
			return err
		}
		a, b := before.files[key], after.files[key]
		if b == nil {
			d.d.Only[0] += a.Rows
			continue
		}
		if err := d.file(before, after, a, b); err != nil {
			return err
		}
	}
	for key, b := range after.files {
		if before.files[key] == nil {
			d.d.Only[1] += b.Rows
		}
	}
	return nil
}

// An output is one of the two outputs that diff compares, with its files by the digest of their content.
type output struct {
	dir, private string
	files        map[pieceKey]*commit.UnitRecord

	unit string // that is loaded
	rows map[int64]*diffNote
}

// pieceKey is a file of the archive, or a piece of one.
type pieceKey struct {
	files.Key
	copy int
}

func (k pieceKey) compare(l pieceKey) int {
	return cmp.Or(cmp.Compare(k.SHA256, l.SHA256), cmp.Compare(k.From, l.From), cmp.Compare(k.To, l.To), cmp.Compare(k.copy, l.copy))
}

func openOutput(dir string) (*output, error) {
	private, m, err := files.Private(dir)
	if err != nil {
		return nil, err
	}
	o := &output{dir: filepath.Clean(dir), private: private, files: map[pieceKey]*commit.UnitRecord{}}
	for i := range m.Units {
		for _, f := range m.Units[i].Files() {
			o.files[pieceKey{files.KeyIn(&f), f.Copy}] = &f
		}
	}
	return o, nil
}

// diffNote is a note as one output holds it.
type diffNote struct {
	id, part string
	masked   []byte // nil: it is held back
	spans    []diffSpan
}

type diffSpan struct {
	start, end int32 // in the note
	from, to   int32 // of what stands for it, in masked; from -1: it looks like a value, and no output says where it is
	category   string
}

func (s *diffSpan) placed() bool { return s.from >= 0 }

// load reads the notes of the unit that a file is of. The places of its spans stand
// in the public tree, where they were in the note in the private one, in one order;
// the public one lacks the categories whose replacements look like values.
func (o *output) load(f *commit.UnitRecord) error {
	unit := ""
	parts := map[string]*commit.PartRecord{}
	for i := range f.Parts {
		parts[f.Parts[i].Kind] = &f.Parts[i]
		unit += f.Parts[i].SHA256
	}
	if unit == o.unit {
		return nil
	}
	o.unit, o.rows = unit, map[int64]*diffNote{}
	source, err := tagged.Sources(f.Parts, func(p *commit.PartRecord) ([]byte, error) { return files.Part(o.private, p) })
	if err != nil {
		return err
	}
	rowOf := func(v tagged.PartValue) int64 { return source(int64(v.Bits)) }
	if err := o.each(parts["masked"], []string{"note_id", "part", "row", "text"}, func(r []tagged.PartValue) {
		o.rows[rowOf(r[2])] = &diffNote{id: string(r[0].Bytes), part: string(r[1].Bytes), masked: append([]byte{}, r[3].Bytes...)}
	}); err != nil {
		return err
	}
	var rows []int64
	var spans []diffSpan
	if err := o.each(parts["original"], []string{"row", "start", "end", "category"}, func(r []tagged.PartValue) {
		rows = append(rows, rowOf(r[0]))
		spans = append(spans, diffSpan{start: int32(r[1].Bits), end: int32(r[2].Bits), from: -1, category: string(r[3].Bytes)})
	}); err != nil {
		return err
	}
	i := 0
	err = o.each(parts["spans"], []string{"row", "start", "end", "category"}, func(r []tagged.PartValue) {
		for i < len(spans) && (rows[i] != rowOf(r[0]) || spans[i].category != string(r[3].Bytes)) {
			i++
		}
		if i < len(spans) {
			spans[i].from, spans[i].to = int32(r[1].Bits), int32(r[2].Bits)
		}
		i++
	})
	if err != nil {
		return err
	}
	if i > len(spans) {
		return &durable.IntegrityError{Path: parts["spans"].Path, Cause: "has places that nothing was found at"}
	}
	for k := range spans {
		if n := o.rows[rows[k]]; n != nil {
			n.spans = append(n.spans, spans[k])
		}
	}
	return nil
}

// each reads columns of a part, which must be the one that the manifest names.
func (o *output) each(p *commit.PartRecord, columns []string, do func([]tagged.PartValue)) error {
	if p == nil {
		return nil
	}
	dir := o.dir
	if p.Private {
		dir = o.private
	}
	data, err := files.Part(dir, p)
	if err != nil {
		return err
	}
	return tagged.EachOf(p.Path, bytes.NewReader(data), columns, func(r []tagged.PartValue) error {
		do(r)
		return nil
	})
}

// differ compares note by note.
type differ struct {
	d  difference
	to *json.Encoder // nil: nobody wants the places
}

func (d *differ) file(before, after *output, a, b *commit.UnitRecord) error {
	if err := before.load(a); err != nil {
		return err
	}
	if err := after.load(b); err != nil {
		return err
	}
	rows := slices.Concat(before.rowsOf(a), after.rowsOf(b))
	slices.Sort(rows)
	rows = slices.Compact(rows)
	d.d.Notes += a.Rows
	d.d.Same += a.Rows - int64(len(rows)) // held back by both
	for _, row := range rows {
		rb := row + b.First
		was, is := before.rows[row+a.First], after.rows[rb]
		switch {
		case was == nil:
			d.d.Released++
		case is == nil:
			d.d.Held++
		default:
			if err := d.note(rb, was, is); err != nil {
				return err
			}
		}
	}
	return nil
}

// rowsOf returns the released rows of a file, counted from its first row.
func (o *output) rowsOf(f *commit.UnitRecord) (rows []int64) {
	for row := range o.rows {
		if !f.Shares || row >= f.First && row < f.First+f.Rows {
			rows = append(rows, row-f.First)
		}
	}
	return rows
}

// note compares a note that both release.
func (d *differ) note(row int64, was, is *diffNote) error {
	changed := false
	tell := func(p place, count *int64) error {
		changed = true
		*count++
		if d.to == nil {
			return nil
		}
		p.ID, p.Part, p.Row = is.id, is.part, row
		return d.to.Encode(p)
	}
	for _, s := range is.spans {
		for _, gap := range was.readable(s) {
			text, _ := was.text(gap)
			if err := tell(place{What: "hidden_now", Start: gap.start, End: gap.end, After: s.category, Text: text},
				&d.of(s.category).Hidden); err != nil {
				return err
			}
		}
		for _, w := range was.spans {
			switch {
			case w.start >= s.end || s.start >= w.end:
			case w.category != s.category:
				if err := tell(place{What: "other_category", Start: s.start, End: s.end, Before: w.category, After: s.category},
					&d.of(s.category).Category); err != nil {
					return err
				}
			case w.start == s.start && w.end == s.end && w.placed() && s.placed() && !bytes.Equal(was.masked[w.from:w.to], is.masked[s.from:s.to]):
				changed = true
				d.of(s.category).Replaced++
			}
		}
	}
	for _, w := range was.spans {
		for _, gap := range is.readable(w) {
			text, _ := is.text(gap)
			if err := tell(place{What: "readable_now", Start: gap.start, End: gap.end, Before: w.category, Text: text},
				&d.of(w.category).Readable); err != nil {
				return err
			}
		}
	}
	if !changed && bytes.Equal(was.masked, is.masked) {
		d.d.Same++
	}
	return nil
}

func (d *differ) of(category string) *diffCount {
	if d.d.By[category] == nil {
		d.d.By[category] = &diffCount{}
	}
	return d.d.By[category]
}

// readable returns the pieces of a span of the other output that are readable in this one and hold a letter or digit.
// What is behind a realistic replacement is unknown: it counts if it is longer than the text between two names.
func (n *diffNote) readable(s diffSpan) (gaps []diffSpan) {
	at := s.start
	add := func(start, end int32) {
		if start >= end {
			return
		}
		gap := diffSpan{start: start, end: end}
		text, known := n.text(gap)
		if !known && end-start > 2 || strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
			gaps = append(gaps, gap)
		}
	}
	for _, own := range n.spans {
		if own.start >= s.end {
			break
		}
		add(at, min(own.start, s.end))
		at = max(at, own.end)
	}
	add(at, s.end)
	return gaps
}

// text returns the original text between two spans of a note; known is false if the output does not tell what it was.
func (n *diffNote) text(gap diffSpan) (text string, known bool) {
	moved := int32(0)
	known = true // in front of the first
	for _, own := range n.spans {
		if own.end > gap.start {
			break
		}
		moved, known = own.to-own.end, own.placed()
	}
	if !known {
		return "", false
	}
	from, to := gap.start+moved, gap.end+moved
	if from < 0 || int(to) > len(n.masked) || from > to {
		return "", false
	}
	return string(n.masked[from:to]), true
}

// differences is the template that prints a difference for people.
const differences = `notes that both have  {{.notes}}
  without a difference {{.same}}
  held back now        {{.held_back_now}}
  released now         {{.released_now}}
{{$before := index .notes_of_one_alone 0}}{{$after := index .notes_of_one_alone 1}}{{if or $before $after -}}
notes of one alone    {{$before}} before, {{$after}} after
{{end}}{{with .by_category}}
{{printf "%-34s %10s %12s %14s %17s" "places by category" "hidden now" "readable now" "other category" "other replacement"}}
{{range $category, $n := .}}{{printf "%-34s %10d %12d %14d %17d" $category .hidden_now .readable_now .other_category .other_replacement}}
{{end}}{{end}}`
