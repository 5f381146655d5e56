package option

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
)

// contradictions returns the mistakes between options that are valid by themselves.
func (c *Config) contradictions() []exit.Mistake {
	k := checker{Config: c}
	k.columns()
	k.categories("mask.operators", sortedKeys(c.Mask.Operators))
	k.categories("choose.classes", sortedKeys(c.Choose.Classes))
	for _, entry := range c.Resolve.Always {
		if _, _, wrong, hint := AlwaysEntry(entry); wrong != "" {
			k.note("resolve.always", wrong, hint)
		}
	}
	k.anonymity()
	k.categories("gate.missed", sortedKeys(c.Gate.Missed))
	if c.Gate.MaxLeak > 0 && len(c.Gate.Missed) == 0 && c.Gate.Attacks == "" {
		k.note("gate.max_leak", "needs what an audit missed, or what an attack found out", "set gate.missed or gate.attacks")
	}
	k.shares()
	if c.Inverse.Low > c.Inverse.High {
		k.note("inverse.low", "is above inverse.high", "as in low: 0.9, high: 0.95")
	}
	if _, wrong := c.policy(); len(wrong) > 0 {
		k.mistakes = append(k.mistakes, wrong...)
	}
	return k.mistakes
}

type checker struct {
	*Config
	mistakes []exit.Mistake
}

// note adds a mistake at the place where the value was set.
func (k *checker) note(key, message, hint string) {
	k.mistakes = append(k.mistakes, k.Mistake(key, message, hint))
}

// Mistake returns a mistake about an option, with the place where the option was set.
func (c *Config) Mistake(key, message, hint string) exit.Mistake {
	from := c.origins[key]
	return exit.Mistake{File: from.from, Line: from.at.line, Column: from.at.column, Key: key, Message: message, Hint: hint}
}

func (k *checker) categories(key string, names []string) {
	for _, name := range names {
		if _, err := pipeline.ParseCategory(name); err != nil {
			k.note(key, fmt.Sprintf("unknown category %q", name), exit.DidYouMean(name, allCategories()))
		}
	}
}

// AlwaysEntry returns the parts of an entry of resolve.always or of its file, CATEGORY:words, and what is wrong with it.
func AlwaysEntry(entry string) (category, words, wrong, hint string) {
	category, words, _ = strings.Cut(entry, ":")
	category, words = strings.TrimSpace(category), strings.TrimSpace(words)
	if words == "" {
		return category, words, "is not CATEGORY:words", "write PERSON:Ferran, say"
	}
	if _, err := pipeline.ParseCategory(category); err != nil {
		return category, words, "begins with no category", exit.Suggest(category, LabelNames("primary-care"))
	}
	return category, words, "", ""
}

func allCategories() []string {
	names := make([]string, 0, pipeline.Categories())
	for c := range pipeline.Categories() {
		if c > 0 {
			names = append(names, pipeline.Category(c).String())
		}
	}
	return names
}

// columns checks that every column has a single use. A text column that is passed through would undo the masking.
func (k *checker) columns() {
	used := map[string]string{}
	use := func(key, name string) {
		if used[name] != "" && name != "" {
			k.note(key, "the same column as "+used[name], "")
		}
		used[name] = key
	}
	cols := k.Read.Columns
	for _, name := range cols.ID {
		use("read.columns.id", name)
	}
	use("read.columns.text", cols.Text)
	use("read.columns.patient", cols.Patient)
	use("read.columns.date", cols.Date)
	use("read.columns.center", cols.Center)
	if len(cols.ID) == 0 && k.Read.IDs != "drop" || slices.Contains(cols.ID, "") {
		k.note("read.columns.id", "must name a column", "")
	}
	if cols.Text == "" {
		k.note("read.columns.text", "must name a column", "")
	}
	for _, name := range k.Read.Keep {
		switch {
		case name == cols.Text:
			k.note("read.keep", "the column of the note cannot pass through", "the masked text is always written")
		case (k.Read.IDs == "keyed" || k.Read.IDs == "drop") && slices.Contains(cols.ID, name):
			k.note("read.keep", "a column of the id cannot pass through when ids are "+k.Read.IDs, "")
		}
	}
}

// shares checks that the shares of the classes make a whole.
func (k *checker) shares() {
	sum := 0.0
	for _, name := range sortedKeys(k.Choose.Classes) {
		sum += k.Choose.Classes[name]
	}
	if len(k.Choose.Classes) > 0 && (sum < 0.99 || sum > 1.01) {
		k.note("choose.classes", fmt.Sprintf("the shares add up to %.3g, not 1", sum), "")
	}
}

// Recheck returns the interval after which a run reads its output again to check it; a negative value means never.
func (c *Config) Recheck() time.Duration {
	after, _ := interval(c.Run.Recheck)
	return after
}

// interval reads "30d", "12h", "0d" or "never".
func interval(text string) (after time.Duration, ok bool) {
	if text == "never" {
		return -1, true
	}
	if days, is := strings.CutSuffix(text, "d"); is {
		n, err := strconv.Atoi(days)
		return time.Duration(n) * 24 * time.Hour, err == nil && n >= 0 && n <= 36_500
	}
	after, err := time.ParseDuration(text)
	return after, err == nil && after >= 0
}

// notAnInterval says what is wrong with it.
func notAnInterval(text string) (problem, hint string) {
	if _, ok := interval(text); !ok {
		return "want days or hours, as 30d or 12h, 0d or never", ""
	}
	return "", ""
}
