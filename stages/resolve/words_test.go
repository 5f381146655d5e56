package resolve

import (
	"maps"
	"strings"
	"testing"

	"github.com/velum-health/velum/configs"
	networks "github.com/velum-health/velum/models/rules"
	"github.com/velum-health/velum/pipeline/markup"
)

// shipped are the lists of words that ship.
var shipped = func() networks.Words {
	text, err := configs.Words()
	if err != nil {
		panic(err)
	}
	words, err := networks.Words(nil).Change(string(text))
	if err != nil {
		panic(err)
	}
	return words
}()

// networked are the networks that ship as rules.
var networked = func() *networks.Pack {
	text, err := configs.Rules()
	if err != nil {
		panic(err)
	}
	p, err := networks.Compile(string(text), networks.Resources{Words: shipped})
	if err != nil {
		panic(err)
	}
	return p
}()

// defaults are the options of a label set, with words and networks.
func defaults(labels string) (Options, error) {
	o, err := Defaults(labels, shipped)
	o.Networks = networked
	return o, err
}

// A network of the house with the name of a rule stands in its place, and without
// its network a rule is refused.
func TestNetworkInPlaceOfRule(t *testing.T) {
	const note = "su hija Ana, la Hna. Ana"
	for _, c := range []struct{ file, want string }{
		{"", "su hija [PERSON:Ana], la Hna. Ana"},
		{"network kin-name PERSON 0.9\n begin form:hna -> dot\n dot form:. -> who\n who cap / open -> end", "su hija Ana, la Hna. [PERSON:Ana]"},
		{"network other PERSON 0.9\n begin form:hna -> dot\n dot form:. -> who\n who cap / open -> end", "su hija [PERSON:Ana], la Hna. [PERSON:Ana]"},
	} {
		o := only(t, "primary-care", "kin-name")
		if c.file != "" {
			p, err := networks.Compile("version 1\n"+c.file, networks.Resources{})
			if err != nil {
				t.Fatal(err)
			}
			o.Packs = append(o.Packs, p)
		}
		b := batchOf(t, "primary-care", note)
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != c.want {
			t.Errorf("%q: %s, want %s", c.file, got, c.want)
		}
	}
	o := only(t, "primary-care", "kin-name")
	o.Networks = nil
	if _, err := New(o); err == nil || !strings.Contains(err.Error(), "rule kin-name: there is no network") {
		t.Errorf("without its network: %v", err)
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
		{"", "Visita de Hna. Zzyzx hoy", "Visita de Hna. Zzyzx hoy"},
		{"words +title hna", "Visita de Hna. Zzyzx hoy", "Visita de Hna. [PERSON:Zzyzx] hoy"},
		{"words -title don", "Visita de don Zzyzx hoy", "Visita de don Zzyzx hoy"},
		{"words title hna", "Visita de doctora Zzyzx hoy", "Visita de doctora Zzyzx hoy"},
	} {
		o := only(t, "primary-care", "titled")
		o.Words = changed(t, test.file)
		b := batchOf(t, "primary-care", test.note)
		run(t, o, b)
		if got := markup.Write(b.Text.At(0), b.Spans.At(0)); got != test.want {
			t.Errorf("%q: %s, want %s", test.file, got, test.want)
		}
	}
}
