package patterns

import (
	"slices"
	"strings"

	"github.com/velum-health/velum/models/form/control"
	"github.com/velum-health/velum/models/word/cut"
)

// documentFinder finds the numbers of documents and accounts that no cue announces,
// as they are usually written: their check digits may be wrong. Those that are right
// are found in every form by pieceFinder, and those behind a cue by cueFinder.
type documentFinder struct{ *scan }

// letterBehind returns the end of the single letter behind the digits that end
// at j: 12345678Z, 12345678-Z, 12345678 Z. loose means a blank, which asks for
// a capital. 0: there is none.
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
	if !s.Letter(p) || loose && !s.Upper(p) || s.AlnumAt(p+1) {
		return 0, false
	}
	return p + 1, loose
}

// province tells whether p is a code of the Social Security.
func province(p int) bool { return p >= 1 && p <= 53 || p == 66 }

// lettered finds numbers with a certain number of letters before their digits: the
// Spanish passport, cards of Castilla y León and CatSalut.
func (s documentFinder) lettered(n *num) {
	start := n.start
	for s.Letter(start-1) && n.start-start <= 4 {
		start--
	}
	letters, digits := string(s.Text[start:n.start]), n.end-n.start
	_, e := s.wordUpTo(n.start)
	switch {
	case n.inner || s.AlnumBefore(start) || !s.stops(n.end) || s.AlnumAt(n.end) || e.has(labels|unit):
	case len(letters) == 3 && digits == 6:
		s.add(start, n.end, passport, 0.5, false)
	case letters == "CYL":
		s.add(start, n.end, cardID, 0.85, false)
	case len(letters) == 4 && digits == 10 && (s.Upper(start) || s.context(start)&forCard != 0):
		s.add(start, n.end, cardID, 0.85, false)
	}
}

// plate finds licence plates: 1234 BCD, and the old B-1234-XY.
func (s documentFinder) plate(n *num) {
	if n.end-n.start != 4 || n.inner {
		return
	}
	if s.oldPlate(n) || n.glued || s.At(n.start-1) == '-' {
		return
	}
	p := n.end
	apart := s.Blank(p)
	if apart || s.At(p) == '-' {
		p++
	}
	for k := range 3 {
		if !consonant(s.At(p + k)) {
			return
		}
	}
	switch _, e := s.wordFrom(p); {
	case s.AlnumAt(p + 3):
	case s.labelOf(n)&forPlate != 0:
		s.add(n.start, p+3, licencePlate, 0.95, false)
	case !apart && e.roles == 0:
		s.add(n.start, p+3, licencePlate, 0.6, false)
	}
}

// consonant tells whether b stands in plates since 2000: no vowel, no Q.
func consonant(b byte) bool { return cut.IsUpper(b) && strings.IndexByte("AEIOUQ", b) < 0 }

// provinces are the letters of the provinces on plates before 2000.
var provinces = strings.Fields(`A AB AL AV B BA BI BU C CA CC CE CO CR CS CU GC GE GI GR GU H HU IB J L LE LO LU M MA ML MU NA
	O OR OU P PM PO S SA SE SG SO SS T TE TF TO V VA VI Z ZA`)

// oldPlate finds the form before 2000: letters of the province, four digits,
// one or two letters, with hyphens.
func (s documentFinder) oldPlate(n *num) bool {
	start := n.start - 1
	for s.Upper(start - 1) {
		start--
	}
	end := n.end + 1
	for s.Upper(end) {
		end++
	}
	if s.AlnumBefore(start) || s.At(n.start-1) != '-' || s.At(n.end) != '-' || end-n.end < 2 || end-n.end > 3 ||
		!slices.Contains(provinces, string(s.Text[start:n.start-1])) {
		return false
	}
	s.add(start, end, licencePlate, 0.6, false)
	return true
}

// account finds an IBAN: country, check digits, and as many letters and digits as the
// country has, whatever signs stand between. If they are not right, it must be of
// Spain and written with blanks or hyphens.
func (s documentFinder) account(n *num) {
	q := n.start - s.signsBefore(n.start) - 1
	p := q - 1
	if s.signAt(p) == 1 {
		p--
	}
	var plain [34]byte
	plain[0], plain[1] = s.At(p)&^0x20, s.At(q)&^0x20
	want := control.IBANLength(plain[0], plain[1])
	if want == 0 {
		return
	}
	have, at, usual := 2, n.start, q == n.start-1 && p == q-1 && !s.AlnumBefore(p)
	letters := false
	for have < want {
		b := s.At(at)
		if !cut.IsAlnum(b) {
			w := s.signs(at)
			if have < 4 || !s.Alnum(at+w) {
				return
			}
			usual = usual && w == 1 && (b == ' ' || b == '-')
			at += w
			continue
		}
		if cut.IsLetter(b) {
			if !usual {
				return // words
			}
			b &^= 0x20
			letters = true
		}
		plain[have] = b
		have++
		at++
	}
	switch {
	case s.Digit(at), letters && s.AlnumAt(at):
	case control.IBAN(plain[:want]):
		s.add(p, at, iban, 1, true)
	case usual && string(plain[:2]) == "ES" && s.Upper(p) && !s.AlnumAt(at):
		s.add(p, at, iban, 0.8, false)
	}
}

// postal finds a postal code behind a label, behind the number of a street or
// before a town.
func (s documentFinder) postal(n *num) {
	if n.end-n.start != 5 || n.inner || !s.stops(n.end) && s.At(n.end) != '-' {
		return
	}
	if s.labelOf(n)&forPostal != 0 {
		s.add(n.start, n.end, postalCode, 0.95, false)
		return
	}
	if p := s.Value(n.start, n.start+2); p < 1 || p > 52 {
		return
	}
	if s.At(n.start-1) == '-' && (s.At(n.start-2) == 'E' || s.At(n.start-2) == 'D') {
		s.add(n.start-2, n.end, postalCode, 0.85, false) // the sign of the country
		return
	}
	if n.glued {
		return
	}
	townNext, capital := s.townBehind(n.end)
	switch {
	case s.labelOf(n)&labels != 0:
	case townNext:
		s.add(n.start, n.end, postalCode, 0.85, false)
	case s.measured(n.end):
	case s.streetBefore(n.start):
		s.add(n.start, n.end, postalCode, 0.8, false)
	case capital && s.afterHouse(n.start):
		s.add(n.start, n.end, postalCode, 0.6, false)
	}
}

// townBehind tells whether the word behind j is a known town, and whether it
// has a capital at all.
func (s documentFinder) townBehind(j int) (known, capital bool) {
	p := j
	for range 4 {
		switch b := s.At(p); {
		case b == ',' || b == '-' || b == '(' || b == ')' || b == '.':
			p++
		case s.Space(p) > 0:
			p += s.Space(p)
		}
	}
	for range 3 { // L'Hospitalet, San Sebastián de, Las Palmas
		end, e := s.wordFrom(p)
		if e.has(town) && !s.Lower(p) {
			return true, true
		}
		capital = capital || s.Upper(p) && s.Lower(p+1)
		p = end
		for b := s.At(p); b == ' ' || b == '\'' || b == '('; b = s.At(p) {
			p++
		}
	}
	return false, capital
}

// streetBefore tells whether a word such as "calle" or "avda" stands within
// 60 bytes before i, in its line.
func (s *scan) streetBefore(i int) bool {
	for p, floor := i, max(i-60, 0); p > floor; {
		b := s.Text[p-1]
		if b == '\n' {
			return false
		}
		if !cut.InWord(b) {
			p--
			continue
		}
		start, e := s.wordUpTo(p)
		if e.has(street) && (p-start > 3 || s.At(p) == '/' || s.At(p) == '.' && p-start > 1) {
			return true
		}
		if start == p {
			start--
		}
		p = start
	}
	return false
}

// afterHouse tells whether the end of an address stands before i: ", 3 -".
func (s documentFinder) afterHouse(i int) bool {
	p := s.SpacesBefore(i)
	switch s.At(p - 1) {
	case '-', ',', '.':
		p = s.SpacesBefore(p - 1)
	}
	return s.Digit(p-1) || string(s.Text[max(p-2, 0):p]) == "/n"
}
