package table

import (
	"fmt"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline/column"
)

// The library gets the shape and the physical types of columns, under names that sort in the order of the fields, since the
// library sorts them; the elements themselves go into the footer as they are. So what a column means, and what its fields
// are called, is no matter of what the library knows.

// newSchema returns the schema that the library gets.
func newSchema(columns []column.Column) *parquet.Schema {
	root := parquet.Group{}
	for i := range columns {
		root[fieldName(i)] = nodeOf(&columns[i])
	}
	return parquet.NewSchema("velum", root)
}

// fieldName is the library's name of a field of a group.
func fieldName(i int) string { return fmt.Sprintf("%05d", i) }

// leafTypes are the physical types that the library encodes as it does by itself.
var leafTypes = [...]parquet.Type{
	format.Boolean: parquet.BooleanType, format.Int32: parquet.Int32Type, format.Int96: parquet.Int96Type,
	format.Float: parquet.FloatType, format.Double: parquet.DoubleType,
}

// nodeOf makes the library's node of a column. Counts are mostly 0: zstd packs them plain as well as deltas do, and both
// libraries are slow at those.
func nodeOf(c *column.Column) parquet.Node {
	var nodes []parquet.Node // of elements whose group has not come, the first one last
	for i := len(c.Elements) - 1; i >= 0; i-- {
		e := &c.Elements[i]
		var n parquet.Node
		switch {
		case !e.Type.Valid:
			group := parquet.Group{}
			for k := range column.Children(e) {
				last := len(nodes) - 1
				group[fieldName(k)], nodes = nodes[last], nodes[:last]
			}
			n = group
		case e.Type.V == format.FixedLenByteArray:
			n = parquet.Leaf(parquet.FixedLenByteArrayType(int(e.TypeLength.V)))
		case e.Type.V == format.Int64:
			n = parquet.Encoded(parquet.Leaf(parquet.Int64Type), &parquet.DeltaBinaryPacked)
		case e.Type.V == format.ByteArray:
			n = parquet.Encoded(parquet.Leaf(parquet.ByteArrayType), parquet.LookupEncoding(c.Encoding))
		default:
			n = parquet.Leaf(leafTypes[e.Type.V])
		}
		switch e.RepetitionType.V {
		case format.Optional:
			n = parquet.Optional(n)
		case format.Repeated:
			n = parquet.Repeated(n)
		}
		nodes = append(nodes, n)
	}
	return nodes[0]
}

// restore puts the elements of the columns, and the names of their
// leaves, into a footer.
func restore(m *format.FileMetaData, columns []column.Column) {
	m.Schema = m.Schema[:1]
	leaf := 0
	for i := range columns {
		m.Schema = append(m.Schema, columns[i].Elements...)
		for _, l := range columns[i].Leaves {
			for g := range m.RowGroups {
				m.RowGroups[g].Columns[leaf].MetaData.PathInSchema = l.Path
			}
			leaf++
		}
	}
}
