package patterns

// num is a number in the text: the first run of digits and what was asked
// about it so far.
type num struct {
	start, end int  // the first run
	inner      bool // digits and one of . , / - : stand before it
	glued      bool // a letter touches it from the left
	label      role
	labelled   bool // label was asked for
	dialled    bool // it begins with 00
}

// number looks at the run of digits that starts at i and returns where to go
// on.
func (s *scan) number(i int) int {
	j := s.Digits(i)
	if j-i > maxDigits {
		return j
	}
	nets, documents := netFinder{s}, documentFinder{s}
	n := num{start: i, end: j, inner: s.inner(i), glued: s.LetterBefore(i), dialled: s.At(i) == '0' && s.At(i+1) == '0'}
	if end := s.date(&n); end > 0 {
		return end
	}
	ageFinder{s}.ageInDigits(&n)
	documents.account(&n)
	cueFinder{s}.cued(&n)
	pieceFinder{s}.pieces(&n)
	if !(pieceFinder{s}).fourDigits(&n) {
		s.extensionNumber(&n)
		return j
	}
	nets.ip(&n)
	documents.lettered(&n)
	documents.postal(&n)
	documents.plate(&n)
	return j
}

// inner tells whether the digits at i go on a number: 1.234, 12/03, 10:30.
func (s *scan) inner(i int) bool {
	switch s.At(i - 1) {
	case '.', ',', '/', '-', ':':
		return s.Digit(i - 2)
	}
	return false
}

// labelOf returns the roles of the label before n.
func (s *scan) labelOf(n *num) role {
	if !n.labelled {
		n.label, n.labelled = s.context(n.start), true
	}
	return n.label
}

// stops tells whether a number may end at j: no digit follows, not even
// behind one of . , / - :.
func (s *scan) stops(j int) bool {
	switch b := s.At(j); {
	case b == '.' || b == ',' || b == '/' || b == '-' || b == ':':
		return !s.Digit(j + 1)
	}
	return true
}

// measured tells whether a unit follows at j: "mg", "%", "°C".
func (s *scan) measured(j int) bool {
	p := s.Spaces(j)
	switch s.At(p) {
	case '%', 0xCE: // per cent; Greek, as in µg written with mu
		return true
	case 0xC2:
		switch s.At(p + 1) {
		case 0xB0, 0xBA, 0xB5: // °, º, µ
			return true
		}
	case '/':
		return s.LetterAt(p + 1)
	}
	_, e := s.wordFrom(p)
	return e.has(unit)
}

// near returns the meaning of the word directly before i, over blanks only,
// and where it starts.
func (s *scan) near(i int) (start int, e *meaning) {
	return s.wordUpTo(s.SpacesBefore(i))
}
