package text

import (
	"bytes"
	"errors"
	"io"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
)

// Records reads the records of a table of text one by one.
type Records interface {
	// Row reads the next record, and returns io.EOF after the last. sound is false if the record breaks the format and
	// was skipped.
	Row() (sound bool, err error)
	input.Fields
	// Skip skips the next record without checking it, and returns the approximate size of its fields.
	Skip() (bytes int, err error)
	// Ahead returns the byte and line at which the next record begins; the byte is -1 if a reader cannot start there,
	// in compressed or transcoded files.
	Ahead() (at int64, line int)
	// GoTo continues at a place that Ahead returned.
	GoTo(at int64, line int) error
	io.Closer
}

// csvRecords are the rows of a CSV table. A quote inside a field without
// quotes is a character like any other, as spreadsheets write and read it; a
// row with too few or too many fields, or text behind a closing quote, is not
// sound. A quote that is never closed breaks the file.
type csvRecords struct {
	*CSV
	place     input.Place
	swallowed []input.Place // rows that the last one swallowed, and that are to be handed out as broken ones
}

// OpenCSV opens a CSV file, finds its columns and says in o how it is encoded.
func OpenCSV(path string, o *input.Options) (Records, error) {
	r := &CSV{intake: newIntake(path, Options{Encoding: o.Encoding, Comma: o.Comma}), lenient: true}
	if err := r.begin(); err != nil {
		return nil, err
	}
	o.Encoding = r.encoding
	names, err := r.heads()
	if err == nil {
		err = r.find(o, names)
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &csvRecords{CSV: r}, nil
}

// Row implements Records. Lines swallowed by an unclosed quote are rows of their own, all of them broken, so that none
// is lost silently.
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

// Skip implements Records. It has to parse the fields, since only they show where a CSV record ends.
func (c *csvRecords) Skip() (int, error) {
	_, err := c.Row()
	return len(c.record.Data), err
}

// Place implements input.Placed.
func (c *csvRecords) Place() input.Place { return c.place }

func (c *csvRecords) Field(k int) (value []byte, number, ok bool) {
	return c.record.At(c.fields[k]), false, true
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

// jsonRecords reads JSON objects, one a line or all in one array.
type jsonRecords struct {
	*JSONL
	JSONFields
	start   int64 // byte of the first record
	pending bool  // the first record has been read, and not handed out
	sound   bool  // it is
	place   input.Place
}

// OpenJSON opens a JSON file, says in o how it is encoded and reads the first record: if that has no id or no text under
// the given names, the error says so.
func OpenJSON(path string, o *input.Options) (Records, error) {
	r, err := NewJSONL(path, Options{Encoding: o.Encoding})
	if err != nil {
		return nil, err
	}
	o.Encoding = r.encoding
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
	value, err := j.next()
	if err != nil {
		return false, err
	}
	if err := j.JSONFields.fields.parse(value); err != nil {
		j.place.Cause = j.broken(err, value, int(j.place.Line)).Where()
		return false, nil
	}
	sound := j.take()
	if !sound {
		j.place.Cause = "its id or its text is an object or an array"
	}
	return sound, nil
}

// Skip implements Records.
func (j *jsonRecords) Skip() (int, error) {
	if j.pending {
		j.pending = false
		return len(j.values.Data), nil
	}
	value, err := j.next()
	return len(value), err
}

// next returns the next object, whose place it notes.
func (j *jsonRecords) next() ([]byte, error) {
	for {
		at, _ := j.Ahead()
		value, line, err := j.Object()
		if err != nil || len(bytes.TrimSpace(value)) > 0 {
			j.place = input.Place{Line: int64(line), Byte: at}
			return value, err
		}
	}
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

// JSONFields holds the wanted fields of a JSON object.
type JSONFields struct {
	path   string
	o      *input.Options
	names  []string
	needed int // so many of the names are of ids and the text
	fields object
	values pipeline.Bytes
	have   []bool
}

// NewJSONFields returns the fields for the objects of a file; path is for errors.
func NewJSONFields(path string, o *input.Options) JSONFields {
	return JSONFields{path: path, o: o, names: o.Fields(), needed: len(o.ID) + 1}
}

// Settle checks the first object: if it has no id or no text under the given names, no other object will. sound is the
// result of Parse for it.
func (j *JSONFields) Settle() (sound bool, err error) {
	if j.fields.get("id") != nil && len(j.o.ID) > 0 && j.o.ID[0] == input.DefaultID && j.fields.get(input.DefaultID) == nil {
		j.names[0] = "id"
	}
	for _, name := range j.names[:j.needed] {
		if j.fields.get(name) == nil {
			return false, input.MissingField(j.path, name, j.o, j.fields.names())
		}
	}
	return j.take(), nil
}

// Parse extracts the wanted fields of an object: strings as their characters, numbers and nested values as JSON, null
// and missing fields as nothing. It reports whether the row is valid.
func (j *JSONFields) Parse(value []byte) bool {
	return j.fields.parse(value) == nil && j.take()
}

// take takes the wanted fields of the current object. An id or a text that is an object or an array is a broken row: pandas writes
// a whole table as one object of columns, which is no note.
func (j *JSONFields) take() bool {
	j.values.Reset()
	j.have = j.have[:0]
	for k, name := range j.names {
		raw := j.fields.get(name)
		ok := raw != nil && string(raw) != "null"
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

// Field implements input.Fields. In text files numbers are characters.
func (j *JSONFields) Field(k int) (value []byte, number, ok bool) {
	return j.values.At(k), false, j.have[k]
}

// Raw returns any field of the object as JSON; nil if it is missing.
func (j *JSONFields) Raw(name string) []byte { return j.fields.get(name) }
