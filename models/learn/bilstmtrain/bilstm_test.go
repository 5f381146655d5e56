package bilstmtrain

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/velum-health/velum/models/learn/bilstmtrain/layers"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// TestOverfit: a network must be able to learn twenty notes by heart.
func TestOverfit(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs, r.Batch, r.Rate, r.WarmUp, r.KeepO, r.Output = 60, 4, 1e-2, 5, 1, 0.1
	if m := fit(t, a, r, sentences); right(m, sentences) != len(sentences) {
		t.Errorf("%d of %d notes as taught", right(m, sentences), len(sentences))
	}
}

// TestVariants: every network of the papers trains by name, and its loss falls.
func TestVariants(t *testing.T) {
	for _, name := range bilstm.Variants() {
		a, r := tiny(t, name)
		r.Epochs, r.Batch, r.Rate, r.WarmUp = 12, 4, 1e-2, 0
		if r.Solver == "sgd" {
			r.Rate, r.Epochs = 0.2, 20
		}
		var first, last float64
		_, err := Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 2, TrainOptions: tagger.TrainOptions{Progress: func(said string) bool {
			_, said, _ = strings.Cut(said, ", loss ")
			var epoch int
			if _, err := fmt.Sscanf(said, "%f, epoch %d", &last, &epoch); err != nil {
				t.Fatal(err)
			}
			if epoch == 1 {
				first = last
			}
			return true
		}}})
		if err != nil || !(last < 0.6*first) {
			t.Errorf("%s: loss from %.3f to %.3f, %v", name, first, last, err)
		}
	}
	if _, _, err := bilstm.Variant("gru"); err == nil {
		t.Error("an unknown network is no error")
	}
}

// TestGradients holds the gradient of every parameter, through the whole
// network and its dropout, against differences.
func TestGradients(t *testing.T) {
	for name, a := range shapesToTest(t) {
		t.Run(name, func(t *testing.T) {
			r := bilstm.DefaultRecipe()
			r.MinCount, r.ClassWeights = 1, a.Objective != "path"
			tr, err := newTraining(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			s := &tr.shards[0]
			s.run(tr, 0, tr.c.sequences, 0.1)
			rng := rand.New(rand.NewPCG(4, 5))
			for i, p := range tr.network {
				for range 4 {
					checkDirection(t, s.network, i, p, rng)
				}
			}
		})
	}
}

// checkDirection compares the derivative along a random direction of a
// parameter with a difference.
func checkDirection(t *testing.T, g *network, i int, p *bilstm.Parameter, rng *rand.Rand) {
	t.Helper()
	l := &learned{Parameter: p, grad: make([]float32, len(p.Data)), seen: make([]bool, p.Rows)}
	g.run()
	if p.Table {
		l.sumTable([]found{{g.grads[i], g.tables[p.Name].Rows}})
	} else {
		copy(l.grad, g.grads[i])
	}
	direction := make([]float32, len(p.Data))
	want, was := 0.0, append([]float32(nil), p.Data...)
	for k := range direction {
		direction[k] = float32(rng.NormFloat64())
		want += float64(direction[k]) * float64(l.grad[k])
	}
	const eps = 1e-3
	move := func(by float32) float64 {
		for k, d := range direction {
			p.Data[k] = was[k] + by*d
		}
		return float64(g.run())
	}
	got := (move(eps) - move(-eps)) / (2 * eps)
	copy(p.Data, was)
	if math.Abs(got-want) > 0.02*math.Abs(want)+0.01 {
		t.Errorf("%s: difference %.5f, gradient %.5f", p.Name, got, want)
	}
}

// TestLabeller: tagging, which keeps what forms bring in and multiplies by eight
// bits a number, finds the tags as probable as the network that was trained does.
func TestLabeller(t *testing.T) {
	for name, a := range shapesToTest(t) {
		t.Run(name, func(t *testing.T) {
			r := bilstm.DefaultRecipe()
			r.Epochs, r.MinCount = 2, 1
			c := corpusOf(t, a, sentences)
			m, err := Train(c, TrainOptions{Recipe: r, Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			tr, err := newTraining(c, TrainOptions{Recipe: r, TrainOptions: tagger.TrainOptions{Init: m}})
			if err != nil {
				t.Fatal(err)
			}
			s := &tr.shards[0]
			s.feed.fill(&s.b, c.sequences, nil)
			s.network.run()
			scores := s.values[len(s.values)-2]
			w := chain.NewWeights(tags, true)
			if pairs := m.Parameters().Named("pairs"); pairs != nil {
				for i := range w.L {
					for j := range w.L {
						if at := i*w.L + j; w.Score[at] > chain.Forbidden {
							w.Score[at] = pairs.Data[i*pairs.Cols+j]
						}
					}
				}
			}
			tr2 := chain.NewTransitions(w)
			l, sequence := m.NewLabeller(tagger.LabelOptions{CacheBytes: 1}).(*bilstm.Labeller), 0
			for _, text := range sentences {
				n := parse(text)
				l.Defer(n.text, n.tokens, nil, nil)
			}
			template, _ := features.Parse(small)
			var pieces []bilstm.Piece
			for _, text := range sentences {
				pieces = append(pieces, a.Pieces(nil, template, parse(text).tokens)...)
			}
			l.Deferred(func(_, from, to int, probs []float32, stride int) {
				p := pieces[sequence]
				want := marginalsOf(tr2, &s.b, scores, sequence, p.Hi-p.Lo)
				for i := range to - from {
					for y := range tags.Len() {
						got, want := probs[i*stride+y], want[(i+from-p.Lo)*tr2.Stride+y]
						if math.Abs(float64(got-want)) > 0.02 {
							t.Fatalf("sequence %d, token %d, tag %d: probability %v, of the network that was trained %v", sequence, i, y, got, want)
						}
					}
				}
				sequence++
			})
			if sequence != len(pieces) || sequence != len(c.sequences) {
				t.Errorf("%d sequences, %d pieces, %d in the corpus", sequence, len(pieces), len(c.sequences))
			}
		})
	}
}

// marginalsOf returns the probabilities of the tags of a sequence of n tokens by their scores.
func marginalsOf(tr *chain.Transitions, b *layers.Batch, scores []float32, sequence, n int) []float32 {
	k := slices.Index(b.Order, int32(sequence))
	var lattice chain.Lattice
	lattice.Reset(tr, n, 0)
	for i := range n {
		row := lattice.State[i*tr.Stride:][:tr.Stride]
		for y := copy(row, scores[(int(b.Start[i])+k)*tr.Stride:][:tr.L]); y < tr.Stride; y++ {
			row[y] = chain.Forbidden
		}
	}
	lattice.Prepare()
	probs := make([]float32, n*tr.Stride)
	lattice.Marginals(probs)
	return probs
}

// TestSameForAnyWorkers: the weights are the same.
func TestSameForAnyWorkers(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs, r.Batch, r.Swap = 5, 4, 0.3
	weights := func(o TrainOptions) string {
		t.Helper()
		o.Recipe, o.Seed = r, 7
		m, err := Train(corpusOf(t, a, sentences), o)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	want := weights(TrainOptions{})
	if weights(TrainOptions{TrainOptions: tagger.TrainOptions{Workers: 2}}) != want {
		t.Error("two workers give other weights than one")
	}
}

// TestInit: fine-tuning begins at what was known, whatever else the new notes
// and tags are.
func TestInit(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs, r.Batch, r.Rate, r.WarmUp, r.KeepO, r.Output = 60, 4, 1e-2, 5, 1, 0.1
	from := fit(t, a, r, sentences)
	template, _ := features.Parse(small)
	other := &pipeline.TagSet{Categories: []pipeline.Category{place, person}} // the other way round
	c, err := NewCorpus(a, template, other, features.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	n := parse("Consulta de [P:Quim Vidal] hoy")
	for i, y := range n.tags {
		n.tags[i] = map[pipeline.Tag]pipeline.Tag{0: 0, 1: 3, 2: 4}[y]
	}
	if err := c.Add(n.text, n.tokens, nil, n.tags); err != nil {
		t.Fatal(err)
	}
	r.Epochs, r.Rate = 1, 1e-6
	m, err := Train(c, TrainOptions{Recipe: r, TrainOptions: tagger.TrainOptions{Init: from}})
	if err != nil {
		t.Fatal(err)
	}
	was := parse("Traslado a [L:Ojuelos] con [P:Ona Pla]")
	got := make([]pipeline.Tag, len(was.tokens))
	m.NewLabeller(tagger.LabelOptions{}).Label(was.text, was.tokens, nil, got)
	if want := []pipeline.Tag{0, 0, 1, 0, 3, 4}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("tags %v, want %v", got, want)
	}
	a.Units = 24
	if _, err := Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, TrainOptions: tagger.TrainOptions{Init: from}}); err == nil {
		t.Error("a network of another shape is no error")
	}
}

// TestSwap: spans change places with others of their category, and with them
// what their own characters say; the corpus is then what it was.
func TestSwap(t *testing.T) {
	a, _ := tiny(t, "default")
	c := corpusOf(t, a, sentences)
	before := fmt.Sprint(c.form, c.first, c.marks, c.tag)
	s := newSwapper(c, 1)
	rng := rand.New(rand.NewPCG(1, 1))
	changed := 0
	for _, q := range c.sequences {
		n := s.swap(q, rng)
		if !q.spans && n != q {
			t.Error("a sequence without spans changed")
		}
		old, now := outline(c, q), outline(c, n)
		if old != now {
			t.Errorf("%s became %s", old, now)
		}
		if fmt.Sprint(c.form[q.lo:q.hi]) != fmt.Sprint(c.form[n.lo:n.hi]) {
			changed++
		}
	}
	if changed < 10 {
		t.Errorf("%d sequences changed", changed)
	}
	if s.forget(); fmt.Sprint(c.form, c.first, c.marks, c.tag) != before {
		t.Error("the corpus is not what it was")
	}
}

// outline is a sequence with its spans as categories alone.
func outline(c *Corpus, q sequence) (out string) {
	for i := range q.hi - q.lo {
		y := c.tag[q.tag+i]
		switch {
		case y == pipeline.O:
			out += " " + c.forms[c.form[q.lo+i]].text
		case c.set.Starts(y):
			out += fmt.Sprintf(" <%v>", c.set.Category(y))
		}
	}
	return out
}

func TestSolver(t *testing.T) {
	r := bilstm.DefaultRecipe()
	for step, want := range map[int]float64{0: 3e-3 / 60, 59: 3e-3, 60: 3e-3, 530: 3e-3 * 0.51, 1000: 6e-5, 2000: 6e-5} {
		if got := r.RateAt(step, 1000); math.Abs(got-want) > 1e-9 {
			t.Errorf("rate at step %d: %v, want %v", step, got, want)
		}
	}
	p := &bilstm.Parameter{Name: "w", Rows: 1, Cols: 8, Data: make([]float32, 8)}
	l := &learned{Parameter: p, grad: []float32{30, 40, 0, 0, 0, 0, 0, 0}}
	s := newSolver(&bilstm.Recipe{Solver: "sgd", Rate: 0.1, Last: 1, Clip: 5}, bilstm.Parameters{p}, 1)
	if err := s.move([]*learned{l}); err != nil || math.Abs(float64(p.Data[0])+0.3) > 1e-6 || math.Abs(float64(p.Data[1])+0.4) > 1e-6 {
		t.Errorf("a clipped step of 0.1 moved to %v, %v", p.Data, err)
	}
	l.grad[0] = float32(math.Inf(1))
	if err := s.move([]*learned{l}); !errors.Is(err, errGradient) {
		t.Errorf("a gradient without end: %v", err)
	}
}

// TestTables: only rows that were looked up move.
func TestTables(t *testing.T) {
	p := &bilstm.Parameter{Name: "words", Rows: 3, Cols: 8, Data: make([]float32, 24), Table: true}
	l := &learned{Parameter: p, grad: make([]float32, 24), seen: make([]bool, 3)}
	ones := bytes.Repeat([]byte{1}, 16)
	grad := make([]float32, 16)
	for i := range ones {
		grad[i] = 1
	}
	l.sumTable([]found{{grad, []int32{2, 0}}, {grad[:8], []int32{2}}})
	r := bilstm.DefaultRecipe()
	if err := newSolver(&r, bilstm.Parameters{p}, 1).move([]*learned{l}); err != nil {
		t.Fatal(err)
	}
	if p.Data[0] == 0 || p.Data[8] != 0 || p.Data[16] == 0 || l.grad[16] != 2 || l.grad[0] != 1 {
		t.Errorf("weights %v, gradient %v", p.Data, l.grad)
	}
	l.sumTable([]found{{grad[:8], []int32{0}}})
	if l.grad[0] != 1 || !slices.Equal(l.rows, []int32{0}) || l.seen[2] {
		t.Errorf("what was there before is left: rows %v, gradient %v", l.rows, l.grad)
	}
}

// BenchmarkTrain is of passes of the default network over 500 invented lines of
// 2 to 40 tokens, with the tags of 21 categories.
func BenchmarkTrain(b *testing.B) {
	a, r, _ := bilstm.Variant("default")
	template, err := features.Parse(small)
	if err != nil {
		b.Fatal(err)
	}
	set := &pipeline.TagSet{}
	for y := range 21 {
		set.Categories = append(set.Categories, pipeline.Category(y+1))
	}
	c, err := NewCorpus(a, template, set, features.Resources{})
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		line := "[P:Ada Roca] acude"
		for range rng.IntN(38) {
			line += fmt.Sprintf(" palabra%d", rng.IntN(40)*rng.IntN(40))
		}
		n := parse(line)
		if err := c.Add(n.text, n.tokens, nil, n.tags); err != nil {
			b.Fatal(err)
		}
	}
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			t, err := newTraining(c, TrainOptions{Recipe: r, Seed: 1, TrainOptions: tagger.TrainOptions{Workers: workers}})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := t.pass(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(t.tokens)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

// TestOneCategory: with one category, as in inverse de-identification, the
// networks of INV tell how probable it is that a token is safe.
func TestOneCategory(t *testing.T) {
	template, err := features.Parse(small)
	if err != nil {
		t.Fatal(err)
	}
	set := &pipeline.TagSet{Categories: []pipeline.Category{person}}
	for _, name := range []string{"b-1", "d-2"} {
		a, r := tiny(t, name)
		c, err := NewCorpus(a, template, set, features.Resources{})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sentences {
			n := parse(s)
			if err := c.Add(n.text, n.tokens, nil, oneCategory(n.tags)); err != nil {
				t.Fatal(err)
			}
		}
		r.Epochs, r.Batch, r.Rate, r.Input = 60, 4, 1e-2, 0.1
		m, err := Train(c, TrainOptions{Recipe: r, Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		l := m.NewLabeller(tagger.LabelOptions{}).(*bilstm.Labeller)
		for i, s := range sentences {
			n := parse(s)
			probs := l.Marginals(nil, n.text, n.tokens, nil)
			for k, y := range n.tags {
				if safe := probs[k*set.Len()+int(pipeline.O)]; (safe > 0.5) != (y == pipeline.O) {
					t.Errorf("%s: note %d, token %d: P(safe) = %.2f", name, i, k, safe)
				}
			}
		}
	}
}

// oneCategory makes one category of two.
func oneCategory(tags []pipeline.Tag) (one []pipeline.Tag) {
	for _, y := range tags {
		if y > 2 {
			y -= 2
		}
		one = append(one, y)
	}
	return one
}

// What a training says of itself.
func TestSaid(t *testing.T) {
	tr := &training{tokens: 100, began: time.Now().Add(-10 * time.Second), last: 1.5}
	if got := tr.said(); !strings.HasSuffix(got, " tokens/s, loss 1.50, epoch 1") {
		t.Error(got)
	}
}

// TestBlind: of a blind token a batch has neither word nor what says which word it is, and all
// of its shape; without the generator, as when a network tags, nothing is hidden.
func TestBlind(t *testing.T) {
	a, r := tiny(t, "default")
	r.Blind, r.Word, r.Rare = 0.5, 0, 0
	c := corpusOf(t, a, sentences)
	f := newFeed(c, c.vocabulary(1, nil), &r)
	var open, half layers.Batch
	f.fill(&open, c.sequences, nil)
	f.fill(&half, c.sequences, rand.New(rand.NewPCG(1, 1)))
	blind := 0
	for i, w := range half.Word[:half.N] {
		if w == bilstm.Unknown {
			blind++
		}
		if open.Word[i] == bilstm.Unknown {
			t.Errorf("token %d is hidden from who tags", i)
		}
	}
	if blind < half.N/3 || blind > 2*half.N/3 {
		t.Errorf("%d of %d tokens are blind", blind, half.N)
	}
	// lower is the one group of the template that names the word: a blind token has one feature less.
	if got := len(open.Features) - len(half.Features); got != blind {
		t.Errorf("%d features are hidden of %d blind tokens", got, blind)
	}
}

// TestRareWords: a word that comes less often than the recipe asks for has no vector of its own.
func TestRareWords(t *testing.T) {
	a, _ := tiny(t, "default")
	c := corpusOf(t, a, []string{"Roca Roca Roca mejora", "roca tose"})
	v := c.vocabulary(3, nil)
	if v.Word([]byte("roca")) == bilstm.Unknown || v.Word([]byte("mejora")) != bilstm.Unknown {
		t.Errorf("roca is %d, mejora %d", v.Word([]byte("roca")), v.Word([]byte("mejora")))
	}
}
