package rules

import (
	"bytes"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// kind says what a test asks.
type kind uint8

const (
	ofForm     kind = iota // of the form alone: one bit, kept with the form
	ofPlace                // where the token stands
	ofRegister             // a register
	consumer               // what the arc consumes, in place of one token
	beside                 // of what is consumed, or of the tokens before it
)

// testNamesOf are all tests by what they ask; a colon says that one wants values.
var testNamesOf = [...]string{
	ofForm:     "any form: exact: words: list: known: lemma: pos: match: number: ends: cap lower upper title initial digits alpha punct",
	ofPlace:    "first glued none",
	ofRegister: "is: below:",
	consumer:   "skip peek part: phrase: call: text:",
	beside:     "behind: check:",
}

// about is what is known of a test.
type about struct {
	kind   kind
	values bool
}

var tests = map[string]about{}

func init() {
	for k, names := range testNamesOf {
		for name := range strings.FieldsSeq(names) {
			name, values := strings.CutSuffix(name, ":")
			tests[name] = about{kind(k), values}
		}
	}
}

// begins is the test that goes with phrase: an entry of several words may begin
// with the form. No file can name it.
const begins = "(begins)"

func testNames() []string { return slices.Sorted(maps.Keys(tests)) }

// form is a form as the tests see it.
type form struct {
	text   []byte
	folded []byte // see gazetteer.Fold; empty for punctuation
	shape  shape
	class  gazetteer.Class // lists
	known  gazetteer.Class // with the names from all over the world
	pos    []byte          // filled in only if a test asks for it
	lemma  []byte
}

type shape uint8

const (
	capital shape = 1 << iota // the first letter is a capital
	noCapitals
	allCapitals // two letters and more
	titleCase   // one capital, then small letters
	initial     // a single letter, a capital
	allDigits
	allLetters
	punctuation
)

var shapes = map[string]shape{
	"cap": capital, "lower": noCapitals, "upper": allCapitals, "title": titleCase, "initial": initial,
	"digits": allDigits, "alpha": allLetters, "punct": punctuation,
}

func shapeOf(text []byte) (s shape) {
	var letters, uppers, numbers, others int
	firstUpper := false
	for _, r := range string(text) {
		switch {
		case unicode.IsLetter(r):
			if unicode.IsUpper(r) {
				firstUpper = firstUpper || letters == 0
				uppers++
			}
			letters++
		case unicode.IsDigit(r):
			numbers++
		case unicode.IsMark(r): // of the letter before it
		default:
			others++
		}
	}
	set := func(on bool, bit shape) {
		if on {
			s |= bit
		}
	}
	set(firstUpper, capital)
	set(letters > 0 && uppers == 0, noCapitals)
	set(letters > 1 && uppers == letters, allCapitals)
	set(firstUpper && letters > 1 && uppers == 1, titleCase)
	set(firstUpper && letters == 1, initial)
	set(numbers > 0 && letters+others == 0, allDigits)
	set(letters > 0 && numbers+others == 0, allLetters)
	set(letters+numbers == 0, punctuation)
	return s
}

// predicate is a test of a form.
type predicate func(f *form) bool

// predicateOf makes the test of a form. Tests of words go into the table of words under
// their bit, and have none.
func (c *compiler) predicateOf(t *test, bit int) (predicate, error) {
	switch t.name {
	case "any":
		return func(*form) bool { return true }, nil
	case "form", "words":
		return nil, c.wordTest(t, bit)
	case "exact":
		c.pack.words.addLiteral(bit, t.values...)
		return nil, nil
	case "list", "known":
		return c.classTest(t)
	case "lemma", "pos":
		return c.morphTest(t)
	case "part":
		var pieces []string
		for _, v := range t.values {
			pieces = append(pieces, strings.ToLower(v))
		}
		return func(f *form) bool {
			return slices.ContainsFunc(pieces, func(v string) bool { return prefixFold(f.text, v) > 0 })
		}, nil
	case begins:
		lists := c.resources.Lists
		return func(f *form) bool { return f.text != nil && lists.Begins(f.text) != 0 }, nil
	case "match", "number":
		re, err := regexp.Compile(`^(?:` + t.values[0] + `)$`)
		if err != nil {
			return nil, t.at.errorf("no regular expression of RE2: %v", err)
		}
		digit := t.name == "number"
		return func(f *form) bool { return len(f.text) > 0 && (!digit || f.text[0]-'0' < 10) && re.Match(f.text) }, nil
	case "ends":
		return func(f *form) bool { return slices.ContainsFunc(t.values, f.ends) }, nil
	}
	want := shapes[t.name]
	return func(f *form) bool { return f.shape&want != 0 }, nil
}

// ends reports whether a form ends with letters as they are written; each ? before them stands for a character that the
// form must have before them.
func (f *form) ends(with string) bool {
	letters := strings.TrimLeft(with, "?")
	before, found := bytes.CutSuffix(f.text, []byte(letters))
	return found && utf8.RuneCount(before) >= len(with)-len(letters)
}

func (c *compiler) wordTest(t *test, bit int) error {
	for _, v := range t.values {
		list := []string{v}
		if t.name == "words" {
			var ok bool
			if list, ok = c.words[v]; !ok {
				return t.at.unknown("words", v, slices.Sorted(maps.Keys(c.words)))
			}
		}
		for _, word := range list {
			c.pack.words.add(word, bit)
		}
	}
	return nil
}

func (c *compiler) classTest(t *test) (predicate, error) {
	class, err := classOf(t)
	if err != nil {
		return nil, err
	}
	c.pack.listed = true
	if t.name == "known" {
		c.pack.known = true
		if c.pack.resources.Names == nil {
			c.pack.resources.Names = gazetteer.Names() // a start makes them for nobody else
		}
		return func(f *form) bool { return f.known&class != 0 }, nil
	}
	return func(f *form) bool { return f.class&class != 0 }, nil
}

func classOf(t *test) (class gazetteer.Class, err error) {
	for _, v := range t.values {
		one, err := gazetteer.ParseClass(v)
		if err != nil {
			return 0, t.at.unknown("list", v, gazetteer.ClassNames())
		}
		class |= one
	}
	return class, nil
}

func (c *compiler) morphTest(t *test) (predicate, error) {
	if c.resources.Morph == nil {
		return nil, t.at.errorf("%s: there is no model of parts of speech and lemmas", t.name)
	}
	c.pack.morph = true
	if t.name == "pos" {
		return func(f *form) bool { return slices.Contains(t.values, string(f.pos)) }, nil
	}
	return func(f *form) bool { return slices.Contains(t.values, string(f.lemma)) }, nil
}
