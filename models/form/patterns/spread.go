package patterns

import (
	"strings"

	"github.com/velum-health/velum/models/form/control"
	"github.com/velum-health/velum/models/word/cut"
)

// Numbers are typed, pasted and dictated in pieces: 12 345 678 z, 6123-45678
// over a line end, 4539.1488.0343.6467, one blank a digit. What has a check
// digit is found in every such form; what has none needs a usual grouping or a
// label. VIGI has the usual forms only; the others are of the
// table of cmd/velum/torture_obfuscation_test.go.

// maxApart is how many signs and blanks may stand between two digits.
const maxApart = 4

// spread is a number as it is read over signs and blanks between its digits.
type spread struct {
	n       int                 // digits
	digit   [maxDigits + 1]byte // '0' to '9'
	at      [maxDigits + 1]int  // where digit k stands
	apart   int                 // how many gaps there are
	same    bool                // all gaps are written alike
	most    bool                // all but the first are
	lines   bool                // one of them has a line end
	dialled int                 // digits over the signs of a telephone number
}

// pieceFinder finds numbers that are written in pieces.
type pieceFinder struct{ *scan }

// spread reads the digits from i on.
func (s pieceFinder) spread(i int) (x spread) {
	x.same, x.most = true, true
	gapStart, gapEnd := 0, 0
	for x.n < len(x.digit) {
		for x.n < len(x.digit) {
			b := s.digitAt(i)
			if b == 0 {
				break
			}
			x.digit[x.n], x.at[x.n] = b, i
			x.n++
			i++
		}
		w := s.apart(i)
		if w == 0 {
			break
		}
		if x.apart > 0 && string(s.Text[i:i+w]) != string(s.Text[gapStart:gapEnd]) {
			x.same = false
			x.most = x.most && x.apart == 1
		}
		gapStart, gapEnd = i, i+w
		for _, b := range s.Text[i : i+w] {
			x.lines = x.lines || b == '\n'
			if x.dialled == 0 && !inTelephone[b] {
				x.dialled = x.n
			}
		}
		x.apart++
		i += w
	}
	if x.dialled == 0 {
		x.dialled = x.n
	}
	return x
}

// fourDigits tells whether spread would read four digits or more: most numbers
// are shorter.
func (s pieceFinder) fourDigits(n *num) bool {
	digits, i := n.end-n.start, n.end
	for digits < 4 {
		if s.digitAt(i) == 0 {
			w := s.apart(i)
			if w == 0 {
				return false
			}
			i += w
		}
		digits++
		i++
	}
	return true
}

// digitAt returns the digit at i, also one that was typed as a letter between
// two others: 6I2 34O. 0 if there is none.
func (s pieceFinder) digitAt(i int) byte {
	b := s.At(i)
	if cut.IsDigit(b) {
		return b
	}
	if !s.Digit(i + 1) {
		return 0
	}
	switch b {
	case 'O', 'o':
		return '0'
	case 'I', 'l', '|':
		return '1'
	}
	return 0
}

// apart returns the width of the signs at i that stand before another digit, 0
// if there are none or too many.
func (s pieceFinder) apart(i int) int {
	w := s.signs(i)
	if s.Digit(i + w) {
		return w
	}
	return 0
}

// signs returns the width of at most maxApart blanks, line ends and signs at i.
func (s *scan) signs(i int) int {
	at := i
	for range maxApart {
		at += s.signAt(at)
	}
	return at - i
}

// inValue are the signs that may stand inside a number.
var inValue = cut.SetOf(" \t\n\r.,-/_:;*()|\\'~#=")

// inTelephone are those of them that stand inside a telephone number.
var inTelephone = cut.SetOf("()-./ \t\xC2\xA0")

// signAt returns the width of a sign that may stand inside a number.
func (s *scan) signAt(i int) int {
	if inValue[s.At(i)] {
		return 1
	}
	if s.At(i) == 0xC2 && (s.At(i+1) == 0xA0 || s.At(i+1) == 0xB7) { // no-break space, middle dot
		return 2
	}
	return s.Dash(i)
}

// signsBefore is signs, backwards, for ASCII.
func (s *scan) signsBefore(i int) int {
	p := i
	for i-p < maxApart && inValue[s.At(p-1)] {
		p--
	}
	return i - p
}

// end returns the place behind digit n-1 if a piece ends there, else 0.
func (x *spread) end(n int) int {
	if x.n < n || x.at[n] == x.at[n-1]+1 {
		return 0
	}
	return x.at[n-1] + 1
}

// whole tells whether the first n digits stand together.
func (x *spread) whole(n int) bool { return x.at[n-1] == x.at[0]+n-1 }

// value returns digits i to j as a number.
func (x *spread) value(i, j int) (v int) {
	for _, b := range x.digit[i:j] {
		v = v*10 + int(b-'0')
	}
	return v
}

// pieces finds the identifiers that a number in pieces is. What is found as
// usual is found here again; the better score stays.
func (s pieceFinder) pieces(n *num) {
	if !s.fourDigits(n) {
		return
	}
	x := s.spread(n.start)
	s.nationalPieces(n, &x)
	if x.n < 7 {
		return
	}
	alone := !s.continues(n.start)
	s.identity(n, &x, alone)
	s.cifPieces(n, &x)
	s.social(n, &x)
	s.cardPieces(n, &x)
	if end := x.end(20); end > 0 && control.Account(x.digit[:20]) {
		s.add(n.start, end, iban, 0.9, true)
	}
	if alone {
		s.luhnPieces(n, &x)
	}
	s.telephone(n, &x, alone)
	if end := x.end(10); end > 0 {
		s.andalusian(n, end)
	}
}

// continues tells whether another digit stands before the signs before i, so
// that the digits from i on are the rest of a longer list.
func (s pieceFinder) continues(i int) bool {
	w := s.signsBefore(i)
	return s.Digit(i-w-1) && i-w != s.dateEnd
}

// checkBehind returns the end of the right check letter behind place i, over
// signs; 0 if none is there. A word may be glued to it behind a capital, and
// to any letter behind digits that stand together.
func (s pieceFinder) checkBehind(i, v int, together bool) int {
	p := i + s.signs(i)
	b := s.At(p)
	if b&^0x20 != control.Letter(v) {
		return 0
	}
	switch {
	case !s.AlnumAt(p + 1):
	case p == i && (cut.IsUpper(b) && !s.Upper(p+1) || together) && !s.Digit(p+1):
	default:
		return 0
	}
	return p + 1
}

// identity finds DNI, NIE and the NIF with K, L or M, also glued to a word: NIEX... With the
// right letter every form counts, with another one the usual forms. Pieces behind more digits count only with a letter in
// front (875/125 1-1-1 (12D is a dose, and one in 23 has the right letter).
func (s pieceFinder) identity(n *num, x *spread, alone bool) {
	p := n.start - s.signsBefore(n.start) - 1
	for _, digits := range [...]int{8, 7} {
		end := x.end(digits)
		if end == 0 {
			continue
		}
		start, together := n.start, x.whole(digits)
		v, foreign := control.NIE(s.At(p), x.value(0, digits))
		letter, loose := s.letterBehind(end)
		switch foreign = foreign && (p == n.start-1 || !s.AlnumBefore(p)); {
		case foreign:
			start = p
		case !together && !alone, digits == 7 && (!together || loose || n.glued):
			continue
		default:
			v = x.value(0, digits)
		}
		if last := s.checkBehind(end, v, together); last > 0 {
			s.add(start, last, dni, 0.9, true)
		} else if usual := together || x.lengths(8) == 233; usual && letter > 0 && !loose && !n.inner &&
			(foreign || digits == 8 && !n.glued) && strings.IndexByte(control.Letters, s.Text[letter-1]&^0x20) >= 0 {
			s.add(start, letter, dni, 0.6, false)
		}
		return
	}
}

// cifPieces finds a company's number, whose check is one of ten only: nothing
// else may touch it, unless a label does.
func (s pieceFinder) cifPieces(n *num, x *spread) {
	p := n.start - s.signsBefore(n.start) - 1
	first := s.At(p) &^ 0x20
	if !cut.IsLetter(first) || first == 'I' || first == 'O' || first == 'T' || first > 'W' || x.n < 7 {
		return
	}
	var d [8]byte
	copy(d[:7], x.digit[:7])
	end := x.end(8)
	if end > 0 {
		d[7] = x.digit[7]
	} else if end = x.end(7); end > 0 {
		p := end + s.signs(end)
		d[7] = s.At(p) &^ 0x20
		end = p + 1
	}
	if end == 0 || !control.CIF(d) {
		return
	}
	switch tight := p == n.start-1; {
	case s.context(p)&forDNI != 0:
	case s.AlnumBefore(p) && !s.startsWord(p), s.AlnumAt(end) && !x.whole(x.n):
		return
	case !s.Upper(p) && !(tight && x.apart == 0):
		return
	}
	s.add(p, end, dni, 0.9, true)
}

// startsWord tells whether a capital behind a small letter stands at i.
func (s pieceFinder) startsWord(i int) bool { return s.Upper(i) && s.SmallBefore(i) }

// social finds numbers of the Social Security: province (2), number (8, old ones 7) and
// check digits (2). With wrong ones they stand together or in these groups.
func (s pieceFinder) social(n *num, x *spread) {
	for _, digits := range [...]int{12, 11} {
		end := x.end(digits)
		if end == 0 || !province(x.value(0, 2)) {
			continue
		}
		lengths, whole := x.lengths(digits), x.whole(digits)
		switch {
		case control.Social(x.digit[:digits]):
			if digits == 12 || x.n == 11 && x.apart <= 2 && (x.value(0, 2) != 34 || x.digit[2] < '6') {
				s.add(n.start, end, socialID, 0.9, true)
				return
			}
		case n.inner || n.glued || !s.stops(end) || s.LetterAt(end) || s.measured(end):
		case x.same && lengths == 282, digits == 12 && lengths == 29:
			s.add(n.start, end, socialID, 0.8, false)
		case whole && digits == 12:
			s.add(n.start, end, socialID, 0.4, false)
		}
	}
}

// cardPieces finds the CIP of CatSalut, its letters apart or behind a label
// that touches them: G A P E 0..., TISGAPE0...
func (s pieceFinder) cardPieces(n *num, x *spread) {
	end := x.end(10)
	if end == 0 || !control.Born(x.digit[:]) {
		return
	}
	p := n.start - s.signsBefore(n.start)
	gap, start := 0, p
	for k := range 4 {
		if k == 1 && s.signAt(start-1) == 1 {
			gap = 1
		}
		if k > 0 {
			start -= gap
		}
		if !s.Letter(start - 1) {
			return
		}
		start--
	}
	_, word := s.wordUpTo(p)
	_, glued := s.wordUpTo(start)
	switch {
	case gap == 0 && word.roles != 0:
		return
	case s.AlnumBefore(start) && !s.startsWord(start) && glued.roles&(forCard|forPatient) == 0:
		return
	case p < n.start && (!s.Upper(start) || !s.Upper(p-1)) && s.context(start)&forCard == 0 && gap == 0:
		return
	}
	s.add(start, end, cardID, 0.9, gap > 0 || x.apart > 0) // a form is no check digit: only what is read over signs needs to win
}

// luhnPieces finds payment cards and the IMEI of devices. One number in ten
// passes the check (ISO/IEC 7812-1), so the issuer must be one, too; and the
// IMEI stands together, as 2-6-6-1, or behind its label.
func (s pieceFinder) luhnPieces(n *num, x *spread) {
	for _, digits := range [...]int{19, 18, 16, 15, 14, 13} {
		end := x.end(digits)
		if end == 0 || !control.Luhn(x.digit[:digits]) {
			continue
		}
		if control.Issued(x.value(0, 4), digits) {
			s.add(n.start, end, iban, 0.9, true)
			return
		}
		if digits == 15 && x.n == 15 && (x.apart == 0 || x.lengths(15) == 2661 || x.lines && x.apart == 1 || s.labelOf(n)&forDevice != 0) {
			s.add(n.start, end, iban, 0.85, true)
			return
		}
	}
}

// lengths returns how many of the first n digits stand in each piece, as decimal digits:
// 3222. A piece of ten digits or more counts as nine.
func (x *spread) lengths(n int) (v int) {
	run := 1
	for k := 1; k < min(n, x.n); k++ {
		if x.at[k] != x.at[k-1]+1 {
			v = v*10 + min(run, 9)
			run = 0
		}
		run++
	}
	return v*10 + min(run, 9)
}

// andalusian finds a NUHSA, AN and ten digits.
func (s pieceFinder) andalusian(n *num, end int) {
	p := n.start - s.signsBefore(n.start) - 2
	if s.At(p)&^0x20 != 'A' || s.At(p+1)&^0x20 != 'N' {
		return
	}
	tight := p == n.start-2
	if s.AlnumBefore(p) && !(tight && s.startsWord(p)) && s.context(p)&forCard == 0 || !tight && !s.Upper(p) {
		return
	}
	s.add(p, end, cardID, 0.85, false)
}

// nationalPieces finds the code of the national health system in pieces: eight
// B, two letters, six digits.
func (s pieceFinder) nationalPieces(n *num, x *spread) {
	end := x.end(6)
	p := n.start - s.signsBefore(n.start) - 2
	if end == 0 || !s.Letter(p) || !s.Letter(p+1) {
		return
	}
	p -= s.signsBefore(p)
	for range 8 {
		if s.signAt(p-1) == 1 {
			p -= s.signsBefore(p)
		}
		if s.At(p-1)|0x20 != 'b' {
			return
		}
		p--
	}
	s.add(p, end, cardID, 0.95, false)
}
