package look

import (
	"slices"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// FuzzListArgument: an argument names at least one list, each by a name, or is a mistake of who typed it.
func FuzzListArgument(f *testing.F) {
	for _, arg := range []string{"a.csv", "GivenName=staff.csv?form=name", "Surname=a.tsv,b.tsv?form=1&count=3+4", "own.csv?form=word&separator=;", "x?separator=tab&header=no", "Drug=", "=a", "a,,b", "a?count=", "a?count=b+"} {
		f.Add(arg)
	}
	f.Fuzz(func(t *testing.T, arg string) {
		l, err := parseListArgument(arg)
		if err != nil {
			if exit.CodeOf(err) != exit.Config {
				t.Errorf("ends with %v", exit.CodeOf(err))
			}
			return
		}
		if len(l.files) == 0 || slices.Contains(l.files, "") || slices.Contains(l.source.Counts, "") {
			t.Errorf("%d files, %d counts", len(l.files), len(l.source.Counts))
		}
	})
}
