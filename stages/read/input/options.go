// Package input holds what all readers below stages/read share: options, errors with file, row, column, cause and
// remedy, note ids, encodings, and the identity of a file. It reads no format.
package input

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/velum-health/velum/models/form/document"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/limit"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/pipeline/secret"
)

// IDPolicy says what happens to the ids of rows, which can identify people: they are kept, keyed or dropped.
type IDPolicy uint8

const (
	KeepIDs IDPolicy = iota
	KeyIDs           // HMAC-SHA-256 under Key, its first 128 bits in hexadecimal: the same id gives the same one
	DropIDs          // the number of the row in its file instead; in an archive with a mark of the file
)

// NullIDPolicy says what happens to rows without an id.
type NullIDPolicy uint8

const (
	QuarantineNullIDs NullIDPolicy = iota
	NumberNullIDs                  // they take the number of the row in its file
)

// Options holds the options of the readers. The zero value works for files with columns note_id and text.
type Options struct {
	ID   []string // column of the id, or several that are joined with bars; nil means note_id, or with DropIDs none
	Text string   // column of the text; "" means text

	// Columns that later stages may need, read into Batch.Extra under the
	// names patient_id, date and center; "" means none.
	PatientID, Date, Center string
	Pass                    []string // columns to keep as they are, read into Batch.Extra under their own names
	RawPatients             bool     // patients' ids are read as written, not in their normal form

	IDs     IDPolicy
	Numbers bool        // KeyIDs replaces whole numbers by whole numbers (secret.Numbers)
	Key     *secret.Key // for KeyIDs and opaque folders
	NullIDs NullIDPolicy
	MaxText int // bytes of a note above which it is TooLong and its text is not kept; 0 means limit.NoteBytes

	// A batch is full at so many bytes of text or so many notes; 0 means
	// limit.BatchBytes and BatchNotes.
	BatchBytes, BatchNotes int

	// The format of files whose names do not tell it ("" means auto), and how text files are written.
	Format   string
	Encoding Encoding
	Comma    rune // CSV; 0: see Options

	UnitNotes int64           // notes after which a unit is full; 0 means UnitNotes
	Opaque    bool            // folders get opaque names, since real names of months would undo date shifting
	Mixed     bool            // units return their notes in an order derived from the key
	Checksums string          // file of SHA-256 sums beside the archive, as sha256sum writes it; "" means none
	Only      map[string]bool // files of folders that are read, by their paths with links followed; nil: all

	Places   bool // a Filler records where in its file each row is
	Optional bool // columns of Pass may be missing
	Alone    bool // no two files share a unit, since some of its parts are not Parquet

	HasDocuments bool             // the notes are fields of documents, which are kept beside them
	Documents    document.Options // how documents are taken apart

	Names  map[string]string // names of columns here, by their names in the files; nil: the same
	File   string            // fileMark of the current unit
	Shapes map[string]Shape  // of the columns of Batch.Extra in the archive, by wanted.key, for files that lack one
}

// UnitNotes is the default number of notes in a unit: some seconds of work.
const UnitNotes = 1 << 18

// DefaultID is the default name of the id column. Text tables may call it id as well.
const DefaultID = "note_id"

func (o Options) WithDefaults() Options {
	if len(o.ID) == 0 && o.IDs != DropIDs {
		o.ID = []string{DefaultID}
	}
	o.Text = cmp.Or(o.Text, "text")
	o.MaxText = cmp.Or(o.MaxText, limit.NoteBytes)
	o.BatchBytes = cmp.Or(o.BatchBytes, limit.BatchBytes)
	o.BatchNotes = cmp.Or(o.BatchNotes, limit.BatchNotes)
	o.UnitNotes = cmp.Or(o.UnitNotes, UnitNotes)
	return o
}

// Check returns the first mistake in the options.
func (o *Options) Check() error {
	if o.IDs == KeyIDs && o.Key == nil {
		return &secret.Error{Path: "(none)", Cause: "keyed ids need a key; name the file of one in the configuration"}
	}
	if o.Opaque && o.Key == nil {
		return &secret.Error{Path: "(none)", Cause: "opaque folders need a key; name the file of one in the configuration"}
	}
	return nil
}

// Names in Batch.Extra of the columns that stages use, whatever their names in the files. That of patients holds
// normalized ids (package patientid).
const (
	PatientColumn = "patient_id"
	DateColumn    = "date"
)

// Names in Batch.Extra of the columns for documents: the document as read, which is never written, and the masked
// document that package restore makes. The reader leaves the second one empty.
const (
	SourceColumn   = "document as it was read"
	DocumentColumn = "document"
)

// PlaceColumns holds the names in Batch.Extra for the position of a row in a text file, and for its format error. They
// are written to the quarantine only.
var PlaceColumns = []string{"line in the file", "byte in the file", "what breaks the format"}

// Extras returns the columns that are read into Batch.Extra.
func (o *Options) Extras() []Wanted {
	var all []Wanted
	for _, c := range []Wanted{{Name: o.PatientID, As: PatientColumn, Patient: true}, {Name: o.Date, As: DateColumn},
		{Name: o.Center, As: "center"}} {
		if c.Name != "" {
			all = append(all, c)
		}
	}
	for _, name := range o.Pass {
		all = append(all, Wanted{Name: name, As: name, Kept: true})
	}
	if o.HasDocuments {
		all = append(all, Wanted{Name: SourceColumn, As: SourceColumn}, Wanted{Name: DocumentColumn, As: DocumentColumn})
	}
	return all
}

// Wanted is a column that the options name.
type Wanted struct {
	Name string // in the file
	As   string // in the batch
	Kept bool   // written as it was read; otherwise stages use it

	Patient bool // its values are patients' ids
}

// Key returns the key of the column in data about the whole archive.
func (w *Wanted) Key() string {
	if w.Kept {
		return "kept " + w.Name
	}
	return "used " + w.Name
}

// Shape is the kind and type of a column in a batch: see pipeline.Column.
type Shape struct {
	Kind pipeline.ColumnKind
	Type []byte
}

// RawNumber precedes ids that are numbers when ids are read without normalization.
const RawNumber = 0

// Patient appends the normalized form of a patient id; several are joined with patientid.Between.
func (o *Options) Patient(dst, id []byte, number bool) []byte {
	switch {
	case o.RawPatients && number:
		return append(append(dst, RawNumber), id...)
	case o.RawPatients:
		return append(dst, id...)
	case number:
		return patientid.AppendNumber(dst, id)
	}
	first := len(dst)
	for one := range bytes.SplitSeq(id, []byte{patientid.Between}) {
		have := len(dst)
		if have > first {
			dst = append(dst, patientid.Between)
		}
		if with := patientid.AppendText(dst, one); len(with) > len(dst) {
			dst = with
		} else {
			dst = dst[:have]
		}
	}
	return dst
}

// Fields returns the names of the columns: ids, text, extras.
func (o *Options) Fields() []string {
	names := append(slices.Clone(o.ID), o.Text)
	for _, x := range o.Extras() {
		names = append(names, x.Name)
	}
	return names
}
