package gazetteer

import (
	"bytes"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"pgregory.net/rapid"
)

func TestClasses(t *testing.T) {
	for _, c := range []struct {
		form string
		want Class // bits that must be there
	}{
		{"Montserrat", GivenName}, {"MONTSE", GivenName}, {"nuria", GivenName}, {"Núria", GivenName},
		{"García", Surname}, {"garcia", Surname}, {"Muñoz", Surname}, {"MUNOZ", Surname},
		{"Sabadell", Municipality}, {"vic", Municipality}, {"L'Hospitalet", Municipality},
		{"Barcelonès", Province}, {"Cáceres", Province | Surname}, {"Marruecos", Country},
		{"hospital", HospitalHead}, {"CAP", HospitalHead}, {"ambulatori", HospitalHead}, {"HUVH", Centre},
		{"avda.", StreetType}, {"c/", StreetType}, {"Pg.", StreetType}, {"carrer", StreetType},
		{"camarera", Profession}, {"paleta", Profession}, {"germà", Kinship}, {"madre", Kinship},
		{"abril", Month | GivenName}, {"dijous", Weekday}, {"navidad", Holiday}, {"Dra.", Title},
		{"paracetamol", Drug}, {"Sintrom", Drug}, {"lumbalgia", MedicalTerm},
		{"Parkinson", Eponym}, {"Alzheimer", Eponym}, {"Crohn", Eponym}, {"Babinski", Eponym}, {"Glasgow", Eponym},
		{"rosa", CommonWord | GivenName}, {"León", CommonWord | Surname}, {"Mar", CommonWord | GivenName},
		{"marroquí", Nationality}, {"S.L.", LegalForm}, {"universidad", InstitutionHead}, {"col·legi", InstitutionHead}, {"coŀlegi", InstitutionHead},
	} {
		if got := Default().Classes([]byte(c.form)); got&c.want != c.want {
			t.Errorf("Classes(%q) = %v, want at least %v", c.form, got, c.want)
		}
	}
	for _, form := range []string{"", "xqzt", ".", "-", strings.Repeat("a", maxForm+1), "12", "\xff"} {
		if got := Default().Classes([]byte(form)); got != 0 {
			t.Errorf("Classes(%q) = %v, want none", form, got)
		}
	}
}

// TestEveryEntryIsFound looks every shipped entry of one word up, as written
// and in other cases, and every longer one as a phrase.
func TestEveryEntryIsFound(t *testing.T) {
	g, n := Default(), 0
	for e, err := range Entries(Shipped()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		for _, form := range []string{e.Form, strings.ToUpper(e.Form), strings.ToLower(e.Form)} {
			text, tokens := tokensOf(form)
			got := entryAt(g, text, tokens, 0)
			if got.Class&e.Class == 0 || int(got.Last) != len(tokens) {
				t.Errorf("%q: class %v of %d tokens, want %v of %d", form, got.Class, got.Last, e.Class, len(tokens))
			}
		}
		if e.Frequency > 0 && !strings.ContainsAny(e.Form, " ") {
			if got := g.Frequency([]byte(e.Form)); float64(got) < 0.99*float64(e.Frequency)-1 {
				t.Errorf("Frequency(%q) = %d, want at least %d", e.Form, got, e.Frequency)
			}
		}
	}
	if n < 20000 {
		t.Errorf("%d entries, want more than 20,000", n)
	}
}

// entryAt is PhraseAt, or the class of the one word if that finds nothing.
func entryAt(g *Gazetteer, text []byte, tokens []pipeline.Token, first int) Phrase {
	if p := g.PhraseAt(text, tokens, first); p.Class != 0 {
		return p
	}
	t := tokens[first]
	return Phrase{int32(first), int32(first + 1), g.Classes(text[t.Start:t.End])}
}

// entries appends the entries of a note, left to right, the longest first.
func entries(g *Gazetteer, dst []Phrase, text []byte, tokens []pipeline.Token) []Phrase {
	for i := 0; i < len(tokens); {
		p := entryAt(g, text, tokens, i)
		if p.Class != 0 {
			dst = append(dst, p)
		}
		i = int(p.Last)
	}
	return dst
}

// tokensOf splits at white space only.
func tokensOf(text string) ([]byte, []pipeline.Token) {
	var tokens []pipeline.Token
	at := 0
	for _, w := range strings.Fields(text) {
		at += strings.Index(text[at:], w)
		tokens = append(tokens, pipeline.Token{Start: int32(at), End: int32(at + len(w))})
		at += len(w)
	}
	return []byte(text), tokens
}

func TestPhrases(t *testing.T) {
	for _, c := range []struct {
		text string // tokens are separated by blanks; the phrases stand in brackets
	}{
		{"vive en [Sant Cugat del Vallès] ara"},
		{"visita a [Sta . Coloma de Gramenet] demà"},
		{"de [L' Hospitalet de Llobregat]"},
		{"de [L HOSPITALET]"},
		{"[Vila - real]"},
		{"[c /] Xqzt 4"},
		{"[Vall d' Hebron]"},
		{"[VALLE DE HEBRON]"},
		{"[Barcelona] [Girona]"},
		{"qqq xqzt"},
		{""},
	} {
		var text []byte
		var tokens []pipeline.Token
		var want []string
		inside := false
		for _, f := range strings.Fields(c.text) {
			opens, closes := strings.HasPrefix(f, "["), strings.HasSuffix(f, "]")
			word := strings.Trim(f, "[]")
			if len(text) > 0 {
				text = append(text, ' ')
			}
			tokens = append(tokens, pipeline.Token{Start: int32(len(text)), End: int32(len(text) + len(word))})
			text = append(text, word...)
			switch {
			case opens:
				want = append(want, word)
			case inside:
				want[len(want)-1] += " " + word
			}
			inside = (inside || opens) && !closes
		}
		var got []string
		for _, p := range entries(Default(), nil, text, tokens) {
			if p.Class&^(CommonWord|Title|MedicalTerm) != 0 {
				got = append(got, string(text[tokens[p.First].Start:tokens[p.Last-1].End]))
			}
		}
		if strings.Join(got, "|") != strings.Join(want, "|") {
			t.Errorf("%q: phrases %q, want %q", text, got, want)
		}
	}
}

// TestPhrasesBruteForce compares with a search through all runs of tokens.
func TestPhrasesBruteForce(t *testing.T) {
	g, err := compile(fstest.MapFS{"a.txt": {Data: []byte("# class: Surname\na\na b\nb c d\nc\nd-a\n# class: Drug\nb\na b c\n")}})
	if err != nil {
		t.Fatal(err)
	}
	phrases := map[string]Class{"a": Surname, "a b": Surname, "b c d": Surname, "c": Surname, "d a": Surname, "b": Drug, "a b c": Drug}
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "d", "A", "é"}), 0, 12).Draw(t, "words")
		text, tokens := tokensOf(strings.Join(words, " "))
		var want []Phrase
		for i := 0; i < len(words); {
			next := i + 1
			for j := len(words); j > i; j-- {
				if c := phrases[strings.ToLower(strings.Join(words[i:j], " "))]; c != 0 {
					want = append(want, Phrase{int32(i), int32(j), c})
					next = j
					break
				}
			}
			i = next
		}
		got := entries(g, nil, text, tokens)
		if len(got) != len(want) {
			t.Fatalf("%d phrases, want %d", len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Fatalf("phrase %d: %v, want %v", i, got[i], want[i])
			}
		}
	})
}

// TestBegins: entries of several words are found where Begins holds, and
// nowhere else, whatever the case and the joints.
func TestBegins(t *testing.T) {
	g := Default()
	words := strings.Fields("Sant sant SANTA Sta . Cugat Coloma de - del Vallès l' Hospitalet la Garriga dolor Rosa Vila real San José 12 " +
		strings.Repeat("x", maxForm+1))
	rapid.Check(t, func(t *rapid.T) {
		text, tokens := tokensOf(strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 12).Draw(t, "words"), " "))
		var want, got []Phrase
		for _, p := range entries(g, nil, text, tokens) {
			if p.Last-p.First > 1 {
				want = append(want, p)
			}
		}
		for i := 0; i < len(tokens); i++ {
			if i+1 == len(tokens) || g.Begins(text[tokens[i].Start:tokens[i].End])&First(text[tokens[i+1].Start:]) == 0 {
				continue
			}
			if p := g.PhraseAt(text, tokens, i); p.Class != 0 {
				got = append(got, p)
				i = int(p.Last) - 1
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("phrases %v, want %v", got, want)
		}
	})
}

func TestPhrasesStopAtLine(t *testing.T) {
	text, tokens := tokensOf("Sant Cugat")
	tokens[1].Flags = pipeline.LineStart
	for _, p := range entries(Default(), nil, text, tokens) {
		if p.Last-p.First > 1 {
			t.Error("a phrase crosses a line start")
		}
	}
}

func TestCompileErrors(t *testing.T) {
	for want, data := range map[string]string{
		"a.txt:1: entry before":       "Ana\n",
		"a.txt:1: unknown class":      "# class: Nombre\n",
		"a.txt:2: entry longer":       "# class: Drug\n" + strings.Repeat("x", maxForm+1) + "\n",
		"a.txt:3: frequency is not":   "# class: Drug\n\nx\ty\n",
		"a.txt:2: frequency is not a": "# class: Drug\nx\t-1\n",
	} {
		_, err := compile(fstest.MapFS{"a.txt": {Data: []byte(data)}})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	a, _ := compile(fstest.MapFS{"a.txt": {Data: []byte("# class: Drug\nx\n")}})
	b, _ := compile(fstest.MapFS{"a.txt": {Data: []byte("# class: Drug\n# licence: none\nx\n")}})
	c, _ := compile(fstest.MapFS{"a.txt": {Data: []byte("# class: Drug\nx\ny\n")}})
	if a.Fingerprint() != b.Fingerprint() || a.Fingerprint() == c.Fingerprint() || a.Fingerprint() == 0 {
		t.Error("the fingerprint must follow the entries and nothing else")
	}
}

func TestClassNames(t *testing.T) {
	for i := range NumClasses() {
		c := Class(1) << i
		if got, err := ParseClass(c.String()); err != nil || got != c {
			t.Errorf("ParseClass(%q) = %v, %v", c.String(), got, err)
		}
	}
	if got := (GivenName | CommonWord).String(); got != "GivenName|CommonWord" {
		t.Errorf("String = %q", got)
	}
}

// TestHeaders asks every list for where it comes from.
func TestHeaders(t *testing.T) {
	files, err := fs.Glob(embedded, "*/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	for _, name := range files {
		text, err := embedded.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		size += len(text)
		if !utf8.Valid(text) {
			t.Errorf("%s is not UTF-8", name)
		}
		for _, key := range []string{"# class: ", "# source: ", "# version: ", "# licence: "} {
			if !bytes.Contains(text, []byte(key)) {
				t.Errorf("%s has no header %q", name, key)
			}
		}
	}
	if size > 2<<20 {
		t.Errorf("lists take %d bytes, at most 2 MiB may be embedded", size)
	}
}

// The names that rules alone ask are compiled, and are none that taggers know.
func TestNames(t *testing.T) {
	g := Names()
	for _, c := range []struct {
		name string
		want Class
	}{{"Maximiliana", GivenName}, {"anzhen", GivenName}, {"Lachgar", Surname}, {"García", 0}} {
		if got := g.Classes([]byte(c.name)); got&c.want != c.want || c.want == 0 && got != 0 {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func FuzzFold(f *testing.F) {
	for _, s := range []string{"", "Núria", "COL·LEGI", "ŀl", "ñÑçÇ", "\xc3", "\xc3\x28", "e\u0301", "Ⱥ", "Straße", "c/", "×÷"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, form []byte) {
		once := Fold(nil, form)
		if len(once) > len(form)*3/2 {
			t.Error("folding more than doubled a form")
		}
		if utf8.Valid(form) && !bytes.Equal(once, Fold(nil, bytes.ToLower(form))) {
			t.Error("folding depends on case")
		}
		if utf8.Valid(form) && !bytes.Equal(once, Fold(nil, once)) {
			t.Error("folding twice changes a form")
		}
		Default().Classes(form)
	})
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"# class: Drug\nx\t3\n", "# class: Surname\nde la Cruz\nO'Hara\n\t\n", "x", "# class: \n", "# class: Drug\n-\n/\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, list []byte) {
		g, err := compile(fstest.MapFS{"a.txt": {Data: list}})
		if err != nil {
			return
		}
		text, tokens := tokensOf(string(list))
		for _, p := range entries(g, nil, text, tokens) {
			if p.First >= p.Last || int(p.Last) > len(tokens) || p.Class == 0 {
				t.Error("bad phrase")
			}
		}
	})
}

func TestNoAllocations(t *testing.T) {
	g := Default()
	text, tokens := tokensOf("vive en Sant Cugat del Vallès con Núria Puig")
	dst := make([]Phrase, 0, 16)
	if n := testing.AllocsPerRun(100, func() {
		g.Classes([]byte("Castelló"))
		dst = entries(g, dst[:0], text, tokens)
	}); n != 0 {
		t.Errorf("%v allocations a note, want none", n)
	}
}

func BenchmarkClasses(b *testing.B) {
	forms := [][]byte{[]byte("paciente"), []byte("de"), []byte("Montserrat"), []byte("García"), []byte("xqzt"), []byte("12/3"), []byte("Castelló"), []byte("dolor")}
	g := Default()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		g.Classes(forms[i%len(forms)])
	}
}

func BenchmarkPhrases(b *testing.B) {
	text, tokens := tokensOf("Paciente de 45 años que vive en Sant Cugat del Vallès con su madre Núria Puig , control en Hospital Vall d'Hebron")
	g := Default()
	var dst []Phrase
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dst = entries(g, dst[:0], text, tokens)
	}
}

func BenchmarkCompile(b *testing.B) {
	for b.Loop() {
		if _, err := compile(Shipped()); err != nil {
			b.Fatal(err)
		}
	}
}
