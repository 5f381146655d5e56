package bilstm

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gorgonia.org/gorgonia"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/bilstm/layers"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// A note of these tests is words; those in brackets are spans: [P:Ada Roca].
// All of them are invented.
type note struct {
	text   []byte
	tokens []pipeline.Token
	tags   []pipeline.Tag
}

var (
	person, place = pipeline.Category(1), pipeline.Category(2)
	tags          = &pipeline.TagSet{Categories: []pipeline.Category{person, place}}
)

func parse(text string) note {
	var n note
	inside, first := pipeline.O, true
	for line := range strings.SplitSeq(text, "\n") {
		for k, w := range strings.Fields(line) {
			if strings.HasPrefix(w, "[") {
				inside, first = map[byte]pipeline.Tag{'P': 1, 'L': 3}[w[1]], true
				w = w[3:]
			}
			word, end := strings.CutSuffix(w, "]")
			if len(n.text) > 0 {
				n.text = append(n.text, ' ')
			}
			t := pipeline.Token{Start: int32(len(n.text)), End: int32(len(n.text) + len(word))}
			if k == 0 {
				t.Flags = pipeline.LineStart | pipeline.SentenceStart
			}
			n.text = append(n.text, word...)
			n.tokens = append(n.tokens, t)
			y := inside
			if y != pipeline.O && !first {
				y++
			}
			n.tags = append(n.tags, y)
			if first = false; end {
				inside = pipeline.O
			}
		}
	}
	return n
}

var sentences = []string{
	"Acude [P:Ada Roca] con tos", "Vive en [L:Villanueva del Pardo] desde 1999", "Dolor de rodilla", "Remite el Dr. [P:Blas Soto Mena]",
	"[P:Núria] no acude a la cita", "Natural de [L:Sotoverde]", "Afebril , buen estado", "La señora [P:Roca] refiere mareo",
	"Traslado a [L:Ojuelos] con [P:Ona Pla]", "TA 120/80", "Habla con [P:Joan Pla i Roca]\nVive en [L:Pardo]", "Se pauta reposo",
	"[P:Blas] vive en [L:Ojuelos Altos]", "Control en un mes", "Avisa a [P:Carme Soto]", "De [L:Villanueva] , sin alergias",
	"Herida en la mano", "El hijo , [P:Pau Mena] , la acompaña", "Residente en [L:Castro del Pinar]", "Firma [P:Dra. Ona Pla Soto]",
}

const small = "version 1\nsequence line\nlower 0\ncapitals 0\nshape 0\nsuffix2 0\nborder -1..1\ntokennumber 0\ntokeninline 0\nlineabove 0\n"

// tiny is a variant of a size that a test can afford.
func tiny(t testing.TB, name string) (Architecture, Recipe) {
	a, r, err := Variant(name)
	if err != nil {
		t.Fatal(err)
	}
	a.Word, a.Char, a.CharUnits, a.Units = 16, 8, 8, 16
	if a.Feature > 0 {
		a.Feature = 8
	}
	if a.Window > 0 {
		a.Window = max(4, a.Window/6)
	}
	r.MinCount = 1
	return a, r
}

func corpusOf(t testing.TB, a Architecture, texts []string) *Corpus {
	t.Helper()
	template, err := features.Parse(small)
	if err != nil {
		t.Fatal(err)
	}
	c, err := NewCorpus(a, template, tags, features.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range texts {
		n := parse(s)
		if err := c.Add(n.text, n.tokens, nil, n.tags); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func fit(t testing.TB, a Architecture, r Recipe, texts []string) *Model {
	t.Helper()
	m, err := Train(corpusOf(t, a, texts), TrainOptions{Recipe: r, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// right returns how many of the notes a model tags as they are.
func right(m *Model, texts []string) (n int) {
	l := m.newLabeller(tagger.LabelOptions{})
	for _, s := range texts {
		note := parse(s)
		got := make([]pipeline.Tag, len(note.tokens))
		l.Label(note.text, note.tokens, nil, got)
		if string(asBytes(got)) == string(asBytes(note.tags)) {
			n++
		}
	}
	return n
}

func asBytes(tags []pipeline.Tag) (b []byte) {
	for _, y := range tags {
		b = append(b, byte(y))
	}
	return b
}

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
	for _, name := range Variants() {
		a, r := tiny(t, name)
		r.Epochs, r.Batch, r.Rate, r.WarmUp = 12, 4, 1e-2, 0
		if r.Solver == "sgd" {
			r.Rate, r.Epochs = 0.2, 20
		}
		var first, last float64
		_, err := Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 2, Progress: func(p Progress) bool {
			if last = p.Loss; p.Epoch == 0 {
				first = p.Loss
			}
			return true
		}})
		if err != nil || !(last < 0.6*first) {
			t.Errorf("%s: loss from %.3f to %.3f, %v", name, first, last, err)
		}
	}
	if _, _, err := Variant("gru"); err == nil {
		t.Error("an unknown network is no error")
	}
}

// shapesToTest are networks that together have every layer and objective.
func shapesToTest(t *testing.T) map[string]Architecture {
	all := map[string]Architecture{}
	for _, name := range []string{"default", "boot", "ngrid", "d-2", "b-1"} {
		all[name], _ = tiny(t, name)
	}
	two := all["default"]
	two.Layers, two.Chars = 2, "none"
	all["two layers"] = two
	bare := all["default"]
	bare.Chars, bare.Feature = "none", 0
	all["words only"] = bare
	return all
}

// TestGradients holds the gradient of every parameter, through the whole
// network and its dropout, against differences.
func TestGradients(t *testing.T) {
	for name, a := range shapesToTest(t) {
		t.Run(name, func(t *testing.T) {
			r := DefaultRecipe()
			r.MinCount, r.ClassWeights = 1, a.Objective != "path"
			tr, err := newTraining(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 3})
			if err != nil {
				t.Fatal(err)
			}
			s := &tr.shards[0]
			s.run(tr, 0, tr.c.sequences, 0.1)
			if s.err != nil {
				t.Fatal(s.err)
			}
			rng := rand.New(rand.NewPCG(4, 5))
			for i, p := range tr.network {
				for range 4 {
					checkDirection(t, s.graph, i, p, rng)
				}
			}
		})
	}
}

// checkDirection compares the derivative along a random direction of a
// parameter with a difference.
func checkDirection(t *testing.T, g *graph, i int, p *parameter, rng *rand.Rand) {
	t.Helper()
	l := &learned{parameter: p, grad: make([]float32, len(p.data)), seen: make([]bool, p.rows)}
	if _, err := g.run(); err != nil {
		t.Fatal(err)
	}
	if p.table {
		l.sumTable([]found{{g.gradient(i), g.touched(i)}})
	} else {
		copy(l.grad, g.gradient(i))
	}
	direction := make([]float32, len(p.data))
	want, was := 0.0, append([]float32(nil), p.data...)
	for k := range direction {
		direction[k] = float32(rng.NormFloat64())
		want += float64(direction[k]) * float64(l.grad[k])
	}
	const eps = 1e-3
	move := func(by float32) float64 {
		for k, d := range direction {
			p.data[k] = was[k] + by*d
		}
		loss, err := g.run()
		if err != nil {
			t.Fatal(err)
		}
		return float64(loss)
	}
	got := (move(eps) - move(-eps)) / (2 * eps)
	copy(p.data, was)
	if math.Abs(got-want) > 0.02*math.Abs(want)+0.01 {
		t.Errorf("%s: difference %.5f, gradient %.5f", p.name, got, want)
	}
}

// TestLabeller: tagging, which keeps what forms bring in, says what the
// training graph computes.
func TestLabeller(t *testing.T) {
	for name, a := range shapesToTest(t) {
		t.Run(name, func(t *testing.T) {
			r := DefaultRecipe()
			r.Epochs, r.MinCount = 2, 1
			c := corpusOf(t, a, sentences)
			m, err := Train(c, TrainOptions{Recipe: r, Seed: 5})
			if err != nil {
				t.Fatal(err)
			}
			tr, err := newTraining(c, TrainOptions{Recipe: r, Init: m})
			if err != nil {
				t.Fatal(err)
			}
			s := &tr.shards[0]
			s.feed.fill(&s.b, c.sequences, nil)
			if _, err := s.graph.run(); err != nil {
				t.Fatal(err)
			}
			scores := lastInput(s.graph)
			for _, tol := range []float64{1e-3, 0.03} { // without and with eight bits
				l := m.newLabeller(tagger.LabelOptions{CacheBytes: 1})
				if tol == 1e-3 {
					for i := range l.network.layers {
						l.network.layers[i].input, l.network.layers[i].recurrent = nil, [2]*kernels.Quantized{}
					}
				}
				for _, text := range sentences {
					n := parse(text)
					l.Defer(n.text, n.tokens, nil, nil)
				}
				at := 0
				l.each(func(w *waiting) {
					checkLattice(t, l, &s.b, scores, at, w.piece, tol)
					at++
				})
			}
		})
	}
}

// lastInput returns the scores that a graph has given to its loss.
func lastInput(g *graph) []float32 { return g.cost.Op().(*forwardOp).in[0] }

// checkLattice compares differences of scores: the lattice shifts each row.
func checkLattice(t *testing.T, l *Labeller, b *layers.Batch, scores []float32, sequence int, p piece, tol float64) {
	t.Helper()
	k := 0
	for int(b.Order[k]) != sequence {
		k++
	}
	stride := l.m.tr.Stride
	w := chain.NewWeights(tags, true)
	for i := range p.hi - p.lo {
		got, want := l.lattice.State[i*stride:], scores[(int(b.Start[i])+k)*stride:]
		for y := 1; y < tags.Len(); y++ {
			if i == 0 && w.Start[y] == chain.Forbidden {
				continue
			}
			if math.Abs(float64(got[y]-got[0]-want[y]+want[0])) > tol {
				t.Fatalf("sequence %d, token %d, tag %d: score %v over O, the graph says %v", sequence, i, y, got[y]-got[0], want[y]-want[0])
			}
		}
	}
}

// TestSameForAnyWorkers and after a pause: the weights are the same.
func TestSameForAnyWorkersAndPauses(t *testing.T) {
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
	dev := func() func(*Model) (float64, error) {
		return func(m *Model) (float64, error) { return float64(right(m, sentences)), nil }
	}
	want := weights(TrainOptions{Dev: dev()})
	if weights(TrainOptions{Workers: 2, Dev: dev()}) != want {
		t.Error("two workers give other weights than one")
	}
	var states [][]byte
	keep := func(state []byte) error {
		states = append(states, state)
		if len(states) == 3 {
			return errPause
		}
		return nil
	}
	_, err := Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 7, Dev: dev(), Keep: keep})
	if !errors.Is(err, errPause) {
		t.Fatal(err)
	}
	var behind int
	var first Progress
	if weights(TrainOptions{Dev: dev(), Resume: states[2], Resumed: func(n int) { behind = n }, Progress: func(p Progress) bool {
		if first.Step == 0 {
			first = p
		}
		return true
	}}) != want {
		t.Error("a training that was resumed gives other weights")
	}
	if first.Step != behind+1 || behind == 0 {
		t.Errorf("%d steps lie behind it, and its first is %d", behind, first.Step)
	}
	if most := len(strings.Fields(strings.Join(sentences, " "))) * 2; first.Tokens == 0 || first.Tokens > most {
		t.Errorf("its first step has %d tokens, all sentences about %d", first.Tokens, most/2)
	}
	if _, err := Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 8, Resume: states[2]}); !errors.Is(err, ErrOtherTraining) {
		t.Errorf("the state of another seed: %v", err)
	}
	if _, err := Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 7, Resume: states[2][:900]}); !errors.Is(err, modelfile.ErrDamaged) {
		t.Errorf("a cut state: %v", err)
	}
}

var errPause = errors.New("pause")

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
	m, err := Train(c, TrainOptions{Recipe: r, Init: from})
	if err != nil {
		t.Fatal(err)
	}
	was := parse("Traslado a [L:Ojuelos] con [P:Ona Pla]")
	got := make([]pipeline.Tag, len(was.tokens))
	m.newLabeller(tagger.LabelOptions{}).Label(was.text, was.tokens, nil, got)
	if want := []pipeline.Tag{0, 0, 1, 0, 3, 4}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("tags %v, want %v", got, want)
	}
	a.Units = 24
	if _, err := Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Init: from}); err == nil {
		t.Error("a network of another shape is no error")
	}
}

func TestFile(t *testing.T) {
	for name, a := range shapesToTest(t) {
		r := DefaultRecipe()
		r.Epochs, r.MinCount = 1, 1
		m := fit(t, a, r, sentences)
		data := written(t, m)
		back, err := load(data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(written(t, back), data) {
			t.Errorf("%s: read and written again it has other bytes", name)
		}
		n := parse(sentences[0])
		one := m.newLabeller(tagger.LabelOptions{}).Marginals(nil, n.text, n.tokens, nil)
		two := back.newLabeller(tagger.LabelOptions{}).Marginals(nil, n.text, n.tokens, nil)
		if fmt.Sprint(one) != fmt.Sprint(two) {
			t.Errorf("%s: it says something else when it was read back", name)
		}
	}
}

// TestFileOfNumbers: files of before have numbers where there are codes now.
func TestFileOfNumbers(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs, r.MinCount = 1, 1
	m := fit(t, a, r, sentences)
	n := parse(sentences[0])
	want := m.newLabeller(tagger.LabelOptions{}).Marginals(nil, n.text, n.tokens, nil)
	folded := 0
	for _, p := range m.network {
		if p.blocks > 0 && p.codes != nil {
			p.codes = nil
			folded++
		}
	}
	if folded != 2 {
		t.Fatalf("%d matrices were codes, not w and u", folded)
	}
	back, err := load(written(t, m))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range back.newLabeller(tagger.LabelOptions{}).Marginals(nil, n.text, n.tokens, nil) {
		if math.Abs(float64(p-want[i])) > 1e-4 {
			t.Fatalf("marginal %d: %v, want %v", i, p, want[i])
		}
	}
}

// TestFileOfEightBits: tables of files of before have eight bits a number and are read as they are; Halved makes of
// them what training writes now.
func TestFileOfEightBits(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs, r.MinCount = 1, 1
	m := fit(t, a, r, sentences)
	want := written(t, m)
	for _, p := range m.network {
		for _, b := range p.halves {
			p.codes = append(p.codes, levels[b&15], levels[b>>4])
		}
		p.halves = nil
	}
	before := written(t, m)
	if len(before) <= len(want) {
		t.Fatalf("%d bytes with eight bits a number, %d with four", len(before), len(want))
	}
	back, err := load(before)
	if err != nil {
		t.Fatal(err)
	}
	if again := written(t, back); !bytes.Equal(again, before) {
		t.Error("a file of eight bits was read and written as another")
	}
	f, err := modelfile.Parse(before)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		got, err := Halved(f)
		if err != nil || !bytes.Equal(got, want) {
			t.Fatalf("halved it has %d bytes, not those that training writes: %v", len(got), err)
		}
		if f, err = modelfile.Parse(got); err != nil {
			t.Fatal(err)
		}
	}
}

// TestHalve: no number is further from its level than half of the widest step, unless it is cut off.
func TestHalve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(rapid.Float32Range(-3, 3), 16, 16).Draw(t, "row")
		half := make([]byte, 8)
		scale := halve(half, row)
		p := &parameter{rows: 1, cols: 16, halves: half, scales: []float32{scale}}
		for i, got := range p.numbers() {
			if far := math.Abs(float64(row[i] - got)); far > 20.5*float64(scale) && math.Abs(float64(got)) < 127*float64(scale)*.999 {
				t.Fatalf("%v became %v at scale %v", row[i], got, scale)
			}
		}
	})
	if scale := halve(make([]byte, 8), make([]float32, 16)); scale != 0 {
		t.Errorf("of zeros the scale is %v", scale)
	}
}

func written(t testing.TB, m *Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(data []byte) (*Model, error) {
	f, err := modelfile.Parse(data)
	if err != nil {
		return nil, err
	}
	return Load(f, features.Resources{})
}

// TestHostileFiles: sections of any other length, a header of any other shape
// and weights that are no numbers are errors.
func TestHostileFiles(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs = 1
	data := written(t, fit(t, a, r, sentences))
	f, err := modelfile.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	rewrite := func(change func(h *header, sections []modelfile.Section)) []byte {
		var h header
		if err := f.Header(&h); err != nil {
			t.Fatal(err)
		}
		sections := append([]modelfile.Section(nil), f.Sections()...)
		change(&h, sections)
		var b bytes.Buffer
		if err := modelfile.Write(&b, h, sections...); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	bad := map[string][]byte{
		"units": rewrite(func(h *header, _ []modelfile.Section) { h.Network.Units = 1 << 40 }),
		"odd":   rewrite(func(h *header, _ []modelfile.Section) { h.Network.Word = 17 }),
		"cell":  rewrite(func(h *header, _ []modelfile.Section) { h.Network.Cell = "gru" }),
		"tags":  rewrite(func(h *header, _ []modelfile.Section) { h.Categories = append(h.Categories, "NOWHERE") }),
		"words": rewrite(func(h *header, _ []modelfile.Section) { h.Vectors = "upside down" }),
		"tmpl":  rewrite(func(h *header, _ []modelfile.Section) { h.Template = "version 9" }),
		"kind":  rewrite(func(h *header, _ []modelfile.Section) { h.Kind = "crf" }),
		"nan": rewrite(func(_ *header, s []modelfile.Section) {
			last := &s[len(s)-1]
			last.Data = modelfile.Bytes(append([]float32{float32(math.NaN())}, make([]float32, len(last.Data)/4-1)...))
		}),
	}
	for i, s := range f.Sections() {
		bad[s.Name+" short"] = rewrite(func(_ *header, s []modelfile.Section) { s[i].Data = s[i].Data[:len(s[i].Data)/16*8] })
		bad[s.Name+" gone"] = rewrite(func(_ *header, s []modelfile.Section) { s[i].Name = "other" })
	}
	for name, data := range bad {
		if _, err := load(data); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzLoad(f *testing.F) {
	a, r := tiny(f, "default")
	r.Epochs = 1
	data := written(f, fit(f, a, r, sentences[:4]))
	file, err := modelfile.Parse(data)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(file.RawHeader()), 0, 0)
	f.Fuzz(func(t *testing.T, header string, section, cut int) {
		sections := append([]modelfile.Section(nil), file.Sections()...)
		s := &sections[uint(section)%uint(len(sections))]
		s.Data = s.Data[:uint(cut)%uint(len(s.Data)+1)]
		var b bytes.Buffer
		if err := modelfile.Write(&b, rawJSON(header), sections...); err != nil {
			return
		}
		m, err := load(b.Bytes())
		if err != nil {
			return
		}
		n := parse(sentences[0])
		m.newLabeller(tagger.LabelOptions{}).Label(n.text, n.tokens, nil, make([]pipeline.Tag, len(n.tokens)))
	})
}

type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// TestPieces: overlapping windows give every token once, from the window in
// which it stands further from the border.
func TestPieces(t *testing.T) {
	template, _ := features.Parse(small)
	for _, window := range []int{0, 4, 7, 24, 48} {
		a := Architecture{Window: window}
		for n := 1; n < 120; n++ {
			tokens := make([]pipeline.Token, n)
			at := 0
			for _, p := range a.pieces(nil, template, tokens) {
				if p.from != at || p.from < p.lo || p.to > p.hi || p.to <= p.from || window > 0 && p.hi-p.lo > window {
					t.Fatalf("window %d, %d tokens: piece %v behind token %d", window, n, p, at)
				}
				at = p.to
			}
			if at != n {
				t.Fatalf("window %d: %d of %d tokens", window, at, n)
			}
		}
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

func TestConfidence(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs, r.Batch, r.Rate = 10, 4, 1e-2
	m := fit(t, a, r, sentences)
	n := parse("Acude [P:Ada Roca] con tos\nVive en [L:Pardo]")
	ask := func(o tagger.LabelOptions) float64 {
		return float64(m.NewLabeller(o).Label(n.text, n.tokens, nil, make([]pipeline.Tag, len(n.tokens))))
	}
	least, path, line := ask(tagger.LabelOptions{Confidence: tagger.MinMarginal}), ask(tagger.LabelOptions{Confidence: tagger.PathProbability}), ask(tagger.LabelOptions{Confidence: tagger.LineMinimum})
	if !(0 < path && path <= line && line <= least+1e-5 && least <= 1) {
		t.Errorf("least marginal %v, path %v, least line %v", least, path, line)
	}
	probs := m.newLabeller(tagger.LabelOptions{}).Marginals(nil, n.text, n.tokens, nil)
	for i := range n.tokens {
		sum := float32(0)
		for _, p := range probs[i*tags.Len() : (i+1)*tags.Len()] {
			sum += p
		}
		if math.Abs(float64(sum)-1) > 1e-3 {
			t.Errorf("token %d: marginals sum to %v", i, sum)
		}
	}
	wanted := make([]bool, len(n.tokens))
	for i := 5; i < len(wanted); i++ {
		wanted[i] = true
	}
	some := marginalsOf(m.newLabeller(tagger.LabelOptions{}), n, wanted)
	at := 5 * tags.Len() // the second line
	if fmt.Sprint(some[at:]) != fmt.Sprint(probs[at:]) || some[0] != 0 {
		t.Error("marginals of one line differ from those of the note")
	}
	if got := m.newLabeller(tagger.LabelOptions{}).Label(nil, nil, nil, nil); got != 1 {
		t.Errorf("an empty note has confidence %v", got)
	}
}

// Every kind of network gives each span its probability, in windows too.
func TestSpanProbs(t *testing.T) {
	for name, a := range shapesToTest(t) {
		r := DefaultRecipe()
		r.Epochs, r.MinCount = 3, 1
		m := fit(t, a, r, sentences)
		for _, bias := range []float32{0, 2, 5} { // more spans
			l := m.newLabeller(tagger.LabelOptions{SpanProbs: true, OBias: bias})
			for _, s := range append(sentences, strings.Join(sentences, "\n")) {
				n := parse(s)
				got := make([]pipeline.Tag, len(n.tokens))
				l.Label(n.text, n.tokens, nil, got)
				if want := tags.Decode(nil, n.tokens, got); len(want) != len(l.SpanProbs()) {
					t.Fatalf("%s, bias %v: %d probabilities of %d spans", name, bias, len(l.SpanProbs()), len(want))
				}
				for _, p := range l.SpanProbs() {
					if !(p >= 0 && p <= 1) {
						t.Fatalf("%s: probability %v", name, p)
					}
				}
			}
		}
	}
}

// TestBias: the recall dial takes tokens from O.
func TestBias(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs = 3
	m := fit(t, a, r, sentences)
	inside := func(bias float32) (n int) {
		l := m.newLabeller(tagger.LabelOptions{OBias: bias})
		for _, s := range sentences {
			note := parse(s)
			got := make([]pipeline.Tag, len(note.tokens))
			l.Label(note.text, note.tokens, nil, got)
			for _, y := range got {
				if y != pipeline.O {
					n++
				}
			}
		}
		return n
	}
	if none, some, all := inside(-50), inside(0), inside(50); none != 0 || all <= some {
		t.Errorf("tokens in spans: %d, %d, %d", none, some, all)
	}
}

func TestNoAllocations(t *testing.T) {
	a, r := tiny(t, "d-2")
	r.Epochs = 1
	m := fit(t, a, r, sentences)
	l := m.newLabeller(tagger.LabelOptions{})
	n := parse(strings.Join(sentences, "\n"))
	got := make([]pipeline.Tag, len(n.tokens))
	l.Label(n.text, n.tokens, nil, got)
	if allocs := testing.AllocsPerRun(20, func() { l.Label(n.text, n.tokens, nil, got) }); allocs > 1 {
		t.Errorf("%v allocations a note", allocs)
	}
}

func TestSolver(t *testing.T) {
	r := DefaultRecipe()
	for step, want := range map[int]float64{0: 3e-3 / 60, 59: 3e-3, 60: 3e-3, 530: 3e-3 * 0.51, 1000: 6e-5, 2000: 6e-5} {
		if got := r.rate(step, 1000); math.Abs(got-want) > 1e-9 {
			t.Errorf("rate at step %d: %v, want %v", step, got, want)
		}
	}
	p := &parameter{name: "w", rows: 1, cols: 8, data: make([]float32, 8)}
	l := &learned{parameter: p, grad: []float32{30, 40, 0, 0, 0, 0, 0, 0}}
	s := newSolver(&Recipe{Solver: "sgd", Rate: 0.1, Last: 1, Clip: 5}, parameters{p}, 1)
	if err := s.Step(values(l)); err != nil || math.Abs(float64(p.data[0])+0.3) > 1e-6 || math.Abs(float64(p.data[1])+0.4) > 1e-6 {
		t.Errorf("a clipped step of 0.1 moved to %v, %v", p.data, err)
	}
	l.grad[0] = float32(math.Inf(1))
	if err := s.Step(values(l)); !errors.Is(err, errGradient) {
		t.Errorf("a gradient without end: %v", err)
	}
}

// TestTables: only rows that were looked up move.
func TestTables(t *testing.T) {
	p := &parameter{name: "words", rows: 3, cols: 8, data: make([]float32, 24), table: true}
	l := &learned{parameter: p, grad: make([]float32, 24), seen: make([]bool, 3)}
	ones := bytes.Repeat([]byte{1}, 16)
	grad := make([]float32, 16)
	for i := range ones {
		grad[i] = 1
	}
	l.sumTable([]found{{grad, []int32{2, 0}}, {grad[:8], []int32{2}}})
	r := DefaultRecipe()
	if err := newSolver(&r, parameters{p}, 1).Step(values(l)); err != nil {
		t.Fatal(err)
	}
	if p.data[0] == 0 || p.data[8] != 0 || p.data[16] == 0 || l.grad[16] != 2 || l.grad[0] != 1 {
		t.Errorf("weights %v, gradient %v", p.data, l.grad)
	}
	l.sumTable([]found{{grad[:8], []int32{0}}})
	if l.grad[0] != 1 || !slices.Equal(l.rows, []int32{0}) || l.seen[2] {
		t.Errorf("what was there before is left: rows %v, gradient %v", l.rows, l.grad)
	}
}

func values(l *learned) []gorgonia.ValueGrad { return []gorgonia.ValueGrad{l} }

func BenchmarkLabel(b *testing.B) {
	a, r, _ := Variant("default")
	r.Epochs, r.MinCount = 1, 1
	m := fit(b, a, r, sentences)
	n := parse(strings.Join(append(sentences, sentences...), "\n"))
	l := m.newLabeller(tagger.LabelOptions{})
	got := make([]pipeline.Tag, len(n.tokens))
	b.ReportAllocs()
	for b.Loop() {
		l.Label(n.text, n.tokens, nil, got)
	}
	b.ReportMetric(float64(len(n.tokens))*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// BenchmarkTrain is of passes of the default network over 500 invented lines of
// 2 to 40 tokens, with the tags of 21 categories.
func BenchmarkTrain(b *testing.B) {
	a, r, _ := Variant("default")
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
			t, err := newTraining(c, TrainOptions{Recipe: r, Seed: 1, Workers: workers})
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
		l := m.newLabeller(tagger.LabelOptions{})
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

// marginalsOf returns what a labeller says of the sequences that have a wanted token:
// [tokens][tags], zeros for the others.
func marginalsOf(l *Labeller, n note, wanted []bool) []float32 {
	all := make([]float32, len(n.tokens)*tags.Len())
	l.Defer(n.text, n.tokens, nil, wanted)
	l.Deferred(func(_, from, to int, probs []float32, stride int) {
		for t := from; t < to; t++ {
			copy(all[t*tags.Len():(t+1)*tags.Len()], probs[(t-from)*stride:])
		}
	})
	return all
}

// TestDeferred: of a note that waits with many others the same is said, bit by bit, as of
// the note by itself, whatever is read together and whatever the cache forgets.
func TestDeferred(t *testing.T) {
	for name, a := range shapesToTest(t) {
		r := DefaultRecipe()
		r.Epochs, r.MinCount = 1, 1
		m := fit(t, a, r, sentences)
		one, all := m.newLabeller(tagger.LabelOptions{}), m.newLabeller(tagger.LabelOptions{})
		one.cache.make(50)
		all.cache.make(50)
		rng := rand.New(rand.NewPCG(3, 5))
		var notes []note
		for tokens := 0; tokens < 3*together; {
			var lines []string
			for range rng.IntN(40) {
				lines = append(lines, sentences[rng.IntN(len(sentences))])
			}
			notes = append(notes, parse(strings.Join(lines, "\n")))
			tokens += len(notes[len(notes)-1].tokens)
		}
		for range 2 {
			got := make([][]float32, len(notes))
			for _, n := range notes {
				all.Defer(n.text, n.tokens, nil, nil)
			}
			all.Deferred(func(note, from, to int, probs []float32, stride int) {
				for t := range to - from {
					got[note] = append(got[note], probs[t*stride:][:tags.Len()]...)
				}
			})
			for i, n := range notes {
				if want := one.Marginals(nil, n.text, n.tokens, nil); !slices.Equal(got[i], want) {
					t.Fatalf("%s: note %d of %d tokens differs", name, i, len(n.tokens))
				}
			}
		}
	}
}

// TestWanted: what is said of a wanted line is what is said of all, and nothing is
// said of tokens that nobody wants.
func TestWanted(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs, r.MinCount = 1, 1
	m := fit(t, a, r, sentences)
	l, n := m.newLabeller(tagger.LabelOptions{}), parse(strings.Join(sentences, "\n"))
	all, L := l.Marginals(nil, n.text, n.tokens, nil), m.set.Len()
	for _, token := range []int{0, len(n.tokens) / 2, len(n.tokens) - 1} {
		wanted := make([]bool, len(n.tokens))
		wanted[token] = true
		for i := token; i > 0 && n.tokens[i].Flags&pipeline.LineStart == 0; i-- {
			wanted[i-1] = true
		}
		for i := token + 1; i < len(wanted) && n.tokens[i].Flags&pipeline.LineStart == 0; i++ {
			wanted[i] = true
		}
		got := marginalsOf(l, n, wanted)
		for i, w := range wanted {
			sum := float32(0)
			for _, p := range got[i*L : (i+1)*L] {
				sum += p
			}
			if w != (math.Abs(float64(sum)-1) < 1e-3) {
				t.Errorf("token %d, wanted %v: probabilities sum to %v", i, w, sum)
			}
		}
		one := make([]bool, len(n.tokens)) // a run within a line
		one[token] = true
		if alone := marginalsOf(l, n, one); slices.Equal(alone, got) || alone[token*L] == 0 {
			t.Errorf("token %d: a run is read by itself", token)
		}
		if !slices.Equal(got[token*L:(token+1)*L], all[token*L:(token+1)*L]) {
			t.Errorf("token %d: %v, with all %v", token, got[token*L:(token+1)*L], all[token*L:(token+1)*L])
		}
	}
}

// Without notes to score on nothing is said of a score.
func TestSaid(t *testing.T) {
	p := Progress{Step: 5, Loss: 1.5, Tokens: 100, Seconds: 10}
	if got := p.said(); got != "10 tokens/s, loss 1.50, epoch 1" {
		t.Error(got)
	}
	p.Dev = 0.5
	if got := p.said(); got != "10 tokens/s, dev F1 0.5000, loss 1.50, epoch 1" {
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
		if w == unknown {
			blind++
		}
		if open.Word[i] == unknown {
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
	if v.word([]byte("roca")) == unknown || v.word([]byte("mejora")) != unknown {
		t.Errorf("roca is %d, mejora %d", v.word([]byte("roca")), v.word([]byte("mejora")))
	}
}
