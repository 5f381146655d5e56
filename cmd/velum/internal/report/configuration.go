package report

import (
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// plainLists are the sections whose lists name columns and categories, and no word of a
// house: resolve.always may have names of people.
var plainLists = []string{"read", "anonymity", "mask"}

// chosen returns the options that shape the output and are not as velum has them, by key:
// "(set)" for files and for what could be words of the house.
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
