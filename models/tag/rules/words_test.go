package rules_test

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/models/tag/rules"
)

var twoLists = rules.Words{"title": {"dr", "don", "señora"}, "kin": {"hija"}}

func TestChangeWords(t *testing.T) {
	for _, test := range []struct{ file, title, kin string }{
		{"", "dr don señora", "hija"},
		{"words +title hna. Dra", "dr don señora hna Dra", "hija"},
		{"words -title DON senora", "dr", "hija"},
		{"words title dra\nwords title dr # both\nwords -kin hija", "dra dr", ""},
		{"words +kin fill\nwords kin filla", "dr don señora", "filla"},
	} {
		words, err := twoLists.Change("version 1\n" + test.file)
		if err != nil {
			t.Errorf("%q: %v", test.file, err)
			continue
		}
		if title, kin := strings.Join(words["title"], " "), strings.Join(words["kin"], " "); title != test.title || kin != test.kin {
			t.Errorf("%q: title %q, kin %q", test.file, title, kin)
		}
		again, err := rules.Words(nil).Change(words.Text())
		if err != nil || strings.Join(again["title"], " ") != test.title {
			t.Errorf("%q: printed and read again: %v, %v", test.file, again, err)
		}
	}
	if strings.Join(twoLists["title"], " ") != "dr don señora" {
		t.Errorf("the lists before are changed: %v", twoLists)
	}
}

// Every mistake has its line, its column and what is expected.
func TestMistakesOfWords(t *testing.T) {
	for file, want := range map[string]string{
		"words title dr":                      `line 1, column 1: expected "version 1"`,
		"":                                    `line 1, column 1: expected "version 1"`,
		"version 1\nwords titel dr":           `line 2, column 7: no list "titel"; there are kin, title`,
		"version 1\nwords title":              `line 2, column 7: expected "words NAME WORD..."`,
		"version 1\ntitle dr":                 `line 2, column 7: expected "words NAME WORD..."`,
		"version 1\nwords ++title dr":         `line 2, column 7: one sign goes before the name of a list`,
		"version 1\nwords title dr d.ª":       `line 2, column 16: a word is made of letters, and "d.ª" has '.'`,
		"version 1\nwords title dr .":         `line 2, column 16: expected a word, found "."`,
		"version 1\n words -kin hija nieta":   `line 2, column 18: list "kin" has no word "nieta" to take away`,
		"version 1\nnetwork n PERSON 0.9":     `line 2, column 1: expected "words NAME WORD...": networks stand in files of their own`,
		"version 1\nwords title \xff":         `line 2, column 1: bytes that are no UTF-8`,
		"version 1\nwords +title Dr2 dra":     `line 2, column 14: a word is made of letters, and "Dr2" has '2'`,
		"version 1\nwords ñ dr":               `line 2, column 7: a name is made of letters, digits, - and _, not 'ñ'`,
		strings.Repeat("#", rules.MaxBytes+1): `line 1, column 1: the file has`,
	} {
		if _, err := twoLists.Change(file); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60q: %v, want %s", file, err, want)
		}
	}
}

func TestIsWords(t *testing.T) {
	for file, want := range map[string]bool{
		"version 1\nwords +title hna": true, "version 1\nwords a b\nnetwork n PERSON 0.9\n begin any -> end": false, "version 1\n# network\n words a b": true, "": false,
	} {
		if rules.IsWords(file) != want {
			t.Errorf("%q: %v", file, !want)
		}
	}
}

func FuzzChangeWords(f *testing.F) {
	f.Add("version 1\nwords +title hna\nwords -kin hija\nwords title a b")
	f.Fuzz(func(t *testing.T, file string) {
		words, err := twoLists.Change(file)
		if err != nil {
			return
		}
		if again, err := rules.Words(nil).Change(words.Text()); err != nil || again.Text() != words.Text() {
			t.Errorf("%v: printed and read again", err)
		}
	})
}
