package mask

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Chain is the policy for one category: operators with their options; each handles what the one before cannot:
//
//	shift scope=patient days=365 | aggregate | suppress
//
// The placeholder is always the last one.
type Chain struct {
	traits
	text  string
	names []string
	news  []func(*Options) Operator
	keyed bool
	alone bool // no column names patients: each note is treated by itself
}

// traits are what the operators of a chain do, any of them.
type traits struct {
	keeps    bool   // it leaves values in the text
	likes    bool   // what it writes looks like a real value
	shuffles bool   // it is another note's value
	dated    bool   // it needs the date of the note
	strategy string // of surrogates
	moves    string // it moves dates, and how
	edge     int    // and trims so many days at both ends of the archive
	days     bool   // and not by whole weeks
	patients bool   // it moves dates or draws surrogates by patient
}

// A PolicyError describes a mistake in a chain.
type PolicyError struct {
	Message string
	Word    string   // the unknown word; "" for other mistakes
	Known   []string // the words that are allowed there
}

func (e *PolicyError) Error() string { return e.Message }

// ParseChain reads a chain. Errors are *PolicyError.
func ParseChain(text string) (*Chain, error) { return parseChain(text, false) }

func parseChain(text string, alone bool) (*Chain, error) {
	c := &Chain{text: text, alone: alone}
	for part := range strings.SplitSeq(text, "|") {
		if err := c.parse(strings.Fields(part)); err != nil {
			return nil, err
		}
	}
	if len(c.news) > maxChain {
		return nil, &PolicyError{Message: fmt.Sprintf("%d operators in a chain, the most is %d", len(c.news), maxChain)}
	}
	return c, nil
}

func (c *Chain) parse(words []string) error {
	if len(words) == 0 {
		return &PolicyError{Message: "an operator is missing", Known: OperatorNames()}
	}
	k := kindOf(words[0])
	if k == nil {
		return &PolicyError{fmt.Sprintf("%q is none of %s", words[0], strings.Join(OperatorNames(), ", ")), words[0], OperatorNames()}
	}
	s := &settings{traits: &c.traits, operator: k.name, given: map[string]string{}, alone: c.alone}
	for _, w := range words[1:] {
		name, value, ok := strings.Cut(w, "=")
		if !ok {
			value = "true"
		}
		if _, twice := s.given[name]; twice {
			return &PolicyError{Message: fmt.Sprintf("%s: %s comes twice", k.name, name)}
		}
		s.given[name] = value
	}
	make := k.of(s)
	if err := s.wrong(); err != nil {
		return err
	}
	c.names, c.news = append(c.names, k.name), append(c.news, make)
	c.keyed = c.keyed || k.keyed
	return nil
}

// String returns the chain as it was written.
func (c *Chain) String() string { return c.text }

// Keyed tells whether an operator of the chain needs a key.
func (c *Chain) Keyed() bool { return c.keyed }

// Keeps tells whether the chain leaves values in the text.
func (c *Chain) Keeps() bool { return c.keeps }

// Dated tells whether an operator of the chain needs the date of the note.
func (c *Chain) Dated() bool { return c != nil && c.dated }

// PerPatient reports whether the chain shifts dates or draws surrogates per patient.
func (c *Chain) PerPatient() bool { return c != nil && c.patients }

// Imitates reports whether the replacements look like real values. Then their places must not be published, because
// every other value that looks real is an original that was missed.
func (c *Chain) Imitates() bool { return c.likes }

// Strategy returns how surrogates repeat (consistent, random, markov); "" if the chain writes none.
func (c *Chain) Strategy() string { return c.strategy }

// Moves describes how the chain shifts dates; "" if it does not.
func (c *Chain) Moves() string { return c.moves }

// Edge returns how many days at the edges of the archive's range the chain trims.
func (c *Chain) Edge() int { return c.edge }

// MovesWeekdays reports whether the chain may change the weekday of a date.
func (c *Chain) MovesWeekdays() bool { return c.days }

// name returns the name of an operator of the chain, of the placeholder behind
// the last; a nil chain is the placeholder alone.
func (c *Chain) name(at int) string {
	if c == nil || at >= len(c.names) {
		return PlaceholderName
	}
	return c.names[at]
}

// make returns the operators of one worker.
func (c *Chain) make(o *Options) []Operator {
	operators := make([]Operator, len(c.news))
	for i, n := range c.news {
		operators[i] = n(o)
	}
	return operators
}

// kind is an operator that policies can name.
type kind struct {
	name  string
	does  string // for the list of operators
	keyed bool   // needs a key
	of    func(s *settings) func(*Options) Operator
}

func kindOf(name string) *kind {
	for i := range kinds() {
		if kinds()[i].name == name {
			return &kinds()[i]
		}
	}
	return nil
}

// OperatorNames returns the names that a policy can use.
func OperatorNames() []string {
	var names []string
	for _, k := range kinds() {
		names = append(names, k.name)
	}
	return names
}

// Describe returns one line per operator: its name with its options and their defaults, and what it does.
func Describe() [][2]string {
	var lines [][2]string
	for _, k := range kinds() {
		s := &settings{traits: new(traits), operator: k.name}
		k.of(s)
		lines = append(lines, [2]string{strings.Join(append([]string{k.name}, s.asked...), " "), k.does})
	}
	return lines
}

// settings are the options of an operator in a policy. The constructor of the operator asks for each option that it
// knows; an option that was never asked for is an error.
type settings struct {
	*traits
	operator string
	given    map[string]string
	asked    []string // name=default
	err      *PolicyError
	scoped   bool // its scope is the patient
	alone    bool // no column names patients
}

func (s *settings) ask(name, def string) string {
	s.asked = append(s.asked, name+"="+def)
	if v, ok := s.given[name]; ok {
		return v
	}
	return def
}

func (s *settings) fail(format string, args ...any) {
	if s.err == nil {
		s.err = &PolicyError{Message: s.operator + ": " + fmt.Sprintf(format, args...)}
	}
}

// word asks for one of some words and returns its number.
func (s *settings) word(name, def string, known ...string) int {
	v := s.ask(name, def)
	for i, w := range known {
		if w == v {
			return i
		}
	}
	s.fail("%s=%q is none of %s", name, v, strings.Join(known, ", "))
	if s.err.Word == "" {
		s.err.Word, s.err.Known = v, known
	}
	return 0
}

func (s *settings) scope(def Scope) Scope {
	scope := Scope(s.word("scope", scopeNames[def], scopeNames[:]...))
	s.scoped = scope == PatientScope
	if s.scoped && s.alone {
		return NoteScope
	}
	return scope
}

func (s *settings) flag(name string) bool { return s.word(name, "false", "false", "true") == 1 }

// number asks for a whole number within bounds.
func (s *settings) number(name string, def, low, high int) int {
	n, err := strconv.Atoi(s.ask(name, strconv.Itoa(def)))
	if err != nil || n < low || n > high {
		s.fail("%s wants a whole number from %d to %d", name, low, high)
	}
	return n
}

// wrong returns what is wrong with the options.
func (s *settings) wrong() error {
	var known []string
	for _, a := range s.asked {
		name, _, _ := strings.Cut(a, "=")
		known = append(known, name)
	}
	for _, name := range slices.Sorted(maps.Keys(s.given)) {
		if !slices.Contains(known, name) && (s.err == nil || s.err.Word == "") {
			s.err = &PolicyError{fmt.Sprintf("%s has no option %q; known: %s", s.operator, name, strings.Join(known, ", ")), name, known}
			if len(known) == 0 {
				s.err.Message = fmt.Sprintf("%s has no options", s.operator)
			}
		}
	}
	if s.err == nil {
		return nil
	}
	return s.err
}
