package resolve

import (
	"bytes"

	"github.com/velum-health/velum/pipeline"
)

// endDates gives dates the borders of the guide for short notes: "año 1998" is
// the year alone, what leads to a date is no part of it, and a range is two
// dates. A list that shares its month, and days joined by a bare hyphen, stay one.
func (w *worker) endDates() int {
	n := 0
	if w.labels.date == pipeline.None {
		return 0
	}
	found := len(w.spans)
	for s := 0; s < found; s++ {
		span := &w.spans[s]
		if span.Category != w.labels.date || certain(span) {
			continue
		}
		i, j := w.wordsIn(span.Start, span.End)
		if first := w.dateStart(i, j); first > i {
			span.Start, i = w.words[first].start, first
			n++
		}
		if last := w.beforeTime(i, j); last < j {
			span.End, j = w.words[last-1].end, last
			n++
		}
		if left, right := w.rangeAt(i, j); right > 0 {
			second := *span
			second.Start = w.words[right].start
			span.End = w.words[left].end
			w.spans = append(w.spans, second)
			n++
		}
	}
	if len(w.spans) > found {
		sortSpans(w.spans)
	}
	return n
}

// findDayLists proposes days whose month stands behind the bracket that they end:
// "( 15-21-22 ) de junio".
func (w *worker) findDayLists() int {
	n := 0
	if w.labels.date == pipeline.None {
		return 0
	}
	for k := 2; k+2 < len(w.words); k++ {
		if w.words[k+2].class&month == 0 || w.words[k+1].class&of == 0 || !w.touch(k+1) || !w.smallNumber(k) ||
			!bytes.Equal(bytes.TrimSpace(w.text[w.words[k].end:w.words[k+1].start]), []byte(")")) {
			continue
		}
		i := k
		for i > 0 && w.smallNumber(i-1) && string(w.text[w.words[i-1].end:w.words[i].start]) == "-" {
			i--
		}
		if i < k {
			w.propose(w.words[i].start, w.words[k+2].end, w.labels.date, byRule)
			n++
		}
	}
	return n
}

// dateStart returns the first of words [i, j) that belongs to a date.
func (w *worker) dateStart(i, j int) int {
	for i+1 < j && !w.words[i].is(digits) && w.words[i].class&(particle|of|article|until|yearWord|breaker) != 0 && w.words[i].class&weekday == 0 {
		i++
	}
	return i
}

// daysOfCycle tells whether a date is the days of a cycle of treatment: "días
// 1-5". Days of a month have an article: "los días 13-14".
func (w *worker) daysOfCycle(start, end int32) bool {
	if end-start > 5 || end-start < 3 || bytes.IndexByte(w.text[start:end], '-') < 0 {
		return false
	}
	i, j := w.wordsIn(start, end)
	return j-i == 2 && i > 0 && w.words[i-1].class&unit != 0 && w.linked(i-1, false) && w.smallNumber(i) &&
		(w.words[i].end-w.words[i].start == 1 && w.text[w.words[i].start] == '1' || i < 2 || w.words[i-2].class&particle == 0 || !w.touch(i-2))
}

// beforeTime returns the end of the date in words [i, j) without the hour of a
// time of day: "10 de abril de 09 : 01".
func (w *worker) beforeTime(i, j int) int {
	if j-i < 4 || j >= len(w.words) || !w.words[j-1].is(digits) || !w.words[j].is(digits) || w.words[j-1].end-w.words[j-1].start > 2 ||
		w.words[j-2].class&of == 0 || w.words[j].end-w.words[j].start != 2 {
		return j
	}
	if !bytes.Equal(bytes.TrimSpace(w.text[w.words[j-1].end:w.words[j].start]), []byte(":")) {
		return j
	}
	return j - 2
}

// rangeAt returns the last word of the first date and the first word of the
// second in words [i, j): "14 al 27 de abril", "15 - 31 de mayo", "2003-2006",
// "enero a marzo 2012"; right is 0 if it is one date.
func (w *worker) rangeAt(i, j int) (left, right int) {
	if j-i < 2 || w.words[i].class&weekday != 0 {
		return 0, 0
	}
	next := i + 1
	gap := w.text[w.words[i].end:w.words[next].start]
	year := w.yearAt(i)
	switch x := &w.words[next]; {
	case x.class&until != 0 && next+1 < j && w.alike(i, next+1):
		return i, next + 1
	case year && j-i == 3 && x.class&particle != 0 && w.yearAt(next+1): // 2003 y 2006
		return i, next + 1
	case year && j-i == 2 && w.yearAt(next) && bytes.IndexByte(gap, '-') >= 0:
		return i, next
	case !w.words[i].is(digits) && !x.is(digits) && x.class&(of|particle) == 0 && bytes.Equal(bytes.TrimSpace(gap), []byte("-")):
		return i, next
	case w.words[i].is(digits) && x.is(digits) && j-i > 2 && !w.words[j-1].is(digits) && bytes.Equal(gap, []byte(" - ")) && w.alike(i, next):
		return i, next
	}
	return 0, 0
}

// yearAt tells whether word k is a year of four figures.
func (w *worker) yearAt(k int) bool {
	return w.words[k].is(digits) && w.words[k].end-w.words[k].start == 4
}

// alike tells whether words a and b can be the ends of a range: two days or
// two months.
func (w *worker) alike(a, b int) bool {
	return w.words[a].is(digits) == w.words[b].is(digits) && (!w.words[a].is(digits) || w.words[b].end-w.words[b].start <= 4)
}
