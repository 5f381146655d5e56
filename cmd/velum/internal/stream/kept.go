package stream

import (
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/memory"
)

// keptType returns the output type of a kept column, nil for an unsupported type. Dictionary columns and views are
// rewritten, because values of quarantined rows would stay in their buffers.
func keptType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		if copied(t.ValueType) {
			return &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: t.ValueType, Ordered: t.Ordered}
		}
		return nil
	case *arrow.StringViewType:
		return arrow.BinaryTypes.LargeString
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.LargeBinary
	}
	if copied(t) {
		return t
	}
	return nil
}

// copied tells whether array.Concatenate copies the values of slices, and nothing beside them.
func copied(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.DictionaryType, arrow.BinaryViewDataType, *arrow.ListViewType, *arrow.LargeListViewType, *arrow.RunEndEncodedType,
		arrow.UnionType:
		return false
	case arrow.ExtensionType:
		return copied(t.StorageType())
	case arrow.NestedType:
		return !slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return !copied(f.Type) })
	}
	return true
}

// passed returns a kept column in its output type, with null for some rows, whose values are also removed from the
// buffers.
func passed(column arrow.Array, to arrow.DataType, rows []int) (arrow.Array, error) {
	switch c := column.(type) {
	case *array.Dictionary:
		return counted(c, to, rows)
	case *array.StringView:
		b := array.NewLargeStringBuilder(memory.DefaultAllocator)
		viewed(b, c, rows, func(i int) { b.Append(c.Value(i)) })
		return b.NewArray(), nil
	case *array.BinaryView:
		b := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.LargeBinary)
		viewed(b, c, rows, func(i int) { b.Append(c.Value(i)) })
		return b.NewArray(), nil
	}
	if len(rows) == 0 {
		return column, nil
	}
	var parts []arrow.Array
	from := 0
	for _, row := range append(slices.Clone(rows), column.Len()) {
		parts = append(parts, array.NewSlice(column, int64(from), int64(row)))
		if row < column.Len() {
			parts = append(parts, array.MakeArrayOfNull(memory.DefaultAllocator, column.DataType(), 1))
		}
		from = row + 1
	}
	return array.Concatenate(parts, memory.DefaultAllocator)
}

// viewed appends the values of a column one by one, and null for some of its rows.
func viewed(to array.Builder, column arrow.Array, rows []int, value func(i int)) {
	for i := range column.Len() {
		if column.IsNull(i) || has(&rows, i) {
			to.AppendNull()
			continue
		}
		value(i)
	}
}

// has tells whether the first of rows, which rise, is i, and takes it off then.
func has(rows *[]int, i int) bool {
	is := len(*rows) > 0 && (*rows)[0] == i
	if is {
		*rows = (*rows)[1:]
	}
	return is
}

// counted returns a column with a dictionary of the values that its rows have.
func counted(column *array.Dictionary, to arrow.DataType, rows []int) (arrow.Array, error) {
	of := column.Dictionary()
	place := make([]int32, of.Len()) // in the new dictionary, counted from 1
	var values []arrow.Array
	indices := array.NewInt32Builder(memory.DefaultAllocator)
	for i := range column.Len() {
		if aside := has(&rows, i); aside || column.IsNull(i) {
			indices.AppendNull()
			continue
		}
		k := column.GetValueIndex(i)
		if place[k] == 0 {
			values = append(values, array.NewSlice(of, int64(k), int64(k)+1))
			place[k] = int32(len(values))
		}
		indices.Append(place[k] - 1)
	}
	if len(values) == 0 {
		values = append(values, array.NewSlice(of, 0, 0))
	}
	all, err := array.Concatenate(values, memory.DefaultAllocator)
	if err != nil {
		return nil, err
	}
	return array.NewDictionaryArray(to, indices.NewArray(), all), nil
}
