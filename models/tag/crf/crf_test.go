package crf

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// note is a marked note with its tokens.
type note struct {
	text    []byte
	tokens  []pipeline.Token
	matches []pipeline.Match
	tags    []pipeline.Tag
}

// newNote splits at spaces; a token of "|" begins a line and is a token.
func newNote(t testing.TB, set *pipeline.TagSet, marked string) note {
	t.Helper()
	text, spans, err := markup.Parse(marked)
	if err != nil {
		t.Fatal(err)
	}
	n := note{text: text}
	at := 0
	for word := range strings.FieldsSeq(string(text)) {
		start := at + strings.Index(string(text[at:]), word)
		at = start + len(word)
		tok := pipeline.Token{Start: int32(start), End: int32(at)}
		if len(n.tokens) == 0 || word == "|" {
			tok.Flags = pipeline.LineStart | pipeline.SentenceStart
		}
		if strings.Count(word, "-") == 2 {
			date, err := pipeline.ParseCategory("DATE")
			if err != nil {
				t.Fatal(err)
			}
			n.matches = append(n.matches, pipeline.Match{Start: int32(start), End: int32(at), Category: date, Score: 1, Checked: len(word)%2 == 0})
		}
		n.tokens = append(n.tokens, tok)
	}
	n.tags = make([]pipeline.Tag, len(n.tokens))
	set.Encode(n.tags, n.tokens, spans)
	return n
}

func toySet(scheme pipeline.Scheme) *pipeline.TagSet {
	set := &pipeline.TagSet{Scheme: scheme}
	for _, name := range []string{"PERSON", "LOCATION", "DATE"} {
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			panic(err)
		}
		set.Categories = append(set.Categories, c)
	}
	return set
}

// toyNotes makes notes of one to three lines out of invented pieces.
func toyNotes(t testing.TB, set *pipeline.TagSet, n int, seed uint64) []note {
	r := rand.New(rand.NewPCG(seed, 0))
	pick := func(words ...string) string { return words[r.IntN(len(words))] }
	var notes []note
	for range n {
		var b strings.Builder
		for line := range 1 + r.IntN(3) {
			if line > 0 {
				b.WriteString(" | ")
			}
			b.WriteString(pick("acude", "viene", "visto", "control") + " ")
			b.WriteString(pick("", "con tos", "sin fiebre", "por dolor de rodilla") + " ")
			b.WriteString(pick("", "", "Sra. [PERSON:Marta Oliva]", "[PERSON:Pau Serra Vidal]", "con [PERSON:Iris]") + " ")
			b.WriteString(pick("", "vive en [LOCATION:Vallfosca]", "desde [LOCATION:Torre del Prat]", "") + " ")
			b.WriteString(pick("", fmt.Sprintf("el [DATE:%d-%d-20%02d]", 1+r.IntN(28), 1+r.IntN(12), r.IntN(30)), "dosis 3-4-5", ""))
		}
		notes = append(notes, newNote(t, set, b.String()))
	}
	return notes
}

const toyTemplate = `version 1
sequence line
bias
word -2..2
lower 0
suffix3 -1..1
shortshape -1..1
capitals -2..1
gazetteer -1..1
border -2..2
pattern -1..1
bigram 0..1
key 0
tokeninline 0
lineinnote 0
`

func toyTemplateParsed(t testing.TB, text string) *features.Template {
	t.Helper()
	tpl, err := features.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tpl
}

// toyLists is a small gazetteer.
type toyLists struct{}

func (toyLists) Classes(form []byte) gazetteer.Class {
	switch string(form) {
	case "Marta", "Pau", "Iris":
		return gazetteer.GivenName
	case "Vallfosca":
		return gazetteer.Municipality | gazetteer.Surname
	}
	return 0
}

func (toyLists) Fingerprint() uint64 { return 77 }

func toyResources() features.Resources { return features.Resources{Lexicon: toyLists{}} }

func toyCorpus(t testing.TB, scheme pipeline.Scheme, template string, notes int, seed uint64) *Corpus {
	t.Helper()
	set := toySet(scheme)
	c := NewCorpus(toyTemplateParsed(t, template), set, toyResources())
	for _, n := range toyNotes(t, set, notes, seed) {
		if err := c.Add(n.text, n.tokens, n.matches, n.tags, 1); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestGradient holds the gradient against finite differences, with the
// penalty, for both schemes and all layouts of weights.
func TestGradient(t *testing.T) {
	for _, opt := range []TrainOptions{{}, {AllStates: true, AllTransitionWeights: true}, {AllTransitions: true}, {MinCount: 3, Workers: 2}} {
		for _, scheme := range []pipeline.Scheme{pipeline.BIO, pipeline.BIOESU} {
			c := toyCorpus(t, scheme, toyTemplate, 12, 1)
			o := newObjective(c, opt)
			w, g, scratch := make([]float64, o.size()), make([]float64, o.size()), make([]float64, o.size())
			r := rand.New(rand.NewPCG(5, 5))
			for i := range w {
				w[i] = r.NormFloat64() / 2
			}
			o.evaluate(w, g)
			const eps = 1e-5
			for range 150 {
				i := r.IntN(len(w))
				if r.IntN(3) == 0 {
					i = len(o.slot) + r.IntN(len(o.pairs))
				}
				old := w[i]
				w[i] = old + eps
				up := o.evaluate(w, scratch)
				w[i] = old - eps
				down := o.evaluate(w, scratch)
				w[i] = old
				if want := (up - down) / (2 * eps); math.Abs(g[i]-want) > 1e-6*max(1, math.Abs(want)) {
					t.Fatalf("%+v, %v: weight %d of %d: gradient %v, differences say %v", opt, scheme, i, len(w), g[i], want)
				}
			}
		}
	}
}

// TestWeights holds the gradient of weighted notes against finite differences,
// weight 2 against the note twice, and weight 1 against none, bit for bit.
func TestWeights(t *testing.T) {
	at := func(opt TrainOptions, weights func(i int) []float64) (*objective, []float64, []float64, float64) {
		set := toySet(pipeline.BIO)
		c := NewCorpus(toyTemplateParsed(t, toyTemplate), set, toyResources())
		for i, n := range toyNotes(t, set, 12, 1) {
			for _, weight := range weights(i) {
				if err := c.Add(n.text, n.tokens, n.matches, n.tags, weight); err != nil {
					t.Fatal(err)
				}
			}
		}
		o := newObjective(c, opt)
		w, g := make([]float64, o.size()), make([]float64, o.size())
		for i := range w {
			w[i] = math.Sin(float64(i))
		}
		return o, w, g, o.evaluate(w, g)
	}
	for _, opt := range []TrainOptions{{}, {MinCount: 3}} {
		o, w, g, value := at(opt, func(i int) []float64 { return []float64{float64(1+i%3) / 2} })
		const eps = 1e-5
		scratch := make([]float64, len(w))
		for i := 0; i < len(w); i += 1 + len(w)/150 {
			old := w[i]
			w[i] = old + eps
			up := o.evaluate(w, scratch)
			w[i] = old - eps
			down := o.evaluate(w, scratch)
			w[i] = old
			if want := (up - down) / (2 * eps); math.Abs(g[i]-want) > 1e-6*max(1, math.Abs(want)) {
				t.Fatalf("%+v: weight %d of %d: gradient %v, differences say %v", opt, i, len(w), g[i], want)
			}
		}
		_, _, twice, double := at(opt, func(i int) []float64 { return slices.Repeat([]float64{1}, 1+i%2) })
		_, _, two, heavy := at(opt, func(i int) []float64 { return []float64{float64(1 + i%2)} })
		if len(twice) != len(two) || math.Abs(double-heavy) > 1e-8*double {
			t.Fatalf("%+v: %d weights and %v with weight 2, %d and %v with two notes", opt, len(two), heavy, len(twice), double)
		}
		for i := range two {
			if math.Abs(two[i]-twice[i]) > 1e-8 {
				t.Fatalf("%+v: weight %d: %v with weight 2, %v with two notes", opt, i, two[i], twice[i])
			}
		}
		if heavy == value {
			t.Errorf("%+v: weights change nothing", opt)
		}
	}
	o, _, plain, value := at(TrainOptions{}, func(int) []float64 { return []float64{1} })
	w := make([]float64, o.size())
	for i := range w {
		w[i] = math.Sin(float64(i))
	}
	o.c.weights = slices.Repeat([]float64{1}, len(o.c.sequences))
	ones := make([]float64, o.size())
	if again := o.evaluate(w, ones); again != value || !slices.Equal(plain, ones) {
		t.Error("weights of 1 change the gradient")
	}
	n := toyNotes(t, o.c.set, 1, 1)[0]
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if o.c.Add(n.text, n.tokens, n.matches, n.tags, bad) == nil {
			t.Errorf("weight %v was taken", bad)
		}
	}
}

// The gradient is the same bit for bit for any number of workers, and within
// rounding for both kernels.
func TestWorkers(t *testing.T) {
	c := toyCorpus(t, pipeline.BIO, toyTemplate, 60, 2)
	gradient := func(workers int) []float64 {
		o := newObjective(c, TrainOptions{Workers: workers})
		w, g := make([]float64, o.size()), make([]float64, o.size())
		for i := range w {
			w[i] = math.Sin(float64(i))
		}
		return append(g, o.evaluate(w, g))
	}
	one := gradient(1)
	for _, workers := range []int{2, 3, 8} {
		if !slices.Equal(one, gradient(workers)) {
			t.Errorf("%d workers: another gradient than one worker", workers)
		}
	}
	defer kernels.ForcePortable(kernels.ForcePortable(true))
	for i, v := range gradient(1) {
		if math.Abs(v-one[i]) > 1e-8 {
			t.Fatalf("portable kernels: weight %d: %v, not %v", i, v, one[i])
		}
	}
}

func trained(t testing.TB, opt TrainOptions) *Model {
	t.Helper()
	if opt.L2 == 0 && opt.L1 == 0 {
		opt.L2 = .5
	}
	m, err := Train(toyCorpus(t, pipeline.BIO, toyTemplate, 150, 3), opt)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// accuracy is the share of tokens whose tag is right.
func accuracy(t testing.TB, m *Model, notes []note) float64 {
	t.Helper()
	l := m.labeller(tagger.LabelOptions{})
	right, all := 0, 0
	for _, n := range notes {
		tags := make([]pipeline.Tag, len(n.tokens))
		l.Label(n.text, n.tokens, n.matches, tags)
		for i := range tags {
			all++
			if tags[i] == n.tags[i] {
				right++
			}
		}
	}
	return float64(right) / float64(all)
}

func TestTrainAndLabel(t *testing.T) {
	m := trained(t, TrainOptions{})
	if a := accuracy(t, m, toyNotes(t, m.TagSet(), 50, 99)); a < .99 {
		t.Errorf("accuracy %v on new notes of the same kind", a)
	}
}

// The objective falls at every iteration, for L2, L1 and both, and L1 leaves
// fewer weights.
func TestObjectiveFalls(t *testing.T) {
	weights := map[string]int{}
	for name, opt := range map[string]TrainOptions{"L2": {L2: 1}, "L1": {L1: .3}, "both": {L1: .3, L2: .5}} {
		last := math.Inf(1)
		opt.Progress = func(p Progress) bool {
			if p.Objective > last+1e-9 {
				t.Errorf("%s: iteration %d: objective rose from %v to %v", name, p.Iteration, last, p.Objective)
			}
			last = p.Objective
			weights[name] = p.Weights
			return true
		}
		trained(t, opt)
	}
	if weights["L1"]*3 > weights["L2"] {
		t.Errorf("weights that are not zero: %v", weights)
	}
}

// At its end OWL-QN stands where no direction leads down: the conditions of a
// minimum with a 1-norm.
func TestElasticNetOptimum(t *testing.T) {
	c := toyCorpus(t, pipeline.BIO, toyTemplate, 40, 4)
	o := newObjective(c, TrainOptions{})
	m := newMinimizer(o.size(), o.evaluate, .4, .2, 6, 1)
	m.start()
	for range 300 {
		if !m.step() {
			break
		}
	}
	if norm := math.Sqrt(m.dot(m.pseudo, m.pseudo)); norm > 1e-2 {
		t.Errorf("steepest descent at the end is %v", norm)
	}
}

func TestModelFile(t *testing.T) {
	m := trained(t, TrainOptions{About: tagger.Header{Name: "toy", Fingerprints: map[string]string{"patterns": "p1"},
		RecallDial: []tagger.DialPoint{{Recall: .9, Precision: .95}, {Recall: .99, Bias: 2, Precision: .8}}}})
	var a, b bytes.Buffer
	if err := m.Write(&a); err != nil {
		t.Fatal(err)
	}
	if err := trained(t, TrainOptions{Workers: 2, About: m.Header()}).Write(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Error("two trainings, with one worker and two, gave two files")
	}
	f, err := modelfile.Parse(a.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	got, err := Load(f, toyResources())
	if err != nil {
		t.Fatal(err)
	}
	notes := toyNotes(t, m.TagSet(), 40, 7)
	if x, y := accuracy(t, m, notes), accuracy(t, got, notes); x != y {
		t.Errorf("accuracy %v, after loading %v", x, y)
	}
	h := got.Header()
	if h.Name != "toy" || h.Fingerprints["gazetteer"] != "4d" || h.Fingerprints["patterns"] != "p1" || h.Training.Tokens == 0 {
		t.Errorf("header %+v", h)
	}
	if p, err := h.Bias(.95, 0); err != nil || p.Bias != 2 {
		t.Errorf("bias %v, %v", p, err)
	}
	if _, err := h.Bias(.999, 0); err == nil {
		t.Error("a recall that the dial does not reach: no error")
	}
	if _, err := Load(f, features.Resources{}); err == nil {
		t.Error("without the word lists: no error")
	}
}

// A file that is sound as a file but not as a model gives errors, no panics.
func TestLoadDamaged(t *testing.T) {
	m := trained(t, TrainOptions{})
	var good bytes.Buffer
	if err := m.Write(&good); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Parse(good.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.Sections() {
		for _, data := range [][]byte{nil, s.Data[:len(s.Data)/2&^3], append(slices.Clone(s.Data), s.Data...), bytes.Repeat([]byte{0xFF}, len(s.Data))} {
			sections := slices.Clone(f.Sections())
			sections[i].Data = data
			var bad bytes.Buffer
			if err := modelfile.Write(&bad, m.Header(), sections...); err != nil {
				t.Fatal(err)
			}
			bf, err := modelfile.Parse(bad.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			broken, err := Load(bf, toyResources())
			if err != nil {
				continue
			}
			accuracy(t, broken, toyNotes(t, m.TagSet(), 5, 1)) // must not panic
			if s.Name != "key" {
				t.Errorf("section %q with %d for %d bytes: no error", s.Name, len(data), len(s.Data))
			}
		}
	}
}

// A cache of any size gives the same tags and the same confidence, bit for
// bit.
func TestCacheChangesNothing(t *testing.T) {
	m := trained(t, TrainOptions{})
	large, small := m.labeller(tagger.LabelOptions{}), m.labeller(tagger.LabelOptions{CacheBytes: 1})
	for _, n := range toyNotes(t, m.TagSet(), 200, 8) {
		a, b := make([]pipeline.Tag, len(n.tokens)), make([]pipeline.Tag, len(n.tokens))
		ca, cb := large.Label(n.text, n.tokens, n.matches, a), small.Label(n.text, n.tokens, n.matches, b)
		if ca != cb || !slices.Equal(a, b) {
			t.Fatalf("confidence %v, with a small cache %v", ca, cb)
		}
	}
	asked, found := large.cache.asked, large.cache.found
	askedSmall, foundSmall := small.cache.asked, small.cache.found
	if asked != askedSmall || found < asked*9/10 || foundSmall > found {
		t.Errorf("found %d of %d, with a small cache %d of %d", found, asked, foundSmall, askedSmall)
	}
}

// Labellers of a model that ask each other for forms, and drive out what the
// others keep, tag as one alone does.
func TestSharedForms(t *testing.T) {
	m := trained(t, TrainOptions{})
	notes := toyNotes(t, m.TagSet(), 200, 8)
	alone := m.labeller(tagger.LabelOptions{})
	want := make([][]pipeline.Tag, len(notes))
	conf := make([]float32, len(notes))
	for i, n := range notes {
		want[i] = make([]pipeline.Tag, len(n.tokens))
		conf[i] = alone.Label(n.text, n.tokens, n.matches, want[i])
	}
	for _, bytes := range []int{1, 1 << 16, 4 << 20} {
		m.shared = new(shared)
		labellers := make([]*Labeller, 3)
		for i := range labellers {
			labellers[i] = m.labeller(tagger.LabelOptions{CacheBytes: bytes, Shared: true})
		}
		var all sync.WaitGroup
		for first, l := range labellers {
			all.Go(func() {
				for k := range notes {
					i := (k + 70*first) % len(notes)
					n := notes[i]
					tags := make([]pipeline.Tag, len(n.tokens))
					if c := l.Label(n.text, n.tokens, n.matches, tags); c != conf[i] || !slices.Equal(tags, want[i]) {
						t.Errorf("%d bytes, note %d: confidence %v, alone %v", bytes, i, c, conf[i])
					}
				}
			})
		}
		all.Wait()
		if all, taken := labellers[2].cache.asked, 0; bytes > 1<<20 {
			for i := range m.shared.stripes.Load() {
				taken += m.shared.stripes.Load()[i].c.asked
			}
			if taken == 0 || taken >= all {
				t.Errorf("%d forms were computed for %d tokens", taken, all)
			}
		}
	}
}

// The filter lets every known key pass, and a look-up through it finds what a
// walk through all features finds.
func TestFilter(t *testing.T) {
	m := trained(t, TrainOptions{})
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

// Confidence is what the marginals and the paths say.
func TestConfidence(t *testing.T) {
	m := trained(t, TrainOptions{})
	path, least, line := m.labeller(tagger.LabelOptions{}), m.labeller(tagger.LabelOptions{Confidence: tagger.MinMarginal}), m.labeller(tagger.LabelOptions{Confidence: tagger.LineMinimum})
	labels := m.TagSet().Len()
	for _, n := range toyNotes(t, m.TagSet(), 60, 9) {
		tags := make([]pipeline.Tag, len(n.tokens))
		p := path.Label(n.text, n.tokens, n.matches, tags)
		q := least.Label(n.text, n.tokens, n.matches, tags)
		r := line.Label(n.text, n.tokens, n.matches, tags)
		if p < 0 || p > 1 || q < p-1e-5 || r < p-1e-6 || r > q+1e-5 {
			t.Fatalf("path %v, line %v, marginal %v", p, r, q)
		}
		probs := least.Marginals(nil, n.text, n.tokens, n.matches)
		want := float32(1)
		for i, y := range tags {
			want = min(want, probs[i*labels+int(y)])
			sum := float32(0)
			for _, v := range probs[i*labels : (i+1)*labels] {
				sum += v
			}
			if math.Abs(float64(sum)-1) > 1e-4 {
				t.Fatalf("marginals add up to %v", sum)
			}
		}
		if q != want {
			t.Fatalf("min-marginal %v, marginals say %v", q, want)
		}
	}
}

// The recall dial: with a large enough bias nothing is O.
func TestBias(t *testing.T) {
	m := trained(t, TrainOptions{})
	n := toyNotes(t, m.TagSet(), 1, 10)[0]
	tags := make([]pipeline.Tag, len(n.tokens))
	last := -1
	for _, bias := range []float32{-50, 0, 3, 50} {
		m.labeller(tagger.LabelOptions{OBias: bias}).Label(n.text, n.tokens, n.matches, tags)
		masked := 0
		for _, y := range tags {
			if y != pipeline.O {
				masked++
			}
		}
		if masked < last {
			t.Errorf("bias %v masks %d tokens, a smaller one %d", bias, masked, last)
		}
		last = masked
	}
	if last != len(tags) {
		t.Errorf("a bias of 50 masks %d of %d tokens", last, len(tags))
	}
}

// A bias that is learned is the dial's that is set: same tags, same confidence.
func TestTrainBias(t *testing.T) {
	plain, biased := trained(t, TrainOptions{}), trained(t, TrainOptions{Bias: 2})
	dialled, learned := plain.labeller(tagger.LabelOptions{OBias: 2}), biased.labeller(tagger.LabelOptions{})
	others, asIs := 0, plain.labeller(tagger.LabelOptions{})
	for _, n := range toyNotes(t, plain.TagSet(), 20, 10) {
		want, got, without := make([]pipeline.Tag, len(n.tokens)), make([]pipeline.Tag, len(n.tokens)), make([]pipeline.Tag, len(n.tokens))
		p, q := dialled.Label(n.text, n.tokens, n.matches, want), learned.Label(n.text, n.tokens, n.matches, got)
		if !slices.Equal(want, got) || math.Abs(float64(p-q)) > 1e-4 {
			t.Fatalf("tags %v with confidence %v, with the dial %v with %v", got, q, want, p)
		}
		if r := asIs.Label(n.text, n.tokens, n.matches, without); math.Abs(float64(r-q)) > 1e-3 {
			others++
		}
	}
	if others == 0 {
		t.Error("a bias of 2 changes no confidence")
	}
}

// Warm start: beginning at a trained model, the objective begins where it
// ended; with another template and other tags, what is shared is taken over.
func TestWarmStart(t *testing.T) {
	m := trained(t, TrainOptions{})
	first, iterations := 0.0, 0
	begin := func(p Progress) bool {
		if p.Iteration == 0 {
			first = p.Objective
		}
		iterations = p.Iteration
		return true
	}
	var cold float64
	trained(t, TrainOptions{Progress: func(p Progress) bool { cold = p.Objective; return true }})
	trained(t, TrainOptions{Init: m, Progress: begin})
	if first > cold*1.001 || iterations > 15 {
		t.Errorf("begins at %v and takes %d iterations; a cold start ends at %v", first, iterations, cold)
	}
	other := toyCorpus(t, pipeline.BIOESU, strings.Replace(toyTemplate, "word -2..2", "word -3..1", 1), 150, 3)
	if _, err := Train(other, TrainOptions{Init: m, L2: .5, Iterations: 1, Progress: begin}); err != nil {
		t.Fatal(err)
	}
	zero := 0.0
	if _, err := Train(other, TrainOptions{L2: .5, Iterations: 1, Progress: func(p Progress) bool {
		if p.Iteration == 0 {
			zero = p.Objective
		}
		return true
	}}); err != nil {
		t.Fatal(err)
	}
	if first > zero/2 {
		t.Errorf("another scheme begins at %v, without the model at %v", first, zero)
	}
}

// Early stopping returns the model that was best on the held-out notes.
func TestEarlyStopping(t *testing.T) {
	scores := []float64{.5, .9, .8, .7, .6}
	asked := 0
	var second *Model
	m, err := Train(toyCorpus(t, pipeline.BIO, toyTemplate, 60, 3), TrainOptions{L2: .01, DevEvery: 2, Patience: 4, Delta: 1e-12, Epsilon: 1e-12,
		Dev: func(m *Model) (float64, error) {
			asked++
			if asked == 2 {
				second = m
			}
			return scores[asked-1], nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	if asked != 4 || !slices.Equal(m.weight, second.weight) {
		t.Errorf("asked %d times; the best model was not returned", asked)
	}
}

func TestTrainErrors(t *testing.T) {
	empty := NewCorpus(toyTemplateParsed(t, toyTemplate), toySet(pipeline.BIO), features.Resources{})
	if _, err := Train(empty, TrainOptions{}); err == nil {
		t.Error("no notes: no error")
	}
	if _, err := Train(toyCorpus(t, pipeline.BIO, toyTemplate, 1, 1), TrainOptions{L2: -1}); err == nil {
		t.Error("negative penalty: no error")
	}
}

// Spans that reach over a line end are cut there, so that no illegal path is
// ever taught.
func TestSpanOverLines(t *testing.T) {
	set := toySet(pipeline.BIOESU)
	n := newNote(t, set, "vista [PERSON:Marta Oliva | Serra] hoy")
	c := NewCorpus(toyTemplateParsed(t, toyTemplate), set, features.Resources{})
	if err := c.Add(n.text, n.tokens, nil, n.tags, 1); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, y := range c.tag {
		names = append(names, set.Name(pipeline.Tag(y)))
	}
	want := "O B-PERSON E-PERSON B-PERSON E-PERSON O"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("tags %s, want %s", got, want)
	}
}

// A span's probability is its own: at least that of its line's path, at most
// the marginal of its first tag, and of one line whatever the others say.
func TestSpanProbs(t *testing.T) {
	m := trained(t, TrainOptions{})
	l, silent := m.labeller(tagger.LabelOptions{SpanProbs: true}), m.labeller(tagger.LabelOptions{})
	labels, spans := m.TagSet().Len(), 0
	for _, n := range toyNotes(t, m.TagSet(), 60, 9) {
		tags := make([]pipeline.Tag, len(n.tokens))
		conf := l.Label(n.text, n.tokens, n.matches, tags)
		got := slices.Clone(l.SpanProbs())
		want := m.TagSet().Decode(nil, n.tokens, tags)
		if len(got) != len(want) {
			t.Fatalf("%d probabilities of %d spans", len(got), len(want))
		}
		marginals := l.Marginals(nil, n.text, n.tokens, n.matches)
		for i, s := range want {
			first := slices.IndexFunc(n.tokens, func(k pipeline.Token) bool { return k.Start == s.Start })
			if at := marginals[first*labels+int(tags[first])]; got[i] < conf-1e-5 || got[i] > at+1e-5 {
				t.Errorf("span %d has %v, the note %v, its first tag %v", i, got[i], conf, at)
			}
		}
		spans += len(want)
		if silent.Label(n.text, n.tokens, n.matches, tags); len(silent.SpanProbs()) != 0 {
			t.Error("nobody asked for probabilities")
		}
	}
	if spans == 0 {
		t.Error("no span was found")
	}
}

// Lines that are decided have the tags, spans and confidence of Label, the others
// the marginals of Marginals; a line that is two sequences stays open.
func TestLabelSure(t *testing.T) {
	m := trained(t, TrainOptions{})
	torn := *m
	short := *m.template
	short.MaxTokens = 2
	torn.template = &short
	labels, decided, open := m.TagSet().Len(), 0, 0
	for _, m := range []*Model{&torn, m} {
		for _, how := range []tagger.Confidence{tagger.PathProbability, tagger.LineMinimum, tagger.MinMarginal} {
			l := m.labeller(tagger.LabelOptions{SpanProbs: true, Confidence: how})
			for _, n := range toyNotes(t, m.TagSet(), 30, 9) {
				want, got := make([]pipeline.Tag, len(n.tokens)), make([]pipeline.Tag, len(n.tokens))
				conf := l.Label(n.text, n.tokens, n.matches, want)
				whole := slices.Clone(l.SpanProbs())
				marginals := l.Marginals(nil, n.text, n.tokens, n.matches)
				left, probs := make([]bool, len(n.tokens)), make([]float32, len(n.tokens)*labels)
				sure := l.LabelSure(n.text, n.tokens, n.matches, got, 0.8, left, probs)
				for i := range n.tokens {
					switch {
					case !left[i] && got[i] != want[i]:
						t.Fatalf("token %d: %v, not %v", i, got[i], want[i])
					case left[i] && !slices.Equal(probs[i*labels:(i+1)*labels], marginals[i*labels:(i+1)*labels]):
						t.Fatalf("token %d: other marginals", i)
					case left[i]:
						open++
					default:
						decided++
					}
				}
				if sure < conf || !slices.Contains(left, true) && (sure != conf || !slices.Equal(whole, l.SpanProbs())) {
					t.Errorf("confidence %v, of the whole note %v; spans %v and %v", sure, conf, l.SpanProbs(), whole)
				}
				if len(n.tokens) > 2 && m == &torn && isLine(n.tokens, 0, len(n.tokens)) && slices.Contains(left, false) {
					t.Error("of a line that is torn apart a part is decided")
				}
			}
		}
	}
	if decided == 0 || open == 0 {
		t.Errorf("%d tokens decided, %d open", decided, open)
	}
}

func TestNoAllocations(t *testing.T) {
	m := trained(t, TrainOptions{})
	notes := toyNotes(t, m.TagSet(), 20, 11)
	l := m.labeller(tagger.LabelOptions{SpanProbs: true})
	tags := make([]pipeline.Tag, 1000)
	run := func() {
		for _, n := range notes {
			l.Label(n.text, n.tokens, n.matches, tags[:len(n.tokens)])
		}
	}
	run()
	if n := testing.AllocsPerRun(10, run); n != 0 {
		t.Errorf("%v allocations for 20 notes", n)
	}
}

func FuzzLabel(f *testing.F) {
	m := trained(f, TrainOptions{})
	l := m.labeller(tagger.LabelOptions{CacheBytes: 1 << 14})
	f.Add("vive en Vallfosca | desde 3-4-5")
	f.Add("ñ \xff\xfe aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.ContainsAny(text, `[]\`) {
			return
		}
		n := newNote(t, m.TagSet(), text)
		if c := l.Label(n.text, n.tokens, n.matches, n.tags); !(c >= 0 && c <= 1) {
			t.Errorf("confidence %v", c)
		}
	})
}

// BenchmarkLabel times a model of 9, 19 and 45 tags on notes of the toy
// corpus, all of whose forms are in the cache: what the arithmetic costs.
// cold has no cache and pays for the features of every form.
func BenchmarkLabel(b *testing.B) {
	for _, categories := range []int{4, 9, 22} {
		set := toySet(pipeline.BIO)
		more, err := pipeline.Labels("meddocan")
		if err != nil {
			b.Fatal(err)
		}
		set.Categories = append(set.Categories, more.Categories[:categories-len(set.Categories)]...)
		c := NewCorpus(toyTemplateParsed(b, toyTemplate), set, toyResources())
		for _, n := range toyNotes(b, set, 150, 3) {
			if err := c.Add(n.text, n.tokens, n.matches, n.tags, 1); err != nil {
				b.Fatal(err)
			}
		}
		m, err := Train(c, TrainOptions{L2: .5})
		if err != nil {
			b.Fatal(err)
		}
		notes := toyNotes(b, set, 200, 12)
		for _, kind := range []struct {
			name string
			o    tagger.LabelOptions
		}{{"path", tagger.LabelOptions{}}, {"marginal", tagger.LabelOptions{Confidence: tagger.MinMarginal}}, {"cold", tagger.LabelOptions{CacheBytes: 1}}} {
			b.Run(fmt.Sprintf("%dtags/%s", set.Len(), kind.name), func(b *testing.B) { benchmarkLabel(b, m.labeller(kind.o), notes) })
		}
	}
}

func benchmarkLabel(b *testing.B, l *Labeller, notes []note) {
	tokens, bytes := 0, 0
	for _, n := range notes {
		tokens, bytes = tokens+len(n.tokens), bytes+len(n.text)
	}
	b.SetBytes(int64(bytes))
	b.ReportAllocs()
	for b.Loop() {
		for _, n := range notes {
			l.Label(n.text, n.tokens, n.matches, n.tags)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tokens), "ns/token")
}
