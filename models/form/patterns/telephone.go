package patterns

import (
	"bytes"
	_ "embed"
	"slices"
	"strconv"

	"github.com/velum-health/velum/models/word/cut"
)

// telephone finds numbers that no cue announces: the nine digits of a Spanish one, and
// those behind + or 00 and the code of a country. Those behind a cue are values (cue.go).
func (s pieceFinder) telephone(n *num, x *spread, alone bool) {
	end, score := 0, float32(0.9)
	switch {
	case n.inner:
	case s.At(n.start-1) == '+':
		if end = x.abroad(0); end == 0 {
			end = x.last(8, 15) // whatever the country
		}
	case n.dialled:
		if end = x.abroad(2); end == n.end { // digits alone
			score = 0.6
		}
	case s.At(n.start-1) == '(' && s.At(n.end) == ')' && x.lengths(10) == 334: // (415) 555-0132
		end, score = x.end(10), 0.6
	default:
		end, score = s.national(n, x, alone)
	}
	if end > 0 {
		s.addTelephone(n.start, end, score)
	}
}

// addTelephone adds a number with the + and the bracket before it, and with its extension.
func (s *scan) addTelephone(start, end int, score float32) {
	if s.At(start-1) == '+' {
		start--
	}
	if s.At(start-1) == '(' && bytes.IndexByte(s.Text[start:end], ')') > 0 {
		start--
	}
	s.add(start, s.withExtension(end), telephone, score, false)
}

// national reads a Spanish number: in one run, in the groups in which numbers are said, or
// over a line end; behind 34 in any groups. end is 0 if there is none.
func (s pieceFinder) national(n *num, x *spread, alone bool) (end int, score float32) {
	at := 0
	if x.value(0, 2) == 34 && (x.end(2) > 0 || x.whole(11)) {
		at = 2
	}
	end = x.end(at + 9)
	if end == 0 || x.digit[at] < '6' || s.measured(end) || s.LetterAt(end) && (x.apart > 0 || !s.Upper(end)) {
		return 0, 0
	}
	goesOn := !s.stopsTelephone(end)
	switch lengths := x.lengths(9); {
	case x.whole(9) && n.glued:
		if s.Lower(n.start-1) && s.SmallBefore(n.start-1) {
			return end, 0.75
		}
	case x.whole(9):
		switch {
		case goesOn:
		case x.digit[0] == '8':
			return end, 0.4
		default:
			return end, 0.55
		}
	case !alone || goesOn:
	case at > 0:
		return end, 0.8
	case x.most && slices.Contains(spoken, lengths), x.same && lengths == 111111111, x.lines && x.apart == 1:
		return end, 0.6
	}
	return 0, 0
}

// spoken are the groups in which the nine digits of a number are said: 3-2-2-2.
var spoken = []int{333, 3222, 2322, 36, 27, 234, 2223, 324, 63, 12222, 22221, 2232}

// stopsTelephone tells whether a number without label may end at j: one more
// group makes it a list of values.
func (s pieceFinder) stopsTelephone(j int) bool {
	if b := s.At(j); b == '-' || b == '/' || b == ',' {
		k := s.Digits(j + 1)
		return k == j+1 || k-j > 8 // another number of nine digits
	}
	if !s.stops(j) {
		return false
	}
	return !s.Digit(j + s.Space(j))
}

//go:embed calling.txt
var callingFile string

// calling has how many digits a number has behind the calling code of a country.
var calling = func() (t [1000]struct{ least, most uint8 }) {
	cut.Sections(callingFile, func(_, row []string) {
		var v [3]int
		for k, text := range row {
			v[k], _ = strconv.Atoi(text)
		}
		t[v[0]].least, t[v[0]].most = uint8(v[1]), uint8(v[2])
	})
	return t
}()

// abroad returns the end of the number of a country whose code begins with digit at, 0 if
// there is none: +33 6 12 34 56 78, 00 44 (0)20 7946 0958.
func (x *spread) abroad(at int) int {
	for code := 0; at < x.n && code < 100; {
		code = code*10 + x.value(at, at+1)
		at++
		c := calling[code]
		switch {
		case code == 0:
			return 0
		case c.least == 0:
			continue
		case x.digit[at] == '0': // the trunk prefix
			at++
		}
		if code == 34 && x.digit[at] < '6' {
			return 0
		}
		return x.last(at+int(c.least), at+int(c.most))
	}
	return 0
}

// last returns where the last piece ends that ends behind least to most digits, over the
// signs of a telephone number; 0 if none does.
func (x *spread) last(least, most int) int {
	for k := min(most, x.dialled); k >= least; k-- {
		if end := x.end(k); end > 0 {
			return end
		}
	}
	return 0
}

// onlySeparators tells whether a list of numbers goes on from i to j.
func (s *scan) onlySeparators(i, j int) bool {
	return len(bytes.Trim(s.Text[i:j], " /-,;\tyio")) == 0
}

// withExtension goes over "ext. 1234" behind a number that ends at j.
func (s *scan) withExtension(j int) int {
	p := s.Spaces(j)
	if b := s.At(p); b == ',' || b == '(' {
		p = s.Spaces(p + 1)
	}
	end, e := s.wordFrom(p)
	if !e.has(extension) {
		return j
	}
	for b := s.At(end); b == '.' || b == ':' || b == ' '; b = s.At(end) {
		end++
	}
	if k := s.Digits(end); k > end {
		return k
	}
	return j
}

// extensionNumber finds "ext. 123", too short for the rest.
func (s *scan) extensionNumber(n *num) {
	if n.end-n.start == 3 && !n.glued {
		if _, e := s.wordUpTo(s.punctuationBefore(n.start, max(n.start-4, 0))); e.has(extension) {
			s.add(n.start, n.end, telephone, 0.5, false)
		}
	}
}
