package tagger_test

import (
	"encoding/json"
	"testing"

	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/models/dictionary"
	"github.com/velum-health/velum/models/tagger"
)

// What the kinds can do.
var (
	_ tagger.Model     = (*crf.Model)(nil)
	_ tagger.Trainer   = (*crf.Trainer)(nil)
	_ tagger.Marginals = (*crf.Labeller)(nil)
	_ tagger.Sized     = (*crf.Model)(nil)
	_ tagger.Templated = (*crf.Model)(nil)
	_ tagger.Explainer = (*crf.Model)(nil)
	_ tagger.Model     = (*dictionary.Model)(nil)
)

func TestBias(t *testing.T) {
	h := tagger.Header{RecallDial: []tagger.DialPoint{{Recall: 0.9, Bias: 0, Precision: 0.95}, {Recall: 0.97, Bias: 1, Precision: 0.9}, {Recall: 0.99, Bias: 3, Precision: 0.7}}}
	for _, c := range []struct {
		recall float64
		want   float32
	}{{0.5, 0}, {0.9, 0}, {0.95, 1}, {0.99, 3}} {
		if got, err := h.Bias(c.recall, 0.7); err != nil || got.Bias != c.want {
			t.Errorf("recall %v: %+v, %v; want bias %v", c.recall, got, err, c.want)
		}
	}
	for _, c := range []struct {
		recall, floor float64
		want          string
	}{
		{0.995, 0, "the model's recall dial goes up to 0.9900 (not measured on real notes)"},
		{0.98, 0.8, "the model's recall dial reaches 0.9900 with a precision of 0.7000, below the floor of 0.8; above it, 0.9700 (measured on a ward: 3 notes, 4 entities)"},
		{0.995, 0.8, "the model's recall dial goes up to 0.9700 (measured on a ward: 3 notes, 4 entities)"},
	} {
		h.Measured = nil
		if c.floor > 0 {
			h.Measured = &tagger.Measured{On: "a ward", Notes: 3, Entities: 4}
		}
		if _, err := h.Bias(c.recall, c.floor); err == nil || err.Error() != c.want {
			t.Errorf("recall %v, floor %v: %v", c.recall, c.floor, err)
		}
	}
}

// What is left is what was missed where the model was measured, in the same
// notes; nothing is said of more notes than there are.
func TestLeft(t *testing.T) {
	m := tagger.Measured{Entities: 1000}
	for name, c := range map[string]struct {
		at           tagger.DialPoint
		notes, spans int64
		want         [3]int64
	}{
		"a miss a note":       {tagger.DialPoint{Recall: 0.9, Precision: 1, Interval: [2]float64{0.8, 0.95}, Leaky: 100}, 10_000, 900, [3]int64{100, 47, 225}},
		"two in a note":       {tagger.DialPoint{Recall: 0.9, Precision: 1, Interval: [2]float64{0.8, 0.95}, Leaky: 50}, 10_000, 900, [3]int64{50, 24, 113}},
		"half of it in vain":  {tagger.DialPoint{Recall: 0.9, Precision: 0.5, Interval: [2]float64{0.8, 0.95}, Leaky: 100}, 10_000, 900, [3]int64{50, 24, 112}},
		"more than notes":     {tagger.DialPoint{Recall: 0.5, Precision: 1, Interval: [2]float64{0, 1}, Leaky: 500}, 10, 900, [3]int64{10, 0, 10}},
		"all of it, by luck":  {tagger.DialPoint{Recall: 1, Precision: 1, Interval: [2]float64{0.99, 1}}, 10_000, 9900, [3]int64{0, 0, 100}},
		"nothing masked here": {tagger.DialPoint{Recall: 0.9, Precision: 1, Interval: [2]float64{0.8, 0.95}, Leaky: 100}, 10_000, 0, [3]int64{}},
	} {
		n, low, high := m.Left(c.at, c.notes, c.spans)
		if got := [3]int64{n, low, high}; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// Fields keep their names and order: model files of today stand in archives.
func TestHeaderJSON(t *testing.T) {
	h := tagger.Header{
		Kind: "k", Name: "n", Scheme: "BIO", Categories: []string{"PERSON"}, Template: "word[0]", Fingerprints: map[string]string{"patterns": "1"},
		Resources: []tagger.Resource{{Group: "pos", Kind: "morph", Section: "resource0"}}, Training: tagger.Training{Sequences: 1},
		Scores: map[string]float64{"span_f1": 1}, RecallDial: []tagger.DialPoint{{Recall: 1}}, Offers: []tagger.Offer{{Clusters: "none"}}, Parent: "p",
		Measured: &tagger.Measured{On: "a ward", Date: "2026-11-22", Notes: 3, Entities: 4, DialPoint: tagger.DialPoint{Recall: 0.5, Interval: [2]float64{0.25, 0.75}, Leaky: 2}},
	}
	got, err := json.Marshal(h)
	const want = `{"kind":"k","name":"n","scheme":"BIO","categories":["PERSON"],"template":"word[0]","fingerprints":{"patterns":"1"},` +
		`"resources":[{"group":"pos","kind":"morph","section":"resource0"}],` +
		`"training":{"sequences":1,"tokens":0,"forms":0,"iterations":0,"l1":0,"l2":0,"min_count":0,"prune":0},` +
		`"scores":{"span_f1":1},"recall_dial":[{"recall":1,"bias":0,"precision":0}],` +
		`"measured":{"on":"a ward","date":"2026-11-22","notes":3,"entities":4,"recall":0.5,"bias":0,"precision":0,"recall_interval":[0.25,0.75],"leaky_notes":2},` +
		`"offers":[{"clusters":"none","strict_f1":0}],"parent":"p"}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v", got, err)
	}
}
