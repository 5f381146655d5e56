package page

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

var verbs = regexp.MustCompile(`%[^ ]?[a-z%]`)

// TestWords: no language lacks a text, and each has the places for what is put
// in, in the same order.
func TestWords(t *testing.T) {
	for key, row := range words() {
		if len(row) != len(languageCodes) {
			t.Errorf("%q: %d languages, want %d", key, len(row), len(languageCodes))
			continue
		}
		for l, text := range row {
			if strings.TrimSpace(text) == "" {
				t.Errorf("%q: nothing in %s", key, languageCodes[l])
			}
			if !slices.Equal(verbs.FindAllString(text, -1), verbs.FindAllString(row[0], -1)) {
				t.Errorf("%q in %s: %q has other places than %q", key, languageCodes[l], text, row[0])
			}
			if strings.Count(text, "|") != strings.Count(row[0], "|") {
				t.Errorf("%q in %s: singular and plural", key, languageCodes[l])
			}
		}
	}
	for r := pipeline.Sound + 1; r.String() != "?"; r++ {
		if _, ok := words()["why "+r.String()]; !ok {
			t.Errorf("reason %s is not explained", r)
		}
	}
	if got := languageCodes[:]; !slices.Equal(got, []string{"en", "es", "ca"}) || LanguageOf("ca").String() != "ca" || LanguageOf("xx").String() != "en" {
		t.Errorf("languages %v", got)
	}
	for _, code := range languageCodes {
		if _, err := option.Load(option.Sources{Env: []string{"VELUM_REPORT_LANG=" + code}}); err != nil {
			t.Errorf("report.lang: %v", err)
		}
	}
}

// TestWordsAreUsed: pages and code ask for words that there are, words that
// there are are asked for, and no page has words of its own.
func TestWordsAreUsed(t *testing.T) {
	used := map[string]bool{}
	asked := regexp.MustCompile(`\bt "([^"]+)"|(?:Text|[Pp]lural|find|word)\((?:red, |amber, |int64\([^"]*\), |[^"()]*, )?"([^"]+)"|plural [.\w]+ "([^"]+)"|What: "([^"]+)"|Title: +"([^"]+)"|\{"(review below|candidates from|never list|always entry|never entry)"`)
	files, err := filepath.Glob("../*/*.go*")
	lab, labErr := filepath.Glob("../lab/*/*.go*")
	if err := errors.Join(err, labErr); err != nil {
		t.Fatal(err)
	}
	for _, name := range append(files, lab...) {
		dir := filepath.Base(filepath.Dir(name))
		if dir != "report" && dir != "page" && dir != "learn" && dir != "turns" && dir != "explain" && dir != "score" && dir != "evidence" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllStringSubmatch(string(source), -1) {
			for _, key := range m[1:] {
				if key == "" || strings.HasPrefix(key, "ev ") && strings.HasSuffix(key, " ") { // the dossier's names of facts stand behind
					continue
				}
				if used[key] = true; words()[key] == nil {
					t.Errorf("%s asks for %q, which there is not", name, key)
				}
			}
		}
		if filepath.Ext(name) == ".gohtml" {
			wordsOfItsOwn(t, name, string(source))
		}
	}
	for key := range words() {
		switch {
		case used[key], strings.HasPrefix(key, "why "), strings.HasPrefix(key, "lang "), strings.HasPrefix(key, "measure "), strings.HasPrefix(key, "unlike "), strings.HasPrefix(key, "trend "), strings.HasPrefix(key, "risk by "), strings.HasPrefix(key, "find unlike "),
			strings.HasPrefix(key, "ev section "), strings.HasPrefix(key, "ev fact "), strings.HasPrefix(key, "ev column "), strings.HasPrefix(key, "ev word "), strings.HasPrefix(key, "ev asks "), strings.HasPrefix(key, "review "), key == "line", key == "red", key == "amber", key == "green":
		default:
			t.Errorf("nobody asks for %q", key)
		}
	}
}

// Every measure has a name in every language: it stands in the table of scores.
func TestMeasuresHaveNames(t *testing.T) {
	for m := score.Measure(0); m.String() != "?"; m++ {
		for lang, name := range words()["measure "+m.String()] {
			if name == "" {
				t.Errorf("%s has no name in %s", m, languageCodes[lang])
			}
		}
		if _, ok := words()["measure "+m.String()]; !ok {
			t.Errorf("%s has no name", m)
		}
	}
}

// wordsOfItsOwn looks for letters between tags.
func wordsOfItsOwn(t *testing.T, name, page string) {
	t.Helper()
	page = regexp.MustCompile(`(?s)<style>.*?</style>|\{\{.*?\}\}`).ReplaceAllString(page, "")
	for _, text := range regexp.MustCompile(`>([^<]*)<`).FindAllStringSubmatch(page, -1) {
		switch text := strings.Trim(text[1], " \n0123456789.,:?()%→–−±[]…+"); text {
		case "", "F", "SHA-", "velum", "velum teach learn", "velum corpus", "velum evidence DIR --verify": // F1, SHA-256
		default:
			t.Errorf("%s: %q is in no table of words", name, text)
		}
	}
	for _, label := range regexp.MustCompile(`aria-label="([^"]+)"`).FindAllStringSubmatch(page, -1) {
		t.Errorf("%s: the label %q is in no table of words", name, label[1])
	}
}
