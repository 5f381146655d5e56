package text

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"slices"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

// records reads the records of a table of text, one by one.
type Records interface {
	// Row reads the next record, io.EOF behind the last. sound is false for
	// one that breaks the format and was stepped over.
	Row() (sound bool, err error)
	input.Fields
	// Ahead returns at which byte and line the next record begins; the byte is -1 if a
	// reader cannot begin there: in packed and decoded files.
	Ahead() (at int64, line int)
	// GoTo goes to what Ahead returned.
	GoTo(at int64, line int) error
	io.Closer
}

// csvRecords are the rows of a CSV table. A quote inside a field without
// quotes is a character like any other, as spreadsheets write and read it; a
// row with too few or too many fields, or text behind a closing quote, is not
// sound. A quote that is never closed breaks the file.
type csvRecords struct {
	*CSV
	at        []int // columns of the fields wanted
	place     input.Place
	swallowed []input.Place // rows that the last one swallowed, and that are to be handed out as broken ones
}

func OpenCSV(path string, o *input.Options) (Records, error) {
	r := &CSV{intake: newIntake(path, Options{Encoding: o.Encoding, Comma: o.Comma}), lenient: true}
	if err := r.begin(); err != nil {
		return nil, err
	}
	c := &csvRecords{CSV: r}
	if err := c.header(o); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return c, nil
}

func (c *csvRecords) header(o *input.Options) error {
	if err := c.next(); err == io.EOF {
		return c.wrong(place{}, "empty file", "write a header line with the names of the columns")
	} else if err != nil {
		return err
	}
	c.columns = c.record.Len()
	for _, name := range o.Fields() {
		at := -1
		for k := range c.columns {
			if o.Names.Of(string(c.record.At(k))) != name {
				continue
			}
			if at >= 0 {
				return &input.SchemaError{Path: c.path, Column: name, Cause: "stands twice in the header", Remedy: "rename one of them"}
			}
			at = k
		}
		if at < 0 && name == input.DefaultID {
			at = slices.IndexFunc(c.names(), func(have string) bool { return have == "id" })
		}
		if at < 0 {
			have, doubt := input.HeaderNames(c.names())
			if doubt != "" {
				return &input.SchemaError{Path: c.path, Column: name, Cause: "is missing", Remedy: doubt}
			}
			return input.MissingField(c.path, name, o, have)
		}
		c.at = append(c.at, at)
	}
	if len(o.ID) > 0 {
		c.key = c.at[0]
	}
	return nil
}

// names are the names of the columns.
func (c *csvRecords) names() (all []string) {
	for k := range c.columns {
		all = append(all, string(c.record.At(k)))
	}
	return all
}

// Row implements Records. What an open quote swallows is rows of their own, all of them
// broken: none is lost without a word.
func (c *csvRecords) Row() (bool, error) {
	if len(c.swallowed) > 0 {
		c.place, c.swallowed = c.swallowed[0], c.swallowed[1:]
		return false, nil
	}
	err := c.next()
	if len(c.starts) > 0 {
		c.place = input.Place{Line: int64(c.starts[0].line), Byte: c.begins}
	}
	if broken, ok := errors.AsType[*rowError](err); ok {
		c.place.Cause, c.swallowed = broken.wrong.Where(), broken.swallowed
		return false, nil
	}
	return err == nil, err
}

// Place implements input.Placed.
func (c *csvRecords) Place() input.Place { return c.place }

func (c *csvRecords) Field(k int) (value []byte, number, ok bool) {
	return c.record.At(c.at[k]), false, true
}

func (c *csvRecords) Ahead() (int64, int) {
	if len(c.swallowed) > 0 {
		return -1, 0
	}
	return c.in.byte(), c.CSV.at.line
}

func (c *csvRecords) GoTo(at int64, line int) error {
	c.CSV.at = place{line, 1}
	return c.in.seek(at, line)
}

// jsonRecords are objects, one a line or in one array.
type jsonRecords struct {
	*JSONL
	JSONFields
	start   int64 // byte of the first record
	pending bool  // the first record has been read, and not handed out
	sound   bool  // it is
	place   input.Place
}

// OpenJSON reads the first record: if it has no id or no text under the
// names given, no other will.
func OpenJSON(path string, o *input.Options) (Records, error) {
	r, err := NewJSONL(path, Options{Encoding: o.Encoding})
	if err != nil {
		return nil, err
	}
	j := &jsonRecords{JSONL: r, JSONFields: NewJSONFields(path, o)}
	j.start, _ = j.Ahead()
	j.sound, err = j.Row()
	if err == io.EOF {
		return j, nil // row says so again
	}
	if err == nil && j.sound {
		j.sound, err = j.Settle()
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	j.pending = true
	return j, nil
}

func (j *jsonRecords) Row() (bool, error) {
	if j.pending {
		j.pending = false
		return j.sound, nil
	}
	for {
		at, _ := j.Ahead()
		value, line, err := j.Object()
		if err != nil {
			return false, err
		}
		if len(bytes.TrimSpace(value)) == 0 {
			continue
		}
		j.place = input.Place{Line: int64(line), Byte: at}
		sound := j.Parse(value)
		if !sound {
			j.place.Cause = "its id or its text is an object or an array"
			if wrong, ok := errors.AsType[*input.Error](j.wrongIn(value, line)); ok {
				j.place.Cause = wrong.Where()
			}
		}
		return sound, nil
	}
}

// wrongIn says what is wrong with an object; nil: it is one.
func (j *jsonRecords) wrongIn(value []byte, line int) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(value, &fields); err != nil {
		return j.broken(err, value, line)
	}
	return nil
}

// Place implements input.Placed.
func (j *jsonRecords) Place() input.Place { return j.place }

func (j *jsonRecords) Ahead() (int64, int) {
	switch {
	case j.pending:
		return j.start, 1
	case j.array:
		return -1, 0
	}
	return j.in.byte(), j.in.line + 1
}

func (j *jsonRecords) GoTo(at int64, line int) error {
	j.pending = false
	return j.in.seek(at, line-1)
}

// JSONFields are the fields of an object.
type JSONFields struct {
	path   string
	o      *input.Options
	names  []string
	needed int // so many of the names are of ids and the text
	fields map[string]json.RawMessage
	values pipeline.Bytes
	have   []bool
}

// NewJSONFields returns the fields of objects of a file; path is for errors.
func NewJSONFields(path string, o *input.Options) JSONFields {
	return JSONFields{path: path, o: o, names: o.Fields(), needed: len(o.ID) + 1, fields: map[string]json.RawMessage{}}
}

// Settle looks at the first object: if it has no id or no text under the names
// given, no other will. sound is what Parse says of it then.
func (j *JSONFields) Settle() (sound bool, err error) {
	if _, ok := j.fields["id"]; ok && len(j.o.ID) > 0 && j.o.ID[0] == input.DefaultID && j.fields[input.DefaultID] == nil {
		j.names[0] = "id"
	}
	for _, name := range j.names[:j.needed] {
		if _, ok := j.fields[name]; !ok {
			var have []string
			for _, key := range slices.Sorted(maps.Keys(j.fields)) {
				have = append(have, input.PlainColumn(key))
			}
			return false, input.MissingField(j.path, name, j.o, have)
		}
	}
	return j.take(), nil
}

// Parse takes the wanted fields out of an object: strings as their characters,
// numbers and what is nested as the JSON that they are, null and what is not
// there as nothing. It tells whether the row is sound.
func (j *JSONFields) Parse(value []byte) bool {
	clear(j.fields)
	return json.Unmarshal(value, &j.fields) == nil && j.take()
}

// take takes the wanted fields of the object at hand. An id or a text that is an object or an array is a broken row: pandas writes
// a whole table as one object of columns, which is no note.
func (j *JSONFields) take() bool {
	j.values.Reset()
	j.have = j.have[:0]
	for k, name := range j.names {
		raw, ok := j.fields[name]
		ok = ok && string(raw) != "null"
		if ok && k < j.needed && (raw[0] == '{' || raw[0] == '[') {
			return false
		}
		if ok && raw[0] == '"' {
			j.values.Data = appendUnquoted(j.values.Data, raw)
		} else if ok {
			j.values.Data = append(j.values.Data, raw...)
		}
		j.values.End()
		j.have = append(j.have, ok)
	}
	return true
}

// Field implements input.Fields. In files of text numbers are characters.
func (j *JSONFields) Field(k int) (value []byte, number, ok bool) {
	return j.values.At(k), false, j.have[k]
}

// Raw returns any field of the object as the JSON that it is; nil if it is not there.
func (j *JSONFields) Raw(name string) []byte { return j.fields[name] }

// appendUnquoted appends the characters of a JSON string. What is no text, a
// byte that is no UTF-8 or half a pair of UTF-16, stays no text, so that the
// note goes to quarantine: the decoder would put U+FFFD in its place.
func appendUnquoted(dst []byte, raw json.RawMessage) []byte {
	var text string
	if json.Unmarshal(raw, &text) != nil || !utf8.Valid(raw) || loneSurrogate(raw) {
		return append(dst, 0xff)
	}
	return append(dst, text...)
}
