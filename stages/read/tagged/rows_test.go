package tagged_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/tagged"
)

// TestRows: the rows of the parts of one kind, in order; a damaged part is one.
func TestRows(t *testing.T) {
	type row struct {
		Row int64 `parquet:"row"`
	}
	dir := t.TempDir()
	for name, rows := range map[string][]row{"a": {{1}, {2}}, "b": {{9}}, "c": {{3}}} {
		if err := parquet.WriteFile(filepath.Join(dir, name), rows); err != nil {
			t.Fatal(err)
		}
	}
	m := &commit.Manifest{Units: []commit.UnitRecord{
		{Parts: []commit.PartRecord{{Kind: "masked", Path: "a"}, {Kind: "spans", Path: "b"}}}, {Parts: []commit.PartRecord{{Kind: "masked", Path: "c"}}},
	}}
	var got []int64
	add := func(r row) error { got = append(got, r.Row); return nil }
	if err := tagged.Rows(m, dir, "masked", add); err != nil || !slices.Equal(got, []int64{1, 2, 3}) {
		t.Errorf("rows %v, %v", got, err)
	}
	enough := errors.New("enough")
	if err := tagged.RowsOf(filepath.Join(dir, "a"), func(row) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("stopped with %v", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "c"))
	if err != nil {
		t.Fatal(err)
	}
	data[4] ^= 0xff // of the first page
	err = tagged.RowsIn("c", bytes.NewReader(data), add)
	if damage, ok := errors.AsType[*durable.IntegrityError](err); !ok || damage.Path != "c" {
		t.Errorf("of a damaged part: %v", err)
	}
}
