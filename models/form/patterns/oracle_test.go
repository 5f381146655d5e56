package patterns

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// An oracle is a pattern that is regular, written for the standard library.
// Texts are made from its parts, one of each after the other, of which some
// fit and some do not.
var oracles = []struct {
	name     string
	category pipeline.Category
	least    float32 // score of the scanner's matches that the oracle knows
	pattern  *regexp.Regexp
	parts    []string // alternatives, separated by blanks
}{
	{
		"ISO date", date, 0.95,
		regexp.MustCompile(`^(?:19|20)\d\d(?:-(?:0?[1-9]|1[0-2])-|\.(?:0?[1-9]|1[0-2])\.)(?:0?[1-9]|[12]\d)$`),
		[]string{"2014 1999 2099 1899 2100 201", "- - - . --", "01 12 13 00 7 7", "- - - .", "01 28 00 9 40"},
	},
	{
		"day-first date", date, 0.95,
		regexp.MustCompile(`^(?:0?[1-9]|[12]\d)/(?:0?[1-9]|1[0-2])/(?:19|20)\d\d$`),
		[]string{"01 28 00 9 40 2014", "/ / / :", "01 12 40 00 7", "/ / / ,", "2014 1999 2099 1899 2100 201"},
	},
	{
		"date with a month", date, 0.9,
		regexp.MustCompile(`^(?:[1-9]|[12]\d)(?: de |-|/| d')(?:enero|maig|agost|noviembre|july)(?: de | del |-|/)(?:19|20)\d\d$`),
		[]string{"1 28 12 0 32", "+de+ - / +d' +y+mg+", "enero maig agost noviembre july enerall", "+de+ +del+ - / +mg+", "2014 1999 3014 201"},
	},
	{
		"IPv4", ipAddress, 0.5,
		regexp.MustCompile(`^(?:[1-9]\d|1\d\d|2[0-4]\d|25[0-5])(?:\.(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5])){3}$`),
		[]string{"192 255 256 10", ". . . :", "0 10 255 256 168", ". . . .. -", "0 7 10 300", ". . . /", "1 254 01 33"},
	},
	{
		"e-mail", email, 0.9,
		regexp.MustCompile(`^[a-z][a-z0-9_]*@[a-z][a-z0-9]+(?:\.[a-z]{1,3})?\.(?:es|com|cat|org)$`),
		[]string{"ana x1 a_b z", "@ @ @ #", "gva hospital h2", ".es .com .cat .org .e", ".es .com"},
	},
	{
		"DNI", dni, 0.55,
		regexp.MustCompile(`^\d{8}[-./]?[A-HJ-NP-TV-Z]$`),
		[]string{"40123456 33210987 012345678 401234567", "- . /", "W E A I U T K 1"},
	},
	{
		"IBAN", iban, 0.8,
		regexp.MustCompile(`^ES\d\d(?: ?\d{4}){5}$`),
		[]string{"ES ES ES EX", "91 92 9", "2100 +2100", "0418 +0418", "45 4502 +4502", "0005 +0005", "1332 +1332 133"},
	},
	{
		"NASS", socialID, 0.8,
		regexp.MustCompile(`^(?:08|28|43)([ /-])\d{8}[ /-](?:\d\d)$`),
		[]string{"08 28 43 99 1", "/", "12345678 01234567 123456 123456789", "/", "11 69 4 123"},
	},
}

// TestOracles compares scanner and oracle on whole texts, both ways.
func TestOracles(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, o := range oracles {
		t.Run(o.name, func(t *testing.T) {
			m := New(Options{Categories: []pipeline.Category{o.category}})
			agreed := 0
			for range 5000 {
				var b strings.Builder
				for _, part := range o.parts {
					alternatives := strings.Fields(part)
					b.WriteString(strings.ReplaceAll(alternatives[rng.IntN(len(alternatives))], "+", " "))
				}
				text := b.String()
				whole := slices.ContainsFunc(m.Find(nil, []byte(text)), func(x pipeline.Match) bool {
					return x.Start == 0 && int(x.End) == len(text) && x.Score >= o.least
				})
				if want := o.pattern.MatchString(text); whole != want {
					t.Fatalf("%q: scanner %v, oracle %v", text, whole, want)
				}
				if whole {
					agreed++
				}
			}
			if agreed < 100 {
				t.Errorf("only %d of the texts match", agreed)
			}
		})
	}
}

// TestIBANDigits changes one digit of a right IBAN: mod 97 notices every such
// error.
func TestIBANDigits(t *testing.T) {
	m := New(Options{Categories: []pipeline.Category{iban}})
	right := []byte("ES9121000418450200051332")
	if got := m.Find(nil, right); len(got) != 1 || !got[0].Checked {
		t.Fatalf("right IBAN: %v", got)
	}
	for i := 2; i < len(right); i++ {
		wrong := slices.Clone(right)
		wrong[i] = '0' + (wrong[i]-'0'+1)%10
		if got := m.Find(nil, wrong); len(got) != 1 || got[0].Checked || got[0].Score >= 1 {
			t.Errorf("digit %d changed: %v", i, got)
		}
	}
}

// TestWrongCheckDigit: it lowers the score and never rejects.
func TestWrongCheckDigit(t *testing.T) {
	m := New(Options{})
	for _, pair := range [][2]string{
		{"12345678Z", "12345678A"}, {"X1234567L", "X1234567A"},
		{"08 12345678 69", "08 12345678 68"}, {"NASS 081234567869", "NASS 081234567868"},
		{"ES91 2100 0418 4502 0005 1332", "ES92 2100 0418 4502 0005 1332"},
		{"2100 0418 45 0200051332", "2100 0418 46 0200051332"}, {"CIF B12345674", "CIF B12345675"},
	} {
		right, wrong := m.Find(nil, []byte(pair[0])), m.Find(nil, []byte(pair[1]))
		if len(right) == 0 || len(wrong) == 0 || !right[0].Checked || wrong[0].Checked || wrong[0].Score >= right[0].Score {
			t.Errorf("%q: %v, %q: %v", pair[0], right, pair[1], wrong)
		}
	}
}

// BenchmarkRegexp is what the scanners replace: the oracles above, which are a
// tenth of what the scanners know, one after the other by the standard library.
func BenchmarkRegexp(b *testing.B) {
	text := typical(1 << 14)
	var inText []*regexp.Regexp
	for _, o := range oracles {
		inText = append(inText, regexp.MustCompile(strings.NewReplacer("^", `\b`, "$", `\b`).Replace(o.pattern.String())))
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		for _, r := range inText {
			r.FindAllIndex(text, -1)
		}
	}
}
