package rules

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/pipeline"
)

// Words maps names to lists of words that the rules of stages/resolve use.
type Words map[string][]string

var shipped = Words{}

func init() {
	locale.Read("rules", func(_ pipeline.Language, section, words []string) error {
		name := strings.Join(section, " ")
		shipped[name] = append(shipped[name], words...)
		return nil
	})
}

// ShippedWords returns the lists in the files of models/word/locale.
func ShippedWords() Words { return maps.Clone(shipped) }

// Change returns the lists as a file changes them, which is one of rules without
// networks:
//
//	version 1
//	words title dr dra     these in place of the list; more lines of the name go on
//	words +title hna       these too
//	words -title don       all but these
//
// Every list has to be known, unless there are none. The errors are
// those of Compile.
func (w Words) Change(text string) (Words, error) {
	c := &wordChanges{Words: maps.Clone(w), known: w, begun: map[string]bool{}}
	if c.Words == nil {
		c.Words = Words{}
	}
	mistakes, err := eachLine(text, c.line)
	if err = cmp.Or(err, mistakes.orNil()); err != nil {
		return nil, err
	}
	return c.Words, nil
}

// Text returns the named lists, or all of them, in the format of a file.
func (w Words) Text(names ...string) string {
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(w))
	}
	var b strings.Builder
	b.WriteString("version " + strconv.Itoa(version) + "\n")
	for _, name := range names {
		for line := range slices.Chunk(w[name], wordsOfLine) {
			fmt.Fprintf(&b, "words %-14s %s\n", name, strings.Join(line, " "))
		}
	}
	return b.String()
}

// wordsOfLine is how many words Text writes into a line.
const wordsOfLine = 12

// wordChanges are lists while a file changes them.
type wordChanges struct {
	Words
	known  Words
	begun  map[string]bool // lists of which the file has put words in place
	listed int
}

func (c *wordChanges) line(fields []token) error {
	head := fields[0]
	switch {
	case head.text == "network":
		return head.errorf("expected \"words NAME WORD...\": networks stand in files of their own (resolve.packs)")
	case head.text != "words" || len(fields) < 3:
		return fields[len(fields)-1].errorf("expected \"words NAME WORD...\", \"words +NAME WORD...\" or \"words -NAME WORD...\"")
	}
	at := fields[1]
	name := strings.TrimLeft(at.text, "+-")
	sign := at.text[:len(at.text)-len(name)]
	if len(sign) > 1 {
		return at.errorf("one sign goes before the name of a list, as +%s", name)
	}
	if err := checkName(token{name, at.line, at.column + len(sign)}); err != nil {
		return err
	}
	if _, ok := c.known[name]; !ok && len(c.known) > 0 {
		return at.unknown("list", name, slices.Sorted(maps.Keys(c.known)))
	}
	if c.listed += len(fields) - 2; c.listed > maxWords {
		return head.errorf("more than %d words", maxWords)
	}
	if sign == "" && !c.begun[name] {
		c.Words[name], c.begun[name] = nil, true
	}
	for _, f := range fields[2:] {
		if err := c.word(name, sign, f); err != nil {
			return err
		}
	}
	return nil
}

// word puts a word into a list, or takes it away.
func (c *wordChanges) word(name, sign string, f token) error {
	word := strings.TrimSuffix(f.text, ".")
	for _, r := range word {
		if !unicode.IsLetter(r) && !unicode.IsMark(r) {
			return f.errorf("a word is made of letters, and %q has %q", f.text, r)
		}
	}
	if word == "" {
		return f.errorf("expected a word, found %q", f.text)
	}
	if sign != "-" {
		c.Words[name] = append(slices.Clip(c.Words[name]), word)
		return nil
	}
	same := string(gazetteer.Fold(nil, []byte(word)))
	left := slices.DeleteFunc(slices.Clone(c.Words[name]), func(o string) bool { return string(gazetteer.Fold(nil, []byte(o))) == same })
	if len(left) == len(c.Words[name]) {
		return f.errorf("list %q has no word %q to take away", name, f.text)
	}
	c.Words[name] = left
	return nil
}

// IsWords reports whether a file holds word lists and no networks.
func IsWords(text string) bool {
	words := false
	for i, line := range strings.Split(text, "\n") {
		fields := split(line, i+1)
		if len(fields) == 0 {
			continue
		}
		if fields[0].text == "network" {
			return false
		}
		words = words || fields[0].text == "words"
	}
	return words
}

// checkText refuses what is no text of a bearable size.
func checkText(text string) error {
	if len(text) > MaxBytes {
		return &SyntaxError{Line: 1, Column: 1, Message: fmt.Sprintf("the file has %d bytes; %d may be", len(text), MaxBytes)}
	}
	if !utf8.ValidString(text) {
		return &SyntaxError{Line: lineOfBadByte(text), Column: 1, Message: "bytes that are no UTF-8"}
	}
	return nil
}

// eachLine calls do for the words of each line of a file behind its version, and returns
// what is wrong with lines; the error is one of the file as a whole.
func eachLine(text string, do func(fields []token) error) (mistakes SyntaxErrors, err error) {
	if err := checkText(text); err != nil {
		return nil, err
	}
	versioned := false
	for i, line := range strings.Split(text, "\n") {
		switch fields := split(line, i+1); {
		case len(fields) == 0:
		case versioned:
			mistakes.add(do(fields))
		default:
			versioned = true
			mistakes.add(versionLine(fields))
		}
	}
	if !versioned {
		return nil, &SyntaxError{Line: 1, Column: 1, Message: fmt.Sprintf("expected \"version %d\"", version)}
	}
	return mistakes, nil
}

// versionLine reads the first line of a file.
func versionLine(fields []token) error {
	if fields[0].text != "version" || len(fields) != 2 || fields[1].text != strconv.Itoa(version) {
		return fields[0].errorf("expected \"version %d\"", version)
	}
	return nil
}
