package read

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/sheet"
)

// CSV reads a table with a header: an id, a text and, if there is such a
// column, spans as a JSON list as in JSONL. Other columns are passed over.
//
// The format is RFC 4180 with another delimiter if wanted: a field in double
// quotes holds anything, a doubled quote is one. Unlike encoding/csv it keeps
// CRLF inside a field as CRLF (offsets count both characters) and quotes
// nothing in its errors.
type CSV struct {
	intake
	in              *stream
	id, text, spans int // columns; spans may be -1
	columns         int
	record          pipeline.Bytes
	starts          []place // of fields
	at              place   // of the next byte
	labels          []label
	lenient         bool // quotes inside fields are characters, a broken row is a *rowError: see csvRecords
}

// rowError is a row of a table that breaks the format and was stepped over.
type rowError struct{ error }

// NewCSV opens a file and reads its header.
func NewCSV(path string, o TextOptions) (*CSV, error) {
	r := &CSV{intake: newIntake(path, o), lenient: o.SetAside != nil}
	if err := r.begin(); err != nil {
		return nil, err
	}
	if err := r.header(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// begin opens the file and settles the delimiter.
func (r *CSV) begin() (err error) {
	if c := r.o.Comma; c >= 0x80 || c == '"' || c == '\r' || c == '\n' {
		return &InputError{Path: r.path, Cause: "the delimiter is no ASCII character that fields can do without", Remedy: "take a comma, semicolon, tab or bar"}
	}
	if r.in, err = r.openFile(); err != nil {
		return err
	}
	r.at = place{1, 1}
	if r.o.Comma == 0 {
		r.o.Comma = r.delimiter()
	}
	return nil
}

// delimiter returns the commonest of the usual delimiters in the header,
// outside quotes; of two as common, the first of the list.
func (r *CSV) delimiter() rune {
	head, _ := r.in.r.Peek(1 << 14) // what is there: an error comes again when it is read
	const usual = ",;\t|"
	var seen [len(usual)]int
	quoted := false
	for _, c := range head {
		if c == '\n' && !quoted {
			break
		}
		quoted = quoted != (c == '"')
		if k := strings.IndexByte(usual, c); k >= 0 && !quoted {
			seen[k]++
		}
	}
	best := 0
	for k := range seen {
		if seen[k] > seen[best] {
			best = k
		}
	}
	return rune(usual[best])
}

// Close closes the file.
func (r *CSV) Close() error { return r.in.Close() }

func (r *CSV) header() error {
	err := r.next()
	if err == io.EOF {
		return r.wrong(place{}, "empty file", "write a header line with the names of the columns")
	}
	if err != nil {
		return err
	}
	r.columns, r.id, r.text, r.spans = r.record.Len(), -1, -1, -1
	for k := range r.columns {
		name := string(r.record.At(k))
		for _, want := range []struct {
			name   string
			column *int
		}{{cmp.Or(r.o.IDColumn, "id"), &r.id}, {r.o.TextColumn, &r.text}, {r.o.SpansColumn, &r.spans}} {
			if name != want.name {
				continue
			}
			if *want.column >= 0 {
				return r.wrong(r.starts[k], "two columns named "+want.name, "rename one of them")
			}
			*want.column = k
		}
	}
	for k := 0; r.id < 0 && r.o.IDColumn == "" && k < r.columns; k++ {
		if string(r.record.At(k)) == "note_id" { // what `velum run` calls it
			r.id = k
		}
	}
	if r.id < 0 {
		return r.lacks(cmp.Or(r.o.IDColumn, "id"), nameID)
	}
	if r.text < 0 {
		return r.lacks(r.o.TextColumn, nameText)
	}
	return nil
}

// lacks says that there is no column of that name, and which there are.
func (r *CSV) lacks(name, order string) error {
	var all []string
	for k := range r.columns {
		all = append(all, string(r.record.At(k)))
	}
	have, doubt := headerNames(all)
	if doubt == "" {
		doubt = missingRemedy(name, order, have)
	}
	return r.wrong(place{1, 0}, "no column named "+name, doubt)
}

// Next implements pipeline.Source.
func (r *CSV) Next(b *pipeline.Batch) error {
	r.start(b)
	for !r.full(b) {
		err := r.next()
		if err == io.EOF {
			break
		}
		if broken, ok := errors.AsType[*rowError](err); ok {
			err = r.aside(b, broken.error)
		} else if err == nil && r.record.Len() != r.columns {
			err = r.aside(b, r.wrong(r.starts[0], fmt.Sprintf("row of %d fields, the header has %d", r.record.Len(), r.columns),
				"quote fields that hold delimiters or line ends"))
		} else if err == nil {
			err = r.note(b)
		}
		if err != nil {
			return err
		}
	}
	if b.Len() == 0 {
		return io.EOF
	}
	return nil
}

func (r *CSV) note(b *pipeline.Batch) error {
	id, text := r.record.At(r.id), r.record.At(r.text)
	r.labels = r.labels[:0]
	if r.spans >= 0 && len(r.record.At(r.spans)) > 0 {
		var err error
		if r.labels, err = r.spanList(r.labels, r.record.At(r.spans), r.starts[r.spans]); err != nil {
			return err
		}
	}
	if r.spans >= 0 { // a table of ours, or of one that counts as we do
		shift := 0
		id, _ = sheet.Bare(id)
		text, shift = sheet.Bare(text)
		for k := range r.labels {
			r.labels[k].start, r.labels[k].end = max(r.labels[k].start-shift, 0), r.labels[k].end-shift
		}
	}
	reason := r.check(text)
	if reason == pipeline.Sound && len(id) == 0 {
		reason = pipeline.NullID
	}
	return r.addAs(b, reason, id, text, r.labels, r.o.Unit)
}

// next reads one record; empty lines between records are none.
func (r *CSV) next() error {
	r.record.Reset()
	r.starts = r.starts[:0]
	for {
		c, err := r.in.r.ReadByte()
		if err != nil {
			return err // io.EOF at the end of a record is the end
		}
		if c != '\n' && c != '\r' {
			r.in.r.UnreadByte()
			break
		}
		r.step(c)
	}
	for {
		r.starts = append(r.starts, r.at)
		last, err := r.field()
		if err != nil {
			return err
		}
		r.record.End()
		if last {
			return nil
		}
	}
}

// step moves the place behind c.
func (r *CSV) step(c byte) {
	r.at.column++
	if c == '\n' {
		r.at = place{r.at.line + 1, 1}
	}
}

// field appends one field to the record and tells whether it was its last.
func (r *CSV) field() (last bool, err error) {
	first, err := r.in.r.ReadByte()
	if err == io.EOF {
		return true, nil // behind a delimiter
	}
	if err != nil {
		return false, err
	}
	if first == '"' {
		r.step(first)
		return r.quoted()
	}
	r.in.r.UnreadByte()
	for {
		c, err := r.in.r.ReadByte()
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		at := r.at
		r.step(c)
		switch {
		case c == byte(r.o.Comma):
			return false, nil
		case c == '\n':
			return true, nil
		case c == '\r':
			return true, r.lineEnd(at)
		case c == '"' && !r.lenient:
			return false, r.wrong(at, "quote inside a field without quotes", "put the field in quotes and double the quotes in it")
		}
		if err := r.keep(c); err != nil {
			return false, err
		}
	}
}

// quoted reads a field up to its closing quote and what ends it.
func (r *CSV) quoted() (last bool, err error) {
	open := place{r.at.line, r.at.column - 1}
	for {
		c, err := r.in.r.ReadByte()
		if err == io.EOF {
			return false, r.wrong(open, "the file ends inside this quoted field", "close the quote")
		}
		if err != nil {
			return false, err
		}
		r.step(c)
		if c != '"' {
			if err := r.keep(c); err != nil {
				return false, err
			}
			continue
		}
		c, err = r.in.r.ReadByte()
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		at := r.at
		r.step(c)
		switch c {
		case '"':
			if err := r.keep(c); err != nil {
				return false, err
			}
		case byte(r.o.Comma):
			return false, nil
		case '\n':
			return true, nil
		case '\r':
			return true, r.lineEnd(at)
		default:
			return false, r.unsound(at, "text behind a closing quote", "double the quotes inside a field")
		}
	}
}

// lineEnd wants a line feed, or the end of the file, behind a carriage return.
func (r *CSV) lineEnd(at place) error {
	c, err := r.in.r.ReadByte()
	if err == io.EOF {
		return nil
	}
	if err != nil {
		return err
	}
	r.step(c)
	if c != '\n' {
		return r.unsound(at, "carriage return without line feed outside quotes", "end lines with LF or CRLF, quote fields that hold line ends")
	}
	return nil
}

// unsound is wrong for what is wrong with one row: a lenient reader steps over
// the rest of the line.
func (r *CSV) unsound(at place, cause, remedy string) error {
	err := r.wrong(at, cause, remedy)
	if !r.lenient {
		return err
	}
	for {
		c, err := r.in.r.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if r.step(c); c == '\n' {
			break
		}
	}
	return &rowError{err}
}

func (r *CSV) keep(c byte) error {
	r.record.Data = append(r.record.Data, c)
	if len(r.record.Data) > maxLine {
		return r.wrong(r.starts[0], "row of more than 128 MiB", "close its quotes, or leave it out: it is no note")
	}
	return nil
}
