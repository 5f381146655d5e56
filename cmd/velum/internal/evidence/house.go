package evidence

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/paced"
)

const maxFact = 4000 // characters

// Template returns an empty facts file in YAML: one key for each question that only the institution can answer.
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

// houseFile is the default name of the institution's facts file, beside its outputs.
const houseFile = "house.yaml"

// interview asks on the terminal for the facts that are still missing, and writes the answers into the facts file.
// Other content of the file is kept. Enter leaves a question open; the end of the input ends the interview.
func interview(ctx context.Context, c *console.Console, file string, l page.Language) error {
	if !c.Asks() {
		return exit.Misconfiguredf("write the answers into a file: `velum evidence --facts-template`", "nobody is there to be asked: no terminal")
	}
	said, data := map[string]string{}, []byte(Template())
	if _, err := os.Stat(file); err == nil {
		if said, err = readHouse(file); err == nil {
			data, err = os.ReadFile(file)
		}
		if err != nil {
			return err
		}
	}
	in := bufio.NewReader(paced.NewReader(ctx, c.In))
	if _, err := c.Printf("%s\n", l.Text("ev interview", file)); err != nil {
		return err
	}
	for _, q := range asked().questions {
		for q.asks != "" && said[q.fact] == "" {
			if _, err := c.Printf("\n%s\n  %s\n> ", l.Text("ev fact "+q.fact), q.asks); err != nil {
				return err
			}
			line, err := in.ReadString('\n')
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err != nil {
				return durable.WriteFile(nil, file, data)
			}
			line = strings.TrimSpace(line)
			if problem := wrongFact(q.fact, line); problem != "" {
				_, _ = c.Printf("  %s\n", problem)
				continue
			}
			if line != "" {
				data = answered(data, q.fact, line)
			}
			break
		}
	}
	return durable.WriteFile(nil, file, data)
}

// answered inserts an answer into a facts file: after its key if the key has no value yet, otherwise at the end.
func answered(data []byte, fact, said string) []byte {
	value, _ := json.Marshal(said) // a JSON text is one of YAML
	line := fmt.Appendf(nil, "%s: %s", fact, value)
	if at := regexp.MustCompile(`(?m)^` + fact + `:[ \t]*$`).FindIndex(data); at != nil {
		return slices.Concat(data[:at[0]], line, data[at[1]:])
	}
	return slices.Concat(bytes.TrimRight(data, "\n"), []byte("\n"), line, []byte("\n"))
}

// wrongFact returns why a text is not a valid answer; "" if it is.
func wrongFact(fact, said string) string {
	if n := len([]rune(said)); n > maxFact {
		return fmt.Sprintf("%d characters, at most %d", n, maxFact)
	}
	if n, err := strconv.ParseInt(said, 10, 64); fact == "patients" && said != "" && (err != nil || n < 1) {
		return "want a number of people"
	}
	return ""
}

// readHouse reads a facts file: a text for each fact of dossier.txt that only the institution can answer.
func readHouse(file string) (map[string]string, error) {
	var keys []string
	for _, q := range asked().questions {
		if q.asks != "" {
			keys = append(keys, q.fact)
		}
	}
	return option.ReadTexts(file, keys, wrongFact)
}
