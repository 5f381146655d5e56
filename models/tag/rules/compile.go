package rules

import (
	"crypto/sha256"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/velum-health/velum/models/form/control"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/morph"
	"github.com/velum-health/velum/pipeline"
)

// Resources holds the tables in which tests of rules look forms up.
type Resources struct {
	Lists *gazetteer.Gazetteer // nil: the built-in ones
	Names *gazetteer.Gazetteer // names of people from all over the world, for known; nil: the built-in ones
	Morph *morph.Model         // nil: no tests of lemma and part of speech
}

// Pack is a compiled rule file. It is shared by all labellers.
type Pack struct {
	text       string
	resources  Resources
	networks   []compiled
	finders    []int // networks that find spans, in the order of the file
	states     []state
	predicates []numbered // tests of forms that are in no table of words
	words      wordTable
	startable  []startable                  // by finder: with which forms it can begin
	hints      [64 * len(outcomes{})]uint64 // by the bit of a test: finders that may begin with a form that passes it
	morph      bool                         // some test asks for lemma or part of speech
	listed     bool                         // some test asks for lists
	known      bool                         // some test asks for the names from all over the world
	categories []pipeline.Category
}

// compiled is a network as the machine sees it.
type compiled struct {
	name     string
	category pipeline.Category // None: there to be called only
	score    float32
	limit    int32
	start    int32 // state; -1 - n stands for the end of a network
}

type state struct {
	arcs    []arc
	name    string
	network int32
}

// endOfNetwork stands for a state in which a network ends.
const endOfNetwork = -1

// consume says how much of the text an arc consumes.
type consume uint8

const (
	one consume = iota
	nothing
	peeked
	piece   // of a token
	phrase  // several tokens
	called  // what a network does
	written // what an expression matches
)

type arc struct {
	need, forbid outcomes // of the form
	place        placeTest
	registers    []registerTest
	what         consume
	pieces       []string          // folded, longest first
	phrases      gazetteer.Class   // of what phrase
	behind       outcomes          // one of the words before the token is of them
	expression   *regexp.Regexp    // of what written
	size         int               // its instructions
	check        func([]byte) bool // of what it matched; nil: none
	network      int32             // called
	to           int32
	opens        bool
	closes       bool
	sets         []setRegister
	line         int
}

// outcomes are those of all tests of a form, a bit each.
type outcomes [6]uint64

// least returns the least bit that is set; 0, the bit that every form has, if none is.
func (o *outcomes) least() int {
	for i, word := range o {
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
	}
	return 0
}

// maxPredicates is how many different tests of a form a file may have.
const maxPredicates = 64*len(outcomes{}) - 1

// isTested is the bit that is no test: that they were made.
const isTested = 1

func (o *outcomes) set(i int) { o[i/64] |= 1 << (i % 64) }
func (o *outcomes) join(other outcomes) {
	for i := range o {
		o[i] |= other[i]
	}
}
func (o *outcomes) fit(need, forbid *outcomes) bool {
	for i := range o {
		if o[i]&need[i] != need[i] || o[i]&forbid[i] != 0 {
			return false
		}
	}
	return true
}

// placeTest: what must be (yes) and must not be (no) of where a token stands.
type placeTest struct{ yes, no place }

type place uint8

const (
	isFirst place = 1 << iota
	isGlued
	isNone
)

var places = map[string]place{"first": isFirst, "glued": isGlued, "none": isNone}

type registerTest struct {
	reg   uint8
	value uint8
	below bool
	not   bool
}

type setRegister struct {
	reg   uint8
	value uint8
	add   bool
}

func (p place) fit(t placeTest) bool { return p&t.yes == t.yes && p&t.no == 0 }

// do returns the registers with one changed. A register stops at its greatest
// number.
func (s setRegister) do(registers uint64) uint64 {
	value := uint64(s.value)
	if s.add {
		value = min(registers>>(8*s.reg)&0xff+1, maxRegister)
	}
	return registers&^(0xff<<(8*s.reg)) | value<<(8*s.reg)
}

func registersFit(registers uint64, tests []registerTest) bool {
	for _, t := range tests {
		value := uint8(registers >> (8 * t.reg))
		holds := value == t.value
		if t.below {
			holds = value < t.value
		}
		if holds == t.not {
			return false
		}
	}
	return true
}

// maxRegisters of a file; they lie in one word, so that a path can be left and
// come back to.
const maxRegisters = 8

// numbered is a test of forms and its bit.
type numbered struct {
	predicate
	bit int
}

// startable is the ways in which a network can begin: with a form that passes the first tests of one of them and none of
// its second ones. Every form fits a way without tests.
type startable [][2]outcomes

// Compile compiles the text of a rule file. The error is a *SyntaxError, or SyntaxErrors with all mistakes of the file,
// each with line, column and what was expected.
func Compile(text string, r Resources) (*Pack, error) {
	if r.Lists == nil {
		r.Lists = gazetteer.Default()
	}
	src, err := parse(text)
	if err != nil {
		return nil, err
	}
	c := &compiler{source: src, resources: r, pack: &Pack{text: text, resources: r, words: newWordTable()}, known: map[string]int{},
		registers: map[string]uint8{}, passing: map[int32]bool{}}
	for _, n := range src.networks {
		if c.mistakes.add(c.declare(n)) {
			n.broken = true
		}
	}
	for i, n := range src.networks {
		c.mistakes.add(c.network(i, n))
	}
	if err := c.mistakes.orNil(); err != nil {
		return nil, err
	}
	for finder, i := range c.pack.finders {
		start := c.pack.networks[i].start
		first := c.startable(start, map[int32]bool{})
		if c.passes(start, map[int32]bool{}) {
			first = append(first, [2]outcomes{})
		}
		c.pack.startable = append(c.pack.startable, first)
		for _, way := range first {
			c.pack.hints[way[0].least()] |= 1 << finder
		}
	}
	slices.Sort(c.pack.categories)
	c.pack.categories = slices.Compact(c.pack.categories)
	return c.pack, nil
}

// Text returns the text of the file.
func (p *Pack) Text() string { return p.text }

// Fingerprint returns the SHA-256 of the file.
func (p *Pack) Fingerprint() [32]byte { return sha256.Sum256([]byte(p.text)) }

// Categories returns the categories of the spans that the networks find, in order.
func (p *Pack) Categories() []pipeline.Category { return p.categories }

// Networks returns the names of the networks that find spans, in the order of the file; Find.Network is an index into
// it.
func (p *Pack) Networks() (names []string) {
	for _, i := range p.finders {
		names = append(names, p.networks[i].name)
	}
	return names
}

type compiler struct {
	*source
	resources Resources
	pack      *Pack
	known     map[string]int // predicates, by how they are written
	registers map[string]uint8
	passing   map[int32]bool // networks, whether they can consume nothing
	size      int            // instructions of all expressions of text
}

// declare gives a network its number, so that others can call it.
func (c *compiler) declare(n *network) error {
	x := compiled{name: n.name, score: n.score, limit: int32(n.limit)}
	defer func() { c.pack.networks = append(c.pack.networks, x) }() // others may call it, whatever is wrong
	if n.category != "" {
		category, err := pipeline.ParseCategory(n.category)
		if err != nil || category == pipeline.None {
			return n.at.unknown("category", n.category, categoryNames())
		}
		x.category = category
		if len(c.pack.finders) == maxNetworks {
			return n.at.errorf("more than %d networks that find spans", maxNetworks)
		}
		c.pack.finders = append(c.pack.finders, len(c.pack.networks))
		c.pack.categories = append(c.pack.categories, category)
	}
	if len(n.arcs) == 0 && !n.broken {
		return n.at.errorf("network %q has no arcs", n.name)
	}
	return nil
}

func categoryNames() (names []string) {
	for i := 1; i < pipeline.Categories(); i++ {
		names = append(names, pipeline.Category(i).String())
	}
	return names
}

// network compiles the arcs.
func (c *compiler) network(i int, n *network) error {
	numbers := map[string]int32{endState: endOfNetwork}
	for _, a := range n.arcs {
		if _, ok := numbers[a.from.text]; !ok {
			numbers[a.from.text] = int32(len(c.pack.states))
			c.pack.states = append(c.pack.states, state{name: a.from.text, network: int32(i)})
		}
	}
	if len(n.arcs) > 0 {
		c.pack.networks[i].start = numbers[n.arcs[0].from.text]
	}
	ends, wrong := false, n.broken
	for k := range n.arcs {
		line := &n.arcs[k]
		to, ok := numbers[line.to.text]
		if !ok && !n.broken {
			c.mistakes.add(line.to.errorf("no arc leads on from %q", line.to.text))
		}
		ends = ends || to == endOfNetwork
		a, err := c.arc(line)
		if c.mistakes.add(err) || !ok {
			wrong = true
			continue
		}
		a.to = to
		s := &c.pack.states[numbers[line.from.text]]
		s.arcs = append(s.arcs, a)
	}
	if wrong {
		return nil // its shape is not known
	}
	if !ends {
		return n.at.errorf("no arc of network %q leads to \"end\"", n.name)
	}
	return c.idle(n, numbers)
}

// idle refuses loops that consume nothing.
func (c *compiler) idle(n *network, numbers map[string]int32) error {
	const open, done = 1, 2
	seen := map[int32]int{}
	var visit func(s int32) bool
	visit = func(s int32) bool {
		if s == endOfNetwork || seen[s] == done {
			return false
		}
		if seen[s] == open {
			return true
		}
		seen[s] = open
		for i := range c.pack.states[s].arcs {
			a := &c.pack.states[s].arcs[i]
			if (a.what == nothing || a.what == peeked) && visit(a.to) {
				return true
			}
		}
		seen[s] = done
		return false
	}
	for i := range n.arcs {
		if visit(numbers[n.arcs[i].from.text]) {
			return n.arcs[i].from.errorf("a loop from %q that consumes nothing", n.arcs[i].from.text)
		}
	}
	return nil
}

func (c *compiler) arc(line *arcLine) (a arc, err error) {
	a.line = line.at.line
	consumers := 0
	for i := range line.tests {
		t := &line.tests[i]
		switch tests[t.name].kind {
		case ofForm:
			err = c.formTest(&a, t)
		case ofPlace:
			if t.not {
				a.place.no |= places[t.name]
			} else {
				a.place.yes |= places[t.name]
			}
		case ofRegister:
			err = c.registerTest(&a, t)
		case consumer:
			consumers++
			err = c.consumer(&a, t)
		case beside:
			err = c.beside(&a, t)
		}
		if err != nil {
			return a, err
		}
	}
	if consumers > 1 {
		return a, line.at.errorf("one arc consumes in one way: skip, peek, part, phrase or call")
	}
	if form := a.need != (outcomes{}) || a.forbid != (outcomes{}) || a.behind != (outcomes{}) || a.place != (placeTest{}); form &&
		(a.what == nothing || a.what == called) {
		return a, line.at.errorf("skip and call look at no token: put a peek before them")
	}
	if a.place.yes&isNone != 0 && a.what != peeked {
		return a, line.at.errorf("none goes with peek")
	}
	if a.check != nil && a.what != written {
		return a, line.at.errorf("check goes with text")
	}
	return a, c.acts(&a, line.acts)
}

// formTest adds a test of a form.
func (c *compiler) formTest(a *arc, t *test) error {
	if t.not {
		return c.bit(&a.forbid, t)
	}
	return c.bit(&a.need, t)
}

// bit sets the bit of a test of a form: the same test has one bit, wherever it stands.
func (c *compiler) bit(in *outcomes, t *test) error {
	key := t.name + ":" + strings.Join(t.values, "|")
	i, ok := c.known[key]
	if !ok {
		if i = len(c.known) + 1; i > maxPredicates {
			return t.at.errorf("more than %d different tests of forms", maxPredicates)
		}
		p, err := c.predicateOf(t, i)
		if err != nil {
			return err
		}
		c.known[key] = i
		if p != nil {
			c.pack.predicates = append(c.pack.predicates, numbered{p, i})
		}
	}
	in.set(i)
	return nil
}

// beside compiles what is asked of the words before a token, or of what was consumed.
func (c *compiler) beside(a *arc, t *test) error {
	if t.not {
		return t.positive()
	}
	if t.name == "behind" {
		return c.bit(&a.behind, &test{name: "words", values: t.values, at: t.at})
	}
	name := strings.Join(t.values, "|")
	if a.check = control.Named(name); a.check == nil {
		return t.at.unknown("check digit", name, control.Names())
	}
	return nil
}

// positive says that a test cannot be turned round.
func (t *test) positive() error {
	return t.at.errorf("! goes before tests of one token, and %s is none", t.name)
}

func (c *compiler) register(name string, at token) (uint8, error) {
	if r, ok := c.registers[name]; ok {
		return r, nil
	}
	if len(c.registers) == maxRegisters {
		return 0, at.errorf("more than %d registers", maxRegisters)
	}
	r := uint8(len(c.registers))
	c.registers[name] = r
	return r, nil
}

func (c *compiler) registerTest(a *arc, t *test) error {
	name, value, err := parseRegister(strings.Join(t.values, "|"), t.at)
	if err != nil {
		return err
	}
	r, err := c.register(name, t.at)
	a.registers = append(a.registers, registerTest{reg: r, value: uint8(value), below: t.name == "below", not: t.not})
	return err
}

func (c *compiler) consumer(a *arc, t *test) (err error) {
	if t.not {
		return t.positive()
	}
	switch t.name {
	case "skip":
		a.what = nothing
	case "peek":
		a.what = peeked
	case "part":
		a.what = piece
		for _, v := range t.values {
			a.pieces = append(a.pieces, strings.ToLower(v))
		}
		slices.SortFunc(a.pieces, func(x, y string) int { return len(y) - len(x) })
		err = c.formTest(a, t)
	case "phrase":
		a.what = phrase
		if a.phrases, err = classOf(t); err == nil {
			err = c.formTest(a, &test{name: begins, at: t.at})
		}
	case "text":
		a.what = written
		err = c.expression(a, t)
	case "call":
		a.what = called
		i := slices.IndexFunc(c.pack.networks, func(n compiled) bool { return n.name == t.values[0] })
		if len(t.values) != 1 || i < 0 {
			return t.at.unknown("network", strings.Join(t.values, "|"), c.names())
		}
		a.network = int32(i)
	}
	return err
}

// maxInstructions is how many of RE2 all expressions of text of a file may have together.
const maxInstructions = 4096

// expression compiles what an arc consumes by an expression.
func (c *compiler) expression(a *arc, t *test) error {
	re, err := regexp.Compile(`^(?:` + t.values[0] + `)`)
	if err != nil {
		return t.at.errorf("no regular expression of RE2: %v", err)
	}
	if re.MatchString("") {
		return t.at.errorf("an expression that matches nothing at all")
	}
	tree, _ := syntax.Parse(re.String(), syntax.Perl) // what regexp has compiled can be compiled again
	program, _ := syntax.Compile(tree.Simplify())
	a.size = len(program.Inst)
	if c.size += a.size; c.size > maxInstructions {
		return t.at.errorf("the expressions of the file have more than %d instructions; shorten repetitions such as {1,500}", maxInstructions)
	}
	a.expression = re
	return nil
}

func (c *compiler) names() (names []string) {
	for _, n := range c.pack.networks {
		names = append(names, n.name)
	}
	return names
}

func (c *compiler) acts(a *arc, acts []act) error {
	for _, x := range acts {
		switch x.name {
		case "open":
			a.opens = true
		case "close":
			a.closes = true
		default:
			r, err := c.register(x.reg, x.at)
			if err != nil {
				return err
			}
			a.sets = append(a.sets, setRegister{reg: r, value: uint8(x.value), add: x.name == "add"})
		}
	}
	return nil
}

// startable returns the forms that a path from a state can begin with: it walks over what
// consumes nothing to the first tests of a token.
func (c *compiler) startable(from int32, walked map[int32]bool) (s startable) {
	if from == endOfNetwork || walked[from] {
		return s
	}
	walked[from] = true
	for i := range c.pack.states[from].arcs {
		a := &c.pack.states[from].arcs[i]
		switch {
		case a.what == nothing:
			s = append(s, c.startable(a.to, walked)...)
		case a.what == called:
			s = append(s, c.startable(c.pack.networks[a.network].start, walked)...)
			if c.networkPasses(a.network) {
				s = append(s, c.startable(a.to, walked)...)
			}
		default:
			s = append(s, [2]outcomes{a.need, a.forbid})
		}
	}
	return s
}

// passes tells whether a path from a state can end without a look at a token.
func (c *compiler) passes(from int32, walked map[int32]bool) bool {
	if from == endOfNetwork {
		return true
	}
	if walked[from] {
		return false
	}
	walked[from] = true
	return slices.ContainsFunc(c.pack.states[from].arcs, func(a arc) bool {
		return (a.what == nothing || a.what == called && c.networkPasses(a.network)) && c.passes(a.to, walked)
	})
}

// networkPasses is passes of a whole network. One that calls itself before it
// looks at a token is taken to pass: then more is tried than need be.
func (c *compiler) networkPasses(network int32) bool {
	passes, known := c.passing[network]
	if !known {
		c.passing[network] = true
		passes = c.passes(c.pack.networks[network].start, map[int32]bool{})
		c.passing[network] = passes
	}
	return passes
}

func (s startable) with(b *outcomes) bool {
	for i := range s {
		if b.fit(&s[i][0], &s[i][1]) {
			return true
		}
	}
	return false
}
