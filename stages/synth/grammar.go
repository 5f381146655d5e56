package synth

import (
	"bufio"
	"bytes"
	"embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/velum-health/velum/pipeline"
	"github.com/zeebo/xxh3"
)

// The templates are context-free grammars, one file a language and one that
// all share. A file holds rules:
//
//	= name           alternatives follow, one a line; each belongs to one split
//	= name shared    alternatives belong to both splits: words, not templates
//	3* text          an alternative that counts three times
//	# text           a comment
//
// and the text of an alternative may hold
//
//	{name}             a rule of the same file, else of the shared file
//	{a|b c|}           one of these, in place
//	{@name args}       a value: a number, a name, an identifier (values.go)
//	[PERSON:...]       a gold span around whatever stands inside
//	\n                 a new line
//
//go:embed templates/*.txt
var templates embed.FS

// node is a piece of an alternative.
type node struct {
	kind     nodeKind
	category pipeline.Category // span
	text     string            // literal
	rule     *rule             // choice
	body     []node            // span
	value    func(m *maker)    // value
}

type nodeKind uint8

const (
	literal nodeKind = iota
	choice
	span
	value
)

// rule is a list of alternatives, with one entry in pick for every time that
// an alternative counts.
type rule struct {
	alternatives [][]node
	pick         []uint16
}

// grammar holds the rules of one language for one split.
type grammar map[string]*rule

// source is an alternative as it stands in a file.
type source struct {
	text   string
	weight int
	shared bool
	key    string // what the split is a hash of: the text as it was written
}

// loadGrammar compiles a language's file and the shared file, keeping the
// alternatives of one split. Both tests and New call it; an error is a mistake
// in an embedded file.
func loadGrammar(language string, split Split) (grammar, error) {
	sources := map[string][]source{}
	for _, name := range []string{"shared", "report-" + language, language} {
		text, err := templates.ReadFile("templates/" + name + ".txt")
		if err != nil {
			return nil, err
		}
		if err := readRules(text, sources); err != nil {
			return nil, fmt.Errorf("templates/%s.txt: %w", name, err)
		}
	}
	for name, generic := range mirrored {
		sources["not."+name] = mirror(sources["phi."+name], generic)
	}
	g := grammar{}
	for name := range sources {
		g[name] = &rule{}
	}
	for name, alternatives := range sources {
		r := g[name]
		for i, s := range alternatives {
			if !s.shared && splitWithin(alternatives, i) != split {
				continue
			}
			p := parser{text: s.text, rules: g}
			body, err := p.sequence("")
			if err != nil {
				return nil, fmt.Errorf("%s: rule %s: %w", language, name, err)
			}
			r.add(body, s.weight)
		}
		if len(r.alternatives) == 0 {
			return nil, fmt.Errorf("%s: rule %s has no alternative for %v", language, name, split)
		}
	}
	return g, nil
}

// readRules adds the rules of one file to those of the files before it; a rule
// of the same name takes the place of an earlier file's.
func readRules(text []byte, sources map[string][]source) error {
	name, shared := "", false
	seen := map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '=':
			fields := strings.Fields(line[1:])
			if len(fields) == 0 || len(fields) == 2 && fields[1] != "shared" || len(fields) > 2 || seen[fields[0]] {
				return fmt.Errorf("line %d: bad or repeated rule name", n)
			}
			name, shared = fields[0], len(fields) == 2
			seen[name] = true
			sources[name] = nil
		case name == "":
			return fmt.Errorf("line %d: alternative before the first rule", n)
		default:
			sources[name] = append(sources[name], weighted(line, shared))
		}
	}
	return lines.Err()
}

// weighted splits "3* text".
func weighted(line string, shared bool) source {
	if number, text, ok := strings.Cut(line, "* "); ok {
		if w, err := strconv.Atoi(number); err == nil && w > 0 {
			return source{text, w, shared, text}
		}
	}
	return source{line, 1, shared, line}
}

// mirrored are the rules phi.NAME whose sentences are also used with words
// that name nobody's place in the place of the names, as rules not.NAME: what
// surrounds a name must not be enough to make one.
var mirrored = map[string]string{"institution": "{somecentre}", "place": "{somewhere}"}

var location = regexp.MustCompile(`\[LOCATION:[^\]]*\]`)

// mirror returns the alternatives with the generic rule in the place of every
// location, in the split of the sentence that they come from; those that hold
// other personal information are left out.
func mirror(alternatives []source, generic string) (mirrored []source) {
	for _, a := range alternatives {
		text := location.ReplaceAllLiteralString(a.text, generic)
		if !strings.Contains(text, "[") && !strings.Contains(text, "{doctor}") && text != generic {
			mirrored = append(mirrored, source{text, a.weight, a.shared, a.key})
		}
	}
	return mirrored
}

func (r *rule) add(body []node, weight int) {
	for range weight {
		r.pick = append(r.pick, uint16(len(r.alternatives)))
	}
	r.alternatives = append(r.alternatives, body)
}

// parser reads one alternative.
type parser struct {
	text  string
	rules grammar
}

// sequence reads until one of the bytes of stop, which it leaves unread, or to
// the end if stop is "".
func (p *parser) sequence(stop string) (body []node, err error) {
	for p.text != "" && (stop == "" || strings.IndexByte(stop, p.text[0]) < 0) {
		var n node
		switch p.text[0] {
		case '{':
			n, err = p.slot()
		case '[':
			n, err = p.span()
		default:
			n = p.literal(stop)
		}
		if err != nil {
			return nil, err
		}
		body = append(body, n)
	}
	if stop != "" && p.text == "" {
		return nil, fmt.Errorf("missing one of %q", stop)
	}
	return body, nil
}

func (p *parser) literal(stop string) node {
	end := strings.IndexAny(p.text, "{["+stop)
	if end < 0 {
		end = len(p.text)
	}
	text := p.text[:end]
	p.text = p.text[end:]
	return node{kind: literal, text: strings.ReplaceAll(text, `\n`, "\n")}
}

// slot reads {rule}, {@value} or {a|b}.
func (p *parser) slot() (node, error) {
	if end := strings.IndexAny(p.text[1:], "{}[|") + 1; end > 0 && p.text[end] == '}' {
		name := p.text[1:end]
		p.text = p.text[end+1:]
		if call, ok := strings.CutPrefix(name, "@"); ok {
			do, err := newValue(strings.Fields(call))
			return node{kind: value, value: do}, err
		}
		r := p.rules[name]
		if r == nil {
			return node{}, fmt.Errorf("no rule %q", name)
		}
		return node{kind: choice, rule: r}, nil
	}
	inline := &rule{}
	for p.text[0] != '}' {
		p.text = p.text[1:] // { or |
		body, err := p.sequence("|}")
		if err != nil {
			return node{}, err
		}
		inline.add(body, 1)
	}
	p.text = p.text[1:]
	return node{kind: choice, rule: inline}, nil
}

func (p *parser) span() (node, error) {
	name, rest, ok := strings.Cut(p.text[1:], ":")
	if !ok {
		return node{}, fmt.Errorf("bracket without category")
	}
	c, err := pipeline.ParseCategory(name)
	if err != nil {
		return node{}, err
	}
	p.text = rest
	body, err := p.sequence("]")
	if err != nil {
		return node{}, err
	}
	p.text = p.text[1:]
	return node{kind: span, category: c, body: body}, nil
}

// expand writes one of the rule's alternatives.
func (m *maker) expand(r *rule) { m.write(r.alternatives[r.pick[m.below(len(r.pick))]]) }

func (m *maker) write(body []node) {
	for i := range body {
		n := &body[i]
		switch n.kind {
		case literal:
			m.literal(n.text)
		case choice:
			m.expand(n.rule)
		case value:
			n.value(m)
		case span:
			m.span(n)
		}
	}
}

// literal writes text, with one blank where two would meet.
func (m *maker) literal(text string) {
	if text[0] == ' ' && len(m.text) > 0 && (m.text[len(m.text)-1] == ' ' || m.text[len(m.text)-1] == '\n') {
		text = text[1:]
	}
	m.text = append(m.text, text...)
}

// span writes the body of n as a gold span, without blanks at its borders.
func (m *maker) span(n *node) {
	start := len(m.text)
	m.write(n.body)
	end := len(m.text)
	for start < end && m.text[start] == ' ' {
		start++
	}
	for end > start && m.text[end-1] == ' ' {
		end--
	}
	if start < end {
		m.spans = append(m.spans, pipeline.Span{
			Start: int32(start), End: int32(end), Score: 1, Category: n.category, Source: pipeline.FromGold,
		})
	}
}

// splitWithin assigns alternative i of a rule to a split: by its own hash, but
// where all would go to one side, that with the largest hash goes to the other.
func splitWithin(alternatives []source, i int) Split {
	own, alone, largest := splitOf(alternatives[i].key), true, uint64(0)
	for _, a := range alternatives {
		alone = alone && splitOf(a.key) == own
		largest = max(largest, xxh3.HashString(a.key))
	}
	if alone && xxh3.HashString(alternatives[i].key) == largest {
		return 1 - own
	}
	return own
}

// splitOf assigns a template or a name to a split for good: three in four to
// training, by a hash of its text.
func splitOf(text string) Split {
	if xxh3.HashString(text)%4 == 3 {
		return Test
	}
	return Train
}

// grammars are compiled once a language and split.
var grammars [numLanguages][numSplits]func() grammar

func init() {
	for l, name := range languageNames {
		for s := range numSplits {
			grammars[l][s] = sync.OnceValue(func() grammar {
				g, err := loadGrammar(name, s)
				if err != nil {
					panic("synth: " + err.Error()) // an embedded file; a test loads it
				}
				return g
			})
		}
	}
}
