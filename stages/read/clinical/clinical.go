// Package clinical reads files of documents that other systems exchange: FHIR R4 as NDJSON or one resource per file,
// HL7 v2 messages, CDA. Each document becomes a note, and the document itself goes into a column, from which package
// restore makes the masked document. models/form/document parses the documents.
package clinical

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/text"
)

// extensions are those of files that may hold documents. How such a file begins tells
// whether it does.
var extensions = []string{".ndjson", ".jsonl", ".json", ".hl7", ".xml", ".txt", ".cda"}

// headBytes is how much of a file is looked at.
const headBytes = 1 << 14

// Is reports whether a file holds documents. A file that cannot be read is reported later, when it is hashed.
func Is(path string) bool {
	name := strings.ToLower(path)
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	for _, ext := range extensions {
		if filepath.Ext(name) == ext {
			return formatOf(path) != document.NoFormat
		}
	}
	return false
}

func formatOf(path string) document.Format {
	f, err := os.Open(path)
	if err != nil {
		return document.NoFormat
	}
	defer f.Close() // only read
	in, _, err := text.Unpacked(f, path)
	if err != nil {
		return document.NoFormat
	}
	head := make([]byte, headBytes)
	n, _ := io.ReadFull(in, head)
	return document.FormatOf(head[:n])
}

// Fields holds the fields of the current document. It implements input.Fields.
type Fields struct {
	o        *input.Options
	columns  []input.Wanted
	doc      []byte
	document *document.Document
	reason   pipeline.Reason
}

// NewFields returns the fields of documents. It returns an error for options that documents do not support, such as
// columns to pass through.
func NewFields(path string, o *input.Options) (Fields, error) {
	f := Fields{o: o, columns: o.Extras()}
	switch {
	case len(o.Pass) > 0:
		return f, &input.SchemaError{Path: path, Column: o.Pass[0], Cause: "is no column of documents",
			Remedy: "leave it out of read.keep: masked documents keep all that is no text"}
	case o.IDs != input.KeepIDs:
		return f, &input.SchemaError{Path: path, Column: "id", Cause: "cannot be keyed or dropped in documents, which refer to each other by it",
			Remedy: "leave read.ids at keep, and key ids in the system that sends them"}
	}
	return f, nil
}

// Take parses a document. The fields are valid until the next call.
func (f *Fields) Take(doc []byte) {
	f.doc = doc
	f.document, f.reason = document.Open(doc, f.o.Documents)
}

// Reason implements input.Refused.
func (f *Fields) Reason() pipeline.Reason { return f.reason }

// Field implements input.Fields.
func (f *Fields) Field(k int) (value []byte, number, ok bool) {
	switch at := k - len(f.o.ID) - 1; {
	case k == 0:
		value = f.document.ID
	case at < -1:
	case at == -1:
		return f.document.Text, false, f.reason == pipeline.Sound
	case f.columns[at].Patient:
		if value = f.document.Patient; len(f.document.Others) > 0 {
			value = bytes.Join(append([][]byte{value}, f.document.Others...), []byte{patientid.Between})
		}
	case f.columns[at].As == input.SourceColumn && f.reason == pipeline.Sound:
		value = f.doc
	}
	return value, false, len(value) > 0
}

// Documents reads the documents of a file. It implements text.Records.
type Documents struct {
	Fields
	format document.Format
	path   string
	file   *os.File
	in     *bufio.Reader
	packed bool
	buf    []byte
	from   int   // bytes of buf that are used up
	at     int64 // place of buf in the file
	ended  bool
}

// Open opens a file of documents.
func Open(path string, o *input.Options) (*Documents, error) {
	fields, err := NewFields(path, o)
	if err != nil {
		return nil, err
	}
	format := document.ParseFormat(o.Format)
	if format == document.NoFormat {
		format = formatOf(path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	d := &Documents{Fields: fields, format: format, path: path, file: f}
	if d.in, d.packed, err = text.Unpacked(f, path); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return d, nil
}

// Row implements text.Records. A document that violates its format is a row with a reason.
func (d *Documents) Row() (sound bool, err error) {
	doc, err := d.next()
	if err == nil {
		d.Take(doc)
	}
	return err == nil, err
}

// Skip implements text.Records.
func (d *Documents) Skip() (int, error) {
	doc, err := d.next()
	return len(doc), err
}

// next returns the next document.
func (d *Documents) next() ([]byte, error) {
	for {
		from, end := d.format.Next(d.buf[d.from:], d.ended)
		switch {
		case end > 0:
			doc := d.buf[d.from+from : d.from+end]
			d.from += end
			if len(bytes.TrimSpace(doc)) > 0 {
				return doc, nil
			}
		case d.ended:
			return nil, io.EOF
		default:
			if err := d.more(); err != nil {
				return nil, err
			}
		}
	}
}

// most is the longest piece of a file that is searched for the end of a document.
const most = 256 << 20

// more reads on. The room grows with what is in it, so that a long document is not
// searched over and over.
func (d *Documents) more() error {
	d.at += int64(d.from)
	have := len(d.buf) - d.from
	if have > most {
		return &input.Error{Path: d.path, Cause: "a document of more than 256 MiB", Remedy: "leave it out: it is no note"}
	}
	size := max(1<<16, 2*have)
	buf := d.buf[:0]
	if cap(buf) < size {
		buf = make([]byte, 0, size)
	}
	buf = append(buf, d.buf[d.from:]...)
	n, err := io.ReadFull(d.in, buf[have:size])
	d.buf, d.from = buf[:have+n], 0
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		d.ended = true
		return nil
	}
	return err
}

// Ahead implements text.Records. Documents have no lines.
func (d *Documents) Ahead() (int64, int) {
	if d.packed {
		return -1, 0
	}
	return d.at + int64(d.from), 0
}

// GoTo implements text.Records.
func (d *Documents) GoTo(at int64, _ int) error {
	_, err := d.file.Seek(at, io.SeekStart)
	d.in.Reset(d.file)
	d.buf, d.from, d.at, d.ended = d.buf[:0], 0, at, false
	return err
}

// Close implements text.Records.
func (d *Documents) Close() error { return d.file.Close() }
