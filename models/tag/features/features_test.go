package features

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

func TestParse(t *testing.T) {
	tpl, err := Parse("# what a tagger sees\nversion 1\nsequence sentence # or line\nmax-tokens 64\n\nword -3..3\nprefix3 1\npattern -1..4\nbias\n")
	if err != nil {
		t.Fatal(err)
	}
	if tpl.Sequence != Sentence || tpl.MaxTokens != 64 || len(tpl.Groups) != 4 || tpl.Lo != -3 || tpl.Hi != 4 || tpl.Margin() != 5 {
		t.Errorf("%+v", tpl)
	}
	if g := tpl.Groups[1]; g.Name != "prefix3" || g.Lo != 1 || g.Hi != 1 || !g.form() || g.Rows() != 1 {
		t.Errorf("%+v", g)
	}
	again, err := Parse(tpl.String())
	if err != nil || again.String() != tpl.String() {
		t.Errorf("%q came back as %q, %v", tpl.String(), again, err)
	}
}

// The widest window goes from the eighth token before to the eighth behind, and may begin where it ends.
func TestWidestWindow(t *testing.T) {
	for window, want := range map[string][2]int{"-8..8": {-8, 8}, "-8..-8": {-8, -8}, "8": {8, 8}, "0..0": {0, 0}} {
		tpl, err := Parse("version 1\nword " + window)
		if err != nil {
			t.Errorf("%s: %v", window, err)
			continue
		}
		if g := tpl.Groups[0]; g.Lo != want[0] || g.Hi != want[1] {
			t.Errorf("%s: %d..%d", window, g.Lo, g.Hi)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, tt := range []struct {
		text, msg string
		line      int
	}{
		{"", "no version", 1},
		{"word 0\n", "no version", 1},
		{"version 1\n", "no feature groups", 2},
		{"version 99\nword", "up to 1", 1},
		{"version one\nword", "not known", 1},
		{"version 1\nwrod -1..1", "nearest: word", 2},
		{"version 1\n\nword 2..1", "window", 3},
		{"version 1\nword -9..1", "window", 2},
		{"version 1\nword -1..9", "window", 2},
		{"version 1\nword a..b", "window", 2},
		{"version 1\nword 1..", "window", 2},
		{"version 1\nword 0\nword 1", "twice", 3},
		{"version 1\nword -1..1 now", "two words", 2},
		{"version 1\nsequence page\nword", "known: line, sentence, note", 2},
		{"version 1\nmax-tokens 3\nword", "16 to 65536", 2},
		{"version 1\nword/x", "unknown", 2},
		{"version 1\ncluster/ 0", "unknown", 2},
	} {
		_, err := Parse(tt.text)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Line != tt.line || !strings.Contains(err.Error(), tt.msg) {
			t.Errorf("%q: %v; want line %d and %q", tt.text, err, tt.line, tt.msg)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("version 1\nsequence note\nword -1..1\ncluster/k128 0\n")
	f.Add("version 1\nmax-tokens 99999999999999999999\nword ..")
	f.Fuzz(func(t *testing.T, text string) {
		tpl, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(tpl.String())
		if err != nil || again.String() != tpl.String() {
			t.Errorf("%q came back as %v, %v", tpl.String(), again, err)
		}
	})
}

// values returns what a group says of a form, joined with a bar.
func values(t *testing.T, group, form string, r Resources) string {
	t.Helper()
	tpl, err := Parse("version 1\n" + group)
	if err != nil {
		t.Fatal(err)
	}
	_, names := New(tpl, r).FormNames([]byte(form))
	return strings.Join(names, "|")
}

func TestFormGroups(t *testing.T) {
	for _, tt := range []struct{ group, form, want string }{
		{"word", "Núria", "Núria"},
		{"lower", "NÚRIA", "núria"},
		{"folded", "NÚRIA", "nuria"},
		{"digits", "Ab12x", "ab00x"},
		{"shape", "Aña12-€", "Aaa00-s"},
		{"shortshape", "Aña12--b", "Aa0-a"},
		{"charpattern", "Hospitals/2024", "Aaaaa/0000"},
		{"charpattern", "12345678", "0000"},
		{"unicode", "Ab01", "LuLlNd"},
		{"unicode", "12/03€", "NdPoNdSc"},
		{"capitals", "12", ""},
		{"capitals", "casa", "lower"},
		{"capitals", "CASA", "upper"},
		{"capitals", "Casa", "first"},
		{"capitals", "McCoy", "mixed"},
		{"capitals", "A", "single"},
		{"numeric", "1998", "YEAR_DIGIT"},
		{"numeric", "2098", "YEAR_DIGIT"},
		{"numeric", "2298", "ALL_DIGITS"},
		{"numeric", "2", "ALL_DIGITS"},
		{"numeric", "a26", "ALPHANUMERIC"},
		{"numeric", "2,5", "SOME_DIGITS"},
		{"numeric", "XIV", "ROMAN_NUMERAL"},
		{"numeric", "casa", ""},
		{"prefix3", "Ñandú", "ñan"},
		{"prefix3", "de", "de_"},
		{"suffix4", "Ñandú", "andú"},
		{"suffix4", "de", "__de"},
		{"length", "casa", "e"},
		{"hasletter", "12a", "1"},
		{"hasletter", "12", ""},
		{"hascapital", "aB", "1"},
		{"hasdigit", "a1", "1"},
		{"haspunct", "a-b", "1"},
		{"haspunct", "ab", ""},
		{"hyphen", "a-b", "1"},
		{"allcapital", "UCI", "1"},
		{"allcapital", "Uci", ""},
		{"alldigit", "2024", "1"},
		{"alldigit", "2024a", ""},
		{"letterdigit", "a26", "1"},
		{"letterdigit", "26", ""},
		{"letterdigit", "a-26", ""},
		{"digitpunct", "12/03", "1"},
		{"digitpunct", "12", ""},
		{"digitpunct", "12/mar", ""},
		{"lettercode", "Vincent", "1110"}, // NGRID §5.2
		{"lettercode", "UCI", "1111"},
		{"lettercode", "10", "0000"},
		{"listcode", "x", "0000"},
		{"capitalstart", "Ab", "1"},
		{"capitalstart", "aB", ""},
		{"single", "ñ", "1"},
		{"single", "5", ""},
		{"xyz", "Xerez", "xz"},
		{"xyz", "casa", ""},
		{"numberword", "Dues", "1"},
		{"bias", "x", "1"},
		{"gazetteer", "x", ""},
		{"cluster", "x", ""},
		{"pos", "x", ""},
	} {
		if got := values(t, tt.group, tt.form, Resources{}); got != tt.want {
			t.Errorf("%s of %q is %q, want %q", tt.group, tt.form, got, tt.want)
		}
	}
}

func TestRoman(t *testing.T) {
	for form, want := range map[string]bool{
		"I": true, "II": true, "IV": true, "IX": true, "XL": true, "XC": true, "CXCIX": true, "CCCXXXVIII": false, "LXXXVIII": true,
		"IIII": false, "VX": false, "IC": false, "MM": false, "D": false, "xi": false, "": false, "IVI": false,
	} {
		if got := values(t, "numeric", form, Resources{}) == "ROMAN_NUMERAL"; got != want {
			t.Errorf("%q: %v, want %v", form, got, want)
		}
	}
}

type toy struct{}

func (toy) Classes(form []byte) gazetteer.Class {
	if string(form) == "Rosa" {
		return gazetteer.GivenName | gazetteer.CommonWord
	}
	return 0
}

func (toy) Begins(form []byte) uint16 { return 1<<16 - 1 }

func (toy) PhraseAt(_ []byte, tokens []pipeline.Token, first int) gazetteer.Phrase {
	if first == 2 {
		return gazetteer.Phrase{First: 2, Last: 5, Class: gazetteer.Municipality}
	}
	return gazetteer.Phrase{}
}

func (toy) Value(dst, form []byte) []byte { return fmt.Appendf(dst, "c%d", len(form)) }

func TestSlots(t *testing.T) {
	r := Resources{Lexicon: toy{}, Slots: map[string]Slot{"cluster/k8": toy{}}}
	if got := values(t, "gazetteer", "Rosa", r); got != "GivenName|CommonWord" {
		t.Errorf("gazetteer: %q", got)
	}
	if got := values(t, "cluster/k8", "abc", r); got != "c3" {
		t.Errorf("cluster: %q", got)
	}
	if got := values(t, "cluster/k9", "abc", r); got != "" {
		t.Errorf("empty slot: %q", got)
	}
}

// cut splits a text at spaces; "/" begins a line, a token with "+" in front is
// glued.
func cut(text string) (tokens []pipeline.Token) {
	at := 0
	for word := range strings.FieldsSeq(text) {
		at += strings.Index(text[at:], word)
		tok := pipeline.Token{Start: int32(at), End: int32(at + len(word))}
		if len(tokens) == 0 || word == "/" {
			tok.Flags = pipeline.LineStart | pipeline.SentenceStart
		}
		if word[0] == '+' {
			tok.Flags |= pipeline.Glued
			tok.Start++
		}
		tokens = append(tokens, tok)
		at += len(word)
	}
	return tokens
}

// seen lists the attributes of the group at every token, one string a token.
func seen(t *testing.T, template, text string, matches []pipeline.Match, r Resources) []string {
	t.Helper()
	tpl, err := Parse("version 1\n" + template)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, sequence := range Describe(tpl, r, []byte(text), cut(text), matches) {
		for _, attributes := range sequence {
			var names []string
			for _, a := range attributes {
				name := a.Name
				if a.Value != 1 {
					name = fmt.Sprintf("%s*%.2g", name, a.Value)
				}
				names = append(names, name)
			}
			all = append(all, strings.Join(names, " "))
		}
	}
	return all
}

// itself is a slot in which forms are their own parts of speech.
type itself struct{}

func (itself) Value(dst, form []byte) []byte { return append(dst, form...) }

func TestPlaceGroups(t *testing.T) {
	date, err := pipeline.ParseCategory("DATE")
	if err != nil {
		t.Fatal(err)
	}
	dni, err := pipeline.ParseCategory("DNI")
	if err != nil {
		t.Fatal(err)
	}
	matches := []pipeline.Match{{Start: 8, End: 9, Category: dni, Checked: true}, {Start: 2, End: 7, Category: date}}
	for _, tt := range []struct {
		template, text string
		want           []string
	}{
		{"word -1..1", "a b / c", []string{"word[0]=a word[1]=b", "word[-1]=a word[0]=b", "word[0]=/ word[1]=c", "word[-1]=/ word[0]=c"}},
		{"sequence note\nword 1", "a / c", []string{"word[1]=/", "word[1]=c", ""}},
		{"border -2..2", "a b c", []string{"border[-1]=BOS", "border[-2]=BOS border[2]=EOS", "border[1]=EOS"}},
		{"pattern 0", "a b c d e", []string{"", "pattern[0]=DATE:B", "pattern[0]=DATE:I", "pattern[0]=DATE:E", "pattern[0]=DNI:S pattern[0]=DNI:S!"}},
		{"pattern -1", "a b", []string{"", ""}},
		{"bigram 0", "a b / c", []string{"", "bigram[0]=a b", "", "bigram[0]=/ c"}},
		{"glued 0", "a +b", []string{"", "glued[0]=1"}},
		{"sentencestart 0", "a b / c", []string{"sentencestart[0]=1", "", "sentencestart[0]=1", ""}},
		{"key 0", "Edad : 7 Sexo : H / x", []string{"", "", "key[0]=edad", "key[0]=edad", "key[0]=edad", "key[0]=sexo", "", ""}},
		{"linestart 0", "Año b / c", []string{"linestart[0]=ano", "linestart[0]=ano", "linestart[0]=/", "linestart[0]=/"}},
		{"domain 0", "a . +es es . es +. +ES", []string{"", "", "domain[0]=1", "", "", "", "", "domain[0]=1"}},
		{"tokeninsentence 0", "a b / c d", []string{"", "tokeninsentence[0]=1", "", "tokeninsentence[0]=1*0.5", "tokeninsentence[0]=1"}},
		{"sentenceinnote 0", "a / b / c", []string{"", "sentenceinnote[0]=1*0.5", "sentenceinnote[0]=1*0.5", "sentenceinnote[0]=1", "sentenceinnote[0]=1"}},
		{"sequence note\nsentenceinnote 0", "a / b / c", []string{"", "sentenceinnote[0]=1*0.5", "sentenceinnote[0]=1*0.5", "sentenceinnote[0]=1", "sentenceinnote[0]=1"}},
		{"tokeninnote 0", "a b / c d", []string{"", "tokeninnote[0]=1*0.25", "tokeninnote[0]=1*0.5", "tokeninnote[0]=1*0.75", "tokeninnote[0]=1"}},
		{"linefromend 0", "a / b", []string{"linefromend[0]=1", "linefromend[0]=0", "linefromend[0]=0"}},
		{"linefromstart 0", "a b / c", []string{"linefromstart[0]=a", "linefromstart[0]=a", "linefromstart[0]=b", "linefromstart[0]=b"}},
		{"sequence note\nlinefromstart 0", "a / c", []string{"linefromstart[0]=a", "linefromstart[0]=b", "linefromstart[0]=b"}},
		{"linelength 0", "a / b c d", []string{"linelength[0]=a", "linelength[0]=d", "linelength[0]=d", "linelength[0]=d", "linelength[0]=d"}},
		{"tokennumber 0", "a b / c", []string{"tokennumber[0]=a", "tokennumber[0]=b", "tokennumber[0]=a", "tokennumber[0]=b"}},
		{"lineabove 0", "Año b / c d", []string{"lineabove[0]=", "lineabove[0]=", "lineabove[0]=ano", "lineabove[0]=ano", "lineabove[0]=ano"}},
		{"sequence note\nlineabove 0", "Año / c", []string{"lineabove[0]=", "lineabove[0]=ano", "lineabove[0]=ano"}},
		{"chunk 0", "DET NOUN ADJ DET NOUN AUX VERB+PRON ADP+DET PROPN PROPN PUNCT PRON", []string{"chunk[0]=B-NP", "chunk[0]=I-NP", "chunk[0]=I-NP", "chunk[0]=B-NP",
			"chunk[0]=I-NP", "chunk[0]=B-VP", "chunk[0]=I-VP", "chunk[0]=B-PP", "chunk[0]=B-NP", "chunk[0]=I-NP", "chunk[0]=O", "chunk[0]=B-NP"}},
		{"term -1..0", "tos , dolor torácico", []string{"term[0]=symptom", "term[-1]=symptom", "term[0]=symptom", "term[-1]=symptom"}},
		{"term 0", "a / a / paracetamol 500 mg", []string{"", "", "", "", "term[0]=drug", "term[0]=dose", "term[0]=dose"}},
		{"phrase 0", "a b c d e", []string{"", "", "phrase[0]=Municipality:B", "phrase[0]=Municipality:I", "phrase[0]=Municipality:E"}},
	} {
		m := matches
		if strings.HasPrefix(tt.template, "pattern -1") {
			m = nil
		}
		if got := seen(t, tt.template, tt.text, m, Resources{Phrases: toy{}, Slots: map[string]Slot{"chunk": itself{}}}); !slices.Equal(got, tt.want) {
			t.Errorf("%s of %q:\n got %q\nwant %q", tt.template, tt.text, got, tt.want)
		}
	}
}

// Long sequences are cut at the maximum, and nothing is lost.
func TestNext(t *testing.T) {
	tokens := cut(strings.Repeat("x ", 50) + "/ y")
	tpl, err := Parse("version 1\nmax-tokens 16\nword")
	if err != nil {
		t.Fatal(err)
	}
	var ends []int
	for lo := 0; lo < len(tokens); lo = ends[len(ends)-1] {
		ends = append(ends, tpl.Next(tokens, lo))
	}
	if !slices.Equal(ends, []int{16, 32, 48, 50, 52}) {
		t.Errorf("sequences end at %v", ends)
	}
}

// Names and keys go together: what Describe writes, Key reads.
func TestKey(t *testing.T) {
	tpl, err := Parse("version 1\nword\nsuffix2\ncapitals")
	if err != nil {
		t.Fatal(err)
	}
	features, names := New(tpl, Resources{}).FormNames([]byte("Peña"))
	for i, f := range features {
		if got := Key(tpl.Groups[f.Group].Name, names[i]); got != f.Key {
			t.Errorf("%s: key %x, want %x", names[i], got, f.Key)
		}
	}
}

// groupNames are those of all groups that are known.
func groupNames() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// Every group that is known can be asked for, and gives one name a feature.
func TestKnown(t *testing.T) {
	names := groupNames()
	tpl, err := Parse("version 1\n" + strings.Join(names, " -1..1\n"))
	if err != nil {
		t.Fatal(err)
	}
	e := New(tpl, Resources{Lexicon: toy{}, Phrases: toy{}})
	if f, names := e.FormNames([]byte("Rosa")); len(f) != len(names) || len(f) < 20 {
		t.Errorf("%d features, %d names", len(f), len(names))
	}
	text, rosa := []byte("a : b c +d / e f"), []byte("Rosa")
	tokens := cut(string(text))
	if n := testing.AllocsPerRun(20, func() {
		e.Form(rosa)
		e.Note(text, tokens, nil)
		e.Marks(0, 5)
		e.Marks(5, 8)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FormNames returns the features of a form with their readable values, in
// step.
func (e *Extractor) FormNames(form []byte) ([]Feature, []string) {
	e.naming = true
	f := e.Form(form)
	e.naming = false
	return f, e.names
}

func FuzzForm(f *testing.F) {
	names := groupNames()
	tpl, err := Parse("version 1\n" + strings.Join(names, "\n"))
	if err != nil {
		f.Fatal(err)
	}
	e := New(tpl, Resources{Lexicon: gazetteer.Default()})
	for _, s := range []string{"", "Peña", "\xff", "ŀl", "a\u0301", "ǅ", "12/03/2024", "º", strings.Repeat("x", 300)} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, form []byte) {
		features := slices.Clone(e.Form(form))
		if len(e.w.at) != utf8.RuneCount(form)+1 || len(e.w.shape) != utf8.RuneCount(form) {
			t.Error("one shape letter a character")
		}
		if !slices.Equal(features, e.Form(form)) {
			t.Error("a form has other features the second time")
		}
	})
}

func BenchmarkForm(b *testing.B) {
	tpl, err := Parse("version 1\nword\nlower\nshortshape\ncapitals\nnumeric\nprefix3\nsuffix3\nsuffix4\nlength\ngazetteer\n")
	if err != nil {
		b.Fatal(err)
	}
	e := New(tpl, Resources{Lexicon: gazetteer.Default()})
	forms := [][]byte{[]byte("Peña"), []byte("paciente"), []byte("12"), []byte("hospitalización")}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.Form(forms[i%len(forms)])
	}
}

// A kind of word can be asked for alone.
func TestOneClass(t *testing.T) {
	for _, tt := range []struct{ group, want string }{{"gazetteer", "GivenName Surname"}, {"gazetteer/Surname", "Surname"}, {"gazetteer/Month", ""}} {
		tpl, err := Parse("version 1\n" + tt.group)
		if err != nil {
			t.Fatal(err)
		}
		_, names := New(tpl, Resources{Lexicon: both{}}).FormNames([]byte("Rosa"))
		if got := strings.Join(names, " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.group, got, tt.want)
		}
	}
}

type both struct{}

func (both) Classes([]byte) gazetteer.Class { return gazetteer.GivenName | gazetteer.Surname }
