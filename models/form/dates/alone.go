package dates

import "bytes"

// Numbers that stand alone: years, days, dates without signs, slips of the pen.

// judgeYear judges a year that stands alone: only words before it make it one.
func (f *Finder) judgeYear(i int) float32 {
	y := &f.items[i]
	e, k := f.lead(i)
	before := f.At(y.start - 1)
	if !y.sure {
		return f.shortYear(i, e, k)
	}
	if f.glued(i) || f.LetterAt(y.end) || f.measured(i) || !f.stops(i) && f.At(y.end) != '-' || y.value < 1920 || y.value > 2060 {
		return 0
	}
	score := f.yearLead(i, e, k, before)
	if y.dotted && score < 0.55 || y.dotted && e.is(ofTime) && !e.is(inTime|yearWord) {
		score = 0
		if e.is(article) && f.at(k-1).is(inTime) { // en el 1.998
			score = 0.6
		}
	}
	switch {
	case score > 0:
		f.year = y.end
		return score
	case f.continuesYear(i):
		f.year = y.end
		return 0.7
	case y.value >= 1950 && y.value < 2040 && e.is(ofTime) && !y.dotted && k > 0 && f.LetterAt(f.items[k-1].start):
		return 0.45
	case y.value >= 1970 && y.value < 2040:
		return hint
	}
	return 0
}

// yearLead is the score that the words before item i give to a year.
func (f *Finder) yearLead(i int, e *item, k int, before byte) float32 {
	switch {
	case e.is(yearWord):
		return 0.9
	case before == '(' && f.At(f.items[i].end) == ')':
		return 0.55
	case e.is(season), k > 0 && e.is(particle) && f.items[k-1].is(season), k > 0 && e.is(particle) && f.items[k-1].is(third):
		return 0.7
	case e.is(inTime), e.is(definite) && !e.is(ofTime):
		return 0.7
	case e.is(ofTime) && (e.is(article|opener)) || f.years(k):
		return 0.5
	case k > 0 && e.is(particle) && f.items[k-1].is(inTime): // des de 2005, abans de 2010
		return 0.7
	}
	return 0
}

// yearsTo returns the item behind the year at item i, or behind the last year of
// "1990-95".
func (f *Finder) yearsTo(i int) int {
	by, last := f.at(i+1), f.at(i+2)
	if f.items[i].sure && by.by("-/") && by.gap == 0 && last.gap == 0 && last.is(number) && last.width() == 2 &&
		last.value > f.items[i].value%100 && f.stops(i+2) && !f.measured(i+2) {
		return i + 3
	}
	return i + 1
}

// years tells whether item k is "años": los años 2003 y 2006.
func (f *Finder) years(k int) bool {
	return f.at(k).is(yearWord) && f.plural(&f.items[k])
}

// continuesYear tells whether item i goes on a list of years: 2003 y 2006.
func (f *Finder) continuesYear(i int) bool {
	if f.year < 0 || f.items[i].start-f.year > 5 {
		return false
	}
	j := f.at(i - 1)
	return i > 0 && (j.is(conn|until) || j.by(",-/"))
}

// shortYear reads "año 97", "en el '08", "en el 97", "1990-95".
func (f *Finder) shortYear(i int, e *item, k int) float32 {
	y := &f.items[i]
	if y.width() != 2 || f.glued(i) || !f.stops(i) || f.measured(i) {
		return 0
	}
	before := f.at(i - 1)
	apostrophe := i > 1 && y.gap == 0 && before.by("'") && before.gap > 0
	if e.is(yearWord) && k > 0 && f.items[k].gap == 0 { // paquetes-año
		return 0
	}
	switch {
	case e.is(yearWord) && (apostrophe || y.value >= 50 || f.Text[y.start] == '0' && y.value > 0):
		return 0.6
	case apostrophe && (e.is(article | inTime | speaks)):
		return 0.5
	case e.is(article) && !e.is(inTime) && y.value >= 70 && f.at(k-1).is(inTime):
		return 0.5
	}
	return 0
}

// judgeDayAlone reads the day of "el día 20", "hasta el día 3" and "los días 13
// y 14". Days of a treatment or cycle are counted and not dates: "el día 14 del
// ciclo", "día +3", "al día 2 comp".
func (f *Finder) judgeDayAlone(i int) (score float32, end int) {
	it := &f.items[i]
	e, k := f.lead(i)
	if e.by(":") && f.at(k-1).is(dayWord) { // DIA: 13
		k--
		e = &f.items[k]
	}
	if !it.is(number) || f.glued(i) || !f.stops(i) || f.measured(i) || f.listed(i) {
		return 0, i + 1
	}
	end = i + 1
	if k >= 0 && f.weekdayAt(k) && !e.is(ambiguous) || e.is(dayWord) && k > 0 && f.weekdayAt(k-1) {
		return 0.55, end
	}
	if !e.is(dayWord) {
		switch {
		case !e.is(article) || !f.countsNothing(i):
		case e.is(definite) && f.at(k-1).is(speaks), e.is(definite) && f.at(end).is(until) && f.at(end+1).is(clock) && it.value <= 31:
			return 0.45, end
		default:
			return hint, end
		}
		return 0, end
	}
	plural := f.plural(e)
	before := f.at(k - 1)
	if k == 0 {
		before = &absent
	}
	dosed := k > 1 && (f.items[k-2].is(number | unit)) // 50 mg/m2 el día 8
	for plural && f.at(end).is(conn) && f.at(end+1).is(number) && f.at(end+1).width() <= 2 {
		end += 2
	}
	switch {
	case !f.countsNothing(end - 1):
		return 0, i + 1
	case plural && end == i+1, it.value == 1 && f.at(end).is(conn) && f.at(end+1).is(number), dosed, before.is(often) && !before.is(article), before.is(number):
		return hint, end
	}
	return 0.5, end
}

// listed tells whether the number at item i is the first of days that share a
// month behind them.
func (f *Finder) listed(i int) bool {
	k := i + 1
	for range 4 {
		j := f.at(k)
		if !j.is(conn|until) && !j.by(",-") {
			return false
		}
		k++
		if f.at(k).is(article) {
			k++
		}
		if d := f.at(k); !d.is(number) || d.width() > 2 {
			return false
		}
		k++
		if j := f.at(k); j.by(")") {
			return f.at(k+1).is(ofTime) && f.at(k+2).is(month)
		}
		if m := f.at(f.glue(k, true)); m.is(month) || f.at(k).by("/") && f.at(k+1).is(number) {
			return true
		}
	}
	return false
}

// countsNothing tells whether what follows item i does not make it an amount,
// an ordinal or a day of something.
func (f *Finder) countsNothing(i int) bool {
	next := f.at(i + 1)
	if i+1 >= len(f.items) {
		return true
	}
	switch b := f.Text[next.start]; {
	case b == '+' || b == '%' || b == '/' || b|0x20 == 'x' && next.width() == 1:
		return false
	case b == ':' && f.at(i+2).is(number):
		return false
	}
	word := bytes.ToLower(f.Text[next.start:next.end])
	if next.is(ordinal) && next.gap == 0 || bytes.HasPrefix(word, []byte("post")) {
		return false
	}
	return !next.is(unit) && !(next.is(ofTime) && next.is(particle))
}

// slip reads what no reading has: a date without signs, 12032014; and slips of
// the pen, a day or month that does not exist: 40/1/2015, 210/5/13, and behind
// "el día" also 67/2/20 and 128/2. Two parts are a blood pressure unless a day was
// announced.
func (f *Finder) slip(i int) int {
	a := &f.items[i]
	if !a.is(number) || f.glued(i) || a.width() <= 2 && f.listed(i) {
		return 0
	}
	if w := a.width(); w == 6 || w == 8 {
		return f.compact(i, w)
	}
	s, b := f.at(i+1), f.at(i+2)
	if a.width() > 3 || !s.is(sign) || s.value != '/' && s.value != '-' && s.value != '.' || !b.is(number) || b.width() > 3 {
		return 0
	}
	e, _ := f.lead(i)
	announced := e.is(dayWord) || e.is(weekday|label|definite)
	if t, c := f.at(i+3), f.at(i+4); t.is(sign) && c.is(number) && b.width() <= 2 {
		if f.Digit(c.end) {
			return 0
		}
		whole := c.sure || c.width() == 4 && c.value > 2099 && c.value < 2300
		if !whole && (c.width() != 2 || !f.stops(i+4) || f.measured(i+4)) || s.value == '.' && !(whole && announced) {
			return 0
		}
		if t.value != s.value && !whole || a.width() == 3 && (b.value < 1 || b.value > 12) {
			return 0
		}
		if whole || announced && a.width() == 2 || a.width() == 3 && (announced || f.aside(i, i+5)) {
			f.done = c.end
			f.add(i, i+5, 0.5, whole)
			return i + 5
		}
		if a.width() == 3 {
			f.add(i, i+5, hint, false)
		}
		return 0
	}
	if s.value != '/' || !f.stops(i+2) || f.measured(i+2) || a.width() < 3 && b.width() < 3 {
		return 0
	}
	if a.width() == 3 && (b.width() > 2 || b.value < 1 || b.value > 12) || b.width() == 3 && !announced && !f.aside(i, i+3) {
		return 0
	}
	switch {
	case announced && !e.is(ofTime) || f.aside(i, i+3):
		f.done = b.end
		f.add(i, i+3, 0.5, false)
		return i + 3
	case f.happens(i) || e.is(ofTime):
		f.add(i, i+3, hint, false)
	}
	return 0
}

// compact judges 12032014, 20140312 and, behind a label, 120314.
func (f *Finder) compact(i, w int) int {
	if !f.stops(i) || i > 0 && f.items[i].gap == 0 && f.items[i-1].is(sign) && f.at(i-2).is(number) {
		return 0
	}
	j := f.items[i].start
	v := func(k, n int) int { return f.Value(j+k, j+k+n) }
	day := func(d, m, y int) bool { return m >= 1 && m <= 12 && d >= 1 && d <= daysIn(m, y) }
	labelled := f.labelled(i)
	score := float32(0)
	switch {
	case w == 8 && isYear(v(4, 4)) && day(v(0, 2), v(2, 2), v(4, 4)), w == 8 && isYear(v(0, 4)) && day(v(6, 2), v(4, 2), v(0, 4)):
		score = 0.45
		if labelled {
			score = 0.9
		}
	case w == 6 && labelled && day(v(0, 2), v(2, 2), 2000):
		score = 0.7
	default:
		return 0
	}
	f.done = f.items[i].end
	f.add(i, i+1, score, false)
	return i + 1
}
