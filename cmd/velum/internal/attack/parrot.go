package attack

import (
	"bytes"
	"math/rand/v2"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/plant"
	"github.com/velum-health/velum/models/learn/crftrain"
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

// parrot is an attack on surrogates: a CRF that was trained on those of one half of
// the patients says how little a mention of the other half looks like one of its
// note (Carrell et al., JAMIA 2019).
type parrot struct {
	seed    uint64
	workers int
	taggers [2]*parrotTagger // by half of the patients on whose notes it was trained
	bounds  []float64        // of the scores, by tenths
}

func newParrot(a *attacker) (spy, error) {
	return &parrot{seed: a.Seed, workers: a.config.Workers()}, nil
}

func (p *parrot) learn(*plant.Extract) {}

// maxParrotNotes of each half are enough to learn from.
const maxParrotNotes = 4000

func (p *parrot) look(e *plant.Extract) (look, error) {
	for half := range p.taggers {
		if p.taggers[half] != nil {
			continue
		}
		var notes []plant.Note
		for i := range e.Notes {
			if n := &e.Notes[i]; n.Patient%2 == half && len(n.Mentions) > 0 && len(notes) < maxParrotNotes {
				notes = append(notes, *n)
			}
		}
		if len(notes) < 2 {
			return func(*plant.Note, int) cell { return cell{} }, nil
		}
		var err error
		if p.taggers[half], err = newParrotTagger(); err != nil {
			return nil, err
		}
		if err = p.taggers[half].train(notes, p.seed, p.workers); err != nil {
			return nil, err
		}
	}
	scores := make(map[*plant.Mention]float64)
	var all []float64
	for i := range e.Notes {
		n := &e.Notes[i]
		if len(n.Mentions) == 0 {
			continue
		}
		for k, x := range p.taggers[1-n.Patient%2].scores(n) {
			scores[&n.Mentions[k]] = x
			all = append(all, x)
		}
	}
	if p.bounds == nil {
		slices.Sort(all)
		for k := range 19 {
			p.bounds = append(p.bounds, all[(k+1)*len(all)/20])
		}
		p.bounds = append(p.bounds, all[len(all)-1-len(all)/100], all[len(all)-1-len(all)/400])
	}
	return func(n *plant.Note, k int) cell {
		bin, _ := slices.BinarySearch(p.bounds, scores[&n.Mentions[k]])
		return cell{uint8(bin)}
	}, nil
}

// train trains the tagger on some notes.
func (p *parrotTagger) train(notes []plant.Note, seed uint64, workers int) error {
	template, err := features.Parse(parrotTemplate)
	if err != nil {
		return err
	}
	trainer := crftrain.NewTrainer(template, p.set, features.Resources{}, crftrain.TrainOptions{Iterations: parrotIterations, L2: 1})
	rng := rand.New(rand.NewPCG(seed, 7))
	var spans []pipeline.Span
	var tags []pipeline.Tag
	for i := range notes {
		k := rng.IntN(len(notes[i].Mentions))
		other := &notes[(i+1+rng.IntN(len(notes)-1))%len(notes)]
		n := with(&notes[i], k, other, rng.IntN(len(other.Mentions)))
		p.look(&n)
		spans = spans[:0]
		for j, m := range n.Mentions {
			tag := surrogateTag
			if j == k {
				tag = exchangedTag
			}
			spans = append(spans, pipeline.Span{Start: m.Start, End: m.End, Category: p.set.Categories[tag]})
		}
		tags = append(tags[:0], make([]pipeline.Tag, len(p.tokens))...)
		p.set.Encode(tags, p.tokens, spans)
		if err := trainer.Add(n.Text, p.tokens, p.matches, tags); err != nil {
			return err
		}
	}
	m, err := trainer.Train(tagger.TrainOptions{Workers: workers})
	if err != nil {
		return err
	}
	p.labeller = m.NewLabeller(tagger.LabelOptions{}).(tagger.Marginals)
	return nil
}

// look cuts a note into tokens and marks how its mentions come again.
func (p *parrotTagger) look(n *plant.Note) {
	p.tokens, p.matches = p.tokenizer.Tokens(p.tokens[:0], n.Text), p.matches[:0]
	times, most := again(n)
	for k, m := range n.Mentions {
		kind := min(times[k], 3)
		if times[k] == 0 && most > 0 {
			kind = 4 + min(most, 5)/3 // the odd one out, among some or many
		}
		p.matches = append(p.matches, pipeline.Match{Start: m.Start, End: m.End, Score: 1, Category: p.kinds[kind]})
	}
}

// scores returns for each mention of a note one less the probability that its
// words are a surrogate's.
func (p *parrotTagger) scores(n *plant.Note) []float64 {
	p.look(n)
	p.probs = p.labeller.Marginals(p.probs[:0], n.Text, p.tokens, p.matches)
	all := make([]float64, len(n.Mentions))
	for k, m := range n.Mentions {
		sum, words := 0.0, 0
		for i, token := range p.tokens {
			if token.End <= m.Start || token.Start >= m.End {
				continue
			}
			words++
			for tag := 1; tag < p.set.Len(); tag++ {
				if p.set.Category(pipeline.Tag(tag)) == p.set.Categories[surrogateTag] {
					sum += float64(p.probs[i*p.set.Len()+tag])
				}
			}
		}
		all[k] = 1 - sum/float64(max(words, 1))
	}
	return all
}

// again returns with how many others of its note each mention shares a word, and
// the most that one does.
func again(n *plant.Note) (again []int, most int) {
	again = make([]int, len(n.Mentions))
	for i := range n.Mentions {
		for j := range n.Mentions {
			if i != j && shareWord(&n.Mentions[i], &n.Mentions[j]) {
				again[i]++
			}
		}
		most = max(most, again[i])
	}
	return again, most
}

func shareWord(m, other *plant.Mention) bool {
	for _, x := range m.Words {
		for _, y := range other.Words {
			if bytes.Equal(x, y) {
				return true
			}
		}
	}
	return false
}

// with returns a note in which one mention is exchanged for one of another note.
func with(n *plant.Note, k int, other *plant.Note, from int) (of plant.Note) {
	was, is := n.Mentions[k], other.Mentions[from]
	of.Text = append(append(append(of.Text, n.Text[:was.Start]...), other.Text[is.Start:is.End]...), n.Text[was.End:]...)
	moved := is.End - is.Start - (was.End - was.Start)
	for j, m := range n.Mentions {
		switch {
		case j == k:
			m.End, m.Words = m.End+moved, is.Words
		case j > k:
			m.Start, m.End = m.Start+moved, m.End+moved
		}
		of.Mentions = append(of.Mentions, m)
	}
	return of
}
