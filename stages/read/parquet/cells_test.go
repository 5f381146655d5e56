package parquet

import (
	"encoding/binary"
	"errors"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/stages/read/input"
)

func TestRows(t *testing.T) {
	type record struct {
		Name  string    `parquet:"name"`
		Age   int32     `parquet:"age"`
		Note  *string   `parquet:"note,optional"`
		Tags  []string  `parquet:"tags,list"`
		Share float64   `parquet:"share"`
		Paid  int64     `parquet:"paid,decimal(2:10)"`
		Day   int32     `parquet:"day,date"`
		At    time.Time `parquet:"at,timestamp(millisecond)"`
	}
	name := filepath.Join(t.TempDir(), "a.parquet")
	tos := "Tos"
	err := parquet.WriteFile(name, []record{
		{"Ana", 7, &tos, []string{"x", "y"}, 0.5, 1250, 1, time.Date(2026, 11, 28, 1, 2, 3, 0, time.UTC)}, {"", -1, nil, nil, math.NaN(), -5, 0, time.Unix(0, 0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	var got []string
	err = Rows(name, func(all []string) error { names = all; return ErrNoHeader }, func(n int64, cells []Cell) error {
		line := string(rune('0' + n))
		for _, c := range cells {
			kind := ""
			if c.Number {
				kind = "#"
			}
			line += " " + names[c.Column] + "=" + kind + c.Text
		}
		got = append(got, line)
		return nil
	})
	if err != nil || len(got) != 2 {
		t.Fatalf("%q, %v", got, err)
	}
	for _, want := range []string{"1 name=Ana age=#7 note=Tos tags=x tags=y share=#0.5 paid=#12.5 day=1970-01-02 at=2026-11-28", "2 age=#-1 paid=#-0.05 day=1970-01-01 at=1970-01-01"} {
		if !slices.ContainsFunc(got, func(line string) bool { return strings.HasPrefix(line, want) }) {
			t.Errorf("no %s in %q", want, got)
		}
	}
	stop := errors.New("stop")
	if err := Rows(name, func([]string) error { return stop }, nil); !errors.Is(err, stop) {
		t.Errorf("who refuses the columns: %v", err)
	}
	if err := Rows(name, func([]string) error { return nil }, func(int64, []Cell) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("who refuses a row: %v", err)
	}
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no Parquet"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{text: "is no Parquet file", t.TempDir(): "is no file", text + "x": "does not exist"} {
		if err := Rows(file, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestDecimals(t *testing.T) {
	for _, c := range []struct {
		digits string
		scale  int
		want   string
	}{{"1250", 2, "12.5"}, {"1200", 2, "12"}, {"5", 2, "0.05"}, {"-5", 2, "-0.05"}, {"0", 2, "0"}, {"12", 0, "12"}, {"12", -1, "12"}, {"12", 77, "12"}, {"-1234", 3, "-1.234"}, {"100", 1, "10"}} {
		if got := string(appendDecimal([]byte("x"), c.digits, c.scale)); got != "x"+c.want {
			t.Errorf("%s, %d: %s, want x%s", c.digits, c.scale, got, c.want)
		}
	}
	for value, want := range map[string]int64{"": 0, "\x00": 0, "\x7f": 127, "\x80": -128, "\xff": -1, "\x01\x00": 256, "\xff\x00": -256} {
		if got := bigEndian([]byte(value)); got.Cmp(big.NewInt(want)) != 0 {
			t.Errorf("%x: %v, want %d", value, got, want)
		}
	}
}

func TestWidened(t *testing.T) {
	const (
		bytes, small, large, float, double, truth, date, instant = pipeline.BytesColumn, pipeline.Int32Column, pipeline.Int64Column, pipeline.FloatColumn, pipeline.DoubleColumn, pipeline.BoolColumn, pipeline.DateColumn, pipeline.TimestampColumn
	)
	for _, c := range [][3]pipeline.ColumnKind{{small, small, small}, {small, large, large}, {float, double, double}, {date, instant, instant}, {small, double, bytes}, {date, large, bytes}, {truth, small, bytes}, {bytes, small, bytes}, {truth, truth, truth}, {float, large, bytes}} {
		if got := Widened(c[0], c[1]); got != c[2] || Widened(c[1], c[0]) != c[2] {
			t.Errorf("%v and %v: %v, want %v", c[0], c[1], got, c[2])
		}
	}
}

// TestTextOf has every type of the format and what its values are as text, given as they stand in a page.
func TestTextOf(t *testing.T) {
	element := func(kind format.Type, l format.LogicalTypeValue) *format.SchemaElement {
		e := &format.SchemaElement{Type: thrift.New(kind)}
		e.LogicalType.Value = l
		return e
	}
	decimal := func(scale int32) format.LogicalTypeValue { return &format.DecimalType{Scale: scale, Precision: 9} }
	times := func(unit parquet.TimeUnit) format.LogicalTypeValue {
		return &format.TimestampType{IsAdjustedToUTC: true, Unit: unit.TimeUnit()}
	}
	eight := func(n int64) string { return string(binary.LittleEndian.AppendUint64(nil, uint64(n))) }
	four := func(n int32) string { return string(binary.LittleEndian.AppendUint32(nil, uint32(n))) }
	for _, c := range []struct {
		e           *format.SchemaElement
		value, want string
	}{
		{element(format.ByteArray, &format.StringType{}), " a b ", " a b "},
		{element(format.ByteArray, nil), "", ""},
		{element(format.Boolean, nil), "\x00", "false"}, {element(format.Boolean, nil), "\x01", "true"},
		{element(format.Int32, nil), four(-1), "-1"}, {element(format.Int64, nil), eight(-1), "-1"},
		{element(format.Int32, &format.IntType{BitWidth: 32, IsSigned: true}), four(-7), "-7"},
		{element(format.Int32, &format.IntType{BitWidth: 32}), four(-1), "4294967295"},
		{element(format.Int64, &format.IntType{BitWidth: 64}), eight(-1), "18446744073709551615"},
		{element(format.Int32, &format.NullType{}), four(5), ""},
		{element(format.Int32, decimal(2)), four(-5), "-0.05"}, {element(format.Int64, decimal(1)), eight(120), "12"},
		{element(format.ByteArray, decimal(2)), "\xff\x00", "-2.56"}, {element(format.FixedLenByteArray, decimal(0)), "\x7f", "127"},
		{element(format.Float, nil), four(int32(math.Float32bits(.1))), "0.1"},
		{element(format.Double, nil), eight(int64(math.Float64bits(12))), "12"}, {element(format.Double, nil), eight(int64(math.Float64bits(math.NaN()))), "NaN"},
		{element(format.Int32, &format.DateType{}), four(-1), "1969-12-31"}, {element(format.Int32, &format.DateType{}), four(1), "1970-01-02"},
		{element(format.Int64, times(parquet.Millisecond)), eight(-1), "1969-12-31T23:59:59Z"},
		{element(format.Int64, times(parquet.Microsecond)), eight(86_400_000_000 + 1_999_999), "1970-01-02T00:00:01Z"},
		{element(format.Int64, times(parquet.Nanosecond)), eight(3_600_000_000_000), "1970-01-01T01:00:00Z"},
		{element(format.Int96, nil), eight(60_000_000_000) + four(julianEpoch+1), "1970-01-02T00:01:00Z"},
		{element(format.Int96, nil), eight(0) + four(julianEpoch-1), "1969-12-31T00:00:00Z"},
	} {
		if got := string(textOf(c.e)([]byte("x"), []byte(c.value))); got != "x"+c.want {
			t.Errorf("%v %v: %q, want %q", c.e.Type.V, c.e.LogicalType.Value, got[1:], c.want)
		}
	}
}

// TestPatientTypes has the types that an id of a patient may have.
func TestPatientTypes(t *testing.T) {
	for _, c := range []struct {
		kind format.Type
		l    format.LogicalTypeValue
		want bool
	}{
		{format.ByteArray, nil, true}, {format.ByteArray, &format.StringType{}, true}, {format.ByteArray, &format.BsonType{}, false},
		{format.Int32, nil, true}, {format.Int64, &format.IntType{BitWidth: 64}, true}, {format.Int32, &format.DateType{}, false}, {format.Int32, &format.NullType{}, true},
		{format.Float, nil, true}, {format.Double, nil, true}, {format.FixedLenByteArray, nil, false}, {format.FixedLenByteArray, &format.DecimalType{}, true},
		{format.Boolean, nil, false}, {format.Int96, nil, false}, {format.Int64, &format.TimestampType{}, false},
	} {
		of := &column.Column{Elements: []format.SchemaElement{{Type: thrift.New(c.kind)}}}
		of.Elements[0].LogicalType.Value = c.l
		of.Leaves = []column.Leaf{{Element: &of.Elements[0]}}
		var b binding
		if got := patientTypes.accept(of, &b); got != c.want || b.Kind != pipeline.BytesColumn {
			t.Errorf("%v %v: %v", c.kind, c.l, got)
		}
	}
}

// TestSameShape: columns mean the same in the words of old and of new writers.
func TestSameShape(t *testing.T) {
	shape := func(change func(e *format.SchemaElement)) input.Shape {
		e := format.SchemaElement{Name: "x", Type: thrift.New(format.Int64), RepetitionType: thrift.New(format.Optional)}
		change(&e)
		all, ok := column.Of([]format.SchemaElement{e})
		if !ok {
			t.Fatal("no column")
		}
		all[0].Name = "x"
		return shapeOf(&all[0])
	}
	millis := &format.TimestampType{IsAdjustedToUTC: true, Unit: parquet.Millisecond.TimeUnit()}
	both := shape(func(e *format.SchemaElement) {
		e.LogicalType.Value, e.ConvertedType = millis, thrift.New(deprecated.TimestampMillis)
	})
	for what, c := range map[string]struct {
		change func(e *format.SchemaElement)
		same   bool
	}{
		"the old words alone":  {func(e *format.SchemaElement) { e.ConvertedType = thrift.New(deprecated.TimestampMillis) }, true},
		"the new words alone":  {func(e *format.SchemaElement) { e.LogicalType.Value = millis }, true},
		"a length of no sense": {func(e *format.SchemaElement) { e.LogicalType.Value, e.TypeLength = millis, thrift.New(int32(8)) }, true},
		"required": {func(e *format.SchemaElement) {
			e.LogicalType.Value, e.RepetitionType = millis, thrift.New(format.Required)
		}, true},
		"another unit": {func(e *format.SchemaElement) { e.ConvertedType = thrift.New(deprecated.TimestampMicros) }, false},
		"a number":     {func(e *format.SchemaElement) {}, false},
		"another name": {func(e *format.SchemaElement) { e.LogicalType.Value, e.Name = millis, "y" }, true}, // a table may call it otherwise
		"a list": {func(e *format.SchemaElement) {
			e.LogicalType.Value, e.RepetitionType = millis, thrift.New(format.Repeated)
		}, false},
	} {
		if got := SameShape(both, shape(c.change)); got != c.same {
			t.Errorf("%s: %v", what, got)
		}
	}
	fixed := func(n int32) input.Shape {
		return shape(func(e *format.SchemaElement) {
			e.Type, e.TypeLength = thrift.New(format.FixedLenByteArray), thrift.New(n)
		})
	}
	if SameShape(fixed(4), fixed(5)) || !SameShape(fixed(4), fixed(4)) {
		t.Error("lengths of values")
	}
	broken := input.Shape{Type: []byte("x")}
	if SameShape(broken, both) || !SameShape(broken, broken) {
		t.Error("what is no type")
	}
}
