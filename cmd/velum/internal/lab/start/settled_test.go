package start

import (
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// TestEnough: two turns in a row have to agree with those before them, and the newest two count.
func TestEnough(t *testing.T) {
	for _, c := range []struct {
		agreed []float64
		want   bool
	}{{nil, false}, {[]float64{1}, false}, {[]float64{.95, .992}, false}, {[]float64{.95, .992, .99}, true}, {[]float64{.995, .995, .9}, false}} {
		m := &month{state: state{Agreed: c.agreed}}
		if got := m.enough(); got != c.want {
			t.Errorf("%v: %v", c.agreed, got)
		}
	}
}

// TestFound: a span is one by note, place and category, over batches.
func TestFound(t *testing.T) {
	person, _ := pipeline.ParseCategory("PERSON")
	inPlace, _ := pipeline.ParseCategory("LOCATION")
	f := &found{spans: map[place]bool{}}
	for range 2 {
		b := new(pipeline.Batch)
		b.Reset()
		b.Text.Append([]byte("Reus"))
		b.Spans.Append(pipeline.Span{Start: 0, End: 4, Category: inPlace})
		if err := f.Put(b); err != nil {
			t.Fatal(err)
		}
	}
	if len(f.spans) != 2 || !f.spans[place{1, 0, 4, inPlace}] || f.spans[place{1, 0, 4, person}] {
		t.Errorf("%v", f.spans)
	}
}
