package patterns

import (
	"encoding/binary"
	"math/bits"
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
	forDNI
	forSocial
	forCard
	forPostal
	forIBAN
	forPlate
	forCollegiate
	forRecord
	forPatient // with forRecord: the label has no other meaning
	everyday   // with a label: it is a common word as well
	forPassport
	forIP
	forDevice // IMEI, serial number, cadastral reference
	forHandle // name of an account: "instagram"
	forDate   // "fecha", "nacido"
	forAge    // "edad"

	// Dates, for the ages beside them. Dates themselves are read by models/dates.
	monthOf  // between day, month and year: "de", "del", "of"
	intoDate // before a date: "el", "desde", "on"
	joins    // between two days, months, years: "y", "al", "to"
	lately   // before a day or month: "pasado", "próximo"

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
	grows   // what a child does at an age: "camina", "vacunas"

	// Others.
	street
	town
	unit // what a quantity is measured in
	extension
)

// labels are the roles that make a number an identifier.
const labels = forTelephone | forDNI | forSocial | forCard | forPostal | forIBAN | forPlate |
	forCollegiate | forRecord | forPassport | forIP | forDevice | forHandle | forDate | forAge

// maxWord is the longest word of the lexicon, folded, in bytes.
const maxWord = 16

// word is a folded word: small letters without accents, the first in the low
// byte of lo, zeros behind the last.
type word struct{ lo, hi uint64 }

// set puts letter b at place n.
func (w *word) set(n int, b byte) {
	if n < 8 {
		w.lo |= uint64(b) << (8 * n)
	} else {
		w.hi |= uint64(b) << (8 * (n - 8))
	}
}

// len returns the number of letters.
func (w *word) len() int {
	if w.hi != 0 {
		return 8 + (bits.Len64(w.hi)+7)/8
	}
	return (bits.Len64(w.lo) + 7) / 8
}

// meaning is an entry of the lexicon.
type meaning struct {
	word   word
	roles  role
	number uint8 // 1-100
}

// is tells whether e is the entry of that word of at most eight letters.
func (e *meaning) is(name string) bool {
	rest := e.word.lo
	for k := range len(name) {
		if byte(rest) != name[k] {
			return false
		}
		rest >>= 8
	}
	return rest == 0
}

// lexicon is a hash table with open addressing. A Go map would do as well,
// but costs about 20 ns for a word that is not in it, which most are not: they
// end at the marks, which stay in the fastest cache.
var lexicon = newLexicon()

const lexiconBits = 12

type table struct {
	marks   [1 << lexiconBits]uint8 // 0 where there is no entry, else some bits of its hash
	entries [1 << lexiconBits]meaning
}

func (w *word) hash() (place uint32, mark uint8) {
	h := (w.lo ^ bits.RotateLeft64(w.hi, 29)) * 0x9E3779B97F4A7C15
	return uint32(h >> (64 - lexiconBits)), uint8(h>>32) | 1
}

// look returns what w means; the zero meaning if it is not known.
func (t *table) look(w word) *meaning {
	h, mark := w.hash()
	for t.marks[h] != 0 {
		if t.marks[h] == mark && t.entries[h].word == w {
			return &t.entries[h]
		}
		h = (h + 1) % uint32(len(t.marks))
	}
	return &unknown
}

// unknown is the meaning of a word that is not in the lexicon.
var unknown meaning

func (t *table) add(name string, roles role) *meaning {
	w, ok := fold([]byte(name))
	if !ok {
		panic("patterns: lexicon word " + name + " is too long")
	}
	e := t.look(w)
	if e == &unknown {
		h, mark := w.hash()
		for t.marks[h] != 0 {
			h = (h + 1) % uint32(len(t.marks))
		}
		t.marks[h] = mark
		e = &t.entries[h]
		e.word = w
	}
	e.roles |= roles
	return e
}

// fold returns the folded form of letters. It fails when the word is longer
// than any in the lexicon.
func fold(letters []byte) (w word, ok bool) {
	n := 0
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
		if n == maxWord {
			return word{}, false
		}
		w.set(n, b)
		n++
	}
	return w, n > 0
}

// latin is the base letter of U+00C0 to U+00FF.
const latin = "aaaaaaaceeeeiiiidnooooo?ouuuuy?saaaaaaaceeeeiiiidnooooo?ouuuuy?y"

// lettersOf returns the word of the ASCII letters text[i:j] of the note, at
// most eight of them, in one load where the text is long enough.
func (s *scan) lettersOf(i, j int) (w word) {
	if i+8 <= len(s.text) {
		w.lo = binary.LittleEndian.Uint64(s.text[i:]) | 0x2020202020202020
		w.lo &= 1<<(8*(j-i)) - 1 // all ones when j-i is 8
		return w
	}
	for k, b := range s.text[i:j] {
		w.set(k, b|0x20)
	}
	return w
}

// read is a word that was read, from a place on or up to it: around one number
// the same word is asked for by several patterns.
type read struct {
	place int // and one more: 0 is none
	other int // its other border
	*meaning
}

// wordFrom returns the end and the meaning of the word at i.
func (s *scan) wordFrom(i int) (end int, e *meaning) {
	if s.from.place != i+1 {
		end, e := s.readFrom(i)
		s.from = read{i + 1, end, e}
	}
	return s.from.other, s.from.meaning
}

// wordUpTo returns the start and the meaning of the word that ends at i.
func (s *scan) wordUpTo(i int) (start int, e *meaning) {
	if s.back.place != i+1 {
		start, e := s.readUpTo(i)
		s.back = read{i + 1, start, e}
	}
	return s.back.other, s.back.meaning
}

// readFrom reads the word at i and returns its end and meaning.
func (s *scan) readFrom(i int) (end int, e *meaning) {
	end = i
	for end < len(s.text) && isASCIILetter(s.text[end]) && end-i < 3*maxWord {
		end++
	}
	if end == len(s.text) || s.text[end] < utf8.RuneSelf {
		return end, s.lookUpASCII(i, end)
	}
	for end < len(s.text) && end-i < 3*maxWord {
		if isASCIILetter(s.text[end]) {
			end++
			continue
		}
		w := s.letterWidth(end)
		if w == 0 {
			break
		}
		end += w
	}
	return end, s.lookUp(i, end)
}

// lookUpASCII is lookUp for ASCII letters.
func (s *scan) lookUpASCII(i, j int) *meaning {
	switch n := j - i; {
	case n == 0 || n > maxWord:
		return &unknown
	case n <= 8:
		return lexicon.look(s.lettersOf(i, j))
	}
	w := s.lettersOf(i, i+8)
	w.hi = s.lettersOf(i+8, j).lo
	return lexicon.look(w)
}

func (s *scan) lookUp(i, j int) *meaning {
	w, ok := fold(s.text[i:j])
	if !ok {
		return &unknown
	}
	return lexicon.look(w)
}

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

// readUpTo reads the word that ends at i backwards and returns its start and
// meaning. Single letters with dots are one word (D.N.I.); a capital behind a
// small letter starts a word (NºCol).
func (s *scan) readUpTo(i int) (start int, e *meaning) {
	start = i
	for start > 0 && i-start < 3*maxWord && isASCIILetter(s.text[start-1]) {
		start--
		if isUpper(s.text[start]) && s.smallBefore(start) {
			return start, s.lookUpASCII(start, i)
		}
	}
	if b := s.byteAt(start - 1); b < utf8.RuneSelf && b != '.' {
		return start, s.lookUpASCII(start, i)
	}
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
// stops, numerals, folded to lower case.
type pairs [1 << 16 / 64]uint64

func (p *pairs) has(a, b byte) bool {
	k := uint(a|0x20)<<8 | uint(b|0x20)
	return p[k>>6]>>(k&63)&1 != 0
}

var opens = func() (p pairs) {
	for k := range lexicon.entries {
		e := &lexicon.entries[k]
		if e.roles&numeral != 0 && e.word.len() > 1 {
			k := uint(e.word.lo&0xFF)<<8 | uint(e.word.lo>>8&0xFF)
			p[k>>6] |= 1 << (k & 63)
		}
	}
	return p
}()

func newLexicon() *table {
	t := new(table)
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
	count(numerals, func(w string, n uint8) { t.add(w, numeral).number = n })
	for _, zero := range [...]string{"cero", "zero"} {
		t.add(zero, numeral)
	}
	return t
}
