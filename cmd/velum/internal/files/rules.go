// Package files opens files that people or earlier runs have written: rules, lists of names and words, and output
// trees. Errors name the file, the line and the cause.
package files

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/morph"
)

// shippedMorph opens the shipped parts of speech and lemmas once.
var shippedMorph = sync.OnceValues(func() (*morph.Model, error) { return morph.Open(embedded.Morph()) })

// Resources returns the name lists and the morphology that tests of rule networks look word forms up in.
func Resources(lists *gazetteer.Gazetteer) (rules.Resources, error) {
	m, err := shippedMorph()
	return rules.Resources{Lists: lists, Morph: m}, err
}

// Pack compiles a file of rule networks, or the built-in pack of that name.
func Pack(path string, lists *gazetteer.Gazetteer) (*rules.Pack, error) {
	text, err := packText(path)
	if err != nil {
		return nil, err
	}
	if rules.IsWords(string(text)) {
		return nil, exit.Misconfiguredf("`velum teach rules check` tells mistakes of words, too",
			"%s: words and no networks: it goes into resolve.words", path)
	}
	r, err := Resources(lists)
	if err != nil {
		return nil, err
	}
	p, err := rules.Compile(string(text), r)
	if err != nil {
		return nil, exit.Misconfigured(fmt.Errorf("%s: %w", path, err), remedy(err, "mend the rule; `velum help house-rules` tells the language"))
	}
	return p, nil
}

// Packs compiles the rule files that the option key names. Errors begin with key.
func Packs(key string, paths []string, lists *gazetteer.Gazetteer) (packs []*rules.Pack, err error) {
	for _, path := range paths {
		p, err := Pack(path, lists)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key, err)
		}
		packs = append(packs, p)
	}
	return packs, nil
}

// remedy of a mistake: the name that was meant, where one is near.
func remedy(err error, otherwise string) string {
	if wrong, ok := errors.AsType[*rules.SyntaxError](err); ok {
		return cmp.Or(exit.DidYouMean(wrong.Word, wrong.Known), otherwise)
	}
	return otherwise
}

// Mistakes returns the syntax errors in err, each with its place in the rule file; none if err holds no syntax error.
func Mistakes(path string, err error) (all []exit.Mistake) {
	if many, ok := errors.AsType[rules.SyntaxErrors](err); ok {
		for _, one := range many {
			all = append(all, exit.Mistake{File: path, Message: one.Error(), Hint: remedy(one, "")})
		}
		return all
	}
	if one, ok := errors.AsType[*rules.SyntaxError](err); ok {
		return []exit.Mistake{{File: path, Message: one.Error(), Hint: remedy(one, "")}}
	}
	return nil
}

// Words returns the word lists of the rules of resolve: the built-in lists, changed by each file in turn.
func Words(paths ...string) (words rules.Words, err error) {
	words = rules.ShippedWords()
	for _, path := range paths {
		text, unread := os.ReadFile(path)
		if unread != nil {
			return nil, exit.Misconfigured(unread, "name a file of words; `velum teach rules words` prints one")
		}
		if words, err = words.Change(string(text)); err != nil {
			return nil, exit.Misconfigured(fmt.Errorf("%s: %w", path, err), remedy(err,
				"mend the list; `velum help house-rules` tells what stands in it"))
		}
	}
	return words, err
}

// IsWords reports whether path names a file of word lists rather than of rule networks.
func IsWords(path string) bool {
	text, err := os.ReadFile(path)
	return err == nil && rules.IsWords(string(text))
}

func packText(path string) ([]byte, error) {
	if slices.Contains([]string{configs.ShippedPack, configs.CalendarPack, configs.RarePack}, path) {
		return configs.Pack(path)
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil,
			exit.Misconfigured(err,
				"name a file of rules, or "+configs.ShippedPack+", "+configs.CalendarPack+" or "+configs.RarePack+" for those of velum")
	}
	if err != nil {
		return nil, exit.Misconfigured(err, "make the file readable")
	}
	return text, nil
}

// WithLines returns list followed by the lines of the file at path, if path is not "". It skips empty lines and
// comments (#).
func WithLines(list []string, path string) ([]string, error) {
	if path == "" {
		return list, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	out := slices.Clone(list)
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
			out = append(out, line)
		}
	}
	return out, lines.Err()
}
