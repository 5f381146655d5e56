package score

import (
	"cmp"
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// Measure is a criterion for counting a span as found.
type Measure uint8

const (
	Strict           Measure = iota // category, start and end agree
	Span                            // start and end agree
	Merged                          // MEDDOCAN's: strict spans and joined spans together
	Joined                          // start and end agree after joining over non-alphanumerics
	Covering                        // a system span of the same category covers the gold span
	Overlapping                     // spans of the same category share a byte
	Relaxed                         // category and start agree, ends are at most 2 characters apart
	Tokens                          // tokens with their category
	MaskedTokens                    // tokens, category ignored
	MaskedCharacters                // alphanumeric characters, category ignored
	MaskedEntities                  // gold spans all of whose alphanumeric characters are masked; system spans that touch one
	CleanNotes                      // notes with PHI all of whose gold alphanumeric characters are masked; recall only
	// notes with direct identifiers (Options.Direct) all of whose alphanumeric characters are masked; recall only
	DirectNotes
	numMeasures
)

var measureNames = [numMeasures]string{
	"strict", "span", "merged", "joined", "covering", "overlapping", "relaxed",
	"tokens", "masked_tokens", "masked_characters", "masked_entities", "clean_notes", "direct_notes",
}

// String returns the name used in files and reports.
func (m Measure) String() string {
	if m < numMeasures {
		return measureNames[m]
	}
	return "?"
}

// Options holds the options of a Scorer. The zero value works.
type Options struct {
	Beta  float64 // weight of recall in F_β; 0 means 1
	Draws int     // of the bootstrap; 0 means 1000, negative means none
	Seed  uint64  // of the bootstrap

	// Map converts the categories of both sides before they are compared; spans that it maps to pipeline.None are
	// ignored. nil keeps all.
	Map func(pipeline.Category) pipeline.Category

	// Error is called for each error in a note that Put scores. May be nil.
	Error func(b *pipeline.Batch, i int, e Error)

	// Direct says which categories are direct identifiers; nil: DirectNotes is not computed.
	Direct func(pipeline.Category) bool
}

func (o Options) withDefaults() Options {
	o.Beta = cmp.Or(o.Beta, 1)
	o.Draws = cmp.Or(o.Draws, 1000)
	if o.Map == nil {
		o.Map = func(c pipeline.Category) pipeline.Category { return c }
	}
	return o
}

// count holds the counts of a measure in one note. Found of Gold were found, Right
// of System are right; for most measures Found and Right are the same things.
type count struct{ gold, found, system, right int32 }

// row is the counts of one note.
type row [numMeasures]count

// Scorer counts right and wrong spans. It must be used by one goroutine.
type Scorer struct {
	o          Options
	rows       []row
	categories []categoryCount // by category
	confusion  []int64         // [gold*n + system], n = len(categories); None is no span
	entities   []entity        // gold spans, note by note
	errors     ErrorCounts

	quarantined, sentences, lines, tokens int64

	// scratch of one note
	gold, system           []pipeline.Span
	goldBounds, sysBounds  []bounds
	goldJoined, sysJoined  []bounds
	hits, common, joinHits []bounds
	cover                  []uint8 // a byte: bit 0 in gold, bit 1 in system
}

type categoryCount struct {
	gold, system, right, masked int64
	errors                      ErrorCounts
}

// New returns an empty Scorer.
func New(o Options) *Scorer {
	n := pipeline.Categories()
	return &Scorer{o: o.withDefaults(), categories: make([]categoryCount, n), confusion: make([]int64, n*n)}
}

// Put implements pipeline.Sink: it compares Batch.Spans with Batch.Gold. Notes in quarantine are counted but not
// scored, since they are not released.
func (s *Scorer) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if i < len(b.Reason) && b.Reason[i] != pipeline.Sound {
			s.quarantined++
			continue
		}
		s.Add(b.Text.At(i), at(&b.Tokens, i), at(&b.Gold, i), at(&b.Spans, i))
		if s.o.Error != nil {
			s.tellErrors(b, i)
		}
	}
	return nil
}

func at[T any](list *pipeline.List[T], i int) []T {
	if i >= list.Len() {
		return nil
	}
	return list.At(i)
}

// Add scores one note. Spans may stand in any order; two that agree in
// category and bounds count once. Tokens may be nil, then the measures over
// tokens and sentences stay empty.
func (s *Scorer) Add(text []byte, tokens []pipeline.Token, gold, system []pipeline.Span) {
	s.gold = s.normal(s.gold[:0], gold)
	s.system = s.normal(s.system[:0], system)
	s.rows = append(s.rows, row{})
	r := &s.rows[len(s.rows)-1]

	r[Strict] = s.strict()
	s.countBounds(r, text)
	r[Covering] = s.matching(func(g, x pipeline.Span) bool {
		return g.Category == x.Category && x.Start <= g.Start && g.End <= x.End
	})
	r[Overlapping] = s.matching(func(g, x pipeline.Span) bool { return g.Category == x.Category })
	r[Relaxed] = s.matching(func(g, x pipeline.Span) bool {
		return g.Category == x.Category && g.Start == x.Start && near(text, g.End, x.End)
	})
	s.countTokens(r, tokens)
	s.countMasked(r, text)
	s.countErrors()
	s.countPlaces(text, tokens)
}

// Left reports whether the note added last has a gold span that is not masked completely.
func (s *Scorer) Left() bool {
	clean := &s.rows[len(s.rows)-1][CleanNotes]
	return clean.found < clean.gold
}

// normal sorts spans by place, maps their categories, and drops doubles.
func (s *Scorer) normal(dst, spans []pipeline.Span) []pipeline.Span {
	for _, x := range spans {
		c := s.o.Map(x.Category)
		if c != pipeline.None && x.Start >= 0 && x.Start < x.End {
			dst = append(dst, pipeline.Span{Start: x.Start, End: x.End, Category: c})
		}
	}
	slices.SortFunc(dst, compare)
	return slices.Compact(dst)
}

func compare(a, b pipeline.Span) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End), cmp.Compare(a.Category, b.Category))
}

// strict counts the spans that both sides have, in the note and by category.
func (s *Scorer) strict() count {
	c := count{gold: int32(len(s.gold)), system: int32(len(s.system))}
	first := len(s.entities)
	for _, g := range s.gold {
		s.categories[g.Category].gold++
		s.entities = append(s.entities, entity{note: int32(len(s.rows) - 1), category: g.Category})
	}
	for _, x := range s.system {
		s.categories[x.Category].system++
	}
	for i, j := 0, 0; i < len(s.gold) && j < len(s.system); {
		switch k := compare(s.gold[i], s.system[j]); {
		case k < 0:
			i++
		case k > 0:
			j++
		default:
			s.categories[s.gold[i].Category].right++
			s.entities[first+i].right = true
			c.found++
			c.right++
			i++
			j++
		}
	}
	return c
}

// matching counts the gold spans that some overlapping system span matches,
// and the system spans that match some gold span.
func (s *Scorer) matching(match func(gold, system pipeline.Span) bool) count {
	c := count{gold: int32(len(s.gold)), system: int32(len(s.system))}
	for _, g := range s.gold {
		if anyOverlap(s.system, g, func(x pipeline.Span) bool { return match(g, x) }) {
			c.found++
		}
	}
	for _, x := range s.system {
		if anyOverlap(s.gold, x, func(g pipeline.Span) bool { return match(g, x) }) {
			c.right++
		}
	}
	return c
}

// anyOverlap reports whether one of the sorted spans shares a byte with s and passes the test wanted.
func anyOverlap(spans []pipeline.Span, s pipeline.Span, want func(pipeline.Span) bool) bool {
	for _, x := range spans {
		if x.Start >= s.End {
			return false
		}
		if x.End > s.Start && want(x) {
			return true
		}
	}
	return false
}

// countTokens compares tokens: a token has the category of the first span
// that shares a byte with it.
func (s *Scorer) countTokens(r *row, tokens []pipeline.Token) {
	s.tokens += int64(len(tokens))
	typed, masked := &r[Tokens], &r[MaskedTokens]
	i, j := 0, 0
	for _, t := range tokens {
		var g, x pipeline.Category
		g, i = categoryAt(s.gold, i, t)
		x, j = categoryAt(s.system, j, t)
		if g != pipeline.None {
			typed.gold++
		}
		if x != pipeline.None {
			typed.system++
		}
		if g == pipeline.None || x == pipeline.None {
			continue
		}
		masked.found++
		if g == x {
			typed.found++
		}
	}
	typed.right = typed.found
	masked.gold, masked.system, masked.right = typed.gold, typed.system, masked.found
}

// categoryAt returns the category of token t and the first span from i on
// that does not end before it.
func categoryAt(spans []pipeline.Span, i int, t pipeline.Token) (pipeline.Category, int) {
	for i < len(spans) && spans[i].End <= t.Start {
		i++
	}
	if i < len(spans) && spans[i].Start < t.End {
		return spans[i].Category, i
	}
	return pipeline.None, i
}

// countPlaces counts the sentences and the lines that are not blank.
func (s *Scorer) countPlaces(text []byte, tokens []pipeline.Token) {
	for _, t := range tokens {
		if t.Flags&(pipeline.SentenceStart|pipeline.LineStart) != 0 {
			s.sentences++
		}
	}
	blank := true
	for _, c := range text {
		switch {
		case c == '\n':
			blank = true
		case blank && c > ' ':
			blank = false
			s.lines++
		}
	}
}
