// Package files opens what people and runs have written: rules of the
// house, lists of names and words as stages/resolve asks them, and an output tree as
// what a system said of notes. Mistakes come with file, line and cause.
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

// Resources returns the tables that tests of networks look forms up in.
func Resources(lists *gazetteer.Gazetteer) (rules.Resources, error) {
	m, err := shippedMorph()
	return rules.Resources{Lists: lists, Morph: m}, err
}

// Pack compiles a file of networks, or the pack that ships.
func Pack(path string, lists *gazetteer.Gazetteer) (*rules.Pack, error) {
	text, err := packText(path)
	if err != nil {
		return nil, err
	}
	if rules.IsWords(string(text)) {
		return nil, exit.Misconfiguredf("`velum teach rules check` tells mistakes of words, too", "%s: words and no networks: it goes into resolve.words", path)
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

// Packs compiles the files of an option: networks that find something.
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

// Mistakes are those of a file, one by one; none if err is of another kind than what stands in it.
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

// Words are the lists that the rules of resolve go by: those that ship, as the
// files change them, one after another.
func Words(paths ...string) (words rules.Words, err error) {
	words = rules.ShippedWords()
	for _, path := range paths {
		text, unread := os.ReadFile(path)
		if unread != nil {
			return nil, exit.Misconfigured(unread, "name a file of words; `velum teach rules words` prints one")
		}
		if words, err = words.Change(string(text)); err != nil {
			return nil, exit.Misconfigured(fmt.Errorf("%s: %w", path, err), remedy(err, "mend the list; `velum help house-rules` tells what stands in it"))
		}
	}
	return words, err
}

// IsWords tells whether a path names a file of words, and not one of networks.
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
		return nil, exit.Misconfigured(err, "name a file of rules, or "+configs.ShippedPack+", "+configs.CalendarPack+" or "+configs.RarePack+" for those of velum")
	}
	if err != nil {
		return nil, exit.Misconfigured(err, "make the file readable")
	}
	return text, nil
}

// WithLines returns the list and the lines of a file, if there is one. Empty
// lines and lines that begin with # do not count.
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
