package crf

import (
	"math"
	"testing"

	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// TestReasonsAddUpToTheScore: what the attributes of a token add to a tag and
// to O differ by what the tagger's scores of the two differ by.
func TestReasonsAddUpToTheScore(t *testing.T) {
	m := trained(t, TrainOptions{})
	stride := m.stride
	known := 0
	for _, n := range toyNotes(t, m.set, 20, 5) {
		l := m.labeller(tagger.LabelOptions{})
		l.extract.Note(n.text, n.tokens, n.matches)
		lo := 0
		for _, sequence := range m.Describe(n.text, n.tokens, n.matches) {
			l.score(n.text, n.tokens, lo, lo+len(sequence))
			for i, attributes := range sequence {
				sum := make([]float64, m.set.Len())
				for _, a := range attributes {
					for _, r := range m.Reasons(a) {
						sum[r.Tag] += float64(r.Weight)
						known++
					}
				}
				state := l.lattice.State[i*stride:]
				for y := range sum {
					if state[y] < chain.Forbidden/2 {
						continue // an inside tag cannot be first
					}
					got, want := sum[y]-sum[pipeline.O], float64(state[y]-state[pipeline.O])
					if math.Abs(got-want) > 1e-4 {
						t.Fatalf("token %d, tag %d: reasons say %g, the tagger %g", i, y, got, want)
					}
				}
			}
			lo += len(sequence)
		}
	}
	if known < 100 {
		t.Errorf("only %d reasons: the test shows nothing", known)
	}
}
