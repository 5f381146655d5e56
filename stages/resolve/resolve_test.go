package resolve

import (
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// tokensOf splits at spaces and around everything that is no letter or digit:
// what the tests need of stages/tokenize.
func tokensOf(dst []pipeline.Token, text []byte) []pipeline.Token {
	line, glued := true, false
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		j := i + n
		switch {
		case r == '\n':
			line, glued = true, false
		case unicode.IsSpace(r):
			glued = false
		default:
			if inWord(r) {
				for j < len(text) {
					r, n := utf8.DecodeRune(text[j:])
					if !inWord(r) {
						break
					}
					j += n
				}
			}
			t := pipeline.Token{Start: int32(i), End: int32(j)}
			if line {
				t.Flags |= pipeline.LineStart | pipeline.SentenceStart
			}
			if glued {
				t.Flags |= pipeline.Glued
			}
			dst = append(dst, t)
			line, glued = false, true
		}
		i = j
	}
	return dst
}

func inWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.Mn, r)
}

// lexicon is a word list of the tests.
type lexicon string

func (l lexicon) Contains(phrase []byte) bool {
	return strings.Contains(" "+string(l)+" ", " "+strings.ToLower(string(phrase))+" ")
}

const testWords = lexicon("blanco rosa color dolor norma visita")

var testLexicons = Lexicons{
	GivenNames: lexicon("ana anna maria juan rosa pere"),
	Surnames:   lexicon("garcía garcia puig soler blanco"),
	Common:     testWords,
	Never:      []NamedLexicon{{"eponym", lexicon("parkinson wilson glasgow")}, {"drug", lexicon("augmentine enalapril")}},
}

// batchOf makes a batch of notes in the notation of markup.Parse:
// the marked spans are what the model found.
func batchOf(t testing.TB, labels string, notes ...string) *pipeline.Batch {
	t.Helper()
	set, err := pipeline.Labels(labels)
	if err != nil {
		t.Fatal(err)
	}
	b := &pipeline.Batch{TagSet: &pipeline.TagSet{Categories: set.Categories}}
	for i, marked := range notes {
		text, spans, err := markup.Parse(marked)
		if err != nil {
			t.Fatalf("note %d: %v", i, err)
		}
		add(b, text, spans, nil)
	}
	return b
}

func add(b *pipeline.Batch, text []byte, spans []pipeline.Span, matches []pipeline.Match) {
	b.ID.Append([]byte("1"))
	b.Text.Append(text)
	b.Reason = append(b.Reason, pipeline.Sound)
	b.Conf = append(b.Conf, 1)
	tokens := tokensOf(nil, text)
	b.Tokens.Append(tokens...)
	first := len(b.Tags)
	b.Tags = append(b.Tags, make([]pipeline.Tag, len(tokens))...)
	b.TagSet.Encode(b.Tags[first:], tokens, spans)
	b.Matches.Append(matches...)
}

func run(t testing.TB, o Options, b *pipeline.Batch) {
	t.Helper()
	step, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := step.New()(b); err != nil {
		t.Fatal(err)
	}
}

// only returns the defaults with the given rules on and no repeats.
func only(t testing.TB, labels string, names ...string) Options {
	t.Helper()
	o, err := defaults(labels)
	if err != nil {
		t.Fatal(err)
	}
	o.Lexicons, o.Repeat, o.RepeatPart = testLexicons, nil, nil
	o.Rules = map[string]bool{}
	for _, name := range names {
		o.Rules[name] = true
	}
	return o
}

var ruleTests = []struct {
	rule, labels string
	in, out      string
}{
	{"titles", "primary-care", "Ve [PERSON:Dra. Ana Puig] hoy", "Ve Dra. [PERSON:Ana Puig] hoy"},
	{"titles", "primary-care", "[PERSON:Sr. D. Juan Puig]", "Sr. D. [PERSON:Juan Puig]"},
	{"titles", "primary-care", "[PERSON:Don Juan]", "Don [PERSON:Juan]"},
	{"titles", "primary-care", "lo dice el [PERSON:Dr.] de guardia", "lo dice el Dr. de guardia"},
	{"titles", "primary-care", "[PERSON:D Puig]", "[PERSON:D Puig]"},
	{"titles", "primary-care", "[PERSON:Dª Rosa]", "Dª [PERSON:Rosa]"},
	{"trait", "meddocan", "mujer [SEXO_SUJETO_ASISTENCIA:blanca], de nacionalidad alemana, pérdida blanca, varón [ID_SUJETO_ASISTENCIA:negro]", "mujer [ID_SUJETO_ASISTENCIA:blanca], de nacionalidad [ID_SUJETO_ASISTENCIA:alemana], pérdida blanca, varón [ID_SUJETO_ASISTENCIA:negro]"},
	{"date-borders", "primary-care", "alta el [DATE:3 de mayo de 2023]: bien", "alta el [DATE:3 de mayo de 2023]: bien"},
	{"date-borders", "primary-care", "el [DATE:10 de abril de 09] : 01 h", "el [DATE:10 de abril] de 09 : 01 h"},
	{"script", "primary-care", "con محمد", "con محمد"}, // not without a view; TestScript
	{"script", "primary-care", "con محمد", "con محمد"}, // not without a view; TestScript
	{"date-borders", "primary-care", "en el [DATE:año 1998] y desde [DATE:a 2013]", "en el año [DATE:1998] y desde a [DATE:2013]"},
	{"date-borders", "primary-care", "del [DATE:14 al 27 de abril], [DATE:15 - 31 de mayo], [DATE:15-16 de mayo]", "del [DATE:14] al [DATE:27 de abril], [DATE:15] - [DATE:31 de mayo], [DATE:15-16 de mayo]"},
	{"date-borders", "primary-care", "[DATE:2008-2009], [DATE:2003 y 2006], [DATE:enero a marzo 2012], [DATE:Mayo-Junio 2019], [DATE:1 y 2 de enero]", "[DATE:2008]-[DATE:2009], [DATE:2003] y [DATE:2006], [DATE:enero] a [DATE:marzo 2012], [DATE:Mayo]-[DATE:Junio 2019], [DATE:1 y 2 de enero]"},
	{"date-borders", "primary-care", "[DATE:martes 3 de mayo], [DATE:12/03/2014], [DATE:3-mayo-2014]", "[DATE:martes 3 de mayo], [DATE:12/03/2014], [DATE:3-mayo-2014]"},
	{"initials", "primary-care", "ho diu J. M. P., avisada MJ; (A.B.)", "ho diu [PERSON:J. M. P.], avisada MJ; ([PERSON:A.B.])"},
	{"initials", "primary-care", "T.A. 120, M.M.I.I. sin edemas, A.B.C.D.E. y A.Bien, plan A. B\nÉ.Ñ. Puig", "T.A. 120, M.M.I.I. sin edemas, A.B.C.D.E. y A.Bien, plan A. B\n[PERSON:É.Ñ.] Puig"},
	{"initials", "primary-care", "B.P. 120/80, D.O.B. on file, seen by A. B. and P.M.", "B.P. 120/80, D.O.B. on file, seen by [PERSON:A. B.] and [PERSON:P.M.]"},
	{"initials-beside", "primary-care", "M. [PERSON:Puig] y J.M.[PERSON:Soler], [PERSON:Anna] P. ve a [PERSON:Pere] T.", "[PERSON:M. Puig] y [PERSON:J.M.Soler], [PERSON:Anna P.] ve a [PERSON:Pere T.]"},
	{"initials-beside", "primary-care", "vitamina D.\n[PERSON:Ana] y [PERSON:Pere] [PERSON:M.] [PERSON:Puig] A.Bien, [LOCATION:Reus] P.", "vitamina D.\n[PERSON:Ana] y [PERSON:Pere] [PERSON:M.] [PERSON:Puig] A.Bien, [LOCATION:Reus] P."},
	{"house-number", "primary-care", "vive en [LOCATION:Carrer Major] 12, [LOCATION:c/ Balears], 3 y [LOCATION:Pl. Nova] 7. Bien", "vive en [LOCATION:Carrer Major 12], [LOCATION:c/ Balears, 3] y [LOCATION:Pl. Nova 7]. Bien"},
	{"house-number", "primary-care", "[LOCATION:Reus] 12/3/20, [LOCATION:Reus] 12:30, [LOCATION:Reus] 3mg, [LOCATION:Reus] 1999, [LOCATION:Reus]. 3, [LOCATION:Reus] 5%", "[LOCATION:Reus] 12/3/20, [LOCATION:Reus] 12:30, [LOCATION:Reus] 3mg, [LOCATION:Reus] 1999, [LOCATION:Reus]. 3, [LOCATION:Reus] 5%"},
}

// TestScript checks words of other scripts, which have a view; Greek is no name.
func TestScript(t *testing.T) {
	b := batchOf(t, "primary-care", "con su hijo محمد العمراني, β-talasemia, µg y 王小明; Олександр Шевченко traduce")
	for i := range b.Text.Len() {
		text := b.Text.At(i)
		b.View.Append(text)
		from := make([]int32, len(text)+1)
		for k := range from {
			from[k] = int32(k)
		}
		b.ViewFrom.Append(from...)
	}
	run(t, only(t, "primary-care", "script"), b)
	want := "con su hijo [PERSON:محمد العمراني], β-talasemia, µg y [PERSON:王小明]; [PERSON:Олександр Шевченко] traduce"
	if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRules(t *testing.T) {
	covered := map[string]bool{}
	for _, tt := range ruleTests {
		covered[tt.rule] = true
		b := batchOf(t, tt.labels, tt.in)
		run(t, only(t, tt.labels, tt.rule), b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.rule, got, tt.out)
		}
	}
	for _, name := range RuleNames() {
		if !covered[name] {
			t.Errorf("rule %s has no case", name)
		}
	}
}

var repeatTests = []struct{ name, in, out string }{
	{"whole", "[PERSON:Ana Puig] viene. ANA PUIG bien", "[PERSON:Ana Puig] viene. [PERSON:ANA PUIG] bien"},
	{"accents and glue", "[PERSON:Mc Donald] y [PERSON:García Soler]; McDonald, GARCIA-SOLER", "[PERSON:Mc Donald] y [PERSON:García Soler]; [PERSON:McDonald], [PERSON:GARCIA-SOLER]"},
	{"decomposed", "[PERSON:Muñoz] y Mun\u0303oz", "[PERSON:Muñoz] y [PERSON:Mun\u0303oz]"},
	{"part", "[PERSON:Ana Tremps Puig]. Tremps mejora, ana no", "[PERSON:Ana Tremps Puig]. [PERSON:Tremps] mejora, ana no"},
	{"part in the surname list", "[PERSON:Ana Soler]: soler mejora", "[PERSON:Ana Soler]: [PERSON:soler] mejora"},
	{"part and its spellings", "tremps [PERSON:Ana Tremps] Tremps", "[PERSON:tremps] [PERSON:Ana Tremps] [PERSON:Tremps]"},
	{"common word", "[PERSON:Ana Blanco] color Blanco", "[PERSON:Ana Blanco] color Blanco"},
	{"eponym", "[PERSON:Ana Parkinson] con Parkinson", "[PERSON:Ana Parkinson] con Parkinson"},
	{"short", "[PERSON:Al] y al, [AGE:2] de 2", "[PERSON:Al] y al, [AGE:2] de 2"},
	{"number", "tel [TELEPHONE:93 400 00 00] o 934000000", "tel [TELEPHONE:93 400 00 00] o [TELEPHONE:934000000]"},
	{"inside a word", "[LOCATION:Sort] sortida resort", "[LOCATION:Sort] sortida resort"},
	{"before and behind", "Puig. [PERSON:Puig]. Puig.", "[PERSON:Puig]. [PERSON:Puig]. [PERSON:Puig]."},
	{"over a line", "[PERSON:Ana Puig] y Ana\nPuig", "[PERSON:Ana Puig] y [PERSON:Ana\nPuig]"},
	{"longest first", "[PERSON:Puig] [LOCATION:Puig Alt] . puig alt", "[PERSON:Puig] [LOCATION:Puig Alt] . [LOCATION:puig alt]"},
}

func TestRepeats(t *testing.T) {
	for _, tt := range repeatTests {
		b := batchOf(t, "primary-care", tt.in)
		o, _ := defaults("primary-care")
		o.Lexicons, o.Rules = testLexicons, nil
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.out)
		}
		for _, s := range b.Spans.At(0) {
			if s.Source != pipeline.FromModel && s.Source != pipeline.FromRepeat {
				t.Errorf("%s: source %v", tt.name, s.Source)
			}
		}
	}
}

var listTests = []struct{ name, in, out string }{
	{"lexicon", "enf de [PERSON:Parkinson] con [PERSON:Enalapril]", "enf de Parkinson con Enalapril"},
	{"title", "la Sra. [PERSON:Parkinson]", "la Sra. [PERSON:Parkinson]"},
	{"given name before", "Rosa [PERSON:Wilson] y rosa [PERSON:Wilson]", "Rosa [PERSON:Wilson] y rosa Wilson"},
	{"given name behind", "[PERSON:Wilson] Ana", "[PERSON:Wilson] Ana"},
	{"not wholly", "[PERSON:Ana Parkinson]", "[PERSON:Ana Parkinson]"},
	{"configured, several words", "signo de [PERSON:Pere Roca] y [PERSON:Roca]; [PERSON:Pere Roca Pi]", "signo de Pere Roca y [PERSON:Roca]; [PERSON:Pere Roca Pi]"},
	{"always", "vive en MÁS del pi, [PERSON:Ana]", "vive en [LOCATION:MÁS del pi], [PERSON:Ana]"},
	{"always over the model", "[PERSON:Mas] del Pi", "[LOCATION:Mas del Pi]"},
}

func TestLists(t *testing.T) {
	for _, tt := range listTests {
		o := only(t, "primary-care")
		o.Never = []string{"signo de Pere Roca"}
		o.Always = []Entry{{"Mas del Pi", "LOCATION"}}
		b := batchOf(t, "primary-care", tt.in)
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.out)
		}
	}
}

func TestNeverSparesPatterns(t *testing.T) {
	o := only(t, "primary-care")
	o.Never = []string{"61234567Q"}
	b := batchOf(t, "primary-care")
	dni, _ := pipeline.ParseCategory("DNI")
	add(b, []byte("dni 61234567Q"), nil, []pipeline.Match{{Start: 4, End: 13, Score: .9, Category: dni}})
	run(t, o, b)
	if len(b.Spans.At(0)) != 1 {
		t.Error("the never list dropped a pattern")
	}
}

func TestPatterns(t *testing.T) {
	const text = "x 12345678Z y 5/2 fin"
	dni, _ := pipeline.ParseCategory("DNI")
	date, _ := pipeline.ParseCategory("DATE")
	o := only(t, "primary-care")
	o.MinScore = map[string]float32{"DNI": .8, "DATE": .8}
	for _, tt := range []struct {
		name    string
		matches []pipeline.Match
		out     string
	}{
		{"low", []pipeline.Match{{Start: 14, End: 17, Score: .5, Category: date}}, text},
		{"high", []pipeline.Match{{Start: 14, End: 17, Score: .8, Category: date}}, "x 12345678Z y [DATE:5/2] fin"},
		{"low but checked", []pipeline.Match{{Start: 2, End: 11, Score: .3, Category: dni, Checked: true}}, "x [DNI:12345678Z] y 5/2 fin"},
		{"overlap", []pipeline.Match{{Start: 2, End: 13, Score: .9, Category: dni}, {Start: 12, End: 17, Score: .9, Category: date}}, "x [DNI:12345678Z y 5/2] fin"},
	} {
		b := batchOf(t, "primary-care")
		add(b, []byte(text), nil, tt.matches)
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.out)
		}
	}
}

func TestCounts(t *testing.T) {
	o := only(t, "primary-care", "titles")
	o.Never = []string{"Roca"}
	o.Always = []Entry{{"Mas del Pi", "LOCATION"}}
	o.Counts = new(Counts)
	step, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // two workers
		b := batchOf(t, "primary-care", "[PERSON:Roca] Mas del Pi", "[PERSON:Dr. Ana] con [PERSON:Parkinson] Mas del Pi")
		if err := step.New()(b); err != nil {
			t.Fatal(err)
		}
	}
	got := o.Counts.Take()
	if got.Never[0] != 2 || got.Always[0] != 4 || got.NeverLists[0] != 2 || got.NeverLists[1] != 0 {
		t.Errorf("lists: %+v", got)
	}
	if got.Sources[pipeline.FromModel] != 2 || got.Sources[pipeline.FromList] != 4 {
		t.Errorf("sources: %v", got.Sources)
	}
	if got.Rules[slices.Index(RuleNames(), "titles")] != 2 {
		t.Errorf("rules: %v", got.Rules)
	}
}

// A span of the model has its own probability, of a model that says one; what
// others find has theirs.
func TestSpanProbs(t *testing.T) {
	for name, tt := range map[string]struct {
		probs [][]float32
		want  []float32
	}{
		"none":           {nil, []float32{.25, .25, .5}},
		"each":           {[][]float32{{.75, .875}, {.9375}}, []float32{.75, .875, .9375}},
		"of one note":    {[][]float32{{}, {.9375}}, []float32{.25, .25, .9375}},
		"of other spans": {[][]float32{{.75}, {.9375, 1}}, []float32{.25, .25, .5}},
	} {
		b := batchOf(t, "primary-care", "[PERSON:Ana] en [LOCATION:Soto]", "[PERSON:Eva]")
		b.Conf = []float32{.25, .5}
		for _, probs := range tt.probs {
			b.SpanProbs.Append(probs...)
		}
		run(t, only(t, "primary-care"), b)
		var got []float32
		for _, s := range b.Spans.Items {
			got = append(got, s.Score)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
	o := only(t, "primary-care")
	o.Always = []Entry{{"Mas del Pi", "LOCATION"}}
	b := batchOf(t, "primary-care", "[PERSON:Ana] en Mas del Pi con Ana")
	b.Conf = []float32{.25}
	b.SpanProbs.Append(.75)
	run(t, o, b)
	for _, s := range b.Spans.At(0) {
		if want := map[pipeline.SpanSource]float32{pipeline.FromModel: .75, pipeline.FromList: 1, pipeline.FromRepeat: .75}[s.Source]; s.Score != want {
			t.Errorf("source %v: %v, want %v", s.Source, s.Score, want)
		}
	}
}

func TestUnsoundNotes(t *testing.T) {
	b := batchOf(t, "primary-care", "[PERSON:Ana]", "[PERSON:Ana]")
	b.Reason[0] = pipeline.TooLong
	run(t, only(t, "primary-care"), b)
	if b.Spans.Len() != 2 || len(b.Spans.At(0)) != 0 || len(b.Spans.At(1)) != 1 {
		t.Errorf("spans %v", b.Spans)
	}
}

type panicking struct{}

func (panicking) Contains([]byte) bool { panic("a list is broken") }

func TestPanicIsQuarantined(t *testing.T) {
	o := only(t, "primary-care")
	o.Lexicons.Never = []NamedLexicon{{"broken", panicking{}}}
	b := batchOf(t, "primary-care", "sin nada", "[PERSON:Ana]", "sin nada")
	run(t, o, b)
	if b.Reason[0] != pipeline.Sound || b.Reason[1] != pipeline.Panicked || b.Spans.Len() != 3 || len(b.Spans.Items) != 0 {
		t.Errorf("reasons %v, spans %v", b.Reason, b.Spans)
	}
}

func TestBadOptions(t *testing.T) {
	for name, change := range map[string]func(*Options){
		"labels":   func(o *Options) { o.Labels = "x" },
		"category": func(o *Options) { o.Categories = map[string]string{"DNI": "x"} },
		"pattern":  func(o *Options) { o.Categories = map[string]string{"x": "DNI"} },
		"score":    func(o *Options) { o.MinScore = map[string]float32{"x": 1} },
		"rule":     func(o *Options) { o.Rules = map[string]bool{"x": false} },
		"repeat":   func(o *Options) { o.Repeat = []string{"x"} },
		"always":   func(o *Options) { o.Always = []Entry{{"Pi", "x"}} },
		"no word":  func(o *Options) { o.Always = []Entry{{"--", "PERSON"}} },
		"long":     func(o *Options) { o.Never = []string{strings.Repeat("a", 200)} },
	} {
		o := only(t, "primary-care")
		change(&o)
		if _, err := New(o); err == nil || !strings.HasPrefix(err.Error(), "resolve: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// What is found in the view of a note is a span of the note.
func TestSpansOfAView(t *testing.T) {
	b := batchOf(t, "primary-care", "veo a \u0410na Pu\u0069\u200bg, ojo o\ufb01cina")
	text := b.Text.At(0)
	b.View.Data, b.ViewFrom.Items = view.Append(nil, nil, text)
	b.View.End()
	b.ViewFrom.End()
	o := only(t, "primary-care")
	o.Always = []Entry{{"ana puig", "PERSON"}, {"oficina", "LOCATION"}}
	run(t, o, b)
	if got, want := markup.Write(text, b.Spans.At(0)), "veo a [PERSON:\u0410na Pui\u200bg], ojo [LOCATION:o\ufb01cina]"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestKnownStaysWhole: no rule makes a known span smaller, nor what a list of the house
// says, and what lies across spans of the model is masked to its end.
func TestKnownStaysWhole(t *testing.T) {
	for _, c := range []struct{ known, model, want string }{ // of the same text
		{"ve [PERSON:amiga de Ana Puig]", "ve amiga de Ana Puig", "ve [PERSON:amiga de Ana Puig]"},
		{"ve [PERSON:Ana Puig, Juan Soler i Maria Puig]", "ve [PERSON:Ana Puig, Juan Soler i Maria] Puig", "ve [PERSON:Ana Puig, Juan Soler i Maria Puig]"},
		{"ve amiga [PERSON:de Ana Puig]", "ve [PERSON:amiga de Ana] Puig", "ve [PERSON:amiga de Ana Puig]"},
		{"nace [DATE:año 1998]", "nace año 1998", "nace [DATE:año 1998]"},
		{"de [DATE:2003-2006]", "de [DATE:2003-2006]", "de [DATE:2003-2006]"},
	} {
		text, known, err := markup.Parse(c.known)
		if err != nil {
			t.Fatal(err)
		}
		for i := range known {
			known[i].Source = pipeline.FromKnown
		}
		b := batchOf(t, "primary-care", c.model)
		b.Known.Append(known...)
		o := only(t, "primary-care", "titles", "date-borders")
		run(t, o, b)
		if got := markup.Write(text, b.Spans.At(0)); got != c.want {
			t.Errorf("%s: got %s, want %s", c.known, got, c.want)
		}
	}
}

// TestKnownCovered: whatever model, rules and priority say, every letter of a known
// span is masked, and spans stay in order and apart.
func TestKnownCovered(t *testing.T) {
	words := []string{"Ana", "Puig,", "Juan", "i", "Soler", "de", "amiga", "Reus,", "1998", "-", "2003", "año", "Dra."}
	rapid.Check(t, func(r *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 1, 12).Draw(r, "words"), " ")
		tokens := tokensOf(nil, []byte(text))
		spansIn := func(what string) (all []pipeline.Span) {
			at := 0
			for at < len(tokens) {
				first := at + rapid.IntRange(0, 3).Draw(r, what)
				last := first + rapid.IntRange(0, 4).Draw(r, what)
				if last >= len(tokens) {
					break
				}
				c := rapid.SampledFrom([]string{"PERSON", "DATE", "LOCATION"}).Draw(r, what)
				category, err := pipeline.ParseCategory(c)
				if err != nil {
					r.Fatal(err)
				}
				all = append(all, pipeline.Span{Start: tokens[first].Start, End: tokens[last].End, Category: category})
				at = last + 1
			}
			return all
		}
		set, err := pipeline.Labels("primary-care")
		if err != nil {
			r.Fatal(err)
		}
		b := &pipeline.Batch{TagSet: &pipeline.TagSet{Categories: set.Categories}}
		add(b, []byte(text), spansIn("model"), nil)
		known := spansIn("known")
		for i := range known {
			known[i].Source = pipeline.FromKnown
		}
		b.Known.Append(known...)
		o, err := defaults("primary-care")
		if err != nil {
			r.Fatal(err)
		}
		o.Lexicons = testLexicons
		run(t, o, b)
		at := int32(0)
		for _, s := range b.Spans.At(0) {
			if s.Start < at || s.End <= s.Start {
				r.Fatalf("spans %v", b.Spans.At(0))
			}
			at = s.End
		}
		for _, k := range known {
			for i := k.Start; i < k.End; i++ {
				in := slices.ContainsFunc(b.Spans.At(0), func(s pipeline.Span) bool { return s.Start <= i && i < s.End })
				if c := text[i]; !in && c != ' ' && c != ',' && c != '-' && c != '.' {
					r.Fatalf("byte %d of a known span is not masked: %v", i, b.Spans.At(0))
				}
			}
		}
	})
}
