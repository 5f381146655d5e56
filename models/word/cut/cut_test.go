package cut

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestBorders reads words at a bar, forwards and backwards. Brackets hold the word.
func TestBorders(t *testing.T) {
	for _, c := range []struct{ text, forwards, backwards string }{
		{"de |anys", "anys", ""},
		{"edad|: 4", "", "edad"},
		{"D.N.I.|", "", ""},
		{"D.N.I|", "", "D.N.I"},
		{"NºCol| 28", "", "Col"},
		{"Nº| 28", "", "Nº"},
		{"12|º", "", ""},
		{"|col·legiat", "col·legiat", ""},
		{"col·legiat|", "", "col·legiat"},
		{"|añ\u0303os", "añ\u0303os", ""},
		{"matrícula|B", "B", "matrícula"},
		{"70|años", "años", ""},
		{"", "", ""},
	} {
		at := max(strings.Index(c.text, "|"), 0)
		text := Text(strings.Replace(c.text, "|", "", 1))
		end, _ := text.WordEnd(at)
		start, _ := text.WordStart(at)
		if got := string(text[at:end]); got != c.forwards {
			t.Errorf("%q forwards: %q, want %q", c.text, got, c.forwards)
		}
		if got := string(text[start:at]); got != c.backwards {
			t.Errorf("%q backwards: %q, want %q", c.text, got, c.backwards)
		}
	}
}

func TestLexicon(t *testing.T) {
	var l Lexicon[int]
	words := strings.Fields("de años sociosanitario rijksregisternummer burgerservicenummer rijksregisternummers col·legiat tel")
	for i, w := range words {
		*l.Add(w) = i + 1
	}
	for text, want := range map[string]int{
		"de": 1, "DE": 1, "años": 2, "ANYS": 0, "anos": 2, "AÑOS": 2, "Sociosanitario": 3, "rijksregisternummer": 4, "RIJKSREGISTERNUMMER": 4,
		"BurgerServiceNummer": 5, "rijksregisternummert": 0, "rijksregisternummers": 6, "collegiat": 7, "t.e.l": 8, "ß": 0, "": 0,
	} {
		for _, behind := range []string{"", " y más palabras detrás"} { // near the end of the text and far from it
			got := 0
			if m := l.Word(Text(text+behind), 0, len(text), isASCII(text)); m != nil {
				got = *m
			}
			if got != want {
				t.Errorf("%q: %d, want %d", text, got, want)
			}
		}
	}
}

func isASCII(s string) bool { return utf8.RuneCountInString(s) == len(s) && !strings.Contains(s, ".") }

func TestSections(t *testing.T) {
	var got []string
	Sections("# words\n[a b]\nx y # z\n\n[c]\n1 u\n", func(names, words []string) {
		got = append(got, strings.Join(names, "+")+"="+strings.Join(words, "+"))
	})
	if s := strings.Join(got, " "); s != "a+b=x+y c=1+u" {
		t.Error(s)
	}
}

func FuzzBorders(f *testing.F) {
	f.Add([]byte("ñ\xc2\xb7\xff D.N.I"), 3)
	f.Fuzz(func(t *testing.T, b []byte, at int) {
		text := Text(b)
		if at < 0 || at > len(b) {
			return
		}
		if end, _ := text.WordEnd(at); end < at || end > len(b) {
			t.Fatal(end)
		}
		if start, _ := text.WordStart(at); start < 0 || start > at {
			t.Fatal(start)
		}
		text.Spaces(at)
		text.Dash(at)
		text.Digits(at)
	})
}
