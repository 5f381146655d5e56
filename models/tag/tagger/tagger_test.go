package tagger_test

import (
	"testing"

	"github.com/velum-health/velum/models/learn/crftrain"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/models/tag/tagger"
)

// What the kinds can do.
var (
	_ tagger.Model     = (*crf.Model)(nil)
	_ tagger.Trainer   = (*crftrain.Trainer)(nil)
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
		{0.98, 0.8, "the model's recall dial reaches 0.9900 with a precision of 0.7000, below the floor of 0.8; with the floor kept, 0.9700 (measured on a ward: 3 notes, 4 entities)"},
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
