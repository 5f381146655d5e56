package rules

import (
	"maps"
	"regexp"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/gazetteer"
)

// kind says what a test asks.
type kind uint8

const (
	ofForm     kind = iota // of the form alone: one bit, kept with the form
	ofPlace                // where the token stands
	ofRegister             // a register
	consumer               // what the arc consumes, in place of one token
)

// tests are all there are: what they ask, and whether they want values.
var tests = map[string]struct {
	kind   kind
	values bool
}{
	"any": {ofForm, false}, "form": {ofForm, true}, "exact": {ofForm, true}, "words": {ofForm, true}, "list": {ofForm, true}, "known": {ofForm, true},
	"lemma": {ofForm, true}, "pos": {ofForm, true}, "match": {ofForm, true},
	"cap": {ofForm, false}, "lower": {ofForm, false}, "upper": {ofForm, false}, "title": {ofForm, false}, "initial": {ofForm, false},
	"digits": {ofForm, false}, "alpha": {ofForm, false}, "punct": {ofForm, false},
	"first": {ofPlace, false}, "glued": {ofPlace, false}, "none": {ofPlace, false},
	"is": {ofRegister, true}, "below": {ofRegister, true},
	"skip": {consumer, false}, "peek": {consumer, false}, "part": {consumer, true}, "phrase": {consumer, true}, "call": {consumer, true},
}

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
	for i := 0; i < len(text); {
		r, n := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[i:])
		}
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
		i += n
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

// foldedWords are forms without case and accents; those that fold to nothing
// (punctuation) are compared as they are.
type foldedWords struct {
	folded map[string]bool
	exact  map[string]bool
}

func (w *foldedWords) add(word string) {
	if w.folded == nil {
		w.folded, w.exact = map[string]bool{}, map[string]bool{}
	}
	if f := gazetteer.Fold(nil, []byte(word)); len(f) > 0 {
		w.folded[string(f)] = true
		return
	}
	w.exact[word] = true
}

func (w *foldedWords) has(f *form) bool {
	if len(f.folded) > 0 {
		return w.folded[string(f.folded)]
	}
	return w.exact[string(f.text)]
}

// predicateOf makes the test of a form.
func (c *compiler) predicateOf(t *test) (predicate, error) {
	switch t.name {
	case "any":
		return func(*form) bool { return true }, nil
	case "form", "words":
		return c.wordTest(t)
	case "exact":
		values := setOf(t.values)
		return func(f *form) bool { return values[string(f.text)] }, nil
	case "list", "known":
		return c.classTest(t)
	case "lemma", "pos":
		return c.morphTest(t)
	case "match":
		re, err := regexp.Compile(`^(?:` + t.values[0] + `)$`)
		if err != nil {
			return nil, t.at.errorf("no regular expression of RE2: %v", err)
		}
		return func(f *form) bool { return f.text != nil && re.Match(f.text) }, nil
	}
	bit := shapes[t.name]
	return func(f *form) bool { return f.shape&bit != 0 }, nil
}

func setOf(values []string) map[string]bool {
	set := make(map[string]bool, len(values))
	for _, v := range values {
		set[v] = true
	}
	return set
}

func (c *compiler) wordTest(t *test) (predicate, error) {
	var w foldedWords
	for _, v := range t.values {
		if t.name == "form" {
			w.add(v)
			continue
		}
		list, ok := c.words[v]
		if !ok {
			return nil, t.at.errorf("no words %q; there are %s", v, orNone(slices.Sorted(maps.Keys(c.words))))
		}
		for _, word := range list {
			w.add(word)
		}
	}
	return w.has, nil
}

func (c *compiler) classTest(t *test) (predicate, error) {
	class, err := classOf(t)
	if err != nil {
		return nil, err
	}
	if t.name == "known" {
		return func(f *form) bool { return f.known&class != 0 }, nil
	}
	return func(f *form) bool { return f.class&class != 0 }, nil
}

func classOf(t *test) (class gazetteer.Class, err error) {
	for _, v := range t.values {
		one, err := gazetteer.ParseClass(v)
		if err != nil {
			return 0, t.at.errorf("no list %q; there are %s", v, orNone(gazetteer.ClassNames()))
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
	values := setOf(t.values)
	if t.name == "pos" {
		return func(f *form) bool { return values[string(f.pos)] }, nil
	}
	return func(f *form) bool { return values[string(f.lemma)] }, nil
}
