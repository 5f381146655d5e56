package text

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/sheet"
	"github.com/velum-health/velum/stages/read/input"
)

// CSV reads a table with a header: an id, a text and, if there is such a
// column, spans as a JSON list as in JSONL. Other columns are passed over.
//
// The format is RFC 4180, optionally with another delimiter: a field in double quotes may hold anything, and a doubled
// quote stands for one. Unlike encoding/csv, it keeps CRLF inside a field (offsets count both characters), and its
// errors do not quote the file.
type CSV struct {
	intake
	in      *stream
	fields  []int // columns of the fields wanted; -1: there is none
	columns int
	record  pipeline.Bytes
	begins  int64   // byte at which the record begins
	starts  []place // where its fields begin
	at      place   // of the next byte
	key     int     // column of the id, by which rows are recognized in what an open quote swallows
	broke   []broke // lines that begin in the fields of the row
	labels  []label
	lenient bool // quotes inside fields are characters, a broken row is a *rowError: see csvRecords
}

// rowError is a row of a table that breaks the format and was stepped over.
type rowError struct {
	wrong     *input.Error
	swallowed []input.Place // lines of it that look like rows
}

func (e *rowError) Error() string { return e.wrong.Error() }

// broke is a line break within a quoted field: where the line behind it begins.
type broke struct {
	line int
	byte int64
	data int // place in the data of the record
}

// NewCSV opens a file and reads its header.
func NewCSV(path string, o Options) (*CSV, error) {
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
func (s *CSV) begin() (err error) {
	if c := s.o.Comma; c >= 0x80 || c == '"' || c == '\r' || c == '\n' {
		return &input.Error{Path: s.path, Cause: "the delimiter is no ASCII character that fields can do without",
			Remedy: "take a comma, semicolon, tab or bar"}
	}
	if s.in, err = s.openFile(); err != nil {
		return err
	}
	s.at = place{1, 1}
	if s.o.Comma == 0 {
		s.o.Comma = s.delimiter()
	}
	return nil
}

// delimiter returns the commonest of the usual delimiters in the header,
// outside quotes; of two as common, the first of the list.
func (s *CSV) delimiter() rune {
	head, _ := s.in.r.Peek(1 << 14) // what is there: an error comes again when it is read
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
func (s *CSV) Close() error { return s.in.Close() }

// header reads the header and finds the columns of labelled notes.
func (s *CSV) header() error {
	names, err := s.heads()
	if err != nil {
		return err
	}
	o := input.Options{ID: []string{cmp.Or(s.o.IDColumn, "id")}, Text: s.o.TextColumn}
	if slices.Contains(names, s.o.SpansColumn) {
		o.Pass = []string{s.o.SpansColumn}
	}
	if s.o.IDColumn == "" && !slices.Contains(names, "id") && slices.Contains(names, input.DefaultID) { // what `velum run` calls it
		o.ID[0] = input.DefaultID
	}
	return s.find(&o, names)
}

// heads reads the header: the names of the columns.
func (s *CSV) heads() (names []string, err error) {
	if err = s.next(); err == io.EOF {
		err = s.wrong(place{}, "empty file", "write a header line with the names of the columns")
	}
	if err == nil {
		s.columns = s.record.Len()
		for k := range s.columns {
			names = append(names, string(s.record.At(k)))
		}
	}
	return names, err
}

// find finds each field that the options name among the columns.
func (s *CSV) find(o *input.Options, names []string) error {
	for _, name := range o.Fields() {
		at := -1
		for k, have := range names {
			if cmp.Or(o.Names[have], have) != name {
				continue
			}
			if at >= 0 {
				return &input.SchemaError{Path: s.path, Column: name, Cause: "stands twice in the header", Remedy: "rename one of them"}
			}
			at = k
		}
		if at < 0 && name == input.DefaultID {
			at = slices.Index(names, "id")
		}
		if at < 0 {
			have, doubt := input.HeaderNames(names)
			if doubt != "" {
				return &input.SchemaError{Path: s.path, Column: name, Cause: "is missing", Remedy: doubt}
			}
			return input.MissingField(s.path, name, o, have)
		}
		s.fields = append(s.fields, at)
	}
	if len(o.ID) > 0 {
		s.key = s.fields[0]
	}
	return nil
}

// Next implements pipeline.Source.
func (s *CSV) Next(b *pipeline.Batch) error {
	return s.fill(b, func() error {
		err := s.next()
		if broken, ok := errors.AsType[*rowError](err); ok {
			return s.aside(b, broken.wrong)
		}
		if err != nil {
			return err
		}
		return s.note(b)
	})
}

func (s *CSV) note(b *pipeline.Batch) error {
	id, text := s.record.At(s.fields[0]), s.record.At(s.fields[1])
	s.labels = s.labels[:0]
	if len(s.fields) > 2 { // a table of ours, or of one that counts as we do
		if spans := s.fields[2]; len(s.record.At(spans)) > 0 {
			var err error
			if s.labels, err = s.spanList(s.labels, s.record.At(spans), s.starts[spans]); err != nil {
				return err
			}
		}
		shift := 0
		id, _ = sheet.Bare(id)
		text, shift = sheet.Bare(text)
		for k := range s.labels {
			s.labels[k].start, s.labels[k].end = max(s.labels[k].start-shift, 0), s.labels[k].end-shift
		}
	}
	reason := s.check(text)
	if reason == pipeline.Sound && len(id) == 0 {
		reason = pipeline.NullID
	}
	return s.addAs(b, reason, id, text, s.labels, s.o.Unit)
}

// next reads one record and passes over empty lines. A record with another number of fields than the header is a
// *rowError.
func (s *CSV) next() error {
	if err := s.read(); err != nil || s.columns == 0 || s.record.Len() == s.columns {
		return err
	}
	return s.broken(s.starts[0], fmt.Sprintf("row of %d fields, the header has %d", s.record.Len(), s.columns),
		"quote fields that hold delimiters or line ends")
}

func (s *CSV) read() error {
	s.record.Reset()
	s.starts, s.broke = s.starts[:0], s.broke[:0]
	for {
		head, err := s.in.r.Peek(1)
		if err != nil {
			return err // io.EOF at the end of a record is the end
		}
		if head[0] != '\n' && head[0] != '\r' {
			break
		}
		s.get()
	}
	s.begins = s.in.byte()
	for {
		s.starts = append(s.starts, s.at)
		last, err := s.field()
		if err != nil {
			return err
		}
		s.record.End()
		if last {
			return nil
		}
	}
}

// get reads a character and returns its place; s.at is then the place behind it.
func (s *CSV) get() (c byte, at place, err error) {
	at = s.at
	if c, err = s.in.r.ReadByte(); err == nil {
		s.at.column++
		s.in.at++
	}
	if c == '\n' {
		s.at = place{s.at.line + 1, 1}
	}
	return c, at, err
}

// field appends one field to the record, and reports whether it was the last of the record.
func (s *CSV) field() (last bool, err error) {
	for first := true; ; first = false {
		c, at, err := s.get()
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, err
		case c == '"' && first:
			return s.quoted(at)
		case c == byte(s.o.Comma):
			return false, nil
		case c == '\n':
			return true, nil
		case c == '\r':
			return true, s.lineEnd(at)
		case c == '"' && !s.lenient:
			return false, s.wrong(at, "quote inside a field without quotes", "put the field in quotes and double the quotes in it")
		}
		if err := s.keep(c); err != nil {
			return false, err
		}
	}
}

// quoted reads a field up to its closing quote and what ends it.
func (s *CSV) quoted(open place) (last bool, err error) {
	for {
		c, _, err := s.get()
		if err == io.EOF {
			cause := "the file ends inside this quoted field"
			if n := len(s.swallowed()); n > 0 {
				cause += fmt.Sprintf(", which swallows %d lines that look like rows", n)
			}
			return false, s.wrong(open, cause, "close the quote")
		}
		if err != nil {
			return false, err
		}
		if c != '"' {
			if err := s.keep(c); err != nil {
				return false, err
			}
			if c == '\n' {
				s.broke = append(s.broke, broke{s.at.line, s.in.byte(), len(s.record.Data)})
			}
			continue
		}
		c, at, err := s.get()
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil:
			return false, err
		case c == '"':
			if err := s.keep(c); err != nil {
				return false, err
			}
		case c == byte(s.o.Comma):
			return false, nil
		case c == '\n':
			return true, nil
		case c == '\r':
			return true, s.lineEnd(at)
		default:
			return false, s.unsound(at, "text behind a closing quote", "double the quotes inside a field")
		}
	}
}

// lineEnd wants a line feed, or the end of the file, behind a carriage return.
func (s *CSV) lineEnd(at place) error {
	c, _, err := s.get()
	switch {
	case err == io.EOF:
		return nil
	case err == nil && c != '\n':
		return s.unsound(at, "carriage return without line feed outside quotes", "end lines with LF or CRLF, quote fields that hold line ends")
	}
	return err
}

// unsound is wrong for a mistake in a single row, after which a lenient reader passes over the rest of the line.
func (s *CSV) unsound(at place, cause, remedy string) error {
	err := s.broken(at, cause, remedy)
	if !s.lenient {
		return err
	}
	for {
		c, _, bad := s.get()
		if c == '\n' || bad == io.EOF {
			return err
		}
		if bad != nil {
			return bad
		}
	}
}

// broken returns the error for the current row, and says how many lines look like rows swallowed by an open quote.
func (s *CSV) broken(at place, cause, remedy string) error {
	lines := s.swallowed()
	if n := len(lines); n > 0 {
		cause += fmt.Sprintf("; an open quote in line %d swallows %d lines that look like rows", s.starts[0].line, n)
	}
	return &rowError{&input.Error{Path: s.path, Line: at.line, Column: at.column, Cause: cause, Remedy: remedy}, lines}
}

// swallowed are the lines within the fields of the record that look like rows: they have
// as many delimiters as the header, and an id without blanks, with digits if that of the
// row has any. A quote that nobody closes makes them part of the field before.
func (s *CSV) swallowed() (lines []input.Place) {
	const digits = "0123456789"
	numbered := s.key < s.record.Len() && bytes.ContainsAny(s.record.At(s.key), digits)
	for k, b := range s.broke {
		end := len(s.record.Data)
		if last := k+1 == len(s.broke); !last {
			end = s.broke[k+1].data
		}
		fields := bytes.Split(s.record.Data[b.data:end], []byte{byte(s.o.Comma)})
		whole := len(fields) >= s.columns || k+1 == len(s.broke) && len(fields) > s.key+1
		if whole && s.columns > 1 && len(fields[s.key]) > 0 && !bytes.ContainsAny(fields[s.key], " \t") &&
			(!numbered || bytes.ContainsAny(fields[s.key], digits)) {
			lines = append(lines, input.Place{Line: int64(b.line), Byte: b.byte,
				Cause: fmt.Sprintf("swallowed by an open quote in line %d", s.starts[0].line)})
		}
	}
	return lines
}

func (s *CSV) keep(c byte) error {
	s.record.Data = append(s.record.Data, c)
	if len(s.record.Data) > maxLine {
		return s.wrong(s.starts[0], "row of more than 128 MiB", "close its quotes, or leave it out: it is no note")
	}
	return nil
}
