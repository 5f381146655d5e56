package mask

import (
	"bytes"
	"fmt"

	"github.com/velum-health/velum/models/dates"
	"github.com/velum-health/velum/pipeline"
)

// Offsets of dates, in days. The least keeps a month from staying the same
// month; seasons move by whole years of 52 weeks and three weeks to either
// side (VIGI §7: seasonal dates want small offsets).
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
		weeks: s.flag("weeks"), season: s.flag("season"), reader: newDateReader(s),
	}
	s.moves, s.likes = o.String(), true
	return func(*Options) Operator { w := o; return &w }
}

type shift struct {
	scope         Scope
	days          int
	weeks, season bool
	reader        dateReader

	drawn  bool // offset is this note's
	offset int
}

func (o *shift) begin(*Note) { o.drawn, o.reader.ready = false, false }

// Replace implements Operator. A date that would stay the same is left to the
// next operator, unless it is a year: so coarse a date may stay.
func (o *shift) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	if !o.reader.parse(n, v) {
		return dst, false
	}
	if !o.drawn {
		o.offset, o.drawn = o.of(n), true
	}
	start := len(dst)
	out, ok := o.reader.AppendShifted(dst, o.reader.context, o.offset)
	if !ok {
		return dst, false
	}
	_, resolution, _ := o.reader.First(o.reader.context)
	if resolution != dates.Year && bytes.EqualFold(out[start:], v.Words) {
		return dst, false
	}
	return out, true
}

// of returns the days by which the dates of a note move.
func (o *shift) of(n *Note) int {
	rng := n.Draw(o.scope, "date offset", nil)
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

// String says how dates were moved, and nothing of how far.
func (o *shift) String() string {
	text := fmt.Sprintf("all dates of a %s moved by one keyed offset of %d to %d days", scopeNames[o.scope], leastDays, o.days)
	if o.season {
		text = fmt.Sprintf("all dates of a %s moved by one keyed offset of up to %d years and %d weeks of the year", scopeNames[o.scope], mostYears, seasonWeeks)
	}
	if o.weeks {
		text += ", whole weeks"
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
}

func newDateReader(s *settings) dateReader {
	return dateReader{prefer: dates.Order(s.word("order", "dmy", "dmy", "mdy", "ymd"))}
}

func (r *dateReader) parse(n *Note, v Value) bool {
	if !r.ready {
		r.ready = true
		r.survey(n, v.Category)
	}
	return r.Parse(v.Words, n.Language)
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
