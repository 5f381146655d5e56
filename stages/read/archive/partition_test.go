package archive

import (
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/parquet"
)

// dayOf is how much a day is in the unit of a column.
func dayOf(c pipeline.Column) int64 {
	day, _ := parquet.TimeOf(c)
	return day
}

// TestPeriods: folders that say which notes they hold are kept in the names of files.
func TestPeriods(t *testing.T) {
	for dir, want := range map[string]string{
		"/a/in": "", "/a/in/2026-01": "2026-01", "/a/in/2026/01": "2026/01", "/a/in/01": "", "/a/20260131": "20260131", "/a/year=2026/month=01": "year=2026/month=01",
		"/a/2026_01_31": "2026_01_31", "/a/2026-13": "", "/a/ward7": "", "/a/enero": "enero", "/a/ene-2026": "ene-2026", "/a/2026 febrer": "2026 febrer", "/a/01-enero": "01-enero",
		"/a/marzos": "", "/a/2026-01/in": "", "/a/3026-01": "", "/a/x=": "x=",
	} {
		if got := periods(dir); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}
