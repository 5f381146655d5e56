package patterns

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/form/control"
	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// readTable reads the cases of one pattern. A table holds the cases of one pattern: one note a line, with every answer
// of that category marked inside. A line without a mark is a note in which the
// pattern must find nothing. \n is a line end, # begins a comment.
type row struct {
	line int
	text []byte
	want []pipeline.Span
}

func readTable(t testing.TB, path string) (rows []row) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		if line := lines.Text(); line != "" && line[0] != '#' {
			text, want, err := markup.Parse(strings.ReplaceAll(line, `\n`, "\n"))
			if err != nil {
				t.Fatalf("%s:%d: %v", path, n, err)
			}
			rows = append(rows, row{n, text, want})
		}
	}
	return rows
}

// found returns the matches of one category, each of them the best claim to
// its bytes, without hints.
func found(matches []pipeline.Match, c pipeline.Category) (spans []pipeline.Span) {
	for _, m := range matches {
		if m.Category != c || m.Hint() {
			continue
		}
		best := !slices.ContainsFunc(matches, func(o pipeline.Match) bool {
			return o.Start < m.End && m.Start < o.End && o.Score > m.Score
		})
		if best {
			spans = append(spans, pipeline.Span{Start: m.Start, End: m.End, Category: c, Score: 1, Source: pipeline.FromGold})
		}
	}
	return spans
}

func tableOf(c pipeline.Category) string {
	return filepath.Join("testdata", strings.ToLower(c.String())+".txt")
}

func TestTables(t *testing.T) {
	m := New(Options{})
	for _, c := range allCategories {
		t.Run(c.String(), func(t *testing.T) {
			path := tableOf(c)
			positive, negative := 0, 0
			for _, r := range readTable(t, path) {
				matches := m.Find(nil, r.text)
				if len(r.want) > 0 {
					positive++
				} else {
					negative++
				}
				if got := found(matches, c); !slices.Equal(got, r.want) {
					t.Errorf("%s:%d:\n got %s\nwant %s\nall %v", path, r.line,
						markup.Write(r.text, got), markup.Write(r.text, r.want), matches)
				}
			}
			if positive < 40 || negative < 40 {
				t.Errorf("%s: %d positive and %d negative cases, want 40 each", path, positive, negative)
			}
		})
	}
}

// TestHighAges: ages of ninety and more are found in odd forms, too.
func TestHighAges(t *testing.T) {
	m := New(Options{})
	for _, r := range readTable(t, "testdata/age_high.txt") {
		if got := found(m.Find(nil, r.text), age); !slices.Equal(got, r.want) {
			t.Errorf("testdata/age_high.txt:%d:\n got %s\nwant %s", r.line, markup.Write(r.text, got), markup.Write(r.text, r.want))
		}
	}
}

// TestCues: behind a cue a value needs no form. The best match at every place is
// what is marked, of whatever category.
func TestCues(t *testing.T) {
	m := New(Options{Categories: slices.DeleteFunc(slices.Clone(allCategories), func(c pipeline.Category) bool { return c == age || c == date })})
	for _, r := range readTable(t, "testdata/cues.txt") {
		var got []pipeline.Span
		matches := m.Find(nil, r.text)
		for _, c := range allCategories {
			got = append(got, found(matches, c)...)
		}
		slices.SortFunc(got, func(a, b pipeline.Span) int { return int(a.Start - b.Start) })
		if !slices.Equal(got, r.want) {
			t.Errorf("testdata/cues.txt:%d:\n got %s\nwant %s\nall %v", r.line, markup.Write(r.text, got), markup.Write(r.text, r.want), matches)
		}
	}
}

// TestIdentifiers sets every cue of identifiers.txt and every value of it into
// sentences: no letter or digit of the value is left.
func TestIdentifiers(t *testing.T) {
	const path = "testdata/identifiers.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	m := New(Options{})
	for line := range strings.Lines(string(data)) {
		cue, values, ok := strings.Cut(strings.TrimSpace(line), "|")
		if !ok {
			continue // a comment
		}
		for value := range strings.SplitSeq(values, ";") {
			for _, sentence := range []string{
				"%s: %s en la hoja", "%s %s", "Consta %s %s, vive solo.", "%s nº %s", "El paciente con %s: %s acude", "(%s %s)", "%s núm. %s.", "%s=%s",
			} {
				text := []byte(fmt.Sprintf(sentence, cue, value))
				start := strings.LastIndex(string(text), value)
				for _, x := range m.Find(nil, text) {
					for i := x.Start; i < x.End && !x.Hint(); i++ {
						text[i] = ' '
					}
				}
				if left := text[start : start+len(value)]; slices.ContainsFunc(left, cut.IsAlnum) {
					t.Errorf("%s: %s %s in %q: %q is left", path, cue, value, sentence, left)
				}
			}
		}
	}
}

// TestEveryIBAN writes an account of every country of the registry and finds it,
// together and in groups of four, and with a wrong check digit behind its cue.
func TestEveryIBAN(t *testing.T) {
	m := New(Options{Categories: []pipeline.Category{iban}})
	countries := 0
	for k := range 26 * 26 {
		country := string([]byte{'A' + byte(k/26), 'A' + byte(k%26)})
		length := control.IBANLength(country[0], country[1])
		if length == 0 {
			continue
		}
		countries++
		body := strings.Repeat("1030047", 5)[:length-4]
		rest := 0
		for rest < 97 && !control.IBAN([]byte(fmt.Sprintf("%s%02d%s", country, 98-rest, body))) {
			rest++
		}
		value := fmt.Sprintf("%s%02d%s", country, 98-rest, body)
		groups := value[:4]
		for at := 4; at < len(value); at += 4 {
			groups += " " + value[at:min(at+4, len(value))]
		}
		for text, checked := range map[string]bool{value: true, groups: true, "IBAN " + value[:len(value)-1] + "5": false} {
			got := m.Find(nil, []byte(text))
			if len(got) != 1 || int(got[0].End) != len(text) || got[0].Checked != checked || int(got[0].Start) != strings.Index(text, country+value[2:4]) {
				t.Errorf("%s: %v", text, got)
			}
		}
	}
	if countries < 90 {
		t.Errorf("%d countries", countries)
	}
}
