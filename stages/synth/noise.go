package synth

import (
	"unicode/utf8"
)

// style is how one writer writes one note.
type style struct {
	letters   letterCase
	names     letterCase // of persons and places
	separator int        // index in separators
	accents   accents
	point     byte  // decimal point or comma
	tight     uint8 // of 16 blanks behind punctuation, how many are left out
	typos     int   // letters between two misspellings; 0 is none
	glued     int   // blanks between two that are left out; 0 is none
}

type letterCase uint8

const (
	asWritten letterCase = iota
	sentences            // a capital after a full stop
	lower
	upper
	random // changes from clause to clause
)

type accents uint8

const (
	allAccents accents = iota
	someAccents
	noAccents
)

// A style draws one entry of each of these lists; all entries are equally likely. The habits are those of BOOT appendix
// B: random capitals, words glued to punctuation, missing accents.
var (
	letterHabits = "1111111002222334" // of letterCase
	nameHabits   = "0000000000223"    // of letterCase
	accentHabits = "0000011222"       // of accents
	tightHabits  = []uint8{0, 0, 0, 0, 0, 0, 0, 0, 4, 6, 10, 16}
	typoHabits   = []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 160, 160, 160, 90, 90, 35}
	gluedHabits  = []int{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 60, 25}
)

// digit is one of some digits.
func (m *maker) digit(of string) byte { return of[m.below(len(of))] - '0' }

func noteStyle(m *maker) style {
	return style{
		letters:   letterCase(m.digit(letterHabits)),
		names:     letterCase(m.digit(nameHabits)),
		separator: m.below(len(separators)),
		accents:   accents(m.digit(accentHabits)),
		point:     ".,,."[m.below(4)],
		tight:     tightHabits[m.below(len(tightHabits))],
		typos:     typoHabits[m.below(len(typoHabits))],
		glued:     gluedHabits[m.below(len(gluedHabits))],
	}
}

// reportStyle is tidier: reports are printed and sent to others.
func reportStyle(m *maker) style {
	s := style{letters: sentences, accents: accents(m.digit(accentHabits)), point: ",."[m.below(2)]}
	if m.below(8) == 0 {
		s.letters = upper
	}
	if m.below(4) == 0 {
		s.typos = 400
	}
	return s
}

// rough copies a clean note and adds the writer's mistakes: letter case, accents, blanks, misspellings.
type rough struct {
	m         *maker
	in        []byte
	at        int // in in
	letters   letterCase
	next      int // span that begins or ends next
	inside    bool
	protected bool
	capital   bool // the next letter begins a sentence
	typo      int  // letters left until a misspelling
	glue      int  // blanks left until one is left out
}

// roughen writes m.out and m.gold from m.text and m.spans.
func (m *maker) roughen() {
	m.out, m.gold = m.out[:0], m.gold[:0]
	for len(m.text) > 0 && (m.text[len(m.text)-1] == ' ' || m.text[len(m.text)-1] == '\n') {
		m.text = m.text[:len(m.text)-1]
	}
	r := rough{m: m, in: m.text, letters: m.style.letters, capital: m.style.letters == sentences}
	r.typo, r.glue = r.wait(m.style.typos), r.wait(m.style.glued)
	if r.letters == random {
		r.letters = letterCase(m.below(int(random)))
	}
	for r.at < len(r.in) {
		r.borders()
		c := r.in[r.at]
		switch {
		case c == ' ' || c == '\n':
			r.blank(c)
		case c >= utf8.RuneSelf || isLetter(c):
			r.letter(c)
		default:
			r.m.out = append(r.m.out, c)
			r.at++
			if c > ' ' && c != '(' && c != '"' && c != '-' {
				r.capital = r.capital && !(c >= '0' && c <= '9') || (c == '.' || c == '?') && m.style.letters == sentences
			}
		}
	}
	r.borders()
}

// wait draws after how many opportunities the next mistake comes; -1 is never.
func (r *rough) wait(mean int) int {
	if mean == 0 {
		return -1
	}
	return 1 + r.m.below(2*mean)
}

// borders opens and closes the gold spans that begin or end here.
func (r *rough) borders() {
	m := r.m
	if r.inside && int(m.spans[r.next].End) == r.at {
		m.gold[len(m.gold)-1].End = int32(len(m.out))
		r.inside, r.protected = false, false
		r.next++
	}
	if !r.inside && r.next < len(m.spans) && int(m.spans[r.next].Start) == r.at {
		s := m.spans[r.next]
		r.inside, r.protected = true, protected(s.Category)
		s.Start = int32(len(m.out))
		m.gold = append(m.gold, s)
	}
}

// blank copies, or leaves out, a blank or new line.
func (r *rough) blank(c byte) {
	r.at++
	m := r.m
	before := byte(0)
	if len(m.out) > 0 {
		before = m.out[len(m.out)-1]
	}
	punctuated := before == '.' || before == ',' || before == ';' || before == ':'
	if c == '\n' {
		r.capital = r.m.style.letters == sentences
	}
	if m.style.letters == random && (punctuated || c == '\n') {
		r.letters = letterCase(m.below(int(random)))
	}
	if c == ' ' && punctuated && m.style.tight > 0 && m.below(16) < int(m.style.tight) && !isDigit(r.peek()) {
		return
	}
	if c == ' ' && r.glue > 0 && !punctuated {
		if r.glue--; r.glue == 0 {
			r.glue = r.wait(m.style.glued)
			return
		}
	}
	m.out = append(m.out, c)
}

func (r *rough) peek() byte {
	if r.at < len(r.in) {
		return r.in[r.at]
	}
	return 0
}

// letter copies a letter in the note's case, with or without its accent, or
// misspells it.
func (r *rough) letter(c byte) {
	m := r.m
	if c >= utf8.RuneSelf {
		r.accented()
		return
	}
	r.at++
	if r.typo > 0 && !r.protected {
		if r.typo--; r.typo == 0 {
			if r.misspell(c) {
				r.typo = r.wait(m.style.typos)
				return
			}
			r.typo = 1
		}
	}
	m.out = append(m.out, r.cased(c))
	r.capital = false
}

// misspell writes a wrong letter for c, which stands before r.at, if c is
// inside a word.
func (r *rough) misspell(c byte) bool {
	m := r.m
	n := len(m.out)
	if n == 0 || !isLetter(m.out[n-1]) || !isLetter(r.peek()) || r.inside && r.at-1 == int(m.spans[r.next].Start) {
		return false
	}
	switch x := m.below(10); {
	case x < 3: // left out
	case x < 5: // said twice
		m.out = append(m.out, r.cased(c), r.cased(c))
	case x < 8 && !r.borderAt(r.at) && !r.borderAt(r.at+1): // exchanged with the next one
		m.out = append(m.out, r.cased(r.in[r.at]), r.cased(c))
		r.at++
	default:
		m.out = append(m.out, r.cased(soundsLike(c)))
	}
	return true
}

// borderAt tells whether a gold span begins or ends at byte i of the note.
func (r *rough) borderAt(i int) bool {
	s := r.m.spans
	return r.next < len(s) && (int(s[r.next].Start) == i || int(s[r.next].End) == i)
}

// soundsLike returns a letter that people write in place of c, or one beside
// it on the keyboard.
func soundsLike(c byte) byte {
	const from, to = "bvszcxgjyieaounmhlrtdpkqfw", "vbzsssjgiyieuomnjktrfoqkge"
	for i := range from {
		if from[i] == c|0x20 {
			return to[i]&^0x20&^^(c|0xDF) | c&0x20
		}
	}
	return c
}

// accented copies a letter beyond ASCII. Those of Latin-1 take two bytes, and
// their capitals differ in one bit.
func (r *rough) accented() {
	m := r.m
	_, n := utf8.DecodeRune(r.in[r.at:])
	c := r.in[r.at : r.at+n]
	r.at += n
	if n == 2 && c[0] == 0xC3 && !r.protected {
		base := latin1[c[1]&0x3F]
		if base != 0 && (m.style.accents == noAccents || m.style.accents == someAccents && m.below(3) == 0) {
			m.out = append(m.out, r.cased(base))
			r.capital = false
			return
		}
		second := c[1]
		isSmall := second >= 0xA0 && second != 0xB7 && second != 0xBF
		isLarge := second >= 0x80 && second < 0x9F && second != 0x97
		if isSmall && (r.caseHere() == upper || r.capital) {
			second -= 0x20
		} else if isLarge && r.caseHere() == lower && !r.capital {
			second += 0x20
		}
		m.out = append(m.out, 0xC3, second)
		r.capital = false
		return
	}
	m.out = append(m.out, c...)
}

// latin1 holds the letters without accents of U+00C0 to U+00FF.
var latin1 = func() (table [64]byte) {
	for base, letters := range map[byte]string{'a': "àáâä", 'e': "èéêë", 'i': "ìíîï", 'o': "òóôö", 'u': "ùúûü", 'n': "ñ", 'c': "ç"} {
		for _, r := range letters {
			table[r-0xC0] = base
			table[r-0xE0] = base - 0x20
		}
	}
	return table
}()

// caseHere is the case that the note asks for at this place.
func (r *rough) caseHere() letterCase {
	if r.inside && r.m.style.names != asWritten && r.letters != upper {
		if c := r.m.spans[r.next].Category; c == categoryPerson || c == categoryLocation {
			return r.m.style.names
		}
	}
	return r.letters
}

// cased returns an ASCII letter in the case that the note asks for.
func (r *rough) cased(c byte) byte {
	if r.protected {
		return c
	}
	switch r.caseHere() {
	case upper:
		return c &^ 0x20
	case lower:
		return c | 0x20
	}
	if r.capital {
		return c &^ 0x20
	}
	return c
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
