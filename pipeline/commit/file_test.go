package commit_test

import (
	"encoding/json"
	"testing"

	"github.com/velum-health/velum/pipeline/commit"
)

// A row of a unit that files share belongs to the last file that begins before it.
func TestFileOfRow(t *testing.T) {
	var alone, shared commit.UnitRecord
	if json.Unmarshal([]byte(`{"input":"a","input_sha256":"1","from":5,"to":9}`), &alone) != nil {
		t.Fatal("alone")
	}
	if json.Unmarshal([]byte(`{"input":"*","members":[{"input":"a","input_sha256":"1","to":3,"first":0,"rows":4},{"input":"b","input_sha256":"2","to":7,"first":4,"rows":2}]}`), &shared) != nil {
		t.Fatal("shared")
	}
	for _, c := range []struct {
		of    *commit.UnitRecord
		row   int64
		input string
		to    int64
		want  int64
	}{{&alone, 7, "a", 9, 7}, {&shared, 0, "a", 3, 0}, {&shared, 3, "a", 3, 3}, {&shared, 4, "b", 7, 0}, {&shared, 5, "b", 7, 1}} {
		f, row := c.of.File(c.row)
		if f.Input != c.input || f.To != c.to || row != c.want {
			t.Errorf("row %d is row %d of %q to %d, want row %d of %q to %d", c.row, row, f.Input, f.To, c.want, c.input, c.to)
		}
	}
}
