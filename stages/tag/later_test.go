package tag

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"pgregory.net/rapid"
)

// putsOff is capitals that puts off every second note, and panics when it comes to
// one that says so.
type putsOff struct {
	capitals
	notes   int
	waiting int
	waits   []func() (float32, []float32)
}

func (p *putsOff) LabelLater(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) (float32, bool) {
	if p.notes++; p.notes%2 == 1 {
		return p.Label(text, tokens, matches, tags), false
	}
	p.waiting += len(tokens)
	text, tokens, matches = slices.Clone(text), slices.Clone(tokens), slices.Clone(matches) // what was given is used again
	p.waits = append(p.waits, func() (float32, []float32) {
		return p.Label(text, tokens, matches, tags), p.probs
	})
	return 0, true
}

func (p *putsOff) Waiting() int { return p.waiting }

func (p *putsOff) Flush(done func(float32, []float32)) {
	for _, wait := range p.waits {
		done(wait())
	}
	p.waits, p.waiting = nil, 0
}

// TestLater: a labeller that puts notes off changes nothing, notes that panic and
// notes of which so much waits that they are done in between included.
func TestLater(t *testing.T) {
	words := []string{"veo", "Ada", "2", "Eva", "PANIC", strings.Repeat("a ", waitingMost/2), strings.Repeat("Ida ", 5000)}
	rapid.Check(t, func(t *rapid.T) {
		var notes []string
		for _, n := range rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(words), 1, 4), 0, 12).Draw(t, "notes") {
			notes = append(notes, strings.Join(n, " "))
		}
		calls := new(int)
		var got [2]*pipeline.Batch
		for k, labeller := range []func() tagger.Labeller{
			func() tagger.Labeller { return &capitals{calls: calls} },
			func() tagger.Labeller { return &putsOff{capitals: capitals{calls: calls}} },
		} {
			got[k] = batch(notes...)
			if err := New(Options{TagSet: people, NewLabeller: labeller, Patterns: digits{}}).New()(got[k]); err != nil {
				t.Fatal(err)
			}
		}
		for i := range notes {
			if diff := cmp.Diff(got[0].SpanProbs.At(i), got[1].SpanProbs.At(i)); diff != "" {
				t.Fatalf("note %d: %s", i, diff)
			}
		}
		for _, diff := range []string{
			cmp.Diff(got[0].Tags, got[1].Tags), cmp.Diff(got[0].Conf, got[1].Conf), cmp.Diff(got[0].Reason, got[1].Reason),
		} {
			if diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
