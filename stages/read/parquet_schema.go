package read

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
)

// A SchemaError says which column of a file is not what the configuration
// says, what was found, and what to do.
type SchemaError struct {
	Path   string
	Column string
	Cause  string
	Remedy string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("%s: column %q %s; %s", e.Path, e.Column, e.Cause, e.Remedy)
}

// binding is how a column of a file is read.
type binding struct {
	name    string // in the file
	as      string // in the batch
	leaf    int    // -1: the file does not have it
	kind    pipeline.ColumnKind
	signed  bool                // numbers
	convert func(uint64) uint64 // to the bits of kind
}

// bind finds the columns that the options name. Nothing is ever guessed from
// a column's position, and a column that is not what it has to be is an
// error: a library that is asked for text where there is a list gives empty
// notes.
func bind(path string, schema *parquet.Schema, o *ParquetOptions) (ids []binding, text binding, extra []binding, err error) {
	for _, name := range o.ID {
		id, err := bindColumn(path, schema, name, idTypes)
		if err != nil {
			return nil, text, nil, err
		}
		ids = append(ids, id)
	}
	if text, err = bindColumn(path, schema, o.Text, textTypes); err != nil {
		return nil, text, nil, err
	}
	for _, want := range o.extras() {
		have, err := bindColumn(path, schema, want.name, extraTypes)
		if err != nil {
			if kind, known := o.kinds[want.name]; known && !has(schema, want.name) {
				extra = append(extra, binding{name: want.name, as: want.as, leaf: -1, kind: kind})
				continue
			}
			return nil, text, nil, err
		}
		have.as = want.as
		extra = append(extra, have)
	}
	return ids, text, extra, nil
}

func has(schema *parquet.Schema, name string) bool {
	return slices.ContainsFunc(schema.Fields(), func(f parquet.Field) bool { return f.Name() == name })
}

// purpose is what a column is wanted for.
type purpose struct {
	want   string
	accept func(parquet.Type, *binding) bool
}

var (
	textTypes  = purpose{"text (a string column)", acceptText}
	idTypes    = purpose{"an id (a string or whole number)", acceptID}
	extraTypes = purpose{"a column to pass through (string, number, boolean, date or timestamp)", acceptExtra}
)

func bindColumn(path string, schema *parquet.Schema, name string, p purpose) (binding, error) {
	b := binding{name: name, as: name, leaf: -1, convert: func(v uint64) uint64 { return v }}
	i := slices.IndexFunc(schema.Fields(), func(f parquet.Field) bool { return f.Name() == name })
	if i < 0 {
		return b, &SchemaError{path, name, "is missing", missingRemedy(schema, name)}
	}
	field := schema.Fields()[i]
	found := describe(field)
	if !field.Leaf() || field.Repeated() {
		return b, &SchemaError{path, name, "is " + found + ", not " + p.want, "name the column that holds it"}
	}
	if !p.accept(field.Type(), &b) {
		return b, &SchemaError{path, name, "is " + found + ", not " + p.want, "name another column, or convert it when the file is made"}
	}
	leaf, ok := schema.Lookup(name)
	if !ok || leaf.MaxRepetitionLevel > 0 || leaf.MaxDefinitionLevel > 1 {
		return b, &SchemaError{path, name, "is nested", "name a column of the top level"}
	}
	b.leaf = leaf.ColumnIndex
	return b, nil
}

// missingRemedy names the nearest column, or all of them.
func missingRemedy(schema *parquet.Schema, name string) string {
	best, far := "", len(name)/2+1
	var all []string
	for _, f := range schema.Fields() {
		all = append(all, f.Name())
		if d := distance(strings.ToLower(name), strings.ToLower(f.Name())); d < far {
			best, far = f.Name(), d
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q? Say which column it is in the configuration", best)
	}
	if len(all) > 20 {
		all = append(all[:20], "...")
	}
	return fmt.Sprintf("the file has: %s. Say which column it is in the configuration", strings.Join(all, ", "))
}

// distance is the edit distance of two names.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}

// describe says what a column is, in the words of the format.
func describe(f parquet.Field) string {
	switch {
	case f.Repeated():
		return "a list (repeated)"
	case !f.Leaf():
		if lt := f.Type().LogicalType(); lt != nil && lt.Value != nil {
			return "nested (" + lt.String() + ")"
		}
		return "nested (a struct)"
	}
	physical := f.Type().Kind().String()
	if lt := f.Type().LogicalType(); lt != nil && lt.Value != nil {
		return physical + " " + lt.String()
	}
	return physical
}

func logical(t parquet.Type) format.LogicalTypeValue {
	if lt := t.LogicalType(); lt != nil {
		return lt.Value
	}
	return nil
}

func acceptText(t parquet.Type, b *binding) bool {
	if t.Kind() != parquet.ByteArray {
		return false
	}
	switch logical(t).(type) {
	case nil, *format.StringType, *format.EnumType, *format.JsonType:
		b.kind = pipeline.BytesColumn
		return true
	}
	return false
}

func acceptID(t parquet.Type, b *binding) bool {
	if acceptText(t, b) {
		return true
	}
	if t.Kind() != parquet.Int32 && t.Kind() != parquet.Int64 {
		return false
	}
	b.kind, b.signed = pipeline.Int64Column, true
	switch l := logical(t).(type) {
	case nil:
		return true
	case *format.IntType:
		b.signed = l.IsSigned
		return true
	}
	return false
}

func acceptExtra(t parquet.Type, b *binding) bool {
	if acceptText(t, b) {
		return true
	}
	switch t.Kind() {
	case parquet.Boolean:
		b.kind = pipeline.BoolColumn
		return true
	case parquet.Float:
		b.kind = pipeline.FloatColumn
		return logical(t) == nil
	case parquet.Double:
		b.kind = pipeline.DoubleColumn
		return logical(t) == nil
	case parquet.Int96:
		b.kind = pipeline.TimestampColumn
		return true
	case parquet.Int32, parquet.Int64:
		return acceptNumber(t, b)
	}
	return false
}

func acceptNumber(t parquet.Type, b *binding) bool {
	wide := t.Kind() == parquet.Int64
	switch l := logical(t).(type) {
	case nil:
		b.kind = pipeline.Int32Column
		if wide {
			b.kind = pipeline.Int64Column
		}
		return true
	case *format.DateType:
		b.kind = pipeline.DateColumn
		return !wide
	case *format.IntType:
		b.kind = pipeline.Int32Column
		if wide || !l.IsSigned { // an unsigned 32-bit number needs 64 bits with a sign
			b.kind = pipeline.Int64Column
		}
		return !wide || l.IsSigned
	case *format.TimestampType:
		b.kind = pipeline.TimestampColumn
		switch l.Unit.Value.(type) {
		case *format.MilliSeconds:
			b.convert = func(v uint64) uint64 { return uint64(int64(v) * 1000) }
		case *format.NanoSeconds:
			b.convert = func(v uint64) uint64 { return uint64(floorDiv(int64(v), 1000)) }
		}
		return wide
	}
	return false
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
