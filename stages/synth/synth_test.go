package synth

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

var update = flag.Bool("update", false, "write testdata/golden.txt anew")

// each calls do for every note of a source.
func each(t testing.TB, o Options, do func(b *pipeline.Batch, i int)) {
	t.Helper()
	src, b := New(o), new(pipeline.Batch)
	for {
		b.Reset()
		err := src.Next(b)
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			do(b, i)
		}
	}
}

// archive writes notes as text: ids, marked notes and extra columns.
func archive(t testing.TB, o Options) string {
	var s strings.Builder
	each(t, o, func(b *pipeline.Batch, i int) {
		fmt.Fprintf(&s, "%s %s", b.ID.At(i), markup.Write(b.Text.At(i), b.Gold.At(i)))
		if o.Columns {
			fmt.Fprintf(&s, " | %d %d %s %s", b.Extra[0].Fixed[i], b.Extra[1].Fixed[i], b.Extra[2].Bytes.At(i), b.Extra[3].Bytes.At(i))
		}
		s.WriteByte('\n')
	})
	return s.String()
}

// TestDeterminism makes the same archive in batches and parts of any size.
func TestDeterminism(t *testing.T) {
	whole := Options{Notes: 300, Seed: 7, Density: 3, Reports: 0.02, Columns: true}
	want := archive(t, whole)
	if other := whole; true {
		other.Seed++
		if archive(t, other) == want {
			t.Fatal("another seed makes the same notes")
		}
	}
	rapid.Check(t, func(rt *rapid.T) {
		var got strings.Builder
		for at := int64(0); at < whole.Notes; {
			part := whole
			part.First = at
			part.Notes = min(rapid.Int64Range(1, 200).Draw(rt, "notes"), whole.Notes-at)
			part.Batch = rapid.IntRange(1, 64).Draw(rt, "batch")
			got.WriteString(archive(t, part))
			at += part.Notes
		}
		if got.String() != want {
			rt.Fatal("a part of the archive differs from the whole")
		}
	})
}

// TestSpans checks what every reader of gold relies on.
func TestSpans(t *testing.T) {
	for split := range numSplits {
		each(t, Options{Notes: 20000, Seed: 3, Split: split, Density: 4, Reports: 0.02}, func(b *pipeline.Batch, i int) {
			text, end := b.Text.At(i), int32(0)
			if len(text) == 0 || !utf8.Valid(text) || b.Reason[i] != pipeline.Sound {
				t.Errorf("note %s: empty or not UTF-8", b.ID.At(i))
			}
			for _, s := range b.Gold.At(i) {
				if s.Start < end || s.End <= s.Start || int(s.End) > len(text) {
					t.Fatalf("note %s: bad span [%d, %d)", b.ID.At(i), s.Start, s.End)
				}
				end = s.End
				value := text[s.Start:s.End]
				if len(bytes.TrimSpace(value)) != len(value) || !utf8.Valid(value) {
					t.Errorf("note %s: span [%d, %d) begins or ends inside a blank or letter", b.ID.At(i), s.Start, s.End)
				}
				if s.Category == pipeline.None || s.Score != 1 || s.Source != pipeline.FromGold {
					t.Errorf("note %s: span without category, score or source", b.ID.At(i))
				}
			}
		})
	}
}

type count struct {
	notes, words, private, repeated int
	spans, tokens                   map[string]int
	languages                       map[string]int
}

func measure(t testing.TB, o Options) count {
	c := count{spans: map[string]int{}, tokens: map[string]int{}, languages: map[string]int{}}
	seen := map[string]bool{}
	o.Columns = true
	each(t, o, func(b *pipeline.Batch, i int) {
		text, private := b.Text.At(i), false
		c.notes++
		c.words += len(bytes.Fields(text))
		c.languages[string(b.Extra[3].Bytes.At(i))]++
		for _, s := range b.Gold.At(i) {
			name := s.Category.String()
			c.spans[name]++
			c.tokens[name] += len(bytes.Fields(text[s.Start:s.End]))
			private = private || name != "DATE" && name != "AGE"
		}
		if private {
			c.private++
		}
		if seen[string(text)] {
			c.repeated++
		}
		seen[string(text)] = true
	})
	return c
}

// TestDensities compares 50,000 notes with those of BOOT appendix B and ATN §3.
func TestDensities(t *testing.T) {
	for split := range numSplits {
		c := measure(t, Options{Notes: 50000, Seed: 1, Split: split})
		near := func(what string, got, want, tolerance float64) {
			if got < want-tolerance || got > want+tolerance {
				t.Errorf("%v: %s is %.4f, want %.4f ± %.4f", split, what, got, want, tolerance)
			}
		}
		words := float64(c.words)
		near("words a note", words/float64(c.notes), 19.19, 1.2)
		near("share of PERSON tokens", float64(c.tokens["PERSON"])/words, 0.0028, 0.0004)
		near("share of LOCATION tokens", float64(c.tokens["LOCATION"])/words, 0.0112, 0.0012)
		near("share of notes with personal information", float64(c.private)/float64(c.notes), 0.11, 0.02)
		near("Spanish notes a Catalan one", float64(c.languages["es"])/float64(c.languages["ca"]), 1.27, 0.05)
		near("share of repeated notes", float64(c.repeated)/float64(c.notes), 0.05, 0.05)
		for _, rare := range []string{"TELEPHONE", "EMAIL", "DNI", "SOCIAL_SECURITY_ID", "SANITARY_CARD_ID"} {
			near("share of "+rare+" tokens", float64(c.tokens[rare])/words, 0.00005, 0.00005)
		}
		t.Logf("%v: %.2f words a note, %.3f of notes with personal information, %.3f repeated, PERSON %.4f, LOCATION %.4f of tokens",
			split, words/float64(c.notes), float64(c.private)/float64(c.notes), float64(c.repeated)/float64(c.notes),
			float64(c.tokens["PERSON"])/words, float64(c.tokens["LOCATION"])/words)
	}
}

func TestCategories(t *testing.T) {
	set, err := pipeline.Labels("primary-care")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]bool{}
	for _, c := range set.Categories {
		want[c.String()] = true
	}
	for split := range numSplits {
		for name, o := range map[string]Options{
			"notes":   {Notes: 5000, Seed: 1, Split: split, Density: 5},
			"reports": {Notes: 200, Seed: 1, Split: split, Reports: 1},
		} {
			c := measure(t, o)
			got := slices.Sorted(maps.Keys(c.spans))
			if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), got); diff != "" {
				t.Errorf("%s of %v: categories (-want +got)\n%s", name, split, diff)
			}
			if name == "reports" && (c.words/c.notes < 250 || c.words/c.notes > 600) {
				t.Errorf("a report of %v has %d words, want about 400", split, c.words/c.notes)
			}
		}
	}
}

// TestDensityOption checks that training can ask for more.
func TestDensityOption(t *testing.T) {
	dense := measure(t, Options{Notes: 5000, Seed: 1, Density: 6})
	if got := float64(dense.private) / float64(dense.notes); got < 0.5 || got > 0.65 {
		t.Errorf("density 6 gives personal information in %.2f of the notes", got)
	}
	none := measure(t, Options{Notes: 5000, Seed: 1, Density: -1})
	if none.private != 0 {
		t.Errorf("negative density leaves %d private notes", none.private)
	}
}

// TestSplits checks that the two splits share no template and no name.
func TestSplits(t *testing.T) {
	for p := range numPools {
		train := map[string]bool{}
		for _, name := range lexicons[Train]().pools[p] {
			train[string(gazetteer.Fold(nil, []byte(name)))] = true
		}
		test := lexicons[Test]().pools[p]
		if len(train) == 0 || len(test) == 0 {
			t.Errorf("pool %d is empty", p)
		}
		for _, name := range test {
			if train[string(gazetteer.Fold(nil, []byte(name)))] {
				t.Errorf("pool %d: %s is in both splits", p, name)
			}
		}
	}
	for l := range numLanguages {
		templates := 0
		sources := allRules(t, languageNames[l])
		for name, alternatives := range sources {
			split := map[string]Split{}
			for i, a := range alternatives {
				if a.shared {
					continue
				}
				templates++
				s := splitWithin(alternatives, i)
				if other, repeated := split[a.text]; repeated && other != s {
					t.Errorf("%s: rule %s has one template in both splits", languageNames[l], name)
				}
				split[a.text] = s
			}
		}
		if templates < 250 {
			t.Errorf("%s has %d templates, want 250", languageNames[l], templates)
		}
		t.Logf("%s: %d templates in %d rules", languageNames[l], templates, len(sources))
	}
}

func allRules(t *testing.T, language string) map[string][]source {
	sources := map[string][]source{}
	for _, name := range []string{"shared", "report-" + language, language} {
		text, err := templates.ReadFile("templates/" + name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if err := readRules(text, sources); err != nil {
			t.Fatal(err)
		}
	}
	return sources
}

// TestNoNamesInTemplates checks that every gold span of a template is filled
// from pools and values, except for words such as Hospital: a name written out
// would be in both splits.
func TestNoNamesInTemplates(t *testing.T) {
	for l := range numLanguages {
		for name, alternatives := range allRules(t, languageNames[l]) {
			for _, a := range alternatives {
				for rest := a.text; ; {
					_, after, ok := strings.Cut(rest, "[PERSON:")
					if !ok {
						break
					}
					rest = after
					body := after[:strings.IndexByte(after, ']')]
					for strings.Contains(body, "{") {
						open := strings.LastIndexByte(body, '{')
						body = body[:open] + body[open+strings.IndexByte(body[open:], '}')+1:]
					}
					if strings.Trim(body, " .,ide") != "" {
						t.Errorf("%s: rule %s writes a name out", languageNames[l], name)
					}
				}
			}
		}
	}
}

// TestRulesAreUsed reports rules that no flow and no other rule names.
func TestRulesAreUsed(t *testing.T) {
	flows, err := templates.ReadFile("templates/flows.txt")
	if err != nil {
		t.Fatal(err)
	}
	for l := range numLanguages {
		sources := allRules(t, languageNames[l])
		var all strings.Builder
		all.Write(flows)
		for _, alternatives := range sources {
			for _, a := range alternatives {
				all.WriteString(a.text)
			}
		}
		for name := range sources {
			used := slices.Contains(privateRules[:], name) || slices.Contains([]string{"made.last", "made.town", "mail.host", "month.name", "month.short"}, name) || name == "hard" || name == "report" || name == "somecentre" || name == "somewhere" ||
				strings.Contains(all.String(), "{"+name+"}") || strings.Contains(string(flows), " "+name)
			if !used {
				t.Errorf("%s: nothing uses rule %s", languageNames[l], name)
			}
		}
	}
}

func TestGrammarErrors(t *testing.T) {
	for want, text := range map[string]string{
		"line 1: alternative before":  "x",
		"line 1: bad or repeated":     "= a b",
		"line 3: bad or repeated":     "= a\nx\n= a",
		"no rule \"b\"":               "{b}",
		"no value @nothing":           "{@nothing}",
		"no value @int with 1":        "{@int 1}",
		"@int: \"x\" is not a number": "{@int x 2}",
		"bracket without category":    "[x",
		"unknown category \"X\"":      "[X:x]",
		"missing one of \"]\"":        "[PERSON:x",
		"missing one of \"|}\"":       "{x|y",
		"no value @first with 2":      "{@first 1 2}",
	} {
		err := readRules([]byte(text), map[string][]source{})
		if strings.HasPrefix(want, "line") {
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q: error %v, want %s", text, err, want)
			}
			continue
		}
		p := parser{text: text, rules: grammar{}}
		if _, err := p.sequence(""); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", text, err, want)
		}
	}
}

func FuzzGrammar(f *testing.F) {
	for _, seed := range []string{"= a\n{b}", "= a shared\n3* x {y|z}", "= a\n[PERSON:{@first}]\n# c", "= a\n{@}", "= a\n{", "= a\n[", "= a\n{|", "= a\n{a|{b}}\\n", "= a\n{}", "= a\n0* x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		sources := map[string][]source{}
		if readRules(text, sources) != nil {
			return
		}
		for _, alternatives := range sources {
			for _, a := range alternatives {
				if a.weight > 1000 {
					continue
				}
				p := parser{text: a.text, rules: grammar{"a": {}}}
				if _, err := p.sequence(""); err == nil && p.text != "" {
					t.Error("the parser stopped before the end without an error")
				}
			}
		}
	})
}

// TestCheckDigits recomputes those of documents and social security numbers:
// most must be right, some wrong.
func TestCheckDigits(t *testing.T) {
	right, wrongOnes := 0, 0
	each(t, Options{Notes: 20000, Seed: 5, Density: 8}, func(b *pipeline.Batch, i int) {
		for _, s := range b.Gold.At(i) {
			if s.Category != categoryDNI {
				continue
			}
			number, letter := 0, byte(0)
			for _, c := range bytes.ToUpper(b.Text.At(i)[s.Start:s.End]) {
				switch {
				case isDigit(c):
					number = number*10 + int(c-'0')
				case c >= 'X' && c <= 'Z' && number == 0:
					number = int(c - 'X')
				case isLetter(c):
					letter = c
				}
			}
			if letter == 0 { // a collegiate number
				continue
			}
			if checkLetters[number%23] == letter {
				right++
			} else {
				wrongOnes++
			}
		}
	})
	if share := float64(wrongOnes) / float64(right+wrongOnes); right < 200 || share < 0.05 || share > 0.25 {
		t.Errorf("%d right and %d wrong check letters", right, wrongOnes)
	}
}

// TestGolden shows twenty notes and a report to the reader of a change.
func TestGolden(t *testing.T) {
	got := archive(t, Options{Notes: 20, Seed: 2013, Density: 4, Columns: true}) +
		archive(t, Options{Notes: 1, Seed: 2013, Reports: 1})
	const file = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("go test -run Golden -update writes it anew (-want +got)\n%s", diff)
	}
}

func BenchmarkNext(b *testing.B) {
	for _, c := range []struct {
		name string
		o    Options
	}{
		{"notes", Options{Seed: 1}},
		{"dense", Options{Seed: 1, Density: 5}},
		{"reports", Options{Seed: 1, Reports: 1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.o.Notes = 1 << 40
			src, batch := New(c.o), new(pipeline.Batch)
			b.ReportAllocs()
			notes := 0
			for b.Loop() {
				batch.Reset()
				if err := src.Next(batch); err != nil {
					b.Fatal(err)
				}
				notes += batch.Len()
				b.SetBytes(int64(len(batch.Text.Data)))
			}
			b.ReportMetric(float64(notes)/b.Elapsed().Seconds(), "notes/s")
		})
	}
}

// TestLengths has the percentiles of the law as they are reckoned by hand, and none so near to a half that another machine rounds it
// otherwise.
func TestLengths(t *testing.T) {
	for k, want := range map[int]int{0: 1, 1: 2, 3: 3, 15: 6, 31: 12, 32: 12, 33: 13, 47: 23, 60: 57, 62: 82, 63: 125} {
		if got := length(k); got != want {
			t.Errorf("%d of 64: %d words, want %d", k, got, want)
		}
	}
	for k := range 64 {
		x := 12 * math.Exp(0.97*math.Sqrt2*math.Erfinv(float64(2*k+1)/64-1))
		if d := math.Abs(x - math.Floor(x) - 0.5); d < 1e-3 {
			t.Errorf("%d of 64 is %v words", k, x)
		}
	}
}
