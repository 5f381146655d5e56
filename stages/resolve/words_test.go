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
