package attack

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// event is a day that has a name: a feast of a year, or one that was once.
type event struct {
	month, day int
	year       int // 0: every year
	easter     int // days from Easter, if month is 0
	words      [3]string
}

// events are known to everybody who has a calendar: in Spanish, Catalan, English.
// The list is the attacker's own: what hides such words has another.
//
//go:embed events.tsv
var eventLines string

var events = func() (all []event) {
	for line := range strings.Lines(eventLines) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		e := event{words: [3]string(f[1:])}
		for k, layout := range []string{"01-02", time.DateOnly} {
			if t, err := time.Parse(layout, f[0]); err == nil {
				e.month, e.day, e.year = int(t.Month()), t.Day(), t.Year()*k
			}
		}
		if after, ok := strings.CutPrefix(f[0], "easter "); ok {
			e.easter, _ = strconv.Atoi(after)
		}
		all = append(all, e)
	}
	return all
}()

// on returns the day of an event in a year.
func (e *event) on(year int) (t time.Time, ok bool) {
	if e.year != 0 && e.year != year {
		return t, false
	}
	if e.month == 0 {
		return easter(year).AddDate(0, 0, e.easter), true
	}
	return time.Date(year, time.Month(e.month), e.day, 0, 0, 0, 0, time.UTC), true
}

// easter is Easter Sunday (the anonymous Gregorian algorithm, Nature 1876).
func easter(y int) time.Time {
	a, b, c := y%19, y/100, y%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	n := h + l - 7*m + 114
	return time.Date(y, time.Month(n/31), n%31+1, 0, 0, 0, 0, time.UTC)
}

// dated is a date in digits, as days since 1970-01-01.
type dated struct {
	at  int
	day int32
}

var inDigits = regexp.MustCompile(`\b(\d{1,2})[/.-](\d{1,2})[/.-](\d{4}|\d{2})\b`)

// numericDates finds dates in digits.
func numericDates(text []byte) (all []dated) {
	for _, m := range inDigits.FindAllSubmatchIndex(text, -1) {
		var n [3]int
		for k := range n {
			n[k], _ = strconv.Atoi(string(text[m[2+2*k]:m[3+2*k]]))
		}
		if n[2] < 100 {
			n[2] += 2000
		}
		if t := time.Date(n[2], time.Month(n[1]), n[0], 0, 0, 0, 0, time.UTC); t.Day() == n[0] && int(t.Month()) == n[1] {
			all = append(all, dated{m[0], days(t)})
		}
	}
	return all
}

func days(t time.Time) int32 { return int32(t.Unix() / (24 * 60 * 60)) }

// near is how far from a date the word for it stands, in bytes.
const near = 60

// candidates are the offsets under which a date of a masked text would be the day
// of the event that is named beside it.
func (o *offsets) candidates(masked []byte) map[int]bool {
	all := map[int]bool{}
	for _, d := range numericDates(masked) {
		around := gazetteer.Fold(nil, masked[max(0, d.at-near):min(len(masked), d.at+near)])
		for k := range events {
			if !events[k].named(around) {
				continue
			}
			for year := 1995; year <= 2035; year++ {
				if t, ok := events[k].on(year); ok && o.possible(int(d.day-days(t))) {
					all[int(d.day-days(t))] = true
				}
			}
		}
	}
	return all
}

func (e *event) named(folded []byte) bool {
	for _, w := range e.words {
		if bytes.Contains(folded, gazetteer.Fold(nil, []byte(w))) {
			return true
		}
	}
	return false
}

// possible tells whether an offset can have been drawn.
func (o *offsets) possible(offset int) bool {
	return offset >= o.least && offset <= o.most && o.step > 0 && offset%o.step == 0
}

// calendarFigures say for how many patients the offset was found.
type calendarFigures struct {
	Kind     string  `json:"kind"` // planted, natural
	Patients int     `json:"patients"`
	Events   int     `json:"events"` // notes with a date and the name of its day
	Told     int     `json:"told"`   // of whose offset candidates are left
	Exact    int     `json:"exact"`  // of these the only one, and right
	Guess    float64 `json:"guess"`  // that would be by guessing
	Needed   int     `json:"needed"`
	Verdict  string  `json:"verdict"`
}

// calendarNeeds is how many events without an exact offset show less than one in
// twenty at 95 %.
const calendarNeeds = 60

// calendar goes by days that have a name: one beside a date that was moved tells by
// how much, for all notes of the patient.
func (a *attacker) calendar(ctx context.Context) (*finding, error) {
	o, err := a.newOffsets(ctx)
	if err != nil {
		return nil, err
	}
	planted, err := a.plantEvents(ctx, o)
	if err != nil {
		return nil, err
	}
	natural, err := a.ownEvents(ctx, o)
	if err != nil {
		return nil, err
	}
	f := &finding{Verdict: planted.Verdict, Figures: []*calendarFigures{planted, natural}, remedy: "hide words that fix a date: `velum help masking`"}
	if natural.Verdict == failed {
		f.Verdict = failed
	}
	f.Sentence = fmt.Sprintf("%d of %d planted and %d of %d own events give the offset of their patient", planted.Exact, planted.Events, natural.Exact, natural.Events)
	f.table = func(w io.Writer) {
		fmt.Fprint(w, "events\tpatients\tof them\ttold\texact\tguessing\tneeded\tverdict\t\n")
		for _, c := range []*calendarFigures{planted, natural} {
			fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.2f\t%d\t%s\t\n", c.Kind, c.Patients, c.Events, c.Told, c.Exact, c.Guess, c.Needed, c.Verdict)
		}
	}
	return f, nil
}

// take counts what a masked text with an event tells of an offset.
func (c *calendarFigures) take(o *offsets, masked []byte, offset int) {
	c.Events++
	left := o.candidates(masked)
	if len(left) == 0 {
		return
	}
	c.Told++
	if len(left) == 1 && left[offset] {
		c.Exact++
	}
}

func (c *calendarFigures) settle(o *offsets) *calendarFigures {
	c.Guess = float64(c.Told) / max(o.support(), 1)
	c.Needed = calendarNeeds
	switch {
	case float64(c.Exact) > 2*c.Guess:
		c.Verdict = failed
	case c.Events < c.Needed:
		c.Verdict = noPower
	default:
		c.Verdict = passed
	}
	return c
}

// plantEvents puts a date and its name behind notes of the sample and sends them
// through the whole row of a run.
func (a *attacker) plantEvents(ctx context.Context, o *offsets) (*calendarFigures, error) {
	f, err := flow.New(a.config)
	if err != nil {
		return nil, err
	}
	f.Mask.Purpose = "attack calendar"
	by, err := o.planter.Offsets(ctx, f.Mask.Purpose)
	if err != nil {
		return nil, err
	}
	c := &calendarFigures{Kind: "planted", Patients: len(o.planter.Patients)}
	steps, err := f.StreamSteps(nil, false)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(a.Seed, 13))
	err = pipeline.Run(ctx, &eventSource{Source: o.planter.Source(), rng: rng}, steps, eventSink{o, c, by}, nil)
	return c.settle(o), err
}

// eventSource gives each note an event at its end.
type eventSource struct {
	pipeline.Source
	rng  *rand.Rand
	done int
}

// plantedEvents are as many as are planted.
const plantedEvents = 600

// Next implements pipeline.Source.
func (e *eventSource) Next(b *pipeline.Batch) error {
	if e.done >= plantedEvents {
		return io.EOF
	}
	if err := e.Source.Next(b); err != nil {
		return err
	}
	e.done += b.Len()
	b.Spans.Reset()
	texts := pipeline.Bytes{}
	for i := range b.Len() {
		day := &events[e.rng.IntN(len(events))]
		year := 2019 + e.rng.IntN(6)
		if day.year != 0 {
			year = day.year
		}
		t, _ := day.on(year)
		texts.Append(fmt.Appendf(bytes.Clone(b.Text.At(i)), " . %s, %s.", day.words[e.rng.IntN(len(day.words))], t.Format("02/01/2006")))
	}
	b.Text = texts
	b.Language = b.Language[:0]
	return nil
}

// eventSink looks at the notes as they came out.
type eventSink struct {
	*offsets
	c  *calendarFigures
	by map[int]int
}

// Put implements pipeline.Sink.
func (e eventSink) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] == pipeline.Sound {
			e.c.take(e.offsets, b.Masked.At(i), e.by[e.planter.Patients[e.planter.Owner[int(b.First)+i]]])
		}
	}
	return nil
}

// ownEvents looks at the events that the notes have.
func (a *attacker) ownEvents(ctx context.Context, o *offsets) (*calendarFigures, error) {
	by, err := o.planter.Offsets(ctx, "")
	if err != nil {
		return nil, err
	}
	e, err := o.planter.Natural(ctx)
	if err != nil {
		return nil, err
	}
	c := &calendarFigures{Kind: "natural", Patients: len(o.planter.Patients)}
	for i := range e.Notes {
		n := &e.Notes[i]
		around := gazetteer.Fold(nil, o.planter.Notes.Text.At(n.Row))
		for k := range events {
			if events[k].named(around) && len(numericDates(n.Text)) > 0 {
				c.take(o, n.Text, by[n.Patient])
				break
			}
		}
	}
	return c.settle(o), nil
}
