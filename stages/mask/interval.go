package mask

import (
	"strconv"

	"github.com/velum-health/velum/models/form/dates"
)

// newInterval returns the operator that writes dates as the time since a
// reference, [DATE +12 d]: the time to onset is what VIGI's readers need of a
// date. The reference is the note's own date, from=note, or its first full date,
// from=first.
func newInterval(s *settings) func(*Options) Operator {
	o := interval{first: s.word("from", "note", "note", "first") == 1, reader: newDateReader(s)}
	s.dated = s.dated || !o.first
	return func(*Options) Operator { w := o; return &w }
}

type interval struct {
	first  bool
	reader dateReader
	from   int32
	known  bool
}

func (o *interval) begin(*Note) { o.reader.ready = false }

// Replace implements Operator. Days are counted for full dates, months and
// years for coarser ones, rounded to the nearest.
func (o *interval) Replace(dst []byte, n *Note, v Value) ([]byte, bool) {
	if !o.reader.ready {
		o.reader.survey(n, v.Category)
		o.reader.ready = true
		o.from, o.known = n.Day, n.Dated
		if o.first {
			o.from, o.known = o.firstDate(n, v)
		}
	}
	if !o.known || !o.reader.read(n, v.Span) || o.reader.goesOn(n, v, false) {
		return dst, false
	}
	day, resolution, full := o.reader.First(o.reader.context)
	if resolution == dates.Day && !full {
		return dst, false // which year it is, only the context says
	}
	days, unit := int(day-o.from), " d]"
	switch resolution {
	case dates.Month, dates.Third, dates.Season:
		days, unit = rounded(days, 30.4375), " m]"
	case dates.Year:
		days, unit = rounded(days, 365.25), " y]"
	}
	dst = appendPlaceholder(dst, v.Category)
	dst = append(dst[:len(dst)-1], ' ')
	if days >= 0 {
		dst = append(dst, '+')
	}
	dst = strconv.AppendInt(dst, int64(days), 10)
	return append(dst, unit...), true
}

func rounded(days int, unit float64) int {
	if days < 0 {
		return -rounded(-days, unit)
	}
	return int(float64(days)/unit + 0.5)
}

// firstDate returns the earliest full date of the note.
func (o *interval) firstDate(n *Note, v Value) (day int32, ok bool) {
	for _, s := range n.Spans {
		if s.Category != v.Category || !o.reader.Parse(n.Text[s.Start:s.End], n.Language) {
			continue
		}
		if d, r, full := o.reader.First(o.reader.context); full && r == dates.Day && (!ok || d < day) {
			day, ok = d, true
		}
	}
	return day, ok
}
