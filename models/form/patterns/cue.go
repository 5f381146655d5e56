package patterns

import (
	"bytes"
	_ "embed"
	"strconv"
	"strings"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

// A cue is a word that says what the value beside it is: "NHC", "pasaporte",
// "nº de serie". Behind a cue a value needs no list, no check digit and no form
// of its own, so that typing errors, letters read for digits and cards of
// regions and countries that nobody has written down are found as well: the
// grammar is  cue, up to eight words that say nothing, value. The kinds differ
// by how long a value is; behind an everyday word it must stand at once.

// kind is a row of the table: what the value behind a cue looks like.
type kind struct {
	cues     role
	category pipeline.Category
	digits   int // digits at least, letters that look like digits among them
	least    int // letters and digits at least,
	most     int // and at most, when groups are joined
	full     int // digits of a whole value: up to here groups are joined whatever stands between; 0: it has no such length
	tail     int // letters that may stand behind the digits as a group of their own
	common   int // digits at least behind an everyday word
}

//go:embed kinds.txt
var kindsFile string

// kinds are the rows of kinds.txt, and cues the roles of words that announce a value of some kind.
var (
	kinds []kind
	cues  role
)

func init() {
	cut.Sections(kindsFile, func(_, row []string) {
		k := kind{cues: rolesOf(strings.Split(row[0], "|")), category: category(row[1])}
		for i, to := range []*int{&k.digits, &k.least, &k.most, &k.full, &k.tail, &k.common} {
			*to, _ = strconv.Atoi(row[2+i])
		}
		kinds = append(kinds, k)
		cues |= k.cues &^ (forPatient | numbering)
	})
}

// kindOf returns the kind that a cue announces, nil if none.
func kindOf(cue role) *kind {
	for k := range kinds {
		if want := kinds[k].cues; cue&want == want {
			return &kinds[k]
		}
	}
	return nil
}

// The distance allowed between a cue (a word that announces a value) and its value: in bytes, in filler words, and in
// other words between ("pasaporte de su marido francés").
const (
	cueBytes   = 96
	cueFillers = 8
	cueWords   = 3
)

// neutral lists words that may stand between a cue and its value without changing the meaning, such as possessives and
// prepositions.
const neutral = filler | person | joins | monthOf | intoDate | lately

// cueFinder finds values behind words that announce them.
type cueFinder struct{ *scan }

// cued finds the value that the digits at n are part of, if a cue announces it.
func (s cueFinder) cued(n *num) {
	if n.start < s.cuedEnd || n.end-n.start < 4 && s.single(n) {
		return
	}
	start, cue := s.valueStart(n.start)
	if cue == 0 {
		start, cue = s.announced(start)
	}
	if cue == 0 && n.end-n.start >= 4 {
		cue = s.cueBehind(start)
	}
	if cue == 0 && n.end-n.start >= 4 && s.numbered(start) {
		cue = numbering
	}
	k := kindOf(cue)
	end := 0
	if k != nil && !s.inner(start) {
		end = s.valueEnd(start, k, cue)
	}
	if end == 0 {
		s.named(start)
		return
	}
	if k.category == telephone {
		s.addTelephone(start, end, 0.85)
	} else {
		s.add(start, end, k.category, 0.85, false)
	}
	s.cuedEnd, s.cuedKind = end, k
}

// single tells whether a number stands by itself: no letter, digit or sign of a
// value touches it, and no other digit or capital follows.
func (s cueFinder) single(n *num) bool {
	before, behind := s.At(n.start-1), s.At(n.end+s.signs(n.end))
	return !cut.IsAlnum(before) && !joiner[before] && !s.Alnum(n.end) && !cut.IsDigit(behind) && !cut.IsUpper(behind)
}

// announced returns the cue of the value at start, and where the value begins:
// letters may stand before it as a group of their own, "AB 123456".
func (s cueFinder) announced(start int) (int, role) {
	if cue := s.cueBefore(start, false); cue != 0 {
		return start, cue
	}
	pressure := s.At(s.Digits(start)) == '/' // TA 120/80
	for p, groups := start, 0; groups < 12 && !pressure; groups++ {
		g := s.lettersBefore(p)
		if g == p {
			break
		}
		p = g
		if cue := s.cueBefore(p, false); cue != 0 {
			return p, cue
		}
	}
	if cue := s.headed(start); cue != 0 {
		return start, cue
	}
	if s.cuedKind != nil && s.cuedEnd < start && s.onlySeparators(s.cuedEnd, start) {
		return start, s.cuedKind.cues // a list: 12345, 67890
	}
	if g := s.lettersBefore(start); !pressure && g < start {
		if cue := s.cueBefore(g, true); cue != 0 {
			return g, cue
		}
	}
	return start, s.cueBefore(start, true)
}

// lettersBefore returns where the group of at most eight capitals, or of two
// letters, begins that stands before p over one sign or blank; p if there is
// none, or if it is a word that says something.
func (s cueFinder) lettersBefore(p int) int {
	q := p - s.signsBefore(p)
	if b := s.At(q); q == p || p-q > 2 && b != '-' || b == ':' || b == ',' {
		return p
	}
	start := q
	for q-start <= 8 && s.Upper(start-1) {
		start--
	}
	if n := q - start; n == 0 || n > 4 && s.Text[start] != 'B' || s.AlnumBefore(start) { // BBBBBBBB AB 123456
		return p
	}
	if _, e := s.wordUpTo(q); e.roles&^filler != 0 && !s.initials(start, q, e) {
		return p
	}
	return start
}

// initials tells whether text[i:j], which means e, may be the letters of a plate or
// passport all the same: one or two capitals, or a letter, that are no cue and no unit.
func (s cueFinder) initials(i, j int, e *meaning) bool {
	return j-i == 1 || j-i == 2 && s.Upper(i) && !e.has(cues|unit)
}

// joiner has what may stand between letters and digits of one value.
var joiner = cut.SetOf("-/._:")

// valueStart goes back from the digits at i to where the value begins that they
// are part of, and returns the cue that touches it, as in NHC12345.
func (s cueFinder) valueStart(i int) (start int, glued role) {
	p := i
	for i-p < 28 {
		b := s.At(p - 1)
		if cut.IsAlnum(b) {
			p--
			continue
		}
		if !joiner[b] || !s.Alnum(p-2) {
			break
		}
		if w, e := s.wordUpTo(p - 1); w < p-1 && (e.roles != 0 && !s.initials(w, p-1, e) || p-1-w > 4 && b != '_') {
			break // a word: NHC-12345, clave:123
		}
		p--
	}
	if s.LetterBefore(p) { // within a word that has an accent: matrículaB-1234
		for stop := p; s.Letter(stop); stop++ {
			if s.Upper(stop) {
				_, e := s.wordUpTo(stop)
				return stop, e.roles & cues
			}
		}
		return i, 0
	}
	head := p
	for s.Letter(head) {
		head++
	}
	for stop := head; stop > p+1; stop-- {
		e := s.meaningOf(p, stop, true)
		if e.has(cues) && (stop == head || !e.has(everyday)) {
			return stop, e.roles
		}
		if e.roles != 0 && stop-p > 5 {
			return stop, 0
		}
	}
	if head-p > 12 {
		return head, 0
	}
	for head == i && s.Lower(p+1) && head-p > 3 { // Avisar612345678
		p++
		for s.Lower(p) {
			p++
		}
	}
	return p, 0
}

// cueBefore returns the cue that stands before i: over signs, over words that
// say nothing, at the end of the line before, in the cell before. far lets it
// stand a few other words away, in the same sentence.
func (s cueFinder) cueBefore(i int, far bool) role {
	begin, floor, others := i, max(i-cueBytes, 0), 0
	for range cueFillers {
		p := i
		for p > floor {
			w := s.signsBefore(p)
			if w == 0 {
				switch s.At(p - 1) {
				case '"', '>', '+', '[', '{', '}', ']', '@':
					w = 1
				}
			}
			if w == 0 {
				break
			}
			if far && bytes.IndexByte(s.Text[p-w:p], '\n') >= 0 {
				return 0
			}
			p -= w
		}
		if p <= floor {
			return 0
		}
		start, e := s.wordUpTo(p)
		switch {
		case start == p:
			return 0
		case e.has(cues):
			if others > 0 && (e.has(everyday) && !s.given(begin) || s.At(p) == '.' && s.Space(p+1) > 0) {
				return 0
			}
			return e.roles
		case e.has(filler):
		case far && e.roles&^neutral == 0 && others < cueWords && !(s.At(p) == '.' && s.Space(p+1) > 0):
			others++
		default:
			return 0
		}
		i = start
	}
	return 0
}

// namedBytes is how far from the begin of a value the bracket behind it stands at
// most: forty letters and digits, with two signs behind each.
const namedBytes = 128

// named finds a value whose cue stands in brackets behind it and is all that they
// hold: "1234 567 (NHC)", "SB 78 XNS (número de matrícula)". What lies between
// is the value, whatever its groups are.
func (s cueFinder) named(start int) {
	if bytes.IndexByte(s.Text[start:min(start+namedBytes, len(s.Text))], '(') < 0 {
		return // nearly always
	}
	x, open := extent{end: start}, start
	for small := 0; ; open++ {
		switch b := s.At(open); {
		case cut.IsAlnum(b):
			if small++; !cut.IsLower(b) {
				small = 0
			}
			if cut.IsDigit(b) {
				x.digits++
			}
			if small > 3 || x.signs >= 40 {
				return // a word, or no value
			}
			x.signs++
			x.end = open + 1
			continue
		case (b == ' ' || joiner[b] || b == ')') && open-x.end < 2:
			continue
		case b == '(' && open > x.end:
		default:
			return
		}
		break
	}
	cue := s.cueInside(open + 1)
	k := kindOf(cue)
	if k == nil || x.digits < k.digits || start < s.dateEnd || cue&everyday != 0 && x.digits < k.common {
		return
	}
	s.add(start, x.end, k.category, 0.85, false)
	s.cuedEnd, s.cuedKind = x.end, k
}

// cueInside returns the cue that stands at p with words that say nothing, and
// nothing else, up to a bracket.
func (s cueFinder) cueInside(p int) (cue role) {
	for range 6 {
		end, e := s.wordFrom(p)
		switch {
		case e.has(cues):
			cue = e.roles
		case !e.has(cues | filler):
			return 0
		}
		if p = s.Spaces(end); s.At(p) == ')' {
			return cue
		}
	}
	return 0
}

// cueBehind returns the cue behind the value at start: "... es mi número de
// pasaporte".
func (s cueFinder) cueBehind(start int) role {
	p := start
	for p-start < cueBytes && (s.Alnum(p) || joiner[s.At(p)]) {
		p++
	}
	end, e := s.wordFrom(s.Spaces(p))
	if !e.has(be) {
		return 0
	}
	for range 4 {
		end, e = s.wordFrom(s.Spaces(end))
		switch {
		case e.has(cues) && !e.has(everyday):
			return e.roles
		case !e.has(filler) && !e.has(mine):
			return 0
		}
	}
	return 0
}

// given tells whether the value at i stands behind a colon and has seven letters
// and digits at least, so that an everyday word may announce it from afar.
func (s cueFinder) given(i int) bool {
	if s.At(s.SpacesBefore(i)-1) != ':' {
		return false
	}
	have := 0
	for ; have < 7 && (s.Alnum(i) || (joiner[s.At(i)] || s.Blank(i)) && s.Digit(i+1)); i++ {
		if s.Alnum(i) {
			have++
		}
	}
	return have == 7
}

// numbered tells whether "number" stands before the value at i, over words that say
// nothing and one that is not known: "número 1234567", "nº de guía 1234567", "voucher
// number 1234567".
func (s cueFinder) numbered(i int) bool {
	p, others := s.punctuationBefore(i, max(i-cueBytes, 0)), 0
	for range 5 {
		start, e := s.wordUpTo(p)
		switch {
		case start == p:
			return false
		case e.has(numbering), s.Text[start]|0x20 == 'n' && s.At(p-1) == 0xBA: // nº
			return true
		case e.has(filler):
		case e.roles == 0 && others == 0:
			others++
		default:
			return false
		}
		if p = s.SpacesBefore(start); s.At(p-1) == '\'' { // d'accés
			p--
		}
	}
	return false
}

// headed returns the cue that heads the column of a table in whose cell the
// value at i stands alone: cells with tabs, bars or semicolons between them, the
// names of the columns in a line above.
func (s cueFinder) headed(i int) role {
	p := i
	for s.At(p-1) == ' ' {
		p--
	}
	if b := s.At(p - 1); b != 0 && b != '\n' && !cell[b] {
		return 0
	}
	line, end := s.lineStart(i), i
	for end < len(s.Text) && end-i < 256 && s.Text[end] != '\n' {
		end++
	}
	column, columns := s.cells(line, i), s.cells(line, end)
	head := line
	for range 16 { // lines of the table above
		above := s.lineStart(head - 1)
		if columns == 0 || s.cells(above, head-1) != columns {
			break
		}
		head = above
	}
	for at := head; at < line; at++ {
		if column == 0 {
			end := at
			for !cell[s.Text[end]] && s.Text[end] != '\n' {
				end++
			}
			return s.cueIn(at, end)
		}
		if cell[s.Text[at]] {
			column--
		}
	}
	return 0
}

// cell has what stands between two cells of a table.
var cell = cut.SetOf("\t|;")

// lineStart returns where the line of place i begins, at most 256 bytes before.
func (s cueFinder) lineStart(i int) int {
	i = max(i, 0)
	floor := max(i-256, 0)
	return floor + bytes.LastIndexByte(s.Text[floor:i], '\n') + 1
}

// cells counts the cells that end in text[start:end].
func (s cueFinder) cells(start, end int) (n int) {
	for ; start < end; start++ {
		if cell[s.Text[start]] {
			n++
		}
	}
	return n
}

// cueIn returns the cue that stands in text[start:end].
func (s cueFinder) cueIn(start, end int) role {
	for p := end; p > start; {
		if !s.LetterBefore(p) {
			p--
			continue
		}
		w, e := s.wordUpTo(p)
		if e.has(cues) {
			return e.roles
		}
		p = min(w, p-1)
	}
	return 0
}

// extent is how far a value was read.
type extent struct {
	end           int
	signs, digits int // letters and digits; digits, and letters that look like one
	run           int // letters and digits of the last group
}

// valueEnd returns the end of the value of kind k that cue announces at start, 0
// if what stands there is none.
func (s cueFinder) valueEnd(start int, k *kind, cue role) int {
	full := k.full
	if k.category == telephone {
		full += s.prefix(start)
	}
	x := s.run(extent{end: start}, k)
	if x.signs <= 3 && x.digits > 0 && s.Lower(x.end-1) {
		return 0 // 24h
	}
	gap, gapEnd, gaps, same := 0, 0, 0, true
	for x.end > 0 {
		w := s.signs(x.end)
		next := s.run(extent{end: x.end + w, signs: x.signs, digits: x.digits}, k)
		same = same && (gaps == 0 || alike(s.Text[gap:gapEnd], s.Text[x.end:x.end+w]))
		if next.end == 0 || next.signs > k.most || !s.joins(&x, &next, w, k, full, gaps, same) {
			break
		}
		gap, gapEnd = x.end, x.end+w
		gaps++
		x = next
	}
	switch {
	case x.end == 0, x.digits < k.digits, x.signs < k.least, s.measured(x.end) && x.signs < 8, x.end <= s.dateEnd:
		return 0
	case cue&everyday != 0 && (x.digits < k.common || s.At(x.end) == ',' && s.Digit(x.end+1)):
		return 0 // a number like others
	case k.category == telephone && (x.digits < 6 || x.signs < 7) && s.context(start)&forTelephone == 0:
		return 0 // an extension stands at its cue
	}
	return x.end
}

// run goes on with the letters and digits at x.end; end is 0 if there are none.
func (s cueFinder) run(x extent, k *kind) extent {
	at, first := x.end, x.end
	small := 0
	for ; at < len(s.Text) && at-first < 40; at++ {
		b := s.Text[at]
		switch {
		case cut.IsDigit(b):
			x.digits++
			small = 0
		case cut.IsLetter(b):
			if cut.IsUpper(b) && s.Lower(at+1) && s.Lower(at+2) && x.digits >= k.digits {
				goto end // a word is glued to it
			}
			if s.likeDigit(at) {
				x.digits++
			}
			small++
			if cut.IsUpper(b) {
				small = 0
			}
			if small > 4 && x.digits >= k.digits {
				x.signs -= small - 1
				at -= small - 1
				goto end // so are small letters
			}
		default:
			goto end
		}
		x.signs++
	}
end:
	if at == first {
		x.end = 0
		return x
	}
	x.end, x.run = at, at-first
	return x
}

// likeDigit reports whether the letter at i is probably a misread or mistyped digit: it looks like one and is beside
// one.
func (s cueFinder) likeDigit(i int) bool {
	switch s.Text[i] {
	case 'O', 'o', 'I', 'l', 'S', 's', 'B', 'Z', 'G', 'i', 'z', 'q', 'D', 'Q':
		return s.Digit(i-1) || s.Digit(i+1)
	}
	return false
}

// spokenValue finds a value that is said digit by digit in words, from the one
// at i on: "seis uno dos...", "nou tres", "doce". It needs a cue, or to be as long
// as a telephone number.
func (s cueFinder) spokenValue(i int) {
	if i < s.spokenEnd {
		return
	}
	end, digits := i, 0
	for p := i; ; {
		next, e := s.wordFrom(p)
		switch {
		case e.has(numeral) && e.number < 10:
			digits++
		case e.has(numeral):
			digits += 2
		case digits > 0 && next == p+1 && s.Upper(p): // the letter of a DNI
		default:
			next = p
		}
		if next == p {
			break
		}
		end = next
		p = next + s.signs(next)
		if p == next {
			break
		}
	}
	s.spokenEnd = end
	if digits < 4 {
		return
	}
	start, cue := s.announced(i)
	k := kindOf(cue)
	switch {
	case k != nil:
		s.add(start, end, k.category, 0.85, false)
	case digits == 9:
		s.add(i, end, telephone, 0.6, false)
	}
}

// counted tells whether a word behind j says what the number before it counts.
func (s cueFinder) counted(j int) bool {
	_, e := s.wordFrom(s.Spaces(j))
	return e.has(unit|years|months|weeks|days) || s.measured(j)
}

// prefix returns how many digits at i are those of a country: +33, 0033.
func (s cueFinder) prefix(i int) int {
	switch {
	case s.At(i-1) == '+':
		return 2
	case s.At(i) == '0' && s.At(i+1) == '0':
		return 4
	}
	return 0
}

// joins tells whether the group that ends at next goes on the value x, over w
// bytes of signs.
func (s cueFinder) joins(x, next *extent, w int, k *kind, full, gaps int, same bool) bool {
	begin := x.end + w
	digits := next.digits - x.digits
	sign := s.Text[x.end]
	tight := w == 1 && joiner[sign] || s.Dash(x.end) == 3
	hyphen := sign == '-' && s.Text[x.end+1] == '\n'
	switch {
	case next.run == 1 && x.run == 1 && same && !s.Lower(begin):
		return true // sign by sign
	case digits == 0:
		return s.tail(begin, next, tight, w, k, x.digits)
	case tight && (sign != '.' && sign != ':' || same || gaps > 1), hyphen:
		return true
	case x.digits >= k.digits && s.counted(next.end), k.category == telephone && x.digits >= full:
		return false
	case x.digits < full:
		return true
	case sign == '\n' && (next.run >= 3 || joiner[s.At(next.end)]) && !s.Lower(next.end-1):
		return true // a value of no known length goes on in the next line
	}
	return same && (x.run <= 5 || gaps >= 2) && x.signs < 16
}

// tail tells whether the letters from begin to next are a group of a value of
// kind k that has so many digits before it: the letter of a DNI, those of a
// plate, of a bank, or what stands between two hyphens.
func (s cueFinder) tail(begin int, next *extent, tight bool, w int, k *kind, digits int) bool {
	most := k.tail
	if tight {
		most = max(most, 2)
	}
	plate := k.tail == 3
	if _, e := s.wordUpTo(next.end); next.run > most || e.roles != 0 && next.run > 1 && !(plate && tight) {
		return false
	}
	if !tight && s.Spaces(begin-w) != begin && !(plate && (next.run == 3 || s.At(begin-1) == '-')) {
		return false
	}
	if s.LetterAt(next.end) && !(s.Upper(next.end) && s.Lower(next.end+1)) {
		return false
	}
	for _, b := range s.Text[begin:next.end] {
		if !cut.IsUpper(b) && !(tight && (next.run == 1 || plate)) && !(plate && next.run == 3 && consonant(b&^0x20)) {
			return false
		}
	}
	return true
}

// alike tells whether two gaps between groups are written alike: with the same
// signs, or both with blanks.
func alike(a, b []byte) bool {
	return string(a) == string(b) || len(bytes.Trim(a, " "))+len(bytes.Trim(b, " ")) == 0
}
