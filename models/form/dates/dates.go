// Package dates parses the dates in clinical notes, shifts them in time and writes them back in the same form. It takes
// a date as written in Spanish, Catalan or English: "12/03/2014", "19-Jul- 2011", "lunes 3 de mayo", "octubre-noviembre
// 2013", "principios de mayo", "12, 13 y 14-VI". It returns the shifted date in the same format and resolution.
//
// The package is a parser rather than a list of regular expressions (VIGI §5.5, tables 4 and 5): it cuts a date into
// items (numbers, words, signs) and tries to read single dates, longest first, until a sequence of dates and joining
// words reaches the end. Text that cannot be parsed to its last character is no date, so that no part of a date stays
// in the text.
//
// Day and month are ambiguous in a numeric date if both are at most 12. VIGI §5.8 reads all dates of a note in the
// order that most of its unambiguous dates have: [Parser.Orders] returns the possible orders of a date, and the caller
// counts and chooses.
package dates

import (
	"math/bits"
	"time"

	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

// Order is the order of day, month and year in a numeric date.
type Order uint8

const (
	DMY Order = iota
	MDY
	YMD
	numOrders
)

// Orders is a set of orders, bit 1 << order.
type Orders uint8

// Only returns the single order of the set; false if there are more or none.
func (o Orders) Only() (Order, bool) {
	return Order(bits.TrailingZeros8(uint8(o))), bits.OnesCount8(uint8(o)) == 1
}

// Has reports whether the order is in the set.
func (o Orders) Has(order Order) bool { return o>>order&1 != 0 }

// Parser parses dates. Its methods refer to the date that Parse has read last.
type Parser struct {
	cut.Text
	language pipeline.Language
	items    []item
	dates    []date
	rounds   int
	finding  bool          // the items are those of a note: unknown words and signs among them
	out      [maxItems]int // by item: what is written there; unset if it stays
	inserted [maxDates]insertion
	moved    [maxDates]moved
	start    int // of the date in what it is appended to
	from, to int // the part of the text that is written
}

// Parse parses the whole text as a date or several joined dates, and reports whether it could. The caller must not
// change text until the date is written.
func (p *Parser) Parse(text []byte, l pipeline.Language) bool {
	p.Text, p.dates, p.rounds, p.from, p.to = text, p.dates[:0], rounds, 0, len(text)
	p.language = languageOf(l)
	if !p.scan() {
		return false
	}
	p.elided()
	return p.expression(0, 0, 0)
}

// Narrow restricts the parser to the dates in text[from:to] of the parsed text, because each part of "14 al 27 de
// abril" may be a span of its own. It returns false if there is no date in that range.
func (p *Parser) Narrow(from, to int) bool {
	p.from, p.to = from, to
	return p.firstDate() < len(p.dates)
}

// firstDate returns the first date within from and to.
func (p *Parser) firstDate() int {
	for i := range p.dates {
		if d := &p.dates[i]; p.items[d.firstItem].start >= p.from && p.items[d.lastItem].end <= p.to {
			return i
		}
	}
	return len(p.dates)
}

// elided takes d'abril for Catalan.
func (p *Parser) elided() {
	for i := range len(p.items) - 1 {
		if p.Text[p.items[i].start]|0x20 == 'd' && p.items[i+1].by("'") {
			p.language = pipeline.Catalan
		}
	}
}

// Orders returns the orders in which the numbers of the dates can be read. It returns all orders if no date is
// ambiguous.
func (p *Parser) Orders() Orders {
	all := Orders(1<<numOrders - 1)
	for i := range p.dates {
		if p.dates[i].shape != named {
			all &= p.dates[i].orders
		}
	}
	return all
}

// Numeric reports whether some date can change its meaning with the order of its numbers.
func (p *Parser) Numeric() bool {
	for i := range p.dates {
		if p.dates[i].shape != named && !(p.dates[i].shape == pair && p.hasYear(&p.dates[i])) {
			return true
		}
	}
	return false
}

// HasYear reports whether the date has a year.
func (p *Parser) HasYear() bool {
	for i := range p.dates {
		if p.hasYear(&p.dates[i]) {
			return true
		}
	}
	return false
}

// Context supplies what a date may lack: the order of its numbers, and a day near by (that of the note) from which a
// missing year is inferred.
type Context struct {
	Order Order // of numbers; one that the date has not is replaced by one that it has
	Day   int32 // date of the note or of another date nearby, in days since 1970-01-01; 0: unknown
}

// order returns the order in which the date is read.
func (p *Parser) order(want Order) Order {
	have := p.Orders()
	if have.Has(want) {
		return want
	}
	return Order(bits.TrailingZeros8(uint8(have)))
}

// Resolution is the smallest unit that a date gives: day, month or year.
type Resolution uint8

const (
	Day Resolution = iota
	Third
	Month
	Season
	Year
)

// First returns the first date as days since 1970-01-01, and its resolution. full reports whether day, month and year
// are all given.
func (p *Parser) First(c Context) (day int32, r Resolution, full bool) {
	parts := p.resolve(p.firstDate(), p.order(c.Order), c)
	return dayNumber(parts.y, parts.m, parts.d), parts.resolution, parts.full
}

// parts are the values of a date; what it lacks is filled from the context.
type parts struct {
	day, month, year int // items; none if it lacks them
	y, m, d          int
	resolution       Resolution
	full             bool
}

// resolve returns the values of date i.
func (p *Parser) resolve(i int, o Order, c Context) (v parts) {
	d := &p.dates[i]
	v.day, v.month, v.year = p.place(d, o)
	month, year := v.month, v.year
	if d.monthOf != none {
		_, month, _ = p.place(&p.dates[d.monthOf], o)
	}
	if d.yearOf != none {
		_, _, year = p.place(&p.dates[d.yearOf], o)
	}
	near := time.Unix(int64(c.Day)*secondsADay, 0).UTC()
	v.full = v.day != none && month != none && year != none
	v.y, v.m, v.d = near.Year(), int(near.Month()), 15
	if c.Day == 0 {
		v.y, v.m = 2001, 1 // a year without 29 February, a month of 31 days
	}
	if year != none {
		v.y = fullYear(p.items[year])
	}
	if month != none {
		v.m = p.monthValue(month)
	}
	if d.yearOf != none {
		if _, last, _ := p.place(&p.dates[d.yearOf], o); last != none && v.m > p.monthValue(last) {
			v.y-- // diciembre-enero 2014
		}
	}
	p.finest(d, &v, month, year)
	return v
}

// finest sets the day within what the date has, and the resolution.
func (p *Parser) finest(d *date, v *parts, month, year int) {
	switch {
	case v.day != none:
		v.d = p.dayValue(v.day)
		if v.d > daysIn(v.m, v.y) { // 29 February without a year, or a day alone
			v.y = v.y / 4 * 4
			if v.d > daysIn(v.m, v.y) {
				v.m = 1
			}
		}
	case d.third != none && month != none:
		v.resolution, v.d = Third, 5+10*p.thirdValue(d.third)
	case month != none:
		v.resolution = Month
	case d.season != none:
		v.resolution = Season
		v.m = 2 + 3*p.items[d.season].wordOf(season, p.language).value
	case d.third != none:
		v.resolution, v.m = Third, 3+4*p.thirdValue(d.third)
	default:
		v.resolution, v.m, v.d = Year, 7, 1
	}
}

func (p *Parser) thirdValue(i int) int { return p.items[i].wordOf(third, p.language).value }

// place returns which items are day, month and year in an order.
func (p *Parser) place(d *date, o Order) (day, month, year int) {
	switch {
	case d.shape == pair:
		day, month, year, _ = pairParts(o, p.items[d.a], p.items[d.b], d.a, d.b)
		return day, month, year
	case d.shape == named:
		return d.day, d.month, d.year
	case o == DMY:
		return d.a, d.b, d.c
	case o == MDY:
		return d.b, d.a, d.c
	}
	return d.c, d.b, d.a
}

const secondsADay = 24 * 60 * 60

func dayNumber(y, m, d int) int32 {
	return int32(time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC).Unix() / secondsADay)
}
