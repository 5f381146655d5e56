package input

import (
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// Fields are those of the row at hand, by their number in Options.Fields.
type Fields interface {
	// Field returns a value as text. number says that it was a number, which has no
	// width; ok is false for null and for a field that is not there.
	Field(k int) (value []byte, number, ok bool)
}

// Refused are fields of a row that say why it cannot be vouched for.
type Refused interface {
	Reason() pipeline.Reason // Sound if it can
}

// Place says where in a file of text a row stands, and why it is none if it is none.
type Place struct {
	Line, Byte int64  // of its beginning; the byte is -1 if the file is packed, or not UTF-8
	Cause      string // "": the row does not break the format. It holds no text of the file.
}

// Placed are fields that know their place.
type Placed interface {
	Place() Place
}

// places are the columns of Batch.Extra for it.
var places = []pipeline.Column{{Name: PlaceColumns[0], Kind: pipeline.Int64Column}, {Name: PlaceColumns[1], Kind: pipeline.Int64Column}, {Name: PlaceColumns[2], Kind: pipeline.BytesColumn}}

// maxBatchSource is how many bytes of documents fill a batch.
const maxBatchSource = 8 << 20

// A Filler puts rows of fields into batches: ids, text, and the columns of
// Batch.Extra, all of them as text.
type Filler struct {
	o       *Options
	ids     []pipeline.Bytes
	extra   []Wanted
	columns []pipeline.Column
	naming  Naming
}

// FillerColumns are those of Batch.Extra that a Filler fills, without values.
func (o *Options) FillerColumns() (all []pipeline.Column) {
	for _, x := range o.Extras() {
		all = append(all, pipeline.Column{Name: x.As, Kind: pipeline.BytesColumn})
	}
	if o.Places {
		all = append(all, places...)
	}
	return all
}

// NewFiller returns a filler of options that have their defaults.
func NewFiller(o *Options) Filler {
	return Filler{o: o, ids: make([]pipeline.Bytes, len(o.ID)), extra: o.Extras(), columns: o.FillerColumns(), naming: NewNaming(o)}
}

// Begin readies an empty batch whose first row has that number.
func (f *Filler) Begin(b *pipeline.Batch, first int64) {
	b.First = first
	for k := range f.ids {
		f.ids[k].Reset()
	}
	ReadyColumns(b, f.columns)
}

// Full tells whether a batch has as much as one may have.
func (f *Filler) Full(b *pipeline.Batch) bool {
	if f.o.HasDocuments {
		if source := b.ExtraNamed(SourceColumn); source != nil && len(source.Bytes.Data) >= maxBatchSource {
			return true
		}
	}
	return b.Len() >= f.o.BatchNotes || len(b.Text.Data) >= f.o.BatchBytes
}

// Row appends the row at hand. One that broke its format (not sound) has no fields.
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

// End gives the notes of a batch their ids.
func (f *Filler) End(b *pipeline.Batch) { f.naming.Name(b, f.ids) }

// Settle finds each field among the columns of a table: at[k] is its number there.
// Tables of text and streams may call the ids id as well. path is for errors.
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

// MissingField says that a file has no column of that name, and which it has.
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
