package tokenize_test

import (
	"context"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/tokenize"
)

// Cases are written as texts with a bar between glued tokens; blanks and line
// ends part tokens, too.
var cases = []struct{ what, cut string }{
	{"words", "Paciente mujer refiere dolor"},
	{"full stop", "acude hoy|."},
	{"comma", "dolor|, fiebre"},
	{"letter-digit", "a|26"},
	{"digit-letter-letter", "2098|SOS"},
	{"digit-letter-letter, small", "500|mg cada 8h"},
	{"digits and one letter", "12345678Z"},
	{"letter, digits, letter", "X|1234567L"},
	{"digit letter digit", "2b|3c"},
	{"health card", "GAPE|0800115123"},
	{"licence plate", "1234|BCD"},
	{"upper run, lower", "US|Meaningful"},
	{"upper run, one lower", "ECGs UCIs"},
	{"two upper, lower", "HVhebron"},
	{"lower-upper", "Whalen|Chief"},
	{"lower-upper with accents", "Solà|Étienne"},
	{"upper run with accents", "UÀ|Éric"},
	{"units", "mm|Hg"},
	{"glued sentences", "bases|.|.|.|Normas|.|Pulmicort|-|100"},
	{"date", "12|/|03|/|2014"},
	{"date with stops", "1|.|2|.|2014 03|.|12|.|2014"},
	{"date with hyphens", "2014|-|03|-|12"},
	{"date glued to a word", "12|/|03|/|2014|Alta"},
	{"month", "19|-|Jul|-|2011"},
	{"time", "12|:|30h|."},
	{"decimals", "1.16 0,5 12.500"},
	{"decimals with unit", "0,5|mg 1.5|ml"},
	{"thousands and identifiers", "12|.|345|.|678|-|Z"},
	{"long parts", "08036|.|934"},
	{"decimals before a slash", "1|.|12|/|2014"},
	{"list", "1|,|2|,|3"},
	{"range", "2|-|3h"},
	{"phone", "Tel|.|934001122"},
	{"phone in groups", "(|+|34|) 93 400 00 00"},
	{"phone glued", "Tel|934001122|ext|5"},
	{"e-mail", "E|-|mail|:|guim|@|exemple|.|cat"},
	{"URL", "https|:|/|/|www|.|exemple|.|cat|/|a|_|b"},
	{"glued field", "Lopez|Nº|Col"},
	{"ordinals", "2º 3ª Nº Dª 1|er"},
	{"ordinal, letter", "5º|B"},
	{"degrees", "37º|C 37,5°|C"},
	{"degrees apart", "37 °|C"},
	{"Catalan article", "l'|Anna d'|en Pau"},
	{"Catalan article, capitals", "L'|ANNA D'|EN"},
	{"Catalan article, curly", "l’|hospital s’|ha"},
	{"Catalan article without apostrophe", "l|Anna"},
	{"Catalan pronoun behind", "dona|'|l|, agafa|'|n"},
	{"Irish name", "O|'|Brien"},
	{"quotation", "'|dolor|' d|'"},
	{"middle dot", "col·legi Gal·la COL·LEGIADA"},
	{"middle dot alone", "· a|·|b l|·|a"},
	{"l with middle dot", "coŀlegi ŀl"},
	{"eñe", "Núñez año ÑÑ"},
	{"decomposed accents", "Jose\u0301 LO\u0301|Pez"},
	{"soft hyphen", "hos\u00adpital"},
	{"zero width space at the start", "\u200bAnna"},
	{"full width", "Tel ６１２３４５６７８"},
	{"no width inside", "Tel 612\u200b345\u00ad678"},
	{"narrow blanks", "Tel\u202f612\u2009345"},
	{"emoji", "bien 👍🏽"[:len("bien 👍")] + "|🏽"},
	{"joined emoji", "a|👩\u200d|⚕\ufe0f"},
	{"flags of bullets", "•|dolor"},
	{"currency", "5|€"},
	{"squared", "m|²"},
	{"plus", "+|+|/|+|+|+"},
	{"Greek", "α|-|bloqueante"},
	{"no-break space", "Dr\u00a0Pou"},
	{"control character", "a\x01b"},
	{"tab", "a\tb"},
}

// read takes the bars out of a case.
func read(cut string) (text string, tokens []string) {
	for _, word := range strings.FieldsFunc(cut, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }) {
		tokens = append(tokens, strings.Split(word, "|")...)
	}
	return strings.ReplaceAll(cut, "|", ""), tokens
}

func forms(text string, tokens []pipeline.Token) (forms []string) {
	for _, t := range tokens {
		forms = append(forms, text[t.Start:t.End])
	}
	return forms
}

func tokens(text string) []pipeline.Token {
	return new(tokenize.Tokenizer).Tokens(nil, []byte(text))
}

func TestTokens(t *testing.T) {
	for _, c := range cases {
		text, want := read(c.cut)
		if diff := cmp.Diff(want, forms(text, tokens(text))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.what, diff)
		}
	}
}

// In these texts a section sign stands before each token that starts a
// sentence, and a pilcrow before each that starts a line.
var sentences = []struct{ what, marked string }{
	{"one", "¶Acude hoy."},
	{"two", "¶Acude hoy. §Refiere dolor."},
	{"lines", "¶Motivo\n¶acude\r\n\r\n¶dolor"},
	{"leading blanks", "  ¶a\n\t ¶b"},
	{"title", "¶Visto por la Dra. Pou y el Dr. Vila. §Alta."},
	{"title in capitals", "¶DRA. POU. §ALTA."},
	{"title in Catalan", "¶Visita de la Sra. Anna. §Torna dl. vinent."},
	{"title in English", "¶Seen by Mr. Brown. §Home."},
	{"initial", "¶Dr. J. C. Vila. §Alta."},
	{"C. and Pg. and Av.", "¶Vive en C. Mayor, Pg. Fabra, Av. Roma. §Casada."},
	{"pac. and tto.", "¶Pac. con tto. Bien."},
	{"núm.", "¶Habitació núm. 5. §Alta. §NÚM. 3"},
	{"number", "¶Toma 2. §Sigue igual."},
	{"decimal", "¶Toma 2.5 al día."},
	{"question", "¶Dolor? §no. §Fiebre! §Alta"},
	{"opening question", "¶Alta. §¿Dolor? §Sí."},
	{"dots", "¶Dolor... sigue. §Luego... §Nada"},
	{"ellipsis", "¶Dolor… sigue… §Nada"},
	{"parenthesis", "¶(Dolor.) §Alta. §«Bien.» §Alta. §“Ok.” §Alta"},
	{"glued", "¶bases...§Normas.§Pulmicort"},
	{"glued small", "¶www.exemple.cat"},
	{"small letters", "¶acude hoy. §refiere dolor. §control con dr. pou"},
	{"small letters in parenthesis", "¶dolor (fuerte). §alta"},
	{"colon", "¶Exploración: Normal"},
	{"stop at the start", "¶. Acude"},
}

func TestSentences(t *testing.T) {
	for _, c := range sentences {
		var marks []string // per token
		text := strings.NewReplacer("§", "", "¶", "").Replace(c.marked)
		got := tokens(text)
		at := 0
		for _, tok := range got {
			mark := ""
			for at < len(c.marked) {
				if r, n := utf8.DecodeRuneInString(c.marked[at:]); r == '§' || r == '¶' {
					mark = string(r)
					at += n
				} else if unicode.IsSpace(r) {
					at += n
				} else {
					break
				}
			}
			marks = append(marks, mark)
			at += int(tok.End - tok.Start)
		}
		for i, tok := range got {
			want := map[string]pipeline.TokenFlags{"": 0, "§": pipeline.SentenceStart, "¶": pipeline.LineStart | pipeline.SentenceStart}[marks[i]]
			if flags := tok.Flags & (pipeline.LineStart | pipeline.SentenceStart); flags != want {
				t.Errorf("%s: token %d at %d: flags %03b, want %03b", c.what, i, tok.Start, flags, want)
			}
		}
	}
}

var (
	lettersOnly = regexp.MustCompile(`^[A-Z]*[a-z]*$`)
	figuresOnly = regexp.MustCompile(`^[0-9]+$`)
)

func madeOf(token []byte) pipeline.TokenFlags {
	switch {
	case lettersOnly.Match(token):
		return pipeline.Letters
	case figuresOnly.Match(token):
		return pipeline.Figures
	}
	return 0
}

// check tests what holds for every text; of one with markup in what a person sees.
func check(t interface{ Fatalf(string, ...any) }, text []byte) {
	got := new(tokenize.Tokenizer).Tokens(nil, text)
	last := int32(0)
	for i, tok := range got {
		if tok.Start < last || tok.End <= tok.Start || int(tok.End) > len(text) {
			t.Fatalf("token %d: %d-%d behind %d", i, tok.Start, tok.End, last)
		}
		last = tok.End
	}
	plain := view.Plain(text)
	if !plain {
		seen, from := view.Append(nil, nil, text)
		got, text = new(view.Placed).Tokens(from, got), seen
	}
	end, line := int32(0), true
	for i, tok := range got {
		if tok.Start < end || tok.End <= tok.Start || int(tok.End) > len(text) {
			t.Fatalf("token %d: %d-%d behind %d", i, tok.Start, tok.End, end)
		}
		gap := text[end:tok.Start]
		for _, r := range string(gap) {
			if !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
				t.Fatalf("token %d: %U in the gap before it", i, r)
			}
			line = line || strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r)
		}
		if got := tok.Flags&pipeline.Glued != 0; got != (i > 0 && len(gap) == 0) {
			t.Fatalf("token %d: glued is %v, gap %d bytes", i, got, len(gap))
		}
		if got := tok.Flags&pipeline.LineStart != 0; got != line {
			t.Fatalf("token %d: starts a line: %v, want %v", i, got, line)
		}
		if line && tok.Flags&pipeline.SentenceStart == 0 {
			t.Fatalf("token %d starts a line and no sentence", i)
		}
		if want := madeOf(text[tok.Start:tok.End]); plain && tok.Flags&(pipeline.Letters|pipeline.Figures) != want {
			t.Fatalf("token %d: flags %b, want %b of what it is made of", i, tok.Flags, want)
		}
		for _, r := range string(text[tok.Start:tok.End]) {
			if unicode.IsSpace(r) || unicode.IsControl(r) {
				t.Fatalf("token %d holds %U", i, r)
			}
		}
		end, line = tok.End, false
	}
	for _, r := range string(text[end:]) {
		if !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			t.Fatalf("%U behind the last token", r)
		}
	}
}

// alphabet has every class, the characters with rules of their own, and
// pieces of characters.
var alphabet = strings.Split("a b l L d D E Ñ é à ç ŀ 1 2 9 ٣ º ª ° . , - : / ( ) + @ _ ' ’ · … » ” ! ? ¿ € ² 👍 ω <b> </b> <br/> &nbsp; &aacute; ^ ** __ \\n {\" {\\rtf1 ", " ")

func TestInvariants(t *testing.T) {
	pieces := append([]string{" ", "\n", "\r\n", "\t", "\u00a0", "\u2028", "\u0301", "\u200d", "\x00", "\x7f", "\u0096",
		"\xc3", "\xe2\x80", "\xff", "\xed\xa0\x80", "Dr.", "l'Anna", "l·l"}, alphabet...)
	rapid.Check(t, func(t *rapid.T) {
		check(t, []byte(strings.Join(rapid.SliceOf(rapid.SampledFrom(pieces)).Draw(t, "text"), "")))
	})
}

func FuzzTokens(f *testing.F) {
	for _, c := range cases {
		text, _ := read(c.cut)
		f.Add([]byte(text))
	}
	f.Add([]byte("\xff\xc3\xe2\x80.\xf0\x9f"))
	f.Add([]byte("l·"))
	f.Add([]byte("L\xc2"))
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text) })
}

func TestBadBytes(t *testing.T) {
	want := []string{"a", "\xff", "\xe2", "\x80", "b"}
	if diff := cmp.Diff(want, forms("a\xff\xe2\x80b", tokens("a\xff\xe2\x80b"))); diff != "" {
		t.Error(diff)
	}
}

// Appending to tokens of another note changes nothing.
func TestAppends(t *testing.T) {
	first := tokens("Acude hoy.")
	both := new(tokenize.Tokenizer).Tokens(first, []byte("normal. Alta"))
	if diff := cmp.Diff(tokens("normal. Alta"), both[len(first):]); diff != "" {
		t.Error(diff)
	}
}

type notes struct {
	texts []string
	bad   int // index of a note that has a Reason already
}

func (n *notes) Next(b *pipeline.Batch) error {
	if n.texts == nil {
		return io.EOF
	}
	for i, text := range n.texts {
		b.ID.Append([]byte{byte('a' + i)})
		b.Text.Append([]byte(text))
		b.Reason = append(b.Reason, pipeline.Sound)
		if i == n.bad {
			b.Reason[i] = pipeline.NullID
		}
	}
	n.texts = nil
	return nil
}

type keep struct {
	reasons   []string
	tokens    []int
	languages []string
}

func (k *keep) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		k.reasons = append(k.reasons, b.Reason[i].String())
		k.tokens = append(k.tokens, len(b.Tokens.At(i)))
		k.languages = append(k.languages, b.Language[i].String())
	}
	return nil
}

func run(t *testing.T, o tokenize.Options, texts []string, bad int) keep {
	t.Helper()
	var k keep
	if err := pipeline.Run(context.Background(), &notes{texts, bad}, []pipeline.Step{tokenize.New(o)}, &k, nil); err != nil {
		t.Fatal(err)
	}
	return k
}

func TestStep(t *testing.T) {
	texts := []string{
		"El paciente refiere dolor desde ayer.",
		"has a reason",
		"",
		" \n ",
		"a b c d e f",
		"a b c d e f g",
		strings.Repeat("x", 41),
		"nul \x00",
		"escape \x1b",
		"latin \xe9",
		"La pacient refereix dolor des d'ahir.",
		"vista per \u202esiuR\u202c",
	}
	got := run(t, tokenize.Options{MaxBytes: 40, MaxTokens: 9}, texts[:4], 1)
	want := keep{[]string{"sound", "null_id", "sound", "sound"}, []int{7, 0, 0, 0}, []string{"es", "", "", ""}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(keep{})); diff != "" {
		t.Error(diff)
	}
	got = run(t, tokenize.Options{MaxBytes: 40, MaxTokens: 6}, texts[4:10], -1)
	got.languages = nil
	want = keep{[]string{"sound", "too_long", "too_long", "control_text", "control_text", "bad_encoding"}, []int{6, 0, 0, 0, 0, 0}, nil}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(keep{})); diff != "" {
		t.Error(diff)
	}
	got = run(t, tokenize.Options{}, texts[11:], 1)
	want = keep{[]string{"control_text"}, []int{0}, []string{""}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(keep{})); diff != "" {
		t.Error(diff)
	}
	got = run(t, tokenize.Options{AllowControls: true}, texts[7:11], -1)
	want = keep{[]string{"control_text", "sound", "bad_encoding", "sound"}, []int{0, 1, 0, 8}, []string{"", "", "", "ca"}}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(keep{})); diff != "" {
		t.Error(diff)
	}
}

// note has the shape of the archive's: short, glued, abbreviated, some
// accents.
const note = "Pac. de 54 años, acude por dolor lumbar de 3 d de evolución.No fiebre. Exploración: dolor a la palpación, Lasegue -. Pauto ibuprofeno 600mg/8h y control en 7 dias (Dra. Pou)."

func BenchmarkTokens(b *testing.B) {
	text := []byte(note)
	var t tokenize.Tokenizer
	dst := t.Tokens(nil, text)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		dst = t.Tokens(dst[:0], text)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(dst)), "ns/token")
}

// BenchmarkStep includes the language.
func BenchmarkStep(b *testing.B) {
	var batch pipeline.Batch
	for i := range 1000 {
		batch.Text.Append([]byte(note[i%20:]))
		batch.Reason = append(batch.Reason, pipeline.Sound)
	}
	do := tokenize.New(tokenize.Options{}).New()
	b.SetBytes(int64(len(batch.Text.Data)))
	b.ReportAllocs()
	for b.Loop() {
		batch.Tokens.Reset()
		batch.Language = batch.Language[:0]
		if err := do(&batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(batch.Tokens.Items)), "ns/token")
}
