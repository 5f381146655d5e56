package patterns

import "github.com/velum-health/velum/models/word/cut"

// control is the check letter of a DNI or NIE: that of number mod 23.
const control = "TRWAGMYFPDXBNJZSQVHLCKE"

// checkLetter tells whether b may be a check letter, and whether it is the
// right one for v.
func checkLetter(b byte, v int) (possible, right bool) {
	b &^= 0x20
	for k := range len(control) {
		if control[k] == b {
			return true, k == v%23
		}
	}
	return false, false
}

// documentFinder finds the numbers of documents and accounts, and plates.
type documentFinder struct{ *scan }

// dni finds eight digits and a letter, with or without dots and blanks; seven
// behind a label or with the right letter; and none behind a label.
func (s documentFinder) dni(n *num) {
	if n.inner {
		return
	}
	end, v := s.dniDigits(n)
	labelled := s.labelOf(n)&forDNI != 0
	if end == 0 || n.glued && !labelled {
		return
	}
	full := v >= 10_000_000 || n.g.lens(1) == 8 || n.g.lens(3) == 233
	last, loose := s.letterBehind(end)
	if last > 0 {
		possible, right := checkLetter(s.Text[last-1], v)
		var score float32
		switch {
		case labelled && right:
			score = 1
		case labelled && possible:
			score = 0.9
		case right && full:
			score = 0.95
		case right && !loose:
			score = 0.75
		case possible && full && !loose:
			score = 0.6
		}
		if score > 0 {
			s.add(n.start, last, dni, score, right)
			return
		}
	}
}

// dniDigits reads the digits of a DNI; end is 0 if they have another form.
func (s documentFinder) dniDigits(n *num) (end, v int) {
	g := &n.g
	if l := g.lens(1); l == 8 || l == 7 {
		return g.end[0], s.Value(g.start[0], g.end[0])
	}
	if g.n >= 3 && g.sep[0] == g.sep[1] && g.sep[0] != '/' {
		if l := g.lens(3); l == 233 || l == 133 {
			return g.end[2], (s.Value(g.start[0], g.end[0])*1000+s.Value(g.start[1], g.end[1]))*1000 + s.Value(g.start[2], g.end[2])
		}
	}
	return 0, 0
}

// letterBehind returns the end of the single letter behind the digits that end
// at j: 12345678Z, 12345678-Z, 12345678 Z. loose means a blank, which asks for
// a capital.
func (s *scan) letterBehind(j int) (end int, loose bool) {
	p := j
	if b := s.At(p); b == '-' || b == '.' || b == '/' {
		p++
	}
	if w := s.Space(p); w > 0 {
		p += w
		loose = true
		if s.At(p) == '-' { // 12345678 - Z
			p++
			p += s.Space(p)
		}
	}
	b := s.At(p)
	if !cut.IsLetter(b) || loose && !cut.IsUpper(b) || s.AlnumAt(p+1) {
		return 0, false
	}
	return p + 1, loose
}

// foreigner finds NIE (X, Y, Z) and the NIF with K, L or M: letter, seven
// digits (old ones eight), letter; and the CIF of companies.
func (s documentFinder) foreigner(n *num) {
	start, first, loose := s.letterInFront(n.start)
	end, v := s.dniDigits(n)
	if start < 0 || end == 0 {
		return
	}
	labelled := s.context(start)&forDNI != 0
	var score float32
	switch k := int(first &^ 0x20); k {
	case 'X', 'Y', 'Z':
		if v < 10_000_000 {
			v += (k - 'X') * 10_000_000
		}
	case 'K', 'L', 'M':
	default:
		s.company(n, start, end, loose, labelled)
		return
	}
	last, apart := s.letterBehind(end)
	if last == 0 {
		return
	}
	possible, right := checkLetter(s.Text[last-1], v)
	loose = loose || apart
	switch {
	case right && labelled:
		score = 1
	case right:
		score = 0.95
	case possible && labelled:
		score = 0.9
	case possible && !loose:
		score = 0.7
	}
	if score > 0 {
		s.add(start, last, dni, score, right)
	}
}

// letterInFront returns the place of the single letter before the digits at i;
// -1 if there is none. loose means a blank between them.
func (s documentFinder) letterInFront(i int) (start int, b byte, loose bool) {
	p := i
	switch c := s.At(p - 1); {
	case c == '-' || c == '.':
		p--
	case c == ' ':
		p--
		loose = true
	}
	b = s.At(p - 1)
	if !cut.IsLetter(b) || s.AlnumBefore(p-1) || loose && !cut.IsUpper(b) {
		return -1, 0, false
	}
	return p - 1, b, loose
}

// company finds a CIF: a letter, seven digits and a check digit or letter.
func (s documentFinder) company(n *num, start, end int, loose, labelled bool) {
	first := s.Text[start] &^ 0x20
	if !labelled && loose || first == 'I' || first == 'O' || first == 'T' {
		return
	}
	var d [8]byte
	if s.digitsOf(d[:], n.start, end) == 7 {
		last, _ := s.letterBehind(end)
		if last == 0 || s.Text[last-1]&^0x20 > 'J' {
			return
		}
		d[7] = s.Text[last-1] &^ 0x20
		end = last
	}
	right := cifControl(d)
	switch {
	case s.AlnumAt(end) || !s.stops(end):
	case labelled && right:
		s.add(start, end, dni, 1, true)
	case labelled:
		s.add(start, end, dni, 0.85, false)
	case right && s.Upper(start):
		s.add(start, end, dni, 0.5, true)
	}
}

// cifControl tells whether d[7] is the control digit or letter of the seven
// digits: ten minus the last digit of the sum of the even places and of the
// digit sums of the doubled odd ones.
func cifControl(d [8]byte) bool {
	sum := 0
	for k, b := range d[:7] {
		v := int(b - '0')
		if k%2 == 0 {
			v *= 2
			v = v/10 + v%10
		}
		sum += v
	}
	c := (10 - sum%10) % 10
	return d[7] == byte('0'+c) || d[7] == "JABCDEFGHI"[c]
}

// passport finds the Spanish form: three letters and six digits.
func (s documentFinder) passport(n *num) {
	start := n.start - 3
	if start < 0 || n.end-n.start != 6 || n.inner || s.AlnumBefore(start) || !s.stops(n.end) || s.AlnumAt(n.end) {
		return
	}
	for _, b := range s.Text[start:n.start] {
		if !cut.IsLetter(b) {
			return
		}
	}
	if _, e := s.wordUpTo(n.start); e.roles&(labels|unit) == 0 {
		s.add(start, n.end, passport, 0.5, false)
	}
}
