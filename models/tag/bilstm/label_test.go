package bilstm_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

func labeller(m *bilstm.Model, o tagger.LabelOptions) *bilstm.Labeller {
	return m.NewLabeller(o).(*bilstm.Labeller)
}

func TestFile(t *testing.T) {
	for name, a := range shapesToTest(t) {
		r := bilstm.DefaultRecipe()
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
		one := labeller(m, tagger.LabelOptions{}).Marginals(nil, n.text, n.tokens, nil)
		two := labeller(back, tagger.LabelOptions{}).Marginals(nil, n.text, n.tokens, nil)
		if fmt.Sprint(one) != fmt.Sprint(two) {
			t.Errorf("%s: it says something else when it was read back", name)
		}
	}
}

func written(t testing.TB, m *bilstm.Model) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func load(data []byte) (*bilstm.Model, error) {
	f, err := modelfile.Parse(data)
	if err != nil {
		return nil, err
	}
	return bilstm.Load(f, features.Resources{})
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
	rewrite := func(change func(h *bilstm.Header, sections []modelfile.Section)) []byte {
		var h bilstm.Header
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
		"units": rewrite(func(h *bilstm.Header, _ []modelfile.Section) { h.Network.Units = 1 << 40 }),
		"odd":   rewrite(func(h *bilstm.Header, _ []modelfile.Section) { h.Network.Word = 17 }),
		"cell":  rewrite(func(h *bilstm.Header, _ []modelfile.Section) { h.Network.Cell = "gru" }),
		"tags":  rewrite(func(h *bilstm.Header, _ []modelfile.Section) { h.Categories = append(h.Categories, "NOWHERE") }),
		"words": rewrite(func(h *bilstm.Header, _ []modelfile.Section) { h.Vectors = "upside down" }),
		"tmpl":  rewrite(func(h *bilstm.Header, _ []modelfile.Section) { h.Template = "version 9" }),
		"kind":  rewrite(func(h *bilstm.Header, _ []modelfile.Section) { h.Kind = "crf" }),
		"nan": rewrite(func(_ *bilstm.Header, s []modelfile.Section) {
			last := &s[len(s)-1]
			last.Data = modelfile.Bytes(append([]float32{float32(math.NaN())}, make([]float32, len(last.Data)/4-1)...))
		}),
	}
	for i, s := range f.Sections() {
		bad[s.Name+" short"] = rewrite(func(_ *bilstm.Header, s []modelfile.Section) { s[i].Data = s[i].Data[:len(s[i].Data)/16*8] })
		bad[s.Name+" gone"] = rewrite(func(_ *bilstm.Header, s []modelfile.Section) { s[i].Name = "other" })
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
		labeller(m, tagger.LabelOptions{}).Label(n.text, n.tokens, nil, make([]pipeline.Tag, len(n.tokens)))
	})
}

type rawJSON string

func (r rawJSON) MarshalJSON() ([]byte, error) { return []byte(r), nil }

// TestPieces: overlapping windows give every token once, from the window in
// which it stands further from the border.
func TestPieces(t *testing.T) {
	template, _ := features.Parse(small)
	for _, window := range []int{0, 4, 7, 24, 48} {
		a := bilstm.Architecture{Window: window}
		for n := 1; n < 120; n++ {
			tokens := make([]pipeline.Token, n)
			at := 0
			for _, p := range a.Pieces(nil, template, tokens) {
				if p.From != at || p.From < p.Lo || p.To > p.Hi || p.To <= p.From || window > 0 && p.Hi-p.Lo > window {
					t.Fatalf("window %d, %d tokens: piece %v behind token %d", window, n, p, at)
				}
				at = p.To
			}
			if at != n {
				t.Fatalf("window %d: %d of %d tokens", window, at, n)
			}
		}
	}
}

func TestConfidence(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs, r.Batch, r.Rate = 10, 4, 1e-2
	m := fit(t, a, r, sentences)
	n := parse("Acude [P:Ada Roca] con tos\nVive en [L:Pardo]")
	ask := func(o tagger.LabelOptions) float64 {
		return float64(labeller(m, o).Label(n.text, n.tokens, nil, make([]pipeline.Tag, len(n.tokens))))
	}
	path, line := ask(tagger.LabelOptions{Confidence: tagger.PathProbability}), ask(tagger.LabelOptions{Confidence: tagger.LineMinimum})
	if !(0 < path && path <= line && line <= 1) {
		t.Errorf("path %v, least line %v", path, line)
	}
	probs := labeller(m, tagger.LabelOptions{}).Marginals(nil, n.text, n.tokens, nil)
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
	some := marginalsOf(labeller(m, tagger.LabelOptions{}), n, wanted)
	at := 5 * tags.Len() // the second line
	if fmt.Sprint(some[at:]) != fmt.Sprint(probs[at:]) || some[0] != 0 {
		t.Error("marginals of one line differ from those of the note")
	}
	if got := labeller(m, tagger.LabelOptions{}).Label(nil, nil, nil, nil); got != 1 {
		t.Errorf("an empty note has confidence %v", got)
	}
}

// Every kind of network gives each span its probability, in windows too.
func TestSpanProbs(t *testing.T) {
	for name, a := range shapesToTest(t) {
		r := bilstm.DefaultRecipe()
		r.Epochs, r.MinCount = 3, 1
		m := fit(t, a, r, sentences)
		for _, bias := range []float32{0, 2, 5} { // more spans
			l := labeller(m, tagger.LabelOptions{SpanProbs: true, OBias: bias})
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
		l := labeller(m, tagger.LabelOptions{OBias: bias})
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
	l := labeller(m, tagger.LabelOptions{})
	n := parse(strings.Join(sentences, "\n"))
	got := make([]pipeline.Tag, len(n.tokens))
	l.Label(n.text, n.tokens, nil, got)
	if allocs := testing.AllocsPerRun(20, func() { l.Label(n.text, n.tokens, nil, got) }); allocs > 1 {
		t.Errorf("%v allocations a note", allocs)
	}
}

// marginalsOf returns what a labeller says of the sequences that have a wanted token:
// [tokens][tags], zeros for the others.
func marginalsOf(l *bilstm.Labeller, n note, wanted []bool) []float32 {
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
		r := bilstm.DefaultRecipe()
		r.Epochs, r.MinCount = 1, 1
		m := fit(t, a, r, sentences)
		one, all := labeller(m, tagger.LabelOptions{}), labeller(m, tagger.LabelOptions{})
		one.Room(50)
		all.Room(50)
		rng := rand.New(rand.NewPCG(3, 5))
		var notes []note
		for tokens := 0; tokens < 3*bilstm.Together; {
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
	l, n := labeller(m, tagger.LabelOptions{}), parse(strings.Join(sentences, "\n"))
	all, L := l.Marginals(nil, n.text, n.tokens, nil), m.TagSet().Len()
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

func BenchmarkLabel(b *testing.B) {
	a, r, _ := bilstm.Variant("default")
	r.Epochs, r.MinCount = 1, 1
	m := fit(b, a, r, sentences)
	n := parse(strings.Join(append(sentences, sentences...), "\n"))
	l := labeller(m, tagger.LabelOptions{})
	got := make([]pipeline.Tag, len(n.tokens))
	b.ReportAllocs()
	for b.Loop() {
		l.Label(n.text, n.tokens, nil, got)
	}
	b.ReportMetric(float64(len(n.tokens))*float64(b.N)/b.Elapsed().Seconds(), "tokens/s")
}

// TestCacheForgets: a labeller says the same whatever its cache holds, also when
// that is too small for a note.
func TestCacheForgets(t *testing.T) {
	a, r := tiny(t, "b-1")
	r.Epochs, r.MinCount = 1, 1
	m := fit(t, a, r, sentences)
	n := parse(strings.Join(sentences, "\n"))
	l := labeller(m, tagger.LabelOptions{})
	want := l.Marginals(nil, n.text, n.tokens, nil)
	for _, rows := range []int{1, 7, len(n.tokens) + 1} {
		l.Room(rows)
		for range 3 {
			if got := l.Marginals(nil, n.text, n.tokens, nil); !slices.Equal(got, want) {
				t.Fatalf("room for %d forms: other marginals", rows)
			}
		}
	}
}
