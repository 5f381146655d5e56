// Package bilstmtrain trains the network of package bilstm with Adam or gradient descent, minimizing the negative
// log-likelihood of tag paths, of marginals or of single tags. The result does not depend on the number of workers. It
// takes tagged notes, a feature template, an architecture and a recipe, and returns a *bilstm.Model. It is a package of
// its own so that a program that only tags does not link it.
package bilstmtrain

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// TrainOptions holds the options of a training.
type TrainOptions struct {
	// Init must have the architecture of the corpus (fine-tuning, INV §4.3.6). Its tags may differ: those with the same
	// name are taken over.
	tagger.TrainOptions
	Recipe bilstm.Recipe
	Seed   uint64
	// Vectors are the initial word vectors; nil: random ones. They may not have more dimensions than Architecture.Word.
	Vectors Vectors
}

// Trainer implements tagger.Trainer for networks.
type Trainer struct {
	*Corpus
	o TrainOptions
}

// NewTrainer returns a trainer without notes.
func NewTrainer(a bilstm.Architecture, t *features.Template, set *pipeline.TagSet, r features.Resources, o TrainOptions) (*Trainer, error) {
	c, err := NewCorpus(a, t, set, r)
	return &Trainer{c, o}, err
}

// Work implements tagger.Trainer. The number of steps per epoch is not known before the notes are.
func (t *Trainer) Work() (unit string, times int) {
	return "steps", t.steps(&t.o.Recipe)
}

// Train implements tagger.Trainer.
func (t *Trainer) Train(o tagger.TrainOptions) (tagger.Model, error) {
	opt := t.o
	opt.TrainOptions = o
	m, err := Train(t.Corpus, opt)
	if err != nil {
		return nil, err
	}
	return m, nil
}

// shards is the number of parts in which the gradient of a batch is computed in parallel. It is fixed, so the result
// does not depend on the number of workers.
const shards = 2

// Train fits a network to the corpus.
func Train(c *Corpus, o TrainOptions) (*bilstm.Model, error) {
	if len(c.form) == 0 {
		return nil, errors.New("no training notes")
	}
	t, err := newTraining(c, o)
	if err != nil {
		return nil, err
	}
	if err := t.run(); err != nil {
		return nil, err
	}
	return t.model()
}

// training is one run of Train.
type training struct {
	c *Corpus
	o TrainOptions
	v *bilstm.Vocabulary

	noise   float64
	network bilstm.Parameters
	learned []*learned
	solver  *solver
	swapper *swapper
	shards  [shards]shard

	epoch  int
	tokens int
	began  time.Time
	last   float64 // loss of the epoch before
	least  float64 // of all epochs
	flat   int     // epochs since
}

// shard holds the state of one of the workers of a step.
type shard struct {
	*network
	feed *feed
	loss float32
}

func newTraining(c *Corpus, o TrainOptions) (*training, error) {
	from, _ := o.Init.(*bilstm.Model)
	if o.Init != nil && (from == nil || from.Architecture() != c.arch) {
		return nil, fmt.Errorf("%w: it is no network of this architecture", tagger.ErrInit)
	}
	t := &training{c: c, o: o, began: time.Now(), least: math.Inf(1)}
	if t.noise = o.Recipe.Noise; t.noise > 0 {
		c.addNoise()
	}
	t.v = c.vocabulary(o.Recipe.MinCount, from)
	if o.Vectors != nil {
		if o.Vectors.Len() == 0 || len(o.Vectors.At(0)) > c.arch.Word {
			return nil, fmt.Errorf("training: the vectors of words have more than %d numbers, or there are none", c.arch.Word)
		}
		norm := o.Vectors.Header().Normalization
		t.v.Norm = &norm
		for i := range o.Vectors.Len() {
			t.v.AddWord(o.Vectors.Word(i).Form)
		}
	}
	labels := kernels.Pad(c.set.Len())
	t.network = bilstm.Shapes(c.arch, len(t.v.Words)+1, t.v.Features.Len()+1, len(t.v.Chars)+bilstm.Border+1, labels)
	rng := rand.New(rand.NewPCG(o.Seed, 0))
	start(t.network, c.arch, rng)
	if o.Vectors != nil {
		t.startWords(o.Vectors, rng)
	}
	if from != nil {
		t.warm(from)
	}
	for _, p := range t.network {
		l := &learned{Parameter: p}
		if p.Table {
			l.grad, l.seen = make([]float32, len(p.Data)), make([]bool, p.Rows)
		}
		l.frozen = p.Name == "words" && o.Recipe.Frozen
		t.learned = append(t.learned, l)
	}
	t.solver = newSolver(&t.o.Recipe, t.network, c.steps(&t.o.Recipe))
	t.solver.workers = o.Workers
	t.swapper = newSwapper(c, o.Recipe.Swap)
	feed := newFeed(c, t.v, &t.o.Recipe)
	for i := range t.shards {
		t.shards[i] = shard{network: newNetwork(c.arch, t.network, c.set, t.classWeights()), feed: feed.another()}
	}
	return t, nil
}

// another returns a feed that may be used beside f.
func (f *feed) another() *feed {
	return &feed{c: f.c, v: f.v, r: f.r, records: f.records, names: f.names}
}

// warm copies the weights of another network: table rows in the same order, with new ones appended; scores of tags by
// the tag's name.
func (t *training) warm(from *bilstm.Model) {
	for i, p := range t.network {
		was := from.Parameters()[i]
		switch p.Name {
		case "output", "outputbias", "pairs":
			t.warmTags(p, was, from.TagSet())
		default:
			copy(p.Data, was.Numbers())
		}
	}
}

func (t *training) warmTags(p, was *bilstm.Parameter, set *pipeline.TagSet) {
	for y := range t.c.set.Len() {
		old := set.Like(t.c.set, y)
		if old < 0 {
			continue
		}
		for row := range p.Rows {
			from := row
			if p.Name == "pairs" {
				if row >= t.c.set.Len() {
					break
				}
				from = set.Like(t.c.set, row)
			}
			if from >= 0 {
				p.Data[row*p.Cols+y] = was.Data[from*was.Cols+old]
			}
		}
	}
}

// steps returns how many steps all epochs have, by what an epoch sees on
// average.
func (c *Corpus) steps(r *bilstm.Recipe) int {
	seen := 0.0
	for _, s := range c.sequences {
		seen += keep(r, s)
	}
	return r.Epochs * int(math.Ceil(seen/float64(r.Batch)))
}

// keep returns the expected number of times that an epoch uses a sequence.
func keep(r *bilstm.Recipe, s sequence) float64 {
	if s.spans {
		return r.Keep
	}
	return r.KeepO
}

// classWeights returns the weight of a token by its tag: the square root of the tag's inverse relative frequency, at
// most 10. The rarest of 45 tags is a ten-thousandth of all tokens; its full weight would dominate.
func (t *training) classWeights() []float64 {
	if !t.o.Recipe.ClassWeights {
		return nil
	}
	count := make([]float64, t.c.set.Len())
	for _, y := range t.c.tag {
		count[y]++
	}
	weights := make([]float64, len(count))
	for y, n := range count {
		weights[y] = min(10, math.Sqrt(float64(len(t.c.tag))/(float64(len(count))*max(n, 1))))
	}
	return weights
}

func (t *training) run() error {
	for ; t.epoch < t.o.Recipe.Epochs; t.epoch++ {
		if stopped, err := t.pass(); stopped || err != nil {
			return err
		}
		if t.flat++; t.last < t.least {
			t.least, t.flat = t.last, 0
		}
		if t.o.Recipe.Flat > 0 && t.flat >= t.o.Recipe.Flat {
			return nil
		}
	}
	return nil
}

// pass goes through the batches of an epoch; it tells whether it was stopped.
func (t *training) pass() (stopped bool, err error) {
	defer t.swapper.forget()
	sum, seen := 0.0, 0.0
	for _, sequences := range t.batches() {
		loss, err := t.step(sequences)
		if err != nil {
			return false, err
		}
		sum += loss * float64(len(sequences))
		seen += float64(len(sequences))
		t.last = sum / seen
		if t.o.Progress != nil && !t.o.Progress(t.said()) {
			return true, nil
		}
	}
	return false, nil
}

// said is a few words on how the training goes, the most important first: a
// narrow terminal cuts the end off. Steps and time left are the caller's.
func (t *training) said() string {
	return fmt.Sprintf("%.0f tokens/s, loss %.2f, epoch %d", float64(t.tokens)/time.Since(t.began).Seconds(), t.last, t.epoch+1)
}

// batches returns the batches of the epoch: of sequences of like length, in
// any order.
func (t *training) batches() [][]sequence {
	rng := rand.New(rand.NewPCG(t.o.Seed, uint64(t.epoch)<<32|1))
	r := &t.o.Recipe
	var all []sequence
	for _, s := range t.c.sequences {
		if rng.Float64() < keep(r, s) {
			all = append(all, t.disturb(t.swapper.swap(s, rng), rng))
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for pool := range slices.Chunk(all, 20*r.Batch) {
		slices.SortStableFunc(pool, func(a, b sequence) int { return int((b.hi - b.lo) - (a.hi - a.lo)) })
	}
	batches := slices.Collect(slices.Chunk(all, r.Batch))
	rng.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
	return batches
}

// step computes the gradients of a batch, in shards, and moves the parameters.
func (t *training) step(sequences []sequence) (loss float64, err error) {
	for _, s := range sequences {
		t.tokens += int(s.hi - s.lo)
	}
	kernels.Parallel(t.o.Workers, shards, func(_, i int) {
		t.shards[i].run(t, i, sequences, 1/float32(len(sequences)))
	})
	var done []*network
	for i := range t.shards {
		s := &t.shards[i]
		if s.b.N == 0 {
			continue // a batch of one sequence
		}
		loss += float64(s.loss)
		done = append(done, s.network)
	}
	t.gather(done)
	return loss, t.solver.move(t.learned)
}

// gather adds up the gradients of networks.
func (t *training) gather(networks []*network) {
	kernels.Parallel(t.o.Workers, len(t.learned), func(_, i int) {
		var all []found
		for _, n := range networks {
			f := found{grad: n.grads[i]}
			if of := n.tables[t.learned[i].Name]; of != nil {
				f.touched = of.Rows
			}
			all = append(all, f)
		}
		t.learned[i].sum(all)
	})
}

// run computes the loss and the gradients of every second sequence.
func (s *shard) run(t *training, number int, sequences []sequence, scale float32) {
	var mine []sequence
	for i := number; i < len(sequences); i += shards {
		mine = append(mine, sequences[i])
	}
	s.b.N, s.loss = 0, 0
	if len(mine) == 0 {
		return
	}
	rng := rand.New(rand.NewPCG(t.o.Seed+1, uint64(t.solver.step)<<8|uint64(number)))
	s.feed.fill(&s.b, mine, rng)
	s.b.Scale = scale
	drawMasks(&s.masks, &s.b, t.c.arch, &t.o.Recipe, rng)
	s.b.Masks = &s.masks
	s.loss = s.network.run()
}

func (t *training) model() (*bilstm.Model, error) {
	h := bilstm.Header{Header: t.o.About, Network: t.c.arch, Recipe: t.o.Recipe, Seed: t.o.Seed}
	h.Training = tagger.Training{
		Sequences: len(t.c.sequences), Tokens: len(t.c.form), Forms: len(t.c.forms), Iterations: t.epoch, MinCount: t.o.Recipe.MinCount,
	}
	h.Training.Spans, h.Training.SpanTokens = t.c.set.Count(t.c.tag)
	m, err := bilstm.New(h, t.c.template, t.c.set, t.c.extract.Resources(), t.v, t.network)
	if err != nil {
		return nil, fmt.Errorf("training: %w", err)
	}
	return m, nil
}

// start draws the initial weights: uniform with variance 1/rows for matrices (Glorot and Bengio 2010, for inputs),
// small for vectors that are added, 1 for the bias of forget gates (Jozefowicz et al. 2015).
func start(ps bilstm.Parameters, a bilstm.Architecture, rng *rand.Rand) {
	for _, p := range ps {
		p.Data = make([]float32, p.Rows*p.Cols)
		switch {
		case p.Name == "words", p.Name == "chars":
			uniform(rng, p.Data, math.Sqrt(3/float64(p.Cols)))
		case p.Name == "features":
			uniform(rng, p.Data, 0.1)
		case p.Name[0] == 'b' && a.Cell == "lstm":
			units := p.Cols / 8
			for _, at := range []int{units, 5 * units} {
				for i := range units {
					p.Data[at+i] = 1
				}
			}
		case p.Rows > 1 && p.Name != "pairs":
			uniform(rng, p.Data, math.Sqrt(3/float64(p.Rows+p.Cols)*2))
		}
	}
}

func uniform(rng *rand.Rand, x []float32, most float64) {
	for i := range x {
		x[i] = float32((2*rng.Float64() - 1) * most)
	}
}
