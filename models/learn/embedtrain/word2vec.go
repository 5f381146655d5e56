package embedtrain

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/word/embed"
)

// withDefaults fills in what options leave out.
func withDefaults(o embed.Options, epochs int, rate float64) embed.Options {
	o.Dim, o.Window, o.Epochs = cmp.Or(o.Dim, 100), cmp.Or(o.Window, 5), cmp.Or(o.Epochs, epochs)
	o.Negatives, o.Workers, o.Sample, o.Rate = cmp.Or(o.Negatives, 5), cmp.Or(o.Workers, 1), cmp.Or(o.Sample, 1e-3), cmp.Or(o.Rate, rate)
	return o
}

// Check returns the first mistake in the options.
func Check(o embed.Options) error {
	switch {
	case o.Dim < 0 || o.Dim > embed.MaxDim:
		return fmt.Errorf("dimensions must be between 1 and %d", embed.MaxDim)
	case o.Window < 0 || o.Window > maxWindow:
		return fmt.Errorf("the window must be between 1 and %d", maxWindow)
	case o.Epochs < 0 || o.Negatives < 0 || o.Rate < 0 || o.Sample < 0:
		return fmt.Errorf("epochs, negatives, rate and sample cannot be negative")
	}
	return nil
}

const maxWindow = 100 // far above what is of use

// word2Vec trains skip-gram with negative sampling (Mikolov et al.
// 2013). The words drawn against the true one are drawn once a window and not
// once a pair (Ji et al. 2016).
//
// Several workers learn from shares of a round in one set of weights, without
// locks ("Hogwild", Recht et al. 2011): two that meet in a row may undo a step
// of each other, which costs nothing that can be measured, since rows are many
// and steps small. So one worker gives the same vectors every time, and several
// give vectors as good that differ in every run. What was tried to have both,
// a copy of the weights a worker, joined after every round, gave vectors that
// shared half as many neighbours with those of one worker (BENCHMARKS.md).
type word2Vec struct {
	o     embed.Options
	v     *Vocabulary
	rows  int // padded numbers a row
	in    []float32
	out   []float32
	keep  []float32 // chance that an occurrence is used
	drawn []int32   // words, each as often as it is to be drawn

	learners []*learner
	done     uint64 // tokens, all epochs
	round    uint64
}

// learner is the scratch space of a worker.
type learner struct {
	rng      rand.PCG
	sentence []int32
	outs     []int32   // the word in the middle of a window and those drawn against it
	said     []float32 // what they say of a word beside it
	step     []float32 // of that word
}

// draw returns a number below 1.
func (l *learner) draw() float64 { return float64(l.rng.Uint64()>>11) / (1 << 53) }

// maxSentence is the length of the longest piece that is taken at once, as in
// word2vec.
const maxSentence = 1000

// newWord2Vec makes untrained vectors for a vocabulary.
func newWord2Vec(v *Vocabulary, o embed.Options) *word2Vec {
	o = withDefaults(o, 5, 0.025)
	w := &word2Vec{o: o, v: v, rows: kernels.Pad(o.Dim)}
	w.in, w.out = make([]float32, len(v.Words)*w.rows), make([]float32, len(v.Words)*w.rows)
	r := rand.New(rand.NewPCG(o.Seed, 0))
	for i := range v.Words {
		for j := range o.Dim {
			w.in[i*w.rows+j] = (r.Float32() - 0.5) / float32(o.Dim)
		}
	}
	w.sampling()
	for range o.Workers {
		w.learners = append(w.learners, &learner{step: make([]float32, w.rows)})
	}
	return w
}

// Epochs returns how often the text is to be seen.
func (w *word2Vec) Epochs() int { return w.o.Epochs }

// shareSize is how many word numbers a worker takes at once: some
// milliseconds of work, so that nobody waits long for the last at the end of a
// round.
const shareSize = 10_000

// RoundSize returns how many word numbers a round should have: workers wait for
// each other at its end.
func (w *word2Vec) RoundSize() int { return 200_000 * w.o.Workers }

// sampling prepares what is drawn: words that are left out, with the chance
// of word2vec's code, (√(f/s)+1)·s/f, and words drawn against others, by
// their counts to the power of 3/4.
func (w *word2Vec) sampling() {
	total := 0.0
	for _, word := range w.v.Words {
		f := float64(word.Count) / float64(w.v.Tokens)
		s := w.o.Sample
		w.keep = append(w.keep, float32(min(1, (math.Sqrt(f/s)+1)*s/f)))
		total += math.Pow(float64(word.Count), 0.75)
	}
	sum := 0.0
	for i, word := range w.v.Words {
		sum += math.Pow(float64(word.Count), 0.75)
		for float64(len(w.drawn)) < sum/total*drawnSize {
			w.drawn = append(w.drawn, int32(i))
		}
	}
}

// drawnSize is how many words there are to draw from: word2vec has a hundred times as many, which no cache holds.
const drawnSize = 1 << 20

// Round learns from one round of word numbers.
func (w *word2Vec) Round(tokens []int32) {
	shares := (len(tokens) + shareSize - 1) / shareSize
	kernels.Parallel(w.o.Workers, shares, func(worker, s int) {
		l := w.learners[worker]
		l.rng.Seed(w.o.Seed^w.round<<16, uint64(s))
		at := s * shareSize
		w.share(l, tokens[at:min(at+shareSize, len(tokens))], at)
	})
	w.done += known(tokens)
	w.round++
}

// Done returns how many tokens have been learned from, all epochs together.
func (w *word2Vec) Done() uint64 { return w.done }

func known(tokens []int32) (n uint64) {
	for _, t := range tokens {
		if t != Break {
			n++
		}
	}
	return n
}

// rate is the step size, which falls to almost nothing in a straight line;
// ahead is how far the learner is in its round.
func (w *word2Vec) rate(ahead int) float32 {
	all := float64(w.v.Tokens) * float64(w.o.Epochs)
	left := 1 - (float64(w.done)+float64(ahead))/all
	return float32(w.o.Rate * max(1e-4, left))
}

// share learns from a piece of a round, in order; start is its place there.
func (w *word2Vec) share(l *learner, tokens []int32, start int) {
	for at := 0; at < len(tokens); {
		rate := w.rate(start + at)
		l.sentence = l.sentence[:0]
		for at < len(tokens) && len(l.sentence) < maxSentence {
			t := tokens[at]
			at++
			if t == Break {
				break
			}
			if w.keep[t] >= 1 || float32(l.draw()) < w.keep[t] {
				l.sentence = append(l.sentence, t)
			}
		}
		for i := range l.sentence {
			w.window(l, i, rate)
		}
	}
}

// window learns from each of the words around place i of the sentence, against the word there and some that are drawn: a step of
// gradient ascent of log σ(x·o) for the true pair and of log σ(-x·o) for the others. The window shrinks at random, so
// that near words count more.
func (w *word2Vec) window(l *learner, i int, rate float32) {
	centre := l.sentence[i]
	l.outs = append(l.outs[:0], centre)
	for range w.o.Negatives {
		if t := w.drawn[int(l.draw()*float64(len(w.drawn)))]; t != centre {
			l.outs = append(l.outs, t)
		}
	}
	reach := 1 + int(l.draw()*float64(w.o.Window))
	for k := max(0, i-reach); k < min(len(l.sentence), i+reach+1); k++ {
		if k == i {
			continue
		}
		x := w.in[int(l.sentence[k])*w.rows:][:w.rows]
		l.said = l.said[:0]
		for _, t := range l.outs {
			l.said = append(l.said, kernels.Dot(x, w.out[int(t)*w.rows:][:w.rows]))
		}
		kernels.Sigmoid(l.said)
		l.said[0]-- // the true word
		clear(l.step)
		for n, t := range l.outs {
			o := w.out[int(t)*w.rows:][:w.rows]
			kernels.Axpy(-rate*l.said[n], o, l.step)
			kernels.Axpy(-rate*l.said[n], x, o)
		}
		kernels.Add(x, l.step)
	}
}

// Vectors returns the trained vectors.
func (w *word2Vec) Vectors() *Vectors {
	return &Vectors{Vocabulary: w.v, Dim: w.o.Dim, rows: w.rows, data: w.in}
}

// Vectors are trained vectors of a vocabulary.
type Vectors struct {
	Vocabulary *Vocabulary
	Dim        int
	rows       int // padded
	data       []float32
}

// At returns the vector of word i.
func (v *Vectors) At(i int) []float32 { return v.data[i*v.rows:][:v.Dim] }
