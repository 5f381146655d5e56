package features

import (
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/models/word/terms"
	"github.com/velum-health/velum/pipeline"
	"github.com/zeebo/xxh3"
)

// Resources holds the tables that some feature groups look forms up in. A nil table makes its groups empty.
type Resources struct {
	Lexicon Lexicon         // group gazetteer
	Phrases PhraseFinder    // group phrase
	Slots   map[string]Slot // groups cluster/NAME, pos, lemma, by the group's name
	Open    Opener          // reads slots back that a model file holds
}

// A Lexicon returns the classes of a word form. *gazetteer.Gazetteer implements it.
type Lexicon interface {
	Classes(form []byte) gazetteer.Class
}

// A PhraseFinder finds list entries of several words. *gazetteer.Gazetteer implements it.
type PhraseFinder interface {
	// Begins returns how the second words of the entries begin whose first word is form, as bits of gazetteer.First.
	Begins(form []byte) uint16
	// PhraseAt returns the longest entry that begins at token first, or one without a class. It is called only if
	// Begins has the bit of the next token.
	PhraseAt(text []byte, tokens []pipeline.Token, first int) gazetteer.Phrase
}

// A Slot appends a value for a form to dst, such as a cluster number, a part of speech or a lemma; nothing if it has
// none.
type Slot interface {
	Value(dst, form []byte) []byte
}

// Feature is a feature of a word form.
type Feature struct {
	Key   uint64 // hash of the group's name and the value; never 0
	Value float32
	Group uint16 // index in the template
}

// Mark is a feature of a token that depends on its position.
type Mark struct {
	Feature
	At int32 // number of the token in the sequence; -1 and the sequence's length stand for its borders
}

// group is a template's group with what is needed to compute it.
type group struct {
	*Group
	index uint16
	seed  uint64
	slot  Slot

	classes gazetteer.Class // that the group gazetteer asks for
}

// Extractor computes features. It owns scratch space and is used by one
// goroutine.
type Extractor struct {
	t      *Template
	r      Resources
	forms  []group
	places []group
	finder PhraseFinder // nil if no group asks for phrases

	may  func(keys []uint64, dst []int32) []int32 // says which features of open groups are worth a mark; nil: all
	keys []uint64                                 // what it is asked
	some []int32                                  // and what it answered

	w        word
	buf      []byte
	features []Feature
	marks    []Mark
	naming   bool     // keep names, for Describe
	names    []string // in step with features or marks

	text     []byte
	tokens   []pipeline.Token
	matches  []pipeline.Match
	phrases  []gazetteer.Phrase // of several words, found so far
	behind   int                // first token behind the last of them
	starts   []int32            // scratch of Marks
	match    int                // first match that may reach the current sequence
	phrase   int
	lines    int // in the note
	line     int // of the current sequence's first token, from 0
	nextLine int // of the last token of the sequence before
	matched  []pipeline.Match

	clinical terms.Finder
	terms    []terms.Term // of the note, see medicalTerms
	term     int          // first of them that may reach the current sequence; -1: nobody has asked
}

// New returns an extractor for the template.
func New(t *Template, r Resources) *Extractor {
	e := &Extractor{t: t, r: r}
	if r.Phrases != nil && slices.ContainsFunc(t.Groups, func(g Group) bool { return g.Name == "phrase" }) {
		e.finder = r.Phrases
	}
	for i := range t.Groups {
		g := group{Group: &t.Groups[i], index: uint16(i), seed: xxh3.HashString(t.Groups[i].Name)}
		g.slot, g.classes = r.Slots[g.Name], classesOf(g.Name)
		if g.form() {
			e.forms = append(e.forms, g)
		} else {
			e.places = append(e.places, g)
		}
	}
	return e
}

// LeaveOut sets a filter for the marks of open groups, so that marks that a model does not know need not be collected.
// may appends to dst the indexes of those keys that the model may know, in order; it is called once per sequence.
func (e *Extractor) LeaveOut(may func(keys []uint64, dst []int32) []int32) { e.may = may }

// Form returns the features of a form in the template's order. They are valid
// until the next call.
func (e *Extractor) Form(form []byte) []Feature {
	e.features, e.names = e.features[:0], e.names[:0]
	e.w.set(form)
	for i := range e.forms {
		e.forms[i].kind.form(e, &e.forms[i])
	}
	return e.features
}

// Note sets the note for the following calls of Marks. The arguments are used until the next call of Note.
func (e *Extractor) Note(text []byte, tokens []pipeline.Token, matches []pipeline.Match) {
	e.text, e.tokens, e.matches = text, tokens, matches
	e.match, e.phrase, e.term, e.nextLine, e.lines = 0, 0, -1, -1, 0
	if len(e.places) == 0 {
		return
	}
	if !slices.IsSortedFunc(matches, byStart) {
		e.matched = append(e.matched[:0], matches...)
		slices.SortStableFunc(e.matched, byStart)
		e.matches = e.matched
	}
	e.phrases, e.behind = e.phrases[:0], 0
	for _, t := range tokens {
		if t.Flags&pipeline.LineStart != 0 {
			e.lines++
		}
	}
}

func byStart(a, b pipeline.Match) int { return int(a.Start) - int(b.Start) }

// Begins returns how the second words of the list entries begin whose first word is form; 0 if no group of the template
// uses such entries.
func (e *Extractor) Begins(form []byte) uint16 {
	if e.finder == nil {
		return 0
	}
	return e.finder.Begins(form)
}

// Follows returns gazetteer.First of the token behind token i of the note, 0 if it is the last.
func (e *Extractor) Follows(i int) uint16 {
	if i+1 == len(e.tokens) {
		return 0
	}
	return gazetteer.First(e.form(i + 1))
}

// Marks returns the marks of the tokens [lo, hi), one sequence, group by group. They are valid until the next call.
// Sequences must be requested from left to right.
func (e *Extractor) Marks(lo, hi int) []Mark {
	e.starts = e.starts[:0]
	if e.finder != nil {
		for i := lo; i < hi; i++ {
			if e.finder.Begins(e.form(i)) != 0 {
				e.starts = append(e.starts, int32(i))
			}
		}
	}
	return e.MarksAt(lo, hi, e.starts)
}

// MarksAt returns the same marks as Marks and need not ask Begins for every token: starts has the indices in the note, in
// order, of the tokens of [lo, hi) at which a list entry of several words may begin.
func (e *Extractor) MarksAt(lo, hi int, starts []int32) []Mark {
	e.Skip(lo, hi, starts)
	e.marks, e.names = e.marks[:0], e.names[:0]
	for i := range e.places {
		e.places[i].kind.place(e, &e.places[i], lo, hi)
	}
	return e.marks
}

// Skip advances over the tokens [lo, hi) without computing their marks, so that MarksAt may be called for later tokens.
func (e *Extractor) Skip(lo, hi int, starts []int32) {
	e.find(starts)
	e.line = e.nextLine
	if e.tokens[lo].Flags&pipeline.LineStart != 0 {
		e.line++
	}
	e.nextLine = e.line
	for _, t := range e.tokens[lo+1 : hi] {
		if t.Flags&pipeline.LineStart != 0 {
			e.nextLine++
		}
	}
}

// find appends the phrases that begin at starts: left to right, the longest
// first, so that they are in order and disjoint. Entries of one word are none:
// the gazetteer group says them already.
func (e *Extractor) find(starts []int32) {
	for _, i := range starts {
		if int(i) < e.behind {
			continue
		}
		if p := e.finder.PhraseAt(e.text, e.tokens, int(i)); p.Class != 0 {
			e.phrases = append(e.phrases, p)
			e.behind = int(p.Last)
		}
	}
}

func (e *Extractor) form(i int) []byte {
	t := e.tokens[i]
	return e.text[t.Start:t.End]
}

func (e *Extractor) emitText(g *group, value string) {
	if value != "" {
		e.emit(g, []byte(value))
	}
}

// emit adds a feature of value 1.
func (e *Extractor) emit(g *group, value []byte) {
	e.features = append(e.features, Feature{Key: key(xxh3.HashSeed(value, g.seed)), Value: 1, Group: g.index})
	if e.naming {
		e.names = append(e.names, string(value))
	}
}

// mark adds a mark at token at of the sequence.
func (e *Extractor) mark(g *group, at int, value []byte, v float32) {
	e.markKey(g, at, key(xxh3.HashSeed(value, g.seed)), value, v)
}

func (e *Extractor) markKey(g *group, at int, key uint64, value []byte, v float32) {
	e.marks = append(e.marks, Mark{Feature{key, v, g.index}, int32(at)})
	if e.naming {
		e.names = append(e.names, string(value))
	}
}

// key keeps 0 free for "no feature".
func key(h uint64) uint64 {
	if h == 0 {
		return 1
	}
	return h
}

func borders(e *Extractor, g *group, lo, hi int) {
	e.buf = append(e.buf[:0], "BOS"...)
	e.mark(g, -1, e.buf, 1)
	e.buf = append(e.buf[:0], "EOS"...)
	e.mark(g, hi-lo, e.buf, 1)
}

// place appends the place of token i in a run of tokens first to last (half
// open): B, I, E, or S for a run of one.
func place(dst []byte, i, first, last int) []byte {
	switch {
	case last-first == 1:
		return append(dst, ":S"...)
	case i == first:
		return append(dst, ":B"...)
	case i == last-1:
		return append(dst, ":E"...)
	}
	return append(dst, ":I"...)
}

func patterns(e *Extractor, g *group, lo, hi int) {
	start, end := e.tokens[lo].Start, e.tokens[hi-1].End
	for e.match < len(e.matches) && e.matches[e.match].End <= start {
		e.match++
	}
	t := lo
	for _, m := range e.matches[e.match:] {
		if m.Start >= end {
			return
		}
		if m.End <= start {
			continue // an early match of this line behind a long one
		}
		for t < hi && e.tokens[t].End <= m.Start {
			t++
		}
		last := t
		for last < hi && e.tokens[last].Start < m.End {
			last++
		}
		for i := t; i < last; i++ {
			e.buf = append(e.buf[:0], m.Category.String()...)
			if m.Hint() {
				e.buf = append(e.buf, '~')
			}
			e.buf = place(e.buf, i, t, last)
			e.mark(g, i-lo, e.buf, 1)
			if m.Checked {
				e.buf = append(e.buf, "!"...)
				e.mark(g, i-lo, e.buf, 1)
			}
		}
	}
}

func phrases(e *Extractor, g *group, lo, hi int) {
	for e.phrase < len(e.phrases) && int(e.phrases[e.phrase].Last) <= lo {
		e.phrase++
	}
	for _, p := range e.phrases[e.phrase:] {
		first, last := max(int(p.First), lo), min(int(p.Last), hi)
		if first >= hi {
			return
		}
		for rest := p.Class; rest != 0; rest &= rest - 1 {
			for i := first; i < last; i++ {
				e.buf = append(e.buf[:0], className(rest)...)
				e.buf = place(e.buf, i, first, last)
				e.mark(g, i-lo, e.buf, 1)
			}
		}
	}
}

func bigrams(e *Extractor, g *group, lo, hi int) {
	e.keys = e.keys[:0]
	for i := lo + 1; i < hi; i++ {
		a, b := e.tokens[i-1], e.tokens[i]
		pair := e.text[a.Start:b.End]
		if a.End+1 != b.Start || e.text[a.End] != ' ' {
			e.buf = append(append(append(e.buf[:0], e.form(i-1)...), ' '), e.form(i)...)
			pair = e.buf
		}
		if k := key(xxh3.HashSeed(pair, g.seed)); e.may == nil {
			e.markKey(g, i-lo, k, pair, 1)
		} else {
			e.keys = append(e.keys, k)
		}
	}
	if e.may == nil {
		return
	}
	e.some = e.may(e.keys, e.some[:0])
	for _, i := range e.some {
		e.markKey(g, int(i)+1, e.keys[i], nil, 1)
	}
}

func glued(e *Extractor, g *group, lo, hi int) {
	e.buf = append(e.buf[:0], '1')
	for i := lo; i < hi; i++ {
		if e.tokens[i].Flags&pipeline.Glued != 0 {
			e.mark(g, i-lo, e.buf, 1)
		}
	}
}

func sentenceStarts(e *Extractor, g *group, lo, hi int) {
	e.buf = append(e.buf[:0], '1')
	for i := lo; i < hi; i++ {
		if e.tokens[i].Flags&pipeline.SentenceStart != 0 {
			e.mark(g, i-lo, e.buf, 1)
		}
	}
}

// keys marks every token behind a colon with the word before the colon, until
// the next colon whose left neighbour is a word: fields stand in a row
// ("Edad: 70 años Sexo: H").
func keys(e *Extractor, g *group, lo, hi int) {
	e.buf = e.buf[:0]
	for i := lo; i < hi; i++ {
		if len(e.buf) > 0 {
			e.mark(g, i-lo, e.buf, 1)
		}
		if i == lo || i+1 == hi || !isColon(e.form(i)) {
			continue
		}
		r, _ := utf8.DecodeRune(e.form(i - 1))
		if unicode.IsLetter(r) {
			e.buf = gazetteer.Fold(e.buf[:0], e.form(i-1))
		}
	}
}

func isColon(form []byte) bool { return len(form) == 1 && form[0] == ':' }

// ratio is i of n places, 0 for the first and 1 for the last.
func ratio(i, n int) float32 {
	if n < 2 {
		return 0
	}
	return float32(i) / float32(n-1)
}

// spread marks all tokens with real values; 0 adds nothing to any score and
// is left out.
func (e *Extractor) spread(g *group, lo, hi int, value func(i int) float32) {
	e.buf = append(e.buf[:0], '1')
	for i := lo; i < hi; i++ {
		if v := value(i); v != 0 {
			e.mark(g, i-lo, e.buf, v)
		}
	}
}

func tokenInNote(e *Extractor, g *group, lo, hi int) {
	e.spread(g, lo, hi, func(i int) float32 { return ratio(i, len(e.tokens)) })
}

// byLine marks every token with a value of the number of its line.
func (e *Extractor) byLine(g *group, lo, hi int, value func(line int) byte) {
	line := e.line
	for i := lo; i < hi; i++ {
		if i > lo && e.tokens[i].Flags&pipeline.LineStart != 0 {
			line++
		}
		e.buf = append(e.buf[:0], value(line))
		e.mark(g, i-lo, e.buf, 1)
	}
}

// lineFromEnd tells footers: the last nine lines by number.
func lineFromEnd(e *Extractor, g *group, lo, hi int) {
	e.byLine(g, lo, hi, func(line int) byte { return '0' + byte(min(max(e.lines-1-line, 0), 9)) })
}

// lineFromStart tells headers: the first fifteen lines by number.
func lineFromStart(e *Extractor, g *group, lo, hi int) {
	e.byLine(g, lo, hi, func(line int) byte { return 'a' + byte(min(line, 15)) })
}

// Resources returns the resources passed to New.
func (e *Extractor) Resources() Resources { return e.r }
