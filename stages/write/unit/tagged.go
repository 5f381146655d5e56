package unit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/stages/write/table"
)

// Tagged writes notes in the form that models learn from, one Parquet file with the columns of column.Tagged. row is the number of
// the note in its input file. The file holds the words of notes: it is private. Candidates,
// selection sets and what goes to a curator have this form.
type Tagged struct {
	*table.Table
	set   *pipeline.TagSet
	all   []int  // notes of a batch
	words []byte // of the notes that are not flushed
}

// NewTagged begins a file of notes tagged with set, with rowGroup rows per row group (0: 100,000).
func NewTagged(out io.Writer, set *pipeline.TagSet, rowGroup int) *Tagged {
	return newTagged(out, set, rowGroup, column.Tagged)
}

// NewChosen is NewTagged for notes of several units: column part is taken from the column pipeline.PartColumn of the
// batches. metadata holds keys and values.
func NewChosen(out io.Writer, set *pipeline.TagSet, rowGroup int, metadata ...string) *Tagged {
	return newTagged(out, set, rowGroup, append(slices.Clone(column.Tagged), column.Names(pipeline.PartColumn)), metadata...)
}

func newTagged(out io.Writer, set *pipeline.TagSet, rowGroup int, columns []column.Column, metadata ...string) *Tagged {
	return &Tagged{set: set, Table: table.New(out, columns, rowGroup, append(metadata, pipeline.TagSetKey, set.String())...)}
}

// Put implements pipeline.Sink: it writes every note of b.
func (w *Tagged) Put(b *pipeline.Batch) error {
	w.all = w.all[:0]
	for i := range b.Len() {
		w.all = append(w.all, i)
	}
	return w.PutNotes(b, w.all)
}

// valueAt returns value i of a column; none where no stage has filled it.
func valueAt[T any](all []T, i int, none T) T {
	if i < len(all) {
		return all[i]
	}
	return none
}

// PutNotes writes the picked notes of b in this order. It needs Tokens, Tags and TagSet. Rows are those of column
// pipeline.RowColumn, or consecutive from Batch.First.
func (w *Tagged) PutNotes(b *pipeline.Batch, pick []int) error {
	if len(pick) == 0 {
		return nil
	}
	if err := checkTagged(b); err != nil {
		return err
	}
	if b.TagSet != w.set && (b.TagSet.Scheme != w.set.Scheme || !slices.Equal(b.TagSet.Categories, w.set.Categories)) {
		return errors.New("two tag sets in one file")
	}
	rows, parts := rowColumn(b), b.ExtraNamed(pipeline.PartColumn)
	c := w.Columns
	w.words = w.words[:0]
	return w.Each(pick, func(i int) {
		row := b.Number(i)
		if rows != nil {
			row = int64(rows.Fixed[i])
		}
		c[column.TaggedID].Bytes(b.ID.At(i))
		c[column.TaggedRow].Int64(row)
		c[column.TaggedConfidence].Float(valueAt(b.Conf, i, 1))
		c[column.TaggedLanguage].Bytes(languageNames()[valueAt(b.Language, i, pipeline.UnknownLanguage)])
		c[column.TaggedChoice].Bytes(choiceNames[valueAt(b.Chosen, i, pipeline.NotChosen)])
		c[column.TaggedText].Bytes(b.Text.At(i))
		at := len(w.words)
		w.words = appendWords(w.words, b.Tokens.At(i), b.TagsOf(i))
		c[column.TaggedWords].Bytes(w.words[at:])
		if last := &c[len(c)-1]; len(c) > len(column.Tagged) && !last.Fills() {
			last.Bytes(parts.Bytes.At(i))
		}
	})
}

// checkTagged makes sure that a batch has what notes are written with.
func checkTagged(b *pipeline.Batch) error {
	if b.TagSet == nil || len(b.Tags) != len(b.Tokens.Items) || b.Tokens.Len() != b.Len() {
		return fmt.Errorf("batch %d has %d notes, %d lists of tokens, %d tokens and %d tags; a stage is missing",
			b.Seq, b.Len(), b.Tokens.Len(), len(b.Tokens.Items), len(b.Tags))
	}
	return nil
}

func rowColumn(b *pipeline.Batch) *pipeline.Column {
	for k := range b.Extra {
		if c := &b.Extra[k]; c.Name == pipeline.RowColumn && c.Kind == pipeline.Int64Column && len(c.Fixed) == b.Len() {
			return c
		}
	}
	return nil
}

func appendWords(dst []byte, tokens []pipeline.Token, tags []pipeline.Tag) []byte {
	at := int32(0)
	for k, t := range tokens {
		dst = binary.AppendUvarint(dst, uint64(t.Start-at))
		dst = binary.AppendUvarint(dst, uint64(t.End-t.Start))
		dst = append(dst, byte(t.Flags.Place()), byte(tags[k]))
		at = t.End
	}
	return dst
}
