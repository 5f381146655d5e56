package unit

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/write/table"
)

// Tagged writes notes in the form that models learn from, one Parquet file:
//
//	note_id, row, confidence, language, choice, text, words
//
// words has of each token how many bytes lie between it and the one before, its length (both as varints),
// pipeline.TokenFlags and its tag in the set of the file's metadata, a byte each: one value a note, since three
// lists of words took a sixth of a run to write and to read again. row is the number of the note in
// its input file. The file holds the words of notes: it is private. Candidates,
// selection sets and what goes to a curator have this form.
type Tagged struct {
	*table.Table
	set   *pipeline.TagSet
	all   []int  // notes of a batch
	words []byte // of the notes that are not flushed
}

const (
	taggedID = iota
	taggedRow
	taggedConfidence
	taggedLanguage
	taggedChoice
	taggedText
	taggedWords
	taggedPart // of notes of several units
)

var taggedColumns = []table.Column{
	{Name: "note_id"}, {Name: "row", Kind: pipeline.Int64Column},
	{Name: "confidence", Kind: pipeline.FloatColumn}, {Name: "language", Dict: true}, {Name: "choice", Dict: true},
	{Name: "text"}, {Name: "words", Binary: true},
}

// NewTagged begins a file of notes tagged with set, with rowGroup rows per row group (0: 100,000).
func NewTagged(out io.Writer, set *pipeline.TagSet, rowGroup int) (*Tagged, error) {
	return newTagged(out, set, rowGroup, taggedColumns)
}

// NewChosen is NewTagged for notes of several units: column part is taken from the column pipeline.PartColumn of the
// batches. metadata holds keys and values.
func NewChosen(out io.Writer, set *pipeline.TagSet, rowGroup int, metadata ...string) (*Tagged, error) {
	return newTagged(out, set, rowGroup, append(slices.Clone(taggedColumns), table.Column{Name: pipeline.PartColumn, Dict: true}), metadata...)
}

func newTagged(out io.Writer, set *pipeline.TagSet, rowGroup int, columns []table.Column, metadata ...string) (*Tagged, error) {
	if set == nil {
		return nil, errors.New("notes without tags; a stage is missing")
	}
	return &Tagged{set: set, Table: table.New(out, columns, rowGroup, append([]string{pipeline.TagSetKey, set.String()}, metadata...)...)}, nil
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
	return w.Chunks(pick, func(i int) {
		row := b.Number(i)
		if rows != nil {
			row = int64(rows.Fixed[i])
		}
		c[taggedID].Bytes(b.ID.At(i))
		c[taggedRow].Int64(row)
		c[taggedConfidence].Float(valueAt(b.Conf, i, 1))
		c[taggedLanguage].Bytes(languageNames()[valueAt(b.Language, i, pipeline.UnknownLanguage)])
		c[taggedChoice].Bytes(choiceNames[valueAt(b.Chosen, i, pipeline.NotChosen)])
		c[taggedText].Bytes(b.Text.At(i))
		at := len(w.words)
		w.words = appendWords(w.words, b.Tokens.At(i), b.TagsOf(i))
		c[taggedWords].Bytes(w.words[at:])
		if len(c) > taggedPart && c[taggedPart].Constant == nil {
			c[taggedPart].Bytes(parts.Bytes.At(i))
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
