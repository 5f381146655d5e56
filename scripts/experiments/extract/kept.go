package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// givenNames are the entries of a list of given names, "f ca Núria", by name in
// small letters, and by name without accents: a name may be a man's and a
// woman's.
type givenNames map[string][]entry

type entry struct{ gender, language string }

func readGiven(file string) (givenNames, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	names := givenNames{}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 3 || f[0] == "#" {
			continue
		}
		for _, form := range slices.Compact([]string{strings.ToLower(f[2]), fold(f[2])}) {
			names[form] = append(names[form], entry{f[0], f[1]})
		}
	}
	return names, nil
}

func fold(word string) string { return string(gazetteer.Fold(nil, []byte(word))) }

// of returns what the list says of a word as it is written, else of it without
// accents.
func (n givenNames) of(word string) []entry {
	if e := n[strings.ToLower(word)]; e != nil {
		return e
	}
	return n[fold(word)]
}

// kept counts the given names whose surrogate has their gender and language.
type kept struct {
	given givenNames
	names map[string]int // by what became of them
}

// note counts one note. A given name is the first word of a name of a person
// that the list knows and that stands behind no word for surnames or title.
func (k *kept) note(text []byte, spans []pipeline.Span, masked []byte, places []pipeline.Span) {
	for i, s := range spans {
		if !strings.HasPrefix(s.Category.String(), "NOMBRE_") {
			continue
		}
		if before := string(bytes.ToLower(bytes.TrimRight(text[:s.Start], " :."))); hasTitle(before) {
			continue
		}
		was := k.given.of(firstWord(text[s.Start:s.End]))
		if was == nil {
			continue
		}
		now := k.given.of(firstWord(masked[places[i].Start:places[i].End]))
		k.names[became(was, now)]++
	}
}

func hasTitle(before string) bool {
	return slices.ContainsFunc([]string{"apellidos", "apellido", "dr", "dra"}, func(t string) bool { return strings.HasSuffix(before, t) })
}

func firstWord(value []byte) string {
	words := strings.FieldsFunc(string(value), func(r rune) bool { return !unicode.IsLetter(r) && r != '·' })
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

func became(was, now []entry) string {
	gender, both := false, false
	for _, e := range was {
		gender = gender || slices.ContainsFunc(now, func(n entry) bool { return n.gender == e.gender })
		both = both || slices.Contains(now, e)
	}
	switch {
	case now == nil:
		return "no given name"
	case both:
		return "kept"
	case gender:
		return "of another language"
	}
	return "of the other gender"
}

func (k *kept) report() {
	total := 0
	for _, n := range k.names {
		total += n
	}
	for _, what := range slices.Sorted(maps.Keys(k.names)) {
		fmt.Printf("given names, gender and language: %-20s %6d %7.2f %%\n", what, k.names[what], 100*float64(k.names[what])/float64(total))
	}
}
