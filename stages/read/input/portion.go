package input

import (
	"io"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/limit"
)

// Feed iterates over the notes of a source.
type Feed struct {
	Src pipeline.Source
	In  pipeline.Batch
	At  int
}

// Next moves to the next note; the error is io.EOF after the last.
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

// CopyTo appends the current note to b: the columns that readers of every format fill.
func (f *Feed) CopyTo(b *pipeline.Batch) {
	b.ID.Append(f.In.ID.At(f.At))
	b.Text.Append(f.In.Text.At(f.At))
	b.Reason = append(b.Reason, f.In.Reason[f.At])
	if f.In.Gold.Len() > 0 {
		b.Gold.Append(f.In.Gold.At(f.At)...)
	}
}

func Full(b *pipeline.Batch) bool { return full(b, limit.BatchNotes, limit.BatchBytes) }

// Full tells whether a batch has as much as one may have.
func (o *Options) Full(b *pipeline.Batch) bool { return full(b, o.BatchNotes, o.BatchBytes) }

func full(b *pipeline.Batch, notes, bytes int) bool {
	return b.Len() >= notes || len(b.Text.Data) >= bytes
}

// Fill calls next, which adds to b what comes next, until b is full or an error: io.EOF ends
// b, and is the answer if it is empty.
func Fill(b *pipeline.Batch, full func(*pipeline.Batch) bool, next func() error) error {
	for !full(b) {
		if err := next(); err != nil {
			return Ended(b, err)
		}
	}
	return nil
}

// Ended returns the result of Next after err: nil if err is io.EOF and b has notes, otherwise err.
func Ended(b *pipeline.Batch, err error) error {
	if err == io.EOF && b.Len() > 0 {
		return nil
	}
	return err
}

// Keep is a source of those notes of another source that a function selects by id. Batch.First counts the selected
// notes.
type Keep struct {
	feed Feed
	keep func(id []byte) bool
	n    int64
}

// NewKeep returns the notes of src for which keep is true. keep is called once per note, in order.
func NewKeep(src pipeline.Source, keep func(id []byte) bool) *Keep {
	return &Keep{feed: Feed{Src: src}, keep: keep}
}

// Next implements pipeline.Source.
func (k *Keep) Next(b *pipeline.Batch) error {
	b.First = k.n
	return Fill(b, Full, func() error {
		err := k.feed.Next()
		if err == nil && k.keep(k.feed.In.ID.At(k.feed.At)) {
			k.feed.CopyTo(b)
			k.n++
		}
		return err
	})
}
