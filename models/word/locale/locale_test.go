package locale

import (
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// TestAdd adds an invented language: a table that was filled before has its words too, and its sections are checked.
func TestAdd(t *testing.T) {
	streets := Words("test street")
	var months []string
	Read("calendar", func(l pipeline.Language, section, words []string) error {
		months = append(months, l.String()+" "+strings.Join(section, " ")+": "+strings.Join(words, " "))
		return nil
	})
	text := "# Invented.\n[language]\nxx\n[test street]\nvía Ströde\n[calendar month]\none two # and so on\nthree\n"
	for range 2 { // twice changes nothing
		if err := Add(text); err != nil {
			t.Fatal(err)
		}
	}
	if len(streets) != 2 || !streets["via"] || !streets["strode"] {
		t.Errorf("streets %v", streets)
	}
	if want := []string{"xx month: one two", "xx month: three"}; !slices.Equal(months, want) {
		t.Errorf("months %q, want %q", months, want)
	}
	if l, ok := pipeline.ParseLanguage("xx"); !ok || l <= pipeline.MixedLanguage {
		t.Errorf("the language has the number %d", l)
	}
}

// TestRoom: a table of words that were full would be searched for ever, so that a file with too many is refused.
func TestRoom(t *testing.T) {
	defer func(n int) { room = n }(room)
	Read("dates", func(pipeline.Language, []string, []string) error { return nil })
	room = 3
	if err := Add("[language]\nww\n[dates month full]\na b c\n"); err != nil {
		t.Error(err)
	}
	if err := Add("[language]\nwv\n[dates month full]\nd\n"); err == nil || !strings.Contains(err.Error(), "[dates month full]: the words of added files are too many") {
		t.Error(err)
	}
}

// TestBadFiles refuses what would leave a wish unmatched.
func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"[calendar month]\none":                         "begins with the code",
		"[language]\nPortuguese\n[calendar month]\none": "two small letters",
		"[language]\nyy\n[calender month]\none":         "[calender month]: there is no such section",
		"[language]\nyy\none\n":                         "two small letters",
		"one\n[language]\nyz\n":                         "[]: there is no such section",
		"":                                              "begins with the code",
	} {
		if err := Add(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", text, err, want)
		}
	}
}

// TestEmbedded wants every embedded file to have a language, common.txt apart, and English behind Catalan and Spanish.
func TestEmbedded(t *testing.T) {
	var order []string
	for _, f := range files {
		order = append(order, f.language.String())
	}
	if got := strings.Join(order, " "); !strings.HasPrefix(got, " es ca en") {
		t.Errorf("languages %q", got)
	}
}

func FuzzAdd(f *testing.F) {
	f.Add("[language]\nes\n[calendar month]\none # two\n")
	f.Fuzz(func(t *testing.T, text string) {
		was := files
		defer func() { files = was }()
		_ = Add(text) // it does not panic
	})
}
