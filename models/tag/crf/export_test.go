package crf

import (
	"math"
	"slices"
	"testing"

	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// What the tests of this package, which train models and so stand outside, see of its inside.

func (l *Labeller) Asked() (asked, found int) { return l.cache.asked, l.cache.found }

// Unshare forgets what labellers have told each other.
func (m *Model) Unshare() { m.shared = new(shared) }

// SharedAsked is how many forms labellers have computed for each other.
func (m *Model) SharedAsked() (n int) {
	for i := range m.shared.stripes.Load() {
		n += m.shared.stripes.Load()[i].c.asked
	}
	return n
}

// Torn is the model with sequences of at most so many tokens.
func (m *Model) Torn(most int) *Model {
	torn, short := *m, *m.template
	short.MaxTokens = most
	torn.template = &short
	return &torn
}

// Missing are the slots of the template that a model has none of.
func (m *Model) Missing() []string { return m.template.Missing(m.res) }

var IsLine = isLine

// CheckFilter: the filter lets every known key pass, and a look-up through it finds what a
// walk through all features finds.
func CheckFilter(t *testing.T, m *Model) {
	keys := map[uint64]int{}
	for b := range len(m.bucket) - 1 {
		for i := m.bucket[b]; i < m.bucket[b+1]; i++ {
			keys[uint64(b)<<m.shift|uint64(m.low[i])] = int(i)
		}
	}
	for key, i := range keys {
		if slots, _ := m.find(key); !slices.Equal(slots, m.slot[m.first[i]:m.first[i+1]]) {
			t.Fatalf("feature %d is not found", i)
		}
		for bit := range 32 {
			slots, _ := m.find(key ^ 1<<bit)
			if _, known := keys[key^1<<bit]; known != (slots != nil) {
				t.Fatalf("a key beside feature %d: found %v, known %v", i, slots != nil, known)
			}
		}
	}
	var all []located // known and unknown ones in turn
	for key := range keys {
		for _, key := range []uint64{key, key ^ 1<<40} {
			all = append(all, located{Mark: features.Mark{Feature: features.Feature{Key: key, Value: 1}, At: int32(len(all))}})
		}
	}
	got := m.locate(slices.Clone(all))
	for _, f := range all {
		slots, weights := m.find(f.Key)
		if slots == nil {
			continue
		}
		if len(got) == 0 || got[0].Mark != f.Mark || !slices.Equal(slots, m.slot[got[0].lo:got[0].hi]) || !slices.Equal(weights, m.weight[got[0].lo:got[0].hi]) {
			t.Fatal("locate is not find, feature by feature")
		}
		got = got[1:]
	}
	if len(got) > 0 {
		t.Errorf("locate gives %d features that find does not know", len(got))
	}
}

// CheckReasons: what the attributes of a token add to a tag and
// to O differ by what the tagger's scores of the two differ by.
func CheckReasons(t *testing.T, m *Model, text []byte, tokens []pipeline.Token, matches []pipeline.Match) (known int) {
	l := m.labeller(tagger.LabelOptions{})
	l.extract.Note(text, tokens, matches)
	lo := 0
	for _, sequence := range m.Describe(text, tokens, matches) {
		l.score(text, tokens, lo, lo+len(sequence))
		for i, attributes := range sequence {
			sum := make([]float64, m.set.Len())
			for _, a := range attributes {
				for _, r := range m.Reasons(a) {
					sum[r.Tag] += float64(r.Weight)
					known++
				}
			}
			state := l.lattice.State[i*m.stride:]
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
	return known
}
