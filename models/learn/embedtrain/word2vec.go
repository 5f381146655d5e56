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

// Check tells what is wrong with options.
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
// once a pair, so that a window is a small matrix product (Ji et al. 2016, see
// [kernels.Window]).
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
	drawn alias     // words, by how often they are to be drawn

	learners []*learner
	done     uint64 // tokens, all epochs
	round    uint64
}

// learner is the scratch space of a worker. No two share a line of cache: all
// of it is written at every window.
type learner struct {
	rng      rand.PCG
	sentence []int32
	context  []int32 // words of a window but for the one in the middle
	outs     []int32 // that one and the words drawn against it
	next     []int32 // the same of the next window
	_        [cacheLine]byte
}

const cacheLine = 64

func newLearner(o embed.Options) *learner {
	// One block of numbers, of thousands: small ones of several learners
	// would lie side by side.
	words := make([]int32, maxSentence+2*o.Window+2*(o.Negatives+1))
	part := func(n int) (p []int32) {
		p, words = words[:0:n], words[n:]
		return p
	}
	return &learner{sentence: part(maxSentence), context: part(2 * o.Window), outs: part(o.Negatives + 1), next: part(o.Negatives + 1)}
}

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
		w.learners = append(w.learners, newLearner(o))
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
	n := len(w.v.Words)
	w.keep = make([]float32, n)
	power := make([]float64, n)
	total := 0.0
	for i, word := range w.v.Words {
		f := float64(word.Count) / float64(w.v.Tokens)
		s := w.o.Sample
		w.keep[i] = float32(min(1, (math.Sqrt(f/s)+1)*s/f))
		power[i] = math.Pow(float64(word.Count), 0.75)
		total += power[i]
	}
	w.drawn = newAlias(power, total)
}

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
			if w.keep[t] >= 1 || float32(l.rng.Uint64()>>40)/(1<<24) < w.keep[t] {
				l.sentence = append(l.sentence, t)
			}
		}
		w.sentence(l, rate)
	}
}

// sentence learns from the words of l.sentence. What is drawn for a word and
// the row that comes into its window are asked of memory a word ahead: they lie
// anywhere, and waiting for them costs as much as the products.
func (w *word2Vec) sentence(l *learner, rate float32) {
	if len(l.sentence) == 0 {
		return
	}
	w.draw(l, 0)
	for i := range l.sentence {
		l.outs, l.next = l.next, l.outs
		if i+1 < len(l.sentence) {
			w.draw(l, i+1)
		}
		if in := i + 1 + w.o.Window; in < len(l.sentence) {
			kernels.PrefetchWrite(w.in[int(l.sentence[in])*w.rows:][:w.rows])
		}
		w.window(l, i, rate)
	}
}

// draw fills l.next with word i of the sentence and those drawn against it.
func (w *word2Vec) draw(l *learner, i int) {
	centre := l.sentence[i]
	l.next = append(l.next[:0], centre)
	for range w.o.Negatives {
		if t := w.drawn.at(l.rng.Uint64()); t != centre {
			l.next = append(l.next, t)
		}
	}
	for _, t := range l.next {
		kernels.PrefetchWrite(w.out[int(t)*w.rows:][:w.rows])
	}
}

// bounds returns those of the words around place i: the window shrinks at
// random, so that near words count more.
func (w *word2Vec) bounds(l *learner, i int) (lo, hi int) {
	b := 1 + int((l.rng.Uint64()>>32)*uint64(w.o.Window)>>32)
	return max(0, i-b), min(len(l.sentence), i+b+1)
}

// window learns from each of the words around place i, against the word there.
func (w *word2Vec) window(l *learner, i int, rate float32) {
	lo, hi := w.bounds(l, i)
	l.context = append(append(l.context[:0], l.sentence[lo:i]...), l.sentence[i+1:hi]...)
	kernels.Window(w.in, w.in, w.out, w.rows, l.context, l.outs, rate)
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
