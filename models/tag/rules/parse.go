package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// version of the language of rule files, which their first line names.
const version = 1

// Limits on a rule file, which keep a hostile file from taking memory or time.
const (
	MaxBytes    = 1 << 20 // of a file
	maxNetworks = 64      // that find spans; as many again may be there to be called
	maxLimit    = 64      // tokens that a network may consume
	maxArcs     = 1 << 15
	maxWords    = 1 << 16
	maxValues   = 4096 // of one test
)

// defaultLimit is how many tokens a network consumes unless it says otherwise.
const defaultLimit = 16

// A SyntaxError gives the place of a mistake in a rule file and what was expected there. Rule files are written by
// staff and hold no text of notes, so the message may quote the wrong word.
type SyntaxError struct {
	Line, Column int // from 1; columns count characters
	Message      string

	Word  string   // what is none of Known
	Known []string // what may stand there; nil: something else is wrong
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Message)
}

// SyntaxErrors holds the mistakes of a file: first those of syntax in the order of lines, then those of meaning.
type SyntaxErrors []*SyntaxError

func (e SyntaxErrors) Error() string {
	lines := make([]string, len(e))
	for i, one := range e {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "; ")
}

// Unwrap makes errors.As find a SyntaxError, the first.
func (e SyntaxErrors) Unwrap() (all []error) {
	for _, one := range e {
		all = append(all, one)
	}
	return all
}

// maxMistakes bounds what is told of a file that is something else.
const maxMistakes = 100

// add keeps a mistake, and tells whether err is one.
func (e *SyntaxErrors) add(err error) bool {
	if one, ok := errors.AsType[*SyntaxError](err); ok && len(*e) < maxMistakes {
		*e = append(*e, one)
	}
	return err != nil
}

// orNil returns the mistakes, if there are any.
func (e SyntaxErrors) orNil() error {
	switch len(e) {
	case 0:
		return nil
	case 1:
		return e[0]
	}
	return e
}

// source is a file as it was written.
type source struct {
	words    map[string][]string // by name, as written
	networks []*network
	mistakes SyntaxErrors
}

type network struct {
	name     string
	category string // "": there to be called only
	score    float32
	limit    int
	arcs     []arcLine
	at       token
	broken   bool // a line of it is wrong: what seems to be missing may stand there
}

type arcLine struct {
	from, to token
	tests    []test
	acts     []act
	at       token
}

type test struct {
	name   string
	values []string
	not    bool
	at     token
}

type act struct {
	name  string // open, close, set, add
	reg   string
	value int
	at    token
}

// token is a word of the file and where it stands.
type token struct {
	text         string
	line, column int
}

func (t token) errorf(format string, args ...any) error {
	return &SyntaxError{Line: t.line, Column: t.column, Message: fmt.Sprintf(format, args...)}
}

// unknown says that a name is none of those that there are.
func (t token) unknown(what, name string, known []string) error {
	return &SyntaxError{Line: t.line, Column: t.column, Message: fmt.Sprintf("no %s %q; there are %s", what, name, some(known)), Word: name,
		Known: known}
}

// longestChoice is how many names an error tells.
const longestChoice = 32

// some writes names, the first of them where there are many.
func some(names []string) string {
	switch {
	case len(names) == 0:
		return "none"
	case len(names) > longestChoice:
		return fmt.Sprintf("%d: %s...", len(names), strings.Join(names[:longestChoice], ", "))
	}
	return strings.Join(names, ", ")
}

// parse reads a file. What it cannot read of it is in the mistakes of the source; the error is one of the file as a whole.
func parse(text string) (*source, error) {
	p := &parser{source: source{words: map[string][]string{}}}
	mistakes, err := eachLine(text, func(fields []token) error {
		err := p.line(fields)
		if err != nil && p.current != nil {
			p.current.broken = true
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	p.mistakes = mistakes
	return &p.source, nil
}

func lineOfBadByte(text string) int {
	for i, line := range strings.Split(text, "\n") {
		if !utf8.ValidString(line) {
			return i + 1
		}
	}
	return 1
}

// split cuts a line at blanks, up to a comment.
func split(line string, number int) (fields []token) {
	column := 0
	for len(line) > 0 {
		word := line
		if i := strings.IndexAny(line, " \t\r"); i >= 0 {
			word = line[:i]
		}
		if strings.HasPrefix(word, "#") {
			break
		}
		if word != "" {
			fields = append(fields, token{text: word, line: number, column: column + 1})
		}
		column += utf8.RuneCountInString(word) + 1
		line = line[min(len(word)+1, len(line)):]
	}
	return fields
}

type parser struct {
	source
	current *network
	arcs    int
	listed  int
}

func (p *parser) line(fields []token) error {
	head := fields[0]
	switch head.text {
	case "version":
		return head.errorf("a second version")
	case "words":
		return p.wordsLine(fields)
	case "network":
		return p.networkLine(fields)
	}
	if p.current == nil {
		return head.errorf("expected \"words NAME WORD...\" or \"network NAME\", found %q", head.text)
	}
	return p.arcLine(fields)
}

// wordsLine reads "words NAME WORD...". Several lines may add to one name.
func (p *parser) wordsLine(fields []token) error {
	p.current = nil
	if len(fields) < 3 {
		return fields[len(fields)-1].errorf("expected \"words NAME WORD...\"")
	}
	if err := checkName(fields[1]); err != nil {
		return err
	}
	if p.listed += len(fields) - 2; p.listed > maxWords {
		return fields[0].errorf("more than %d words", maxWords)
	}
	for _, f := range fields[2:] {
		p.words[fields[1].text] = append(p.words[fields[1].text], f.text)
	}
	return nil
}

// networkLine reads "network NAME [CATEGORY SCORE] [limit N]".
func (p *parser) networkLine(fields []token) error {
	p.current = &network{} // takes the arcs of a network whose own line is wrong
	if len(fields) < 2 {
		return fields[0].errorf("expected the name of the network")
	}
	n := &network{name: fields[1].text, limit: defaultLimit, at: fields[1]}
	if err := checkName(fields[1]); err != nil {
		return err
	}
	if slices.ContainsFunc(p.networks, func(o *network) bool { return o.name == n.name }) {
		return fields[1].errorf("a second network %q", n.name)
	}
	rest := fields[2:]
	if len(rest) > 0 && rest[0].text != "limit" {
		if len(rest) < 2 {
			return rest[0].errorf("expected CATEGORY SCORE, as \"PERSON 0.90\"")
		}
		score, err := strconv.ParseFloat(rest[1].text, 32)
		if err != nil || !(score > 0 && score <= 1) {
			return rest[1].errorf("expected a score over 0, at most 1, found %q", rest[1].text)
		}
		n.category, n.score = rest[0].text, float32(score)
		n.at = rest[0]
		rest = rest[2:]
	}
	if len(rest) > 0 {
		limit := 0
		if len(rest) == 2 && rest[0].text == "limit" {
			limit, _ = strconv.Atoi(rest[1].text)
		}
		if limit < 1 || limit > maxLimit {
			return rest[0].errorf("expected \"limit N\", N from 1 to %d", maxLimit)
		}
		n.limit = limit
	}
	if len(p.networks) == 2*maxNetworks {
		return fields[0].errorf("more than %d networks", 2*maxNetworks)
	}
	p.networks, p.current = append(p.networks, n), n
	return nil
}

// arcLine reads "STATE TEST... [/ ACTION...] -> STATE".
func (p *parser) arcLine(fields []token) error {
	if p.arcs++; p.arcs > maxArcs {
		return fields[0].errorf("more than %d arcs", maxArcs)
	}
	arrow := slices.IndexFunc(fields, func(t token) bool { return t.text == "->" })
	last := fields[len(fields)-1]
	if arrow < 0 || arrow != len(fields)-2 {
		return last.errorf("expected \"STATE TEST... [/ ACTION...] -> STATE\"")
	}
	if arrow < 2 {
		return fields[arrow].errorf("expected a test before \"->\", as any or skip")
	}
	a := arcLine{from: fields[0], to: last, at: fields[1]}
	for _, t := range []token{a.from, a.to} {
		if err := checkName(t); err != nil {
			return err
		}
	}
	if a.from.text == endState {
		return a.from.errorf("no arc leads on from %q", endState)
	}
	acting := false
	for _, f := range fields[1:arrow] {
		if f.text == "/" && !acting {
			acting = true
			continue
		}
		if err := a.add(f, acting); err != nil {
			return err
		}
	}
	if len(a.tests) == 0 {
		return fields[1].errorf("expected a test before \"/\", as any or skip")
	}
	p.current.arcs = append(p.current.arcs, a)
	return nil
}

// endState is where a network ends.
const endState = "end"

func (a *arcLine) add(f token, acting bool) (err error) {
	if acting {
		var x act
		if x, err = parseAct(f); err == nil {
			a.acts = append(a.acts, x)
		}
		return err
	}
	var x test
	if x, err = parseTest(f); err == nil {
		a.tests = append(a.tests, x)
	}
	return err
}

func parseTest(f token) (t test, err error) {
	name := f.text
	t.at = f
	if rest, ok := strings.CutPrefix(name, "!"); ok {
		t.not, name = true, rest
	}
	name, values, given := strings.Cut(name, ":")
	t.name = name
	about, ok := tests[name]
	if !ok {
		return t, f.unknown("test", name, testNames())
	}
	if given != about.values {
		if about.values {
			return t, f.errorf("expected %s:VALUE", name)
		}
		return t, f.errorf("%s has no value", name)
	}
	if !given {
		return t, nil
	}
	if name == "match" || name == "number" || name == "text" {
		if len(values) < 3 || values[0] != '/' || values[len(values)-1] != '/' {
			return t, f.errorf("expected %s:/RE/", name)
		}
		t.values = []string{values[1 : len(values)-1]}
		return t, nil
	}
	t.values = strings.Split(values, "|")
	if len(t.values) > maxValues {
		return t, f.errorf("more than %d values", maxValues)
	}
	if slices.Contains(t.values, "") {
		return t, f.errorf("%s: an empty value", name)
	}
	return t, nil
}

func parseAct(f token) (a act, err error) {
	name, value, given := strings.Cut(f.text, ":")
	a = act{name: name, at: f}
	switch {
	case (name == "open" || name == "close") && !given:
		return a, nil
	case name == "add" && given:
		a.reg = value
		return a, checkName(token{value, f.line, f.column})
	case name == "set" && given:
		a.reg, a.value, err = parseRegister(value, f)
		return a, err
	}
	return a, f.errorf("expected open, close, set:REGISTER=N or add:REGISTER, found %q", f.text)
}

// maxRegister is the largest number that a register holds.
const maxRegister = 127

func parseRegister(text string, at token) (name string, value int, err error) {
	name, number, ok := strings.Cut(text, "=")
	value, bad := strconv.Atoi(number)
	if !ok || bad != nil || value < 0 || value > maxRegister {
		return "", 0, at.errorf("expected REGISTER=N, N from 0 to %d", maxRegister)
	}
	return name, value, checkName(token{name, at.line, at.column})
}

// checkName: names are letters, digits, - and _.
func checkName(t token) error {
	for _, r := range t.text {
		if !(r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			return t.errorf("a name is made of letters, digits, - and _, not %q", r)
		}
	}
	if t.text == "" {
		return t.errorf("expected a name")
	}
	return nil
}
