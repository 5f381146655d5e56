package recognize

import (
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// A value of a field is found wherever it stands as words, and not within others.
func TestAppendPlaces(t *testing.T) {
	text := "Ada Pou\nVisita de Ada Pou. Ada Poulet, xAda Pou, (Ada Pou)"
	got := appendPlaces(nil, []byte(text), []byte("Ada Pou"), pipeline.Span{Start: 0, End: 7, Score: 1})
	want := []pipeline.Span{{Start: 18, End: 25, Score: 1}, {Start: 50, End: 57, Score: 1}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("%v, want %v", got, want)
	}
}
