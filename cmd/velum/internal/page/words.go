package page

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

var languageCodes = [...]string{"en", "es", "ca"}

// Language formats the words and numbers of a page in one language; the zero value is English.
type Language int

// LanguageOf returns the language with that code, or English if there is none.
func LanguageOf(code string) Language { return Language(max(slices.Index(languageCodes[:], code), 0)) }

func (l Language) String() string { return languageCodes[l] }

// Text returns the text for key, with its arguments inserted.
func (l Language) Text(key string, args ...any) string {
	row, ok := words()[key]
	if !ok {
		panic("no words for " + key) // a bug: a test asks for all keys of the templates
	}
	if len(args) == 0 {
		return row[l]
	}
	return fmt.Sprintf(row[l], args...)
}

// known returns the text for key; "" if there is none.
func (l Language) known(key string) string {
	if !Known(key) {
		return ""
	}
	return l.Text(key)
}

// Known reports whether there is a text for key.
func Known(key string) bool {
	_, ok := words()[key]
	return ok
}

// Plural formats a count with its noun in the right number: "3 notes". The nouns are texts of the form "note|notes".
func (l Language) Plural(n int64, noun string) string {
	one, many, _ := strings.Cut(l.Text(noun), "|")
	if n != 1 {
		one = many
	}
	return Thousands(n) + " " + one
}

// Percent formats a share as a percentage with three significant digits, or two for a small one.
func (l Language) Percent(share float64) string { return l.decimal(percent(share)) }

// Number formats a number with the given count of decimals.
func (l Language) Number(x float64, digits int) string {
	return l.decimal(strings.Replace(fmt.Sprintf("%.*f", digits, x), "-", "\u2212", 1))
}

// Interval formats a share with the ends of its interval: "0.94 [0.92, 0.95]".
func (l Language) Interval(x float64, ends [2]float64, digits int) string {
	between := ", "
	if l != 0 {
		between = "; " // the comma is that of the numbers
	}
	return l.Number(x, digits) + "\u202f[" + l.Number(ends[0], digits) + between + l.Number(ends[1], digits) + "]"
}

// decimal puts the comma of Spanish and Catalan into a number.
func (l Language) decimal(text string) string {
	if l != 0 {
		return strings.Replace(text, ".", ",", 1)
	}
	return text
}

//go:embed words.txt
var wordsText string

// words are all texts of the pages, in the order of languageCodes.
var words = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, block := range blocks(wordsText) {
		all[block[0]] = block[1:]
	}
	return all
})

// blocks cuts a table into its blocks: a line, and those that stand below it, indented.
func blocks(table string) (all [][]string) {
	for line := range strings.Lines(table) {
		line = strings.TrimSuffix(line, "\n")
		if text, below := strings.CutPrefix(line, "\t"); below {
			all[len(all)-1] = append(all[len(all)-1], text)
		} else if line != "" && line[0] != '#' {
			all = append(all, []string{line})
		}
	}
	return all
}

// Under returns the texts whose keys begin with begin, by the rest of the key.
func (l Language) Under(begin string) map[string]string {
	all := map[string]string{}
	for key, row := range words() {
		if rest, under := strings.CutPrefix(key, begin); under {
			all[rest] = row[l]
		}
	}
	return all
}
