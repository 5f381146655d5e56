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
	// Place returns where the next record begins, and false if a reader cannot
	// begin there: in packed and decoded files.
	Place() (int64, bool)
	// GoTo goes to what place returned.
	GoTo(at int64) error
	io.Closer
}

// csvRecords are the rows of a CSV table. A quote inside a field without
// quotes is a character like any other, as spreadsheets write and read it; a
// row with too few or too many fields, or text behind a closing quote, is not
// sound. A quote that is never closed breaks the file.
type csvRecords struct {
	*CSV
	at []int // columns of the fields wanted
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
	return nil
}

// names are the names of the columns.
func (c *csvRecords) names() (all []string) {
	for k := range c.columns {
		all = append(all, string(c.record.At(k)))
	}
	return all
}

func (c *csvRecords) Row() (bool, error) {
	err := c.next()
	if _, broken := errors.AsType[*rowError](err); broken {
		return false, nil
	}
	return err == nil && c.record.Len() == c.columns, err
}

func (c *csvRecords) Field(k int) (value []byte, number, ok bool) {
	return c.record.At(c.at[k]), false, true
}

func (c *csvRecords) Place() (int64, bool) { return c.in.place() }

func (c *csvRecords) GoTo(at int64) error { return c.in.seek(at) }

// jsonRecords are objects, one a line or in one array.
type jsonRecords struct {
	*JSONL
	JSONFields
	start   int64 // place of the first record
	startOK bool
	pending bool // the first record has been read, and not handed out
	sound   bool // it is
}

// OpenJSON reads the first record: if it has no id or no text under the
// names given, no other will.
func OpenJSON(path string, o *input.Options) (Records, error) {
	r, err := NewJSONL(path, Options{Encoding: o.Encoding})
	if err != nil {
		return nil, err
	}
	j := &jsonRecords{JSONL: r, JSONFields: NewJSONFields(path, o)}
	j.start, j.startOK = j.Place()
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
		value, _, err := j.Object()
		if err != nil {
			return false, err
		}
		if len(bytes.TrimSpace(value)) > 0 {
			return j.Parse(value), nil
		}
	}
}

func (j *jsonRecords) Place() (int64, bool) {
	switch {
	case j.pending:
		return j.start, j.startOK
	case j.array:
		return 0, false
	}
	return j.in.place()
}

func (j *jsonRecords) GoTo(at int64) error {
	j.pending = false
	return j.in.seek(at)
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
