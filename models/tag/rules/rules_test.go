package rules_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/morph"
	"github.com/velum-health/velum/pipeline"
)

// marked compiles rules, runs them over a text and writes the spans as [...]
// into it. Tokens are cut at blanks and around punctuation.
func marked(t *testing.T, file, text string) string {
	t.Helper()
	m, err := morph.Open(embedded.Morph())
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.Compile("version 1\n"+file, rules.Resources{Morph: m})
	if err != nil {
		t.Fatal(err)
	}
	spans := p.NewMachine().Spans(nil, []byte(text), cut(text))
	for i := len(spans) - 1; i >= 0; i-- {
		s := spans[i]
		text = text[:s.Start] + "[" + text[s.Start:s.End] + "]" + text[s.End:]
	}
	return text
}

// cut makes tokens of words, numbers and single signs.
func cut(text string) (tokens []pipeline.Token) {
	flags := pipeline.LineStart | pipeline.SentenceStart
	inWord := func(c byte) bool {
		return c >= 0x80 || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9'
	}
	for i := 0; i < len(text); {
		if text[i] == '\n' {
			flags = pipeline.LineStart | pipeline.SentenceStart
		}
		if text[i] == ' ' || text[i] == '\n' {
			i++
			continue
		}
		j := i + 1
		for inWord(text[i]) && j < len(text) && inWord(text[j]) {
			j++
		}
		if n := len(tokens); n > 0 && int(tokens[n-1].End) == i {
			flags |= pipeline.Glued
		}
		tokens = append(tokens, pipeline.Token{Start: int32(i), End: int32(j), Flags: flags})
		i, flags = j, 0
	}
	return tokens
}

// TestArcs: every test, consumer and action, with the answer inside the text.
func TestArcs(t *testing.T) {
	for _, c := range []struct{ name, file, want string }{
		{"form folds case and accents", "network n PERSON 0.9\n a form:joan|núria -> end", "[NURIA] i [joan] i Pere"},
		{"exact does not", "network n LOCATION 0.9\n a exact:CAP -> end", "el [CAP] y cap"},
		{"words", "words kin hija hijo\nwords kin tía\nnetwork n PERSON 0.9\n a words:kin -> end", "[hijo] y [tia] y abuela"},
		{"a star", "words kin hij* mare\nnetwork n PERSON 0.9\n a words:kin -> end", "[Hijastra] y [mare], hi y mareo"},
		{"list", "network n PERSON 0.9\n a list:GivenName cap -> end", "[Teresa] y mesa"},
		{"lemma", "network n PERSON 0.9\n a lemma:vivir -> b\n b cap -> end", "[vive Ana], ríe Ana"},
		{"part of speech", "network n PERSON 0.9\n a pos:VERB -> end", "el paciente [come] pan"},
		{"number", "network n LOCATION 0.9\n a number:/.?[0-9]+(st|º)?/ -> end", "[12] [1st] [2º] a1 1a º ٣"},
		{"endings", "network n LOCATION 0.9\n a ends:???ista|??or|?ñ !ends:dor -> end", "[turista] pista vista TURISTA [señor] [doctor] or año [iñ] ñ dor"},
		{"expression", "network n LOCATION 0.9\n a match:/[A-Z]{2}[0-9]+/ -> end", "[AB12] ab12 AB12c"},
		{"not", "network n PERSON 0.9\n a cap !form:el -> end", "El [Dr]"},
		{"shapes", "network n PERSON 0.9\n a upper -> b\n b title -> c\n c initial -> d\n d lower -> e\n e digits -> f\n f punct -> end", "[AA Ab C d 12 ;] AA Ab CC"},
		{"first and glued", "network n PERSON 0.9\n a first cap -> b\n b glued punct -> end", "[Ana:] Eva: \n[Eva:] Ana :"},
		{"open and close", "network n PERSON 0.9\n a form:dr -> b\n b form:. -> c\n c cap / open -> d\n d cap / close -> e\n e form:de -> end", "Dr. [Puig Mas] de"},
		{"whole path without them", "network n PERSON 0.9\n a form:dr -> b\n b cap -> end", "[dr Puig]"},
		{"the longest path wins", "network n PERSON 0.9\n a cap -> end\n a cap -> b\n b cap -> end", "[Ana Puig] [Mas]"},
		{"loop", "network n PERSON 0.9\n a cap -> a\n a skip -> end", "[Ana Puig Mas] y [Eva]"},
		{"limit", "network n PERSON 0.9 limit 2\n a cap -> a\n a skip -> end", "[Ana Puig] [Mas]"},
		{"part of a token", "network n PERSON 0.9\n a part:l|d -> b\n b cap list:GivenName / open -> end", "l[Anna] i d[Eva] i Anna"},
		{"peek", "network n PERSON 0.9\n a cap -> b\n b peek !form:street -> end", "[Ana] vive, Oxford street"},
		{"peek at the end of the line", "network n PERSON 0.9\n a cap -> b\n b peek none -> end", "Ana y [Eva]\nIsabel va"},
		{"phrase", "network n LOCATION 0.9\n a form:en -> b\n b phrase:Municipality / open -> end", "en [Santa Coloma de Gramenet] vive"},
		{"registers", "network n PERSON 0.9\n a form:dr / set:title=1 -> b\n a skip -> b\n b cap -> c\n c is:title=1 skip -> end", "[dr Puig] Mas"},
		{"counting", "network n PERSON 0.9\n a cap below:n=2 / add:n -> a\n a skip -> end", "[Ana Puig] [Mas Vila]"},
		{"a register is of the path", "network n PERSON 0.9\n a cap / set:r=1 -> b\n a cap -> c\n b form:no -> end\n c !is:r=1 lower -> end", "[Ana si]"},
		{"calls", "network name\n a cap -> b\n b cap -> end\n b skip -> end\nnetwork n PERSON 0.9\n a form:dr -> b\n b call:name / open close -> c\n c form:de -> end", "dr [Ana Puig] de y dr [Eva] de"},
		{"calls of calls", "network x\n a cap -> end\nnetwork y\n a call:x -> b\n b call:x -> end\nnetwork n PERSON 0.9\n a call:y -> end", "[Ana Puig] [Eva Mas]"},
		{"recursion is bounded", "network x\n a form:( -> b\n b call:x -> c\n b cap -> c\n c form:) -> end\nnetwork n PERSON 0.9\n a call:x -> end", "[(((Ana)))]"},
		{"a path stays in its line", "network n PERSON 0.9\n a cap -> b\n b cap -> end", "Ana\nPuig y [Eva Mas]"},
		{"the surer network first", "network n PERSON 0.8\n a cap -> b\n b cap -> end\nnetwork m LOCATION 0.9\n a cap -> b\n b form:street -> end", "Ana [Oxford street]"},
		{"expression of the text", "network n DNI 0.9\n a text:/HC-?\\d{6,8}\\b/ -> end", "Con [HC-123456], [HC123456] y HC-12"},
		{"it begins with a token and ends within one", "network n DNI 0.9\n a text:/W\\d{6}/ -> end", "XW123455 [W123455]6"},
		{"what it leaves of a token", "network n DNI 0.9\n a text:/W\\d{6}/ / open close -> b\n b form:x -> end", "[W123455]x W123455y"},
		{"it stays in its line", "network n DNI 0.9\n a text:/HC\\s\\d+/ -> end", "[HC 12] HC\n12"},
		{"check digit", "network n DNI 1\n a text:/W\\d{6}\\b/ check:luhn -> end", "[W123455] W123456"},
		{"behind", "words record historia NHC\nnetwork n DNI 0.9\n a digits behind:record text:/\\d{8}\\b/ -> end", "Historia: ([12345678]) y [12345678], [12345678] [12345678] 12345678\n12345678"},
		{"behind goes over five words", "words record historia\nnetwork n DNI 0.9\n a digits behind:record -> end", "historia de la que fe [1] 2"},
		{"limit of an expression", "network n DNI 0.9 limit 2\n a text:/a(\\sa)*\\sb/ -> end", "a [a b] [a b]"},
		{"nothing", "network n PERSON 0.9\n a skip -> end", "Ana"},
	} {
		text := strings.NewReplacer("[", "", "]", "").Replace(c.want)
		if got := marked(t, c.file, text); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSyntax: a mistake is named with its line, its column and what is expected.
func TestSyntax(t *testing.T) {
	for _, c := range []struct {
		file         string
		line, column int
		says         string
	}{
		{"network n", 1, 1, "version 1"},
		{"version 2", 1, 1, "version 1"},
		{"version 1\nversion 1", 2, 1, "second version"},
		{"version 1\nstart any -> end", 2, 1, "expected"},
		{"version 1\nwords kin", 2, 7, "WORD"},
		{"version 1\nnetwork", 2, 1, "name"},
		{"version 1\nnetwork a\u00f1o", 2, 9, "letters"},
		{"version 1\nnetwork n PERSON", 2, 11, "SCORE"},
		{"version 1\nnetwork n PERSON 1.5", 2, 18, "score"},
		{"version 1\nnetwork n PERSONA 0.5\n a any -> end", 2, 11, "category"},
		{"version 1\nnetwork n limit 99", 2, 11, "limit"},
		{"version 1\nnetwork n", 2, 9, "no arcs"},
		{"version 1\nnetwork n\n a any -> end\nnetwork n", 4, 9, "second network"},
		{"version 1\nnetwork n\n a any", 3, 4, "STATE"},
		{"version 1\nnetwork n\n a -> end", 3, 4, "test"},
		{"version 1\nnetwork n\n a / open -> end", 3, 4, "test"},
		{"version 1\nnetwork n\n a caps -> end", 3, 4, "cap"},
		{"version 1\nnetwork n\n a form -> end", 3, 4, "form:VALUE"},
		{"version 1\nnetwork n\n a form:a||b -> end", 3, 4, "empty"},
		{"version 1\nnetwork n\n a cap:1 -> end", 3, 4, "no value"},
		{"version 1\nnetwork n\n a match:/(/ -> end", 3, 4, "RE2"},
		{"version 1\nnetwork n\n a text:/(/ -> end", 3, 4, "RE2"},
		{"version 1\nnetwork n\n a text:/a*/ -> end", 3, 4, "nothing at all"},
		{"version 1\nnetwork n\n a text:x -> end", 3, 4, "text:/RE/"},
		{"version 1\nnetwork n\n a text:/\\d{900}/ -> b\n b text:/(\\pL{990}|x\\pL{990}|y\\pL{990}|z\\pL{990})/ -> end", 4, 4, "4096 instructions"},
		{"version 1\nnetwork n\n a text:/x/ check:lunh -> end", 3, 13, "luhn"},
		{"version 1\nnetwork n\n a any check:luhn -> end", 3, 4, "check goes with text"},
		{"version 1\nnetwork n\n a any !behind:x -> end", 3, 8, "! goes before"},
		{"version 1\nnetwork n\n a any behind:x -> end", 3, 8, "no words"},
		{"version 1\nnetwork n\n a skip behind:x -> end\nwords x y", 3, 4, "peek"},
		{"version 1\nnetwork n\n a list:Name -> end", 3, 4, "GivenName"},
		{"version 1\nnetwork n\n a words:kin -> end", 3, 4, "no words"},
		{"version 1\nnetwork n\n a call:m -> end", 3, 4, "no network"},
		{"version 1\nnetwork n\n a cap -> b", 3, 11, "no arc"},
		{"version 1\nnetwork n\n a cap -> a", 2, 9, "end"},
		{"version 1\nnetwork n\n end cap -> a", 3, 2, "leads on"},
		{"version 1\nnetwork n\n a skip -> a\n a any -> end", 3, 2, "consumes nothing"},
		{"version 1\nnetwork n\n a skip -> b\n b peek cap -> a\n b any -> end", 3, 2, "consumes nothing"},
		{"version 1\nnetwork n\n a skip peek -> end", 3, 4, "one way"},
		{"version 1\nnetwork n\n a skip cap -> end", 3, 4, "peek"},
		{"version 1\nnetwork n\n a none -> end", 3, 4, "peek"},
		{"version 1\nnetwork n\n a is:r -> end", 3, 4, "REGISTER=N"},
		{"version 1\nnetwork n\n a any / set:r=200 -> end", 3, 10, "127"},
		{"version 1\nnetwork n\n a any / opens -> end", 3, 10, "open"},
		{"version 1\nnetwork n\n a any / open -> \xff", 3, 1, "UTF-8"},
		{"version 1\nnetwork n\n \u00e1\u00e9 any -> end", 3, 2, "letters"},
	} {
		_, err := rules.Compile(c.file, rules.Resources{})
		var syntax *rules.SyntaxError
		if !errors.As(err, &syntax) {
			t.Errorf("%q: %v, want a syntax error", c.file, err)
			continue
		}
		if syntax.Line != c.line || syntax.Column != c.column || !strings.Contains(syntax.Message, c.says) {
			t.Errorf("%q: %v, want line %d, column %d, %q", c.file, err, c.line, c.column, c.says)
		}
	}
}

// hard is a pack that asks for as much work as it can.
const hard = `version 1
network x
 a any -> b
 a any -> a
 a skip -> b
 b any -> a
 b call:x -> a
 b skip -> end
network n PERSON 0.9 limit 64
 a call:x -> a1
 a1 call:x -> a2
 a2 call:x -> end
`

// TestBounded: whatever the rules, a token costs at most MaxSteps steps, and
// what came of it is said.
func TestBounded(t *testing.T) {
	p, err := rules.Compile(hard, rules.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	m := p.NewMachine()
	text := strings.Repeat("a ", 1000)
	m.Finds([]byte(text), cut(text))
	if m.Exhausted() == 0 {
		t.Error("no search was ended")
	}
}

// TestDisjointOfMany: many finds are chosen from as if all pairs were compared.
func TestDisjointOfMany(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		finds := make([]rules.Find, 65+rng.IntN(100))
		for i := range finds {
			start := rng.Int32N(1000)
			finds[i] = rules.Find{Start: start, End: start + 1 + rng.Int32N(1+rng.Int32N(200)), Score: float32(rng.IntN(3))}
		}
		got := rules.Disjoint(nil, finds) // sorts them
		var want []pipeline.Span
		for _, f := range finds {
			if !slices.ContainsFunc(want, func(s pipeline.Span) bool { return f.Start < s.End && s.Start < f.End }) {
				want = append(want, pipeline.Span{Start: f.Start, End: f.End, Score: f.Score, Source: pipeline.FromRule})
			}
		}
		slices.SortFunc(want, func(a, b pipeline.Span) int { return int(a.Start - b.Start) })
		if !slices.Equal(got, want) {
			t.Fatalf("%d finds: %d spans, want %d", len(finds), len(got), len(want))
		}
	}
}

// TestNoAllocation: in steady state a note costs none.
func TestNoAllocation(t *testing.T) {
	p, err := rules.Compile("version 1\nnetwork n PERSON 0.9\n a form:dr -> b\n b form:. -> c\n c cap list:Surname / open -> c\n c skip -> end", rules.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	m := p.NewMachine()
	text := []byte("Visto por el Dr. Puig Serra en la consulta de ayer, se pide control")
	tokens := cut(string(text))
	var spans []pipeline.Span
	if n := testing.AllocsPerRun(100, func() { spans = m.Spans(spans[:0], text, tokens) }); n != 0 {
		t.Errorf("%v allocations a note", n)
	}
	if len(spans) != 1 {
		t.Errorf("%d spans, want 1", len(spans))
	}
}

// TestTrace: the path of a find, arc by arc.
func TestTrace(t *testing.T) {
	p, err := rules.Compile("version 1\nnetwork name\n a cap -> end\nnetwork n PERSON 0.9\n begin form:dr -> dot\n dot form:. -> who\n who call:name / open -> end", rules.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("el dr. Puig")
	finds := p.NewMachine().Trace(text, cut(string(text)))
	if len(finds) != 1 || finds[0].Start != 7 || finds[0].End != 11 {
		t.Fatalf("finds %v, want one at 7 to 11", finds)
	}
	want := []rules.Step{
		{Network: "n", State: "begin", Line: 5, Start: 3, End: 5}, {Network: "n", State: "dot", Line: 6, Start: 5, End: 6},
		{Network: "n", State: "who", Line: 7, Start: 7, End: 7}, {Network: "name", State: "a", Line: 3, Start: 7, End: 11},
	}
	if !slices.Equal(finds[0].Steps, want) {
		t.Errorf("steps %v, want %v", finds[0].Steps, want)
	}
}

// FuzzCompile: a hostile file is a clear error or rules that end, whose spans
// lie inside the note, in order and apart.
func FuzzCompile(f *testing.F) {
	f.Add(hard, "Ana Puig vive en Reus")
	f.Add("version 1\nnetwork n PERSON 0.9\n a part:l / open -> b\n b cap -> end", "lAnna i lEva")
	f.Add("version 1\nwords w ñ\nnetwork n PERSON 0.9\n a behind:w text:/[XYZ]?\\d+\\w/ check:dni -> end", "ñ X1234567L 12345678Z")
	f.Add("version 1\nwords w ñ\nnetwork n PERSON 0.9\n a match:/.*/ peek -> b\n b words:w / set:a=1 add:a -> end", "a\nb")
	f.Fuzz(func(t *testing.T, file, text string) {
		p, err := rules.Compile(file, rules.Resources{})
		if err != nil {
			var syntax *rules.SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 || syntax.Column < 1 {
				t.Fatal("an error without a place")
			}
			return
		}
		last := int32(0)
		for _, s := range p.NewMachine().Spans(nil, []byte(text), cut(text)) {
			if s.Start < last || s.Start >= s.End || int(s.End) > len(text) {
				t.Fatal("spans that are out of order or outside the note")
			}
			last = s.End
		}
	})
}
