package input

import (
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// Fields gives access to the fields of the current row, by their index in Options.Fields.
type Fields interface {
	// Field returns a value as text. number says that it was a number, which has no
	// width; ok is false for null and for a field that is not there.
	Field(k int) (value []byte, number, ok bool)
}

// Refused is implemented by Fields that can reject a row with a reason.
type Refused interface {
	Reason() pipeline.Reason // Sound if it can
}

// Place is the position of a row in a text file, and the format error if the row is invalid.
type Place struct {
	Line, Byte int64  // of its beginning; the byte is -1 if the file is packed, or not UTF-8
	Cause      string // "": the row does not break the format. It holds no text of the file.
}

// Placed is implemented by Fields that know the position of the current row.
type Placed interface {
	Place() Place
}

// places are the columns of Batch.Extra for it.
var places = []pipeline.Column{{Name: PlaceColumns[0], Kind: pipeline.Int64Column}, {Name: PlaceColumns[1], Kind: pipeline.Int64Column},
	{Name: PlaceColumns[2], Kind: pipeline.BytesColumn}}

// maxBatchSource is how many bytes of documents fill a batch.
const maxBatchSource = 8 << 20

// A Filler appends rows of fields to batches: ids, text, and the columns of Batch.Extra, all as text.
type Filler struct {
	o       *Options
	ids     []pipeline.Bytes
	extra   []Wanted
	columns []pipeline.Column
	naming  Naming
}

// FillerColumns returns the columns of Batch.Extra that a Filler fills, without values.
func (o *Options) FillerColumns() (all []pipeline.Column) {
	for _, x := range o.Extras() {
		all = append(all, pipeline.Column{Name: x.As, Kind: pipeline.BytesColumn})
	}
	if o.Places {
		all = append(all, places...)
	}
	return all
}

// NewFiller returns a filler; the options must have their defaults set.
func NewFiller(o *Options) Filler {
	return Filler{o: o, ids: make([]pipeline.Bytes, len(o.ID)), extra: o.Extras(), columns: o.FillerColumns(), naming: NewNaming(o)}
}

// Begin prepares an empty batch; first is the number of its first row.
func (f *Filler) Begin(b *pipeline.Batch, first int64) {
	b.First = first
	for k := range f.ids {
		f.ids[k].Reset()
	}
	ReadyColumns(b, f.columns)
}

// Full reports whether a batch has reached its maximal size.
func (f *Filler) Full(b *pipeline.Batch) bool {
	if f.o.HasDocuments {
		if source := b.ExtraNamed(SourceColumn); source != nil && len(source.Bytes.Data) >= maxBatchSource {
			return true
		}
	}
	return f.o.Full(b)
}

// Row appends the current row. A row that violates the format (not sound) has no fields.
func (f *Filler) Row(b *pipeline.Batch, row Fields, sound bool) {
	get := func(k int) ([]byte, bool, bool) {
		if !sound {
			return nil, false, false
		}
		return row.Field(k)
	}
	text, _, ok := get(len(f.ids))
	reason := pipeline.Sound
	if refused, may := row.(Refused); !sound {
		reason = pipeline.BadRow
	} else if may {
		reason = refused.Reason()
	}
	switch {
	case reason != pipeline.Sound:
		b.Text.End()
		b.Reason = append(b.Reason, reason)
	case !ok:
		b.Text.End()
		b.Reason = append(b.Reason, pipeline.NullText)
	default:
		AppendText(b, text, f.o.MaxText)
	}
	for k := range f.ids {
		id, _, _ := get(k)
		f.ids[k].Append(id)
	}
	for k := range f.extra {
		value, number, ok := get(len(f.ids) + 1 + k)
		to := &b.Extra[k]
		if first := len(to.Bytes.Data); f.extra[k].Patient {
			to.Bytes.Data = f.o.Patient(to.Bytes.Data, value, number)
			ok = len(to.Bytes.Data) > first
		} else {
			to.Bytes.Data = append(to.Bytes.Data, value...)
		}
		to.Bytes.End()
		to.Valid = append(to.Valid, ok)
	}
	if f.o.Places {
		f.place(b.Extra[len(f.extra):], row.(Placed).Place())
	}
}

func (f *Filler) place(to []pipeline.Column, p Place) {
	to[0].Fixed, to[1].Fixed = append(to[0].Fixed, uint64(p.Line)), append(to[1].Fixed, uint64(p.Byte))
	to[2].Bytes.Append([]byte(p.Cause))
	for k := range to {
		to[k].Valid = append(to[k].Valid, true)
	}
}

// End sets the ids of the notes of a batch.
func (f *Filler) End(b *pipeline.Batch) { f.naming.Name(b, f.ids) }

// Settle finds each field among the columns of a table: at[k] is the column of field k. The default id column may also
// be called id. path is for errors.
func (o *Options) Settle(path string, columns []string) (at []int, err error) {
	for _, name := range o.Fields() {
		i := slices.Index(columns, name)
		if i < 0 && name == DefaultID {
			i = slices.Index(columns, "id")
		}
		if i < 0 {
			have := slices.Clone(columns)
			for k := range have {
				have[k] = PlainColumn(have[k])
			}
			return nil, MissingField(path, name, o, have)
		}
		at = append(at, i)
	}
	return at, nil
}

// MissingField returns the error that a file has no column with that name; it lists the columns that the file has.
func MissingField(path, name string, o *Options, have []string) error {
	order := OrderOf(slices.Contains(o.Pass, name))
	switch {
	case slices.Contains(o.ID, name):
		order = NameID
	case name == o.Text:
		order = NameText
	}
	return &SchemaError{Path: path, Column: name, Cause: "is missing", Remedy: MissingRemedy(name, order, have)}
}
