package embed

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/velum-health/velum/models/kernels"
)

// Options are the choices of training. Defaults are METHODS §5's.
type Options struct {
	Dim       int     `json:"dimensions"`     // numbers a vector; 0 means 100
	Window    int     `json:"window"`         // words on each side; 0 means 5
	Epochs    int     `json:"epochs"`         // 0 means 5, GloVe 15
	CBOW      bool    `json:"cbow,omitempty"` // predict a word from its neighbours together, not from each of them
	Negatives int     `json:"negatives"`      // words drawn against each true one; 0 means 5
	Sample    float64 `json:"sample"`         // share of the text above which a word is left out now and then; 0 means 1e-3
	Rate      float64 `json:"rate"`           // first step size; 0 means 0.025, CBOW 0.075, GloVe 0.05
	Subwords  [2]int  `json:"subwords"`       // shortest and longest n-gram of characters, as {3, 6}; zero means none
	Buckets   int     `json:"buckets"`        // rows that n-grams share; 0 means 131072
	Workers   int     `json:"-"`              // goroutines; more than one race in Word2Vec, see there; 0 means 1
	Seed      uint64  `json:"seed"`
}

// Maxima of the options, far above what is of use.
const (
	maxDim    = 4096
	maxWindow = 100
)

func (o Options) withDefaults() Options {
	set := func(at *int, to int) {
		if *at == 0 {
			*at = to
		}
	}
	set(&o.Dim, 100)
	set(&o.Window, 5)
	set(&o.Epochs, 5)
	set(&o.Negatives, 5)
	set(&o.Buckets, 1<<17)
	set(&o.Workers, 1)
	if o.Sample == 0 {
		o.Sample = 1e-3
	}
	if o.Rate == 0 {
		o.Rate = 0.025
		if o.CBOW {
			o.Rate = 0.075
		}
	}
	return o
}

// Check tells what is wrong with the options.
func (o Options) Check() error {
	switch {
	case o.Dim < 0 || o.Dim > maxDim:
		return fmt.Errorf("dimensions must be between 1 and %d", maxDim)
	case o.Window < 0 || o.Window > maxWindow:
		return fmt.Errorf("the window must be between 1 and %d", maxWindow)
	case o.Epochs < 0 || o.Negatives < 0 || o.Buckets < 0 || o.Rate < 0 || o.Sample < 0:
		return fmt.Errorf("epochs, negatives, buckets, rate and sample cannot be negative")
	case o.Subwords[0] < 0 || o.Subwords[1] < o.Subwords[0] || (o.Subwords[0] == 0) != (o.Subwords[1] == 0):
		return fmt.Errorf("subwords: want two lengths, the shorter first")
	}
	return nil
}

// Word2Vec trains skip-gram or CBOW with negative sampling (Mikolov et al.
// 2013). The words drawn against the true one are drawn once a window and not
// once a pair (Ji et al. 2016): the rows stay in the first-level cache. CBOW
// divides the gradient by the number of neighbours (İrsoy et al. 2020), which
// word2vec forgets. With subwords a word's input is the mean of its own row
// and those of its n-grams (Bojanowski et al. 2017).
//
// Several workers learn from shares of a round in one set of weights, without
// locks ("Hogwild", Recht et al. 2011): two that meet in a row may undo a step
// of each other, which costs nothing that can be measured, since rows are many
// and steps small. So one worker gives the same vectors every time, and several
// give vectors as good that differ in every run. What was tried to have both,
// a copy of the weights a worker, joined after every round, gave vectors that
// shared half as many neighbours with those of one worker (BENCHMARKS.md).
type Word2Vec struct {
	o     Options
	v     *Vocabulary
	rows  int // padded numbers a row
	in    []float32
	out   []float32
	keep  []float32 // chance that an occurrence is used
	table []int32   // words, each as often as it is to be drawn
	grams subwords

	learners []*learner
	done     uint64 // tokens, all epochs
	round    uint64
}

// learner is the scratch space of a worker.
type learner struct {
	h, err   []float32
	rng      *rand.PCG
	sentence []int32
	outs     []int32
	inputs   []int32
}

// maxSentence is the length of the longest piece that is taken at once, as in
// word2vec.
const maxSentence = 1000

// NewWord2Vec makes untrained vectors for a vocabulary.
func NewWord2Vec(v *Vocabulary, o Options) *Word2Vec {
	o = o.withDefaults()
	w := &Word2Vec{o: o, v: v, rows: kernels.Pad(o.Dim)}
	w.grams = newSubwords(v, o)
	inputs := len(v.Words) + w.grams.buckets
	w.in, w.out = make([]float32, inputs*w.rows), make([]float32, len(v.Words)*w.rows)
	r := rand.New(rand.NewPCG(o.Seed, 0))
	for i := range inputs {
		for j := range o.Dim {
			w.in[i*w.rows+j] = (r.Float32() - 0.5) / float32(o.Dim)
		}
	}
	w.sampling()
	for range o.Workers {
		w.learners = append(w.learners, &learner{h: make([]float32, w.rows), err: make([]float32, w.rows), rng: new(rand.PCG)})
	}
	return w
}

// RoundSize returns how many word numbers a round should have: workers wait for
// each other at its end.
func (w *Word2Vec) RoundSize() int { return 200_000 * w.o.Workers }

// sampling prepares what is drawn: words that are left out, with the chance
// of word2vec's code, (√(f/s)+1)·s/f, and words drawn against others, by
// their counts to the power of 3/4.
func (w *Word2Vec) sampling() {
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
	w.table = make([]int32, max(1<<20, 8*n))
	at, upTo := 0, 0.0
	for i := range w.v.Words {
		upTo += power[i] / total
		for ; at < len(w.table) && float64(at) < upTo*float64(len(w.table)); at++ {
			w.table[at] = int32(i)
		}
	}
	for ; at < len(w.table); at++ { // what rounding left
		w.table[at] = int32(n - 1)
	}
}

// Round learns from one round of word numbers.
func (w *Word2Vec) Round(tokens []int32) {
	n := len(w.learners)
	kernels.Parallel(w.o.Workers, n, func(_, s int) {
		l := w.learners[s]
		lo, hi := kernels.Share(len(tokens), s, n)
		l.rng.Seed(w.o.Seed^w.round<<16, uint64(s))
		w.share(l, tokens[lo:hi])
	})
	w.done += known(tokens)
	w.round++
}

// Done returns how many tokens have been learned from, all epochs together.
func (w *Word2Vec) Done() uint64 { return w.done }

func known(tokens []int32) (n uint64) {
	for _, t := range tokens {
		if t != Break {
			n++
		}
	}
	return n
}

// rate is the step size, which falls to almost nothing in a straight line;
// ahead is how far the share is in its round.
func (w *Word2Vec) rate(ahead int) float32 {
	all := float64(w.v.Tokens) * float64(w.o.Epochs)
	left := 1 - (float64(w.done)+float64(ahead*len(w.learners)))/all
	return float32(w.o.Rate * max(1e-4, left))
}

// share learns from a piece of a round, in order.
func (w *Word2Vec) share(l *learner, tokens []int32) {
	for at := 0; at < len(tokens); {
		rate := w.rate(at)
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
		if w.o.CBOW {
			w.cbow(l, rate)
		} else {
			w.skipGram(l, rate)
		}
	}
}

// draw fills outs with the centre and the words drawn against it.
func (w *Word2Vec) draw(l *learner, centre int32) {
	l.outs = append(l.outs[:0], centre)
	for range w.o.Negatives {
		t := w.table[(l.rng.Uint64()>>32)*uint64(len(w.table))>>32]
		if t != centre {
			l.outs = append(l.outs, t)
		}
	}
}

// window returns the bounds of the words around place i: the window shrinks at
// random, so that near words count more.
func (w *Word2Vec) window(l *learner, i int) (lo, hi int) {
	b := 1 + int((l.rng.Uint64()>>32)*uint64(w.o.Window)>>32)
	return max(0, i-b), min(len(l.sentence), i+b+1)
}

func (w *Word2Vec) skipGram(l *learner, rate float32) {
	for i, centre := range l.sentence {
		lo, hi := w.window(l, i)
		if hi-lo == 1 {
			continue
		}
		w.draw(l, centre)
		for j := lo; j < hi; j++ {
			if j == i {
				continue
			}
			if w.grams.buckets > 0 {
				l.inputs = w.grams.inputs(l.inputs[:0], l.sentence[j])
				w.several(l, rate, 1)
				continue
			}
			h := w.in[int(l.sentence[j])*w.rows:][:w.rows]
			w.pair(l, h, rate)
			kernels.Add(h, l.err)
		}
	}
}

func (w *Word2Vec) cbow(l *learner, rate float32) {
	for i, centre := range l.sentence {
		lo, hi := w.window(l, i)
		if hi-lo == 1 {
			continue
		}
		w.draw(l, centre)
		l.inputs = l.inputs[:0]
		for j := lo; j < hi; j++ {
			if j != i {
				l.inputs = w.grams.inputs(l.inputs, l.sentence[j])
			}
		}
		w.several(l, rate, 1/float32(hi-lo-1))
	}
}

// several learns from an input that is the mean of several rows. Each takes
// the error times share: 1/neighbours for CBOW, the true gradient; 1 for a
// word's n-grams, as fastText does, since a tenth of a step would teach rare
// words nothing.
func (w *Word2Vec) several(l *learner, rate, share float32) {
	clear(l.h)
	each := 1 / float32(len(l.inputs))
	for _, row := range l.inputs {
		kernels.Axpy(each, w.in[int(row)*w.rows:][:w.rows], l.h)
	}
	w.pair(l, l.h, rate)
	for _, row := range l.inputs {
		kernels.Axpy(share, l.err, w.in[int(row)*w.rows:][:w.rows])
	}
}

// pair is a step of gradient ascent for one input h against the rows of outs,
// the first of them true:
//
//	log σ(h·o₀) + Σ_k log σ(-h·o_k)
//
// It changes the output rows and leaves the step of h in l.err.
func (w *Word2Vec) pair(l *learner, h []float32, rate float32) {
	clear(l.err)
	label := float32(1)
	for _, o := range l.outs {
		row := w.out[int(o)*w.rows:][:w.rows]
		kernels.Exchange(l.err, row, h, rate*(label-sigmoid(kernels.Dot(h, row))))
		label = 0
	}
}

// sigmoidTable holds σ at 4096 places of [-8, 8]: off by less than 0.0005,
// which is less than the noise of one drawn word.
var sigmoidTable = func() (t [4097]float32) {
	for i := range t {
		t[i] = float32(1 / (1 + math.Exp(-(float64(i)/256 - 8))))
	}
	return t
}()

func sigmoid(x float32) float32 {
	switch {
	case x >= 8:
		return 1
	case x <= -8:
		return 0
	}
	return sigmoidTable[int(x*256+2048.5)]
}

// Vectors returns the trained vectors.
func (w *Word2Vec) Vectors() *Vectors {
	x := &Vectors{Vocabulary: w.v, Dim: w.o.Dim, rows: w.rows}
	if w.grams.buckets == 0 {
		x.data = w.in
		return x
	}
	x.data = make([]float32, len(w.v.Words)*w.rows)
	var inputs []int32
	for i := range w.v.Words {
		inputs = w.grams.inputs(inputs[:0], int32(i))
		for _, row := range inputs {
			kernels.Axpy(1/float32(len(inputs)), w.in[int(row)*w.rows:][:w.rows], x.data[i*w.rows:][:w.rows])
		}
	}
	x.grams, x.gramRows = w.grams.lengths, w.in[len(w.v.Words)*w.rows:]
	return x
}

// Vectors are trained vectors of a vocabulary.
type Vectors struct {
	Vocabulary *Vocabulary
	Dim        int
	rows       int // padded
	data       []float32
	grams      [2]int    // lengths of n-grams
	gramRows   []float32 // of n-grams, for words outside the vocabulary
}

// At returns the vector of word i.
func (x *Vectors) At(i int) []float32 { return x.data[i*x.rows:][:x.Dim] }
