package verify

import (
	"slices"
	"strings"

	"github.com/velum-health/velum/models/word/locale"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// rules holds the options in the form that the workers share, read-only.
type rules struct {
	names, soft, kept [256]bool // by category: no word of it may survive; only long values are looked for
	shuffled          [256]bool // the same
	anyShuffled       bool
	placeholders      map[string]bool // "[PERSON]"
	strict            [numForms]bool
}

// ignoredWords do not count as a value in any category: particles, titles, and words for kinds of institutions and
// streets. sharedWords are both names and common words: alone they count as surviving names only when capitalized.
// yearWords stand before years and are no part of them.
var (
	ignoredWords = newWordSet("verify ignored")
	sharedWords  = newWordSet("verify shared")
	yearWords    = newWordSet("verify year")
)

// A wordSet holds folded words. Most questions are about words that it does
// not hold; the filter answers those without hashing.
type wordSet struct {
	filter [64]uint64 // by mark
	words  map[string]bool
}

// newWordSet returns the words of a section of models/word/locale.
func newWordSet(section string) *wordSet {
	s := &wordSet{words: map[string]bool{}}
	locale.Read(section, func(_ pipeline.Language, _, words []string) error {
		for _, w := range words {
			folded := foldWords(nil, []byte(w))
			m := mark(folded)
			s.filter[m>>6] |= 1 << (m & 63)
			s.words[string(folded)] = true
		}
		return nil
	})
	return s
}

// mark returns a 12-bit hash of a word, from three of its characters and its length.
func mark(w []byte) uint32 {
	return (uint32(w[0])*61 + uint32(w[len(w)/2])*17 + uint32(w[len(w)-1])*5 + uint32(len(w))*251) & 4095
}

func (s *wordSet) has(w []byte) bool {
	if len(w) == 0 {
		return false
	}
	m := mark(w)
	return s.filter[m>>6]>>(m&63)&1 != 0 && s.words[string(w)]
}

// softKinds are those of which only long values are looked for.
var softKinds = []pipeline.Kind{pipeline.DateKind, pipeline.AgeKind, pipeline.ProfessionKind, pipeline.TraitKind}

func newRules(o Options) *rules {
	r := &rules{placeholders: map[string]bool{}, anyShuffled: len(o.Shuffled) > 0}
	for n := 1; n < pipeline.Categories(); n++ {
		c := pipeline.Category(n)
		r.names[c] = c.Kind() == pipeline.NameKind
		r.soft[c] = slices.Contains(softKinds, c.Kind())
		r.kept[c], r.shuffled[c] = slices.Contains(o.Kept, c), slices.Contains(o.Shuffled, c)
		r.placeholders["["+c.String()+"]"] = true
	}
	for f := range numForms {
		r.strict[f] = true
		for name := range strings.FieldsSeq(formCategories[f]) {
			if c, err := pipeline.ParseCategory(name); err == nil && r.kept[c] {
				r.strict[f] = false
			}
		}
	}
	return r
}

// A needle is a piece of a masked value (a word of a name, a number) that must not stand anywhere in the masked text.
type needle struct {
	start, end int32 // in verifier.folded
	next       int32 // the needle before it with the same key, -1 at the end
	key        uint8
	span       int32
	soft       bool // of a soft category
	number     bool // digits, whatever stands between them
	capital    bool // counts only with a capital
	pair       bool // half of a pair of given names such as José Luis
}

// verifier holds the scratch that a worker keeps from note to note.
type verifier struct {
	*rules
	at      int // note of the batch that is being looked at
	clock   guard.Clock
	places  []pipeline.Span // of the note, in the view of its masked text
	span    int             // whose value is taken in
	isSoft  bool            // its category is
	scratch []byte          // view of the masked text, or of a value
	from    []int32
	placed  view.Placed
	folded  []byte
	needles []needle
	firsts  uint32     // bit b&31 for every first byte b of a needle
	heads   [256]int32 // by key, 1 + the last needle that has it
}

// forget drops the needles of a note.
func (v *verifier) forget() {
	for _, n := range v.needles {
		v.heads[n.key] = 0
	}
	v.needles = v.needles[:0]
	v.folded = v.folded[:0]
	v.firsts = 0
}

// value takes the text of a span in.
func (v *verifier) value(text []byte, c pipeline.Category) {
	if v.kept[c] {
		return
	}
	start := len(v.folded)
	v.folded = foldWords(v.folded, text)
	end := len(v.folded)
	least := minValue
	if v.isSoft = v.soft[c]; v.isSoft {
		least = minSoft
	}
	letters, meaning, digits := v.weigh(start, end)
	if letters >= least && meaning {
		v.want(start, end, false, false)
	}
	if digits >= minNumber {
		v.numbersOf(text)
	}
	if v.names[c] {
		v.words(start, end)
	}
}

// minNumber is how many digits make a number that must not survive.
const minNumber = 5

// weigh counts the letters and digits of folded[start:end], and reports whether it has a word that is not ignored.
func (v *verifier) weigh(start, end int) (letters int, meaning bool, digits int) {
	for at := start; at < end; {
		stop := v.wordEnd(at, end)
		if v.isSoft && yearWords.has(v.folded[at:stop]) {
			at = stop + 1
			continue // "año 2014" is as much of a value as "2014"
		}
		for _, b := range v.folded[at:stop] {
			if kinds[b] == numeric {
				digits++
			}
			if b&0xC0 != 0x80 {
				letters++
			}
		}
		meaning = meaning || !ignoredWords.has(v.folded[at:stop])
		at = stop + 1
	}
	return letters, meaning, digits
}

func (v *verifier) wordEnd(at, end int) int {
	for at < end && v.folded[at] != gap {
		at++
	}
	return at
}

// words takes the single words of a name in.
func (v *verifier) words(start, end int) {
	for at := start; at < end; {
		stop := v.wordEnd(at, end)
		w := v.folded[at:stop]
		if (at > start || stop < end) && stop-at >= minValue && kinds[w[0]] != numeric && !ignoredWords.has(w) {
			v.want(at, stop, false, sharedWords.has(w))
			v.needles[len(v.needles)-1].pair = string(w) == "maria" || string(w) == "jose"
		}
		at = stop + 1
	}
}

// numbersOf takes the numbers of text in: runs of digits, also with single
// signs between them.
func (v *verifier) numbersOf(text []byte) {
	for i := 0; i < len(text); i++ {
		start := len(v.folded)
		for i < len(text) {
			if kinds[text[i]] != numeric {
				if i+1 >= len(text) || !joinsDigits(text[i]) || kinds[text[i+1]] != numeric {
					break
				}
				i++
			}
			v.folded = append(v.folded, text[i])
			i++
		}
		if len(v.folded)-start >= minNumber {
			v.want(start, len(v.folded), true, false)
		}
	}
}

// joinsDigits tells whether b may stand between the digits of a number.
func joinsDigits(b byte) bool {
	switch b {
	case ' ', '.', '-', '/', ',', '_':
		return true
	}
	return false
}

func (v *verifier) want(start, end int, number, capital bool) {
	k := keyAt(v.folded[:end], start)
	v.needles = append(v.needles, needle{
		start: int32(start), end: int32(end), next: v.heads[k] - 1, key: k,
		span: int32(v.span), soft: v.isSoft, number: number, capital: capital,
	})
	v.heads[k] = int32(len(v.needles))
	v.firsts |= 1 << (v.folded[start] & 31)
}

// readable tells whether a value begins at i in the masked text.
func (v *verifier) readable(text []byte, i int) bool {
	for k := v.heads[keyAt(text, i)] - 1; k >= 0; k = v.needles[k].next {
		n := &v.needles[k]
		want := v.folded[n.start:n.end]
		if n.number || n.capital && kinds[text[i]] == lower {
			continue
		}
		if end, ok := same(text, i, want); ok && ends(text, end) && !v.meant(n, i, end) {
			return true
		}
	}
	return false
}

// meant tells whether a value that is read at text[i:end] was put there on
// purpose: a date may be shifted to where another date of the note was, 64 años
// may end its own class, 60-64 años. As the whole of its own place it is one
// that was not replaced. A name or number of the note is never put anywhere, but
// for María and José: half of all pairs of given names have one.
func (v *verifier) meant(n *needle, i, end int) bool {
	if !n.soft && !n.pair {
		return false
	}
	k := v.placeOf(i)
	if k < 0 || end > int(v.places[k].End) {
		return false
	}
	return n.pair || k != int(n.span) || i > int(v.places[k].Start) || end < int(v.places[k].End)
}

// number tells whether one of the numbers begins at i.
func (v *verifier) number(text []byte, i int) bool {
	for k := range v.needles {
		n := &v.needles[k]
		if !n.number || v.folded[n.start] != text[i] {
			continue
		}
		if end := sameDigits(text, i, v.folded[n.start:n.end]); end > 0 && !v.meant(n, i, end) {
			return true
		}
	}
	return false
}

// sameDigits returns where the digits of want end that stand at i, with single
// signs between them or not; 0 if they do not, or a digit touches them from
// behind.
func sameDigits(text []byte, i int, want []byte) (end int) {
	for k, d := range want {
		if k > 0 && i+1 < len(text) && joinsDigits(text[i]) {
			i++
		}
		if i >= len(text) || text[i] != d {
			return 0
		}
		i++
	}
	if i < len(text) && kinds[text[i]] == numeric {
		return 0
	}
	return i
}
