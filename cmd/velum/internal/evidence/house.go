package evidence

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/option"
)

const maxFact = 4000 // characters

// Template is an empty file of facts.
func Template() string {
	var b strings.Builder
	b.WriteString("# What `velum evidence --facts FILE` cannot know. What stays empty is \"not answered\" in the dossier.\n# No names of patients, and nothing of a note.\n")
	for _, q := range asked().questions {
		if q.asks != "" {
			fmt.Fprintf(&b, "\n# %s\n%s:\n", q.asks, q.fact)
		}
	}
	return b.String()
}

// houseFile is the name of the file of the house where nobody names one: it lies beside its outputs.
const houseFile = "house.yaml"

// wrongFact says why a text is no answer; "": it is one.
func wrongFact(fact, said string) string {
	if n := len([]rune(said)); n > maxFact {
		return fmt.Sprintf("%d characters, at most %d", n, maxFact)
	}
	if n, err := strconv.ParseInt(said, 10, 64); fact == "patients" && said != "" && (err != nil || n < 1) {
		return "want a number of people"
	}
	return ""
}

// readHouse reads a file of facts: the facts of dossier.txt that the house is asked for, each a text.
func readHouse(file string) (map[string]string, error) {
	var keys []string
	for _, q := range asked().questions {
		if q.asks != "" {
			keys = append(keys, q.fact)
		}
	}
	return option.ReadTexts(file, keys, wrongFact)
}
