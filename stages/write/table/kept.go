package table

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
)

// A column that is kept has the elements of the schema that it was read with.
// The library gets its shape and physical types, under names that sort in the
// order of the fields, since the library sorts them; the elements themselves
// go into the footer as they are. So what a column means, and what its fields
// are called, is no matter of what the library knows.

// shape is a kept column as the library has it.
type shape struct {
	elements []format.SchemaElement
	leaves   []shapeLeaf
	node     parquet.Node
}

type shapeLeaf struct {
	path, names []string // in the library, in the file; both below the column itself
}

// Of returns the column that takes the values of a column of batches.
func Of(c *pipeline.Column) (to Column, err error) {
	to = Column{Name: c.Name, Kind: c.Kind, Optional: true}
	if c.Type != "" {
		to.shape, err = newShape(c.Type)
	}
	return to, err
}

// newShape takes the type of a column apart, see pipeline.Column.Type.
func newShape(kept string) (*shape, error) {
	var m format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), []byte(kept), &m); err != nil || len(m.Schema) == 0 {
		return nil, fmt.Errorf("a column that is kept has no type")
	}
	s := &shape{elements: m.Schema}
	node, next := s.walk(0, nil, nil)
	if next != len(m.Schema) {
		return nil, fmt.Errorf("a column that is kept has a type that cannot be")
	}
	s.node = node
	return s, nil
}

// walk makes a node of the element at a place and returns the place behind it.
func (s *shape) walk(at int, path, names []string) (parquet.Node, int) {
	e := &s.elements[at]
	at++
	var n parquet.Node
	if e.Type.Valid {
		n = leafNode(e)
		s.leaves = append(s.leaves, shapeLeaf{path, names})
	} else {
		group := parquet.Group{}
		for i := 0; i < int(e.NumChildren.V) && at < len(s.elements); i++ {
			name := fmt.Sprintf("%05d", i)
			below := append(path[:len(path):len(path)], name)
			group[name], at = s.walk(at, below, append(names[:len(names):len(names)], s.elements[at].Name))
		}
		n = group
	}
	switch e.RepetitionType.V {
	case format.Optional:
		n = parquet.Optional(n)
	case format.Repeated:
		n = parquet.Repeated(n)
	}
	return n, at
}

// leafNode encodes values as columns of ours are encoded.
func leafNode(e *format.SchemaElement) parquet.Node {
	switch e.Type.V {
	case format.Boolean:
		return parquet.Leaf(parquet.BooleanType)
	case format.Int32:
		return parquet.Encoded(parquet.Leaf(parquet.Int32Type), &parquet.Plain)
	case format.Int64:
		return parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked)
	case format.Int96:
		return parquet.Encoded(parquet.Leaf(parquet.Int96Type), &parquet.Plain)
	case format.Float:
		return parquet.Leaf(parquet.FloatType)
	case format.Double:
		return parquet.Leaf(parquet.DoubleType)
	case format.FixedLenByteArray:
		return parquet.Encoded(parquet.Leaf(parquet.FixedLenByteArrayType(int(e.TypeLength.V))), &parquet.Plain)
	}
	return parquet.Encoded(parquet.Leaf(parquet.ByteArrayType), &parquet.Plain)
}

// restore puts the elements of the kept columns, and the names of their
// leaves, into a footer.
func restore(m *format.FileMetaData, columns []Column) {
	schema := []format.SchemaElement{m.Schema[0]}
	at, leaf := 1, 0
	for i := range columns {
		c := &columns[i]
		n, leaves := c.elements(), 1
		if c.shape == nil {
			schema = append(schema, m.Schema[at:at+n]...)
		} else {
			schema, leaves = append(schema, c.shape.elements...), len(c.shape.leaves)
			for k, l := range c.shape.leaves {
				for g := range m.RowGroups {
					m.RowGroups[g].Columns[leaf+k].MetaData.PathInSchema = append([]string{c.Name}, l.names...)
				}
			}
		}
		at, leaf = at+n, leaf+leaves
	}
	m.Schema = schema
}

// elements returns how many elements of the schema the column has.
func (c *Column) elements() int {
	if c.shape != nil {
		return len(c.shape.elements)
	}
	return 1
}

// paths returns the paths of the leaves, as the library has them.
func (c *Column) paths() [][]string {
	if c.shape == nil {
		return [][]string{{c.Name}}
	}
	var all [][]string
	for _, l := range c.shape.leaves {
		all = append(all, append([]string{c.Name}, l.path...))
	}
	return all
}

// ColumnsOf are the columns of a file as those that are kept.
func ColumnsOf(m *format.FileMetaData) (columns []Column, err error) {
	for at := 1; at < len(m.Schema); {
		end := behind(m.Schema, at)
		kind, err := thrift.Marshal(new(thrift.CompactProtocol), format.FileMetaData{Schema: m.Schema[at:end]})
		if err != nil {
			return nil, err
		}
		c := Column{Name: m.Schema[at].Name}
		if c.shape, err = newShape(string(kind)); err != nil {
			return nil, err
		}
		columns = append(columns, c)
		at = end
	}
	return columns, nil
}

// behind returns the index of the schema element that follows element at and all its children.
func behind(schema []format.SchemaElement, at int) int {
	children := int(schema[at].NumChildren.V)
	for at++; children > 0 && at < len(schema); children-- {
		at = behind(schema, at)
	}
	return at
}
