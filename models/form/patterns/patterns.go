// Package patterns finds identifiers that have a form: e-mail addresses,
// telephone numbers, identity, health and social security numbers, dates,
// ages, addresses of the net, postal codes, bank accounts, licence plates,
// collegiate, record and passport numbers, as they are written in Spanish,
// Catalan and English notes (VIGI tables 4-7).
//
// In comes the text of a note, out come matches: candidates with a category,
// a score and whether a check digit is right. A wrong check digit never
// rejects, since typing errors and made-up corpora break it; it only lifts the
// score less. What a match is worth is for stages/resolve to decide, and the
// matches are features of the taggers.
//
// The work is done by hand-written scanners and not by regular expressions:
// one pass over the bytes stops at the few that can be part of an identifier
// (the first digit of a run, '@', ':' and '.', and words whose first two
// letters can begin a month or a number), and the scanner of that byte looks
// outwards, at most a fixed number of bytes. So the time is linear in the
// length of the text whatever stands in it, words around a number (labels,
// units) are as easy to ask for as digits, and nothing is allocated.
// BenchmarkRegexp has a tenth of the forms as regular expressions.
package patterns

import (
	"cmp"
	"slices"
	"sync"

	"github.com/velum-health/velum/models/form/dates"
	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

// Version changes whenever Find may return other matches. A model with matches among its features stores the version,
// and is refused with another version unless Near.
const Version = "patterns-9"

// Near reports whether a tagger trained with the matches of version may use those of this version: at places where both
// find something they must agree. patterns-4 knew no values after far cues (7 of 31,280 labelled notes have another
// match); up to patterns-5 "año" was part of a date, and a range was one date; patterns-6 knew fewer cues of foreign
// documents and forms of high ages; patterns-7 had other scores for telephones and for Spanish accounts with wrong
// check digits, and no Basque and Galician words; patterns-8 had other hints of dates at 27 places of 111,000 notes.
func Near(version string) bool {
	return slices.Contains([]string{Version, "patterns-4", "patterns-5", "patterns-6", "patterns-7", "patterns-8"}, version)
}

// maxDigits is the longest run of digits that is looked at: an IBAN of Saint
// Lucia has 30.
const maxDigits = 32

// Options chooses what a Matcher looks for. The zero value finds everything.
type Options struct {
	Categories []pipeline.Category // of the label set "pattern"; nil means all
}

// Matcher finds identifiers by their form. It is immutable and may be shared by goroutines.
type Matcher struct {
	wanted [256]bool // by category
}

// New returns a Matcher.
func New(o Options) *Matcher {
	m := new(Matcher)
	wanted := o.Categories
	if wanted == nil {
		wanted = allCategories
	}
	for _, c := range wanted {
		m.wanted[c] = true
	}
	return m
}

// The categories of the label set "pattern".
var (
	telephone    = category("TELEPHONE")
	email        = category("EMAIL")
	dni          = category("DNI")
	socialID     = category("SOCIAL_SECURITY_ID")
	cardID       = category("SANITARY_CARD_ID")
	date         = category("DATE")
	age          = category("AGE")
	url          = category("URL")
	ipAddress    = category("IP_ADDRESS")
	postalCode   = category("POSTAL_CODE")
	iban         = category("IBAN")
	licencePlate = category("LICENSE_PLATE")
	_            = category("COLLEGIATE_ID")
	_            = category("RECORD_ID")
	passport     = category("PASSPORT")
)

// allCategories are those above, in their order.
var allCategories []pipeline.Category

func category(name string) pipeline.Category {
	c := pipeline.MustCategory(name)
	if !slices.Contains(allCategories, c) {
		allCategories = append(allCategories, c)
	}
	return c
}

// Find appends the matches in text to dst. They are sorted by start, the longest first at equal starts. A match inside
// a longer one is dropped, unless its check digit is right and that of the other is not; matches of two categories may
// cover the same bytes. Offsets are on character borders. Invalid UTF-8 does not panic, but then offsets may be inside
// the remains of a character.
func (m *Matcher) Find(dst []pipeline.Match, text []byte) []pipeline.Match {
	first := len(dst)
	s := scan{m: m, Text: text, dst: dst}
	reader := readers.Get().(*reader)
	reader.finds = reader.Find(reader.finds[:0], text)
	if m.wanted[date] {
		s.dates = reader.finds
	}
	s.all(reader.Starts)
	readers.Put(reader)
	return s.dst[:first+longest(s.dst[first:])]
}

// reader finds the dates of a note and keeps them.
type reader struct {
	dates.Finder
	finds []dates.Find
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// longest sorts the matches and removes those within a longer one; it returns
// how many are left.
func longest(found []pipeline.Match) int {
	slices.SortStableFunc(found, order)
	n := 0
	var cover pipeline.Match // the match that reaches furthest so far
	for _, f := range found {
		same := f.Start == cover.Start && f.End == cover.End
		if f.End <= cover.End && !same && (!f.Checked || f.Category == cover.Category) {
			continue
		}
		if claimed(found[:n], f) {
			continue
		}
		if f.End >= cover.End {
			cover = f
		}
		found[n] = f
		n++
	}
	return n
}

// claimed tells whether f's bytes already have f's category; the better score
// came first.
func claimed(kept []pipeline.Match, f pipeline.Match) bool {
	for k := len(kept) - 1; k >= 0 && kept[k].Start == f.Start && kept[k].End == f.End; k-- {
		if kept[k].Category == f.Category {
			return true
		}
	}
	return false
}

// order is that of matches: the longest first where several start at one place.
func order(a, b pipeline.Match) int {
	return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End), cmp.Compare(b.Score, a.Score), cmp.Compare(a.Category, b.Category))
}

// scan is the state of one Find, and reads bytes, words and numbers. What is found of
// each kind is found by a type of its own around it: ageFinder, cueFinder...
type scan struct {
	cut.Text
	m   *Matcher
	dst []pipeline.Match

	dates     []dates.Find // those of the note, by their starts
	dateEnd   int          // where the last date ends
	urlEnd    int          // how far the last URL was read
	cuedEnd   int          // where the last value behind a cue ended,
	cuedKind  *kind        // and its kind
	spokenEnd int          // where the last number in words ended

	from, back read // the last words that were read, forwards and backwards
}

// add keeps a match if it is wanted.
func (s *scan) add(start, end int, c pipeline.Category, score float32, checked bool) {
	if s.m.wanted[c] {
		s.dst = append(s.dst, pipeline.Match{
			Start: int32(start), End: int32(end), Score: score, Category: c, Checked: checked,
		})
	}
}

// all looks at the bytes that may begin a pattern.
func (s *scan) all(starts cut.Starts) {
	text, nets, ages := s.Text, netFinder{s}, ageFinder{s}
	for i := 0; i < len(text); {
		switch b := text[i]; {
		case cut.InWord(b):
			if opens.Has(b, s.At(i+1), s.At(i+2)) {
				ages.word(i)
			}
		case cut.IsDigit(b):
			i = s.number(i)
			continue
		case b == '.':
			nets.domain(i)
		case b == ':':
			nets.address(i)
		case b == '@':
			nets.mail(i)
		}
		i = starts.Behind(i)
	}
	s.lastDates()
}
