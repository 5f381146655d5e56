package patterns

import (
	"bytes"
	_ "embed"
	"slices"
	"strconv"

	"github.com/velum-health/velum/models/word/cut"
)

// phoneFinder finds telephone numbers.
type phoneFinder struct{ *scan }

// telephone finds Spanish numbers of nine digits, alone or in groups,
// international ones, and whatever stands behind a label.
func (s phoneFinder) telephone(n *num) {
	if n.start < s.telephoneEnd {
		return
	}
	list := s.telephoneEnd >= 0 && n.start-s.telephoneEnd <= 5 && s.onlySeparators(s.telephoneEnd, n.start)
	if n.inner && !list {
		return
	}
	start, end, score := s.telephoneForm(n)
	label := s.labelOf(n)&forTelephone != 0 || list
	switch {
	case end == 0 && !label:
		return
	case end == 0:
		start, end, score = s.labelledTelephone(n)
		if end == 0 {
			return
		}
	case label:
		score += 0.35
	case n.glued || s.measured(end) || !s.stopsTelephone(end) || end > n.end && s.goesOn(n.start):
		return
	}
	end = s.withExtension(end)
	s.telephoneEnd = end
	s.add(start, end, telephone, score, false)
}

// onlySeparators tells whether a list of numbers goes on from i to j.
func (s *scan) onlySeparators(i, j int) bool {
	return len(bytes.Trim(s.Text[i:j], " /-,;\tyio")) == 0
}

// goesOn tells whether another group of digits that is no date stands before
// i, over a blank.
func (s phoneFinder) goesOn(i int) bool {
	p := i - s.SpaceBefore(i)
	return p < i && s.Digit(p-1) && p != s.dateEnd
}

// stopsTelephone tells whether a number without label may end at j: one more
// group makes it a list of values.
func (s phoneFinder) stopsTelephone(j int) bool {
	if b := s.At(j); b == '-' || b == '/' || b == ',' {
		k := s.Digits(j + 1)
		return k == j+1 || k-j > 8 // another number of nine digits
	}
	if !s.stops(j) {
		return false
	}
	return s.Space(j) == 0 || !s.Digit(j+s.Space(j))
}

// telephoneForm recognises the forms of table testdata/telephone.txt; end is 0
// if there is none.
func (s phoneFinder) telephoneForm(n *num) (start, end int, score float32) {
	g := &n.g
	start = n.start
	if s.At(start-1) == '+' {
		return s.international(n)
	}
	first := s.Value(n.start, min(n.end, n.start+4))
	switch {
	case n.dialled:
		return s.abroad(n)
	case n.end-n.start == 11 && s.Value(n.start, n.start+2) == 34 && s.subscriber(n.start+2):
		return start, n.end, 0.6
	case n.end-n.start == 2 && first == 34 && g.n > 1:
		if k := g.national(1); k > 0 && s.subscriber(g.start[1]) {
			return start, g.end[k-1], 0.6
		}
	}
	if s.At(start-1) == '(' && s.At(n.end) == ')' && n.end-n.start <= 5 {
		return s.bracketed(n)
	}
	k := g.national(0)
	if k == 0 || !s.subscriber(start) {
		return 0, 0, 0
	}
	end = g.end[k-1]
	switch {
	case k == 1 && s.Text[start] == '8':
		score = 0.4
	case k == 1:
		score = 0.55
	case !g.sameSep(k):
		score = 0.5
	case g.sep[0] == '.' && s.thousands(start, end):
		return 0, 0, 0
	default:
		score = 0.65
	}
	return start, end, score
}

// thousands tells whether text[i:j] is a round number with dots.
func (s phoneFinder) thousands(i, j int) bool { return j-i > 4 && string(s.Text[j-4:j]) == ".000" }

// subscriber tells whether a Spanish number can start with the digit at i.
func (s phoneFinder) subscriber(i int) bool { return s.At(i) >= '6' && s.Digit(i) }

// spoken are the groups in which the nine digits of a number are said: 3-2-2-2.
var spoken = []int{333, 3222, 2322, 36, 27, 234, 2223, 324, 63, 12222, 22221, 2232}

// national returns how many groups from the k-th make a Spanish number of nine
// digits, counted from group 0, or 0.
func (g *groups) national(k int) int {
	rest := groups{n: g.n - k}
	copy(rest.start[:], g.start[k:])
	copy(rest.end[:], g.end[k:])
	for m := 1; m <= min(rest.n, 5); m++ {
		if l := rest.lens(m); (l == 9 || slices.Contains(spoken, l)) && g.uniform(k, k+m) {
			return k + m
		}
	}
	return 0
}

// uniform tells whether groups k to m have one sign between them; a blank and
// another sign may set off the first.
func (g *groups) uniform(k, m int) bool {
	for i := k + 2; i < m-1; i++ {
		if g.sep[i] != g.sep[k+1] {
			return false
		}
	}
	return m-k < 3 || g.sep[k] == g.sep[k+1] || g.sep[k+1] == ' ' || g.sep[k] == ' '
}

// international reads +34 933 456 789, +34933456789, (+34) 93..., +44 (0) 20...
func (s phoneFinder) international(n *num) (start, end int, score float32) {
	start = n.start
	if s.At(start-1) == '+' {
		start--
	}
	if s.At(start-1) == '(' {
		start--
	}
	spanish := s.Value(n.start, min(n.end, n.start+2)) == 34
	digits, at := 0, n.start
	for range 8 {
		j := s.Digits(at)
		if j == at {
			break
		}
		digits += j - at
		end = j
		at = j
		for range 3 {
			switch b := s.At(at); {
			case b == ')' || b == '(' || b == '-' || b == '.':
				at++
			case s.Space(at) > 0:
				at += s.Space(at)
			}
		}
		if digits >= 12 || spanish && digits >= 11 {
			break
		}
	}
	if digits < 8 || digits > 15 {
		return 0, 0, 0
	}
	return start, end, 0.9
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

// abroad reads 00, the calling code of a country and as many digits as a number of
// that country has, whatever signs stand between: 0033612345678, 00 44 (0)20 7946
// 0958, (0049) 30 901820.
func (s phoneFinder) abroad(n *num) (start, end int, score float32) {
	code, national, least, most := 0, 0, 0, 0
	at, first := n.start+2, byte(0)
	for range 9 {
		for ; s.Digit(at); at++ {
			switch b := s.Text[at]; {
			case least > 0 && national == 0 && b == '0': // the trunk prefix, (0)
			case least > 0:
				if national == 0 {
					first = b
				}
				national++
			case code == 0 && b == '0', code > 99:
				return 0, 0, 0
			default:
				code = code*10 + int(b-'0')
				least, most = int(calling[code].least), int(calling[code].most)
			}
		}
		if national > most {
			break
		}
		if least > 0 && national >= least {
			end = at
		}
		for range 3 {
			if b := s.At(at); b == ')' || b == '(' || b == '-' || b == '.' || b == '/' {
				at++
			} else {
				at += s.Space(at)
			}
		}
		if !s.Digit(at) {
			break
		}
	}
	if end == 0 || (code == 1 || code == 34) && first < '2' || code == 34 && first < '6' {
		return 0, 0, 0
	}
	start = n.start
	if s.At(start-1) == '(' && bytes.IndexByte(s.Text[start:end], ')') > 0 {
		start--
	}
	if end == n.end { // digits alone
		return start, end, 0.6
	}
	return start, end, 0.9
}

// bracketed reads (93) 345 67 89.
func (s phoneFinder) bracketed(n *num) (start, end int, score float32) {
	area := n.end - n.start
	if area < 2 || area > 5 {
		return 0, 0, 0
	}
	g := s.group(s.Spaces(n.end + 1))
	if area == 3 && g.lens(min(g.n, 2)) == 34 && g.sep[0] == '-' { // (415) 555-0132
		return n.start - 1, g.end[1], 0.6
	}
	for k, digits := 0, area; k < min(g.n, 4); k++ {
		digits += g.end[k] - g.start[k]
		if digits == 9 && s.subscriber(n.start) {
			return n.start - 1, g.end[k], 0.75
		}
		if digits > 9 && digits <= 11 && k == g.n-1 && s.labelOf(n)&forTelephone != 0 {
			return n.start - 1, g.end[k], 0.5
		}
	}
	return 0, 0, 0
}

// labelledTelephone reads any number of four to fifteen digits: foreign ones,
// extensions, numbers with a digit too few.
func (s phoneFinder) labelledTelephone(n *num) (start, end int, score float32) {
	g := &n.g
	digits, k := 0, 0
	for k < g.n && digits+g.end[k]-g.start[k] <= 11 {
		digits += g.end[k] - g.start[k]
		k++
		if digits >= 9 || g.sep[k-1] == '/' {
			break
		}
	}
	if k == 0 || digits < 4 || s.measured(g.end[k-1]) || s.At(g.end[k-1]) == ',' && !s.stops(g.end[k-1]) {
		return 0, 0, 0
	}
	return n.start, g.end[k-1], 0.5 + 0.03*float32(min(digits, 9))
}

// withExtension goes over "ext. 1234" behind a number that ends at j.
func (s phoneFinder) withExtension(j int) int {
	p := s.Spaces(j)
	if b := s.At(p); b == ',' || b == '(' || b == '-' {
		p = s.Spaces(p + 1)
	}
	end, e := s.wordFrom(p)
	if !e.has(extension) {
		return j
	}
	for b := s.At(end); b == '.' || b == ':' || b == ' '; b = s.At(end) {
		end++
	}
	if k := s.Digits(end); k > end && k-end <= 6 {
		return k
	}
	return j
}

// extensionNumber finds "ext. 123", too short for the rest.
func (s phoneFinder) extensionNumber(n *num) {
	if n.g.total() == 3 && n.g.n == 1 && !n.inner && !n.glued && s.stops(n.end) {
		if _, e := s.wordUpTo(s.punctuationBefore(n.start, max(n.start-4, 0))); e.has(extension) && !s.measured(n.end) {
			s.add(n.start, n.end, telephone, 0.5, false)
		}
	}
}
