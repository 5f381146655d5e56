package ensemble

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"pgregory.net/rapid"
)

var set = &pipeline.TagSet{Categories: []pipeline.Category{1, 2}}

// fake is a member that believes what its table says of a word, and counts how
// many tokens it was asked about.
type fake struct {
	beliefs map[string][5]float32
	asked   *int
	waits   [][]float32 // probabilities of notes that were deferred
	lines   [][][2]int
}

func (f *fake) Marginals(dst []float32, text []byte, tokens []pipeline.Token, matches []pipeline.Match) []float32 {
	return f.marginals(dst, text, tokens, nil)
}

func (f *fake) Defer(text []byte, tokens []pipeline.Token, _ []pipeline.Match, wanted []bool) {
	var runs [][2]int
	for i, w := range wanted {
		if w {
			runs = append(runs, [2]int{i, i + 1})
		}
	}
	f.waits, f.lines = append(f.waits, f.marginals(nil, text, tokens, wanted)), append(f.lines, runs)
}

func (f *fake) Deferred(do func(note, from, to int, probs []float32, stride int)) {
	for note, probs := range f.waits {
		for _, run := range f.lines[note] {
			do(note, run[0], run[1], probs[5*run[0]:], 5)
		}
	}
	f.waits, f.lines = nil, nil
}

func (f *fake) marginals(dst []float32, text []byte, tokens []pipeline.Token, wanted []bool) []float32 {
	for i, t := range tokens {
		b, known := f.beliefs[string(text[t.Start:t.End])]
		if !known {
			b = [5]float32{1}
		}
		if wanted == nil || wanted[i] {
			*f.asked++
		} else {
			b = [5]float32{}
		}
		dst = append(dst, b[:]...)
	}
	return dst
}

func (f *fake) Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	probs := f.Marginals(nil, text, tokens, matches)
	least := float32(1)
	for i := range tokens {
		best := 0
		for y, p := range probs[i*5 : i*5+5] {
			if p > probs[i*5+best] {
				best = y
			}
		}
		tags[i] = pipeline.Tag(best)
		least = min(least, probs[i*5+best])
	}
	return least
}

// fakeModel is a member's model; its file is its name.
type fakeModel struct {
	name    string
	set     *pipeline.TagSet
	beliefs map[string][5]float32
	asked   *int
	mute    bool // has no marginals
}

func (m fakeModel) Header() tagger.Header {
	return tagger.Header{Name: m.name, Kind: "fake", Scheme: m.set.Scheme.String(), Categories: []string{m.set.Categories[0].String(), m.set.Categories[1].String()}}
}
func (m fakeModel) WithHeader(tagger.Header) tagger.Model { return m }
func (m fakeModel) TagSet() *pipeline.TagSet              { return m.set }
func (m fakeModel) MarshalHeader() ([]byte, error)        { return nil, nil }

func (m fakeModel) Write(w io.Writer) error {
	return modelfile.Write(w, map[string]string{"kind": m.name})
}

func (m fakeModel) NewLabeller(tagger.LabelOptions) tagger.Labeller {
	if m.mute {
		return struct{ tagger.Labeller }{&fake{beliefs: m.beliefs, asked: m.asked}}
	}
	return &fake{beliefs: m.beliefs, asked: m.asked}
}

func member(name string, beliefs map[string][5]float32) (fakeModel, *int) {
	asked := new(int)
	return fakeModel{name: name, set: set, beliefs: beliefs, asked: asked}, asked
}

// note is words; a slash begins a line.
func note(text string) ([]byte, []pipeline.Token) {
	var out []byte
	var tokens []pipeline.Token
	flags := pipeline.LineStart
	for w := range strings.FieldsSeq(text) {
		if w == "/" {
			flags = pipeline.LineStart
			continue
		}
		tokens = append(tokens, pipeline.Token{Start: int32(len(out)), End: int32(len(out) + len(w)), Flags: flags})
		out = append(append(out, w...), ' ')
		flags = 0
	}
	return out, tokens
}

// O, B-1, I-1, B-2, I-2
var (
	sure = map[string][5]float32{"Ada": {0.1, 0.9}, "Roca": {0.1, 0, 0.9}, "Pardo": {0.45, 0.55}, "Soto": {0.6, 0, 0, 0.4}}
	far  = map[string][5]float32{"Ada": {0.2, 0.8}, "Roca": {0.6, 0, 0.4}, "Pardo": {0.1, 0, 0, 0.9}, "Soto": {0.1, 0, 0, 0.9}}
	none = map[string][5]float32{"Pardo": {0.1, 0, 0, 0.9}}
)

func TestModes(t *testing.T) {
	a, _ := member("a", sure)
	b, _ := member("b", far)
	c, _ := member("c", none)
	for _, tt := range []struct {
		mode    Mode
		members []tagger.Model
		text    string
		want    []pipeline.Tag
	}{
		{Mean, []tagger.Model{a, b}, "veo Ada Roca / en Pardo Soto", []pipeline.Tag{0, 1, 2, 0, 3, 3}},
		{Mean, []tagger.Model{a, c}, "Pardo", []pipeline.Tag{3}},
		{Priority, []tagger.Model{a, c}, "Ada Roca / Pardo", []pipeline.Tag{1, 2, 1}},
		{Priority, []tagger.Model{c, a}, "Ada Roca / Pardo", []pipeline.Tag{1, 2, 3}},
		{Priority, []tagger.Model{b, a}, "Ada Roca", []pipeline.Tag{1, 0}},
		{Priority, []tagger.Model{a, c}, "Pardo", []pipeline.Tag{1}},
		{Mean, []tagger.Model{a, b}, "", nil},
	} {
		m, err := New(tt.mode, tt.members)
		if err != nil {
			t.Fatal(err)
		}
		text, tokens := note(tt.text)
		got := make([]pipeline.Tag, len(tokens))
		conf := m.NewLabeller(tagger.LabelOptions{}).Label(text, tokens, nil, got)
		if fmt.Sprint(got) != fmt.Sprint(tt.want) && len(tokens) > 0 {
			t.Errorf("%s of %d in %q: %v, want %v", tt.mode, len(tt.members), tt.text, got, tt.want)
		}
		if !(conf > 0 && conf <= 1) {
			t.Errorf("%s: confidence %v", tt.mode, conf)
		}
	}
}

// A mean gives the probability among its own paths; members that are asked for
// spans, and know no probabilities of them, their confidence.
func TestSpanProbs(t *testing.T) {
	a, _ := member("a", sure)
	b, _ := member("b", far)
	for _, tt := range []struct {
		mode Mode
		want []float32
	}{
		{Mean, []float32{.85 * .65 / (.85*.65 + .15*.35 + .85*.35), .5*(.55) + .225}}, // Ada Roca: B I of B I, O O, B O
		{Priority, []float32{.55, .55}},
	} {
		m, err := New(tt.mode, []tagger.Model{a, b})
		if err != nil {
			t.Fatal(err)
		}
		l := m.newLabeller(tagger.LabelOptions{SpanProbs: true})
		for range 2 {
			text, tokens := note("veo Ada Roca / nada / Pardo")
			got := make([]pipeline.Tag, len(tokens))
			l.Label(text, tokens, nil, got)
			if probs := l.SpanProbs(); len(probs) != len(set.Decode(nil, tokens, got)) {
				t.Errorf("%s: %v of %v", tt.mode, probs, got)
			} else if math.Abs(float64(probs[0]-tt.want[0])) > 1e-4 {
				t.Errorf("%s: %v, want %v", tt.mode, probs, tt.want)
			}
		}
		if l.Label(nil, nil, nil, nil); len(l.SpanProbs()) != 0 {
			t.Errorf("%s: an empty note has spans", tt.mode)
		}
	}
}

// TestCascade: what the first is sure of is not asked again; with a threshold
// above 1 a cascade is the mean, with 0 its first member.
func TestCascade(t *testing.T) {
	const text = "veo Ada Roca / en Pardo Soto / nada"
	label := func(mode Mode, threshold float32) (tags []pipeline.Tag, asked int) {
		a, _ := member("a", sure)
		b, n := member("b", far)
		m, err := New(mode, []tagger.Model{a, b})
		if err != nil {
			t.Fatal(err)
		}
		m.header.Threshold = threshold
		text, tokens := note(text)
		tags = make([]pipeline.Tag, len(tokens))
		m.NewLabeller(tagger.LabelOptions{}).Label(text, tokens, nil, tags)
		return tags, *n
	}
	mean, _ := label(Mean, 0)
	for threshold, want := range map[float32]struct {
		tags  []pipeline.Tag
		asked int
	}{0: {[]pipeline.Tag{0, 1, 2, 0, 1, 0, 0}, 0}, 0.8: {mean, 3}, 2: {mean, 7}} {
		if got, asked := label(Cascade, threshold); fmt.Sprint(got) != fmt.Sprint(want.tags) || asked != want.asked {
			t.Errorf("threshold %v: %v, %d tokens asked; want %v, %d", threshold, got, asked, want.tags, want.asked)
		}
	}
}

// What the members say, times what it counts, is what the ensemble says.
func TestParts(t *testing.T) {
	for _, mode := range []Mode{Mean, Cascade} {
		for _, threshold := range []float32{0, 0.8, 2} {
			a, _ := member("a", sure)
			b, _ := member("b", far)
			m, err := New(mode, []tagger.Model{a, b})
			if err != nil {
				t.Fatal(err)
			}
			m.header.Threshold = threshold
			text, tokens := note("veo Ada Roca / en Pardo Soto / nada")
			l := m.newLabeller(tagger.LabelOptions{})
			want := l.Marginals(nil, text, tokens, nil)
			sum := make([]float32, len(want))
			parts, _ := l.Parts(text, tokens, nil)
			l.Flush(func(float32, []float32) {
				t.Errorf("%v, threshold %v: a note waits that nobody labelled", mode, threshold)
			})
			for _, p := range parts {
				for i := range p.Probs {
					sum[i] += p.Weight[i/5] * p.Probs[i]
				}
			}
			for i := range want {
				if math.Abs(float64(sum[i]-want[i])) > 1e-6 {
					t.Errorf("%v, threshold %v, token %d: the parts say %v, all %v", mode, threshold, i/5, sum[i], want[i])
				}
			}
		}
	}
}

// decides is a fake that takes lines off the hands of a cascade.
type decides struct {
	fake
	spans []float32
}

func (d *decides) SpanProbs() []float32 { return d.spans }

func (d *decides) LabelSure(text []byte, tokens []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag, sure float32, open []bool, probs []float32) float32 {
	copy(probs, d.Marginals(nil, text, tokens, nil))
	d.spans = d.spans[:0]
	x, all := newMixer(set, tagger.LabelOptions{}), float32(1)
	x.lines(probs, tokens, nil, func(lo, hi int, path []pipeline.Tag) {
		x.load(probs[lo*5:hi*5], hi-lo)
		conf := float32(x.probability(path))
		for i := lo; i < hi; i++ {
			open[i] = conf < sure
		}
		if conf < sure {
			return
		}
		all *= conf
		clear(probs[lo*5 : hi*5]) // nobody may look at them
		copy(tags[lo:hi], path)
		for range set.Decode(nil, tokens[lo:hi], path) {
			d.spans = append(d.spans, conf)
		}
	})
	return all
}

type decidingModel struct{ fakeModel }

func (m decidingModel) NewLabeller(tagger.LabelOptions) tagger.Labeller {
	return &decides{fake: fake{beliefs: m.beliefs, asked: m.asked}}
}

// TestDeciding: a cascade whose first member decides lines by itself says what
// one says whose first member only has marginals.
func TestDeciding(t *testing.T) {
	words := []string{"Ada", "Pardo", "Soto", "veo", "en", "/"} // no word that goes on in a span: what these believe is legal in any order
	rapid.Check(t, func(t *rapid.T) {
		text, tokens := note(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 12).Draw(t, "words"), " "))
		how := rapid.SampledFrom([]tagger.Confidence{tagger.PathProbability, tagger.LineMinimum}).Draw(t, "confidence")
		threshold := rapid.SampledFrom([]float32{0.3, 0.56, 0.8, 0.95, 2}).Draw(t, "threshold")
		bias := rapid.SampledFrom([]float32{0, 1}).Draw(t, "bias")
		var got [2][]pipeline.Tag
		var probs [2][]float32
		var asked [2]int
		for k := range got {
			a, _ := member("a", sure)
			b, n := member("b", far)
			first := tagger.Model(a)
			if k == 1 {
				first = decidingModel{a}
			}
			m, err := New(Cascade, []tagger.Model{first, b})
			if err != nil {
				t.Fatal(err)
			}
			m.header.Threshold = threshold
			l := m.newLabeller(tagger.LabelOptions{Confidence: how, SpanProbs: true, OBias: bias})
			got[k] = make([]pipeline.Tag, len(tokens))
			for range 2 {
				*n = 0
				if conf := l.Label(text, tokens, nil, got[k]); !(conf > 0 && conf <= 1) {
					t.Fatalf("confidence %v", conf)
				}
			}
			probs[k], asked[k] = l.SpanProbs(), *n
			if spans := set.Decode(nil, tokens, got[k]); len(spans) != len(probs[k]) {
				t.Fatalf("%d probabilities of %d spans", len(probs[k]), len(spans))
			}
		}
		if !slices.Equal(got[0], got[1]) || asked[0] != asked[1] {
			t.Fatalf("%v and %v; asked about %v tokens", got[0], got[1], asked)
		}
	})
}

func TestBias(t *testing.T) {
	a, _ := member("a", map[string][5]float32{"Ada": {0.7, 0.3}})
	b, _ := member("b", map[string][5]float32{"Ada": {0.6, 0.4}})
	m, _ := New(Mean, []tagger.Model{a, b})
	text, tokens := note("Ada")
	got := make([]pipeline.Tag, 1)
	m.NewLabeller(tagger.LabelOptions{OBias: 1}).Label(text, tokens, nil, got)
	if got[0] != 1 {
		t.Errorf("tag %v with the dial turned up", got[0])
	}
}

func trained(t testing.TB, mode Mode, members ...tagger.Model) *Model {
	t.Helper()
	m, err := New(mode, members)
	if err != nil {
		t.Fatal(err)
	}
	return m.Trained(tagger.Header{Name: "both"}, nil)
}

// TestPrecision: of two spans that overlap that of the more precise member is taken, whichever comes first.
func TestPrecision(t *testing.T) {
	a, _ := member("a", sure)
	c, _ := member("c", none)
	m, _ := New(Priority, []tagger.Model{a, c})
	text, tokens := note("Pardo")
	for want, precision := range map[pipeline.Tag][]map[string]float32{
		1: {{pipeline.Category(1).String(): .9}, {pipeline.Category(2).String(): .5}}, 3: {{pipeline.Category(1).String(): .5}, {pipeline.Category(2).String(): .9}},
	} {
		got := make([]pipeline.Tag, 1)
		if m.Trained(tagger.Header{}, precision).NewLabeller(tagger.LabelOptions{}).Label(text, tokens, nil, got); got[0] != want {
			t.Errorf("tag %v, want %v: the less precise member won", got[0], want)
		}
	}
}

func TestErrors(t *testing.T) {
	a, _ := member("a", sure)
	other := a
	other.set = &pipeline.TagSet{Categories: []pipeline.Category{2, 1}}
	mute := a
	mute.mute = true
	for _, members := range [][]tagger.Model{{a}, {a, other}, {a, mute}, make([]tagger.Model, 17)} {
		if len(members) == 17 {
			for i := range members {
				members[i] = a
			}
		}
		if _, err := New(Mean, members); err == nil {
			t.Errorf("%d members: no error", len(members))
		}
	}
}

func openFake(f *modelfile.File) (tagger.Model, error) {
	m, _ := member(f.Kind(), sure)
	return m, nil
}

func TestFile(t *testing.T) {
	a, _ := member("a", sure)
	b, _ := member("b", far)
	m := trained(t, Cascade, a, b)
	m = m.WithHeader(tagger.Header{Name: "both", Scores: map[string]float64{"strict": 0.5}}).(*Model)
	var data bytes.Buffer
	if err := m.Write(&data); err != nil {
		t.Fatal(err)
	}
	load := func(data []byte) (*Model, error) {
		f, err := modelfile.Parse(data)
		if err != nil {
			return nil, err
		}
		return Load(f, openFake)
	}
	back, err := load(data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := back.Write(&again); err != nil || !bytes.Equal(again.Bytes(), data.Bytes()) {
		t.Errorf("read and written again it has other bytes: %v", err)
	}
	for name, change := range map[string]func(h *header){
		"mode":     func(h *header) { h.Mode = "median" },
		"weights":  func(h *header) { h.Weights[0] = 9 },
		"negative": func(h *header) { h.Weights[0], h.Weights[1] = -1, 2 },
		"members":  func(h *header) { h.Members = h.Members[:1] },
		"missing":  func(h *header) { h.Members = append(h.Members, About{}); h.Weights = append(h.Weights, 0) },
		"kind":     func(h *header) { h.Kind = "crf" },
		"minus":    func(h *header) { h.Threshold = -1 },
	} {
		f, _ := modelfile.Parse(data.Bytes())
		var h header
		if err := f.Header(&h); err != nil {
			t.Fatal(err)
		}
		change(&h)
		var bad bytes.Buffer
		if err := modelfile.Write(&bad, h, f.Sections()...); err != nil {
			t.Fatal(err)
		}
		if _, err := load(bad.Bytes()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// FuzzLoad: whatever stands in the header or is missing of a member, a file is an
// ensemble or an error.
func FuzzLoad(f *testing.F) {
	a, _ := member("a", sure)
	b, _ := member("b", far)
	var data bytes.Buffer
	if err := trained(f, Cascade, a, b).Write(&data); err != nil {
		f.Fatal(err)
	}
	file, err := modelfile.Parse(data.Bytes())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(file.RawHeader()), 0, 1<<20)
	f.Add(`{"kind":"ensemble","mode":"mean","members":[{},{}],"weights":[0.5,0.5]}`, 1, 3)
	f.Fuzz(func(t *testing.T, header string, section, cut int) {
		sections := slices.Clone(file.Sections())
		s := &sections[uint(section)%uint(len(sections))]
		s.Data = s.Data[:uint(cut)%uint(len(s.Data)+1)]
		var b bytes.Buffer
		if err := modelfile.Write(&b, json.RawMessage(header), sections...); err != nil {
			return // no JSON
		}
		parsed, err := modelfile.Parse(b.Bytes())
		if err != nil {
			return
		}
		if m, err := Load(parsed, openFake); err == nil {
			m.newLabeller(tagger.LabelOptions{})
		}
	})
}

// TestSpansAreDisjoint: whatever members say, what is chosen can be written.
func TestSpansAreDisjoint(t *testing.T) {
	words := strings.Fields("a b c d e f g h")
	rapid.Check(t, func(t *rapid.T) {
		var members []tagger.Model
		for range rapid.IntRange(2, 4).Draw(t, "members") {
			beliefs := map[string][5]float32{}
			for _, w := range words {
				var b [5]float32
				b[rapid.IntRange(0, 4).Draw(t, "tag")] = 1
				beliefs[w] = b
			}
			m, _ := member("m", beliefs)
			members = append(members, m)
		}
		mode := rapid.SampledFrom([]Mode{Priority, Mean}).Draw(t, "mode")
		m, err := New(mode, members)
		if err != nil {
			t.Fatal(err)
		}
		text, tokens := note(strings.Join(words, " "))
		got := make([]pipeline.Tag, len(tokens))
		m.NewLabeller(tagger.LabelOptions{}).Label(text, tokens, nil, got)
		for i, y := range got {
			if i > 0 && !set.MayFollow(got[i-1], y) || i == 0 && !set.Starts(y) {
				t.Fatalf("%s: tags %v", mode, got)
			}
		}
	})
}

// TestShortcut: the most probable tags, where they may follow each other, are
// the path that a search over all of them finds; with and without the dial, and
// in both schemes.
func TestShortcut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		set := &pipeline.TagSet{
			Scheme:     rapid.SampledFrom([]pipeline.Scheme{pipeline.BIO, pipeline.BIOESU}).Draw(t, "scheme"),
			Categories: []pipeline.Category{1, 2},
		}
		x := newMixer(set, tagger.LabelOptions{OBias: rapid.SampledFrom([]float32{0, 1, -2}).Draw(t, "bias")})
		n, L := rapid.IntRange(1, 5).Draw(t, "tokens"), set.Len()
		probs := make([]float32, n*L)
		for i := range n {
			sum := float32(0)
			for y := range L {
				probs[i*L+y] = float32(math.Pow(rapid.Float64Range(0.01, 1).Draw(t, "p"), 6))
				sum += probs[i*L+y]
			}
			for y := range L {
				probs[i*L+y] /= sum
			}
		}
		got := slices.Clone(x.line(probs, n))
		x.load(probs, n)
		want := make([]pipeline.Tag, n)
		x.lattice.Viterbi(want)
		if a, b := x.lattice.LogScore(got), x.lattice.LogScore(want); math.Abs(a-b) > 1e-4 {
			t.Fatalf("%v has %.5f, %v has %.5f", got, a, want, b)
		}
	})
}

// Members of one kind share its weight.
func TestWeightsByKind(t *testing.T) {
	got := byKind([]About{{Kind: "crf"}, {Kind: "bilstm"}, {Kind: "bilstm"}, {Kind: "bilstm"}})
	for i, want := range []float32{1. / 2, 1. / 6, 1. / 6, 1. / 6} {
		if got[i] != want {
			t.Errorf("member %d weighs %v, want %v", i, got[i], want)
		}
	}
	if got := byKind([]About{{Kind: "crf"}, {Kind: "crf"}}); got[0] != 0.5 || got[1] != 0.5 {
		t.Errorf("two of a kind: %v", got)
	}
}

// TestWithFirst: with WithFirst(0) the others alone decide a line of which the first member of a cascade is not sure.
func TestWithFirst(t *testing.T) {
	first := map[string][5]float32{"Eva": {0.02, 0.98}, "Roca": {0.2, 0.8}, "Pardo": {0.55, 0.45}}
	others := map[string][5]float32{"Pardo": {0.1, 0.9}} // and O of all else
	a, _ := member("a", first)
	b, _ := member("b", others)
	m, err := New(Cascade, []tagger.Model{a, b})
	if err != nil {
		t.Fatal(err)
	}
	m = m.WithFirst(0)
	m.header.Threshold = 2
	text, tokens := note("veo Eva / y Roca / con Pardo")
	tags := make([]pipeline.Tag, len(tokens))
	m.NewLabeller(tagger.LabelOptions{}).Label(text, tokens, nil, tags)
	if want := []pipeline.Tag{0, 0, 0, 0, 0, 1}; !slices.Equal(tags, want) {
		t.Errorf("tags %v, want %v", tags, want)
	}
}
