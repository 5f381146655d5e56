package patterns

// Dates as they are typed in a hurry: a year as 2.007, '08 or one digit, a
// month in Roman figures or misspelt, a day or month that does not exist. What
// could as well be a score, a dose or a pressure is a hint (pipeline.Match).

// dottedYear returns the end of the year that is written as 1.998 or 2.007 at
// i, 0 if there is none.
func (s *scan) dottedYear(i int) int {
	b := s.byteAt(i)
	if b != '1' && b != '2' || s.byteAt(i+1) != '.' || s.digits(i+2) != i+5 {
		return 0
	}
	if y := s.yearOf(i, i+5); y < 1920 || y > 2060 || !s.stops(i+5) || s.letterAt(i+5) || s.measured(i+5) {
		return 0
	}
	return i + 5
}

// yearOf returns the year text[i:j], written with a dot or without.
func (s *scan) yearOf(i, j int) int {
	if s.text[i+1] == '.' {
		return s.value(i, i+1)*1000 + s.value(i+2, j)
	}
	return s.value(i, j)
}

// yearWithDot judges a year that is written as 2.007: the words before it must
// speak of time, since it is a number with thousands otherwise.
func (s *scan) yearWithDot(n *num) int {
	end := s.dottedYear(n.start)
	start, e, l := s.monthBefore(n.start)
	if e.roles&month != 0 && !s.wordBefore(start) && (e.roles&shortName == 0 || l.tight) {
		s.addDate(s.fromMonth(start), end, 0.8)
		s.yearEnd = end
		return end
	}
	start, e = s.near(n.start)
	_, before := s.seasonBefore(n.start)
	switch {
	case e.roles&yearWord != 0:
		s.addDate(start, end, 0.9)
	case before.roles&season != 0, e.is("en") || e.is("desde"), e.is("el") && s.leadsYear(start), s.byteAt(n.start-1) == '(' && s.byteAt(end) == ')':
		s.addDate(n.start, end, 0.6)
	case e.roles&ofYear != 0 || s.aside(n.start, end):
		s.hint(n.start, end)
		return 0
	default:
		return 0
	}
	s.yearEnd = end
	return end
}

// leadsYear tells whether "en" or "desde" stands before i: "en el 1.998".
func (s *scan) leadsYear(i int) bool {
	_, e := s.near(i)
	return e.roles&atMonth != 0
}

// shortYear reads "año 97", "en el '08", "en el 97".
func (s *scan) shortYear(n *num) {
	if n.end-n.start != 2 || n.glued || !s.stops(n.end) || s.letterAt(n.end) || s.measured(n.end) {
		return
	}
	p, v := n.start, s.value(n.start, n.end)
	marked := s.byteAt(p-1) == '\'' || s.byteAt(p-1) == 0xB4 && s.byteAt(p-2) == 0xC2
	if marked {
		p--
		if s.byteAt(p) == 0xB4 {
			p--
		}
	}
	start, e := s.near(p)
	if b := s.byteAt(start - 1); b == '-' || b == '/' { // paquetes-año
		return
	}
	_, before := s.near(start)
	switch {
	case e.roles&yearWord != 0 && (marked || v >= 50 || s.text[n.start] == '0' && v > 0):
		s.addDate(start, n.end, 0.6)
	case (e.is("el") || e.is("del")) && (marked || v >= 70) && s.byteAt(n.end) != '%':
		if marked || before.roles&atMonth != 0 {
			s.addDate(p, n.end, 0.5)
		}
	}
}

// seasonBefore returns the season before a year: "verano de 2016".
func (s *scan) seasonBefore(i int) (start int, e *meaning) {
	start, e = s.near(i)
	if e.roles&monthOf != 0 {
		start, e = s.near(start)
	}
	return start, e
}

// aside tells whether text[i:j] stands apart: in brackets, also behind one
// word, "(IQ 5.2.15)", or before a colon, "TAC 13/9/5:".
func (s *scan) aside(i, j int) bool {
	p := s.spacesBefore(i)
	switch s.byteAt(s.spaces(j)) {
	case ':':
		return s.byteAt(p-1) != ':' && !isDigit(s.byteAt(s.spaces(j)+1))
	case ')':
		if s.byteAt(p-1) != '(' {
			w, _ := s.wordUpTo(p)
			p = s.spacesBefore(w)
		}
		return s.byteAt(p-1) == '('
	}
	return false
}

// listItem tells whether text[i:j] opens an item: "- 22/07 Reingreso".
func (s *scan) listItem(i, j int) bool {
	p := s.spacesBefore(i)
	if b := s.byteAt(p - 1); b != '-' && b != '*' && b != '>' {
		return false
	}
	b := s.byteAt(p - 2)
	return (b == 0 || b == ' ' || b == '\n' || b == '-') && s.space(j) > 0 && isUpper(s.byteAt(s.spaces(j)))
}

// happens tells whether a word for what is done or happens on a day stands
// before i: "intervención 16/1", "control 11-8".
func (s *scan) happens(i int) bool {
	if p := s.spacesBefore(i); s.byteAt(p-1) == ':' { // control: 10.2.13
		i = p - 1
	}
	w, e := s.near(i)
	if e.is("de") || e.is("del") { // IQ de 3/12/3
		_, e = s.near(w)
	}
	return e.roles&(occasion|forDate) != 0
}

// dated tells whether the word e at start, or one of the three before it, is
// "fecha": "fecha inicio tratamiento 1/6".
func (s *scan) dated(start int, e *meaning) bool {
	for range 4 {
		if e.is("fecha") || e.is("data") {
			return true
		}
		p := s.spacesBefore(start)
		if p == start {
			return false
		}
		w, next := s.wordUpTo(p)
		if w == p {
			return false
		}
		start, e = w, next
	}
	return false
}

// oneDigitYear judges 14/10/3 and tells whether it is a date.
func (s *scan) oneDigitYear(n *num, d, m, y int, sep1, sep2 byte, end int) bool {
	if sep1 != sep2 || sep1 == ' ' || n.glued || !isDay(d, m, 0) || !s.endsDate(end, 2) || s.measured(end) || s.readingBefore(n.start) {
		return false
	}
	entered := s.entered(n.start) || sep1 != '-' && s.happens(n.start)
	plain := d > 3 || m > 3 // 1-1-1 is a dose
	var score float32
	switch {
	case entered && plain:
		score = 0.7
	case sep1 == '/' && (d > 12 || s.text[n.start] == '0' || s.byteAt(n.end+1) == '0'):
		score = 0.5
	case sep1 == '/' && plain && s.byteAt(s.spacesBefore(n.start)-1) == '(' && m != y, sep1 == '/' && plain && s.aside(n.start, end), sep1 == '.' && d > 12:
		score = 0.45
	case sep1 == '/' && plain:
		s.hint(n.start, end)
		return false
	default:
		return false
	}
	s.addDate(n.start, end, score)
	return true
}

// dayDotMonth judges dd.mm, which is a number nearly always: only two figures
// each behind a word of time are a date.
func (s *scan) dayDotMonth(n *num, d, m int, led bool, end int) {
	if isDay(d, m, 0) && led {
		s.addDate(n.start, end, 0.5)
	}
}

// dayMonthAside judges d/m and d-m without a word of time before them: in
// brackets, before a colon or behind what happened that day, and not when it can
// be a score (4/5), a fraction or a range (3-4).
func (s *scan) dayMonthAside(n *num, d, m, end int) {
	if !isDay(d, m, 0) {
		return
	}
	switch {
	case (d > m || s.text[n.start] == '0') && s.listItem(n.start, end):
		s.addDate(n.start, end, 0.45)
	case d > m && s.aside(n.start, end) && !s.readingBefore(n.start), s.happens(n.start) && !s.fractional(n.start, end):
		s.addDate(n.start, end, 0.45)
	default:
		s.hint(n.start, end)
	}
}

// slipOfPen judges three parts with a day or month that does not exist:
// 40/1/2015, and behind "el día" also 67/2/20. It returns the end of a full date.
func (s *scan) slipOfPen(n *num, full bool, sep1, sep2 byte, end int) int {
	if sep1 != sep2 || sep1 != '/' && sep1 != '-' || n.glued {
		return 0
	}
	if full {
		s.addDate(n.start, end, 0.5)
		return end
	}
	if start, e := s.near(n.start); (e.roles&(days|weekday|forDate) != 0 || e.is("el")) && start < n.start {
		s.addDate(n.start, end, 0.4)
	}
	return 0
}

// slip judges a day with a figure too many: 210/5/13, "el día 128/2". Two parts
// are a blood pressure unless a day was announced.
func (s *scan) slip(n *num) int {
	sep := s.byteAt(n.end)
	if sep != '/' && sep != '-' || n.glued {
		return 0
	}
	m, second := n.end+1, s.digits(n.end+1)
	if w := second - m; w == 0 || w > 2 || !isMonth(s.value(m, second)) {
		return 0
	}
	_, e := s.near(n.start)
	announced := e.roles&(days|weekday|forDate) != 0 || e.is("el")
	if b := s.byteAt(second); b == '/' || b == '-' {
		y := second + 1
		end := s.digits(y)
		if w := end - y; (w == 2 || w == 4 && isYear(s.value(y, end))) && s.endsDate(end, w) && !s.measured(end) {
			if w == 4 || announced || s.aside(n.start, end) {
				s.addDate(n.start, end, 0.5)
				return end
			}
			s.hint(n.start, end)
		}
		return 0
	}
	if s.stops(second) && !s.letterAt(second) && !s.measured(second) && sep == '/' {
		switch {
		case announced || s.aside(n.start, second):
			s.addDate(n.start, second, 0.5)
			return second
		case s.happens(n.start) || e.is("del"):
			s.hint(n.start, second)
		}
	}
	return 0
}

// romans are the months in Roman figures.
var romans = [...]string{"I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII"}

// romanMonth reads 25-II-2010, 3.IV.08 and, behind "el día", 17-VI. Without a
// year and a word of time it is a grade or a nerve.
func (s *scan) romanMonth(n *num) int {
	sep := s.byteAt(n.end)
	if sep != '-' && sep != '/' && sep != '.' || n.glued {
		return 0
	}
	p := n.end + 1
	end := p
	for end < len(s.text) && end-p < 5 && (s.text[end] == 'I' || s.text[end] == 'V' || s.text[end] == 'X') {
		end++
	}
	m := 0
	for k, r := range romans {
		if string(s.text[p:end]) == r {
			m = k + 1
		}
	}
	if m == 0 || s.letterAt(end) || !isDay(s.value(n.start, n.end), m, 0) {
		return 0
	}
	if s.byteAt(end) == sep {
		y := end + 1
		e := s.digits(y)
		if dotted := s.dottedYear(y); dotted > 0 {
			e = dotted
		}
		if w := e - y; w == 5 || w == 4 && isYear(s.value(y, e)) || w == 2 && s.stops(e) {
			s.addDate(n.start, e, 0.9)
			return e
		}
		return 0
	}
	strong, _ := s.leadIn(n.start)
	if !strong && !s.definite(n.start) || !s.stops(end) || sep == '.' || s.byteAt(end) == '/' {
		return 0
	}
	s.addDate(n.start, end, 0.6)
	return end
}

// misspelt returns the month whose name the unknown word text[i:j] was meant
// to be: one letter too many or too few, or two exchanged, and in names of seven
// letters or more one letter wrong. The unknown meaning if there is none.
func (s *scan) misspelt(i, j int) *meaning {
	if j-i < 4 || j-i > 12 {
		return &unknown
	}
	w, ok := fold(s.text[i:j])
	if !ok {
		return &unknown
	}
	var typed [maxWord]byte
	n := w.letters(&typed)
	for _, m := range longMonths {
		if oneSlip(typed[:n], m) {
			name, _ := fold([]byte(m))
			return lexicon.look(name)
		}
	}
	return &unknown
}

// letters spells a folded word.
func (w *word) letters(dst *[maxWord]byte) int {
	n := w.len()
	for k := range n {
		if k < 8 {
			dst[k] = byte(w.lo >> (8 * k))
		} else {
			dst[k] = byte(w.hi >> (8 * (k - 8)))
		}
	}
	return n
}

// longMonths are the names of months that have five letters or more.
var longMonths = []string{
	"enero", "febrero", "marzo", "abril", "junio", "julio", "agosto", "septiembre", "setiembre", "octubre", "noviembre", "diciembre",
	"gener", "febrer", "juliol", "agost", "setembre", "novembre", "desembre",
}

// oneSlip tells whether a typed word is a name with one slip.
func oneSlip(typed []byte, name string) bool {
	long, short := len(typed), len(name)
	if long-short > 1 || short-long > 1 || long == 0 || typed[0] != name[0] {
		return false
	}
	i := 0 // the first difference
	for i < min(long, short) && typed[i] == name[i] {
		i++
	}
	switch {
	case long == short+1:
		return string(typed[i+1:]) == name[i:]
	case long+1 == short:
		return string(typed[i:]) == name[i+1:]
	case i+1 < long && typed[i] == name[i+1] && typed[i+1] == name[i]:
		return string(typed[i+2:]) == name[i+2:]
	}
	return long >= 7 && i < long && string(typed[i+1:]) == name[i+1:]
}
