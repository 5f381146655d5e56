package synth

import (
	"bytes"
	"cmp"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// Contexts are sentences of an archive with invented values: what stands around
// names, places and dates is real, what is marked is not. It is a sink of
// batches that were tagged twice, Gold by the careful setting and Spans by one
// of high recall, and then a source of notes:
//
//	lines on which both settings agree, and no number is left   every value drawn anew
//	lines in which neither found anything                       "la paciente", "su hija", "este centro", "hace 3 días" become values
//	                                                            and others stay as they are, to show what is none
//
// No value is kept: a line is left out when a word of three characters or more
// of any value that was found in the archive is still in it, Holds tells.
type Contexts struct {
	o      ContextOptions
	marked []context
	empty  []context
	values map[uint64]struct{} // folded words of all values of the archive
}

// ContextOptions say how many notes are made of an archive.
type ContextOptions struct {
	Notes int64
	Seed  uint64
	Batch int // notes a batch; 0 is 2048
}

// context is a line of the archive.
type context struct {
	hash  uint64 // of text and seed: the order in which lines are used
	text  []byte
	spans []pipeline.Span
	ca    bool
}

// Shares of the notes: of every five, two have values that were drawn anew, one
// has values where the archive had none, two have none.
const (
	sharesOfNotes = 5
	shareMarked   = 2
	shareFilled   = 1
	mostUses      = 4   // of a line with values
	longestLine   = 600 // bytes
	shortestLine  = 12
)

// NewContexts returns an empty collection.
func NewContexts(o ContextOptions) *Contexts {
	if o.Batch <= 0 {
		o.Batch = 2048
	}
	return &Contexts{o: o, values: map[uint64]struct{}{}}
}

// Put implements pipeline.Sink: it takes the lines of sound notes.
func (c *Contexts) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			continue
		}
		text, careful, all := b.Text.At(i), b.Gold.At(i), b.Spans.At(i)
		for _, spans := range [2][]pipeline.Span{careful, all} {
			for _, s := range spans {
				c.remember(text[s.Start:s.End], s.Category)
			}
		}
		ca := i < len(b.Language) && b.Language[i] == pipeline.Catalan
		for at := 0; at < len(text); {
			end := at + 1 + bytes.IndexByte(text[at:], '\n')
			if end == at {
				end = len(text) + 1
			}
			c.line(text[at:end-1], int32(at), careful, all, ca)
			at = end
		}
	}
	c.marked = c.least(c.marked)
	c.empty = c.least(c.empty)
	return nil
}

// least keeps as many lines as are used, those of the least hash: which they
// are does not depend on the order of the notes.
func (c *Contexts) least(lines []context) []context {
	if int64(len(lines)) <= 4*c.o.Notes+1024 {
		return lines
	}
	sortContexts(lines)
	return slices.Clip(lines[:c.o.Notes])
}

func sortContexts(lines []context) {
	slices.SortFunc(lines, func(a, b context) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), bytes.Compare(a.text, b.text))
	})
}

// line takes one line of a note, which begins at byte at.
func (c *Contexts) line(text []byte, at int32, careful, all []pipeline.Span, ca bool) {
	if len(text) < shortestLine || len(text) > longestLine || !utf8.Valid(text) {
		return
	}
	here, ok := within(careful, at, int32(len(text)))
	others, all2 := within(all, at, int32(len(text)))
	if !ok || !all2 || !sameSpans(here, others) || !redrawable(text, here) || identifying(text, here) {
		return
	}
	line := context{hash: xxh3.HashSeed(text, c.o.Seed), text: bytes.Clone(text), spans: here, ca: ca}
	if len(here) > 0 {
		c.marked = append(c.marked, line)
	} else {
		c.empty = append(c.empty, line)
	}
}

// within returns the spans of a line, by its own bytes; false if one crosses
// its borders.
func within(spans []pipeline.Span, at, n int32) (here []pipeline.Span, ok bool) {
	for _, s := range spans {
		switch s.Start, s.End = s.Start-at, s.End-at; {
		case s.End <= 0 || s.Start >= n:
		case s.Start < 0 || s.End > n:
			return nil, false
		default:
			here = append(here, pipeline.Span{Start: s.Start, End: s.End, Category: s.Category})
		}
	}
	return here, true
}

func sameSpans(a, b []pipeline.Span) bool {
	return slices.EqualFunc(a, b, func(x, y pipeline.Span) bool {
		return x.Start == y.Start && x.End == y.End && x.Category == y.Category
	})
}

var (
	categoryDate = mustCategory("DATE")
	categoryAge  = mustCategory("AGE")
)

// redrawable tells whether every value is of a kind that is drawn anew.
func redrawable(text []byte, spans []pipeline.Span) bool {
	for _, s := range spans {
		switch s.Category {
		case categoryPerson, categoryLocation, categoryDate:
		case categoryAge:
			if !bytes.ContainsAny(text[s.Start:s.End], "0123456789") {
				return false // in words
			}
		default:
			return false
		}
	}
	return true
}

// identifying tells whether something like an identifier stands outside of the
// spans: an at sign, or five digits with no more than one character between
// two of them.
func identifying(text []byte, spans []pipeline.Span) bool {
	digits, last := 0, -3
	for i, ch := range text {
		if slices.ContainsFunc(spans, func(s pipeline.Span) bool { return int(s.Start) <= i && i < int(s.End) }) {
			continue
		}
		switch {
		case ch == '@':
			return true
		case ch >= '0' && ch <= '9':
			if i-last > 2 {
				digits = 0
			}
			if digits, last = digits+1, i; digits == 5 {
				return true
			}
		}
	}
	return false
}

// remember keeps the words of a value, so that they are never written. Of
// dates and ages only the whole is one's own.
func (c *Contexts) remember(value []byte, category pipeline.Category) {
	if category == categoryDate || category == categoryAge {
		return
	}
	for _, w := range wordsOf(value) {
		if telling(w) {
			c.values[xxh3.Hash(w)] = struct{}{}
		}
	}
}

// telling tells whether a folded word of a value says anything: it has three
// letters or more and is no word of the language, such as Hospital or Salud.
func telling(w []byte) bool {
	const tells = gazetteer.CommonWord | gazetteer.HospitalHead | gazetteer.InstitutionHead | gazetteer.StreetType | gazetteer.Title |
		gazetteer.MedicalTerm | gazetteer.Month | gazetteer.Kinship | gazetteer.Profession | gazetteer.Drug
	return utf8.RuneCount(w) >= 3 && gazetteer.Default().Classes(w)&tells == 0
}

// wordsOf returns the words and numbers of a text, folded.
func wordsOf(text []byte) (words [][]byte) {
	for _, w := range bytes.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '·' }) {
		words = append(words, gazetteer.Fold(nil, w))
	}
	return words
}

// holds tells whether a text has a word of any value of the archive.
func (c *Contexts) holds(text []byte) bool {
	for _, w := range wordsOf(text) {
		if _, own := c.values[xxh3.Hash(w)]; own && telling(w) {
			return true
		}
	}
	return false
}

// Source returns the notes. Nothing is put any more.
func (c *Contexts) Source() pipeline.Source {
	sortContexts(c.marked)
	sortContexts(c.empty)
	lexicon := lexicons[Train]()
	g := &contextual{Contexts: c, m: newMaker(&Options{Seed: c.o.Seed, Split: Train, Spanish: 1}), lexicon: lexicon}
	g.writer = surrogate.NewWriter(g)
	return g
}

// contextual writes the notes of a collection.
type contextual struct {
	*Contexts
	m       *maker // draws from the lists
	lexicon *lexicon
	writer  *surrogate.Writer
	r       *rand.Rand
	turn    int64 // of the tries to make a note
	made    int64
	drawn   []byte // a value
	own     [][]byte
	out     []byte
	gold    []pipeline.Span
}

// Next implements pipeline.Source.
func (g *contextual) Next(b *pipeline.Batch) error {
	end := min(g.made+int64(g.o.Batch), g.o.Notes)
	b.First = g.made
	for ; g.made < end; g.turn++ {
		if g.turn >= 4*g.o.Notes+sharesOfNotes {
			break // the archive has no more
		}
		if !g.note(g.turn) {
			continue
		}
		b.ID.Append(strconv.AppendInt([]byte("c-"), g.made, 10))
		b.Text.Append(g.out)
		b.Gold.Append(g.gold...)
		b.Reason = append(b.Reason, pipeline.Sound)
		g.made++
	}
	if b.Len() == 0 {
		return io.EOF
	}
	return nil
}

// note makes the note of a turn; false if its line is used up or tells too
// much.
func (g *contextual) note(turn int64) bool {
	g.r = rand.New(rand.NewPCG(g.o.Seed, uint64(turn)))
	g.m.seed(noteStream, uint64(turn))
	round, kind := turn/sharesOfNotes, turn%sharesOfNotes
	g.gold, g.out = g.gold[:0], g.out[:0]
	switch {
	case kind < shareMarked:
		i := round*shareMarked + kind
		if n := int64(len(g.marked)); n == 0 || i >= mostUses*n {
			return false
		} else {
			return g.redraw(&g.marked[i%n])
		}
	case kind < shareMarked+shareFilled:
		if n := int64(len(g.empty)); round < n {
			return g.fill(&g.empty[n-1-round])
		}
		return false
	}
	i := round*(sharesOfNotes-shareMarked-shareFilled) + kind - shareMarked - shareFilled
	if i >= int64(len(g.empty)) || g.holds(g.empty[i].text) {
		return false
	}
	g.out = append(g.out, g.empty[i].text...)
	return true
}

// redraw writes a line with other values.
func (g *contextual) redraw(c *context) bool {
	at := int32(0)
	g.own = g.own[:0]
	g.writer.Catalan = c.ca
	for _, s := range c.spans {
		value := c.text[s.Start:s.End]
		g.own = append(g.own, wordsOf(value)...)
		if !g.value(value, s.Category) {
			return false
		}
		g.out = append(g.out, c.text[at:s.Start]...)
		g.mark(s.Category)
		at = s.End
	}
	g.out = append(g.out, c.text[at:]...)
	return !g.survives()
}

// mark appends the value that was drawn, with its span.
func (g *contextual) mark(category pipeline.Category) {
	start := int32(len(g.out))
	g.out = append(g.out, g.drawn...)
	g.gold = append(g.gold, pipeline.Span{Start: start, End: int32(len(g.out)), Category: category})
}

// survives tells whether something of a value is left: a word of any value of
// the archive, or a number or name of this line's.
func (g *contextual) survives() bool {
	if g.holds(g.out) {
		return true
	}
	for _, w := range wordsOf(g.out) {
		if (telling(w) || w[0] >= '0' && w[0] <= '9' && len(w) >= 3) && slices.ContainsFunc(g.own, func(o []byte) bool { return bytes.Equal(o, w) }) && !isMonth(w) {
			return true
		}
	}
	return false
}

// Draw implements surrogate.Source: never twice the same.
func (g *contextual) Draw(string, int, []byte, int) *rand.Rand { return g.r }

// Avoid implements surrogate.Source.
func (g *contextual) Avoid(word []byte) bool {
	_, own := g.values[xxh3.Hash(word)]
	return own
}

// value draws another value for one of a category.
func (g *contextual) value(value []byte, category pipeline.Category) bool {
	g.drawn = g.drawn[:0]
	ok := true
	switch category {
	case categoryPerson:
		g.drawn, ok = g.person(value)
	case categoryLocation:
		g.drawn, ok = g.place(value)
	case categoryDate:
		g.drawn = g.date(g.drawn, value)
	default:
		g.drawn = g.age(g.drawn, value)
	}
	return ok && len(g.drawn) > 0
}

// person draws a name in the form of the value, now and then with words that
// are no name yet.
func (g *contextual) person(value []byte) ([]byte, bool) {
	if g.r.IntN(5) > 0 || bytes.ContainsAny(value, " ,.-") {
		return g.writer.Person(g.drawn, value)
	}
	return append(g.drawn, like(value, g.lexicon.invent(g.m, surnameParts[g.r.IntN(len(surnameParts))]))...), true
}

// place draws a place in the form of the value. The head of a house stays in
// six of ten, the rest is drawn from many lists.
func (g *contextual) place(value []byte) ([]byte, bool) {
	head := houseHead.FindIndex(value)
	if head == nil || head[1] == len(value) {
		return g.writer.Place(g.drawn, value)
	}
	start := value[:head[1]]
	if g.r.IntN(10) < 4 {
		start = []byte(houseHeads[g.r.IntN(len(houseHeads))] + " ")
	}
	return append(append(g.drawn, start...), like(value[head[1]:], g.tail())...), true
}

// tail draws what stands behind the head of a house.
func (g *contextual) tail() string {
	from := func(p pool) string { return g.lexicon.pools[p][g.r.IntN(len(g.lexicon.pools[p]))] }
	switch k := g.r.IntN(10); {
	case k < 3:
		return from(centreName)
	case k < 5:
		return from(townName)
	case k < 6:
		return houseSaints[g.r.IntN(len(houseSaints))] + " " + from(firstName)
	case k < 7:
		return from(firstName) + " " + from(lastName)
	case k < 8:
		return from(streetName)
	case k < 9:
		return "Dr. " + from(lastName)
	}
	return g.lexicon.invent(g.m, townParts[g.r.IntN(len(townParts))])
}

var (
	houseHead = regexp.MustCompile(`(?i)^(?:h\.? ?u\.?|hosp(?:ital)?\.?(?: (?:universitari[oa]?|general|comarcal))?|h\.|hº|cl[ií]nica|c\.? ?s\.?|centro(?: de (?:salud|especialidades))?|centre(?: de salut)?|cap|ambulatori[o]?|resid[eè]ncia|consultori[o]?|instituto?|institut|fundaci[oó]n?|m[uú]tua|policl[ií]nica?) `)

	houseHeads = []string{"Hospital", "hospital", "H.", "Hosp.", "Hº", "HU", "H. U.", "Hospital General", "Hospital Universitario", "Hospital Comarcal", "Clínica", "clínica",
		"Centro de Salud", "centro de salud", "CS", "C.S.", "CAP", "Residencia", "residencia", "ambulatorio", "Instituto", "Fundación", "Mutua", "Consultorio"}
	houseSaints = []string{"San", "Santa", "Sant", "Virgen de", "Virgen del", "Nuestra Señora de", "Ntra. Sra. de", "Mare de Déu de", "Reina", "Infanta", "Marqués de", "Padre", "Hermanos"}
)

// like writes a name in the case of a value.
func like(value []byte, name string) string {
	letters := bytes.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return r
		}
		return -1
	}, value)
	switch {
	case len(letters) > 1 && bytes.Equal(letters, bytes.ToUpper(letters)):
		return string(bytes.ToUpper([]byte(name)))
	case bytes.Equal(letters, bytes.ToLower(letters)):
		return string(bytes.ToLower([]byte(name)))
	}
	return name
}
