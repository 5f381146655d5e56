package parquet

import (
	"fmt"
	"math"
	"slices"

	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/stages/read/input"
)

// binding is how a column of a file is read.
type binding struct {
	input.Wanted
	column int // of the file; -1: it does not have it
	input.Shape
	convert func(uint64) uint64 // to the bits of the kind; nil: they are
	value   asText              // of a column that is text whatever its type; nil: it is as it is
}

// bindings are all columns that are read.
type bindings struct {
	ids   []binding
	text  binding
	extra []binding
}

// columns lists the numbers of the columns.
func (b *bindings) columns() []int {
	all := []int{b.text.column}
	for _, more := range [][]binding{b.ids, b.extra} {
		for i := range more {
			if more[i].column >= 0 {
				all = append(all, more[i].column)
			}
		}
	}
	return all
}

// bind finds the columns that the options name. Nothing is ever guessed from
// a column's position, and a column that is not what it has to be is an
// error: a library that is asked for text where there is a list gives empty
// notes.
func (f *Footer) bind(o *input.Options) (b bindings, err error) {
	for _, name := range o.ID {
		id, err := f.bindColumn(name, idTypes)
		if err != nil {
			return b, err
		}
		b.ids = append(b.ids, id)
	}
	if b.text, err = f.bindColumn(o.Text, textTypes); err != nil {
		return b, err
	}
	for _, want := range o.Extras() {
		x, err := f.bindExtra(want, o.Shapes)
		if err != nil {
			return b, err
		}
		if want.Patient && x.column >= 0 {
			x.value = patientOf(o, &f.Columns[x.column].Elements[0])
		}
		b.extra = append(b.extra, x)
	}
	return b, nil
}

// bindExtra finds a column of Batch.Extra. One that the archive is known to
// have elsewhere may be missing, or null throughout: it gives nulls.
func (f *Footer) bindExtra(want input.Wanted, shapes map[string]input.Shape) (binding, error) {
	p := extraTypes
	if want.Kept {
		p = keptTypes
	} else if want.Patient {
		p = patientTypes
	}
	x, err := f.bindColumn(want.Name, p)
	x.Wanted = want
	known, ok := shapes[want.Key()]
	if !ok {
		return x, err
	}
	if len(f.Named(want.Name)) == 0 || err == nil && null(&f.Columns[x.column]) {
		return binding{Wanted: want, column: -1, Shape: known}, nil
	}
	switch {
	case err != nil || want.Patient:
	case want.Kept && SameShape(x.Shape, known):
		x.Shape = known
	case !want.Kept && Widened(x.Kind, known.Kind) != known.Kind: // another file lies there than when the archive was scanned
		return x,
			&input.SchemaError{Path: f.path, Column: want.Name,
				Cause: "is " + describe(&f.Columns[x.column]) + ", and was of another type when the archive was scanned", Remedy: "start again"}
	case !want.Kept && x.Kind != known.Kind:
		widen(&f.Columns[x.column], &x, known.Kind)
	}
	return x, err
}

// null tells whether the column is of the type that has no values.
func null(c *column.Column) bool { return c.Flat() && isNull(&c.Elements[0]) }

// purpose says what a column is needed for, and which types it may have.
type purpose struct {
	want   string
	order  string // what to do where there is none
	accept func(*column.Column, *binding) bool
}

var (
	textTypes  = purpose{"text (a string column)", input.NameText, flatly(acceptText)}
	idTypes    = purpose{"an id (a string or whole number)", input.NameID, flatly(acceptID)}
	extraTypes = purpose{"a column to work with (string, number, boolean, date or timestamp)", input.NameWork, flatly(acceptExtra)}
	keptTypes  = purpose{"a column that can be kept", input.NotKept, acceptKept}
)

// flatly restricts accept to columns with exactly one value a row.
func flatly(accept func(*format.SchemaElement, *binding) bool) func(*column.Column, *binding) bool {
	return func(c *column.Column, b *binding) bool { return c.Flat() && accept(&c.Elements[0], b) }
}

func (f *Footer) bindColumn(name string, p purpose) (binding, error) {
	b := binding{Wanted: input.Wanted{Name: name, As: name}, column: -1}
	refuse := func(cause, remedy string) (binding, error) {
		return b, &input.SchemaError{Path: f.path, Column: name, Cause: cause, Remedy: remedy}
	}
	numbers := f.Named(name)
	switch len(numbers) {
	case 0:
		return refuse("is missing", f.missingRemedy(name, p.order))
	case 1:
	default:
		return refuse(fmt.Sprintf("is there %d times, and which is meant cannot be known", len(numbers)), "rename them when the file is made")
	}
	c := &f.Columns[numbers[0]]
	if !p.accept(c, &b) {
		remedy := "name another column, or convert it when the file is made"
		if !c.Flat() {
			remedy = "name the column that holds it"
		}
		return refuse("is "+describe(c)+", not "+p.want, remedy)
	}
	b.column = numbers[0]
	return b, nil
}

// missingRemedy says how to name a column that is not there: which ones are, the nearest of them, and what to do.
func (f *Footer) missingRemedy(name, order string) string {
	var have []string
	for i := range f.Columns {
		have = append(have, input.PlainColumn(f.Columns[i].Name))
	}
	return input.MissingRemedy(name, order, have)
}

// describe says what a column is, in the words of the format.
func describe(c *column.Column) string {
	if len(c.Elements) == 0 {
		return "nothing"
	}
	e := &c.Elements[0]
	what := logical(e)
	switch {
	case e.RepetitionType.V == format.Repeated:
		return "a list (repeated)"
	case !e.Type.Valid && what != nil:
		return "nested (" + what.String() + ")"
	case !e.Type.Valid:
		return "nested (a struct)"
	case what != nil:
		return e.Type.V.String() + " " + what.String()
	}
	return e.Type.V.String()
}

func acceptText(e *format.SchemaElement, b *binding) bool {
	if e.Type.V != format.ByteArray {
		return false
	}
	switch logical(e).(type) {
	case nil, *format.StringType, *format.EnumType, *format.JsonType:
		b.Kind = pipeline.BytesColumn
		return true
	}
	return false
}

func acceptID(e *format.SchemaElement, b *binding) bool {
	if acceptText(e, b) {
		return true
	}
	if e.Type.V != format.Int32 && e.Type.V != format.Int64 {
		return false
	}
	switch logical(e).(type) {
	case nil, *format.IntType:
		b.Kind = pipeline.Int64Column
		return true
	}
	return false
}

func acceptExtra(e *format.SchemaElement, b *binding) bool {
	if acceptText(e, b) {
		return true
	}
	switch e.Type.V {
	case format.Boolean:
		b.Kind = pipeline.BoolColumn
		return true
	case format.Float:
		b.Kind = pipeline.FloatColumn
		return logical(e) == nil
	case format.Double:
		b.Kind = pipeline.DoubleColumn
		return logical(e) == nil
	case format.Int96:
		b.Kind = pipeline.TimestampColumn
		return true
	case format.Int32, format.Int64:
		return acceptNumber(e, b)
	}
	return false
}

func acceptNumber(e *format.SchemaElement, b *binding) bool {
	wide := e.Type.V == format.Int64
	switch l := logical(e).(type) {
	case nil, *format.NullType:
		b.Kind = pipeline.Int32Column
		if wide {
			b.Kind = pipeline.Int64Column
		}
		return true
	case *format.DateType:
		b.Kind = pipeline.DateColumn
		return !wide
	case *format.IntType:
		b.Kind = pipeline.Int32Column
		if wide || !l.IsSigned { // an unsigned 32-bit number needs 64 bits with a sign
			b.Kind = pipeline.Int64Column
		}
		return !wide || l.IsSigned
	case *format.TimestampType:
		b.Kind = pipeline.TimestampColumn
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

// Widened returns the common kind of a column that stages use, where files of an archive have different kinds: dates
// and timestamps, 32 and 64 bits, and otherwise text.
func Widened(a, b pipeline.ColumnKind) pipeline.ColumnKind {
	if a == b {
		return a
	}
	for _, kinds := range [][2]pipeline.ColumnKind{
		{pipeline.DateColumn, pipeline.TimestampColumn}, {pipeline.Int32Column, pipeline.Int64Column},
		{pipeline.FloatColumn, pipeline.DoubleColumn},
	} {
		if slices.Contains(kinds[:], a) && slices.Contains(kinds[:], b) {
			return kinds[1]
		}
	}
	return pipeline.BytesColumn
}

// widen reads a column as one of another kind: see Widened.
func widen(c *column.Column, b *binding, to pipeline.ColumnKind) {
	b.Kind, b.convert = to, nil
	switch to {
	case pipeline.TimestampColumn:
		b.convert = func(v uint64) uint64 { return uint64(int64(int32(v)) * secondsADay * 1e6) }
	case pipeline.Int64Column:
		b.convert = func(v uint64) uint64 { return uint64(int64(int32(v))) }
	case pipeline.DoubleColumn:
		b.convert = func(v uint64) uint64 { return math.Float64bits(float64(math.Float32frombits(uint32(v)))) }
	default:
		b.value = textOf(&c.Elements[0])
	}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
