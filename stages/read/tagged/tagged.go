// Package tagged reads files that velum has written: tagged notes, the rows of all parts of a kind, and columns of
// parts side by side.
package tagged

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// Options holds the options of the reader. The zero value works.
type Options struct {
	// Wanted says which notes to read, by their row in the file; nil means all. Other notes are skipped without
	// decoding their values.
	Wanted func(note int64) bool
	// NotesOnly fills the batch as readers of other formats do: ID, Text,
	// Gold and Reason, so that stages begin with tokenize.
	NotesOnly bool

	BatchNotes, BatchBytes int // a batch is full at one of them; 0 means limit.BatchNotes and BatchBytes
}

// Reader reads a Parquet file of tagged notes: a part of candidates, a selection set, or a curator's list (see
// unit.Tagged). It is a pipeline.Source.
//
// Gold holds the spans that the tags encode. Row numbers are in Batch.Extra under pipeline.RowColumn, since selected
// notes are not consecutive; Batch.First counts the notes of the file.
type Reader struct {
	path  string
	file  *os.File // that Close closes; nil: none
	o     Options
	set   *pipeline.TagSet
	foot  *parquet.Footer
	notes *side
	done  int64
	spans []pipeline.Span
}

// Remedy says what to do about a file that is none of tagged notes.
const Remedy = "give a part of candidates/, selected/ or review/ as velum wrote it"

// New opens a file of size bytes; path is for messages. The error is an *input.SchemaError if it is no file of tagged
// notes, and a *commit.DamageError if it is no valid Parquet file. The caller closes r after Close.
func New(r io.ReaderAt, size int64, path string, o Options) (*Reader, error) {
	t := &Reader{path: path, o: o}
	if err := parquet.Guard(path, func() error { return t.open(r, size) }); err != nil {
		return nil, err
	}
	return t, nil
}

// Open opens a file; Close closes it too.
func Open(path string, o Options) (r *Reader, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		r, err = New(f, info.Size(), path, o)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	r.file = f
	return r, nil
}

func (r *Reader) open(from io.ReaderAt, size int64) error {
	f, err := parquet.ReadFooter(r.path, from, size)
	if err != nil {
		return err
	}
	if err := r.tags(f); err != nil {
		return err
	}
	r.foot = f
	r.notes, err = openSide(f, r.path, column.Tagged)
	return err
}

// tags reads the tag set.
func (r *Reader) tags(f *parquet.Footer) (err error) {
	text, ok := f.Lookup(pipeline.TagSetKey)
	if !ok {
		return &input.SchemaError{Path: r.path, Column: "tags", Cause: "is of an unknown tag set: the file does not say which", Remedy: Remedy}
	}
	if r.set, err = pipeline.ParseTagSet(text); err != nil {
		return &input.SchemaError{Path: r.path, Column: "tags", Cause: "is of a tag set that cannot be read: " + err.Error(), Remedy: Remedy}
	}
	return nil
}

// TagSet returns the tag set of the file.
func (r *Reader) TagSet() *pipeline.TagSet { return r.set }

// Metadata returns the file's metadata for a key; "" if there is none.
func (r *Reader) Metadata(key string) string {
	text, _ := r.foot.Lookup(key)
	return text
}

// Rows returns the number of notes in the file.
func (r *Reader) Rows() int64 { return r.foot.Meta.NumRows }

// Close releases what the reader holds.
func (r *Reader) Close() error {
	err := parquet.Guard(r.path, r.notes.close)
	if r.file != nil {
		err = errors.Join(err, r.file.Close())
	}
	return err
}

// Next implements pipeline.Source. Errors are *commit.DamageError.
func (r *Reader) Next(b *pipeline.Batch) error {
	return parquet.Guard(r.path, func() error { return r.fill(b) })
}

func (r *Reader) fill(b *pipeline.Batch) error {
	b.First, b.TagSet = r.done, r.set
	if len(b.Extra) != 1 || b.Extra[0].Name != pipeline.RowColumn || b.Extra[0].Kind != pipeline.Int64Column {
		b.Extra = []pipeline.Column{{Name: pipeline.RowColumn, Kind: pipeline.Int64Column}}
	}
	o := input.Options{BatchNotes: r.o.BatchNotes, BatchBytes: r.o.BatchBytes}.WithDefaults()
	err := input.Fill(b, o.Full, func() error {
		err := r.notes.next()
		if err == nil && (r.o.Wanted == nil || r.o.Wanted(r.done)) {
			err = r.note(b)
		}
		r.done++
		return err
	})
	if err == nil && r.o.NotesOnly {
		b.TagSet, b.Extra = nil, b.Extra[:0]
		b.Tokens.Reset()
		b.Tags, b.Conf, b.Language, b.Chosen = b.Tags[:0], b.Conf[:0], b.Language[:0], b.Chosen[:0]
	}
	return err
}

// note appends the current note.
func (r *Reader) note(b *pipeline.Batch) error {
	row := r.notes.row
	number, confidence := int64(row[column.TaggedRow].Bits), math.Float32frombits(uint32(row[column.TaggedConfidence].Bits))
	language, known := pipeline.ParseLanguage(string(row[column.TaggedLanguage].Bytes))
	choice, chosen := pipeline.ParseChoice(string(row[column.TaggedChoice].Bytes))
	wrong := func(at int, cause string) error { return r.notes.cursors[at].Damage(cause) }
	switch {
	case !input.CleanID(row[column.TaggedID].Bytes):
		return wrong(column.TaggedID, "has an id that is none")
	case number < 0:
		return wrong(column.TaggedRow, "has a negative number")
	case !(confidence >= 0 && confidence <= 1):
		return wrong(column.TaggedConfidence, "has a value outside 0 to 1")
	case !known:
		return wrong(column.TaggedLanguage, "has an unknown language")
	case !chosen:
		return wrong(column.TaggedChoice, "has an unknown choice")
	case !utf8.Valid(row[column.TaggedText].Bytes):
		return wrong(column.TaggedText, "has a text that is none")
	case len(b.Text.Data)+len(row[column.TaggedText].Bytes) >= input.MaxInput:
		return wrong(column.TaggedText, "has a note of more than 1 GiB")
	}
	first := len(b.Tags)
	if !r.words(b, row[column.TaggedText].Bytes, row[column.TaggedWords].Bytes) {
		return wrong(column.TaggedWords, "has words that the text or the tag set does not have")
	}
	b.ID.Append(row[column.TaggedID].Bytes)
	b.Text.Append(row[column.TaggedText].Bytes)
	b.Extra[0].Valid = append(b.Extra[0].Valid, true)
	b.Extra[0].Fixed = append(b.Extra[0].Fixed, uint64(number))
	b.Conf = append(b.Conf, confidence)
	b.Language = append(b.Language, language)
	b.Chosen = append(b.Chosen, choice)
	b.Tokens.End()
	b.Reason = append(b.Reason, pipeline.Sound)
	r.spans = r.set.Decode(r.spans[:0], b.Tokens.At(b.Len()-1), b.Tags[first:])
	b.Gold.Append(r.spans...)
	return nil
}

// words appends the tokens and tags of a note: see column.Tagged. false: there
// are no such words in the text.
func (r *Reader) words(b *pipeline.Batch, text, words []byte) bool {
	for at := uint64(0); len(words) > 0; {
		gap, n := binary.Uvarint(words)
		length, m := binary.Uvarint(words[max(n, 0):])
		left := uint64(len(text)) - at
		if n <= 0 || m <= 0 || len(words) < n+m+2 || gap > left || length == 0 || length > left-gap {
			return false
		}
		flags, tag := pipeline.TokenFlags(words[n+m]), pipeline.Tag(words[n+m+1])
		from := at + gap
		if at = from + length; flags != flags.Place() || int(tag) >= r.set.Len() || !utf8.RuneStart(text[from]) || at < uint64(len(text)) &&
			!utf8.RuneStart(text[at]) {
			return false
		}
		b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: int32(from), End: int32(at), Flags: flags})
		b.Tags = append(b.Tags, tag)
		words = words[n+m+2:]
	}
	return true
}
