package patterns

// The hard part of ages is that "5 años" is more often a time than an age:
// "desde hace 5 años", "de 5 años de evolución". A label, a person before it
// or "de edad" behind it speak for an age, words of duration on either side
// against it.

// ageFinder finds ages.
type ageFinder struct{ *scan }

// ageInDigits finds "70 años", "70a", "3 meses de edad", "Edad: 70",
// "70-year-old", "20-30 años".
func (s ageFinder) ageInDigits(n *num) {
	if n.end-n.start > 3 || n.inner || n.glued {
		return
	}
	if v := s.Value(n.start, n.end); v <= 120 {
		s.age(n.start, n.end, v, false)
	}
}

// word looks at the word at i, which may begin a written-out age or name a
// month.
func (s ageFinder) word(i int) {
	if _, e := s.wordFrom(i); !e.has(numeral) {
		return
	}
	cueFinder(s).spokenValue(i)
	end, v := s.numeral(i)
	s.age(i, end, v, true)
}

// numeral reads a written-out number at i: "setenta y dos", "seventy-two",
// "vint-i-u".
func (s ageFinder) numeral(i int) (end, v int) {
	end, e := s.wordFrom(i)
	if !e.has(numeral) {
		return 0, 0
	}
	v = int(e.number)
	if v < 20 || v%10 != 0 {
		return end, v
	}
	p := end
	for range 2 { // "y", "-i-", "-"
		q := p
		if s.At(q) == '-' {
			q++
		}
		q = s.Spaces(q)
		next, e := s.wordFrom(q)
		switch {
		case e.has(numeral) && e.number < 10:
			return next, v + int(e.number)
		case !e.has(joins):
			return end, v
		}
		p = next
	}
	return end, v
}

// quantity reads a number at i, digits or words.
func (s ageFinder) quantity(i int) (end, v int) {
	if j := s.Digits(i); j > i {
		if j-i > 3 {
			return 0, 0
		}
		return j, s.Value(i, j)
	}
	return s.numeral(i)
}

// high is the age from which people are rare: after such a number a word for years, or a verb such as cumple, suffices.
const high = 90

// An interval is a unit of age.
type interval struct {
	end   int
	ofOld bool // only a high number is an age with it: "primaveras"
	roles role // years, months, weeks or days
	tight bool // one letter: "70a"
	old   bool // "-year-old", "y.o."
}

// age judges the number text[start:end] of value v as an age.
func (s ageFinder) age(start, end, v int, spelled bool) {
	if v == 1 { // un siglo
		if stop, e := s.wordFrom(s.Spaces(end)); e.has(century) {
			s.add(start, stop, age, 0.6, false)
			return
		}
	}
	p := s.fraction(end)
	first, second := p, 0
	if q, list := s.upTo(p); q > 0 { // 20-30, 20 a 30; 22 y 24
		if qEnd, w := s.quantity(q); qEnd > 0 && w <= 120 {
			if u := s.interval(qEnd); u.roles != 0 && !u.tight {
				p = qEnd
				if list {
					second = q
				}
			}
		}
	}
	u := s.interval(p)
	switch {
	case u.roles == 0 && (!spelled || v >= high):
		s.bareAge(start, p, v)
		fallthrough
	case u.roles == 0, u.ofOld && v < 60:
		return
	}
	label := s.context(start)&forAge != 0
	unitEnd := s.more(u)
	score := s.ageScore(start, unitEnd, v, u, label, spelled)
	if b := s.At(unitEnd); v >= high && u.roles == years && b != '-' && b != '/' &&
		(!u.tight || (u.end == p+1 || s.endsClause(u.end)) && !s.streetBefore(start)) {
		score = max(score, 0.7) // nothing else lasts so long
	}
	switch {
	case score == 0:
	case second > 0:
		s.add(start, first, age, score, false)
		s.add(second, unitEnd, age, score, false)
	default:
		s.add(start, unitEnd, age, score, false)
	}
}

// fraction goes over the decimals behind a number: 2,5 años; 2½ años.
func (s ageFinder) fraction(p int) int {
	if b := s.At(p); (b == ',' || b == '.') && s.Digit(p+1) && !s.Digit(p+2) {
		return p + 2
	}
	if end, e := s.wordFrom(s.Spaces(p)); e.has(joins) { // y pico años
		if end, e := s.wordFrom(s.Spaces(end)); e.has(half) {
			return end
		}
	}
	return p
}

// upTo goes over what joins the two ends of a range, or, when list is true,
// two ages: "y", "or".
func (s ageFinder) upTo(p int) (next int, list bool) {
	q := s.Spaces(p)
	switch {
	case s.Dash(q) > 0:
		return s.Spaces(q + s.Dash(q)), false
	case s.At(q) == '/':
		return q + 1, false
	}
	end, e := s.wordFrom(q)
	if !e.has(joins) {
		return 0, false
	}
	return s.Spaces(end), !e.has(upTo)
}

// interval reads the unit behind a number that ends at p.
func (s ageFinder) interval(p int) (u interval) {
	q := s.Spaces(p)
	if q == p {
		q += s.Dash(q)
	}
	end, e := s.wordFrom(q)
	u.roles, u.ofOld, u.end = e.roles&(years|months|weeks|days), e.has(ofOld), end
	b := s.At(q) | 0x20
	switch {
	case end == q+1 && q > p && s.Digit(s.Spaces(end)): // de 10 a 16 h
		return interval{}
	case end == q+1 && b == 'a' && !s.Digit(end):
		u.roles, u.tight = years, true
		if s.At(end) == '/' || s.At(end) == '-' && s.AlnumAt(end+1) {
			u.roles = 0
		}
		return u
	case end == q+1 && b == 'y':
		return s.yearOld(q)
	case end == q+2: // yo, yr
		u.old = e.has(oldWord)
		return u
	case s.Digit(end):
		return interval{}
	}
	r := end
	if s.At(r) == '-' {
		r++
	}
	r = s.Spaces(r)
	if oldEnd, e := s.wordFrom(r); e.has(oldWord) {
		u.end, u.old = oldEnd, true
	}
	return u
}

// yearOld reads y.o., y/o at q.
func (s ageFinder) yearOld(q int) (u interval) {
	p := q + 1
	if b := s.At(p); b == '.' || b == '/' {
		p++
	}
	if s.At(p)|0x20 != 'o' || s.AlnumAt(p+1) {
		return u
	}
	p++
	if s.At(p) == '.' && s.At(p-2) == '.' {
		p++
	}
	return interval{end: p, roles: years, old: true}
}

// more goes over "y 10 meses", "y medio" behind a unit.
func (s ageFinder) more(u interval) int {
	if u.tight {
		return u.end
	}
	p := s.Spaces(u.end)
	if s.At(p) == ',' {
		p = s.Spaces(p + 1)
	}
	if end, e := s.wordFrom(p); e.has(joins) {
		p = s.Spaces(end)
	}
	if end, e := s.wordFrom(p); e.has(half) {
		return end
	}
	end, _ := s.quantity(p)
	if end == 0 {
		return u.end
	}
	if next := s.interval(end); next.roles&(months|weeks|days) != 0 {
		return next.end
	}
	return u.end
}

// bareAge takes a number without unit behind "Edad:", in "mujer de 45,", or
// before "de edad".
func (s ageFinder) bareAge(start, end, v int) {
	if s.Space(end) > 0 && s.Letter(s.Spaces(end)) {
		if ofAge, _, _ := s.behindAge(end); ofAge {
			s.add(start, end, age, 0.85, false)
			return
		}
	}
	if s.context(start)&forAge == 0 && !s.yearsBefore(start) {
		if v >= high && s.stops(end) && !s.measured(end) && s.announcesAge(start, end) {
			s.add(start, end, age, 0.6, false)
		} else if v >= 16 && s.endsClause(end) && s.stops(end) && s.personOf(start) {
			s.add(start, end, age, 0.55, false)
		}
		return
	}
	if b := s.At(s.SpacesBefore(start) - 1); b == '<' || b == '>' {
		return
	}
	if !s.stops(end) || s.measured(end) && s.At(s.Spaces(end))|0x20 != 'h' || s.At(end) == '-' || s.LetterAt(end) {
		return
	}
	s.add(start, end, age, 0.8, false)
}

// yearsBefore tells whether a number of years is announced before i: "Años: 93",
// "Edad (años): 93".
func (s ageFinder) yearsBefore(i int) bool {
	p := s.SpacesBefore(i)
	if s.At(p-1) != ':' {
		return false
	}
	if p--; s.At(p-1) == ')' {
		p--
	}
	start, e := s.wordUpTo(p)
	return e.has(years) && s.At(start-1) != '-' && s.At(start-1) != '/' // packets a year
}

// announcesAge tells whether the words before a high number that ends at end say
// that it is an age: "nonagenaria de 94", "cumple 95", "a los 93,", "Mujer, 93,".
func (s ageFinder) announcesAge(i, end int) bool {
	ends := s.endsClause(end)
	p := s.SpacesBefore(i)
	if b := s.At(p - 1); b == ',' || b == '(' {
		p = s.SpacesBefore(p - 1)
	}
	start, e := s.wordUpTo(p)
	switch {
	case e.has(atAges):
		return ends
	case e.has(theAges):
		_, e = s.near(start)
		return e.has(turns) || e.has(fromAge) && ends
	case e.has(turns):
		behind, e := s.wordFrom(s.Spaces(end))
		return ends || e.has(intoDate|filler|lately) || s.endsClause(behind)
	case e.has(with):
		_, e = s.near(start)
		return ends && e.has(person)
	case e.has(of):
		return s.personOf(i)
	}
	return ends && e.has(person) && p-start > 1
}

// personOf tells whether "de" and directly before it a person stand before i.
func (s ageFinder) personOf(i int) bool {
	start, lead := s.near(i)
	end := s.SpacesBefore(start)
	first, e := s.wordUpTo(end)
	return lead.has(of) && e.has(person) && end-first > 2
}

// ageScore weighs the words on both sides; 0 means that it is no age.
func (s ageFinder) ageScore(start, end, v int, u interval, label, spelled bool) float32 {
	ofAge, lasting, qualified := s.behindAge(end)
	person, before, lead := s.beforeAge(start)
	switch {
	case u.old || ofAge:
		return 0.95
	case label:
		return 0.95
	case u.roles == years && !u.tight && s.ownSentence(start, end):
		return 0.75
	case lasting, before:
		return 0
	case !qualified && u.roles&days == 0 && s.grownAt(start):
		return 0.8
	case u.roles&(days|weeks) != 0 && qualified:
		return 0
	case person:
		return 0.9
	}
	if u.roles != years || qualified || spelled && v < 3 {
		return 0
	}
	opening := s.opensLine(start)
	switch {
	case u.tight && opening && (v >= 15 && s.Digit(end-2) || s.endsClause(end)):
		return 0.7
	case u.tight && v >= 15 && s.Digit(end-2) && !s.streetBefore(start):
		return 0.6
	case u.tight:
		return 0
	case opening:
		return 0.75
	case lead == "a los":
		return 0.65
	case lead == "de" && v >= 16:
		return 0.7
	case lead == "de":
		return 0.5
	case lead == "con":
		return 0.6
	case v >= 16 && !spelled:
		return 0.5
	}
	return 0
}

// opensLine tells whether a line or the text begins at i.
func (s ageFinder) opensLine(i int) bool {
	p := s.SpacesBefore(i)
	return p == 0 || s.Text[p-1] == '\n'
}

// ownSentence tells whether text[start:end] is a sentence by itself, "Tos. 7 anys":
// a time says what it is of. All such numbers of notes-ca and notes-voices (train) are ages.
func (s ageFinder) ownSentence(start, end int) bool {
	p, q := s.SpacesBefore(start), s.Spaces(end)
	before, behind := s.At(p-1), s.At(q)
	opens := p < start && (before == ';' || before == '.' && s.LetterBefore(p-1) && p > 4)
	return opens && (q == len(s.Text) || behind == '.' || behind == '\n')
}

// behindAge judges the words behind a unit: ofAge for "de edad", lasting for
// "de evolución" or "después", qualified for "de" with another noun.
func (s ageFinder) behindAge(end int) (ofAge, lasting, qualified bool) {
	p := s.Spaces(end)
	switch s.At(p) {
	case '/':
		return false, true, false
	case '(':
		return false, false, false
	case '-': // años-paquete
		p++
	}
	var last *meaning
	for k := range 3 {
		q, e := s.wordFrom(p)
		switch {
		case e.has(aged) && (k == 0 || last.has(of)):
			return true, false, false
		case e.has(lasted):
			return false, !(e.has(joins)), qualified
		case !e.has(ageOf | monthOf | filler):
			return false, false, qualified
		}
		last = e
		qualified = qualified || e.has(of|ofThe)
		p = s.Spaces(q + s.Apostrophe(q))
	}
	return false, false, qualified
}

// beforeAge judges the words before an age: a person within three words, a
// word of duration nearer than any person; lead is the word directly before.
func (s ageFinder) beforeAge(start int) (someone, lasting bool, lead string) {
	p := start
	unknownWords := 0
	for k := range 5 {
		q := s.SpacesBefore(p)
		switch s.At(q - 1) {
		case ',', '(', ':', '-', '>', '<':
			if k == 0 || s.At(q-1) == ',' {
				q = s.SpacesBefore(q - 1)
			}
		case '.':
			if w, e := s.wordUpTo(q - 1); e.has(person) && q-w <= 5 { // Sr. 70 a
				q--
			}
		}
		w, e := s.wordUpTo(q)
		if w == q {
			return false, false, lead
		}
		if k == 0 {
			lead = leadName(e)
		}
		switch {
		case e.has(person) && (q-w > 1 || unknownWords == 0 && s.sexLetter(w)):
			return true, false, lead
		case e.has(lasts) && !e.has(years|months|weeks|days):
			return false, true, lead
		case k == 0 && s.atAge(e, w):
			return false, false, "a los"
		}
		if !e.has(ageOf | filler) {
			unknownWords++
			if unknownWords > 2 {
				return false, false, lead
			}
		}
		p = w
	}
	return false, false, lead
}

// grownAt tells whether the words before i say that something happened at an
// age: "camina a los", "vacunas de los".
func (s ageFinder) grownAt(i int) bool {
	start, e := s.near(i)
	if !e.has(theAges | atAges) {
		return false
	}
	for range 3 {
		i = start
		start, e = s.near(i)
		switch {
		case e.has(grows):
			return true
		case !e.has(filler | intoDate):
			return false
		}
	}
	return false
}

// sexLetter tells whether the single letter at i may be a sex (V, M, H, D): a
// capital that does not follow a number.
func (s ageFinder) sexLetter(i int) bool {
	return s.Upper(i) && !s.Digit(s.SpacesBefore(i)-1)
}

// leadName names the words that ageScore asks for.
func leadName(e *meaning) string {
	switch {
	case e.has(of):
		return "de"
	case e.has(with):
		return "con"
	}
	return ""
}

// atAge tells whether the word e that starts at i ends "a los", "desde los",
// "als", "fins als": an age at which something began or ended.
func (s ageFinder) atAge(e *meaning, i int) bool {
	switch {
	case e.has(atAges):
		return true
	case e.has(theAges):
		_, first := s.near(i)
		return first.has(fromAge)
	}
	return false
}
