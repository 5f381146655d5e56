package bilstm_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// drawn is a model of an architecture whose numbers are drawn: what it says hangs on all of them.
func drawn(t *testing.T, a bilstm.Architecture, set *pipeline.TagSet) *bilstm.Model {
	t.Helper()
	template, err := features.Parse(small)
	if err != nil {
		t.Fatal(err)
	}
	v := bilstm.NewVocabulary(nil)
	e := features.New(template, features.Resources{})
	for _, s := range sentences[:12] { // of the others some words and letters are not known
		n := parse(s)
		e.Note(n.text, n.tokens, nil)
		for _, token := range n.tokens {
			form := n.text[token.Start:token.End]
			v.AddWord(string(bilstm.Lower(nil, form)))
			for _, f := range e.Form(form) {
				if a.Feature > 0 {
					v.Features.Add(f.Key)
				}
			}
			for _, r := range string(form) {
				v.AddChar(r)
			}
		}
		for lo := 0; lo < len(n.tokens) && a.Feature > 0; {
			hi := template.Next(n.tokens, lo)
			for _, m := range e.Marks(lo, hi) {
				v.Features.Add(m.Key)
			}
			lo = hi
		}
	}
	ps := bilstm.Shapes(a, len(v.Words)+1, v.Features.Len()+1, len(v.Chars)+2, kernels.Pad(set.Len()))
	rng := rand.New(rand.NewPCG(7, uint64(len(ps))))
	for _, p := range ps {
		p.Data = make([]float32, p.Rows*p.Cols)
		size := 2 / math.Sqrt(float64(p.Rows))
		if p.Table || p.Name == "chars" || p.Name == "pairs" || p.Rows == 1 {
			size = 1
		}
		if p.Name == "output" {
			size = 2
		}
		for i := range p.Data {
			p.Data[i] = float32(size * (2*rng.Float64() - 1))
		}
	}
	m, err := bilstm.New(bilstm.Header{Network: a}, template, set, features.Resources{}, v, ps)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// slow is the network as the papers write it, in one precision and without anything that makes it fast.
type slow struct {
	m        *bilstm.Model
	a        bilstm.Architecture
	v        *bilstm.Vocabulary
	template *features.Template
	extract  *features.Extractor
}

func newSlow(t *testing.T, m *bilstm.Model) *slow {
	template, err := features.Parse(small)
	if err != nil {
		t.Fatal(err)
	}
	return &slow{m, m.Architecture(), m.Vocabulary(), template, features.New(template, m.Resources())}
}

func (s *slow) row(name string, i int) []float64 {
	p := s.m.Parameters().Named(name)
	if p == nil {
		return nil
	}
	var row []float64
	for _, x := range p.Numbers()[i*p.Cols:][:p.Cols] {
		row = append(row, float64(x))
	}
	return row
}

func plus(a, b []float64, times float64) {
	for i, x := range b {
		a[i] += times * x
	}
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// layer reads rows in both directions: a row each, what the two say side by side.
func (s *slow) layer(name string, units int, in [][]float64) [][]float64 {
	out := make([][]float64, len(in))
	for i := range out {
		out[i] = make([]float64, 2*units)
	}
	g := s.a.Gates()
	for direction := range 2 {
		h, c := make([]float64, units), make([]float64, units)
		for k := range in {
			at := k
			if direction == 1 {
				at = len(in) - 1 - k
			}
			gates := s.row("b"+name, 0)[direction*g*units:][:g*units]
			for j, x := range in[at] {
				plus(gates, s.row("w"+name, j)[direction*g*units:][:g*units], x)
			}
			for j, x := range h {
				plus(gates, s.row("u"+name, direction*units+j), x)
			}
			if s.a.Cell == "coupled" {
				for j, x := range c {
					plus(gates, s.row("v"+name, direction*units+j), x)
				}
			}
			for j := range units {
				switch i := sigmoid(gates[j]); s.a.Cell {
				case "coupled":
					c[j] = (1-i)*c[j] + i*math.Tanh(gates[2*units+j])
					h[j] = sigmoid(gates[units+j]) * math.Tanh(c[j])
				default:
					c[j] = sigmoid(gates[units+j])*c[j] + i*math.Tanh(gates[2*units+j])
					h[j] = sigmoid(gates[3*units+j]) * math.Tanh(c[j])
				}
			}
			copy(out[at][direction*units:], h)
		}
	}
	return out
}

// characters is the vector of the characters of a token.
func (s *slow) characters(numbers []int32) []float64 {
	switch s.a.Chars {
	case "cnn":
		var most []float64
		for i := range numbers {
			at := s.row("filterbias", 0)
			for j := range 3 {
				for k, x := range s.row("chars", int(bilstm.Around(numbers, i+j-1))) {
					plus(at, s.row("filters", j*s.a.Char+k), x)
				}
			}
			if most == nil {
				most = make([]float64, len(at)) // nothing is less than 0
			}
			for j, x := range at {
				most[j] = max(most[j], x)
			}
		}
		return most
	case "lstm":
		var in [][]float64
		for _, c := range numbers {
			in = append(in, s.row("chars", int(c)))
		}
		out := s.layer("c", s.a.CharUnits, in)
		return slices.Concat(out[len(out)-1][:s.a.CharUnits], out[0][s.a.CharUnits:])
	}
	return nil
}

// marginals are the probabilities of the tags of each token of a note, and the logarithm of what the path of tags has of all of its piece.
func (s *slow) marginals(n note) (all [][]float64) {
	vectors := make([][]float64, len(n.tokens))
	s.extract.Note(n.text, n.tokens, nil)
	for i, token := range n.tokens {
		form := n.text[token.Start:token.End]
		vectors[i] = s.row("words", int(s.v.Word(form)))
		vectors[i] = append(vectors[i], s.characters(s.v.AppendChars(nil, s.a.AppendKey(nil, n.text, n.tokens, i)))...)
		if s.a.Feature > 0 {
			sum := make([]float64, s.a.Feature)
			for _, f := range s.v.AppendFeatures(nil, s.extract.Form(form)) {
				plus(sum, s.row("features", int(f.Row)), float64(f.Value))
			}
			vectors[i] = append(vectors[i], sum...)
		}
	}
	for lo := 0; lo < len(n.tokens) && s.a.Feature > 0; {
		hi := s.template.Next(n.tokens, lo)
		for _, m := range s.extract.Marks(lo, hi) {
			for _, f := range s.v.AppendFeatures(nil, []features.Feature{m.Feature}) {
				if at := lo + int(m.At); at >= lo && at < hi {
					plus(vectors[at][len(vectors[at])-s.a.Feature:], s.row("features", int(f.Row)), float64(f.Value))
				}
			}
		}
		lo = hi
	}
	for _, p := range s.a.Pieces(nil, s.template, n.tokens) {
		h := vectors[p.Lo:p.Hi]
		for l := range s.a.Layers {
			h = s.layer(string('0'+byte(l)), s.a.Units, h)
		}
		var scores [][]float64
		for _, row := range h {
			at := s.row("outputbias", 0)
			for j, x := range row {
				plus(at, s.row("output", j), x)
			}
			scores = append(scores, at)
		}
		all = append(all, s.chained(scores)[p.From-p.Lo:p.To-p.Lo]...)
	}
	return all
}

// chained are the marginals of scores: sums over all paths, from the left and from the right.
func (s *slow) chained(scores [][]float64) [][]float64 {
	set := s.m.TagSet()
	L, legal := set.Len(), chain.NewWeights(set, true)
	pair := func(i, j int) float64 {
		if legal.Score[i*L+j] == chain.Forbidden {
			return 0
		}
		if s.a.Objective == "softmax" {
			return 1
		}
		return math.Exp(s.row("pairs", i)[j])
	}
	left, right := make([][]float64, len(scores)), make([][]float64, len(scores))
	for t := range scores {
		left[t], right[len(scores)-1-t] = make([]float64, L), make([]float64, L)
		for j := range L {
			u := len(scores) - 1 - t
			if t == 0 {
				left[0][j], right[u][j] = math.Exp(float64(legal.Start[j])), math.Exp(float64(legal.End[j]))
			}
			for i := range L {
				if t > 0 {
					left[t][j] += left[t-1][i] * pair(i, j)
					right[u][j] += right[u+1][i] * pair(j, i) * math.Exp(scores[u+1][i])
				}
			}
			left[t][j] *= math.Exp(scores[t][j])
		}
	}
	for t := range scores {
		sum := 0.0
		for j := range L {
			left[t][j] *= right[t][j]
			sum += left[t][j]
		}
		for j := range L {
			left[t][j] /= sum
		}
	}
	return left
}

// TestSlow compares what a labeller says, with eight bits a number, side by side and from its cache, with the network as it is written down.
func TestSlow(t *testing.T) {
	n := parse(strings.Join(append(slices.Clone(sentences[8:]), "Ángela ACUDE sin xyz, incontrovertiblementeyconmuchasletrasdemásqueunapalabratiene"), "\n"))
	single := &pipeline.TagSet{Categories: tags.Categories, Scheme: pipeline.BIOESU}
	for name, a := range shapesToTest(t) {
		for _, set := range []*pipeline.TagSet{tags, single} {
			m := drawn(t, a, set)
			want, L := newSlow(t, m).marginals(n), set.Len()
			got := labeller(m, tagger.LabelOptions{}).Marginals(nil, n.text, n.tokens, nil)
			worst, sum := 0.0, 0.0
			for i := range n.tokens {
				for y := range L {
					d := math.Abs(float64(got[i*L+y]) - want[i][y])
					worst, sum = max(worst, d), sum+d
				}
			}
			if mean := sum / float64(len(got)); worst > .03 || mean > .003 {
				t.Errorf("%s, %v: marginals are off by %.3f, and by %.4f in the mean", name, set, worst, mean)
			}
		}
	}
}

// TestShape: what a network is made of follows from its architecture, and what is impossible is said.
func TestShape(t *testing.T) {
	for name, want := range map[string][]int{ // gates, numbers of characters, of a token, units, layers, window
		"default": {4, 48, 104 + 48 + 64, 104, 1, 0}, "boot": {4, 64, 104 + 64 + 8, 64, 1, 24}, "fhu": {4, 64, 104 + 64 + 8, 32, 1, 24},
		"ls": {4, 64, 104 + 64 + 8, 64, 1, 48}, "ngrid": {3, 64, 104 + 64 + 16, 64, 1, 0}, "a-1": {4, 64, 104 + 64, 104, 1, 0}, "c-1": {4, 64, 104 + 64 + 8, 104, 1, 0},
	} {
		a, _, err := bilstm.Variant(name)
		if got := []int{a.Gates(), a.CharWidth(), a.Input(), a.Units, a.Layers, a.Window}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v, %v", name, got, want, err)
		}
	}
	if _, _, err := bilstm.Variant("none"); err == nil || !strings.Contains(err.Error(), "a-1, b-1, boot, c-1, d-2, default, fhu, ls, ngrid") {
		t.Error(err)
	}
	for says, change := range map[string]func(a *bilstm.Architecture){
		"": func(a *bilstm.Architecture) {
			a.Word, a.Units, a.Char, a.CharUnits, a.Feature, a.Layers, a.Window = 8, 8, 8, 8, 0, 2, 4
		},
		"word: 0":           func(a *bilstm.Architecture) { a.Word = 0 },
		"units: 12":         func(a *bilstm.Architecture) { a.Units = 12 },
		"units: 4104":       func(a *bilstm.Architecture) { a.Units = 4104 },
		"feature: -8":       func(a *bilstm.Architecture) { a.Feature = -8 },
		"layers: 3":         func(a *bilstm.Architecture) { a.Layers = 3 },
		"layers: 0":         func(a *bilstm.Architecture) { a.Layers = 0 },
		"window: 3":         func(a *bilstm.Architecture) { a.Window = 3 },
		"window: -1":        func(a *bilstm.Architecture) { a.Window = -1 },
		"window: 65537":     func(a *bilstm.Architecture) { a.Window = 65537 },
		`chars: "gru"`:      func(a *bilstm.Architecture) { a.Chars = "gru" },
		`cell: ""`:          func(a *bilstm.Architecture) { a.Cell = "" },
		`objective: "none"`: func(a *bilstm.Architecture) { a.Objective = "none" },
	} {
		a := bilstm.Default()
		change(&a)
		switch err := a.Check(); {
		case says == "" && err != nil, says != "" && (err == nil || !strings.HasPrefix(err.Error(), says)):
			t.Errorf("%q: %v", says, err)
		}
	}
	for _, n := range []int{4096, 65536} {
		a := bilstm.Default()
		if a.Units = min(n, 4096); n > 4096 {
			a.Window = n
		}
		if err := a.Check(); err != nil {
			t.Error(err)
		}
	}
}

// TestRates: the rate rises in a line to the full one, and falls in a line to the share that is left.
func TestRates(t *testing.T) {
	r := bilstm.Recipe{Rate: 10, WarmUp: 4, Last: .2}
	for step, want := range map[int]float64{0: 2.5, 1: 5, 3: 10, 4: 10, 9: 6, 14: 2, 99: 2} {
		if got := r.RateAt(step, 14); math.Abs(got-want) > 1e-12 {
			t.Errorf("step %d: %v, want %v", step, got, want)
		}
	}
	flat := bilstm.Recipe{Rate: 3, Last: 1}
	if a, b := flat.RateAt(0, 0), flat.RateAt(7, 8); a != 3 || b != 3 {
		t.Error(a, b)
	}
}

// TestSpelling: of a long token the first and the last twenty characters are looked at; what stands behind a token is up to three of those
// before the next.
func TestSpelling(t *testing.T) {
	v := bilstm.NewVocabulary(nil)
	for _, r := range "abc\ufffdb" {
		v.AddChar(r)
	}
	for text, want := range map[string][]int32{
		"":                      nil,
		"cab":                   {4, 2, 3},
		"aéb":                   {2, 0, 3},
		strings.Repeat("a", 40): slices.Repeat([]int32{2}, 40),
		strings.Repeat("a", 20) + "c" + strings.Repeat("b", 20): append(slices.Repeat([]int32{2}, 20), slices.Repeat([]int32{3}, 20)...),
	} {
		if got := v.AppendChars(nil, []byte(text)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	text := []byte("Ada, é  b")
	tokens := []pipeline.Token{{Start: 0, End: 3}, {Start: 3, End: 4}, {Start: 5, End: 7}, {Start: 9, End: 10}}
	for space, want := range map[bool][]string{false: {"Ada", ",", "é", "b"}, true: {"Ada\n", ",\n ", "é\n  ", "b\n"}} {
		for i, w := range want {
			if got := string((bilstm.Architecture{PostSpace: space}).AppendKey(nil, text, tokens, i)); got != w {
				t.Errorf("%q, want %q", got, w)
			}
		}
	}
	if got := string((bilstm.Architecture{PostSpace: true}).AppendKey(nil, []byte("a — .-"), []pipeline.Token{{End: 1}}, 0)); got != "a\n — " {
		t.Errorf("%q", got)
	}
	if got := string(bilstm.Lower(nil, []byte("AZ@[ÀÑñ9"))); got != "az@[àññ9" {
		t.Error(got)
	}
}

// TestPackedRows: rows of side by side sequences, the longest first.
func TestPackedRows(t *testing.T) {
	var p bilstm.Packed
	p.Pack([]int32{2, 4, 1, 2})
	if !slices.Equal(p.Order, []int32{1, 0, 3, 2}) || !slices.Equal(p.Start, []int32{0, 4, 7, 8, 9}) || p.Steps() != 4 || p.Rows() != 9 {
		t.Fatalf("%v %v", p.Order, p.Start)
	}
	for _, c := range [][6]int{{0, -1, 0, 4, 0, 0}, {1, 0, 4, 3, 0, 3}, {2, 1, 7, 1, 4, 1}, {0, 1, 0, 4, 4, 3}, {3, 4, 8, 1, 0, 0}} {
		lo, n, before, have := p.Pairs(c[0], c[1])
		if got := [4]int{lo, n, before, have}; got != [4]int(c[2:]) {
			t.Errorf("steps %d, %d: %v, want %v", c[0], c[1], got, c[2:])
		}
	}
}
