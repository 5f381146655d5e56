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

// TestAgreement: a span is one by note, place and category.
func TestAgreement(t *testing.T) {
	person, _ := pipeline.ParseCategory("PERSON")
	inPlace, _ := pipeline.ParseCategory("LOCATION")
	of := func(notes ...[]pipeline.Span) *pipeline.List[pipeline.Span] {
		l := new(pipeline.List[pipeline.Span])
		for _, spans := range notes {
			l.Append(spans...)
		}
		return l
	}
	reus, rosa := pipeline.Span{Start: 0, End: 4, Category: inPlace}, pipeline.Span{Start: 9, End: 13, Category: person}
	named := reus
	named.Category = person
	for what, c := range map[string]struct {
		a, b *pipeline.List[pipeline.Span]
		want float64
	}{
		"nothing":          {of(nil, nil), of(nil, nil), 1},
		"all":              {of([]pipeline.Span{reus, rosa}, nil), of([]pipeline.Span{reus, rosa}, nil), 1},
		"one of one":       {of([]pipeline.Span{reus}), of(nil), 0},
		"in another note":  {of([]pipeline.Span{reus}, nil), of(nil, []pipeline.Span{reus}), 0},
		"another category": {of([]pipeline.Span{reus}), of([]pipeline.Span{named}), 0},
		"one of two":       {of([]pipeline.Span{reus, rosa}), of([]pipeline.Span{rosa}), 2. / 3},
	} {
		if got := agreement(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
}
