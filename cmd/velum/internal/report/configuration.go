package report

import (
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// plainLists lists the sections whose lists name columns and categories and never words of the institution;
// resolve.always may hold names of people.
var plainLists = []string{"read", "anonymity", "mask"}

// chosen returns the options that affect the output and differ from velum's defaults, by key. The value is "(set)" for
// files and for possible words of the institution.
func chosen(c *option.Config) map[string]string {
	all := map[string]string{}
	usual, err := option.Load(option.Sources{})
	if err != nil {
		return all // a bug: what velum has is no mistake
	}
	c.Each(func(key, text string, shapes bool) {
		if !shapes || text == usual.Text(key) {
			return
		}
		section, _, _ := strings.Cut(key, ".")
		if option.TakesFile(key) && strings.ContainsAny(text, "./") || strings.HasPrefix(text, "[") && !slices.Contains(plainLists, section) {
			text = "(set)"
		}
		all[key] = text
	})
	return all
}
