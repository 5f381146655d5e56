// Package surrogate replaces names, places, numbers and addresses by other values, so that a note still reads naturally
// (BOOT §2.2.2: randomization and surrogates). It takes the words of a value and returns other words of the same kind:
// a woman's name for a woman's, a Catalan name for a Catalan one, a hospital for a hospital, a village for a village, a
// DNI with a valid letter for a valid DNI; order and case stay.
//
// Each part of a value is replaced separately: García becomes the same other surname alone, in Ana García and in
// GARCÍA, ANA. The caller's Source decides whether draws are repeatable. A draw that equals the original, or a word
// that the caller wants to avoid, is repeated.
package surrogate

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/gazetteer"
)

// Source supplies the random numbers for surrogates.
type Source interface {
	// Draw returns random numbers for a part of a value. what is the kind of the part, nth its number among parts of
	// this kind, part its folded letters or digits; attempt counts draws that could not be used. They are valid until
	// the next call.
	Draw(what string, nth int, part []byte, attempt int) *rand.Rand
	// Avoid reports whether a folded word must not be written, because it is part of a value that is replaced.
	Avoid(word []byte) bool
}

// Writer writes surrogates. It has scratch space, so each worker needs its own.
type Writer struct {
	Source Source
	// Catalan says that replacements of names of unknown origin should be Catalan.
	Catalan bool
	// Accents says that places are written with accents. Names get accents if the original value has some.
	Accents bool

	catalan bool // the current home is
	inNote  bool // Begin was called

	lists *lists
	parts []part
	roles []role // of the parts of a person's name
	nth   int    // how many parts of the value have been drawn, surnames apart
	last  int    // how many surnames
	fold  []byte // of the current part
	name  []byte // what was drawn
	try   []byte // the same, folded
	after []byte // the person that a place is named after
	home  *home  // that the current run of places is moved to
	key   []byte // folded: what it is drawn by
	first site   // of the note, if it has begun
	towns []byte // folded, of the note, a line each
	used  []byte // folded words that the current surrogate has, a blank behind each
}

// NewWriter returns a writer that draws from s.
func NewWriter(s Source) *Writer { return &Writer{Source: s, Accents: true, lists: shipped()} }

// part is a word or number of a value; what stands between two stays.
type part struct {
	start, end int
	kind       partKind
	letters    int // of a word
}

type partKind uint8

const (
	word partKind = iota
	numeral
	comma
)

// take cuts a value into parts.
func (w *Writer) take(value []byte) {
	w.parts, w.nth, w.last, w.used = w.parts[:0], 0, 0, w.used[:0]
	for i := 0; i < len(value); {
		r, size := utf8.DecodeRune(value[i:])
		switch {
		case unicode.IsLetter(r):
			start, n := i, 0
			for i < len(value) && (unicode.IsLetter(r) || unicode.Is(unicode.Mn, r) || r == '·') {
				i += size
				n++
				r, size = utf8.DecodeRune(value[i:])
			}
			w.parts = append(w.parts, part{start, i, word, n})
			continue
		case r >= '0' && r <= '9':
			start := i
			for i < len(value) && value[i] >= '0' && value[i] <= '9' {
				i++
			}
			w.parts = append(w.parts, part{start, i, numeral, 0})
			continue
		case r == ',' || r == ';' || r == '\n':
			w.parts = append(w.parts, part{i, i + size, comma, 0})
		}
		i += size
	}
}

// folded returns the folded form of part p, valid until the next call.
func (w *Writer) folded(value []byte, p part) []byte {
	w.fold = gazetteer.Fold(w.fold[:0], value[p.start:p.end])
	return w.fold
}

// attempts is how often a surrogate is drawn before the value is given up.
const attempts = 40

// from draws an entry of a pool for the folded words, which is none of them
// and has no word that is to be avoided or stands in the surrogate already. nil if
// there is none; valid until the next call.
func (w *Writer) from(at pool, what string, original []byte) []byte {
	list := &w.lists.pools[at]
	if list.empty() {
		return nil
	}
	count := &w.nth
	if at.isSurname() {
		count = &w.last
	}
	*count++
	for attempt := range attempts {
		rng := w.Source.Draw(what, *count, original, attempt)
		w.name = list.of(w.name[:0], rng)
		if at.isSurname() && what == "called" && gazetteer.Default().Classes(original) == 0 {
			w.name = splice(w.name[:0], list.tail, rng) // what no list has for what none has
		}
		if at < towns && rng.IntN(slipsOne) == 0 {
			w.name = slip(w.name, rng)
		}
		if w.fits(original) {
			w.used = append(append(w.used, w.try...), ' ')
			return w.name
		}
	}
	return nil
}

// fits reports whether the drawn name may replace the original.
func (w *Writer) fits(original []byte) bool {
	w.try = gazetteer.Fold(w.try[:0], w.name)
	if bytes.Equal(w.try, original) {
		return false
	}
	for word := range bytes.SplitSeq(w.try, []byte{' '}) {
		if len(word) >= 3 && !generic(word) && (w.Source.Avoid(word) || w.has(word)) {
			return false
		}
	}
	return true
}

// has tells whether the current surrogate has a folded word.
func (w *Writer) has(word []byte) bool {
	for used := range bytes.SplitSeq(w.used, []byte{' '}) {
		if bytes.Equal(used, word) {
			return true
		}
	}
	return false
}

// slipsOne is the share of misspelt surrogates, one in that many: writers misspell names, and taggers miss those most.
const slipsOne = 140

// slip misspells a name: two letters change places, or one is left out or doubled.
func slip(name []byte, rng *rand.Rand) []byte {
	if len(name) < 5 {
		return name
	}
	i := 1 + rng.IntN(len(name)-3)
	if a, b := name[i], name[i+1]; a < 'a' || a > 'z' || b < 'a' || b > 'z' {
		return name
	}
	switch rng.IntN(3) {
	case 0:
		name[i], name[i+1] = name[i+1], name[i]
		return name
	case 1:
		return append(name[:i], name[i+1:]...)
	}
	return append(name[:i+1], name[i:]...)
}

// appendLike appends a name in the case of a word, capitals, small letters, or as the
// list has it, and with its accents or without.
func appendLike(dst, like, name []byte, accents bool) []byte {
	upper, lower := bytes.ContainsFunc(like, unicode.IsUpper), bytes.ContainsFunc(like, unicode.IsLower)
	for _, r := range string(name) {
		switch {
		case !upper:
			r = unicode.ToLower(r)
		case !lower && len(like) > 1:
			r = unicode.ToUpper(r)
		}
		if !accents && r >= 0xC0 {
			r = unaccented(r)
		}
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// unaccented returns the base letter of a letter with an accent, but of ñ and
// ç, which are letters of their own.
func unaccented(r rune) rune {
	if strings.ContainsRune("ñÑçÇ·", r) {
		return r
	}
	var in [utf8.UTFMax]byte
	var out [2 * utf8.UTFMax]byte
	plain, size := utf8.DecodeRune(gazetteer.Fold(out[:0], in[:utf8.EncodeRune(in[:], r)]))
	if size == 0 {
		return r
	}
	if unicode.IsUpper(r) {
		return unicode.ToUpper(plain)
	}
	return plain
}

func appendLower(dst, text []byte) []byte {
	for _, r := range string(text) {
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}

// HasAccents tells whether a text has a letter with an accent, other than ñ and ç.
func HasAccents(value []byte) bool {
	return bytes.ContainsFunc(value, func(r rune) bool { return r >= 0xC0 && unaccented(r) != r })
}
