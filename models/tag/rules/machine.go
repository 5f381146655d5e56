package rules

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Limits on the work for one token.
const (
	maxSteps = 256 // arcs that all networks together may try from one token
	maxDepth = 16  // networks that call each other
	maxForm  = 128 // bytes of a form that lists and expressions look at
	MaxText  = 256 // bytes that an expression of text looks at
)

// maxWork is how many instructions of expressions of text may be spent on bytes of one
// note, as counted at worst: some ten seconds.
const maxWork = 1 << 33

// wordsBehind is how many tokens before one behind: looks at, signs aside.
const wordsBehind = 5

// A Find is a span that a network has found.
type Find struct {
	Start, End int32 // bytes of the text, half open
	Network    int32 // see Pack.Networks
	Category   pipeline.Category
	Score      float32
}

// Machine runs a pack over notes. It owns scratch space and is used by one
// goroutine. In steady state it allocates nothing.
type Machine struct {
	pack  *Pack
	cache []kept

	text    []byte
	tokens  []pipeline.Token
	seen    []knownForm // by token
	blocked []int32     // by finder: the token from which it may begin again
	stack   []config
	frames  []frame
	finds   []Find
	steps   int // steps left for this token
	work    int // steps left for this note
	limit   int // of work: maxWork
	longest config
	form    form
	left    knownForm // of a token of which something was consumed
	folded  [maxForm * 3 / 2]byte
	tracing bool // for Trace
	trail   []trailStep
	traced  []Traced

	exhausted int64
}

// kept caches the test results of a form.
type kept struct {
	hash uint64
	knownForm
}

type knownForm struct {
	tests  outcomes
	starts uint64 // finders that can begin with the form
}

// cachedForms is how many forms a machine keeps, three megabytes. A power of
// two. With a quarter of it a run of an archive took 5 % longer.
const cachedForms = 1 << 16

// config is a position in the search for a path.
type config struct {
	state       int32
	token       int32 // the next one
	offset      int32 // bytes of it that are consumed
	open, close int32 // of the span, bytes of the text; -1: not set
	frame       int32
	step        int32 // of the trail
	registers   uint64
}

// frame is a network that was entered, and where to continue when it ends.
type frame struct {
	parent, to  int32
	first, last int32 // tokens: it begins with first, its limit ends before last
	depth       int32
	closes      bool
}

// NewMachine returns a machine for one goroutine.
func (p *Pack) NewMachine() *Machine {
	return &Machine{pack: p, cache: make([]kept, cachedForms), blocked: make([]int32, len(p.finders)), limit: maxWork}
}

// Costly reports whether the regular expressions of the last note exceeded the limit of work for a note, so that spans
// may be missing.
func (m *Machine) Costly() bool { return m.work < 0 }

// Finds returns the spans that the networks find in a note, ordered by their first tokens; of each network it takes the
// longest spans from left to right. Spans of different networks may overlap. The slice is valid until the next call.
func (m *Machine) Finds(text []byte, tokens []pipeline.Token) []Find {
	m.text, m.tokens, m.finds = text, tokens, m.finds[:0]
	m.seen, m.work = m.seen[:0], m.limit
	clear(m.blocked)
	for _, t := range tokens {
		m.seen = append(m.seen, m.look(text[t.Start:t.End]))
	}
	for i := range tokens {
		if s := m.seen[i].starts; s != 0 {
			m.from(int32(i), s)
		}
	}
	return m.finds
}

// Spans appends the spans of a note to dst after removing overlaps, see Disjoint.
func (m *Machine) Spans(dst []pipeline.Span, text []byte, tokens []pipeline.Token) []pipeline.Span {
	return Disjoint(dst, m.Finds(text, tokens))
}

// Disjoint appends the finds that do not overlap to dst. Of overlapping ones it keeps the one with the highest score,
// then the longest, then the first. It sorts finds.
func Disjoint(dst []pipeline.Span, finds []Find) []pipeline.Span {
	slices.SortStableFunc(finds, func(a, b Find) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.End-b.Start, a.End-a.Start), cmp.Compare(a.Start, b.Start))
	})
	first := len(dst)
	free := func(f Find) bool {
		return !slices.ContainsFunc(dst[first:], func(s pipeline.Span) bool { return f.Start < s.End && s.Start < f.End })
	}
	if len(finds) > fewFinds {
		bytes := newOccupied(finds)
		free = func(f Find) bool { return bytes.take(f.Start, f.End) }
	}
	for _, f := range finds {
		if free(f) {
			dst = append(dst, pipeline.Span{Start: f.Start, End: f.End, Score: f.Score, Category: f.Category, Source: pipeline.FromRule})
		}
	}
	slices.SortFunc(dst[first:], pipeline.ByStart)
	return dst
}

// fewFinds is the number of finds up to which all pairs are compared. A hostile note of a megabyte has 200,000 finds:
// all pairs took half a minute.
const fewFinds = 64

// occupied has a bit for each byte of a note.
type occupied []uint64

// newOccupied has room for the bytes of all finds.
func newOccupied(finds []Find) occupied {
	end := int32(0)
	for _, f := range finds {
		end = max(end, f.End)
	}
	return make(occupied, end/64+1)
}

// take marks the bytes from start to end, half open, unless one of them is marked.
func (o occupied) take(start, end int32) bool {
	for pass := range 2 {
		for at := start; at < end; at = at/64*64 + 64 {
			word, mask := at/64, ^uint64(0)<<(at%64)
			if end < word*64+64 {
				mask &= 1<<(end%64) - 1
			}
			if pass == 0 && o[word]&mask != 0 {
				return false
			}
			if pass == 1 {
				o[word] |= mask
			}
		}
	}
	return true
}

// from runs the networks that can begin with a token.
func (m *Machine) from(token int32, starts uint64) {
	m.steps = maxSteps
	for ; starts != 0; starts &= starts - 1 {
		finder := int32(bits.TrailingZeros64(starts))
		if token >= m.blocked[finder] && m.walk(&m.pack.networks[m.pack.finders[finder]], token) {
			m.found(finder, token)
		}
	}
	if m.steps <= 0 {
		m.exhausted++
	}
}

// found keeps the find of the longest path.
func (m *Machine) found(finder, token int32) {
	c := &m.longest
	n := &m.pack.networks[m.pack.finders[finder]]
	start, end := m.tokens[token].Start, m.ended(c)
	if c.open >= 0 {
		start = c.open
	}
	if c.close >= 0 {
		end = c.close
	}
	if start >= end {
		return
	}
	if m.tracing {
		m.traced = append(m.traced, Traced{Steps: m.path(c)})
	}
	m.blocked[finder] = max(c.token, token+1)
	m.finds = append(m.finds, Find{Start: start, End: end, Network: finder, Category: n.category, Score: n.score})
}

// ended returns where what a path has consumed ends.
func (m *Machine) ended(c *config) int32 {
	if c.offset > 0 {
		return m.tokens[c.token].Start + c.offset
	}
	return m.tokens[c.token-1].End
}

// walk tries the paths of a network from a token, depth first, and leaves the
// longest in m.longest.
func (m *Machine) walk(n *compiled, token int32) bool {
	m.frames = append(m.frames[:0], frame{parent: -1, first: token, last: token + n.limit})
	m.stack = append(m.stack[:0], config{state: n.start, token: token, open: -1, close: -1, step: -1})
	m.longest = config{token: -1}
	m.trail = m.trail[:0]
	for len(m.stack) > 0 && m.steps > 0 {
		c := m.stack[len(m.stack)-1]
		m.stack = m.stack[:len(m.stack)-1]
		if c.state == endOfNetwork {
			m.steps--
			m.end(&c, token)
			continue
		}
		arcs := m.pack.states[c.state].arcs
		for i := len(arcs) - 1; i >= 0; i-- { // the first ends on top
			if m.steps--; m.steps <= 0 {
				break
			}
			m.arc(&c, &arcs[i])
		}
	}
	return m.longest.token > token || m.longest.token == token && m.longest.offset > 0
}

// end goes on behind the call of the network that ended, or keeps the path.
func (m *Machine) end(c *config, start int32) {
	f := &m.frames[c.frame]
	if f.parent < 0 {
		if c.token > m.longest.token || c.token == m.longest.token && c.offset > m.longest.offset {
			m.longest = *c
		}
		return
	}
	if f.closes && (c.token > start || c.offset > 0) {
		c.close = m.ended(c)
	}
	c.state, c.frame = f.to, f.parent
	m.stack = append(m.stack, *c)
}

// arc puts what lies behind an arc on the stack, if it can be taken.
func (m *Machine) arc(c *config, a *arc) {
	if !registersFit(c.registers, a.registers) {
		return
	}
	next := *c
	next.state = a.to
	switch a.what {
	case nothing:
	case called:
		f := &m.frames[c.frame]
		if f.depth == maxDepth {
			return
		}
		n := &m.pack.networks[a.network]
		next.state, next.frame = n.start, int32(len(m.frames))
		m.frames = append(m.frames, frame{parent: c.frame, to: a.to, first: c.token, last: min(f.last, c.token+n.limit), depth: f.depth + 1,
			closes: a.closes})
	default:
		if !m.consume(&next, a) {
			return
		}
	}
	if a.opens {
		next.open = m.begun(c)
	}
	if a.closes && a.what != called && (next.token > 0 || next.offset > 0) {
		next.close = m.ended(&next)
	}
	for _, s := range a.sets {
		next.registers = s.do(next.registers)
	}
	if m.tracing {
		next.step = m.took(c, &next, a)
	}
	m.stack = append(m.stack, next)
}

// begun returns where the next thing that is consumed begins.
func (m *Machine) begun(c *config) int32 {
	if int(c.token) == len(m.tokens) {
		return int32(len(m.text))
	}
	return m.tokens[c.token].Start + c.offset
}

// consume tests the next token and consumes what the arc says.
func (m *Machine) consume(c *config, a *arc) bool {
	t := c.token
	left := int(t) < len(m.tokens) && (c.offset > 0 || t == 0 || m.tokens[t].Flags&pipeline.LineStart == 0 || t == m.frames[0].first)
	if !left {
		return a.what == peeked && isNone.fit(a.place) && a.need == outcomes{}
	}
	if !m.placed(c).fit(a.place) {
		return false
	}
	known := &m.seen[t]
	if c.offset > 0 {
		m.left = m.look(m.text[m.tokens[t].Start+c.offset : m.tokens[t].End])
		known = &m.left
	}
	if !known.tests.fit(&a.need, &a.forbid) || a.behind != (outcomes{}) && !m.behind(t, &a.behind) {
		return false
	}
	if a.what == peeked {
		return true
	}
	if t >= m.frames[c.frame].last {
		return false
	}
	switch a.what {
	case piece:
		return m.take(c, a.pieces)
	case written:
		return m.match(c, a)
	case phrase:
		p := m.pack.resources.Lists.PhraseAt(m.text, m.tokens, int(t))
		if c.offset > 0 || p.Class&a.phrases == 0 || p.Last > m.frames[c.frame].last {
			return false
		}
		c.token = p.Last
	default:
		c.token, c.offset = t+1, 0
	}
	return true
}

// behind tells whether one of the words before a token, in its line, passes a test.
func (m *Machine) behind(t int32, want *outcomes) bool {
	for n := 0; n < wordsBehind && t > 0 && m.tokens[t].Flags&pipeline.LineStart == 0; {
		t--
		if m.seen[t].tests.fit(want, &outcomes{}) {
			return true
		}
		if wordAt(m.text[m.tokens[t].Start:]) {
			n++
		}
	}
	return false
}

// match consumes what the expression of an arc matches from the next place on, in the line.
func (m *Machine) match(c *config, a *arc) bool {
	start := m.begun(c)
	line := m.text[start:min(len(m.text), int(start)+MaxText)]
	if i := bytes.IndexByte(line, '\n'); i >= 0 {
		line = line[:i]
	}
	if m.work -= a.size * len(line); m.work < 0 {
		return false
	}
	found := a.expression.Find(line)
	if len(found) == 0 || a.check != nil && !a.check(found) {
		return false
	}
	end := start + int32(len(found))
	for c.offset = 0; int(c.token) < len(m.tokens) && m.tokens[c.token].End <= end; c.token++ {
	}
	if int(c.token) < len(m.tokens) {
		c.offset = max(0, end-m.tokens[c.token].Start)
	}
	return c.token < m.frames[c.frame].last || c.token == m.frames[c.frame].last && c.offset == 0
}

// take consumes the first of the pieces that the token begins with, if more of
// the word is left: of the token, or, where the tokenizer has cut lAnna at its
// capital, in the token that is glued to it.
func (m *Machine) take(c *config, pieces []string) bool {
	t := &m.tokens[c.token]
	rest := m.text[t.Start+c.offset : t.End]
	for _, p := range pieces {
		switch n := prefixFold(rest, p); {
		case n > 0 && n < len(rest):
			c.offset += int32(n)
			return true
		case n > 0 && m.wordGoesOn(c.token+1):
			c.token, c.offset = c.token+1, 0
			return true
		}
	}
	return false
}

// wordGoesOn tells whether a token is glued to the one before and begins with a letter.
func (m *Machine) wordGoesOn(t int32) bool {
	if int(t) == len(m.tokens) || m.tokens[t].Flags&pipeline.Glued == 0 {
		return false
	}
	r, _ := utf8.DecodeRune(m.text[m.tokens[t].Start:])
	return unicode.IsLetter(r)
}

// wordAt tells whether a text begins with a letter or digit.
func wordAt(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// prefixFold returns how many bytes of text are the lower-case prefix, in
// whatever case; 0 if it is no prefix.
func prefixFold(text []byte, prefix string) int {
	i := 0
	for _, want := range prefix {
		r, n := utf8.DecodeRune(text[i:])
		if n == 0 || unicode.ToLower(r) != want {
			return 0
		}
		i += n
	}
	return i
}

// placed says where the next thing to consume stands.
func (m *Machine) placed(c *config) (p place) {
	flags := m.tokens[c.token].Flags
	if c.offset == 0 && flags&pipeline.LineStart != 0 {
		p |= isFirst
	}
	if c.offset > 0 || flags&pipeline.Glued != 0 {
		p |= isGlued
	}
	return p
}

// look returns what the tests say of a form.
func (m *Machine) look(text []byte) knownForm {
	hash := xxh3.Hash(text)
	k := &m.cache[hash&uint64(len(m.cache)-1)]
	if k.hash != hash || k.tests[0]&isTested == 0 {
		k.hash, k.knownForm = hash, m.test(text)
	}
	return k.knownForm
}

// test makes the tests of a form.
func (m *Machine) test(text []byte) (k knownForm) {
	f := &m.form
	*f = form{text: text, shape: shapeOf(text), pos: f.pos[:0], lemma: f.lemma[:0]}
	if len(text) > maxForm {
		f.text = nil
	} else {
		m.lookUp(text)
	}
	k.tests = m.pack.words.find(f)
	k.tests[0] |= isTested
	for i := range m.pack.predicates {
		if p := &m.pack.predicates[i]; p.predicate(f) {
			k.tests.set(p.bit)
		}
	}
	k.starts = m.pack.finding(&k.tests)
	return k
}

// lookUp fills in what tests ask of a form beside its letters.
func (m *Machine) lookUp(text []byte) {
	f := &m.form
	f.folded = gazetteer.Fold(m.folded[:0], text)
	if m.pack.listed {
		f.class = m.pack.resources.Lists.Classes(text)
	}
	if f.known = f.class; m.pack.known {
		f.known |= m.pack.resources.Names.Classes(text)
	}
	if m.pack.morph {
		f.pos = m.pack.resources.Morph.AppendPOS(f.pos, text)
		f.lemma = m.pack.resources.Morph.AppendLemma(f.lemma, text)
	}
}

// finding returns the finders that a form fits. A form passes a few of hundreds of tests, and most finders need another one.
func (p *Pack) finding(tests *outcomes) (set uint64) {
	some := uint64(0)
	for i, word := range tests {
		for ; word != 0; word &= word - 1 {
			some |= p.hints[i*64+bits.TrailingZeros64(word)]
		}
	}
	for ; some != 0; some &= some - 1 {
		if i := bits.TrailingZeros64(some); p.startable[i].with(tests) {
			set |= 1 << i
		}
	}
	return set
}
