package patterns

import "github.com/velum-health/velum/pipeline"

// The scores of dates follow how many readings the form leaves: a full date
// with a year of four digits is hardly anything else, "3/10" is a date only
// behind "el día". Days and months must exist. The forms are those of VIGI
// tables 4 and 5, day first, with the months and connectors of Spanish, Catalan
// and English.

// date finds the dates that start at n, or whose year or day is n. It returns
// the end of a full date, behind which the scan may go on, or 0.
func (s *scan) date(n *num) int {
	if n.start < s.dateEnd || n.inner && s.dateEnd != n.start-1 {
		return 0
	}
	width := n.end - n.start
	if width > 8 {
		return 0
	}
	if width == 3 {
		return s.slip(n)
	}
	if end := s.numericDate(n, width); end > 0 {
		return end
	}
	switch {
	case width == 1 && s.dottedYear(n.start) > 0:
		return s.yearWithDot(n)
	case width <= 2:
		if s.monthMayFollow(n.end) {
			if end := s.dayOfMonth(n); end > 0 {
				return end
			}
		}
		if !s.monthMayPrecede(n.start) {
			return 0
		}
		s.dayBehindMonth(n)
		if !s.yearBehindMonth(n) && !s.dayBehindWeekday(n) {
			s.dayAlone(n)
			s.shortYear(n)
		}
	case width == 4 && isYear(s.value(n.start, n.end)):
		if end := s.yearFirst(n); end > 0 {
			return end
		}
		if !s.yearBehindMonth(n) {
			s.year(n)
		}
	}
	return 0
}

// monthMayFollow is the cheap question before dayOfMonth.
func (s *scan) monthMayFollow(p int) bool {
	q := s.spaces(p)
	switch b := s.byteAt(q); {
	case isASCIILetter(b):
		_, e := s.wordFrom(q)
		return e.roles&(month|monthOf|joins|ordinal) != 0
	case b == '-' || b == '/' || b == ',':
		c := s.byteAt(s.spaces(q + 1))
		return isAlnum(c)
	case b == '.':
		return s.letterAt(s.spaces(q + 1))
	}
	return s.byteAt(q) >= 0x80
}

// monthMayPrecede is the cheap question before dayBehindMonth,
// yearBehindMonth and dayBehindWeekday.
func (s *scan) monthMayPrecede(i int) bool {
	p := s.spacesBefore(i)
	switch b := s.byteAt(p - 1); {
	case isASCIILetter(b):
		_, e := s.wordUpTo(p)
		return e.roles&(month|monthOf|weekday|intoDate) != 0
	case b == '-' || b == '/' || b == '.' || b == ',' || b == ':' || b == '\'':
		return !isDigit(s.byteAt(p - 2))
	default:
		return b >= 0x80
	}
}

func isYear(y int) bool { return y >= 1900 && y <= 2099 }

// isDay tells whether the day exists in the month; the year decides on 29
// February where it is known (four digits).
func isDay(d, m, y int) bool {
	if d < 1 || m < 1 || m > 12 {
		return false
	}
	switch m {
	case 4, 6, 9, 11:
		return d <= 30
	case 2:
		return d <= 28 || d == 29 && (y < 100 || y%4 == 0 && (y%100 != 0 || y%400 == 0))
	}
	return d <= 31
}

// addDate keeps a date and the weekday before or behind it.
func (s *scan) addDate(start, end int, score float32) {
	s.rangeFrom(start)
	s.dateEnd = end
	start, end = s.withWeekday(start, end)
	s.add(start, end, date, score, false)
}

// rangeFrom keeps the day at which a range begins whose end is the date at
// start: "del 22 al 23/12/2019".
func (s *scan) rangeFrom(start int) {
	w, e := s.near(start)
	if !e.is("al") {
		return
	}
	j := s.spacesBefore(w)
	i := j
	for isDigit(s.byteAt(i - 1)) {
		i--
	}
	if j == w || j-i < 1 || j-i > 2 || s.value(i, j) < 1 || s.value(i, j) > 31 {
		return
	}
	if _, e = s.near(i); e.is("del") || e.is("el") {
		s.add(i, j, date, 0.6, false)
	}
}

// hint keeps what may be a date for the taggers alone.
func (s *scan) hint(start, end int) { s.add(start, end, date, pipeline.HintScore, false) }

// withWeekday widens a date by the weekday before it, "viernes (23/06/14)", or
// behind it: "12 de marzo, lunes". A second weekday makes it a schedule.
func (s *scan) withWeekday(start, end int) (int, int) {
	if w := s.fromWeekday(start); w < start {
		return w, end
	}
	if p := s.spacesBefore(start); s.byteAt(p-1) == '(' && s.byteAt(s.spaces(end)) == ')' {
		if w := s.fromWeekday(p - 1); w < p-1 {
			return w, s.spaces(end) + 1
		}
		return start, end
	}
	p := s.spaces(end)
	open := s.byteAt(p)
	if open != ',' && open != '(' {
		return start, end
	}
	w, e := s.wordFrom(s.spaces(p + 1))
	if e.roles&weekday == 0 {
		return start, end
	}
	p = s.spaces(w)
	if open == '(' {
		if s.byteAt(p) == ')' {
			return start, p + 1
		}
		return start, end
	}
	if b := s.byteAt(p); b == '-' || isDigit(b) {
		return start, end
	}
	if s.byteAt(p) == ',' {
		p = s.spaces(p + 1)
	}
	if _, e = s.wordFrom(p); e.roles&(joins|days|weekday) != 0 && !e.is("a") {
		return start, end
	}
	return start, w
}

// fromWeekday moves start back over "lunes, ", "lunes día ".
func (s *scan) fromWeekday(start int) int {
	p := s.spacesBefore(start)
	if s.byteAt(p-1) == ',' {
		p = s.spacesBefore(p - 1)
	}
	w, e := s.wordUpTo(p)
	if e.roles&(days|intoDate) == days|intoDate { // día
		w, e = s.wordUpTo(s.spacesBefore(w))
	}
	if e.roles&weekday != 0 {
		return w
	}
	return start
}

// dateSep reads the sign between two parts of a date at j: / - . or a blank;
// blanks may stand beside a slash or hyphen. next is where digits follow, 0 if
// they do not.
func (s *scan) dateSep(j int) (next int, sep byte) {
	k := j + s.space(j)
	switch b := s.byteAt(k); {
	case b == '/' || b == '-':
		sep = b
		k++
		if b == '/' && s.byteAt(k) == b { // 20/11//2014
			k++
		}
		k += s.space(k)
	case b == '.' && k == j:
		sep = b
		k++
	case b == 0xE2 && s.dash(k) > 0:
		sep = '-'
		k += s.dash(k)
		k += s.space(k)
	case k > j:
		sep = ' '
	default:
		return 0, 0
	}
	if !isDigit(s.byteAt(k)) {
		return 0, 0
	}
	return k, sep
}

// numericDate reads dates of digits only.
func (s *scan) numericDate(n *num, width int) int {
	if width >= 6 {
		return s.compactDate(n, width)
	}
	second, sep1 := s.dateSep(n.end)
	if second == 0 || width == 5 {
		return 0
	}
	secondEnd := s.digits(second)
	third, sep2 := s.dateSep(secondEnd)
	thirdEnd := third
	if third > 0 {
		thirdEnd = s.digits(third)
	}
	if end := s.dottedYear(third); third > 0 && end > 0 && width <= 2 {
		if w := secondEnd - second; w <= 2 && sep1 != ' ' && sep2 != ' ' && s.stops(end) {
			s.addDate(n.start, end, 0.8)
			return end
		}
	}
	a, b := s.value(n.start, n.end), 0
	if secondEnd-second <= 8 {
		b = s.value(second, secondEnd)
	}
	if width == 4 {
		return s.yearFirstNumeric(n, a, b, secondEnd-second, secondEnd, sep1, third, thirdEnd, sep2)
	}
	switch w := secondEnd - second; {
	case w == 6 && width == 2 && sep1 != ' ': // 12/032014
		if d, m, y := a, b/10000, b%10000; isDay(d, m, y) && isYear(y) && s.endsDate(secondEnd, 4) {
			s.addDate(n.start, secondEnd, 0.7)
			return secondEnd
		}
	case w == 4:
		s.monthYear(n, a, b, sep1, secondEnd)
	case w <= 2 && third > 0 && (thirdEnd-third == 4 || thirdEnd-third == 2):
		if end := s.dayMonthYear(n, a, b, s.value(third, thirdEnd), thirdEnd-third, sep1, sep2, thirdEnd); end > 0 {
			return end
		}
	case w <= 2 && third > 0 && thirdEnd-third == 1:
		if s.oneDigitYear(n, a, b, s.value(third, thirdEnd), sep1, sep2, thirdEnd) {
			return 0
		}
	}
	if w := secondEnd - second; w <= 2 && sep1 != ' ' {
		s.dayMonth(n, a, b, w, sep1, secondEnd)
	}
	return 0
}

// endsDate tells whether a date whose last part has width digits may end at j.
func (s *scan) endsDate(j, width int) bool {
	b := s.byteAt(j)
	if isDigit(b) {
		return false
	}
	if width == 4 {
		return b != '/' || !isDigit(s.byteAt(j+1))
	}
	return s.stops(j) && !s.letterAt(j)
}

// dayMonthYear judges d sep m sep y, also with the month first.
func (s *scan) dayMonthYear(n *num, d, m, y, width int, sep1, sep2 byte, end int) int {
	full := width == 4
	if full && !isYear(y) || !s.endsDate(end, width) {
		return 0
	}
	american := false
	if !isDay(d, m, y) {
		if !isDay(m, d, y) || sep1 == ' ' || sep1 == '.' {
			return s.slipOfPen(n, full, sep1, sep2, end)
		}
		american = true
	}
	two := n.end-n.start == 2 && end-n.start >= 6+width && sep1 == sep2
	var score float32
	switch {
	case full && sep1 == ' ' && sep2 == ' ':
		score = 0.5
	case full && sep1 != sep2:
		score = 0.75
	case full:
		score = 0.95
	case n.glued || s.measured(end) || s.byteAt(s.spaces(end)) == ')' && s.measured(s.spaces(end)+1) || sep1 != sep2 || s.readingBefore(n.start):
		return 0
	case sep1 == '/' && two:
		score = 0.8
	case sep1 == '/':
		score = 0.65
	case sep1 == ' ':
		score = 0.1
	case two:
		score = 0.65
	case sep1 == '-':
		score = 0.45
	case d > 12 || s.aside(n.start, end):
		score = 0.4
	default:
		score = 0.2
	}
	if american {
		score -= 0.2
	}
	if s.entered(n.start) || sep1 == '.' && s.happens(n.start) {
		score += 0.35
	}
	if score < 0.35 {
		if score >= 0.2 {
			s.hint(n.start, end)
		}
		return 0
	}
	s.addDate(n.start, end, min(score, 0.99))
	if !full {
		return 0
	}
	return end
}

// entered tells whether a word that leads to a date stands before i: "el",
// "fecha de nacimiento:".
func (s *scan) entered(i int) bool {
	_, e := s.lead(i)
	return e.roles&(weekday|forDate) != 0 || e.roles&intoDate != 0 || s.context(i)&forDate != 0
}

// monthYear judges m/yyyy.
func (s *scan) monthYear(n *num, m, y int, sep byte, end int) {
	if !isMonth(m) || !isYear(y) || n.glued || !s.stops(end) || s.measured(end) || s.letterAt(end) {
		return
	}
	switch {
	case sep == '/':
		s.addDate(n.start, end, 0.85)
	case sep == '-':
		s.addDate(n.start, end, 0.6)
	case sep == '.' && n.end-n.start == 2 && (s.text[n.start] == '0' || s.entered(n.start)):
		s.addDate(n.start, end, 0.5)
	}
}

// dayMonth judges d/m and m/yy, which need a word before them.
func (s *scan) dayMonth(n *num, d, m, width int, sep byte, end int) {
	if n.glued || !s.stops(end) || s.letterAt(end) || s.measured(end) || s.readingBefore(n.start) || s.dose(n.start, end) {
		return
	}
	listed := s.dateEnd >= 0 && n.start-s.dateEnd <= 4 && s.joined(s.dateEnd, n.start)
	strong, weak := s.leadIn(n.start)
	padded := n.end-n.start == 2 && width == 2
	if sep == '-' && m == d+1 && !padded && !s.definite(n.start) { // al alta 3-4
		s.hint(n.start, end)
		return
	}
	if sep == '.' {
		s.dayDotMonth(n, d, m, padded && strong, end)
		return
	}
	if !strong && !weak && !listed {
		s.dayMonthAside(n, d, m, end)
		return
	}
	if !isDay(d, m, 0) {
		if isMonth(d) && padded && sep == '/' && (s.text[n.start] == '0' || strong) {
			s.addDate(n.start, end, 0.5)
		}
		return
	}
	switch {
	case (strong || listed) && !s.fractional(n.start, end):
		s.addDate(n.start, end, 0.7)
	case sep == '/' && (padded || d > 12 || s.text[n.start] == '0' || s.text[end-width] == '0'):
		s.addDate(n.start, end, 0.6)
	case padded && s.definite(n.start):
		s.addDate(n.start, end, 0.5)
	case sep == '/' && s.announcesDay(n.start, d, m) && !s.fractional(n.start, end):
		s.addDate(n.start, end, 0.5)
	default:
		s.dayMonthAside(n, d, m, end)
	}
}

// fractional tells whether text[i:j] is "2/3" or another small fraction that
// no day goes before.
func (s *scan) fractional(i, j int) bool {
	if j-i != 3 || s.text[i+1] != '/' || s.text[i] >= s.text[i+2] || s.text[i+2] > '4' {
		return false
	}
	_, e := s.near(i)
	return e.roles&(days|forDate|weekday) == 0 || e.is("dias") || e.is("dies") // durante 3 días 1/2
}

// readingBefore tells whether a word such as Apgar stands before i: scores
// and pressures are written with slashes too.
func (s *scan) readingBefore(i int) bool {
	p := s.spacesBefore(i)
	if b := s.byteAt(p - 1); b == ':' || b == '.' {
		p--
	}
	_, e := s.near(p)
	return e.roles&reading != 0
}

// dose tells whether text[i:j] behind a weekday is a fraction of a tablet:
// "1 comp diario, lunes y jueves 1/2", "martes 3/4, resto 1/2".
func (s *scan) dose(i, j int) bool {
	if j-i != 3 || s.text[i+1] != '/' || s.text[i] >= s.text[i+2] || s.text[i+2] > '4' {
		return false
	}
	start, e := s.near(i)
	if e.roles&weekday == 0 {
		return false
	}
	p := s.spaces(j)
	if s.byteAt(p) == ',' {
		p = s.spaces(p + 1)
	}
	if _, e = s.wordFrom(p); e.roles&dosage != 0 {
		return true
	}
	p = s.spacesBefore(start)
	if s.byteAt(p-1) == ',' {
		p = s.spacesBefore(p - 1)
	}
	start, e = s.wordUpTo(p)
	if e.roles&joins != 0 {
		_, e = s.near(start)
	}
	return e.roles&(dosage|weekday) != 0
}

// leadIn judges the word before a date without year. Strong ones speak of
// time only.
func (s *scan) leadIn(i int) (strong, weak bool) {
	start, e := s.lead(i)
	if e.is("el") || e.is("del") || e.is("l") || e.is("the") { // desde el, des del
		if _, first := s.near(start); first.roles&intoDate != 0 {
			e = first
		}
	}
	strong = e.roles&weekday != 0 || s.context(i)&forDate != 0 || s.dated(start, e) ||
		e.roles&intoDate != 0 && (e.roles&(days|lasts) != 0 || e.roles&joins != 0 && e.word.len() > 4)
	return strong, e.roles&intoDate != 0
}

// definite tells whether "el", "del" or "al" stands before i.
func (s *scan) definite(i int) bool {
	_, e := s.lead(i)
	return e.is("el") || e.is("del") || e.is("al") || e.is("l")
}

// announcesDay tells whether the article before i makes d/m a day: "el 5/10",
// and "del 10/9", but not "EVA del 7/10".
func (s *scan) announcesDay(i, d, m int) bool {
	_, e := s.lead(i)
	return e.is("el") || e.is("l") || e.is("del") && d > m
}

// lead is near, also over the apostrophe of l'11/3.
func (s *scan) lead(i int) (start int, e *meaning) {
	switch {
	case s.byteAt(i-1) == '\'':
		i--
	case s.byteAt(i-1) == 0x99 && s.byteAt(i-2) == 0x80 && s.byteAt(i-3) == 0xE2:
		i -= 3
	}
	return s.near(i)
}

// joined tells whether text[i:j] joins two dates: " y ", ", ", " al ", "-".
func (s *scan) joined(i, j int) bool {
	p := s.spaces(i)
	switch b := s.byteAt(p); {
	case b == ',' || b == '-' || b == '/':
		return s.spaces(p+1) == j
	case s.dash(p) > 0:
		return s.spaces(p+s.dash(p)) == j
	}
	end, e := s.wordFrom(p)
	return e.roles&joins != 0 && s.spaces(end) == j
}

// yearFirstNumeric judges yyyy-mm-dd, ddmm/yyyy, yyyy/mm, yyyy-yyyy.
func (s *scan) yearFirstNumeric(n *num, y, b, width, end int, sep1 byte, third, thirdEnd int, sep2 byte) int {
	if isYear(y) && width <= 2 && third > 0 && thirdEnd-third <= 2 && sep1 == sep2 && sep1 != ' ' {
		after := s.byteAt(thirdEnd)
		if isDay(s.value(third, thirdEnd), b, y) && !isDigit(after) && (after != sep1 || !isDigit(s.byteAt(thirdEnd+1))) {
			s.addDate(n.start, thirdEnd, 0.95)
			return thirdEnd
		}
	}
	if n.glued || !s.stops(end) || s.measured(end) || s.letterAt(end) {
		return 0
	}
	switch {
	case width == 4 && sep1 != ' ' && isDay(y/100, y%100, b) && isYear(b) && !isYear(y): // 1203/2014
		s.addDate(n.start, end, 0.5)
	case width == 2 && isYear(y) && isMonth(b) && (sep1 == '/' || sep1 == '-') && s.byteAt(n.end) == sep1:
		s.addDate(n.start, end, 0.55)
	case width == 4 && isYear(y) && isYear(b) && b > y && b-y < 80 && (sep1 == '-' || sep1 == '/') && s.yearLeadIn(n.start) > 0:
		s.addDate(n.start, end, 0.6)
		s.yearEnd = end
		return end
	case width == 2 && isYear(y) && b == (y+1)%100 && (sep1 == '-' || sep1 == '/') && s.yearLeadIn(n.start) > 0:
		s.addDate(n.start, end, 0.5)
	}
	return 0
}

// compactDate judges 12032014, 20140312 and, behind a label, 120314.
func (s *scan) compactDate(n *num, width int) int {
	if n.glued || !s.stops(n.end) || s.wordAt(n.end) || n.inner {
		return 0
	}
	v := s.value(n.start, n.end)
	labelled := s.labelOf(n)&forDate != 0
	if s.labelOf(n)&labels&^forDate != 0 && !labelled || s.measured(n.end) || s.letterBehindDigits(n.end) {
		return 0
	}
	score := float32(0.5)
	if labelled {
		score = 0.85
	}
	switch {
	case width == 8 && isDay(v/1000000, v/10000%100, v%10000) && isYear(v%10000):
	case width == 8 && isDay(v%100, v/100%100, v/10000) && isYear(v/10000):
	case width == 6 && labelled && isDay(v/10000, v/100%100, v%100):
		score = 0.7
	default:
		return 0
	}
	s.addDate(n.start, n.end, score)
	return 0
}

// letterBehindDigits tells whether the digits that end at j go on as a DNI.
func (s *scan) letterBehindDigits(j int) bool {
	end, loose := s.letterBehind(j)
	return end > 0 && !loose
}

// A link is what stands between the parts of a date with words.
type link struct {
	tight bool // hyphen, slash or nothing
	of    bool // "de", "del", "of"
}

// across goes over the signs and connectors from p to the next part.
func (s *scan) across(p int) (int, link) {
	l := link{tight: true}
	for range 3 {
		switch b := s.byteAt(p); {
		case b == '-' || b == '/':
			p++
		case b == '.' || b == ',':
			p++
			l.tight = l.tight && b == '.'
		case s.space(p) > 0:
			p += s.space(p)
			l.tight = l.tight && (s.byteAt(p) == '-' || s.byteAt(p) == '/' || s.byteAt(p-2) == '-' || s.byteAt(p-2) == '/')
		case s.dash(p) > 0:
			p += s.dash(p)
		}
	}
	for range 4 {
		end, e := s.wordFrom(p)
		if e.roles&monthOf == 0 || e.roles&month != 0 {
			break
		}
		q := s.apostrophe(end)
		q = s.spaces(q)
		if q == end {
			break
		}
		p = q
		l.of, l.tight = true, false
	}
	return p, l
}

// apostrophe goes over ' or ’ at p.
func (s *scan) apostrophe(p int) int {
	if s.byteAt(p) == '\'' {
		return p + 1
	}
	if s.byteAt(p) == 0xE2 && s.byteAt(p+1) == 0x80 && s.byteAt(p+2) == 0x99 {
		return p + 3
	}
	return p
}

// dayOfMonth reads "12 de enero de 2014", "12-15 de marzo", "1er de gener",
// "19-Jul- 2011", "12Jan2014".
func (s *scan) dayOfMonth(n *num) int {
	if end := s.romanMonth(n); end > 0 {
		return end
	}
	d := s.value(n.start, n.end)
	p := n.end
	for range 4 { // 12, 13 y 14 de marzo
		m, e, end, l := s.monthAt(s.ordinal(p))
		if m > 0 {
			if d < 1 || d > 31 {
				return 0
			}
			return s.fromDay(n, e, end, l)
		}
		next := s.nextDay(s.ordinal(p))
		if next == 0 {
			return 0
		}
		p = s.digits(next)
		if p-next > 2 {
			return 0
		}
		if v := s.value(next, p); v <= d && v > 0 && d > 31 || v == 0 || v > 31 {
			return 0
		}
		d = max(d, 1)
	}
	return 0
}

// ordinal goes over º, st, er behind a day.
func (s *scan) ordinal(p int) int {
	if s.byteAt(p) == 0xC2 && (s.byteAt(p+1) == 0xBA || s.byteAt(p+1) == 0xAA || s.byteAt(p+1) == 0xB0) {
		return p + 2
	}
	if end, e := s.wordFrom(p); e.roles&ordinal != 0 && e.roles&month == 0 && end-p <= 3 {
		return end
	}
	return p
}

// nextDay goes over what joins two days at p: "-", " y ", " al ", ", ".
func (s *scan) nextDay(p int) int {
	q := s.spaces(p)
	switch b := s.byteAt(q); {
	case b == '-' || b == ',' || b == '/':
		q = s.spaces(q + 1)
	case s.dash(q) > 0:
		q = s.spaces(q + s.dash(q))
	default:
		end, e := s.wordFrom(q)
		if e.roles&joins == 0 || q == p {
			return 0
		}
		q = s.spaces(end)
		if end, e := s.wordFrom(q); e.roles&intoDate != 0 && s.space(end) > 0 { // "y el 13"
			q = s.spaces(end)
		}
	}
	if !isDigit(s.byteAt(q)) {
		return 0
	}
	return q
}

// monthAt reads signs, connectors and the name of a month from p.
func (s *scan) monthAt(p int) (m int, e *meaning, end int, l link) {
	q, l := s.across(p)
	end, e = s.wordFrom(q)
	if l.of && e == &unknown {
		e = s.misspelt(q, end)
	}
	if e.roles&month == 0 || s.letterAt(end) {
		return 0, nil, 0, l
	}
	return int(e.month), e, end, l
}

// fromDay finishes a date whose day is n and whose month e ends at end.
func (s *scan) fromDay(n *num, e *meaning, end int, l link) int {
	if y, yearEnd := s.yearAt(end, true); y >= 0 {
		score := float32(0.95)
		if y < 100 {
			score = 0.8
		}
		s.addDate(n.start, yearEnd, score)
		return yearEnd
	}
	if b := s.byteAt(end); isDigit(b) {
		return 0
	}
	strong, weak := s.leadIn(n.start)
	short := e.roles&shortName != 0
	if s.named(n.start) {
		return 0
	}
	var score float32
	switch {
	case !short && (l.of || e.roles&alsoWord == 0):
		score = 0.85
	case short && l.of && e.roles&alsoWord != 0: // exones 1 al 8 del gen
		return 0
	case strong || weak && !n.glued:
		score = 0.75
	case e.roles&alsoWord == 0 && !n.glued:
		score = 0.65
	case l.tight && !n.glued && s.byteAt(n.end) != ' ' && !s.letterAt(n.end):
		score = 0.55
	default:
		return 0
	}
	s.addDate(n.start, end, score)
	return 0
}

// named tells whether a place that may be named after a day stands before i:
// "Hospital 12 de Octubre", "calle 2 de Mayo".
func (s *scan) named(i int) bool {
	p := s.spacesBefore(i)
	if b := s.byteAt(p - 1); b == '"' || b == '\'' || b == '/' || b == '.' {
		p--
	}
	w, e := s.near(p)
	if e.is("h") { // H. 12 de Octubre; not "a las 10 h"
		return !isDigit(s.byteAt(s.spacesBefore(w) - 1))
	}
	return e.roles&(street|namedAfter) != 0
}

// yearAt reads the year behind a month that ends at p; y is -1 if there is
// none. Two digits need a sign, a connector or an apostrophe before them, or a
// day in the date and an end behind them.
func (s *scan) yearAt(p int, withDay bool) (y, end int) {
	q, l := s.across(p)
	a := s.apostrophe(q)
	end = s.digits(a)
	switch end - a {
	case 1:
		if end = s.dottedYear(a); end > 0 {
			return s.yearOf(a, end), end
		}
	case 4:
		y = s.value(a, end)
		if !isYear(y) || s.byteAt(end) == '/' && isDigit(s.byteAt(end+1)) || s.byteAt(end) == ':' {
			return -1, 0
		}
		return y, end
	case 5: // 20015
		if y = s.value(a, end); withDay && y/100 == 200 && l.of {
			return 2000 + y%100, end
		}
	case 2:
		y = s.value(a, end)
		clear := l.of || a > q || l.tight && a > p && (s.byteAt(p) != '.' || withDay && a == p+1) || l.tight && a == p && withDay
		if !s.stops(end) || s.letterAt(end) || s.measured(end) || s.byteAt(s.spaces(end)) == ':' {
			return -1, 0
		}
		if clear || withDay && s.endsClause(end) {
			return y, end
		}
	}
	return -1, 0
}

// endsClause tells whether nothing or punctuation follows at j.
func (s *scan) endsClause(j int) bool {
	switch s.byteAt(j) {
	case 0, '.', ',', ';', ')', '\n', '\r', ':':
		return true
	}
	return false
}

// monthBefore reads back from i over signs and connectors to the name of a
// month.
func (s *scan) monthBefore(i int) (start int, e *meaning, l link) {
	p := i
	l.tight = true
	for range 4 {
		switch b := s.byteAt(p - 1); {
		case b == '-' || b == '/' || b == '.' || b == '\'':
			p--
			if b == '/' && s.space(p+1) > 0 {
				l.tight = true // oct / 13
			}
		case b == ',':
			p--
			l.tight = false
		case s.spaceBefore(p) > 0:
			l.tight = l.tight && s.byteAt(p) == '/'
			p -= s.spaceBefore(p)
		case b == 0x99 && s.byteAt(p-3) == 0xE2:
			p -= 3
		}
	}
	start, e = s.wordUpTo(p)
	for range 4 {
		if e.roles&monthOf == 0 || e.roles&month != 0 {
			break
		}
		p = s.spacesBefore(start)
		if b := s.byteAt(p - 1); b == '\'' {
			p--
		}
		l.of, l.tight = true, false
		start, e = s.wordUpTo(p)
	}
	return start, e, l
}

// yearBehindMonth reads "enero de 2014", "oct-nov 2013", "nov-06" from the
// year.
func (s *scan) yearBehindMonth(n *num) bool {
	start, e, l := s.monthBefore(n.start)
	if e.roles&month == 0 || s.wordBefore(start) && !isDigit(s.byteAt(start-1)) {
		return false
	}
	v := s.value(n.start, n.end)
	full := n.end-n.start == 4
	apostrophe := s.byteAt(n.start-1) == '\'' || s.byteAt(n.start-1) == 0x99
	short, loose := e.roles&shortName != 0, e.roles&alsoWord != 0
	if full && s.byteAt(n.end) == '/' && isDigit(s.byteAt(n.end+1)) || !full && (!s.stops(n.end) || s.letterAt(n.end)) || s.measured(n.end) {
		return false
	}
	var score float32
	switch {
	case full && (!short || !loose):
		score = 0.9
	case full:
		score = 0.7
	case n.end-n.start < 2 && !(s.byteAt(n.start-1) == '/' && !loose && s.endsClause(s.spaces(n.end))):
		return false
	case apostrophe || l.of && !short || l.tight && n.start > start && s.byteAt(n.start-1) != '.' && (!loose || s.text[n.start-1] == '-'):
		score = 0.6
	case !short && !loose && s.text[n.start] == '0' && s.endsClause(n.end):
		score = 0.5
	case !short && !loose && v < 30 && !l.of:
		s.hint(start, n.end)
		return false
	default:
		return false
	}
	if v == 0 && full {
		return false
	}
	start = s.fromMonth(start)
	s.addDate(start, n.end, score)
	s.yearEnd = n.end
	return true
}

// fromMonth moves start back over a range of months: "octubre-noviembre".
func (s *scan) fromMonth(start int) int {
	p := s.spacesBefore(start)
	switch b := s.byteAt(p - 1); {
	case b == '-' || b == '/':
		p = s.spacesBefore(p - 1)
	case b == 0x93 || b == 0x94:
		p = s.spacesBefore(p - 3)
	default:
		w, e := s.wordUpTo(p)
		if e.roles&joins == 0 || p == start {
			return start
		}
		p = s.spacesBefore(w)
	}
	if w, e := s.wordUpTo(p); e.roles&month != 0 && !s.wordBefore(w) {
		return w
	}
	return start
}

// dayBehindMonth reads "January 24, 2014" and, with names that are English
// only, "January 24".
func (s *scan) dayBehindMonth(n *num) {
	d := s.value(n.start, n.end)
	p := n.start - s.spaceBefore(n.start)
	if b := s.byteAt(p - 1); b == '-' || b == '/' || b == '.' {
		p--
	}
	start, e := s.wordUpTo(p)
	if e.roles&month == 0 || p == n.start && !n.glued || !isDay(d, int(e.month), 0) || s.wordBefore(start) && s.letterBefore(start) {
		return
	}
	end := s.ordinal(n.end)
	q := end
	if s.byteAt(q) == ',' {
		q++
	}
	if y, yearEnd := s.yearAt(q, false); y >= 1900 {
		s.addDate(start, yearEnd, 0.9)
		return
	}
	if e.roles&english != 0 && s.stops(end) && !s.letterAt(end) && !s.measured(end) && p < n.start {
		s.addDate(start, end, 0.6)
	}
}

// dayBehindWeekday reads "lunes 12".
func (s *scan) dayBehindWeekday(n *num) bool {
	start := s.fromWeekday(n.start)
	if d := s.value(n.start, n.end); start == n.start || d < 1 || d > 39 || !s.stops(n.end) || s.letterAt(n.end) || s.measured(n.end) {
		return false
	}
	s.dateEnd = n.end
	s.add(start, n.end, date, 0.55, false)
	return true
}

// yearFirst reads "2014 oct", "2014-Oct-12".
func (s *scan) yearFirst(n *num) int {
	m, e, end, l := s.monthAt(n.end)
	if m == 0 || l.of || n.glued || n.end == end || s.byteAt(n.end) == ',' || s.byteAt(n.end) == '.' {
		return 0
	}
	if p, l := s.across(end); l.tight || s.byteAt(end) == ' ' {
		if k := s.digits(p); k > p && k-p <= 2 && isDay(s.value(p, k), m, s.value(n.start, n.end)) && s.stops(k) && !s.letterAt(k) && !s.measured(k) {
			s.addDate(n.start, k, 0.8)
			return k
		}
	}
	if e.roles&alsoWord != 0 && !l.tight || isDigit(s.byteAt(end)) {
		return 0
	}
	if y, _ := s.yearAt(end, false); y >= 0 { // "2014, enero 2015" is two dates
		return 0
	}
	s.addDate(n.start, end, 0.6)
	return 0
}

// year judges a year that stands alone: only words before it make it one.
func (s *scan) year(n *num) {
	if n.glued || s.letterAt(n.end) || s.measured(n.end) || !s.stops(n.end) && s.byteAt(n.end) != '-' {
		return
	}
	y := s.value(n.start, n.end)
	if y < 1920 || y > 2060 {
		return
	}
	start, e := s.near(n.start)
	if e.roles&yearWord != 0 {
		s.addDate(start, n.end, 0.9)
		s.yearEnd = n.end
		return
	}
	if start, e := s.seasonBefore(n.start); e.roles&season != 0 {
		s.addDate(start, n.end, 0.7)
		s.yearEnd = n.end
		return
	}
	score := s.yearLeadIn(n.start)
	if score == 0 && s.yearEnd >= 0 && n.start-s.yearEnd <= 5 && s.joined(s.yearEnd, n.start) {
		score = 0.7
	}
	if score > 0 {
		s.addDate(n.start, n.end, score)
		s.yearEnd = n.end
	} else if y >= 1950 && y < 2040 && (e.is("de") || s.aside(n.start, n.end)) {
		s.hint(n.start, n.end)
	}
}

// yearLeadIn is the score that the words before i give to a year, 0 for none.
func (s *scan) yearLeadIn(i int) float32 {
	if s.byteAt(i-1) == '(' && s.byteAt(i+4) == ')' {
		return 0.55
	}
	_, e := s.near(i)
	switch {
	case e.roles&yearWord != 0:
		return 0.9
	case e.roles&years != 0 && (e.is("anos") || e.is("anys")): // los años 2003 y 2006
		return 0.7
	case e.roles&atYear != 0:
		return 0.7
	case e.roles&ofYear != 0 || e.is("hacia"):
		return 0.5
	}
	return 0
}
