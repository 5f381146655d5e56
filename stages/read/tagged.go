package read

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
)

// TaggedOptions are the choices of the reader of tagged notes. The zero value
// works.
type TaggedOptions struct {
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
type Tagged struct {
	path string
	o    TaggedOptions
	set  *pipeline.TagSet
	foot *footer

	columns  [taggedColumns]cursor
	weights  *cursor // nil: the file has none, and all notes count 1
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

const taggedRemedy = "give a part of candidates/, selected/ or review/ as velum wrote it"

// NewTagged opens a file of size bytes; path is for messages. Errors:
// *SchemaError if it is no file of tagged notes, *commit.DamageError if it
// is no sound Parquet file. The caller closes r after Close.
func NewTagged(r io.ReaderAt, size int64, path string, o TaggedOptions) (*Tagged, error) {
	o.BatchNotes = cmp.Or(o.BatchNotes, limit.BatchNotes)
	o.BatchBytes = cmp.Or(o.BatchBytes, limit.BatchBytes)
	t := &Tagged{path: path, o: o}
	if err := fence(path, func() error { return t.open(r, size) }); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Tagged) open(r io.ReaderAt, size int64) error {
	f, err := readFooter(t.path, r, size)
	if err != nil {
		return err
	}
	if err := t.tags(f); err != nil {
		return err
	}
	t.rows, t.foot = f.meta.NumRows, f
	var columns []int
	for k := range taggedLayout {
		column, err := t.column(f, k)
		if err != nil {
			return err
		}
		columns = append(columns, column)
	}
	weights, err := t.weightColumn(f)
	if err != nil {
		return err
	}
	all := slices.Concat(columns, weights)
	groups := len(f.meta.RowGroups)
	if err := f.checkChunks(0, groups, all); err != nil {
		return err
	}
	file, err := f.open(all, 0, groups)
	if err != nil {
		return err
	}
	for k, column := range columns {
		t.columns[k] = f.cursor(column, 0, file, 0, groups)
	}
	if len(weights) > 0 {
		c := f.cursor(weights[0], 0, file, 0, groups)
		t.weights = &c
	}
	return nil
}

// weightColumn is what notes count in training, in (0, 1]. Not all files have
// it.
const weightColumn = "weight"

func (t *Tagged) weightColumn(f *footer) ([]int, error) {
	numbers := f.named(weightColumn)
	if len(numbers) == 0 {
		return nil, nil
	}
	c := &f.columns[numbers[0]]
	if len(numbers) > 1 || !c.flat() || c.leaves[0].element.Type.V != format.Float || c.leaves[0].maxDef != 0 {
		return nil, &SchemaError{t.path, weightColumn, "has another type than velum writes", taggedRemedy}
	}
	return numbers, nil
}

// tags reads the tag set.
func (t *Tagged) tags(f *footer) (err error) {
	text, ok := f.lookup(pipeline.TagSetKey)
	if !ok {
		return &SchemaError{t.path, "tags", "is of an unknown tag set: the file does not say which", taggedRemedy}
	}
	if t.set, err = pipeline.ParseTagSet(text); err != nil {
		return &SchemaError{t.path, "tags", "is of a tag set that cannot be read: " + err.Error(), taggedRemedy}
	}
	t.tagNames = make(map[string]pipeline.Tag, t.set.Len())
	for tag := range t.set.Len() {
		t.tagNames[t.set.Name(pipeline.Tag(tag))] = pipeline.Tag(tag)
	}
	return nil
}

// column finds column k.
func (t *Tagged) column(f *footer, k int) (int, error) {
	want := taggedLayout[k]
	path, level := []string{want.name}, 0
	if want.list {
		path, level = []string{want.name, "list", "element"}, 1
	}
	numbers := f.named(want.name)
	if len(numbers) != 1 || len(f.columns[numbers[0]].leaves) != 1 || !slices.Equal(f.columns[numbers[0]].leaves[0].path, path) {
		return 0, &SchemaError{t.path, want.name, "is missing, or no list where one should be", taggedRemedy}
	}
	leaf := &f.columns[numbers[0]].leaves[0]
	if leaf.element.Type.V != want.kind || leaf.maxRep != level || leaf.maxDef != level {
		return 0, &SchemaError{t.path, want.name, "has another type than velum writes", taggedRemedy}
	}
	return numbers[0], nil
}

// TagSet returns what the tags of the file mean.
func (t *Tagged) TagSet() *pipeline.TagSet { return t.set }

// Metadata returns what the file says under a key; "" if nothing.
func (t *Tagged) Metadata(key string) string {
	text, _ := t.foot.lookup(key)
	return text
}

// Rows returns the number of notes in the file.
func (t *Tagged) Rows() int64 { return t.rows }

// Close releases what the reader holds.
func (t *Tagged) Close() error {
	return fence(t.path, func() error {
		var errs []error
		for k := range t.columns {
			errs = append(errs, t.columns[k].close())
		}
		if t.weights != nil {
			errs = append(errs, t.weights.close())
		}
		return errors.Join(errs...)
	})
}

// Next implements pipeline.Source. Errors are *commit.DamageError.
func (t *Tagged) Next(b *pipeline.Batch) error {
	return fence(t.path, func() error { return t.fill(b) })
}

func (t *Tagged) fill(b *pipeline.Batch) error {
	b.First, b.TagSet = t.done, t.set
	if len(b.Extra) != 1 || b.Extra[0].Name != pipeline.RowColumn || b.Extra[0].Kind != pipeline.Int64Column {
		b.Extra = []pipeline.Column{{Name: pipeline.RowColumn, Kind: pipeline.Int64Column}}
	}
	for t.done < t.rows && b.Len() < t.o.BatchNotes && len(b.Text.Data) < t.o.BatchBytes {
		if err := t.note(b); err != nil {
			return err
		}
		t.done++
	}
	if b.Len() == 0 {
		return t.end()
	}
	if t.o.NotesOnly {
		b.TagSet, b.Extra = nil, b.Extra[:0]
		b.Tokens.Reset()
		b.Tags, b.Conf, b.Language, b.Chosen = b.Tags[:0], b.Conf[:0], b.Language[:0], b.Chosen[:0]
	}
	return nil
}

// end checks that all columns end together.
func (t *Tagged) end() error {
	for k := range t.columns {
		c := &t.columns[k]
		if err := c.load(); err != io.EOF {
			return cmp.Or[error](err, c.damage("has more values than the other columns"))
		}
	}
	if t.weights != nil {
		if err := t.weights.load(); err != io.EOF {
			return cmp.Or[error](err, t.weights.damage("has more values than the other columns"))
		}
	}
	return io.EOF
}

// note appends the next note.
func (t *Tagged) note(b *pipeline.Batch) error {
	weight, err := t.weight()
	if err != nil {
		return err
	}
	wanted, err := t.scalars(b)
	if err != nil {
		return err
	}
	if !wanted {
		return t.skipLists()
	}
	if err := t.readFlags(); err != nil {
		return err
	}
	first := len(b.Tags)
	if err := t.readTags(b); err != nil {
		return err
	}
	if len(b.Tags)-first != len(t.flags) {
		return t.columns[taggedTags].damage("has a note with more or fewer tags than flags")
	}
	if err := t.readWords(b); err != nil {
		return err
	}
	if t.weights != nil {
		b.Weight = append(b.Weight, weight)
	}
	b.Text.End()
	b.Tokens.End()
	b.Reason = append(b.Reason, pipeline.Sound)
	t.spans = t.set.Decode(t.spans[:0], b.Tokens.At(b.Len()-1), b.Tags[first:])
	b.Gold.Append(t.spans...)
	return nil
}

// skipLists goes over what the note at hand has several of.
func (t *Tagged) skipLists() error {
	for k := taggedFlags; k < taggedColumns; k++ {
		c := &t.columns[k]
		for p := (piece{first: true}); p.more(); {
			if err := c.piece(&p); err != nil {
				return err
			}
		}
	}
	return nil
}

// scalars reads what a note has one of, and tells whether the note is wanted.
func (t *Tagged) scalars(b *pipeline.Batch) (wanted bool, err error) {
	var at [taggedFlags]int
	for k := range at {
		c := &t.columns[k]
		if err := c.load(); err != nil {
			return false, c.early(err)
		}
		at[k] = c.step()
	}
	c := &t.columns
	if t.o.Wanted != nil && !t.o.Wanted(t.done) {
		return false, nil
	}
	row := int64(c[taggedRow].fixed(at[taggedRow]))
	id := c[taggedID].bytes(at[taggedID])
	confidence := math.Float32frombits(uint32(c[taggedConfidence].fixed(at[taggedConfidence])))
	language, known := pipeline.ParseLanguage(string(c[taggedLanguage].bytes(at[taggedLanguage])))
	choice, chosen := pipeline.ParseChoice(string(c[taggedChoice].bytes(at[taggedChoice])))
	switch {
	case !cleanID(id):
		return false, c[taggedID].damage("has an id that is none")
	case row < 0:
		return false, c[taggedRow].damage("has a negative number")
	case !(confidence >= 0 && confidence <= 1):
		return false, c[taggedConfidence].damage("has a value outside 0 to 1")
	case !known:
		return false, c[taggedLanguage].damage("has an unknown language")
	case !chosen:
		return false, c[taggedChoice].damage("has an unknown choice")
	}
	b.ID.Append(id)
	b.Extra[0].Valid = append(b.Extra[0].Valid, true)
	b.Extra[0].Fixed = append(b.Extra[0].Fixed, uint64(row))
	b.Conf = append(b.Conf, confidence)
	b.Language = append(b.Language, language)
	b.Chosen = append(b.Chosen, choice)
	return true, nil
}

// weight reads what the note at hand counts in training.
func (t *Tagged) weight() (float32, error) {
	c := t.weights
	if c == nil {
		return 1, nil
	}
	if err := c.load(); err != nil {
		return 0, c.early(err)
	}
	weight := math.Float32frombits(uint32(c.fixed(c.step())))
	if !(weight > 0 && weight <= 1) {
		return 0, c.damage("has a value that is not above 0 and at most 1")
	}
	return weight, nil
}

func (t *Tagged) readFlags() error {
	c := &t.columns[taggedFlags]
	t.flags = t.flags[:0]
	for p := (piece{first: true}); p.more(); {
		if err := c.piece(&p); err != nil {
			return err
		}
		for k := p.from; k < p.to; k++ {
			flags := pipeline.TokenFlags(c.fixed(c.place(k)))
			if flags != flags.Place() {
				return c.damage("has an unknown flag")
			}
			t.flags = append(t.flags, flags)
		}
	}
	return nil
}

const noTag = math.MaxUint8 // a name that is none; no set has so many tags

func (t *Tagged) readTags(b *pipeline.Batch) error {
	c := &t.columns[taggedTags]
	for p := (piece{first: true}); p.more(); {
		if err := c.piece(&p); err != nil {
			return err
		}
		if t.tagPage != c.count {
			t.tabulate(c)
		}
		for k := p.from; k < p.to; k++ {
			tag := t.tagTable[c.place(k)]
			if tag == noTag {
				return c.damage("has a tag that is not in its tag set")
			}
			b.Tags = append(b.Tags, tag)
		}
	}
	return nil
}

// tabulate looks up the tags of a page: a dictionary of few names.
func (t *Tagged) tabulate(c *cursor) {
	t.tagPage = c.count
	t.tagTable = t.tagTable[:0]
	for k := range len(c.offsets) - 1 {
		tag, ok := t.tagNames[string(c.bytes(k))]
		if !ok {
			tag = noTag
		}
		t.tagTable = append(t.tagTable, tag)
	}
}

func (t *Tagged) readWords(b *pipeline.Batch) error {
	start, n := len(b.Text.Data), 0
	c := &t.columns[taggedWords]
	for p := (piece{first: true}); p.more(); {
		if err := c.piece(&p); err != nil {
			return err
		}
		for k := p.from; k < p.to; k++ {
			word := c.bytes(c.place(k))
			switch {
			case len(word) == 0 || !utf8.Valid(word):
				return c.damage("has a token that is none")
			case n == len(t.flags):
				return c.damage("has a note with more tokens than flags")
			case len(b.Text.Data)+len(word) >= maxInput:
				return c.damage("has a note of more than 1 GiB")
			}
			t.word(b, start, n, word)
			n++
		}
	}
	if n != len(t.flags) {
		return c.damage("has a note with fewer tokens than flags")
	}
	return nil
}

// word appends token n of a note whose text begins at start.
func (t *Tagged) word(b *pipeline.Batch, start, n int, word []byte) {
	flags := t.flags[n]
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
