package resolve

import (
	"maps"
	"strings"
	"testing"

	networks "github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/pipeline/markup"
)

// shipped are the lists of words that ship.
var shipped = networks.ShippedWords()

// defaults are the options of a label set, with words.
func defaults(labels string) (Options, error) { return Defaults(labels, shipped) }

// A network of the house with the name of a rule stands in its place.
func TestNetworkInPlaceOfRule(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", "la Hna. Ana, [PERSON:Dra. Puig]"},
		{"network titles PERSON 0.9\n begin form:hna -> dot\n dot form:. -> who\n who cap / open -> end", "la Hna. [PERSON:Ana], [PERSON:Dra. Puig]"},
		{"network other PERSON 0.9\n begin form:hna -> dot\n dot form:. -> who\n who cap / open -> end", "la Hna. [PERSON:Ana], Dra. [PERSON:Puig]"},
	} {
		o := only(t, "primary-care", "titles")
		if c.file == "" {
			o = only(t, "primary-care")
		} else {
			p, err := networks.Compile("version 1\n"+c.file, networks.Resources{})
			if err != nil {
				t.Fatal(err)
			}
			o.Packs = append(o.Packs, p)
		}
		b := batchOf(t, "primary-care", "la Hna. Ana, [PERSON:Dra. Puig]")
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != c.want {
			t.Errorf("%q: %s, want %s", c.file, got, c.want)
		}
	}
}

// changed returns the shipped lists as a file changes them.
func changed(t *testing.T, file string) networks.Words {
	t.Helper()
	words, err := shipped.Change("version 1\n" + file)
	if err != nil {
		t.Fatal(err)
	}
	return words
}

// Every list has its words, and rules know no other list.
func TestWordsAreWhole(t *testing.T) {
	for name, list := range shipped {
		if len(list) == 0 {
			t.Errorf("%s is empty", name)
		}
		o, err := Defaults("primary-care", maps.Clone(shipped))
		if err != nil {
			t.Fatal(err)
		}
		delete(o.Words, name)
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without list %s: %v", name, err)
		}
	}
	o, _ := Defaults("primary-care", maps.Clone(shipped))
	o.Words["titles"] = []string{"dr"}
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), `unknown list "titles"`) {
		t.Errorf("a list that no rule knows: %v", err)
	}
}

// What a house changes in a list decides what the rules find.
func TestHouseWords(t *testing.T) {
	for _, test := range []struct{ file, note, want string }{
		{"", "Visita de [PERSON:Hna. Zzyzx] hoy", "Visita de [PERSON:Hna. Zzyzx] hoy"},
		{"words +title hna", "Visita de [PERSON:Hna. Zzyzx] hoy", "Visita de Hna. [PERSON:Zzyzx] hoy"},
		{"words -title don", "Visita de [PERSON:don Zzyzx] hoy", "Visita de [PERSON:don Zzyzx] hoy"},
		{"words title hna", "Visita de [PERSON:doctora Zzyzx] hoy", "Visita de [PERSON:doctora Zzyzx] hoy"},
	} {
		o := only(t, "primary-care", "titles")
		o.Words = changed(t, test.file)
		b := batchOf(t, "primary-care", test.note)
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != test.want {
			t.Errorf("%q: %s, want %s", test.file, got, test.want)
		}
	}
}
