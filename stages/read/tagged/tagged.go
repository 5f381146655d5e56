// Package tagged reads what velum itself wrote: tagged notes, the rows of a kind of part,
// and columns of parts side by side.
package tagged

import (
	"cmp"
	"errors"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/limit"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// Options are the choices of the reader of tagged notes. The zero value
// works.
type Options struct {
	// Wanted tells which notes to read, by their places in the file; nil means all.
	// Of the others nothing but the numbers of their values is looked at.
	Wanted func(note int64) bool
	// NotesOnly fills the batch as readers of other formats do: ID, Text,
	// Gold and Reason, so that stages begin with tokenize.
	NotesOnly bool

	BatchNotes, BatchBytes int // a batch is full at one of them; 0 means limit.BatchNotes and BatchBytes
}

// Tagged reads a Parquet file of tagged notes of ours: a part of candidates, a
// selection set, or what went to a curator (see write.Tagged). It is a
// pipeline.Source.
//
// The file has tokens and no text. The text is rebuilt with a line feed before
// each token that starts a line and a space before each other one that is not
// glued to its neighbour. Gold is the spans that the tags write. The row
// numbers are in Batch.Extra under pipeline.RowColumn, since the notes of a
// selection do not follow each other; Batch.First counts the notes of the
// file.
type Reader struct {
	path string
	o    Options
	set  *pipeline.TagSet
	foot *parquet.Footer

	columns  [taggedColumns]parquet.Cursor
	rows     int64
	done     int64
	flags    []pipeline.TokenFlags // of the note at hand
	tagNames map[string]pipeline.Tag
	tagTable []pipeline.Tag // of the values of the page of tags at hand
	tagPage  int            // the page that it is for
	spans    []pipeline.Span
}

// Columns of the file. The words come last: they need the flags.
const (
	taggedID = iota
	taggedRow
	taggedConfidence
	taggedLanguage
	taggedChoice
	taggedFlags
	taggedTags
	taggedWords
	taggedColumns
)

var taggedLayout = [taggedColumns]struct {
	name string
	kind format.Type
	list bool
}{
	{"note_id", format.ByteArray, false},
	{"row", format.Int64, false},
	{"confidence", format.Float, false},
	{"language", format.ByteArray, false},
	{"choice", format.ByteArray, false},
	{"flags", format.Int32, true},
	{"tags", format.ByteArray, true},
	{"tokens", format.ByteArray, true},
}

const Remedy = "give a part of candidates/, selected/ or review/ as velum wrote it"

// New opens a file of size bytes; path is for messages. Errors:
// *input.SchemaError if it is no file of tagged notes, *commit.DamageError if it
// is no sound Parquet file. The caller closes r after Close.
func New(r io.ReaderAt, size int64, path string, o Options) (*Reader, error) {
	o.BatchNotes = cmp.Or(o.BatchNotes, limit.BatchNotes)
	o.BatchBytes = cmp.Or(o.BatchBytes, limit.BatchBytes)
	t := &Reader{path: path, o: o}
	if err := parquet.Guard(path, func() error { return t.open(r, size) }); err != nil {
		return nil, err
	}
	return t, nil
}

func (r *Reader) open(from io.ReaderAt, size int64) error {
	f, err := parquet.ReadFooter(r.path, from, size)
	if err != nil {
		return err
	}
	if err := r.tags(f); err != nil {
		return err
	}
	r.rows, r.foot = f.Meta.NumRows, f
	var columns []int
	for k := range taggedLayout {
		column, err := r.column(f, k)
		if err != nil {
			return err
		}
		columns = append(columns, column)
	}
	groups := len(f.Meta.RowGroups)
	if err := f.CheckChunks(0, groups, columns); err != nil {
		return err
	}
	file, err := f.Open(columns, 0, groups)
	if err != nil {
		return err
	}
	for k, column := range columns {
		r.columns[k] = f.Cursor(column, 0, file, 0, groups)
	}
	return nil
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
	r.tagNames = make(map[string]pipeline.Tag, r.set.Len())
	for tag := range r.set.Len() {
		r.tagNames[r.set.Name(pipeline.Tag(tag))] = pipeline.Tag(tag)
	}
	return nil
}

// column finds column k.
func (r *Reader) column(f *parquet.Footer, k int) (int, error) {
	want := taggedLayout[k]
	path, level := []string{want.name}, 0
	if want.list {
		path, level = []string{want.name, "list", "element"}, 1
	}
	numbers := f.Named(want.name)
	if len(numbers) != 1 || len(f.Columns[numbers[0]].Leaves) != 1 || !slices.Equal(f.Columns[numbers[0]].Leaves[0].Path, path) {
		return 0, &input.SchemaError{Path: r.path, Column: want.name, Cause: "is missing, or no list where one should be", Remedy: Remedy}
	}
	leaf := &f.Columns[numbers[0]].Leaves[0]
	if leaf.Element.Type.V != want.kind || leaf.MaxRep != level || leaf.MaxDef != level {
		return 0, &input.SchemaError{Path: r.path, Column: want.name, Cause: "has another type than velum writes", Remedy: Remedy}
	}
	return numbers[0], nil
}

// TagSet returns what the tags of the file mean.
func (r *Reader) TagSet() *pipeline.TagSet { return r.set }

// Metadata returns what the file says under a key; "" if nothing.
func (r *Reader) Metadata(key string) string {
	text, _ := r.foot.Lookup(key)
	return text
}

// Rows returns the number of notes in the file.
func (r *Reader) Rows() int64 { return r.rows }

// Close releases what the reader holds.
func (r *Reader) Close() error {
	return parquet.Guard(r.path, func() error {
		var errs []error
		for k := range r.columns {
			errs = append(errs, r.columns[k].Close())
		}
		return errors.Join(errs...)
	})
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
	for r.done < r.rows && b.Len() < r.o.BatchNotes && len(b.Text.Data) < r.o.BatchBytes {
		if err := r.note(b); err != nil {
			return err
		}
		r.done++
	}
	if b.Len() == 0 {
		return r.end()
	}
	if r.o.NotesOnly {
		b.TagSet, b.Extra = nil, b.Extra[:0]
		b.Tokens.Reset()
		b.Tags, b.Conf, b.Language, b.Chosen = b.Tags[:0], b.Conf[:0], b.Language[:0], b.Chosen[:0]
	}
	return nil
}

// end checks that all columns end together.
func (r *Reader) end() error {
	for k := range r.columns {
		c := &r.columns[k]
		if err := c.Load(); err != io.EOF {
			return cmp.Or[error](err, c.Damage("has more values than the other columns"))
		}
	}
	return io.EOF
}

// note appends the next note.
func (r *Reader) note(b *pipeline.Batch) error {
	wanted, err := r.scalars(b)
	if err != nil {
		return err
	}
	if !wanted {
		return r.skipLists()
	}
	if err := r.readFlags(); err != nil {
		return err
	}
	first := len(b.Tags)
	if err := r.readTags(b); err != nil {
		return err
	}
	if len(b.Tags)-first != len(r.flags) {
		return r.columns[taggedTags].Damage("has a note with more or fewer tags than flags")
	}
	if err := r.readWords(b); err != nil {
		return err
	}
	b.Text.End()
	b.Tokens.End()
	b.Reason = append(b.Reason, pipeline.Sound)
	r.spans = r.set.Decode(r.spans[:0], b.Tokens.At(b.Len()-1), b.Tags[first:])
	b.Gold.Append(r.spans...)
	return nil
}

// skipLists goes over what the note at hand has several of.
func (r *Reader) skipLists() error {
	for k := taggedFlags; k < taggedColumns; k++ {
		c := &r.columns[k]
		for p := (parquet.Piece{First: true}); p.More(); {
			if err := c.Piece(&p); err != nil {
				return err
			}
		}
	}
	return nil
}

// scalars reads what a note has one of, and tells whether the note is wanted.
func (r *Reader) scalars(b *pipeline.Batch) (wanted bool, err error) {
	var at [taggedFlags]int
	for k := range at {
		c := &r.columns[k]
		if err := c.Load(); err != nil {
			return false, c.Early(err)
		}
		at[k] = c.Step()
	}
	c := &r.columns
	if r.o.Wanted != nil && !r.o.Wanted(r.done) {
		return false, nil
	}
	row := int64(c[taggedRow].Fixed(at[taggedRow]))
	id := c[taggedID].Bytes(at[taggedID])
	confidence := math.Float32frombits(uint32(c[taggedConfidence].Fixed(at[taggedConfidence])))
	language, known := pipeline.ParseLanguage(string(c[taggedLanguage].Bytes(at[taggedLanguage])))
	choice, chosen := pipeline.ParseChoice(string(c[taggedChoice].Bytes(at[taggedChoice])))
	switch {
	case !input.CleanID(id):
		return false, c[taggedID].Damage("has an id that is none")
	case row < 0:
		return false, c[taggedRow].Damage("has a negative number")
	case !(confidence >= 0 && confidence <= 1):
		return false, c[taggedConfidence].Damage("has a value outside 0 to 1")
	case !known:
		return false, c[taggedLanguage].Damage("has an unknown language")
	case !chosen:
		return false, c[taggedChoice].Damage("has an unknown choice")
	}
	b.ID.Append(id)
	b.Extra[0].Valid = append(b.Extra[0].Valid, true)
	b.Extra[0].Fixed = append(b.Extra[0].Fixed, uint64(row))
	b.Conf = append(b.Conf, confidence)
	b.Language = append(b.Language, language)
	b.Chosen = append(b.Chosen, choice)
	return true, nil
}

func (r *Reader) readFlags() error {
	c := &r.columns[taggedFlags]
	r.flags = r.flags[:0]
	for p := (parquet.Piece{First: true}); p.More(); {
		if err := c.Piece(&p); err != nil {
			return err
		}
		for k := p.From; k < p.To; k++ {
			flags := pipeline.TokenFlags(c.Fixed(c.Place(k)))
			if flags != flags.Place() {
				return c.Damage("has an unknown flag")
			}
			r.flags = append(r.flags, flags)
		}
	}
	return nil
}

const noTag = math.MaxUint8 // a name that is none; no set has so many tags

func (r *Reader) readTags(b *pipeline.Batch) error {
	c := &r.columns[taggedTags]
	for p := (parquet.Piece{First: true}); p.More(); {
		if err := c.Piece(&p); err != nil {
			return err
		}
		if r.tagPage != c.Count {
			r.tabulate(c)
		}
		for k := p.From; k < p.To; k++ {
			tag := r.tagTable[c.Place(k)]
			if tag == noTag {
				return c.Damage("has a tag that is not in its tag set")
			}
			b.Tags = append(b.Tags, tag)
		}
	}
	return nil
}

// tabulate looks up the tags of a page: a dictionary of few names.
func (r *Reader) tabulate(c *parquet.Cursor) {
	r.tagPage = c.Count
	r.tagTable = r.tagTable[:0]
	for k := range len(c.Offsets) - 1 {
		tag, ok := r.tagNames[string(c.Bytes(k))]
		if !ok {
			tag = noTag
		}
		r.tagTable = append(r.tagTable, tag)
	}
}

func (r *Reader) readWords(b *pipeline.Batch) error {
	start, n := len(b.Text.Data), 0
	c := &r.columns[taggedWords]
	for p := (parquet.Piece{First: true}); p.More(); {
		if err := c.Piece(&p); err != nil {
			return err
		}
		for k := p.From; k < p.To; k++ {
			word := c.Bytes(c.Place(k))
			switch {
			case len(word) == 0 || !utf8.Valid(word):
				return c.Damage("has a token that is none")
			case n == len(r.flags):
				return c.Damage("has a note with more tokens than flags")
			case len(b.Text.Data)+len(word) >= input.MaxInput:
				return c.Damage("has a note of more than 1 GiB")
			}
			r.word(b, start, n, word)
			n++
		}
	}
	if n != len(r.flags) {
		return c.Damage("has a note with fewer tokens than flags")
	}
	return nil
}

// word appends token n of a note whose text begins at start.
func (r *Reader) word(b *pipeline.Batch, start, n int, word []byte) {
	flags := r.flags[n]
	switch {
	case n == 0:
	case flags&pipeline.LineStart != 0:
		b.Text.Data = append(b.Text.Data, '\n')
	case flags&pipeline.Glued == 0:
		b.Text.Data = append(b.Text.Data, ' ')
	}
	from := int32(len(b.Text.Data) - start)
	b.Text.Data = append(b.Text.Data, word...)
	b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: from, End: from + int32(len(word)), Flags: flags})
}
