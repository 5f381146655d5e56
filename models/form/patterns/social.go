package patterns

import "github.com/velum-health/velum/models/word/cut"

// social finds affiliation numbers of the Social Security: province (2),
// number (8, old ones 7), check digits (2), together or in groups.
func (s documentFinder) social(n *num) {
	if n.inner {
		return
	}
	labelled := s.labelOf(n)&forSocial != 0
	if n.glued && !labelled {
		return
	}
	g := &n.g
	end, form := 0, float32(0)
	switch {
	case g.lens(1) == 0 && n.end-n.start == 12, g.lens(1) == 0 && n.end-n.start == 11:
		end, form = n.end, 0.4
	case g.n >= 3 && g.lens(3) == 282 && g.sameSep(3), g.n >= 3 && g.lens(3) == 272 && g.sameSep(3):
		end, form = g.end[2], 0.8
	case g.n >= 2 && g.end[0]-g.start[0] == 2 && g.end[1]-g.start[1] == 10:
		end, form = g.end[1], 0.6
	case g.n >= 2 && g.end[0]-g.start[0] == 10 && g.end[1]-g.start[1] == 2:
		end, form = g.end[1], 0.5
	}
	if end > 0 && s.socialStops(end) {
		var d [13]byte
		digits := s.digitsOf(d[:], n.start, end)
		right := socialControl(d[:digits])
		known := province(d[0], d[1])
		switch {
		case labelled && right:
			s.add(n.start, end, socialID, 1, true)
		case labelled:
			s.add(n.start, end, socialID, 0.9, false)
		case right && (digits == 12 || form > 0.5):
			s.add(n.start, end, socialID, 0.9, true)
		case known && (digits == 12 && form >= 0.4 || form >= 0.6) && !s.measured(end):
			s.add(n.start, end, socialID, form, false)
		}
	}
}

func (s documentFinder) socialStops(j int) bool { return s.stops(j) && !s.LetterAt(j) }

// province tells whether the two digits are a code of the Social Security: 01
// to 53, or 66.
func province(a, b byte) bool {
	p := int(a-'0')*10 + int(b-'0')
	return p >= 1 && p <= 53 || p == 66
}

// socialControl tells whether the last two digits are the rest by 97 of those
// before. A number below ten million is joined to its province without its
// leading zero.
func socialControl(d []byte) bool {
	if len(d) != 12 && len(d) != 11 {
		return false
	}
	number := func(d []byte) (v int) {
		for _, b := range d {
			v = v*10 + int(b-'0')
		}
		return v
	}
	body := len(d) - 2
	p, v, c := number(d[:2]), number(d[2:body]), number(d[body:])
	if v < 10_000_000 {
		return (p*10_000_000+v)%97 == c
	}
	return (p*100_000_000+v)%97 == c
}

// card finds personal health card codes: the CIP of CatSalut (four letters of
// the surnames, sex, birth date, three digits), the national one
// (BBBBBBBBAB123456), Andalusia's NUHSA, and what stands behind a label.
func (s documentFinder) card(n *num) {
	if n.inner {
		return
	}
	if s.nationalCard(n) || s.catSalut(n) {
		return
	}
	start, end, digits := s.code(n)
	switch {
	case n.start-start == 2 && digits == 10 && string(s.Text[start:n.start]) == "AN":
		s.add(start, end, cardID, 0.85, false)
	case n.start-start == 3 && digits >= 9 && digits <= 12 && string(s.Text[start:n.start]) == "CYL":
		s.add(start, end, cardID, 0.85, false)
	}
}

// catSalut finds GAPE 0 800115 12 3 with or without blanks. There is no check
// digit: a sex and a birth date that can be stand for it in the score.
func (s documentFinder) catSalut(n *num) bool {
	p := n.start
	if b := s.At(p - 1); b == ' ' || b == '-' {
		p--
	}
	start := p
	for start > 0 && s.Letter(start-1) && p-start <= 4 {
		start--
	}
	if p-start != 4 || s.AlnumBefore(start) {
		return false
	}
	var d [10]byte
	k, digits := 0, 0
	for k < n.g.n && digits < 10 && n.g.sep[max(k-1, 0)] != '/' {
		digits += n.g.end[k] - n.g.start[k]
		k++
	}
	if digits != 10 {
		return false
	}
	end := n.g.end[k-1]
	s.digitsOf(d[:], n.start, end)
	possible := d[0] <= '1' && isMonth(two(d[3:])) && two(d[5:]) >= 1 && two(d[5:]) <= 31
	tight := p == n.start && k == 1
	_, e := s.wordUpTo(p)
	switch labelled := s.context(start)&forCard != 0; {
	case e.roles != 0 || !s.stops(end) || s.AlnumAt(end):
		return false
	case labelled && possible:
		s.add(start, end, cardID, 1, false)
	case labelled:
		s.add(start, end, cardID, 0.85, false)
	case possible && tight:
		s.add(start, end, cardID, 0.95, false)
	case possible && s.Upper(start) && s.Upper(start+3):
		s.add(start, end, cardID, 0.8, false)
	case tight && s.Upper(start) && s.Upper(start+3):
		s.add(start, end, cardID, 0.5, false)
	default:
		return false
	}
	return true
}

func two(d []byte) int   { return int(d[0]-'0')*10 + int(d[1]-'0') }
func isMonth(m int) bool { return m >= 1 && m <= 12 }

// nationalCard finds the code of the national health system.
func (s documentFinder) nationalCard(n *num) bool {
	start := n.start - 10
	if n.end-n.start != 6 || start < 0 || string(s.Text[start:start+8]) != "BBBBBBBB" ||
		!s.Upper(start+8) || !s.Upper(start+9) || s.AlnumBefore(start) || s.AlnumAt(n.end) {
		return false
	}
	s.add(start, n.end, cardID, 0.95, false)
	return true
}

// codeStart goes back from the digits at i over capitals, digits and single
// hyphens or slashes. A label that touches the digits (NHC12345) is no part of
// the code.
func (s documentFinder) codeStart(i int) int {
	p := i
	for p > 0 && i-p < 12 {
		switch b := s.Text[p-1]; {
		case cut.IsUpper(b) || cut.IsDigit(b):
			p--
			continue
		case (b == '-' || b == '/') && (s.Upper(p-2) || s.Digit(p-2)):
			p--
			continue
		}
		break
	}
	if p < i {
		if _, e := s.wordUpTo(i); e.roles&labels != 0 || s.AlnumBefore(p) {
			return i
		}
	}
	return p
}

// code reads the number as a code of capitals, digits and single signs; digits
// counts its digits.
func (s documentFinder) code(n *num) (start, end, digits int) {
	start = s.codeStart(n.start)
	for _, b := range s.Text[start:n.start] {
		if cut.IsDigit(b) {
			digits++
		}
	}
	end = n.start
	for at := n.start; at < len(s.Text) && at-n.start < 24; at++ {
		b := s.Text[at]
		switch {
		case cut.IsDigit(b):
			digits++
			end = at + 1
		case cut.IsUpper(b) && end == at && !s.Lower(at+1) && s.At(at+1) < 0x80:
			end = at + 1
		case (b == '-' || b == '/' || b == '.') && end == at && (s.Digit(at+1) || s.Upper(at+1) && !s.LetterAt(at+2)):
		default:
			return start, end, digits
		}
	}
	return start, end, digits
}
