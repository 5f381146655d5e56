package dates

import (
	"github.com/velum-health/velum/models/word/cut"
	"github.com/velum-health/velum/pipeline"
)

// Borders finds the dates in text[start:end], which a tagger has marked as a date, and appends them with the borders of
// the annotation guide for short notes: without "año" or "finales de" before, and a range as two dates. It appends
// nothing if the span holds anything else than dates and words that join dates.
func (f *Finder) Borders(dst []Find, text []byte, start, end int) []Find {
	n := len(dst)
	from, to := f.line(text, start, end)
	for _, d := range f.Find(dst[n:], text[from:to]) {
		d.Start, d.End = d.Start+from, d.End+from
		year := d.End-d.Start == 4 && isYear(cut.Text(text).Value(d.Start, d.End)) // the tagger says that it is one
		if d.Score == pipeline.HintScore && !year || d.End <= start || d.Start >= end {
			continue
		}
		if d.Start < start || d.End > end {
			return dst[:n]
		}
		dst = append(dst, d)
	}
	at := start
	for _, d := range dst[n:] {
		if !f.loose(text, at, d.Start) {
			return dst[:n]
		}
		at = d.End
	}
	if !f.loose(text, at, end) {
		return dst[:n]
	}
	return dst
}

// line returns the range of bytes around a span that the finder examines.
func (f *Finder) line(text []byte, start, end int) (from, to int) {
	for from = start; from > 0 && (start-from < lookBack || text[from]&0xC0 == 0x80); from-- {
	}
	for to = end; to < len(text) && (to-end < lookBack || text[to]&0xC0 == 0x80); to++ {
	}
	return from, to
}

// loose reports whether text[i:j] holds nothing but words that may stand around dates, or the hour of a clock time that
// continues behind it: "10 de abril de 09 : 01".
func (f *Finder) loose(text []byte, i, j int) bool {
	f.cut(text, i, j)
	for k := range f.items {
		it := &f.items[k]
		switch {
		case it.is(number) && !f.hour(it.end), it.is(month | weekday | season), it.kinds == 0:
			return false
		}
	}
	return true
}

// hour tells whether minutes follow at i: " : 27".
func (f *Finder) hour(i int) bool {
	for f.At(i) == ' ' {
		i++
	}
	if f.At(i) != ':' {
		return false
	}
	for i++; f.At(i) == ' '; i++ {
	}
	return f.Digit(i)
}
