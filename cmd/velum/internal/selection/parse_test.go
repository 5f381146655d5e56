package selection

import (
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/choose"
)

func TestParseSample(t *testing.T) {
	for text, want := range map[string]Sample{"": {}, "0": {}, "598": {N: 598}, "1000000": {N: 1_000_000}, "0.5%": {Rate: 0.005}, "50 %": {Rate: 0.5}, "0.001%": {Rate: 0.00001}} {
		got, err := ParseSample(text)
		if err != nil || got.N != want.N || got.Rate-want.Rate > 1e-12 || want.Rate-got.Rate > 1e-12 || got.Wanted() != (want != Sample{}) {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"-1", "1000001", "x", "0%", "100%", "0.0009%", "%", "x%", "1.5", "NaN%"} {
		if _, err := ParseSample(text); exit.CodeOf(err) != exit.Config {
			t.Errorf("%q: %v", text, err)
		}
	}
	for want, s := range map[string]Sample{"598": {N: 598}, "0": {}, "0.5%": {Rate: 0.005}, "50%": {Rate: 0.5}} {
		if s.String() != want {
			t.Errorf("%+v: %s", s, s)
		}
	}
}

func TestProportions(t *testing.T) {
	person, _ := pipeline.ParseCategory("PERSON")
	date, _ := pipeline.ParseCategory("DATE")
	set := &pipeline.TagSet{Categories: []pipeline.Category{person, date}}
	records := make([]choose.Record, 4) // two without a span
	records[0].Spans[0], records[0].Lengths[0] = 2, 5
	records[1].Spans[0], records[1].Lengths[0] = 1, 1
	records[1].Spans[1], records[1].Lengths[1] = 3, 4
	got, without := Proportions(records, set)
	if got.Spans["PERSON"] != 3 || got.SpanTokens["PERSON"] != 6 || got.Spans["DATE"] != 3 || got.SpanTokens["DATE"] != 4 || without != 0.5 || len(got.Spans) != 2 {
		t.Errorf("%+v, %g", got, without)
	}
	if got, without := Proportions(nil, set); len(got.Spans) != 0 || without != 0 {
		t.Errorf("of no note: %+v, %g", got, without)
	}
}
