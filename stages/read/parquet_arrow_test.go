package read

import (
	"encoding/base64"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

func numberFooter(said string) *footer {
	number := format.SchemaElement{Name: "stay", Type: thrift.New(format.Int64), RepetitionType: thrift.New(format.Optional)}
	f := &footer{columns: []fileColumn{{name: "stay", elements: []format.SchemaElement{number}, leaves: []fileLeaf{{element: &number, maxDef: 1}}}}}
	f.meta.KeyValueMetadata = []format.KeyValue{{Key: "ARROW:schema", Value: said}}
	return f
}

// TestDurationShape: a number, and durations of two units, are three types.
func TestDurationShape(t *testing.T) {
	shapes := map[string]shape{}
	for _, unit := range []string{"", "us", "ns"} {
		f := numberFooter("")
		f.columns[0].duration = unit
		s := shapeOf(&f.columns[0])
		if c, err := columnOf(s); err != nil || c.duration != unit {
			t.Errorf("%q comes back as %q, %v", unit, c.duration, err)
		}
		shapes[unit] = s
	}
	for a, x := range shapes {
		for b, y := range shapes {
			if sameShape(x, y) != (a == b) {
				t.Errorf("%q and %q: same %t", a, b, a != b)
			}
		}
	}
	f := numberFooter("")
	f.columns[0].duration = "weeks"
	if s := shapeOf(&f.columns[0]); s.Type != nil {
		if _, err := columnOf(s); err == nil {
			t.Error("a unit that there is not comes back")
		}
	}
}

// FuzzDurations: a schema of Arrow may be anything; none ends the run.
func FuzzDurations(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{0xFF, 0xFF, 0xFF, 0xFF, 8, 0, 0, 0, 0xF0, 0xFF, 0xFF, 0x7F, 0, 0, 0, 0})
	f.Add([]byte("\xff\xff\xff\xff0000\x04\x00\x00\x00\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, message []byte) {
		file := numberFooter(base64.StdEncoding.EncodeToString(message))
		file.durations()
		if d := file.columns[0].duration; len(d) > 2 {
			t.Error(d)
		}
	})
}
