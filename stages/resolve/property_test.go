package resolve

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/velum-health/velum/models/tag/overlap"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// foldWords is the slow way to compare words.
func foldWords(s string) string {
	var b strings.Builder
	fold := strings.NewReplacer("á", "a", "é", "e", "í", "i", "ó", "o", "ú", "u", "ü", "u", "ñ", "n", "ç", "c", "à", "a", "è", "e", "ò", "o", "ï", "i", "·", "", "\u0301", "", "\u0303", "")
	for _, r := range fold.Replace(strings.ToLower(s)) {
		if inWord(r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func TestHashOfWordsIsHashOfFold(t *testing.T) {
	table, _ := newWordTable(shipped)
	hash := func(s string) uint64 {
		h := uint64(0)
		words, _ := table.appendWords(nil, []byte(s), tokensOf(nil, []byte(s)))
		for i := range words {
			words[i].fold([]byte(s))
			h = join(h, &words[i])
		}
		return h
	}
	rapid.Check(t, func(t *rapid.T) {
		pool := rapid.StringMatching(`[aáàAÁbBñÑn\x{303}ÇçĿŀl· 1,\-]{0,8}`)
		a, b := pool.Draw(t, "a"), pool.Draw(t, "b")
		a, b = strings.ReplaceAll(a, "ŀ", "l·"), strings.ReplaceAll(b, "Ŀ", "L·")
		if hash(a) != hash(foldWords(strings.ReplaceAll(a, "Ŀ", "L·"))) {
			t.Fatalf("%q and its fold %q differ", a, foldWords(a))
		}
		if foldWords(a) != foldWords(b) && !strings.ContainsAny(a+b, "Ŀŀ") && hash(a) == hash(b) {
			t.Fatalf("%q and %q collide", a, b)
		}
	})
}

// What the tokenizer says of a token saves looking at it: the words are those of a look
// at every byte.
func TestFlaggedWords(t *testing.T) {
	table, _ := newWordTable(shipped)
	rapid.Check(t, func(t *rapid.T) {
		text := []byte(rapid.StringMatching(`(([A-Z]{0,2}[a-z]{1,20}|[0-9]{1,9}|año|Dra|de|del|Hospital|,|\n) ?){0,9}`).Draw(t, "text"))
		plain := tokensOf(nil, text)
		flagged := slices.Clone(plain)
		for i, tok := range plain {
			switch form := string(text[tok.Start:tok.End]); {
			case strings.Trim(form, "0123456789") == "":
				flagged[i].Flags |= pipeline.Figures
			case strings.TrimLeft(strings.TrimLeft(form, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"), "abcdefghijklmnopqrstuvwxyz") == "":
				flagged[i].Flags |= pipeline.Letters
			}
		}
		want, classes := table.appendWords(nil, text, plain)
		got, seen := table.appendWords(nil, text, flagged)
		if seen != classes || len(got) != len(want) {
			t.Fatalf("%q: %d words of classes %b, want %d of %b", text, len(got), seen, len(want), classes)
		}
		for i := range want {
			want[i].fold(text)
			got[i].fold(text)
			if got[i] != want[i] {
				t.Fatalf("%q: word %d is %+v, want %+v", text, i, got[i], want[i])
			}
		}
	})
}

// Every trigger is found however it is written.
func TestTriggers(t *testing.T) {
	table, _ := newWordTable(shipped)
	for i, name := range classNames {
		list, class := strings.Join(shipped[name], " "), class(1)<<i
		for _, s := range []string{list, strings.ToUpper(list), string(gazetteer.Fold(nil, []byte(list)))} {
			words, seen := table.appendWords(nil, []byte(s), tokensOf(nil, []byte(s)))
			for _, w := range words {
				if w.class&class == 0 {
					t.Errorf("%s is not in list %s", s[w.start:w.end], name)
				}
			}
			if seen&class == 0 {
				t.Errorf("list %s is not seen", name)
			}
		}
	}
}

var names = strings.Fields("Ana Puig Soler Vidal Roca Serra Pons Mas Font Riera Dr Dra Sra Parkinson Blanco de la Hospital Sort 70 años edad varón Edad Fax Tel 934000000 28036 Sexo H NºCol 28 color dolor visita . , : ( ) @ \n - Muñoz GARCIA garcia")

func drawNote(t *rapid.T) ([]byte, []pipeline.Span) {
	words := rapid.SliceOfN(rapid.SampledFrom(names), 1, 40).Draw(t, "words")
	var text []byte
	var spans []pipeline.Span
	for _, x := range words {
		start := int32(len(text))
		text = append(text, x...)
		if rapid.IntRange(0, 3).Draw(t, "mark") == 0 && strings.TrimSpace(x) != "" {
			spans = append(spans, pipeline.Span{Start: start, End: int32(len(text)), Category: pipeline.Category(rapid.IntRange(1, 9).Draw(t, "category"))})
		}
		if rapid.IntRange(0, 4).Draw(t, "space") > 0 {
			text = append(text, ' ')
		}
	}
	return text, spans
}

// checkNote tests what holds for every note: spans are sorted, disjoint,
// non-empty, on token borders as far as they are the model's, and no value
// of three or more letters is left at another place.
func checkNote(t interface{ Fatalf(string, ...any) }, text []byte, spans []pipeline.Span) {
	at := int32(0)
	for i, s := range spans {
		if s.Start < at || s.End <= s.Start || int(s.End) > len(text) || s.Category == pipeline.None || s.Score < 0 || s.Score > 1 {
			t.Fatalf("span %d %v is not behind byte %d", i, s, at)
		}
		at = s.End
	}
}

func TestNoteProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		labels := rapid.SampledFrom([]string{"primary-care", "meddocan", "i2b2"}).Draw(rt, "labels")
		o, err := defaults(labels)
		if err != nil {
			rt.Fatal(err)
		}
		o.MinScore = nil
		o.Rules["date-borders"] = false // it leaves out what leads to a date, and the word between two
		if rapid.Bool().Draw(rt, "lexicons") {
			o.Lexicons = testLexicons
			o.Lexicons.Never = nil
		}
		text, spans := drawNote(rt)
		b := batchOf(t, labels)
		for i := range spans {
			spans[i].Category = b.TagSet.Categories[int(spans[i].Category)%len(b.TagSet.Categories)]
		}
		matches := drawMatches(rt, int32(len(text)))
		add(b, text, spans, matches)
		run(t, o, b)
		if b.Reason[0] != pipeline.Sound {
			rt.Fatalf("note is %v", b.Reason[0])
		}
		out := b.Spans.At(0)
		checkNote(rt, text, out)
		model := b.TagSet.Decode(nil, b.Tokens.At(0), b.TagsOf(0))
		for at, c := range text {
			kept := slices.ContainsFunc(out, func(s pipeline.Span) bool { return int(s.Start) <= at && at < int(s.End) })
			if kept || overlap.Blank([]byte{c}) {
				continue
			}
			for _, m := range matches {
				if int(m.Start) <= at && at < int(m.End) && o.Categories[m.Category.String()] != "" {
					rt.Fatalf("byte %d of a match is not masked", at)
				}
			}
			for _, s := range model {
				if int(s.Start) <= at && at < int(s.End) && !beforeName(text, s) {
					rt.Fatalf("byte %d of a model span is not masked", at)
				}
			}
		}
	})
}

// beforeName tells whether a span may lose letters: it begins with a title.
func beforeName(text []byte, s pipeline.Span) bool {
	return strings.HasPrefix(string(text[s.Start:s.End]), "Dr") || strings.HasPrefix(string(text[s.Start:s.End]), "Sra") || overlap.Blank(text[s.Start:s.End])
}

func drawMatches(t *rapid.T, length int32) []pipeline.Match {
	set, _ := pipeline.Labels("pattern")
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pipeline.Match {
		start := rapid.Int32Range(0, length-1).Draw(t, "start")
		return pipeline.Match{
			Start: start, End: rapid.Int32Range(start+1, length).Draw(t, "end"),
			Category: rapid.SampledFrom(set.Categories).Draw(t, "category"),
			Score:    1, Checked: rapid.Bool().Draw(t, "checked"),
		}
	}), 0, 4).Draw(t, "matches")
}

// TestRepeatsLeaveNothing compares with the slow way: every place where the
// words of a found value stand is looked at.
func TestRepeatsLeaveNothing(t *testing.T) {
	o, _ := defaults("primary-care")
	rapid.Check(t, func(rt *rapid.T) {
		text, spans := drawNote(rt)
		b := batchOf(t, "primary-care")
		for i := range spans {
			spans[i].Category = b.TagSet.Categories[0]
		}
		add(b, text, spans, nil)
		run(t, o, b)
		words, _ := new(wordTable).appendWords(nil, text, b.Tokens.At(0))
		folded := func(i, j int) (s string) {
			for _, w := range words[i:j] {
				s += foldWords(string(text[w.start:w.end]))
			}
			return s
		}
		masked := func(i, j int) bool {
			return slices.ContainsFunc(b.Spans.At(0), func(s pipeline.Span) bool {
				return s.Start < words[j-1].end && s.End > words[i].start
			})
		}
		for _, s := range b.Spans.At(0) {
			value := foldWords(string(text[s.Start:s.End]))
			if len(value) < shortestValue {
				continue
			}
			for i := range words {
				for j := i + 1; j <= len(words); j++ {
					if folded(i, j) == value && !masked(i, j) {
						rt.Fatalf("value of span %d-%d stands at %d", s.Start, s.End, words[i].start)
					}
				}
			}
		}
	})
}

func FuzzNote(f *testing.F) {
	f.Add("Visto por Dra. Ana Puig (Hospital Vall Verda), varón de 70 años. Fax: 934000000", uint64(1))
	f.Add("Sexo: H\nNºCol: 28 28 70973 28036 Sort ana@x.org", uint64(2))
	f.Add("Mun\u0303oz ŀl·l ªº ﬁ \xff\xfe İ", uint64(3))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		for _, labels := range []string{"primary-care", "meddocan"} {
			o, _ := defaults(labels)
			o.Lexicons = testLexicons
			o.Always = []Entry{{"ana", o.Repeat[0]}}
			o.Never = []string{"puig roca"}
			b := batchOf(t, labels)
			rng := rand.New(rand.NewPCG(seed, 1))
			tokens := tokensOf(nil, []byte(text))
			var spans []pipeline.Span
			for i := range tokens {
				if rng.IntN(4) == 0 {
					spans = append(spans, pipeline.Span{Start: tokens[i].Start, End: tokens[i].End, Category: b.TagSet.Categories[rng.IntN(len(b.TagSet.Categories))]})
				}
			}
			add(b, []byte(text), spans, nil)
			run(t, o, b)
			if b.Reason[0] != pipeline.Sound {
				t.Fatalf("note is %v", b.Reason[0])
			}
			checkNote(t, []byte(text), b.Spans.At(0))
		}
	})
}

// A note of 1 MB with 10,000 found values must not be quadratic.
func TestLongNote(t *testing.T) {
	var marked strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&marked, "[PERSON:Ana Puig%c%c%c] visita, Ana Puig aaa bbb ana soler, color del dolor, control anual de la norma en la visita siguiente ok. ", 'a'+i%26, 'a'+i/26%26, 'a'+i/676)
	}
	b := batchOf(t, "primary-care", marked.String())
	o, _ := defaults("primary-care")
	o.Lexicons = testLexicons
	begin := time.Now()
	run(t, o, b)
	if d := time.Since(begin); d > 5*time.Second {
		t.Errorf("took %v for %d bytes", d, b.Text.Offsets[1])
	}
	if len(b.Spans.Items) < 10000 {
		t.Errorf("%d spans", len(b.Spans.Items))
	}
}

// benchmarked returns a batch of a thousand notes and what resolves it.
func benchmarked(t testing.TB, l Lexicons, notes ...string) (*pipeline.Batch, func(*pipeline.Batch) error) {
	batch := batchOf(t, "primary-care")
	for i := range 1000 {
		text, spans, err := markup.Parse(notes[i%len(notes)])
		if err != nil {
			t.Fatal(err)
		}
		add(batch, text, spans, nil)
	}
	o, _ := defaults("primary-care")
	o.Lexicons, o.Counts = l, new(Counts)
	step, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return batch, step.New()
}

// quiet is a word list that allocates nothing, as that of the program.
type quiet map[string]bool

func (q quiet) Contains(phrase []byte) bool {
	var room [32]byte
	if len(phrase) > len(room) {
		return false
	}
	n := copy(room[:], phrase)
	for i, c := range room[:n] {
		if 'A' <= c && c <= 'Z' {
			room[i] = c + 'a' - 'A'
		}
	}
	return q[string(room[:n])]
}

// TestAllocations wants none in steady state, whatever the notes hold.
func TestAllocations(t *testing.T) {
	list := quiet{"lopez": true, "pau": true, "la": true, "seu": true, "mari": true, "control": true}
	lists := Lexicons{GivenNames: list, Surnames: list, Common: list, Never: []NamedLexicon{{"some", list}}}
	batch, do := benchmarked(t, lists, append(someNotes,
		"PAC. MARI [PERSON:JOSE LOPEZ] DE [LOCATION:LA SEU], DNI 12345678Z. LOPEZ NO ACUDE",
		"Mail [EMAIL:a.b@c.es] y tel [TELEPHONE:600 11 22 33], [PERSON:Dr. Pau Riu-Sol] el [DATE:3/4/2020], 70 años. Riu vuelve en 3 meses. Riu.")...)
	var err error
	if n := testing.AllocsPerRun(10, func() {
		batch.Spans.Reset()
		err = errors.Join(err, do(batch))
	}); n != 0 || err != nil {
		t.Errorf("%v allocations in 1000 notes, %v", n, err)
	}
}

func benchmark(b *testing.B, notes ...string) {
	batch, do := benchmarked(b, Lexicons{}, notes...)
	b.ReportAllocs()
	b.SetBytes(int64(len(batch.Text.Data)))
	for b.Loop() {
		batch.Spans.Reset()
		if err := do(batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Len()), "ns/note")
}

const plain = "Pac de seguimiento por HTA. Control correcto, refiere buen descanso. tto igual: enalapril 10 mg/24h, control en 3 meses con analítica"

func BenchmarkPlainNotes(b *testing.B) { benchmark(b, plain) }

var someNotes = []string{plain, plain, plain, plain, plain, plain, plain,
	"Visto por Dra. [PERSON:Puig Soler] en [LOCATION:CAP Tortuga], varón de 70 años. La Sra. Puig vendrá mañana a recoger receta"}

func BenchmarkNotes(b *testing.B) { benchmark(b, someNotes...) }
