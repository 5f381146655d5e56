package dates

import (
	"bytes"
	"unicode/utf8"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

const hint = float32(pipeline.HintScore)

// judge returns the score of a date that was read from items i to next, 0 if it
// is none, and the item behind it: a year that belongs to something else is left.
func (f *Finder) judge(d *date, i, next int) (score float32, end int) {
	switch {
	case d.shape == triple:
		return f.judgeTriple(d, i, next), next
	case d.shape == pair:
		return f.judgePair(d, i, next), next
	case d.day != none && d.month != none:
		return f.judgeDay(d, i, next)
	case d.month != none && d.year != none:
		return f.judgeMonth(d, i, next), next
	case d.month != none:
		return f.judgeMonthAlone(d, i), next
	case d.season != none:
		return f.judgeSeason(d, i), next
	case d.year != none:
		return f.judgeYear(i), f.yearsTo(i)
	}
	return f.judgeDayAlone(i)
}

// signs tells whether items i to j are numbers with one sign between two, and
// no blanks around points.
func (f *Finder) signs(i, j int) bool {
	for k := i + 1; k < j; k++ {
		it := &f.items[k]
		if it.is(number) {
			continue
		}
		if f.items[k-1].is(sign) && it.value != '/' || !it.is(sign) || it.value == ',' || it.value == '\'' || it.value == '\\' || it.value == '.' && it.gap+f.items[k+1].gap > 0 {
			return false
		}
	}
	return true
}

// stops tells whether a number may end behind item k: no digit follows, not
// even behind a sign, and no letter.
func (f *Finder) stops(k int) bool {
	j := f.items[k].end
	b := f.At(j)
	if cut.IsDigit(b) || f.LetterAt(j) {
		return false
	}
	return bytes.IndexByte([]byte(".,/-:"), b) < 0 || b == 0 || !f.Digit(j+1)
}

// measured tells whether a unit follows item k: "mg", "%", "/h".
func (f *Finder) measured(k int) bool {
	next := f.at(k + 1)
	if k+1 >= len(f.items) || next.gap > 2 {
		return false
	}
	switch b := f.Text[next.start]; {
	case b == '%' || b == 0xCE || next.is(unit) && !next.is(monthly) && !(next.width() == 1 && f.at(k+2).by("'")):
		return true
	case b == 0xC2:
		c := f.At(next.start + 1)
		return c == 0xB0 || c == 0xBA || c == 0xB5
	case b == '/':
		return f.LetterAt(next.end)
	}
	return false
}

// glued tells whether a letter touches item i from the left.
func (f *Finder) glued(i int) bool {
	r, _ := utf8.DecodeLastRune(f.Text[:f.items[i].start])
	if i == 0 || f.items[i].gap > 0 || f.items[i-1].is(sign) || !f.LetterAt(f.items[i].start-utf8.RuneLen(r)) {
		return false
	}
	before := &f.items[i-1] // el12/3, control11-8
	return before.width() < 2 || !before.is(article|speaks|occasion|label|conn)
}

// lead returns the item that stands before item i, over an apostrophe, and
// where it is.
func (f *Finder) lead(i int) (*item, int) {
	i--
	if f.at(i).by("'") {
		i--
	}
	if i < 0 || f.at(i+1).gap > 2 {
		return &absent, -1
	}
	return &f.items[i], i
}

// leadIn judges the word before a date without year. Strong ones speak of time
// only.
func (f *Finder) leadIn(i int) (strong, weak bool) {
	e, k := f.lead(i)
	weak = e.is(article) || e.is(speaks)
	if e.by(":.") && f.items[k].gap == 0 && f.at(k-1).is(speaks) {
		return true, true // dia: 13
	}
	if e.is(article) && !e.is(speaks) && k > 0 {
		k--
		e = &f.items[k]
	}
	return e.is(speaks) || k >= 0 && f.weekdayAt(k) || f.labelled(i), weak
}

// labelled tells whether "fecha", "nacido" or the like stands before item i,
// over articles and signs; over three other words, too, if it is "fecha".
func (f *Finder) labelled(i int) bool {
	others := 0
	for k := i - 1; k >= max(i-8, 0); k-- {
		it := &f.items[k]
		switch {
		case it.is(label):
			return others == 0 || it.is(speaks)
		case it.is(number), it.is(sign) && (it.value == '.' || it.value == '(') && others > 0:
			return false
		case !it.is(particle | opener | conn | sign | article):
			if others++; others > 3 {
				return false
			}
		}
	}
	return false
}

// entered tells whether a word that leads to a date stands before item i.
func (f *Finder) entered(i int) bool {
	strong, weak := f.leadIn(i)
	return strong || weak
}

// happens tells whether a word for what is done or happens on a day stands
// before item i: "intervención 16/1", "control 11-8", "IQ de 3/12/3".
func (f *Finder) happens(i int) bool {
	k := i - 1
	if f.at(k).by(":") || k >= 0 && (f.items[k].is(ofTime)) {
		k--
	}
	return k >= 0 && (f.items[k].is(occasion | label))
}

// scored tells whether a word such as Apgar stands before item i: scores and
// pressures are written with slashes too.
func (f *Finder) scored(i int) bool {
	k := i - 1
	if f.at(k).by(":.") {
		k--
	}
	return f.at(k).is(reading)
}

// aside tells whether items i to j stand apart: in brackets, also behind one
// word, "(IQ 5.2.15)", or before a colon, "TAC 13/9/5:".
func (f *Finder) aside(i, j int) bool {
	after := f.at(j)
	before := func(k int) int {
		if f.at(k).is(sign) {
			return f.items[k].value
		}
		return 0
	}
	if !after.is(sign) {
		return false
	}
	switch after.value {
	case ':':
		return before(i-1) != ':' && !(f.at(j+1).is(number) && f.items[j+1].gap == 0)
	case ')':
		return before(i-1) == '(' || before(i-2) == '('
	}
	return false
}

// opensItem tells whether items i to j open an item: "- 22/07 Reingreso".
func (f *Finder) opensItem(i, j int) bool {
	if i < 1 {
		return false
	}
	b := f.Text[f.items[i-1].start]
	if b != '-' && b != '*' && b != '>' || i > 1 && f.items[i-1].gap == 0 {
		return false
	}
	return f.at(j).gap > 0 && j < len(f.items) && f.Text[f.items[j].start]-'A' < 26
}

// judgeTriple judges three numbers.
func (f *Finder) judgeTriple(d *date, i, next int) float32 {
	a, c := &f.items[d.a], &f.items[d.c]
	blank := d.by == 0 && d.then == 0
	if d.then == 0 && d.by != 0 && (c.gap == 0 || c.sure && c.gap == 1) { // 12/032014, 6/08 2011
		d.then = d.by
	}
	if !f.signs(i, next) || (d.by == 0) != (d.then == 0) || next-i > 6 || f.LetterAt(c.end) && !(c.sure || a.sure) {
		return 0
	}
	after := f.At(c.end)
	if a.sure {
		if blank || d.by != d.then || after == byte(d.then) && f.Digit(c.end+1) {
			return 0
		}
		return 0.95
	}
	if d.orders&(1<<DMY|1<<MDY) == 0 || c.sure && after == '/' && f.Digit(c.end+1) || !c.sure && !f.stops(d.c) {
		return 0
	}
	american := d.orders&(1<<DMY) == 0
	if american && (blank || d.by == '.' && !c.sure) {
		return 0
	}
	score := f.tripleScore(d, i, next, blank)
	if american {
		score -= 0.2
	}
	if c.width() == 1 {
		return score
	}
	if score > 0 && (f.entered(i) || d.by == '.' && f.happens(i)) {
		score += 0.35
	}
	switch {
	case score >= 0.35:
		return min(score, 0.99)
	case score >= 0.2:
		return hint
	}
	return 0
}

// tripleScore is the score of three numbers by their form.
func (f *Finder) tripleScore(d *date, i, next int, blank bool) float32 {
	a, b, c := &f.items[d.a], &f.items[d.b], &f.items[d.c]
	two := a.width() == 2 && b.width() == 2
	switch {
	case c.sure && blank:
		return 0.5
	case c.sure && d.by != d.then:
		return 0.75
	case c.sure:
		return 0.95
	case c.width() == 1:
		return f.oneDigitYear(d, i, next)
	case f.glued(i) || f.measured(d.c) || f.measured(next) && f.aside(i, next) || d.by != d.then || f.scored(i):
		return 0
	case d.by == '/' && two:
		return 0.8
	case d.by == '/':
		return 0.65
	case blank:
		return 0.1
	case two:
		return 0.65
	case d.by == '-' && f.at(i-1).is(dosage):
		return hint
	case d.by == '-':
		return 0.45
	case a.value > 12 || f.aside(i, next):
		return 0.4
	}
	return 0.2
}

// oneDigitYear judges 14/10/3. 1-1-1 is a dose.
func (f *Finder) oneDigitYear(d *date, i, next int) float32 {
	a, b, c := &f.items[d.a], &f.items[d.b], &f.items[d.c]
	if d.by != d.then || d.by == 0 || f.glued(i) || d.orders&(1<<DMY) == 0 || f.measured(d.c) || f.scored(i) {
		return 0
	}
	entered := f.entered(i) || d.by != '-' && f.happens(i)
	plain := a.value > 3 || b.value > 3
	slash := d.by == '/'
	switch {
	case entered && plain:
		return 0.7
	case slash && (a.value > 12 || f.Text[a.start] == '0' || f.Text[b.start] == '0'):
		return 0.5
	case slash && plain && f.at(i-1).by("(") && b.value != c.value,
		slash && plain && f.aside(i, next), d.by == '.' && a.value > 12:
		return 0.45
	case slash && plain:
		return hint
	}
	return 0
}

// judgePair judges month and year, or day and month, in numbers.
func (f *Finder) judgePair(d *date, i, next int) float32 {
	a, b := &f.items[d.a], &f.items[d.b]
	if d.by == 0 || next-i != 3 || !f.signs(i, next) || f.glued(i) || !f.stops(next-1) || f.measured(next-1) {
		return 0
	}
	switch slash, tight := d.by == '/', b.gap == 0 && f.items[i+1].gap == 0; {
	case b.sure && slash:
		return 0.85
	case b.sure && d.by == '-':
		return 0.6
	case b.sure:
		if d.by == '.' && a.width() == 2 && (f.Text[a.start] == '0' || f.entered(i)) {
			return 0.5
		}
		return 0
	case a.sure:
		if b.width() == 2 && tight && d.by != '.' {
			return 0.55
		}
		return 0
	}
	return f.dayAndMonth(d, i, next)
}

// dayAndMonth judges d/m and m/yy, which need a word before them.
func (f *Finder) dayAndMonth(d *date, i, next int) float32 {
	a, b := &f.items[d.a], &f.items[d.b]
	if f.scored(i) || f.dose(i, next) {
		return 0
	}
	listed := f.continues(i)
	strong, weak := f.leadIn(i)
	e, _ := f.lead(i)
	padded := a.width() == 2 && b.width() == 2
	isDay := d.orders&(1<<DMY) != 0 && b.value <= 12 && a.value <= 31
	slash := d.by == '/'
	switch {
	case d.by == '-' && b.value == a.value+1 && !padded && !e.is(definite): // al alta 3-4
		return hint
	case d.by == '-' && a.value < b.value && f.cycle(i):
		return hint
	case d.by == '.':
		if isDay && padded && strong {
			return 0.5
		}
		return 0
	case !strong && !weak && !listed:
		return f.dayAside(i, next, isDay)
	case !isDay:
		if a.value <= 12 && padded && slash && (f.Text[a.start] == '0' || strong) {
			return 0.5
		}
		return 0
	case (strong || listed) && !f.fraction(i, next):
		return 0.7
	case slash && (padded || a.value > 12 || f.Text[a.start] == '0' || f.Text[b.start] == '0'):
		return 0.6
	case padded && e.is(definite):
		return 0.5
	case slash && e.is(definite) && !f.fraction(i, next) && (!e.is(ofTime) || a.value > b.value):
		return 0.5
	}
	return f.dayAside(i, next, isDay)
}

// cycle tells whether the days from item i on are those of a cycle of treatment,
// "días 1-5". Days of a month have an article: "los días 13-14".
func (f *Finder) cycle(i int) bool {
	e, k := f.lead(i)
	return e.is(dayWord) && f.plural(e) && (f.items[i].value == 1 || !f.at(k-1).is(article))
}

// plural tells whether an item ends in s: días.
func (f *Finder) plural(e *item) bool { return e.end > 0 && f.Text[e.end-1]|0x20 == 's' }

// dayAside judges d/m and d-m without a word of time before them: in brackets,
// before a colon or behind what happened that day, and not when it can be a
// score (4/5), a fraction or a range (3-4).
func (f *Finder) dayAside(i, next int, isDay bool) float32 {
	a, b := &f.items[i], &f.items[next-1]
	switch {
	case !isDay:
		return 0
	case (a.value > b.value || f.Text[a.start] == '0') && f.opensItem(i, next):
		return 0.45
	case a.value > b.value && f.aside(i, next) && !f.scored(i), f.happens(i) && !f.fraction(i, next) && b.end-a.start > 3:
		return 0.45
	case f.happens(i) && !f.fraction(i, next) && a.value != b.value:
		return 0.45
	}
	return hint
}

// small tells whether items i to next are "2/3" or another small fraction.
func (f *Finder) small(i, next int) bool {
	a, b := &f.items[i], &f.items[next-1]
	return b.end-a.start == 3 && f.Text[a.end] == '/' && a.value < b.value && b.value <= 4
}

// fraction tells whether items i to next are a fraction that no day goes before.
func (f *Finder) fraction(i, next int) bool {
	if !f.small(i, next) {
		return false
	}
	e, _ := f.lead(i)
	return !(e.is(dayWord) && !f.plural(e)) && !e.is(label|weekday)
}

// dose tells whether d/m behind a weekday is a fraction of a tablet: "1 comp
// diario, lunes y jueves 1/2", "martes 3/4, resto 1/2".
func (f *Finder) dose(i, next int) bool {
	e, k := f.lead(i)
	if !e.is(weekday) || !f.small(i, next) {
		return false
	}
	after := f.at(next)
	if after.is(sign) {
		after = f.at(next + 1)
	}
	if after.is(dosage) {
		return true
	}
	for k--; k >= 0 && (f.items[k].is(sign | conn)); k-- {
	}
	return k >= 0 && (f.items[k].is(dosage | weekday))
}

// continues tells whether item i goes on a list of dates: " y ", ", ", " al ".
func (f *Finder) continues(i int) bool {
	k := i - 1
	if f.at(k).is(article) && !f.items[k].is(until) {
		k--
	}
	return k >= 1 && f.items[k-1].end == f.done && (f.items[k].is(conn|until) ||
		f.items[k].by(",-/"))
}

// judgeDay judges a day with the name of its month, with a year or without.
func (f *Finder) judgeDay(d *date, i, next int) (float32, int) {
	m := &f.items[d.month]
	if d.month < d.day {
		return f.judgeEnglish(d, i, next), next
	}
	if d.year != none && d.year < d.month { // 2014-Oct-12
		if f.glued(i) || !f.stops(next-1) || f.measured(next-1) {
			return 0, next
		}
		return 0.8, next
	}
	if m.wordOf(month, f.language).form == roman {
		return f.judgeRoman(d, i, next), next
	}
	if f.named(i) {
		return 0, next
	}
	if !f.joins(d.day, d.month) {
		return 0, next
	}
	if d.year != none {
		if f.yearOf(d) {
			if f.items[d.year].sure {
				return 0.95, next
			}
			return 0.8, next
		}
		next = d.month + 1
		d.year = none
	}
	j := m.end
	if f.Digit(j) || f.LetterAt(j) {
		return 0, next
	}
	word := f.items[i].is(first) || f.items[i].is(numeral)
	of := f.items[d.month-1].is(particle)
	short := m.wordOf(month, f.language).form == short
	strong, weak := f.leadIn(i)
	glued := f.glued(i)
	switch {
	case word && !of, word && f.items[i].is(numeral) && short:
		return 0, next
	case !short && (of || !m.is(ambiguous)):
		return 0.85, next
	case short && of && m.is(ambiguous): // exones 1 al 8 del gen
		return 0, next
	case strong || weak && !glued && !f.at(i-1).is(inTime|ofTime):
		return 0.75, next
	case !m.is(ambiguous) && !glued:
		return 0.65, next
	case m.is(ambiguous) && !of && !glued && f.items[i+1].is(sign) && f.items[i+1].value != '/' && !f.items[i].is(numeral):
		return 0.55, next
	}
	return hint, next
}

// yearOf tells whether the year behind the month of a date is its year. Two
// digits need a sign, a connector or an apostrophe before them, or an end
// behind.
func (f *Finder) yearOf(d *date) bool {
	if !f.joins(d.month, d.year) {
		return false
	}
	y, before := &f.items[d.year], &f.items[d.year-1]
	after := f.At(y.end)
	behind := f.at(d.year + 1)
	if y.sure {
		return !((after == ':' || after == '/') && f.Digit(y.end+1))
	}
	if !f.stops(d.year) || f.measured(d.year) || behind.by(":") || y.width() == 1 {
		return false
	}
	if before.is(sign) && before.value != ',' && (y.gap == 0 || before.value != '.') || before.is(particle) && !before.is(article) ||
		before.is(yearWord) || before.is(ofTime) || y.gap == 0 && d.day != none {
		return true
	}
	return d.day != none && !before.is(particle) && f.ends(d.year)
}

// joins tells whether the words between items i and j are those between day,
// month and year: no "a las".
func (f *Finder) joins(i, j int) bool {
	for k := i + 1; k < j; k++ {
		if it := &f.items[k]; !it.is(sign) && !it.is(ofTime|yearWord|ordinal|definite) {
			return false
		}
	}
	return true
}

// ends tells whether nothing or punctuation follows item k.
func (f *Finder) ends(k int) bool {
	j := f.items[k].end
	if f.At(j) == ' ' {
		j++
	}
	switch f.At(j) {
	case 0, '.', ',', ';', ')', '\n', '\r', ':':
		return true
	}
	return false
}

// named tells whether a place that may be named after a day stands before item
// i: "Hospital 12 de Octubre", "calle 2 de Mayo".
func (f *Finder) named(i int) bool {
	k := i - 1
	for k >= 0 && f.items[k].gap < 3 && (f.items[k].is(sign) && f.items[k].value != ',' && f.items[k].value != '(' && f.items[k].value != ')' && f.items[k].value != ':' ||
		f.Text[f.items[k].start] == '"') {
		k--
	}
	if k > 0 && f.items[k].is(ofTime) && (f.items[i].value > 0 || !f.items[i].is(number)) { // plaça del Vuit de Març
		k--
	}
	if k < 0 {
		return false
	}
	it := &f.items[k]
	if it.width() == 1 && f.Text[it.start]|0x20 == 'h' { // H. 12 de Octubre; not "a las 10 h"
		return k == 0 || !f.items[k-1].is(number)
	}
	return it.is(naming)
}

// judgeEnglish judges "January 24, 2014" and, with names that are English only,
// "January 24".
func (f *Finder) judgeEnglish(d *date, i, next int) float32 {
	m, day := &f.items[d.month], &f.items[d.day]
	if day.gap > 1 || f.glued(i) || d.day > d.month+2 || !f.stops(next-1) || f.measured(next-1) || m.wordOf(month, english).langs>>english&1 == 0 {
		return 0
	}
	if d.year != none {
		return 0.9
	}
	if m.is(foreign) && day.gap+f.items[d.day-1].gap > 0 {
		return 0.6
	}
	return 0
}

// judgeRoman judges 25-II-2010 and, behind "el día", 17-VI. Without a year and a
// word of time it is a grade or a nerve.
func (f *Finder) judgeRoman(d *date, i, next int) float32 {
	m := &f.items[d.month]
	if m.gap > 0 || f.items[d.month-1].gap > 0 || !f.items[d.month-1].is(sign) || f.glued(i) {
		return 0
	}
	for _, b := range f.Text[m.start:m.end] {
		if b >= 'a' {
			return 0
		}
	}
	sep := f.items[d.month-1].value
	if d.year != none {
		if y := &f.items[d.year]; y.gap == 0 && f.items[d.year-1].value == sep && (y.sure || y.width() == 2 && f.stops(d.year)) {
			return 0.9
		}
		return 0
	}
	strong, _ := f.leadIn(i)
	e, _ := f.lead(i)
	if !strong && !e.is(article) || !f.stops(next-1) || sep == '.' || f.At(m.end) == '/' {
		return 0
	}
	return 0.6
}

// judgeMonth judges "enero de 2014", "oct-nov 2013", "nov-06", "2014 oct".
func (f *Finder) judgeMonth(d *date, i, next int) float32 {
	m, y := &f.items[d.month], &f.items[d.year]
	w := m.wordOf(month, f.language)
	short, loose := w.form != full, m.is(ambiguous)
	if w.form == roman || i > 0 && m.gap == 0 && f.glued(i) {
		return 0
	}
	if d.year < d.month {
		before := &f.items[d.month-1]
		tight := before.is(sign) && before.value != ',' && before.value != '.'
		if f.glued(i) || before.is(particle) || before.is(sign) && !tight || loose && !tight || f.LetterAt(m.end) {
			return 0
		}
		if k := f.glue(next, true); f.at(k).sure { // "2014, enero 2015" is two dates
			return 0
		}
		return 0.6
	}
	before := &f.items[d.year-1]
	if !f.joins(d.month, d.year) {
		return 0
	}
	if !f.stops(d.year) && !(y.sure && f.At(y.end) != '/') || f.measured(d.year) || f.LetterAt(y.end) && !y.sure {
		return 0
	}
	tight := before.is(sign) && before.value != ',' && before.value != '.'
	of := before.is(particle) || before.is(yearWord)
	switch {
	case y.sure && (!short || !loose):
		return 0.9
	case y.sure && of: // des de 2005
		return 0
	case y.sure:
		return 0.7
	case y.width() == 1:
		if before.value == '/' && tight && !loose && f.ends(d.year) {
			return 0.5
		}
		return 0
	case tight && before.value == '\'', of && !short, tight && (!loose || before.value == '-' || f.at(i-1).is(inTime)):
		return 0.6
	case !short && !loose && f.Text[y.start] == '0' && f.ends(d.year):
		return 0.5
	case !short && !loose && y.value < 30:
		return hint
	}
	return 0
}

// judgeMonthAlone judges a month that stands without digits: behind a word of
// time ("en octubre", "a finales de mayo", "el mes de abril") or as the first of
// a range: "enero a marzo 2012".
func (f *Finder) judgeMonthAlone(d *date, i int) float32 {
	m := &f.items[i]
	w := m.wordOf(month, f.language)
	if f.LetterAt(m.end) || f.glued(i) || w.form == roman || f.named(i) {
		return 0
	}
	if w.form == full && m.width() == 4 && w.value == 3 { // Marc
		return 0
	}
	if f.rangeOfMonths(i) {
		return 0.6
	}
	lead, k := f.lead(i)
	if k > 0 && lead.is(particle) && !lead.is(inTime) { // finales de mayo, del mes de mayo
		lead = &f.items[k-1]
		if lead.is(number) {
			return 0
		}
		if !lead.is(third | monthly | inTime | speaks) {
			lead = &absent
			if f.items[k].is(article) && !f.items[k].is(ofTime) && !m.is(ambiguous) && w.form == full {
				return 0.5 // al abril
			}
		}
	}
	switch {
	case w.form == short:
		if lead.is(inTime) && !m.is(ambiguous) && m.width() == 3 {
			return 0.4
		}
		return 0
	case lead.is(inTime|third|monthly) || lead.is(speaks) && k >= 0:
		return 0.5
	case !m.is(ambiguous | foreign):
		return hint
	}
	return 0
}

// rangeOfMonths tells whether the month at item i is the first of a range that
// ends with another and its year.
func (f *Finder) rangeOfMonths(i int) bool {
	j := f.at(i + 1)
	if !j.is(until|conn) && !j.by("-/") {
		return false
	}
	m := f.at(i + 2)
	if !m.is(month) || m.wordOf(month, f.language).form == roman || m.is(numeral) && !m.is(month) {
		return false
	}
	k := f.glue(i+3, true)
	return f.at(k).sure || f.isYearOf(k) && f.items[k-1].is(sign)
}

// judgeSeason judges "verano de 2016" and the first season of
// "otoño-invierno 2012".
func (f *Finder) judgeSeason(d *date, i int) float32 {
	if d.year != none {
		if y := &f.items[d.year]; y.sure && !f.measured(d.year) {
			return 0.7
		}
		return 0
	}
	j := f.at(i + 1)
	if (j.is(conn) || j.by("-/")) && f.at(i+2).is(season) && f.at(f.glue(i+3, true)).sure {
		return 0.7
	}
	return 0
}
