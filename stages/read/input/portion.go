package input

import (
	"bytes"
	"io"
	"strconv"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/limit"
)

// feed hands out the notes of a source one by one.
type Feed struct {
	Src pipeline.Source
	In  pipeline.Batch
	At  int
}

// next moves to the next note; the error is io.EOF behind the last.
func (f *Feed) Next() error {
	f.At++
	for f.At >= f.In.Len() {
		f.In.Reset()
		if err := f.Src.Next(&f.In); err != nil {
			return err
		}
		f.At = 0
	}
	return nil
}

// copyTo appends the note at hand to b: what readers of every format fill.
func (f *Feed) CopyTo(b *pipeline.Batch) {
	b.ID.Append(f.In.ID.At(f.At))
	b.Text.Append(f.In.Text.At(f.At))
	b.Reason = append(b.Reason, f.In.Reason[f.At])
	if f.In.Gold.Len() > 0 {
		b.Gold.Append(f.In.Gold.At(f.At)...)
	}
}

func Full(b *pipeline.Batch) bool {
	return b.Len() >= limit.BatchNotes || len(b.Text.Data) >= limit.BatchBytes
}

// ended returns what Next returns after err, given what is in b already.
func Ended(b *pipeline.Batch, err error) error {
	if err == io.EOF && b.Len() > 0 {
		return nil
	}
	return err
}

// Keep is the notes of a source that a question picks by their id. It is a
// pipeline.Source; Batch.First counts the notes that are kept.
type Keep struct {
	feed Feed
	keep func(id []byte) bool
	n    int64
}

// NewKeep returns the notes of src for which keep says yes. It is asked once a
// note, in order.
func NewKeep(src pipeline.Source, keep func(id []byte) bool) *Keep {
	return &Keep{feed: Feed{Src: src}, keep: keep}
}

// Next implements pipeline.Source.
func (k *Keep) Next(b *pipeline.Batch) error {
	b.First = k.n
	for !Full(b) {
		if err := k.feed.Next(); err != nil {
			return Ended(b, err)
		}
		if !k.keep(k.feed.In.ID.At(k.feed.At)) {
			continue
		}
		k.feed.CopyTo(b)
		k.n++
	}
	return nil
}

// Lines is the lines of the notes of a source, each as a note of its own, with
// the gold spans in it: the unit of confidence of long documents (BOOT §3.2.1 has the note).
// Line 3 of note 7 has the id 7#3. Blank lines are left out, a span that
// reaches over the end of a line is cut there, and a note that is not sound
// stays whole. It is a pipeline.Source; Batch.First counts lines.
type Lines struct {
	feed Feed
	text []byte // of the note at hand that is left
	from int32  // where it begins in the note
	line int
	id   []byte
	n    int64
}

// NewLines returns the lines of src.
func NewLines(src pipeline.Source) *Lines { return &Lines{feed: Feed{Src: src}} }

// Next implements pipeline.Source.
func (l *Lines) Next(b *pipeline.Batch) error {
	b.First = l.n
	for !Full(b) {
		if len(l.text) == 0 {
			if err := l.feed.Next(); err != nil {
				return Ended(b, err)
			}
			if l.feed.In.Reason[l.feed.At] != pipeline.Sound {
				l.feed.CopyTo(b)
				l.n++
				continue
			}
			l.text, l.from, l.line = l.feed.In.Text.At(l.feed.At), 0, 0
			continue
		}
		l.cut(b)
	}
	return nil
}

// cut appends the next line.
func (l *Lines) cut(b *pipeline.Batch) {
	line, rest, _ := bytes.Cut(l.text, []byte{'\n'})
	from := l.from
	l.from += int32(len(l.text) - len(rest))
	l.text = rest
	l.line++
	if len(bytes.TrimSpace(line)) == 0 {
		return
	}
	l.n++
	l.id = append(append(l.id[:0], l.feed.In.ID.At(l.feed.At)...), '#')
	b.ID.Append(strconv.AppendInt(l.id, int64(l.line), 10))
	b.Text.Append(line)
	b.Reason = append(b.Reason, pipeline.Sound)
	if l.feed.In.Gold.Len() == 0 {
		return
	}
	to := from + int32(len(line))
	for _, g := range l.feed.In.Gold.At(l.feed.At) {
		if g.Start < to && g.End > from {
			g.Start, g.End = max(g.Start, from)-from, min(g.End, to)-from
			b.Gold.Items = append(b.Gold.Items, g)
		}
	}
	b.Gold.End()
}
