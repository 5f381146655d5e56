package dictionary_test

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/dictionary"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"pgregory.net/rapid"
)

// modelOf makes a model of "word positive negative archive" lines and loads it
// from its file.
func modelOf(t interface{ Fatal(...any) }, p dictionary.Params, words map[string]dictionary.Word) *dictionary.Model {
	byHash := map[uint64]dictionary.Word{}
	for form, w := range words {
		byHash[gazetteer.Hash([]byte(form))] = w
	}
	m, err := dictionary.New(dictionary.Header{Categories: []string{"PERSON"}, Params: p}, byHash)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Parse(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if m, err = dictionary.Load(f); err != nil {
		t.Fatal(err)
	}
	return m
}

// tokensOf splits at blanks; a token "/" begins a line and is left out.
func tokensOf(text string) (tokens []pipeline.Token) {
	flags, at := pipeline.LineStart, 0
	for _, w := range strings.Fields(text) {
		at += strings.Index(text[at:], w)
		if w == "/" {
			flags = pipeline.LineStart
		} else {
			tokens = append(tokens, pipeline.Token{Start: int32(at), End: int32(at + len(w)), Flags: flags})
			flags = 0
		}
		at += len(w)
	}
	return tokens
}

func tagged(m *dictionary.Model, text string) (string, float64) {
	tokens := tokensOf(text)
	tags := make([]pipeline.Tag, len(tokens))
	conf := m.NewLabeller(tagger.LabelOptions{}).Label([]byte(text), tokens, nil, tags)
	var b strings.Builder
	for _, y := range tags {
		b.WriteByte("OBI"[y])
	}
	return b.String(), float64(conf)
}

func TestCapitals(t *testing.T) {
	for form, want := range map[string]dictionary.Capitals{
		"rosa": dictionary.Lower, "Rosa": dictionary.First, "ROSA": dictionary.Upper, "McRae": dictionary.Mixed, "rOSA": dictionary.Mixed, "R": dictionary.Upper, "Ángela": dictionary.First, "ÁNGELA": dictionary.Upper,
		"12": dictionary.Lower, "": dictionary.Lower, "d'Ors": dictionary.Mixed, "L'Hospitalet": dictionary.Mixed, "O2": dictionary.Upper, "\xff": dictionary.Lower, "ñ": dictionary.Lower, "Ñ": dictionary.Upper,
	} {
		if got := dictionary.CapitalsOf([]byte(form)); got != want {
			t.Errorf("CapitalsOf(%q) = %d, want %d", form, got, want)
		}
	}
}

// TestBinary has the answers of BOOT §3.6 by hand.
func TestBinary(t *testing.T) {
	words := map[string]dictionary.Word{
		"rosa": {Positive: 1e-3, Negative: 1e-4, Archive: 1}, // a flower too
		"puig": {Positive: 1e-4, Archive: 1},
		"mar":  {Positive: 1e-6, Negative: 1e-3, Archive: 1},
	}
	for _, c := range []struct {
		params dictionary.Params
		text   string
		tags   string
		conf   float64
	}{
		{dictionary.Params{Method: dictionary.Binary}, "Sr Puig", "OB", 1},
		{dictionary.Params{Method: dictionary.Binary}, "viene Rosa Puig hoy", "OOBO", 0}, // Rosa is in both
		{dictionary.Params{Method: dictionary.Binary}, "viene hoy", "OO", 1},             // no contradiction
		{dictionary.Params{Method: dictionary.Binary}, "Puig / Puig", "BB", 1},           // another line, another name
		{dictionary.Params{Method: dictionary.Binary, MinNegative: 5e-4}, "Rosa Puig", "BI", 1},
		{dictionary.Params{Method: dictionary.Binary, MinPositive: 5e-4}, "Rosa Puig", "OO", 0},
		{dictionary.Params{Method: dictionary.Binary, MinPositive: 1e-5}, "mar", "O", 1},
	} {
		tags, conf := tagged(modelOf(t, c.params, words), c.text)
		if tags != c.tags || conf != c.conf {
			t.Errorf("%+v %q: %s %g, want %s %g", c.params, c.text, tags, conf, c.tags, c.conf)
		}
	}
}

// TestDivergence has the answers of BOOT §3.6 by hand.
func TestDivergence(t *testing.T) {
	e := math.E
	f := func(x float64) float32 { return float32(x) }
	words := map[string]dictionary.Word{
		"rosa": {Positive: f(1e-3), Archive: f(1e-3 / e)},         // div 1
		"puig": {Positive: f(1e-4), Archive: f(1e-4)},             // div 0
		"mar":  {Positive: f(1e-5), Archive: f(1e-5 * e * e * e)}, // div 3
	}
	p := dictionary.Params{Method: dictionary.Divergence, Share: 1, MinNegative: 1}
	p.Max[dictionary.First], p.Max[dictionary.Upper] = [2]float64{2, 4}, [2]float64{2, 2}
	shared := p
	shared.Share = 1 / (e * e) // names are a seventh of the words: expected two below
	for _, c := range []struct {
		params dictionary.Params
		text   string
		tags   string
		conf   float64
	}{
		{p, "viene Puig", "OB", 1},
		{p, "viene Rosa", "OB", 0.5},             // 1 - 1/2
		{p, "viene Puig Rosa", "OBI", 0.75},      // 1 - 1/4: after a name
		{p, "viene Puig Mar", "OBI", 0.25},       // 1 - 3/4
		{p, "viene Puig Rosa Mar", "OBII", 0.25}, // the least
		{p, "viene Mar", "OO", 0},                // 3 > 2, and in the lists
		{p, "Puig Mar / Mar", "BIO", 0},          // a name does not go on in the next line
		{p, "viene rosa", "OO", 0},               // no threshold for small letters
		{p, "viene", "O", 0},                     // no word of the lists: no confidence
		{shared, "viene Mar", "OO", 0},           // |-3 - 2| = 5
		{shared, "viene Rosa", "OB", 0.5},        // |1 - 2| = 1
	} {
		tags, conf := tagged(modelOf(t, c.params, words), c.text)
		if tags != c.tags || math.Abs(conf-c.conf) > 1e-6 {
			t.Errorf("%q: %s %g, want %s %g", c.text, tags, conf, c.tags, c.conf)
		}
	}
	p.MinNegative = 0
	words["puig"] = dictionary.Word{Positive: f(1e-4), Negative: f(1e-9), Archive: f(1e-4)}
	if tags, conf := tagged(modelOf(t, p, words), "viene Puig"); tags != "OO" || conf != 0 {
		t.Errorf("a word of the negative lists is a name: %s %g", tags, conf)
	}
}

// drawn is a model and notes over a few words.
func drawn(t *rapid.T) (words map[string]dictionary.Word, p dictionary.Params, text string, gold []pipeline.Span) {
	freq := rapid.SampledFrom([]float32{0, 1e-5, 1e-4, 1e-3, 1e-2})
	words = map[string]dictionary.Word{}
	for _, w := range []string{"rosa", "puig", "mar", "cruz"} {
		words[w] = dictionary.Word{Positive: freq.Draw(t, "positive"), Negative: freq.Draw(t, "negative"), Archive: max(freq.Draw(t, "archive"), 1e-6)}
	}
	limit := rapid.SampledFrom([]float64{0, 1, 3, 6})
	p = dictionary.Params{Method: rapid.SampledFrom([]dictionary.Method{dictionary.Binary, dictionary.Divergence}).Draw(t, "method"), Share: rapid.SampledFrom([]float64{1, 0.1}).Draw(t, "share"),
		MinPositive: float64(freq.Draw(t, "p")), MinNegative: float64(freq.Draw(t, "n")),
	}
	for c := range p.Max {
		p.Max[c] = [2]float64{limit.Draw(t, "max"), limit.Draw(t, "max")}
	}
	form := rapid.SampledFrom([]string{"Rosa", "rosa", "PUIG", "Puig", "Mar", "mar", "McRuz", "cruz", "hoy", "/"})
	text = strings.Join(rapid.SliceOfN(form, 1, 15).Draw(t, "text"), " ")
	tokens := tokensOf(text)
	person, _ := pipeline.ParseCategory("PERSON")
	for i := 0; i < len(tokens); i++ {
		if n := rapid.IntRange(0, 3).Draw(t, "span"); n > 0 && i+n <= len(tokens) {
			gold = append(gold, pipeline.Span{Start: tokens[i].Start, End: tokens[i+n-1].End, Category: person})
			i += n - 1
		}
	}
	return words, p, text, gold
}

// plain is the tagger as BOOT §3.6 writes it, token by token, with a map.
func plain(words map[string]dictionary.Word, p dictionary.Params, text string) (tags []pipeline.Tag, conf float64) {
	tokens := tokensOf(text)
	var all []float64
	after := false
	for _, k := range tokens {
		form := text[k.Start:k.End]
		w, known := words[strings.ToLower(form)]
		if k.Flags&pipeline.LineStart != 0 {
			after = false
		}
		in := known && w.Positive > 0 && float64(w.Positive) >= p.MinPositive
		not := known && w.Negative > 0 && float64(w.Negative) >= p.MinNegative
		name := false
		switch {
		case p.Method == dictionary.Binary && in && not:
			all = append(all, 0)
		case p.Method == dictionary.Binary && in:
			name = true
			all = append(all, 1)
		case p.Method == dictionary.Divergence && in && !not:
			limit := p.Max[dictionary.CapitalsOf([]byte(form))][0]
			if after {
				limit = p.Max[dictionary.CapitalsOf([]byte(form))][1]
			}
			c := 0.0
			if limit > 0 {
				c = 1 - math.Min(math.Abs(math.Log(float64(w.Positive)/(float64(w.Archive)/p.Share)))/limit, 1)
			}
			if c < 1e-9 { // rounding of the two ways to write a quotient
				c = 0
			}
			name = c > 0
			all = append(all, c)
		}
		tag := pipeline.O
		if name {
			tag = 1
			if after {
				tag = 2
			}
		}
		tags, after = append(tags, tag), name
	}
	if len(all) == 0 {
		return tags, map[dictionary.Method]float64{dictionary.Binary: 1, dictionary.Divergence: 0}[p.Method]
	}
	return tags, slices.Min(all)
}

func TestBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		words, p, text, _ := drawn(t)
		m := modelOf(t, p, words)
		tokens := tokensOf(text)
		if len(tokens) == 0 {
			return
		}
		want, conf := plain(words, p, text)
		got := make([]pipeline.Tag, len(tokens))
		have := m.NewLabeller(tagger.LabelOptions{}).Label([]byte(text), tokens, nil, got)
		if !slices.Equal(got, want) || math.Abs(float64(have)-conf) > 1e-6 {
			t.Fatalf("%v %g, want %v %g", got, have, want, conf)
		}
	})
}

func TestRefused(t *testing.T) {
	for name, h := range map[string]dictionary.Header{
		"method":     {Categories: []string{"PERSON"}, Params: dictionary.Params{Method: "x"}},
		"share":      {Categories: []string{"PERSON"}, Params: dictionary.Params{Method: dictionary.Divergence}},
		"threshold":  {Categories: []string{"PERSON"}, Params: dictionary.Params{Method: dictionary.Binary, MinPositive: math.NaN()}},
		"category":   {Categories: []string{"NOBODY"}, Params: dictionary.Params{Method: dictionary.Binary}},
		"categories": {Params: dictionary.Params{Method: dictionary.Binary}},
	} {
		if _, err := dictionary.New(h, nil); err == nil {
			t.Errorf("%s: not refused", name)
		}
	}
}

// FuzzModel changes the sections of a sound file, mends the checksums, and
// wants an error or tags and a confidence that can be.
func FuzzModel(f *testing.F) {
	f.Add(false, uint16(0), uint64(0), uint16(0), "viene Rosa")
	f.Add(true, uint16(4), uint64(0x7fc00000), uint16(0), "Rosa Puig")
	f.Add(false, uint16(0), uint64(1)<<63, uint16(8), "x")
	f.Fuzz(func(t *testing.T, second bool, at uint16, value uint64, cut uint16, text string) {
		m := modelOf(t, dictionary.Defaults(dictionary.Divergence), map[string]dictionary.Word{"rosa": {Positive: 1e-3, Archive: 1e-5}, "puig": {Positive: 1e-4, Archive: 1e-6}})
		var file bytes.Buffer
		if err := m.Write(&file); err != nil {
			t.Fatal(err)
		}
		sound, err := modelfile.Parse(file.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		sections := slices.Clone(sound.Sections())
		s := &sections[0]
		if second {
			s = &sections[1]
		}
		s.Data = slices.Clone(s.Data)
		for i := range 8 {
			if k := int(at) + i; k < len(s.Data) {
				s.Data[k] = byte(value >> (8 * i))
			}
		}
		s.Data = s.Data[:len(s.Data)-min(int(cut), len(s.Data))]
		var spoiled bytes.Buffer
		if err := modelfile.Write(&spoiled, m.Details(), sections...); err != nil {
			t.Fatal(err)
		}
		parsed, err := modelfile.Parse(spoiled.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if m, err = dictionary.Load(parsed); err != nil {
			return
		}
		tokens := tokensOf(text)
		tags := make([]pipeline.Tag, len(tokens))
		conf := m.NewLabeller(tagger.LabelOptions{}).Label([]byte(text), tokens, nil, tags)
		if !(conf >= 0 && conf <= 1) || slices.ContainsFunc(tags, func(y pipeline.Tag) bool { return y > 2 }) {
			t.Fatalf("confidence %g, tags %v", conf, tags)
		}
	})
}

func BenchmarkLabel(b *testing.B) {
	m := modelOf(b, dictionary.Defaults(dictionary.Divergence), map[string]dictionary.Word{"rosa": {Positive: 1e-3, Archive: 1e-5}, "puig": {Positive: 1e-4, Archive: 1e-6}})
	text := []byte("Paciente de 45 años que acude con Rosa Puig a Urgencias por dolor abdominal de dos días de evolución")
	tokens := tokensOf(string(text))
	tags := make([]pipeline.Tag, len(tokens))
	l := m.NewLabeller(tagger.LabelOptions{})
	b.ReportAllocs()
	for b.Loop() {
		l.Label(text, tokens, nil, tags)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(tokens)), "ns/token")
}
