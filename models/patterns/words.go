package patterns

import (
	"strings"
	"unicode/utf8"
)

// role is what a word says about the number beside it. A word may have
// several.
type role uint64

const (
	filler role = 1 << iota // says nothing, may stand between a label and its number

	// Labels: the number behind them is of a kind.
	forTelephone
	forFax
	forDNI
	forSocial
	forCard
	forPostal
	forIBAN
	forPlate
	forCollegiate
	forRecord
	forPatient // with forRecord: the label has no other meaning
	forPassport
	forIP
	forDate // "fecha", "nacido"
	forAge  // "edad"

	// Dates.
	month     // value 1-12
	shortName // an abbreviation of a month
	alsoWord  // a month's name that is a common word or unit too
	weekday
	monthOf  // between day, month and year: "de", "del", "of"
	ordinal  // behind a day: "1er", "3rd"
	intoDate // before a date: "el", "desde", "on"
	joins    // between two days, months, years: "y", "al", "to"
	yearWord // "año"

	// Ages.
	years
	months
	weeks
	days
	person  // "varón", "paciente"
	numeral // a written-out number, value 0-100
	lasts   // before a duration: "hace", "durante", "evolución"
	lasted  // behind a duration: "evolución", "después"
	ageOf   // between years and "edad", or person and age: "de", "con"
	aged    // behind an age: "edad", "old", "vida"
	oldWord // English "old"
	half    // "medio"

	// Others.
	street
	namedAfter // what may be named after a day: "hospital"
	town
	unit // what a quantity is measured in
	extension
)

// labels are the roles that make a number an identifier.
const labels = forTelephone | forFax | forDNI | forSocial | forCard | forPostal | forIBAN | forPlate |
	forCollegiate | forRecord | forPassport | forIP | forDate | forAge

// maxWord is the longest word of the lexicon, folded, in bytes.
const maxWord = 16

// word is a folded word: lower case, without accents.
type word struct {
	letters [maxWord]byte
	n       uint8
}

// meaning is an entry of the lexicon.
type meaning struct {
	word   word
	month  uint8 // 1-12
	number uint8 // 1-100
	roles  role
}

// is tells whether e is the entry of that word.
func (e *meaning) is(name string) bool { return string(e.word.letters[:e.word.n]) == name }

// lexicon is a hash table with open addressing. A Go map would do as well,
// but costs about 20 ns for a word that is not in it, which most are not.
var lexicon = newLexicon()

const lexiconBits = 11

type table [1 << lexiconBits]meaning

func (w *word) hash() uint32 {
	h := uint32(2166136261)
	for _, b := range w.letters[:w.n] {
		h = (h ^ uint32(b)) * 16777619
	}
	return h >> (32 - lexiconBits)
}

// look returns what w means; the zero meaning if it is not known.
func (t *table) look(w *word) *meaning {
	h := w.hash()
	for t[h].roles != 0 && t[h].word != *w {
		h = (h + 1) % uint32(len(t))
	}
	return &t[h]
}

func (t *table) add(name string, roles role) *meaning {
	var w word
	if !w.fold([]byte(name)) {
		panic("patterns: lexicon word " + name + " is too long")
	}
	e := t.look(&w)
	e.word = w
	e.roles |= roles
	return e
}

// fold sets w to the folded form of letters. It fails when the word is longer
// than any in the lexicon.
func (w *word) fold(letters []byte) bool {
	*w = word{}
	for i := 0; i < len(letters); {
		b := letters[i]
		i++
		switch {
		case b < utf8.RuneSelf:
			if !isASCIILetter(b) {
				continue // the dots of D.N.I.
			}
			b |= 0x20
		case b == 0xC3 && i < len(letters): // À to ÿ
			b = latin[letters[i]&0x3F]
			i++
		case b == 0xC2 && i < len(letters): // º and ª; the dot of "col·legiat" goes
			b = letters[i]
			i++
			switch b {
			case 0xBA, 0xB0:
				b = 'o'
			case 0xAA:
				b = 'a'
			default:
				continue
			}
		case b == 0xCC || b == 0xCD: // combining accents go
			i++
			continue
		default:
			_, size := utf8.DecodeRune(letters[i-1:])
			i += size - 1
			b = '?'
			if size == 2 && letters[i-2] == 0xC5 && letters[i-1] == 0x80 {
				b = 'l' // ŀ
			}
		}
		if w.n == maxWord {
			return false
		}
		w.letters[w.n] = b
		w.n++
	}
	return true
}

// latin is the base letter of U+00C0 to U+00FF.
const latin = "aaaaaaaceeeeiiiidnooooo?ouuuuy?saaaaaaaceeeeiiiidnooooo?ouuuuy?y"

// wordFrom reads the word at i and returns its end and meaning.
func (s *scan) wordFrom(i int) (end int, e *meaning) {
	end = i
	for end < len(s.text) && end-i < 3*maxWord {
		b := s.text[end]
		if isASCIILetter(b) {
			end++
			continue
		}
		w := s.letterWidth(end)
		if w == 0 {
			break
		}
		end += w
	}
	var w word
	if end == i || !w.fold(s.text[i:end]) {
		return end, &unknown
	}
	return end, lexicon.look(&w)
}

// unknown is the meaning of a word that is not in the lexicon.
var unknown meaning

// letterWidth returns the bytes of the letter beyond ASCII at i, 0 if there is
// none. The middle dot of Catalan counts inside a word.
func (s *scan) letterWidth(i int) int {
	if s.byteAt(i) < utf8.RuneSelf {
		return 0
	}
	if s.text[i] == 0xC2 && s.byteAt(i+1) == 0xB7 && s.letterBefore(i) && s.letterAt(i+2) {
		return 2
	}
	r, size := utf8.DecodeRune(s.text[i:])
	if s.letterAt(i) || r >= 0x300 && r < 0x370 {
		return size
	}
	return 0
}

// wordUpTo reads the word that ends at i backwards and returns its start and
// meaning. Single letters with dots are one word (D.N.I.); a capital behind a
// small letter starts a word (NºCol).
func (s *scan) wordUpTo(i int) (start int, e *meaning) {
	start = i
	for start > 0 && i-start < 3*maxWord {
		b := s.text[start-1]
		switch {
		case isASCIILetter(b):
			start--
			if isUpper(b) && s.smallBefore(start) {
				return start, s.lookUp(start, i)
			}
		case b >= utf8.RuneSelf:
			r, size := utf8.DecodeLastRune(s.text[:start])
			if r == 'º' || r == 'ª' || r == '°' || r >= 0x300 && r < 0x370 || s.letterBefore(start) ||
				r == '·' && s.letterBefore(start-size) {
				start -= size
				continue
			}
			return start, s.lookUp(start, i)
		case b == '.' && start < i && s.dotted(start):
			start--
		default:
			return start, s.lookUp(start, i)
		}
	}
	return start, s.lookUp(start, i)
}

// dotted tells whether the dot before start joins single letters: the letter
// at start stands alone, and so does the one before the dot.
func (s *scan) dotted(start int) bool {
	return !isASCIILetter(s.byteAt(start+1)) && isASCIILetter(s.byteAt(start-2)) && !s.wordBefore(start-2)
}

// smallBefore tells whether a small letter, º or ª ends at i.
func (s *scan) smallBefore(i int) bool {
	b := s.byteAt(i - 1)
	if b == 0xBA || b == 0xAA {
		return s.byteAt(i-2) == 0xC2
	}
	return isLower(b)
}

func (s *scan) lookUp(i, j int) *meaning {
	var w word
	if i == j || !w.fold(s.text[i:j]) {
		return &unknown
	}
	return lexicon.look(&w)
}

// context returns the label that the number at i stands behind, over fillers
// and punctuation, within its line: at most six words and 64 bytes.
func (s *scan) context(i int) role {
	floor := max(i-64, 0)
	for range 6 {
		p := s.punctuationBefore(i, floor)
		if p <= floor {
			return 0
		}
		start, e := s.wordUpTo(p)
		if e.roles&labels != 0 {
			return e.roles
		}
		if e.roles&filler == 0 || start == p {
			return 0
		}
		i = start
	}
	return 0
}

// punctuationBefore skips what may stand between a label and its number.
func (s *scan) punctuationBefore(i, floor int) int {
	for i > floor {
		switch s.text[i-1] {
		case ' ', '\t', '.', ':', '-', '(', ')', '#', '=', '/', '\'', '"', ',', '*', '_', '[', '|', '+', '>':
			i--
		case 0xA0:
			if s.byteAt(i-2) != 0xC2 {
				return i
			}
			i -= 2
		default:
			return i
		}
	}
	return i
}

// pairs is the set of first two letters of the words at which the scanner
// stops, months and numerals, folded to lower case.
type pairs [1 << 16 / 64]uint64

func (p *pairs) has(a, b byte) bool {
	k := uint(a|0x20)<<8 | uint(b|0x20)
	return p[k>>6]>>(k&63)&1 != 0
}

var opens = func() (p pairs) {
	for _, e := range lexicon {
		if (e.roles&numeral != 0 || e.roles&(month|shortName) == month) && e.word.n > 1 {
			k := uint(e.word.letters[0]|0x20)<<8 | uint(e.word.letters[1]|0x20)
			p[k>>6] |= 1 << (k & 63)
		}
	}
	return p
}()

func newLexicon() (t table) {
	for _, l := range vocabulary {
		for w := range strings.FieldsSeq(l.words) {
			t.add(w, l.roles)
		}
	}
	count := func(lines []string, set func(name string, n uint8)) {
		for _, line := range lines {
			for n, names := range strings.Split(line, "|") {
				for w := range strings.FieldsSeq(names) {
					set(w, uint8(n+1))
				}
			}
		}
	}
	count(monthNames, func(w string, n uint8) { t.add(w, month).month = n })
	count(monthAbbreviations, func(w string, n uint8) { t.add(w, month|shortName).month = n })
	count(numerals, func(w string, n uint8) { t.add(w, numeral).number = n })
	// The months whose name and abbreviation are one word: "may".
	t.add("may", 0).roles &^= shortName
	return t
}
