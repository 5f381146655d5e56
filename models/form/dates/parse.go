package dates

import "github.com/velum-health/velum/pipeline"

// none marks a part that a date lacks.
const none = -1

// date is one date of an expression: the items that are its parts, each none
// if it is missing.
type date struct {
	shape               shape
	a, b, c             int // the numbers of a numeric date, in the order of the text
	day, month, year    int // of the others
	weekday, third      int
	season, suffix      int // suffix: the ordinal behind the day
	by, then            int // the signs between its numbers
	orders              Orders
	firstItem, lastItem int
	monthOf, yearOf     int // the date whose month and year it shares; none: its own
}

// shape of a date.
type shape uint8

const (
	named shape = iota // parts by their words
	triple
	pair
)

// noDate is a date before anything is read.
var noDate = date{
	shape: named, a: none, b: none, c: none, day: none, month: none, year: none, weekday: none, third: none, season: none, suffix: none,
	monthOf: none, yearOf: none,
}

// maxDates is the largest number of dates in one expression.
const maxDates = 8

// rounds limits the steps of the search for a reading, so that text which is no date costs little.
const rounds = 400

// expression reads dates from item i on to the end; n are read already, and by
// is the sign behind them.
func (p *Parser) expression(i, n int, by int) bool {
	if n == maxDates || p.rounds == 0 {
		return false
	}
	p.rounds--
	for _, read := range readings {
		p.dates = append(p.dates[:n], noDate)
		d := &p.dates[n]
		start := p.before(d, i)
		next := read(p, d, start)
		if next <= start || by != 0 && (by == d.by || by == d.then) {
			continue // 12/03/14: the sign within a date joins no two
		}
		d.firstItem, d.lastItem = start, next-1
		if p.behind(next, n+1) {
			return true
		}
	}
	return false
}

// before reads what stands before the parts of a date: "el lunes, día".
func (p *Parser) before(d *date, i int) int {
	for ; i < len(p.items); i++ {
		it := &p.items[i]
		switch {
		case it.is(weekday) && !it.is(month) && d.weekday == none:
			d.weekday = i
		case it.is(third) && d.third == none:
			d.third = i
		case it.is(dayWord | yearWord | opener), it.is(particle|conn) && !it.is(month):
		case it.is(clock), it.by("([,.:'"):
		default:
			return i
		}
	}
	return i
}

// behind reads what stands behind date n: the end, or what joins it to the
// next.
func (p *Parser) behind(i, n int) bool {
	for ; i < len(p.items); i++ {
		it := &p.items[i]
		switch {
		case it.is(weekday) && p.dates[n-1].weekday == none && p.atEnd(i+1):
			p.dates[n-1].weekday = i
		case it.by(")].("), it.by(",") && p.weekdayFollows(i+1):
		case it.is(clock), it.is(particle) && p.at(i+1).is(clock):
		case it.is(conn):
			return p.expression(i+1, n, 0)
		case p.joins(it, &p.dates[n-1]):
			return p.expression(i+1, n, it.value)
		default:
			return false
		}
	}
	return p.settle(n)
}

// joins tells whether a sign can join date d to the next: it is not one that
// stands between the numbers of d.
func (p *Parser) joins(it *item, d *date) bool {
	return it.by("-/,.") && it.value != d.by && it.value != d.then
}

func (p *Parser) weekdayFollows(i int) bool { return p.at(i).is(weekday) }

// atEnd tells whether only signs follow.
func (p *Parser) atEnd(i int) bool {
	for ; i < len(p.items); i++ {
		if !p.items[i].is(sign) {
			return false
		}
	}
	return true
}

// readings read the parts of a date from item i on and return the item behind them, 0 if they
// are not there. Longer ones stand before shorter ones.
var readings = []func(p *Parser, d *date, i int) int{
	(*Parser).numericTriple,
	inOrder(aDay, aMonth, aYear), inOrder(aDay, aMonth),
	inOrder(aMonth, aNumber, fourDigits),
	inOrder(fourDigits, aMonth, aCardinal), // 2014 julio 19, 2014-Jul
	inOrder(aMonth, yearOfMonth), inOrder(aMonth, aNumber),
	(*Parser).numericPair,
	inOrder(monthInLetters), inOrder(aSeason, maybeYear),
	(*Parser).yearAlone, inOrder(aNumber),
}

// bareReadings is how many of the last readings take a number by itself.
const bareReadings = 2

// part is a part of a date written in words: the field of the date that it sets, and the test that an item must pass.
type part struct {
	of       func(d *date) *int
	is       func(p *Parser, i int) bool
	optional bool // at the end
}

func (d *date) dayPart() *int   { return &d.day }
func (d *date) monthPart() *int { return &d.month }
func (d *date) yearPart() *int  { return &d.year }

// The parts. Two digits behind an English month are its day if they can be.
var (
	aDay           = part{(*date).dayPart, (*Parser).isDay, false}
	aNumber        = part{(*date).dayPart, func(p *Parser, i int) bool { return p.isDay(i) && p.at(i).is(number) }, false}
	aCardinal      = part{(*date).dayPart, func(p *Parser, i int) bool { return p.isDay(i) }, true}
	aMonth         = part{(*date).monthPart, func(p *Parser, i int) bool { return p.at(i).is(month) }, false}
	monthInLetters = part{(*date).monthPart, func(p *Parser, i int) bool {
		return p.at(i).is(month) && p.at(i).wordOf(month, p.language).form != roman
	}, false}
	maybeYear   = part{(*date).yearPart, (*Parser).isYearOf, true}
	aYear       = part{(*date).yearPart, (*Parser).isYearOf, false}
	fourDigits  = part{(*date).yearPart, func(p *Parser, i int) bool { return p.at(i).sure }, false}
	yearOfMonth = part{(*date).yearPart, func(p *Parser, i int) bool {
		return p.isYearOf(i) && (p.language != pipeline.English || p.items[i].sure || !p.isDay(i) || p.items[i-1].is(sign))
	}, false}
	aSeason = part{func(d *date) *int { return &d.season }, func(p *Parser, i int) bool { return p.at(i).is(season) }, false}
)

// inOrder reads parts one behind the other: "3º de mayo de 2014". The day must be one of its month.
func inOrder(parts ...part) func(p *Parser, d *date, i int) int {
	return func(p *Parser, d *date, i int) int {
		end := i
		for k, part := range parts {
			if k > 0 {
				i = p.glue(end, true)
			}
			if k == 1 && p.at(i).by(")") && p.at(i+1).is(particle) { // (15-21-22) de junio
				i = p.glue(i+1, true)
			}
			if !part.is(p, i) {
				if part.optional {
					break
				}
				return 0
			}
			*part.of(d) = i
			end = i + 1
			if len(parts) > 1 && d.day == i && p.at(end).is(ordinal) && p.items[end].start == p.items[i].end {
				d.suffix = end
				end++
			}
		}
		if !p.finding && d.day != none && d.month != none {
			if y := fullYear(*p.at(d.year)); p.dayValue(d.day) > daysIn(p.monthValue(d.month), y) {
				return 0
			}
		}
		return end
	}
}

// glue skips what may stand between two parts of a date.
func (p *Parser) glue(i int, words bool) int {
	for ; i < len(p.items); i++ {
		it := &p.items[i]
		switch {
		case it.by(`/-.,'\`):
		case words && (it.is(particle | yearWord)):
		default:
			return i
		}
	}
	return i
}

// between skips what may stand between two numbers of a date and returns the
// sign that it found, 0 for none. A comma makes a list.
func (p *Parser) between(i int) (next int, by int) {
	next = p.glue(i, true)
	for k := i; k < next; k++ {
		if p.items[k].is(sign) {
			by = p.items[k].value
		}
		if by == ',' {
			return k, by
		}
	}
	return next, by
}

func (p *Parser) at(i int) *item {
	if i >= 0 && i < len(p.items) {
		return &p.items[i]
	}
	return &absent
}

// absent stands for an item outside of the text, such as the one behind the last.
var absent item

// isDay tells whether item i can be a day.
func (p *Parser) isDay(i int) bool {
	it := p.at(i)
	return it.is(first|numeral) || it.is(number) && it.width() <= 2 && it.value >= 1 && it.value <= 31
}

// isYearOf tells whether item i can be a year: four digits, or two, or one
// behind a slash or hyphen.
func (p *Parser) isYearOf(i int) bool {
	it := p.at(i)
	if !it.is(number) {
		return false
	}
	return it.sure || it.width() == 2 || it.width() == 1 && p.at(i-1).is(sign)
}

func (p *Parser) numericTriple(d *date, i int) int {
	j, first := p.between(i + 1)
	k, second := p.between(j + 1)
	if !p.at(i).is(number) || !p.at(k).is(number) {
		return 0
	}
	a, b, c := p.items[i], p.items[j], p.items[k]
	if first != second && !c.sure && c.start != b.end {
		return 0 // 12-15/3 is a range
	}
	d.shape, d.a, d.b, d.c, d.by, d.then = triple, i, j, k, first, second
	small := func(it item) bool { return it.width() <= 2 }
	if small(b) && (c.sure || small(c)) {
		if exists(c, b.value, a.value) {
			d.orders |= 1 << DMY
		}
		if exists(c, a.value, b.value) {
			d.orders |= 1 << MDY
		}
	}
	if (a.sure || a.width() == 2 && d.orders == 0) && small(c) && exists(a, b.value, c.value) {
		d.orders |= 1 << YMD
	}
	if d.orders == 0 {
		return 0
	}
	return k + 1
}

// exists tells whether the day is one of the month in the year.
func exists(year item, m, d int) bool {
	return m >= 1 && m <= 12 && d >= 1 && d <= daysIn(m, fullYear(year))
}

// fullYear returns the year that a number means. Two digits are the years from
// 1931 to 2030, one digit those from 2000.
func fullYear(it item) int {
	switch {
	case it.sure:
		return it.value
	case it.value <= 30:
		return 2000 + it.value
	}
	return 1900 + it.value
}

func daysIn(m, y int) int {
	switch m {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

func (p *Parser) numericPair(d *date, i int) int {
	j, by := p.between(i + 1)
	if j == i+1 || !p.at(j).is(number) {
		return 0
	}
	a, b := p.items[i], p.items[j]
	d.shape, d.a, d.b = pair, i, j
	d.by, d.then = by, by
	for o := range numOrders {
		if _, _, _, ok := pairParts(o, a, b, 0, 1); ok {
			d.orders |= 1 << o
		}
	}
	if d.orders == 0 {
		return 0
	}
	return j + 1
}

// pairParts says what two numbers mean in an order: day and month if they can
// be, else month and year. 29 February exists.
func pairParts(o Order, a, b item, i, j int) (day, month, year int, ok bool) {
	isMonth := func(it item) bool { return it.width() <= 2 && it.value >= 1 && it.value <= 12 }
	switch {
	case b.sure && isMonth(a):
		return none, i, j, true
	case a.sure && isMonth(b):
		return none, j, i, true
	case a.sure || b.sure || a.width() > 2 || b.width() > 2:
		return none, none, none, false
	case o == DMY && isMonth(b) && a.value >= 1 && a.value <= daysIn(b.value, 2000):
		return i, j, none, true
	case o != DMY && isMonth(a) && b.value >= 1 && b.value <= daysIn(a.value, 2000):
		return j, i, none, true
	case isMonth(a) && b.width() == 2:
		return none, i, j, true
	}
	return none, none, none, false
}

func (p *Parser) dayValue(i int) int {
	switch it := &p.items[i]; {
	case it.is(first):
		return 1
	case it.is(numeral):
		return it.wordOf(numeral, p.language).value
	default:
		return it.value
	}
}

func (p *Parser) monthValue(i int) int {
	it := &p.items[i]
	if it.is(number) {
		return it.value
	}
	return it.wordOf(month, p.language).value
}

func (p *Parser) yearAlone(d *date, i int) int {
	it := p.at(i)
	switch {
	case !it.sure && it.width() != 2:
		return 0
	case it.sure, p.finding, p.yearWordBefore(i), p.rangeOfYears(it), it.value > 31 && len(p.dates) == 1 && p.atEnd(i+1):
	default:
		return 0
	}
	d.year = i
	return i + 1
}

// yearWordBefore tells whether "año" stands before item i.
func (p *Parser) yearWordBefore(i int) bool {
	for i--; i >= 0 && (p.items[i].is(particle | sign)); i-- {
	}
	return p.at(i).is(yearWord)
}

// rangeOfYears tells whether a year of four digits has been read: 2013-14, 1990-95.
func (p *Parser) rangeOfYears(it *item) bool {
	n := len(p.dates) - 1
	if n == 0 {
		return false
	}
	d := &p.dates[n-1]
	return d.shape == named && d.month == none && d.year != none && p.items[d.year].sure && it.value > p.items[d.year].value%100
}

// settle shares months and years among the n dates that were read, and tells
// whether they make sense together.
func (p *Parser) settle(n int) bool {
	p.dates = p.dates[:n]
	for i := n - 2; i >= 0; i-- {
		d, next := &p.dates[i], &p.dates[i+1]
		if d.shape == triple || d.season != none || d.third != none && d.month == none {
			continue
		}
		hasMonth := d.month != none || d.shape == pair
		if d.day != none && !hasMonth && (next.month != none || next.shape != named || next.monthOf != none) {
			d.monthOf = owner(i+1, next.monthOf)
			d.yearOf = owner(i+1, next.yearOf)
		}
		if hasMonth && !p.hasYear(d) && (p.hasYear(next) || next.yearOf != none) {
			d.yearOf = owner(i+1, next.yearOf)
		}
	}
	bare := 0 // days without a month
	for i := range p.dates {
		d := &p.dates[i]
		if d.day != none && d.month == none && d.monthOf == none {
			bare++
		}
		if d.third != none && d.day != none {
			return false
		}
	}
	return (bare == 0 || bare == n) && p.anyOrder()
}

// owner returns the date from which a month or year is shared: the next date, or the date from which the next one
// shares it itself.
func owner(next, of int) int {
	if of != none {
		return of
	}
	return next
}

// hasYear tells whether the date has a year of its own, in whatever order.
func (p *Parser) hasYear(d *date) bool {
	if d.shape == pair {
		a, b := p.items[d.a], p.items[d.b]
		return a.sure || b.sure || d.orders&(1<<DMY) == 0
	}
	return d.year != none || d.shape == triple
}

// anyOrder tells whether an order fits all dates.
func (p *Parser) anyOrder() bool { return p.Orders() != 0 }
