package parquet

import (
	"bytes"
	"io"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/stages/read/input"
)

// Columns that are kept go from the input to the output bit for bit: values
// as they stand in the pages, and the elements of the schema that say what
// they mean. Nothing is converted, so that nothing can be converted wrongly:
// a timestamp without zone that becomes one of UTC is a day earlier in New
// York.
//
// What lies outside the schema is not carried. ARROW:schema in the file's metadata names
// a zone beside the instant, the unit of a duration, and categories of pandas. It tells
// of all columns of the input, those with notes and names of patients too, by
// names that their owner chose; the public tree says nothing that it need not.
// Instants are the same without it; a reader shows them in UTC. Durations are whole numbers.

// acceptKept accepts every type of the format.
func acceptKept(c *column.Column, b *binding) bool {
	if len(c.Leaves) == 0 || len(c.Leaves) > maxLeaves {
		return false
	}
	for i := range c.Elements {
		e := &c.Elements[i]
		switch {
		case !e.Type.Valid && column.Children(e) == 0: // a struct of nothing
			return false
		case e.Type.Valid && (e.Type.V < format.Boolean || e.Type.V > format.FixedLenByteArray):
			return false
		case e.Type.V == format.FixedLenByteArray && (e.TypeLength.V <= 0 || e.TypeLength.V > maxFixed):
			return false
		case !utf8.ValidString(e.Name):
			return false
		}
	}
	b.Shape = shapeOf(c)
	return true
}

const (
	maxLeaves = 1000    // of a column that is kept
	maxFixed  = 1 << 16 // bytes of a value of fixed length
)

// shapeOf returns the type of a column as batches describe it. It leaves out whether the column may be null and the
// numbers of fields, since these differ between files of one archive.
func shapeOf(c *column.Column) input.Shape {
	all := slices.Clone(c.Elements)
	all[0].Name = c.Name // a table may call it otherwise than its file
	if all[0].RepetitionType.V == format.Required {
		all[0].RepetitionType = thrift.New(format.Optional)
	}
	for i := range all {
		all[i].FieldID = 0
	}
	kind := pipeline.NestedColumn
	if c.Flat() {
		kind = keptKinds[c.Elements[0].Type.V]
	}
	return input.Shape{Kind: kind, Type: column.Type(all)}
}

var keptKinds = map[format.Type]pipeline.ColumnKind{
	format.Boolean: pipeline.BoolColumn, format.Int32: pipeline.Int32Column, format.Int64: pipeline.Int64Column,
	format.Float: pipeline.FloatColumn, format.Double: pipeline.DoubleColumn,
	format.Int96: pipeline.BytesColumn, format.ByteArray: pipeline.BytesColumn, format.FixedLenByteArray: pipeline.BytesColumn,
}

// columnOf is the inverse of shapeOf. It may come from a worker that a damaged
// file has broken.
func columnOf(s input.Shape) (*column.Column, error) {
	c, err := column.Parse(s.Type)
	var b binding
	if err == nil && (!acceptKept(&c, &b) || b.Kind != s.Kind || !bytes.Equal(b.Type, s.Type)) {
		err = column.ErrType
	}
	return &c, err
}

// SameShape reports whether two columns have the same meaning, even if written by different programs.
func SameShape(a, b input.Shape) bool { return a.Kind == b.Kind && bytes.Equal(meaning(a), meaning(b)) }

// meaning is the type of a column in the words of today: types that old writers gave in others, and lengths that say nothing,
// are left out.
func meaning(s input.Shape) []byte {
	c, err := columnOf(s)
	if err != nil {
		return s.Type
	}
	for i := range c.Elements {
		e := &c.Elements[i]
		if l := logical(e); l != nil {
			e.LogicalType.Value, e.ConvertedType.Valid = l, false
		}
		e.TypeLength.Valid = e.TypeLength.Valid && e.Type.V == format.FixedLenByteArray
		e.Scale.Valid, e.Precision.Valid = false, false
	}
	return column.Type(c.Elements)
}

// TimeOf reports whether a pass-through column holds dates or timestamps, and how long a day is in its unit; 0 if velum
// cannot compute with them (inside lists and structs, and in the INT96 format).
func TimeOf(c pipeline.Column) (day int64, ok bool) {
	s := input.Shape{Kind: c.Kind, Type: []byte(c.Type)}
	f, err := columnOf(s)
	if err != nil {
		return 0, c.Kind == pipeline.DateColumn || c.Kind == pipeline.TimestampColumn
	}
	for i := range f.Elements {
		e := &f.Elements[i]
		unit, isTime := dayIn(e)
		if isTime && !f.Flat() {
			unit = 0
		}
		if isTime {
			return unit, true
		}
	}
	return 0, false
}

const secondsADay = 24 * 60 * 60

func dayIn(e *format.SchemaElement) (unit int64, isTime bool) {
	if e.Type.Valid && e.Type.V == format.Int96 {
		return 0, true
	}
	switch l := logical(e).(type) {
	case *format.DateType:
		return 1, true
	case *format.TimestampType:
		switch l.Unit.Value.(type) {
		case *format.MilliSeconds:
			return secondsADay * 1e3, true
		case *format.MicroSeconds:
			return secondsADay * 1e6, true
		case *format.NanoSeconds:
			return secondsADay * 1e9, true
		}
		return 0, true
	}
	return 0, false
}

// NewColumn returns an empty column of a batch.
func NewColumn(name string, s input.Shape) (pipeline.Column, error) {
	c := pipeline.Column{Name: name, Kind: s.Kind, Type: string(s.Type)}
	if len(s.Type) == 0 {
		return c, nil
	}
	column, err := columnOf(s)
	if err != nil {
		return c, err
	}
	if s.Kind == pipeline.BytesColumn {
		c.Width = width(column.Leaves[0].Element)
	}
	if s.Kind == pipeline.NestedColumn {
		for _, l := range column.Leaves {
			c.Leaves = append(c.Leaves, pipeline.Leaf{Full: byte(l.MaxDef), Width: width(l.Element)})
		}
	}
	return c, nil
}

// width returns how many bytes a value has; 0: any number.
func width(e *format.SchemaElement) int {
	switch e.Type.V {
	case format.Boolean:
		return 1
	case format.Int32, format.Float:
		return 4
	case format.Int64, format.Double:
		return 8
	case format.Int96:
		return 12
	case format.FixedLenByteArray:
		return int(e.TypeLength.V)
	}
	return 0
}

// extraReader reads a column of Batch.Extra: a cursor a leaf.
type extraReader struct {
	binding
	leaves []Cursor
	lift   byte // what is added to definition levels, since the column may be null now
}

func (f *Footer) extraReader(b binding, file *openedFile, from, to int) extraReader {
	r := extraReader{binding: b}
	if b.column < 0 {
		leaves := 1
		if column, err := columnOf(b.Shape); err == nil && b.Kind == pipeline.NestedColumn {
			leaves = len(column.Leaves)
		}
		for range leaves {
			r.leaves = append(r.leaves, Cursor{name: b.Name, leaf: -1, groups: file.groups[from:to], base: from})
		}
		return r
	}
	c := &f.Columns[b.column]
	for i := range c.Leaves {
		r.leaves = append(r.leaves, f.Cursor(b.column, i, file, from, to))
	}
	if b.Kind == pipeline.NestedColumn && c.Elements[0].RepetitionType.V == format.Required {
		r.lift = 1
	}
	return r
}

// Cursor returns a cursor for leaf i of a column.
func (f *Footer) Cursor(column, i int, file *openedFile, from, to int) Cursor {
	l := &f.Columns[column].Leaves[i]
	return Cursor{name: f.Columns[column].Name, leaf: file.leaf[column] + i, groups: file.groups[from:to], base: from, list: l.MaxRep > 0,
		full: byte(l.MaxDef)}
}

// read appends the next n values.
func (r *extraReader) read(to *pipeline.Column, n int) error {
	if r.value != nil {
		return r.leaves[0].texts(&to.Bytes, &to.Valid, r.value, math.MaxInt, n)
	}
	if r.Kind != pipeline.NestedColumn {
		return r.leaves[0].extra(to, r.convert, n)
	}
	for i := range r.leaves {
		if err := r.leaves[i].nested(&to.Leaves[i], r.lift, n); err != nil {
			return err
		}
	}
	return nil
}

// nested appends the levels and values of the next n rows.
func (c *Cursor) nested(to *pipeline.Leaf, lift byte, n int) error {
	for range n {
		if err := c.Load(); err != nil {
			return c.Early(err)
		}
		if c.leaf < 0 {
			c.N--
			to.Rep, to.Def = append(to.Rep, 0), append(to.Def, 0)
			to.End()
			continue
		}
		if c.rep() != 0 {
			return c.Damage("has a row that begins in its middle")
		}
		for more := true; more; {
			c.level(to, lift)
			// A row may go on in the next page, never in the next row group.
			if c.N == 0 && c.list {
				group := c.group
				if err := c.Load(); err != nil && err != io.EOF {
					return err
				}
				if c.group != group && c.N > 0 && c.rep() != 0 {
					return c.Damage("has a row in two row groups")
				}
			}
			more = c.N > 0 && c.list && c.rep() != 0
		}
		to.End()
	}
	return nil
}

// rep returns the repetition level of the next value.
func (c *Cursor) rep() byte {
	if !c.list {
		return 0
	}
	return c.reps[len(c.reps)-c.N]
}

// level appends the next value and its levels.
func (c *Cursor) level(to *pipeline.Leaf, lift byte) {
	rep, def := c.rep(), c.full
	if len(c.defs) > 0 {
		def = c.defs[len(c.defs)-c.N]
	}
	c.N--
	to.Rep, to.Def = append(to.Rep, rep), append(to.Def, def+lift)
	if def != c.full {
		return
	}
	at := c.place(c.next)
	c.next++
	to.Values.Data = append(to.Values.Data, c.value(at)...)
	to.Values.End()
}

// value returns value k as it stands in the page; a boolean is a byte. It is valid until the next load.
func (c *Cursor) value(k int) []byte {
	switch {
	case c.Offsets != nil:
		return c.Bytes(k)
	case c.bits:
		return truth[c.Fixed(k):][:1]
	}
	return c.data[c.width*k : c.width*(k+1)]
}

// truth holds the bytes of the two values of a boolean.
var truth = []byte{0, 1}
