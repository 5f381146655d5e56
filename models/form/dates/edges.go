package dates

import "bytes"

// Edges examines the text beside a date span. A tagger may find only part of a date, and shifting a part alone would
// write a wrong date (as in "primero de julio").
type Edges struct {
	p           Finder
	first, last int // items of the span
}

// edgeBytes is the number of bytes examined on either side of a span.
const edgeBytes = 40

// GoesOn reports whether the date in text[from:to] continues before or behind the span. Text before floor and from
// ceiling on is hidden by other spans and does not count. With weekday, an adjacent weekday counts as a continuation.
func (e *Edges) GoesOn(text []byte, from, to, floor, ceiling int, weekday bool) bool {
	start := max(from-edgeBytes, floor)
	for text[start]&0xC0 == 0x80 {
		start++
	}
	if nl := bytes.LastIndexByte(text[start:from], '\n'); nl >= 0 {
		start += nl + 1
	}
	stop := min(to+edgeBytes, ceiling, len(text))
	for stop < len(text) && text[stop]&0xC0 == 0x80 {
		stop--
	}
	if nl := bytes.IndexByte(text[to:stop], '\n'); nl >= 0 {
		stop = to + nl
	}
	e.read(text[start:stop], from-start, to-start)
	if e.first < 0 {
		return true // it begins or ends within a number or a word
	}
	return e.ask("before", -1, weekday) || e.ask("behind", 1, weekday)
}

// read cuts the text around the span into items.
func (e *Edges) read(text []byte, from, to int) {
	p := &e.p
	p.cut(text, 0, len(text))
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

// beside describes the text between the span and the nearest item that is more than a sign, "de" or a conjunction.
type beside struct {
	of, joined bool // "de"; "y", "al"
	sign       int  // the first sign; 0: none
	tight      bool // no blank
}

// step goes from item k by d over signs, "de" and what joins dates.
func (e *Edges) step(k, d int) (q int, b beside) {
	b.tight = true
	for range 4 {
		k += d
		it := e.p.at(k)
		gap := it.gap
		if d < 0 {
			gap = e.p.items[k+1].gap
		}
		b.tight = b.tight && gap == 0
		switch {
		case it.is(sign) && b.sign == 0:
			b.sign = it.value
		case it.is(month | number | numeral | first | weekday):
			return k, b
		case it.is(ofTime|yearWord) || it.is(definite) && !it.is(until):
			b.of = !it.is(definite)
		case it.is(conn | until):
			b.joined = true
		default:
			return k, b
		}
	}
	return none, b
}

// ask looks up in a decision table whether the text in direction d of the span continues the date.
func (e *Edges) ask(table string, d int, weekdays bool) bool {
	f, at := &e.p, e.first
	if d > 0 {
		at = e.last
	}
	q, b := e.step(at, d)
	f.aim(&noDate, e.first, e.last+1)
	f.places[0], f.places[1], f.places[2] = e.first, e.last, q
	f.setSign(0, b.sign)
	for k, yes := range []bool{b.of, b.joined, b.tight, weekdays} {
		if yes {
			f.sums[8+k].value = 1
		}
	}
	return tables[table].Decide(f) > 0
}

// Joins reports whether text can stand between two dates of a list or range: " y ", ", ", " al ", "-".
func (e *Edges) Joins(text []byte) bool {
	if len(text) > 12 || bytes.IndexByte(text, '\n') >= 0 {
		return false
	}
	p := &e.p
	p.cut(text, 0, len(text))
	for k := range p.items {
		it := &p.items[k]
		if !it.is(conn|until|article) && !it.by("-/,") {
			return false
		}
	}
	return len(p.items) > 0
}
