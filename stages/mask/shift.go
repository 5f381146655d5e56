package mask

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"unicode"

	"github.com/velum-health/velum/models/form/dates"
	"github.com/velum-health/velum/pipeline"
)

// Offsets of shifted dates, in days. At least leastDays, so that a month cannot stay the same. With option season,
// dates move by whole years of 52 weeks and at most three weeks in either direction (VIGI §7: seasonal data needs small
// offsets).
const (
	leastDays   = 30
	yearOfWeeks = 52 * 7
	mostYears   = 3
	seasonWeeks = 3
)

// newShift returns the operator that moves dates (VIGI §5.8): all of a patient
// (or note) by one keyed offset, so that the time between any two stays. They are
// written in the format and resolution that they had.
func newShift(s *settings) func(*Options) Operator {
	o := shift{
		scope: s.scope(PatientScope), days: s.number("days", 365, leastDays, 36500),
		edge: s.number("edge", 0, 0, 3650), weeks: s.flag("weeks"), season: s.flag("season"), reader: newDateReader(s),
	}
	if o.scope != PatientScope {
		o.edge = 0
	}
	s.moves, s.edge, s.days, s.likes, s.patients = o.String(), o.edge, !o.weeks, true, s.patients || s.scoped
	return func(*Options) Operator { w := o; return &w }
}

type shift struct {
	scope         Scope
	days          int
	edge          int // of the range of an archive, that is trimmed; see Range
	weeks, season bool
	reader        dateReader

	drawn  bool // offset is this note's
	offset int
	text   []byte
}

func (o *shift) begin(*Note) { o.drawn, o.reader.ready = false, false }

// Replace implements Operator. A date that would not change is left to the next operator, except a bare year, which may
// stay.
func (o *shift) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	if !o.drawn {
		o.offset, o.drawn = o.of(n), true
	}
	if !o.reader.parse(n, v) {
		return o.weekday(dst, n, v)
	}
	start := len(dst)
	out, ok := o.reader.AppendShifted(dst, o.reader.context, o.offset)
	s := n.Spans[v.Span]
	if !ok || o.reader.goesOn(n, v, o.offset%7 != 0) || !o.reader.Elides(n.Text[:s.Start], v.Words, out[start:]) {
		return dst, false
	}
	_, resolution, _ := o.reader.First(o.reader.context)
	if (resolution != dates.Year || len(v.Words) > longYear) && bytes.EqualFold(out[start:], v.Words) {
		return dst, false
	}
	return out, true
}

// weekday moves a weekday that stands alone, as one beside a date.
func (s *shift) weekday(dst []byte, n *Note, v Value) ([]byte, bool) {
	if bytes.ContainsFunc(v.Words, func(r rune) bool { return !unicode.IsLetter(r) }) {
		return dst, false
	}
	s.text = append(append(s.text[:0], v.Words...), " 04/01/2021"...)
	if !s.reader.Parse(s.text, n.Language) {
		return dst, false
	}
	start := len(dst)
	out, ok := s.reader.AppendShifted(dst, s.reader.context, s.offset)
	out = out[:max(start, bytes.LastIndexByte(out, ' '))]
	return out, ok && len(out) > start && !bytes.EqualFold(out[start:], v.Words)
}

// longYear is the longest year that may stay: verify takes 1990-95 for a value.
const longYear = 5

// of returns the days by which the dates of a note move. Whole years are drawn
// again: they would leave day and month as they were. So are whole weeks where
// weekdays may move: a note that keeps its weekdays is one of which they are known.
func (o *shift) of(n *Note) int {
	rng := n.Draw(o.scope, "date offset", nil)
	for {
		if days := o.draw(rng); !wholeYears(days) && (o.weeks || days%7 != 0) {
			return days
		}
	}
}

// nearYear is how many days from a whole number of years are as bad as that number.
const nearYear = 3

// wholeYears tells whether some date has the same day and month so many days
// later, or nearly: k years have k/4 leap days, rounded up or down, and around 1900
// and 2100 one less.
func wholeYears(days int) bool {
	if days < 0 {
		days = -days
	}
	for k := max(days/366, 1); k*365-nearYear <= days; k++ {
		if leap := days - k*365; leap >= k/4-1-nearYear && leap <= (k+3)/4+nearYear {
			return true
		}
	}
	return false
}

func (o *shift) draw(rng *rand.Rand) int {
	sign := 1 - 2*rng.IntN(2)
	switch {
	case o.season:
		jitter := rng.IntN(2*seasonWeeks*7+1) - seasonWeeks*7
		if o.weeks {
			jitter = jitter / 7 * 7
		}
		return sign*yearOfWeeks*(1+rng.IntN(mostYears)) + jitter
	case o.weeks:
		least := (leastDays + 6) / 7
		return sign * 7 * (least + rng.IntN(max(o.days/7-least+1, 1)))
	}
	return sign * (leastDays + rng.IntN(o.days-leastDays+1))
}

// String describes how dates were shifted, without revealing the offsets.
func (o *shift) String() string {
	text := fmt.Sprintf("all dates of a %s moved by one keyed offset of %d to %d days", scopeNames[o.scope], leastDays, o.days)
	if o.season {
		text = fmt.Sprintf("all dates of a %s moved by one keyed offset of up to %d years and %d weeks of the year", scopeNames[o.scope],
			mostYears, seasonWeeks)
	}
	if o.weeks {
		text += ", whole weeks"
	}
	if o.edge > 0 {
		text += fmt.Sprintf("; of patients whose notes span the archive those of up to %d days at its edges held back", o.edge)
	}
	return text
}

// dateReader reads the dates of a note: those whose order of day and month is
// ambiguous in the order that most others of the note have (VIGI §5.8, table 9).
type dateReader struct {
	dates.Parser
	prefer  dates.Order
	ready   bool
	context dates.Context
	edges   dates.Edges
}

func newDateReader(s *settings) dateReader {
	return dateReader{prefer: dates.Order(s.word("order", "dmy", "dmy", "mdy", "ymd"))}
}

func (r *dateReader) parse(n *Note, v Value) bool {
	if !r.ready {
		r.ready = true
		r.survey(n, v.Category)
	}
	return r.read(n, v.Span)
}

// read parses span k of the note: as a part of the list or range of dates that
// its neighbours make with it, or else alone.
func (r *dateReader) read(n *Note, k int) bool {
	first, last := k, k
	for first > 0 && k-first < groupSpans && r.joined(n, first-1) {
		first--
	}
	for last+1 < len(n.Spans) && last-k < groupSpans && r.joined(n, last) {
		last++
	}
	s, from, to := n.Spans[k], n.Spans[first].Start, n.Spans[last].End
	if first < last && r.Parse(n.Text[from:to], n.Language) && r.Narrow(int(s.Start-from), int(s.End-from)) {
		return true
	}
	return r.Parse(n.Text[s.Start:s.End], n.Language)
}

// groupSpans is how many dates to either side are read with one.
const groupSpans = 3

// joined tells whether spans k and k+1 are dates of one list or range.
func (r *dateReader) joined(n *Note, k int) bool {
	a, b := n.Spans[k], n.Spans[k+1]
	return a.Category == b.Category && a.End < b.Start && r.edges.Joins(n.Text[a.End:b.Start])
}

// goesOn tells whether the date of a span goes on beside it, where nothing hides
// the rest.
func (r *dateReader) goesOn(n *Note, v Value, weekday bool) bool {
	s, floor, ceiling := n.Spans[v.Span], 0, len(n.Text)
	if v.Span > 0 {
		floor = int(n.Spans[v.Span-1].End)
	}
	if v.Span+1 < len(n.Spans) {
		ceiling = int(n.Spans[v.Span+1].Start)
	}
	return r.edges.GoesOn(n.Text, int(s.Start), int(s.End), floor, ceiling, weekday)
}

// survey counts the orders of the note's dates and finds out when it was
// written: by its column, else by its first full date.
func (r *dateReader) survey(n *Note, c pipeline.Category) {
	var votes [3]int
	r.context = dates.Context{Order: r.prefer}
	for _, s := range n.Spans {
		if s.Category != c || !r.Parse(n.Text[s.Start:s.End], n.Language) || !r.Numeric() {
			continue
		}
		if o, ok := r.Orders().Only(); ok {
			votes[o]++
		}
	}
	for o, count := range votes {
		if count > votes[r.context.Order] {
			r.context.Order = dates.Order(o)
		}
	}
	if n.Dated {
		r.context.Day = n.Day
		return
	}
	for _, s := range n.Spans {
		if s.Category != c || !r.Parse(n.Text[s.Start:s.End], n.Language) {
			continue
		}
		if day, _, full := r.First(r.context); full {
			r.context.Day = day
			return
		}
	}
}
