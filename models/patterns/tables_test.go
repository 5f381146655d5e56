package patterns

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
