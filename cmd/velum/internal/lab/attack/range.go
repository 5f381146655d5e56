package attack

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read/input"
)

// offsets holds the offsets by which a policy shifts the dates of patients, estimated from many draws.
type offsets struct {
	planter *planter
	draws   map[int]int // offset to how often it was drawn
	total   int
}

// rangeRounds is the number of keys with which offsets are drawn.
const rangeRounds = 20

// newOffsets draws offsets for the patients of the sample.
func (a *attacker) newOffsets(ctx context.Context) (*offsets, error) {
	p, err := a.planter(ctx)
	if err != nil {
		return nil, err
	}
	o := &offsets{planter: p, draws: map[int]int{}}
	for round := range rangeRounds {
		by, err := p.offsets(ctx, fmt.Sprintf("attack offsets %d %d", a.Seed, round))
		if err != nil {
			return nil, err
		}
		for _, offset := range by {
			o.draws[offset]++
			o.total++
		}
	}
	return o, nil
}

// support estimates the number of possible offsets: the number seen if all occurred repeatedly, otherwise from the
// frequency of coincidences.
func (o *offsets) support() float64 {
	seen := float64(len(o.draws))
	pairs := 0.
	for _, n := range o.draws {
		pairs += float64(n) * float64(n-1) / 2
	}
	total := float64(o.total)
	return max(seen, total*(total-1)/2/max(pairs, 1))
}

// rangeFigures holds how many offsets remain possible given the range of the archive.
type rangeFigures struct {
	Patients int     `json:"patients"`
	Offsets  float64 `json:"offsets"` // that there are
	Least    float64 `json:"least"`   // that are left of them, by patient
	Fifth    float64 `json:"5th_percentile"`
	Half     float64 `json:"median"`
	Possible float64 `json:"possible"` // the most that any operator could leave, at the 5th percentile
	Wanted   float64 `json:"wanted"`
}

const (
	rangeWanted = 60  // offsets that must be left at the 5th percentile of the patients
	rangeNeeds  = 20  // patients
	rangeWide   = 365 // days within which offsets are drawn equally often: few draws fall upon those that are left
)

// dateRange is the attack by the date range of the archive, which is no secret: notes of 2024 were written in 2024. It
// rules out offsets that would move a date of a patient out of the range.
var dateRange = attack{"range", (*attacker).noDates, (*attacker).tryRange}

// noDates returns why the attack on dates does not apply.
func (a *attacker) noDates() string {
	if moved, err := a.config.Dates(); err != nil || moved == "" {
		return "the policy moves no dates"
	}
	return ""
}

func (a *attacker) tryRange(ctx context.Context) (*finding, error) {
	o, err := a.newOffsets(ctx)
	if err != nil {
		return nil, err
	}
	first, last := a.planted.spread()
	r := &rangeFigures{Offsets: math.Round(o.support()), Wanted: rangeWanted}
	by, err := o.planter.offsets(ctx, "")
	if err != nil {
		return nil, err
	}
	from, to := a.planted.from, a.planted.to
	for p := range first {
		from, to = min(from, first[p]), max(to, last[p])
	}
	var left, possible []float64
	for p := range first {
		days := to - from - (last[p] - first[p]) + 1 // the offsets that keep its dates within the range follow each other
		middle, wide := int(last[p]-to)+by[p]+int(days/2), max(int(days), rangeWide)
		n := 0
		for offset, times := range o.draws {
			if -wide < 2*(offset-middle) && 2*(offset-middle) <= wide {
				n += times
			}
		}
		left = append(left, math.Round(float64(n)/float64(max(o.total, 1))*r.Offsets*float64(days)/float64(wide)))
		possible = append(possible, float64(days))
	}
	if r.Patients = len(left); r.Patients > 0 {
		slices.Sort(left)
		slices.Sort(possible)
		r.Possible = possible[len(possible)/20]
		r.Least, r.Fifth, r.Half = left[0], left[len(left)/20], left[len(left)/2]
	}
	powerless := r.Patients < rangeNeeds
	return judged(r, !powerless && r.Fifth < r.Wanted, powerless,
		"hold notes back at the edges of the archive, edge=N of the operator shift with read.columns.patient and read.columns.date, and give all months at once; or let dates move further (days=N)",
		"give more patients whose notes are dated",
		"the range of the archive leaves %.0f of %.0f offsets at the 5th percentile of %d patients (%.0f wanted, %.0f possible)",
		r.Fifth, r.Offsets, r.Patients, r.Wanted, r.Possible), nil
}

// spread returns the first and the last day of each patient's notes.
func (p *planter) spread() (first, last map[int]int32) {
	first, last = map[int]int32{}, map[int]int32{}
	for _, row := range p.dated() {
		at := p.Patients[row.owner]
		if was, ok := first[at]; !ok || row.day < was {
			first[at] = row.day
		}
		if was, ok := last[at]; !ok || row.day > was {
			last[at] = row.day
		}
	}
	return first, last
}

// dayOf returns the day of a note, since 1970-01-01: its column of dates or, without one, the latest date in its text.
func dayOf(s *sample, i int) (day int32, ok bool) {
	if c := s.Notes.ExtraNamed(input.DateColumn); c != nil && c.Valid[i] {
		if day, ok := mask.DayOf(c, i); ok {
			return day, true
		}
	}
	text := s.Notes.Text.At(i)
	for _, span := range s.Notes.Spans.At(i) {
		if span.Category.Kind() == pipeline.DateKind {
			if d, found := lastDay(text[span.Start:span.End]); found && (!ok || d > day) {
				day, ok = d, true
			}
		}
	}
	return day, ok
}

// inDigits is a date in digits.
var inDigits = regexp.MustCompile(`\b(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})\b`)

// lastDay returns the last of the dates in digits of a text, as days since 1970-01-01.
func lastDay(text []byte) (last int32, ok bool) {
	for _, m := range inDigits.FindAllSubmatch(text, -1) {
		var n [3]int
		for k := range n {
			n[k], _ = strconv.Atoi(string(m[1+k]))
		}
		if n[2] < 100 {
			n[2] += 2000
		}
		t := time.Date(n[2], time.Month(n[1]), n[0], 0, 0, 0, 0, time.UTC)
		if day := int32(t.Unix() / (24 * 60 * 60)); t.Day() == n[0] && int(t.Month()) == n[1] && (!ok || day > last) {
			last, ok = day, true
		}
	}
	return last, ok
}

// offsetColumn is the name of an artificial date column that shows how far dates are shifted.
const offsetColumn = "velum prove attack: 1970-01-01"

// offsets returns the offset of each patient's dates for a purpose; "" is the purpose of the extract.
func (p *planter) offsets(ctx context.Context, purpose string) (map[int]int, error) {
	options := *p.options
	options.Purpose, options.Times = cmp.Or(purpose, options.Purpose), []mask.TimeColumn{{Name: offsetColumn, Day: 1}}
	step, err := mask.New(options)
	if err != nil {
		return nil, err
	}
	by := map[int]int{}
	return by, pipeline.Run(ctx, datedSource{p.source()}, []pipeline.Step{step}, pipeline.SinkFunc(func(b *pipeline.Batch) error {
		dates := b.Extra[len(b.Extra)-1]
		for i := range b.Len() {
			by[p.Patients[p.Owner[int(b.First)+i]]] = int(int32(dates.Fixed[i]))
		}
		return nil
	}), nil)
}

// datedSource sets the date of every note to 1970-01-01.
type datedSource struct{ pipeline.Source }

// Next implements pipeline.Source.
func (d datedSource) Next(b *pipeline.Batch) error {
	if err := d.Source.Next(b); err != nil {
		return err
	}
	dates := pipeline.Column{Name: offsetColumn, Type: "date", Kind: pipeline.Int32Column, Fixed: make([]uint64, b.Len())}
	for range b.Len() {
		dates.Valid = append(dates.Valid, true)
	}
	if n := len(b.Extra); n > 0 && b.Extra[n-1].Name == offsetColumn {
		b.Extra = b.Extra[:n-1]
	}
	b.Extra = append(b.Extra, dates)
	return nil
}
