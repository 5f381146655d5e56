package evidence

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/page"
)

// allFacts are the names of all questions.
func allFacts() (all []string) {
	for _, q := range asked().questions {
		all = append(all, q.fact)
	}
	return all
}

// Every clause asks for questions that there are, every key of the house answers one, and
// no question is there twice.
func TestQuestions(t *testing.T) {
	facts := allFacts()
	for _, c := range asked().clauses {
		if len(c.facts) == 0 {
			t.Errorf("%s %s %s: nothing could leave it unanswered", c.anchor, c.clause, c.asks)
		}
		for _, f := range c.facts {
			if !slices.Contains(facts, f) {
				t.Errorf("%s %s: nobody asks %q", c.anchor, c.clause, f)
			}
		}
	}
	for _, q := range asked().questions {
		if q.section == "" || q.by == "" || (q.by == "facts") != (q.asks != "") {
			t.Errorf("%q: section %q, answered by %q, asks %q", q.fact, q.section, q.by, q.asks)
		}
	}
	if sorted := slices.Sorted(slices.Values(facts)); len(slices.Compact(sorted)) != len(facts) {
		t.Error("a question is there twice")
	}
}

// A clause is answered by all of its facts and by nothing less: leaving out any one of
// them leaves it, and only clauses with that fact, unanswered.
func TestClausesAreReckoned(t *testing.T) {
	answers := map[string]*Fact{}
	for _, f := range allFacts() {
		answers[f] = &Fact{Name: f}
	}
	for _, c := range clausesOf(answers) {
		if len(c.Missing) > 0 {
			t.Errorf("%s %s: %q is missing", c.Anchor, c.Clause, c.Missing)
		}
	}
	for _, f := range allFacts() {
		was := answers[f]
		delete(answers, f)
		for i, c := range clausesOf(answers) {
			if wants := slices.Contains(asked().clauses[i].facts, f); wants != (len(c.Missing) > 0) {
				t.Errorf("%s %s without %s: missing %q", c.Anchor, c.Clause, f, c.Missing)
			}
		}
		answers[f] = was
	}
	for _, c := range clausesOf(nil) {
		if len(c.Missing) == 0 {
			t.Errorf("%s %s is answered by nothing", c.Anchor, c.Clause)
		}
	}
}

// A page shows every question in every language, answered or not, asks no network for
// anything, and is the same bytes each time.
func TestPage(t *testing.T) {
	for _, l := range []string{"en", "es", "ca"} {
		for _, answered := range []bool{false, true} {
			r := &Record{Schema: schema, Language: l, Made: "2026-01-02T03:04:05Z"}
			answers := map[string]*Fact{}
			for _, f := range allFacts() {
				if answered {
					answers[f] = &Fact{Name: f, Values: []Value{text("<b>said</b> of " + f), share(.5).in(.25, .75), count(12345)}}
				}
				if answered && f == "light" {
					answers[f].Values = []Value{term("red"), text("look")}
				}
			}
			r.Sections = sectionsOf(answers)
			r.Clauses = clausesOf(answers)
			html, err := render(r, nil, strings.Repeat("ab", 32))
			again, _ := render(r, nil, strings.Repeat("ab", 32))
			if err != nil || !bytes.Equal(html, again) || len(html) > 2<<20 {
				t.Fatalf("%s: %v, %d bytes", l, err, len(html))
			}
			if m := regexp.MustCompile(`(?i)https?:|url\(|src=|<script|<link|@import|<b>said`).Find(html); m != nil {
				t.Errorf("%s: the page has %q", l, m)
			}
			no := page.LanguageOf(l).Text("ev missing")
			want := len(allFacts()) + len(asked().clauses)
			if answered {
				want = 0
			}
			if n := strings.Count(string(html), no); n != want {
				t.Errorf("%s: %d questions and clauses without an answer, want %d", l, n, want)
			}
			if answered && !strings.Contains(string(html), "[25\u202f%\u201375\u202f%]") {
				t.Errorf("%s: no interval", l)
			}
			for _, href := range regexp.MustCompile(`href="#(\w*)"`).FindAllStringSubmatch(string(html), -1) {
				if !strings.Contains(string(html), `id="`+href[1]+`"`) {
					t.Errorf("%s: a link to %q leads nowhere", l, href[1])
				}
			}
		}
	}
}

// Facts of the house are read strictly, by place.
func TestHouse(t *testing.T) {
	for _, tt := range []struct{ text, said, wrong string }{
		{"controller: Hospital\n", "Hospital", ""},
		{"controller: \"a: b\"\npatients: 12\n", "a: b", ""},
		{"controller: |\n  one\n  two\n", "one\ntwo", ""},
		{"controller: 12\n", "12", ""},
		{"controller:\n", "", ""},
		{"", "", ""},
		{Template(), "", ""},
		{"controler: x\n", "", `1:1: unknown key "controler"; did you mean "controller"?`},
		{"controller: [a, b]\n", "", "want text, have a list"},
		{"controller:\n  a: b\n", "", "want text, have a section"},
		{"patients: 0\n", "", "want a number of people"},
		{"patients: -3\n", "", "want a number of people"},
		{"- a\n", "", "want keys and values, have a list"},
		{"a: 'b\n", "", "1:"},
		{"controller: " + strings.Repeat("x", maxFact+1), "", "at most 4000"},
	} {
		file := filepath.Join(t.TempDir(), "f.yaml")
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		said, err := readHouse(file)
		var out bytes.Buffer
		if err != nil {
			exit.Print(&out, err, false)
		}
		if (err == nil) != (tt.wrong == "") || !strings.Contains(out.String(), tt.wrong) || err == nil && said["controller"] != tt.said {
			t.Errorf("%.40q: %q, %s", tt.text, said["controller"], out.String())
		}
		if err != nil && exit.CodeOf(err) != exit.Config {
			t.Errorf("%.40q: exit code %d", tt.text, exit.CodeOf(err))
		}
	}
}
