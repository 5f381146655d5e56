package dates

import "bytes"

// Edges looks at what stands beside a span: a date that was found in part may not
// be moved in part, or "primero de julio" becomes another day that never was.
type Edges struct {
	p           Parser
	first, last int // items of the span
}

// edgeBytes is how far is looked.
const edgeBytes = 40

// GoesOn tells whether the date text[from:to] goes on before or behind it. What
// stands before floor or from ceiling on is hidden as well and does not count.
// weekday tells whether a weekday beside it counts, too.
func (e *Edges) GoesOn(text []byte, from, to, floor, ceiling int, weekday bool) bool {
	start := max(from-edgeBytes, floor)
	for start < from && start > floor && text[start]&0xC0 == 0x80 {
		start++
	}
	if nl := bytes.LastIndexByte(text[start:from], '\n'); nl >= 0 {
		start += nl + 1
	}
	stop := min(to+edgeBytes, ceiling, len(text))
	for stop > to && stop < len(text) && text[stop]&0xC0 == 0x80 {
		stop--
	}
	if nl := bytes.IndexByte(text[to:stop], '\n'); nl >= 0 {
		stop = to + nl
	}
	e.read(text[start:stop], from-start, to-start)
	if e.first < 0 || e.last < e.first {
		return true // it begins or ends within a number or a word
	}
	return e.before(weekday) || e.behind(weekday)
}

// read cuts the text around the span into items.
func (e *Edges) read(text []byte, from, to int) {
	p := &e.p
	p.Text, p.items, p.finding, p.language = text, p.items[:0], true, spanish
	for at := 0; at < len(text); {
		at, _ = p.next(at)
	}
	e.first, e.last = -1, -1
	for k := range p.items {
		switch it := &p.items[k]; {
		case it.start < from && it.end > from, it.start < to && it.end > to:
			if !it.is(sign | clock) {
				e.first = -1
				return
			}
		case it.start >= from && it.end <= to:
			if e.first < 0 {
				e.first = k
			}
			e.last = k
		}
	}
}

// beside is what stands between the span and the item next to it that says
// something.
type beside struct {
	of, joined bool // "de"; "y", "al"
	sign       int  // the first sign; 0: none
	tight      bool // no blank
}

// step goes from item k by d over signs, "de" and what joins dates.
func (e *Edges) step(k, d int) (q *item, b beside) {
	b.tight = true
	for range 4 {
		k += d
		it := e.p.at(k)
		if it == &absent {
			return it, b
		}
		gap := it.gap
		if d < 0 {
			gap = e.p.items[k+1].gap
		}
		b.tight = b.tight && gap == 0
		switch {
		case gap > 2:
			return &absent, b
		case it.is(sign) && b.sign == 0 && it.value != ':':
			b.sign = it.value
		case it.is(month | number | numeral | first | weekday):
			return it, b
		case it.is(ofTime|yearWord) || it.is(definite) && !it.is(until):
			b.of = b.of || !it.is(definite)
		case it.is(conn | until):
			b.joined = true
		default:
			return it, b
		}
	}
	return &absent, b
}

func dayLike(it *item) bool {
	return it.is(first|numeral) || it.is(number) && it.width() <= 2 && it.value >= 1 && it.value <= 31
}

// before tells whether the date begins before its span.
func (e *Edges) before(weekdays bool) bool {
	x := &e.p.items[e.first]
	q, b := e.step(e.first, -1)
	apart := b.sign == '.' || b.sign == ',' || b.sign == '('
	switch {
	case q.is(weekday) && !q.is(month) && (q.width() > 2 || !q.is(ambiguous)):
		return weekdays && !b.joined && !b.of
	case x.is(month) && !x.is(number):
		return dayLike(q) && !b.joined && (!apart || b.tight) && !q.is(month) || q.is(month) && (b.joined || b.sign == '-' || b.sign == '/')
	case x.is(season):
		return q.is(season) && (b.joined || b.sign == '-' || b.sign == '/')
	case !x.is(number):
		return false
	case x.sure && q.is(month) && !q.is(numeral), x.sure && q.is(season):
		return !apart && !b.joined
	case q.is(number) && b.tight && b.sign != 0 && b.sign != '(' && b.sign != '\'':
		return true
	case q.is(number) && q.width() <= 2:
		return b.joined && e.shares()
	}
	return false
}

// shares tells whether the span is a date of a day, which days before it may share.
func (e *Edges) shares() bool { return e.last > e.first && !e.p.items[e.first].sure }

// behind tells whether the date ends behind its span.
func (e *Edges) behind(weekdays bool) bool {
	y := &e.p.items[e.last]
	q, b := e.step(e.last, 1)
	apart := b.sign == '.' || b.sign == ',' || b.sign == ')' || b.sign == '('
	switch {
	case q.is(weekday) && !q.is(month|ambiguous):
		return weekdays && (b.sign == ',' || b.sign == '(') && !b.joined
	case y.is(month) && !y.is(number):
		year := q.is(number) && (q.sure || q.width() == 2 && (b.of || b.sign == '\'' || b.tight && b.sign != 0))
		return year && (!apart || b.tight) && !b.joined || q.is(month) && !q.is(numeral) && (b.joined || b.sign == '-' || b.sign == '/')
	case y.is(season):
		return q.sure && !apart && !b.joined || q.is(season) && (b.joined || b.sign == '-' || b.sign == '/')
	case !y.is(number | numeral | first):
		return false
	case q.is(month) && !q.is(numeral) && e.first == e.last && dayLike(y):
		return !apart
	case q.is(number) && b.tight:
		return b.sign == '/' || b.sign == '-' || b.sign == '.' && !y.sure
	}
	return false
}

// Joins tells whether text can stand between two dates of one list or range:
// " y ", ", ", " al ", "-".
func (e *Edges) Joins(text []byte) bool {
	if len(text) > 12 || bytes.IndexByte(text, '\n') >= 0 {
		return false
	}
	p := &e.p
	p.Text, p.items, p.finding, p.language = text, p.items[:0], true, spanish
	for at := 0; at < len(text); {
		at, _ = p.next(at)
	}
	for k := range p.items {
		it := &p.items[k]
		if !it.is(conn|until|article) && !it.by("-/,") {
			return false
		}
	}
	return len(p.items) > 0
}
