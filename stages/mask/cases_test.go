package mask

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/pipeline/secret"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// chainsOfCases are the ways of caseOf.
var chainsOfCases = map[string]string{
	"placeholder": "placeholder", "untyped": "placeholder form=untyped", "numbered": "placeholder form=numbered", "suppress": "suppress", "keep": "keep",
	"stars": "mask", "first": "mask first=2 size=8", "hash": "hash", "archive": "hash scope=archive digits=6", "encrypt": "encrypt",
	"surrogate": "surrogate", "random": "surrogate strategy=random", "markov": "surrogate strategy=markov", "any": "randomize values=A,B,C",
	"larger": "aggregate", "shift": "shift", "weeks": "shift weeks=true", "season": "shift season=true", "since": "interval", "begin": "interval from=first",
	"year": "year", "age": "age", "classes": "age over=80 class=10", "chain": "year | age | aggregate | mask",
}

// shapes are words and numbers. Which of them are drawn makes no difference: C stands for words in capitals, W for those that begin with
// one, w for others, 9 for a digit.
var shapes = regexp.MustCompile(`[\pL\p{Mn}·]+(?:[ '’-][\pL\p{Mn}·]+)*|\d`)

func shapeOf(run []byte) []byte {
	switch first, _ := utf8.DecodeRune(run); {
	case unicode.IsDigit(first):
		return []byte("9")
	case bytes.Equal(bytes.ToUpper(run), run):
		return []byte("C")
	case unicode.IsUpper(first):
		return []byte("W")
	}
	return []byte("w")
}

// caseOf answers "WAY TEXT", a note of the 15th of March 2014 with marked spans: what an operator makes of it in Spanish, and in Catalan of
// nobody's and undated, under an open key; and "parse CHAIN", the mistake in it.
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	if way == "parse" {
		c, err := ParseChain(text)
		return fmt.Sprint(c, err)
	}
	c, err := ParseChain(chainsOfCases[way])
	if err != nil {
		return "no way"
	}
	plain, spans, err := markup.Parse(text)
	if err != nil {
		return "no markup"
	}
	m, err := NewMasker(Options{Default: c, Key: secret.Public("cases")})
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	for _, n := range []Note{
		{ID: []byte("1"), Patient: []byte("p"), Day: 16144, Dated: true, Language: pipeline.Spanish, Text: plain, Spans: spans, Avoid: []byte("ana puig ")},
		{Row: 1, Language: pipeline.Catalan, Text: plain, Spans: spans},
	} {
		out, places, ok := m.Mask([]byte("<"), nil, m.NewNote(n))
		if drawn := way == "surrogate" || way == "random" || way == "markov"; drawn {
			out = shapes.ReplaceAllFunc(out, shapeOf)
		} else {
			for _, p := range places {
				fmt.Fprintf(&b, "%d-%d ", p.Start, p.End)
			}
		}
		fmt.Fprintf(&b, "%s> %t %d ", out, ok, len(places))
	}
	return strings.NewReplacer("\n", "|", "\t", "→").Replace(b.String())
}
