// Package column describes columns of Parquet, for who reads them and who writes them: the elements of the schema that say
// what a column means, and the leaves that have its values. A description is made of the footer of a file, of the type that
// a column of batches carries from the input to the output ([pipeline.Column]), or of a name by Text, Int64 and the like.
package column

import (
	"errors"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
)

// Column is a column of the top level of a schema with all that is below it.
type Column struct {
	Name     string
	Elements []format.SchemaElement // depth first, its own first
	First    int                    // its leaves are chunks [First, First+len(Leaves)) of a row group
	Leaves   []Leaf
	Encoding format.Encoding // of byte strings where velum writes them; the zero value is PLAIN
	Constant []byte          // the value of all rows that velum writes; nil: each has its own
}

// Leaf is a column that has values.
type Leaf struct {
	Path           []string
	Element        *format.SchemaElement
	MaxRep, MaxDef int
}

// Flat reports whether the column has one value per row.
func (c *Column) Flat() bool {
	return len(c.Elements) == 1 && len(c.Leaves) == 1 && c.Leaves[0].MaxRep == 0
}

// Of returns the columns that elements of a schema describe, which are those below its root; false if no schema has these.
func Of(elements []format.SchemaElement) (all []Column, ok bool) {
	first := 0
	for at := 0; at < len(elements); {
		c := Column{Name: elements[at].Name, First: first}
		next, ok := c.walk(elements, at, nil, 0, 0)
		if !ok {
			return nil, false
		}
		c.Elements = elements[at:next]
		at, first = next, first+len(c.Leaves)
		all = append(all, c)
	}
	return all, true
}

// maxDepth is how deep columns may be nested. No writer comes near.
const maxDepth = 64

// walk adds the leaves of the element at all[at] and returns the number of the
// element behind it.
func (c *Column) walk(all []format.SchemaElement, at int, above []string, rep, def int) (next int, ok bool) {
	if at >= len(all) || len(above) >= maxDepth {
		return 0, false
	}
	e := &all[at]
	switch e.RepetitionType.V {
	case format.Required:
	case format.Optional:
		def++
	case format.Repeated:
		rep, def = rep+1, def+1
	default:
		return 0, false
	}
	path := append(above[:len(above):len(above)], e.Name)
	if e.Type.Valid {
		c.Leaves = append(c.Leaves, Leaf{path, e, rep, def})
		return at + 1, Children(e) == 0
	}
	n := Children(e)
	if n < 0 || n > len(all)-at-1 {
		return 0, false
	}
	next = at + 1
	for range n {
		if next, ok = c.walk(all, next, path, rep, def); !ok {
			return 0, false
		}
	}
	return next, true
}

// Children returns how many elements are right below one.
func Children(e *format.SchemaElement) int {
	if e.Type.Valid || !e.NumChildren.Valid {
		return 0
	}
	return int(e.NumChildren.V)
}

// ErrType says that a pipeline.Column.Type is none.
var ErrType = errors.New("is no type of a column")

// Parse returns the column of a pipeline.Column.Type. The type may come from a worker that a damaged file has broken.
func Parse(kept []byte) (c Column, err error) {
	var m format.FileMetaData
	if len(kept) > 1<<20 || thrift.Unmarshal(new(thrift.CompactProtocol), kept, &m) != nil {
		return c, ErrType
	}
	all, ok := Of(m.Schema)
	if !ok || len(all) != 1 {
		return c, ErrType
	}
	return all[0], nil
}

// Type returns what Parse parses.
func Type(elements []format.SchemaElement) []byte {
	data, err := thrift.Marshal(new(thrift.CompactProtocol), format.FileMetaData{Schema: elements})
	if err != nil {
		return nil // which is no type: nobody reads or writes the column
	}
	return data
}

// types are those of the columns of batches that no file gave a type.
var types = [...]parquet.Type{
	pipeline.BytesColumn: parquet.String().Type(), pipeline.Int32Column: parquet.Int(32).Type(), pipeline.Int64Column: parquet.Int(64).Type(),
	pipeline.FloatColumn: parquet.FloatType, pipeline.DoubleColumn: parquet.DoubleType, pipeline.BoolColumn: parquet.BooleanType,
	pipeline.DateColumn: parquet.Date().Type(), pipeline.TimestampColumn: parquet.Timestamp(parquet.Microsecond).Type(),
}

// Passed returns the column that has the values of a column of batches, or null.
func Passed(c *pipeline.Column) (Column, error) {
	if c.Type != "" {
		return Parse([]byte(c.Type))
	}
	return flat(c.Name, types[c.Kind], format.Optional, format.DeltaLengthByteArray), nil
}

// flat returns a column of one value a row.
func flat(name string, t parquet.Type, repetition format.FieldRepetitionType, how format.Encoding) Column {
	e := format.SchemaElement{Name: name, Type: thrift.New(*t.PhysicalType()), RepetitionType: thrift.New(repetition)}
	if meaning := t.LogicalType(); meaning != nil {
		e.LogicalType = *meaning
	}
	if old := t.ConvertedType(); old != nil {
		e.ConvertedType = thrift.New(*old)
	}
	if n := t.Length(); n > 0 {
		e.TypeLength = thrift.New(int32(n))
	}
	all, _ := Of([]format.SchemaElement{e})
	all[0].Encoding = how
	return all[0]
}

// The columns that velum makes have one value a row, which is never missing.

// Text returns a column of text.
func Text(name string) Column {
	return flat(name, types[pipeline.BytesColumn], format.Required, format.DeltaLengthByteArray)
}

// Names returns a column of text with few different values.
func Names(name string) Column {
	return flat(name, types[pipeline.BytesColumn], format.Required, format.RLEDictionary)
}

// Bytes returns a column of byte strings that need not be UTF-8.
func Bytes(name string) Column {
	return flat(name, parquet.ByteArrayType, format.Required, format.DeltaLengthByteArray)
}

// Int32 returns a column of whole numbers.
func Int32(name string) Column {
	return flat(name, types[pipeline.Int32Column], format.Required, format.Plain)
}

// Int64 returns a column of whole numbers.
func Int64(name string) Column {
	return flat(name, types[pipeline.Int64Column], format.Required, format.Plain)
}

// Float returns a column of numbers.
func Float(name string) Column {
	return flat(name, parquet.FloatType, format.Required, format.Plain)
}

// Part returns the last column of every part: what the file of its rows is called in this output. With the number of the row it
// is a key in both trees, whatever the ids are. There is none without a mark.
func Part(mark string) []Column {
	if mark == "" {
		return nil
	}
	c := Names(pipeline.PartColumn)
	c.Constant = []byte(mark)
	return []Column{c}
}
