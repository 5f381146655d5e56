package surrogate

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline/casetest"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// words are words with one blank, hyphen or apostrophe between two.
var (
	words = regexp.MustCompile(`[\pL\p{Mn}·]+(?:[ '’-][\pL\p{Mn}·]+)*`)
	digit = regexp.MustCompile(`\d`)
)

// caseOf answers "WAY TEXT":
//
//	person, place, profession  the shape of what stands in its place: C for words in capitals, W for words of which the first begins with
//	                           one, w for others, 9 for a digit; which words are drawn makes no difference
//	run                        the shapes of a place by itself and in a run of places, the two divided by |
//	number, contact            what stands in its place, and the form of both
//	region                     the province and region of a place
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	var b strings.Builder
	put := func(do func(dst, value []byte) ([]byte, bool), value string, shape bool) {
		out, ok := do([]byte("<"), []byte(value))
		if shape {
			b.WriteString(digit.ReplaceAllString(words.ReplaceAllStringFunc(string(out), func(run string) string {
				first, _ := utf8.DecodeRuneInString(run)
				switch {
				case strings.ToUpper(run) == run:
					return "C"
				case unicode.IsUpper(first):
					return "W"
				}
				return "w"
			}), "9"))
		} else {
			b.Write(out)
		}
		fmt.Fprint(&b, ">", ok, " ")
	}
	for seed := range uint64(2) {
		w := NewWriter(&hashed{seed: seed << 32})
		switch way {
		case "person":
			put(w.Person, text, true)
		case "place":
			put(w.Place, text, true)
		case "profession":
			put(w.Profession, text, true)
		case "run":
			value, run, _ := strings.Cut(text, "|")
			put(w.Place, value, true)
			put(func(dst, v []byte) ([]byte, bool) { return w.PlaceIn(dst, v, []byte(run)) }, value, true)
			fmt.Fprint(&b, w.PlaceKind([]byte(value)))
		case "number":
			put(w.Number, text, false)
			fmt.Fprint(&b, formOf(appendPlain(nil, []byte(text))), formOf(appendPlain(nil, []byte(write(w.Number, text)))), " ")
		case "contact":
			put(w.Contact, text, false)
		case "region":
			b.Reset()
			p, known := Province([]byte(text))
			r, also := Region([]byte(text))
			fmt.Fprint(&b, p, known, r, also)
		}
	}
	return strings.ReplaceAll(b.String(), "\n", "|")
}
