package write

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/velum-health/velum/pipeline"
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
	*table
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

var taggedColumns = []column{
	{name: "note_id"}, {name: "row", kind: pipeline.Int64Column},
	{name: "confidence", kind: pipeline.FloatColumn}, {name: "language", dict: true}, {name: "choice", dict: true},
	{name: "text"}, {name: "words", binary: true},
}

// NewTagged begins a file of notes tagged with set, with rowGroup rows per row group (0: 100,000).
func NewTagged(out io.Writer, set *pipeline.TagSet, rowGroup int) (*Tagged, error) {
	return newTagged(out, set, rowGroup, taggedColumns)
}

// NewChosen is NewTagged for notes of several units: column part is taken from the column pipeline.PartColumn of the
// batches. metadata holds keys and values.
func NewChosen(out io.Writer, set *pipeline.TagSet, rowGroup int, metadata ...string) (*Tagged, error) {
	return newTagged(out, set, rowGroup, append(slices.Clone(taggedColumns), column{name: pipeline.PartColumn, dict: true}), metadata...)
}

func newTagged(out io.Writer, set *pipeline.TagSet, rowGroup int, columns []column, metadata ...string) (*Tagged, error) {
	if set == nil {
		return nil, errors.New("notes without tags; a stage is missing")
	}
	return &Tagged{set: set, table: newTable(out, columns, rowGroup, append([]string{pipeline.TagSetKey, set.String()}, metadata...)...)}, nil
}

// Put implements pipeline.Sink: it writes every note of b.
func (w *Tagged) Put(b *pipeline.Batch) error {
	w.all = w.all[:0]
	for i := range b.Len() {
		w.all = append(w.all, i)
	}
	return w.PutNotes(b, w.all)
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
	c := w.columns
	w.words = w.words[:0]
	return w.chunks(pick, func(i int) {
		row := b.Number(i)
		if rows != nil {
			row = int64(rows.Fixed[i])
		}
		c[taggedID].bytes(b.ID.At(i))
		c[taggedRow].int64(row)
		c[taggedConfidence].float(valueAt(b.Conf, i, 1))
		c[taggedLanguage].bytes(languageNames()[valueAt(b.Language, i, pipeline.UnknownLanguage)])
		c[taggedChoice].bytes(choiceNames[choice(b, i)])
		c[taggedText].bytes(b.Text.At(i))
		at := len(w.words)
		w.words = appendWords(w.words, b.Tokens.At(i), b.TagsOf(i))
		c[taggedWords].bytes(w.words[at:])
		if len(c) > taggedPart && c[taggedPart].constant == nil {
			c[taggedPart].bytes(parts.Bytes.At(i))
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

func choice(b *pipeline.Batch, i int) pipeline.Choice {
	if i < len(b.Chosen) {
		return b.Chosen[i]
	}
	return pipeline.NotChosen
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

// Close finishes the file and returns the number of its notes and the digest that Verify computes.
func (w *Tagged) Close() (notes int64, digest string, err error) {
	digest, err = w.close()
	return w.rows, digest, err
}
