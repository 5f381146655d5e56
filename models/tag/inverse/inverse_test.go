package inverse

import (
	"bytes"
	"encoding/json"
	"io"
	"math/bits"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// tokenize cuts at blanks; ~ stands for no blank between two tokens.
func tokenize(marked string) (text []byte, tokens []pipeline.Token) {
	for i, field := range strings.Fields(marked) {
		for k, form := range strings.Split(field, "~") {
			if len(text) > 0 && k == 0 {
				text = append(text, ' ')
			}
			t := pipeline.Token{Start: int32(len(text))}
			if k > 0 {
				t.Flags |= pipeline.Glued
			}
			if i == 0 && k == 0 {
				t.Flags |= pipeline.LineStart | pipeline.SentenceStart
			}
			text = append(text, form...)
			t.End = int32(len(text))
			tokens = append(tokens, t)
		}
	}
	return text, tokens
}

func TestRules(t *testing.T) {
	words := wordsOf(t, "refiere molestias sibilancias delgado", 5, 3)
	for _, tt := range []struct{ text, want string }{
		{"refiere sibilancias molestias", "stop-word clinical common-word"},
		{"con el", "stop-word stop-word"},
		{"Paracetamol", "drug"},
		{"zyxwvu", "unlisted"},
		{"Ferran Casals", "name name"},
		{"delgado Delgado", "stop-word name"}, // the exception: small letters, and a common word
		{"enero lunes", "month weekday"},
		{"Calle", "street"},
		{"siete", "number-word"},
		{"12 34", "digits digits"},
		{"500 mg", "dose dose"},
		{"TA 120~/~80", "lab-value lab-value punctuation lab-value"},
		{"3 semanas", "duration duration"},
		{"disnea", "clinical"},
		{"L'Hospitalet de Llobregat", "place place place"},
		{"zzz~.~velum~.~es", "unlisted punctuation unlisted punctuation domain"},
		{"J .", "initial punctuation"},
	} {
		text, tokens := tokenize(tt.text)
		var got []string
		for _, l := range newRules(gazetteer.Default(), gazetteer.Names(), words).judge(nil, text, tokens) {
			got = append(got, l.String())
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%q: %q, want %q", tt.text, strings.Join(got, " "), tt.want)
		}
	}
}

// TestHouses: the word for a house in front of a masked name goes with it.
func TestHouses(t *testing.T) {
	m := modelOf(t, map[string]float32{"Robledal": 0.1, "zyxwvut": 0.1, "las": 0.1}, Strict())
	for _, tt := range []struct{ text, want string }{
		{"a l' H~. Robledal .", "H . Robledal"},
		{"a l' H~. del Robledal .", "H . del Robledal"},
		{"en el centro Robledal ,", "centro Robledal"},
		{"a Urgencias del Hospital Medico Robledal", "Hospital Medico Robledal"},
		{"el centro~. Robledal acude", "Robledal"}, // a sentence ends
		{"en el centro zyxwvut", "zyxwvut"},        // no name
		{"a l' H~. las Robledal .", "H . las Robledal"},
		{"cerca de Robledal", "Robledal"},
		{"centro de tos y fiebre de Robledal", "Robledal"},
		{"Robledal", "Robledal"},
	} {
		text, tokens := tokenize(tt.text)
		tags := make([]pipeline.Tag, len(tokens))
		l := m.labeller(tagger.LabelOptions{})
		conf := l.Label(text, tokens, nil, tags)
		var got []string
		for i, y := range tags {
			if y != pipeline.O {
				got = append(got, string(text[tokens[i].Start:tokens[i].End]))
			}
		}
		if strings.Join(got, " ") != tt.want || !(conf > 0.01) {
			t.Errorf("%q: %q, want %q, confidence %g", tt.text, strings.Join(got, " "), tt.want, conf)
		}
	}
}

// believer is a network that believes what its table says of a word's safety.
type believer struct {
	set  *pipeline.TagSet
	safe map[string]float32
	mute bool
}

func (b believer) Header() tagger.Header {
	return tagger.Header{Kind: "believer", Scheme: "BIO", Categories: []string{"PHI"}}
}
func (b believer) WithHeader(tagger.Header) tagger.Model { return b }
func (b believer) TagSet() *pipeline.TagSet              { return b.set }
func (b believer) MarshalHeader() ([]byte, error)        { return nil, nil }
func (b believer) Write(w io.Writer) error {
	return modelfile.Write(w, map[string]string{"kind": "believer"})
}
func (b believer) NewLabeller(tagger.LabelOptions) tagger.Labeller {
	if b.mute {
		return struct{ tagger.Labeller }{b}
	}
	return b
}
func (b believer) Marginals(dst []float32, text []byte, tokens []pipeline.Token, _ []pipeline.Match) []float32 {
	for _, t := range tokens {
		p, known := b.safe[string(text[t.Start:t.End])]
		if !known {
			p = 1
		}
		dst = append(dst, p, 1-p)
		dst = append(dst, make([]float32, b.set.Len()-2)...)
	}
	return dst
}
func (b believer) Label(text []byte, tokens []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) float32 {
	clear(tags)
	return 1
}

func modelOf(t testing.TB, safe map[string]float32, p Params) *Model {
	var network tagger.Model
	if safe != nil {
		network = believer{set: untyped(), safe: safe}
	}
	m, err := New(tagger.Header{Name: "test"}, gazetteer.Default(), gazetteer.Names(), nil, network)
	if err == nil {
		m, err = m.With(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// masked tags a text and writes # for each token that is masked.
func masked(m tagger.Model, marked string) string {
	text, tokens := tokenize(marked)
	tags := make([]pipeline.Tag, len(tokens))
	m.NewLabeller(tagger.LabelOptions{SpanProbs: true}).Label(text, tokens, nil, tags)
	out := ""
	for i := range tokens {
		if tags[i] != pipeline.O {
			out += "#"
		} else {
			out += "."
		}
	}
	return out
}

// TestManyCategories: a network that tells categories apart says P(safe) as one of
// a single category does (INV §4.3.4).
func TestManyCategories(t *testing.T) {
	safe := map[string]float32{"con": .85, "zyxwvu": .93}
	one := modelOf(t, safe, Strict())
	many, err := New(tagger.Header{}, gazetteer.Default(), gazetteer.Names(), nil, believer{set: &pipeline.TagSet{Scheme: pipeline.BIOESU, Categories: []pipeline.Category{1, 2}}, safe: safe})
	if err != nil {
		t.Fatal(err)
	}
	marked := "tos con zyxwvu lunes"
	if got, want := masked(many, marked), masked(one, marked); got != want || want != ".###" {
		t.Errorf("masks %s, a network of one category %s", got, want)
	}
	text, tokens := tokenize(marked)
	marginals := func(m *Model) []float32 {
		return m.NewLabeller(tagger.LabelOptions{}).(tagger.Marginals).Marginals(nil, text, tokens, nil)
	}
	if got, want := marginals(many), marginals(one); !slices.Equal(got, want) {
		t.Errorf("marginals %v, of one category %v", got, want)
	}
}

// TestThresholds: INV §4.3.5. "con" is in a safe list, "zyxwvu" in none, lunes
// is never safe.
func TestThresholds(t *testing.T) {
	strict := Strict()
	at := func(d float64) Params { p := strict; p.Dial = d; return p }
	for _, tt := range []struct {
		p    Params
		safe map[string]float32
		want string // con zyxwvu lunes
	}{
		{strict, map[string]float32{"con": .91, "zyxwvu": .96, "lunes": .999}, "..#"},
		{strict, map[string]float32{"con": .89, "zyxwvu": .94, "lunes": 1}, "###"},
		{Params{Dial: 1, Low: .9, High: .95}, map[string]float32{"con": .91, "zyxwvu": .94, "lunes": .96}, ".#."},
		{at(0.5), map[string]float32{"con": .49, "zyxwvu": .51, "lunes": .51}, "#.."},
		{at(0.25), map[string]float32{"con": .24, "zyxwvu": .26, "lunes": .26}, "#.."},
		{at(0), map[string]float32{"con": 0, "zyxwvu": 0, "lunes": 0}, "..."},
		{at(0.75), map[string]float32{"con": .71, "zyxwvu": .71, "lunes": .71}, ".##"}, // low .7, high .725
		{strict, nil, ".##"},
		{at(0.5), nil, "..#"},
		{at(0), nil, "..."},
	} {
		if got := masked(modelOf(t, tt.safe, tt.p), "con zyxwvu lunes"); got != tt.want {
			t.Errorf("%+v, safe %v: %s, want %s", tt.p, tt.safe, got, tt.want)
		}
	}
	for _, bad := range []Params{{Dial: 2, Low: .9, High: .95}, {Low: .96, High: .95}, {Low: .4, High: .9}, {Dial: 1, Low: .9, High: .95, Never: []string{"dose"}}} {
		if _, err := (&Model{}).With(bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestJoined: what stands between masked tokens without a blank goes with them.
func TestJoined(t *testing.T) {
	m := modelOf(t, map[string]float32{"Ada": 0, "puig": 0}, Strict())
	for text, want := range map[string]string{
		"Ada~.~puig": "###", "Ada~.~-~puig": "####", "Ada . puig": "#.#", "Ada~. tos": "#..", "tos~.~Ada": "..#", "Ada~.": "#.", ". .": "..",
	} {
		if got := masked(m, text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestDialIsMonotone: every token that a lower setting masks is masked by a
// higher one.
func TestDialIsMonotone(t *testing.T) {
	forms := []string{"con", "zyxwvu", "lunes", "Ada", ".", "500", "mg", "siete", "Calle"}
	rapid.Check(t, func(t *rapid.T) {
		safe := map[string]float32{}
		for _, f := range forms {
			safe[f] = rapid.Float32Range(0, 1).Draw(t, f)
		}
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(forms), 1, 12).Draw(t, "text"), rapid.SampledFrom([]string{" ", "~"}).Draw(t, "gap"))
		a, b := rapid.Float64Range(0, 1).Draw(t, "a"), rapid.Float64Range(0, 1).Draw(t, "b")
		a, b = min(a, b), max(a, b)
		lower, higher := Strict(), Strict()
		lower.Dial, higher.Dial = a, b
		m := Model{set: untyped(), lists: gazetteer.Default(), names: gazetteer.Names(), network: believer{set: untyped(), safe: safe}}
		with := func(p Params) *Model { n := m; n.header.Params = p; return &n }
		low, high := masked(with(lower), text), masked(with(higher), text)
		for i := range low {
			if low[i] == '#' && high[i] != '#' {
				t.Fatalf("%q at %v: %s, at %v: %s", text, a, low, b, high)
			}
		}
	})
}

func TestFile(t *testing.T) {
	words := wordsOf(t, "refiere molestias", 5, 3)
	m, err := New(tagger.Header{Name: "test"}, gazetteer.Default(), gazetteer.Names(), words, believer{set: untyped(), safe: map[string]float32{"tos": .2}})
	if err != nil {
		t.Fatal(err)
	}
	var b, again bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	open := func(f *modelfile.File) (tagger.Model, error) {
		if f.Kind() != "believer" {
			t.Errorf("the network's file is of kind %q", f.Kind())
		}
		return m.network, nil
	}
	f, err := modelfile.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	back, err := Load(f, gazetteer.Default(), gazetteer.Names(), open)
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Write(&again); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Errorf("written, read and written again: other bytes (%v)", err)
	}
	if got := masked(back, "tos refiere"); got != "#." {
		t.Errorf("read back it masks %s", got)
	}
	header, err := back.MarshalHeader()
	if err != nil || !strings.Contains(string(header), `"low": 0.9`) || !json.Valid(header) {
		t.Errorf("header %s, %v", header, err)
	}
	if named := back.WithHeader(tagger.Header{Name: "other"}); named.Header().Name != "other" || named.Header().Kind != Kind {
		t.Errorf("renamed %+v", named.Header())
	}

	if _, err := New(tagger.Header{}, nil, nil, nil, believer{set: untyped(), mute: true}); err == nil {
		t.Error("a network without marginals is taken")
	}
	nested := func(*modelfile.File) (tagger.Model, error) { return back, nil }
	if _, err := Load(f, gazetteer.Default(), gazetteer.Names(), nested); err == nil {
		t.Error("an inverse model in an inverse model is read")
	}
}

// TestLabelAllocatesNothing in steady state.
func TestLabelAllocatesNothing(t *testing.T) {
	text, tokens := tokenize("con zyxwvu 500 mg Ada~.~puig lunes L'Hospitalet de Llobregat")
	tags := make([]pipeline.Tag, len(tokens))
	l := modelOf(t, map[string]float32{"Ada": 0}, Strict()).NewLabeller(tagger.LabelOptions{SpanProbs: true})
	l.Label(text, tokens, nil, tags)
	if n := testing.AllocsPerRun(50, func() { l.Label(text, tokens, nil, tags) }); n > 0 {
		t.Errorf("%v allocations a note", n)
	}
}

// wordsOf is a file of some words that stand in small letters so often, with as many patients; a word of one
// patient, a number and a letter are none.
func wordsOf(t testing.TB, text string, count, patients int) *Words {
	t.Helper()
	n := uint64(64)
	slots, bands := make([]uint64, n), make([]byte, n)
	for w := range strings.FieldsSeq(text) {
		r, _ := utf8.DecodeRuneInString(w)
		if utf8.RuneCountInString(w) < 2 || !unicode.IsLower(r) || patients < 2 {
			continue
		}
		key := gazetteer.Hash([]byte(w))
		i, _ := bits.Mul64(key<<1, n)
		for slots[i] != 0 && slots[i] != key {
			i = (i + 1) % n
		}
		slots[i], bands[i] = key, Band(uint32(count), 0)
	}
	var b bytes.Buffer
	err := modelfile.Write(&b, WordsHeader{Kind: WordsKind, Name: "test"}, modelfile.Section{Name: "slot", Data: modelfile.Bytes(slots)}, modelfile.Section{Name: "band", Data: bands})
	if err != nil {
		t.Fatal(err)
	}
	words, err := OpenWords(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// FuzzWords: a file of words that was tampered with is refused, or answers.
func FuzzWords(f *testing.F) {
	f.Add(wordsOf(f, "refiere molestias sibilancias", 5, 3).Data())
	f.Add([]byte("no model"))
	f.Fuzz(func(t *testing.T, data []byte) {
		words, err := OpenWords(data)
		if err != nil {
			return
		}
		for _, form := range []string{"", "molestias", "Zyxwvut"} {
			words.Common([]byte(form))
			words.Value(nil, []byte(form))
		}
	})
}
