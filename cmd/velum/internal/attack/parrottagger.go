package attack

import (
	"bytes"
	"math/rand/v2"

	"github.com/velum-health/velum/models/tag/crf/crftrain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/tokenize"
)

// parrotTemplate is what the attacker's tagger looks at: the words of a name and
// those around it, and, as patterns, how the name comes again in its note.
const parrotTemplate = `version 1
sequence line
bias
word 0
folded -2..2
shortshape -1..1
prefix3 0
suffix3 0
pattern 0
border -1..1
`

// parrotIterations of training are where it has settled.
const parrotIterations = 40

// parrotTagger is the attacker's tagger: a CRF that was trained on the extract's
// own surrogates. One mention of each note is exchanged for one of another note,
// for that is what an original among surrogates is: a name that is not of the
// people whom surrogates have made of the note's. The others are surrogates.
type parrotTagger struct {
	set       *pipeline.TagSet // surrogate, exchanged
	labeller  tagger.Marginals
	kinds     []pipeline.Category // of matches: how a mention comes again
	tokenizer tokenize.Tokenizer

	tokens  []pipeline.Token
	matches []pipeline.Match
	probs   []float32
}

// Two categories of a label set that has names stand for what the tagger tells
// apart.
const surrogateTag, exchangedTag = 0, 1

func newParrotTagger() (*parrotTagger, error) {
	labels, err := pipeline.Labels("primary-care")
	if err != nil {
		return nil, err
	}
	kinds, err := pipeline.Labels("pattern")
	if err != nil {
		return nil, err
	}
	return &parrotTagger{set: &pipeline.TagSet{Categories: labels.Categories[:2]}, kinds: kinds.Categories}, nil
}

// suspect returns for every mention how little it looks like a surrogate of its
// note, in [0, 1], by a tagger that was trained on the other half of the notes.
func (a *attacker) suspect(extract []maskedNote) (scores [][]float64, err error) {
	scores = make([][]float64, len(extract))
	for half := range 2 {
		t, err := newParrotTagger()
		if err != nil {
			return nil, err
		}
		var others []maskedNote
		for i := range extract {
			if i%2 != half {
				others = append(others, extract[i])
			}
		}
		if len(others) < 2 {
			continue
		}
		if err := t.train(others, a.Seed, a.config.Workers()); err != nil {
			return nil, err
		}
		for i := range extract {
			if i%2 == half {
				scores[i] = t.scores(&extract[i])
			}
		}
	}
	for i := range scores {
		if scores[i] == nil { // too few notes to learn from
			scores[i] = make([]float64, len(extract[i].mentions))
		}
	}
	return scores, nil
}

// train trains the tagger on some notes.
func (t *parrotTagger) train(notes []maskedNote, seed uint64, workers int) error {
	template, err := features.Parse(parrotTemplate)
	if err != nil {
		return err
	}
	trainer := crftrain.NewTrainer(template, t.set, features.Resources{}, crftrain.TrainOptions{Iterations: parrotIterations, L2: 1})
	rng := rand.New(rand.NewPCG(seed, 7))
	var spans []pipeline.Span
	var tags []pipeline.Tag
	for i := range notes {
		k := rng.IntN(len(notes[i].mentions))
		other := &notes[(i+1+rng.IntN(len(notes)-1))%len(notes)]
		n := notes[i].with(k, other, rng.IntN(len(other.mentions)))
		t.look(&n)
		spans = spans[:0]
		for j, m := range n.mentions {
			tag := surrogateTag
			if j == k {
				tag = exchangedTag
			}
			spans = append(spans, pipeline.Span{Start: m.start, End: m.end, Category: t.set.Categories[tag]})
		}
		tags = append(tags[:0], make([]pipeline.Tag, len(t.tokens))...)
		t.set.Encode(tags, t.tokens, spans)
		if err := trainer.Add(n.text, t.tokens, t.matches, tags, 1); err != nil {
			return err
		}
	}
	m, err := trainer.Train(tagger.TrainOptions{Workers: workers})
	if err != nil {
		return err
	}
	t.labeller = m.NewLabeller(tagger.LabelOptions{}).(tagger.Marginals)
	return nil
}

// look cuts a note into tokens and marks how its mentions come again.
func (t *parrotTagger) look(n *maskedNote) {
	t.tokens, t.matches = t.tokenizer.Tokens(t.tokens[:0], n.text), t.matches[:0]
	again, most := n.again()
	for k, m := range n.mentions {
		kind := min(again[k], 3)
		if again[k] == 0 && most > 0 {
			kind = 4 + min(most, 5)/3 // the odd one out, among some or many
		}
		t.matches = append(t.matches, pipeline.Match{Start: m.start, End: m.end, Score: 1, Category: t.kinds[kind]})
	}
}

// scores returns for each mention of a note one less the probability that its
// words are a surrogate's.
func (t *parrotTagger) scores(n *maskedNote) []float64 {
	t.look(n)
	t.probs = t.labeller.Marginals(t.probs[:0], n.text, t.tokens, t.matches)
	all := make([]float64, len(n.mentions))
	for k, m := range n.mentions {
		sum, words := 0.0, 0
		for i, token := range t.tokens {
			if token.End <= m.start || token.Start >= m.end {
				continue
			}
			words++
			for tag := 1; tag < t.set.Len(); tag++ {
				if t.set.Category(pipeline.Tag(tag)) == t.set.Categories[surrogateTag] {
					sum += float64(t.probs[i*t.set.Len()+tag])
				}
			}
		}
		all[k] = 1 - sum/float64(max(words, 1))
	}
	return all
}

// again returns with how many others of its note each mention shares a word, and
// the most that one does.
func (n *maskedNote) again() (again []int, most int) {
	again = make([]int, len(n.mentions))
	for i := range n.mentions {
		for j := range n.mentions {
			if i != j && n.mentions[i].sharesWord(&n.mentions[j]) {
				again[i]++
			}
		}
		most = max(most, again[i])
	}
	return again, most
}

func (m *mention) sharesWord(other *mention) bool {
	for _, x := range m.words {
		for _, y := range other.words {
			if bytes.Equal(x, y) {
				return true
			}
		}
	}
	return false
}

// with returns a note in which one mention is exchanged for one of another note.
func (n *maskedNote) with(k int, other *maskedNote, from int) (of maskedNote) {
	was, is := n.mentions[k], other.mentions[from]
	of.text = append(append(append(of.text, n.text[:was.start]...), other.text[is.start:is.end]...), n.text[was.end:]...)
	moved := is.end - is.start - (was.end - was.start)
	for j, m := range n.mentions {
		switch {
		case j == k:
			m.end, m.words = m.end+moved, is.words
		case j > k:
			m.start, m.end = m.start+moved, m.end+moved
		}
		of.mentions = append(of.mentions, m)
	}
	return of
}
