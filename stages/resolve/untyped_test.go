package resolve

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// untypedBatch is a batch of one note of a tagger that knows PHI beside the
// labels of primary-care.
func untypedBatch(t testing.TB, marked string, matches ...pipeline.Match) *pipeline.Batch {
	b := batchOf(t, "primary-care")
	b.TagSet.Categories = append(b.TagSet.Categories[:len(b.TagSet.Categories):len(b.TagSet.Categories)], untypedCategory)
	text, spans, err := markup.Parse(marked)
	if err != nil {
		t.Fatal(err)
	}
	add(b, text, spans, matches)
	return b
}

func TestUntyped(t *testing.T) {
	date, _ := pipeline.ParseCategory("DATE")
	day := pipeline.Match{Start: 2, End: 10, Score: 1, Category: date}
	for _, tt := range []struct{ name, in, out string }{
		{"alone", "[PHI:Ana] viene", "[PHI:Ana] viene"},
		{"one for words that follow each other", "[PHI:Ana] [PHI:Puig] y [PHI:Mas]", "[PHI:Ana Puig] y [PHI:Mas]"},
		{"not over a sign", "[PHI:Ana], [PHI:Puig]", "[PHI:Ana], [PHI:Puig]"},
		{"not over a line", "[PHI:Ana]\n[PHI:Puig]", "[PHI:Ana]\n[PHI:Puig]"},
		{"the type of who knows", "[PERSON:Ana] [PHI:Puig]", "[PERSON:Ana] [PHI:Puig]"},
		{"no eponym", "con [PHI:Parkinson] y [PHI:Ana]", "con Parkinson y [PHI:Ana]"},
		{"a name as an eponym", "con [PHI:Down] [PHI:Zyxwvut] y [PHI:Ana]", "con [PHI:Down Zyxwvut] y [PHI:Ana]"},
	} {
		b := untypedBatch(t, tt.in)
		run(t, only(t, "primary-care"), b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.out)
		}
	}
	for _, tt := range []struct{ name, in, out string }{
		{"inside", "x 12/03/20 [PHI:Ana]", "x [DATE:12/03/20] [PHI:Ana]"},
		{"the same", "x [PHI:12/03/20] [PHI:Ana]", "x [DATE:12/03/20] [PHI:Ana]"},
		{"what sticks out stays hidden", "[PHI:x 12/03/20 Ana]", "[PHI:x] [DATE:12/03/20] [PHI:Ana]"},
		{"a sign that sticks out does not", "x [PHI:12/03/20,] y", "x [DATE:12/03/20], y"},
	} {
		b := untypedBatch(t, tt.in, day)
		run(t, only(t, "primary-care"), b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.out)
		}
	}
}

// TestUntypedCut: what a rule on spans cuts off a typed span stays hidden if the
// tagger did not let it in, and only then.
func TestUntypedCut(t *testing.T) {
	date, _ := pipeline.ParseCategory("DATE")
	for _, tt := range []struct{ in, out string }{
		{"x año 1998 y", "x año [DATE:1998] y"},
		{"x [PHI:año 1998] y", "x [PHI:año] [DATE:1998] y"},
		{"x [PHI:año] 1998 y", "x [PHI:año] [DATE:1998] y"},
	} {
		b := untypedBatch(t, tt.in, pipeline.Match{Start: 2, End: 11, Score: 1, Category: date})
		run(t, only(t, "primary-care", "date-borders"), b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != tt.out {
			t.Errorf("%s:\n got %s\nwant %s", tt.in, got, tt.out)
		}
	}
}

// TestUntypedHides: whatever patterns find beside it, every letter and digit
// that the tagger did not let in is masked.
func TestUntypedHides(t *testing.T) {
	date, _ := pipeline.ParseCategory("DATE")
	tb := t
	rapid.Check(t, func(t *rapid.T) {
		var marked strings.Builder
		for _, w := range rapid.SliceOfN(rapid.SampledFrom([]string{"tos", "[PHI:Ana]", "[PHI:7]", ",", "[PERSON:Mas]", "[PHI:de]"}), 1, 8).Draw(t, "words") {
			marked.WriteString(w + " ")
		}
		text, gold, _ := markup.Parse(marked.String())
		from := rapid.IntRange(0, len(text)-1).Draw(t, "from")
		match := pipeline.Match{Start: int32(from), End: int32(rapid.IntRange(from+1, len(text)).Draw(t, "to")), Score: 1, Category: date}
		b := batchOf(tb, "primary-care")
		b.TagSet.Categories = append(b.TagSet.Categories[:len(b.TagSet.Categories):len(b.TagSet.Categories)], untypedCategory)
		add(b, text, gold, []pipeline.Match{match})
		run(tb, only(tb, "primary-care"), b)
		for _, g := range gold {
			for at := g.Start; at < g.End; at++ {
				hidden := false
				for _, s := range b.Spans.At(0) {
					hidden = hidden || s.Start <= at && at < s.End
				}
				if !hidden {
					t.Fatalf("%q with a match %d-%d: byte %d is left, spans %v", marked.String(), match.Start, match.End, at, b.Spans.At(0))
				}
			}
		}
	})
}
