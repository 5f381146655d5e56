package parquet

import (
	"encoding/base64"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/stages/read/input"
)

func numberFooter(said string) *Footer {
	number := format.SchemaElement{Name: "stay", Type: thrift.New(format.Int64), RepetitionType: thrift.New(format.Optional)}
	f := &Footer{Columns: []fileColumn{{name: "stay", elements: []format.SchemaElement{number}, Leaves: []fileLeaf{{Element: &number, MaxDef: 1}}}}}
	f.Meta.KeyValueMetadata = []format.KeyValue{{Key: "ARROW:schema", Value: said}}
	return f
}

// TestDurationShape: a number, and durations of two units, are three types.
func TestDurationShape(t *testing.T) {
	shapes := map[string]input.Shape{}
	for _, unit := range []string{"", "us", "ns"} {
		f := numberFooter("")
		f.Columns[0].duration = unit
		s := shapeOf(&f.Columns[0])
		if c, err := columnOf(s); err != nil || c.duration != unit {
			t.Errorf("%q comes back as %q, %v", unit, c.duration, err)
		}
		shapes[unit] = s
	}
	for a, x := range shapes {
		for b, y := range shapes {
			if SameShape(x, y) != (a == b) {
				t.Errorf("%q and %q: same %t", a, b, a != b)
			}
		}
	}
	f := numberFooter("")
	f.Columns[0].duration = "weeks"
	if s := shapeOf(&f.Columns[0]); s.Type != nil {
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
		if d := file.Columns[0].duration; len(d) > 2 {
			t.Error(d)
		}
	})
}
