// Package calendar finds words that identify a date: public holidays, elections, states of alarm, first days of school.
// It reads Text or View, Tokens and Spans, and adds spans between the existing ones.
//
// It runs only if the policy shifts dates. "31/07/2024, día de Navidad" reveals by how many days all dates of a patient
// were shifted, so such words become spans of the category whose dates are shifted. The shift operator cannot read them
// and leaves them to the next operator of its chain, in the end the placeholder. Replacing them by a phrase like "un
// día festivo" was ruled out: with the date beside it, only a few days of the year remain possible.
//
// The words are in rule files (models/tag/rules), the first of them configs/rules/calendar.atn.
package calendar

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// dateCategory is the category of dates in networks of rules; a match of another category
// only reads like it, and stays.
var dateCategory = pipeline.MustCategory("DATE")

// Options holds the options of the stage. Packs are required.
type Options struct {
	Packs    []*rules.Pack
	Date     pipeline.Category // category for what a network calls DATE
	Weekdays bool              // dates are not moved by whole weeks, so weekdays move with them
	Counts   *Counts           // may be nil
	Workers  int               // 0 means 1
}

// Conventions between the stage and the networks of a pack: categories, names and scores with a meaning.
const (
	weekdayNetwork = "weekday"
	hidden         = 0.5 // the least score of what is hidden; what has less is counted
)

// Counts counts the words that the stage found. It may be read when the run has ended.
type Counts struct {
	mu sync.Mutex
	Tally
}

// Tally holds the counts of a unit.
type Tally struct {
	Hidden  int64 // words and phrases that were hidden, without weekdays
	Notes   int64 // notes that had one
	Keeping int64 // notes in which something doubtful was kept
}

// add takes over the counts of a batch.
func (c *Counts) add(t *Tally) {
	if c != nil {
		c.mu.Lock()
		c.Hidden, c.Notes, c.Keeping = c.Hidden+t.Hidden, c.Notes+t.Notes, c.Keeping+t.Keeping
		c.mu.Unlock()
	}
	*t = Tally{}
}

// Take returns the counts so far and sets them to zero.
func (c *Counts) Take() Tally {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.Tally
	c.Tally = Tally{}
	return t
}

// New returns the stage.
func New(o Options) pipeline.Step {
	return pipeline.Step{Name: "calendar", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		w := &worker{Options: o}
		for _, p := range o.Packs {
			w.packs = append(w.packs, packMachine{p.NewMachine(), slices.Index(p.Networks(), weekdayNetwork)})
		}
		return w.do
	}}
}

type packMachine struct {
	*rules.Machine
	weekday int // number of the network of weekdays; -1: there is none
}

// worker is the scratch space of one goroutine.
type worker struct {
	Options
	packs  []packMachine
	placed view.Placed
	finds  []rules.Find                 // that are hidden, or show that a place is none
	days   []pipeline.Span              // weekdays of the note
	maybe  []pipeline.Span              // what is only counted
	found  []pipeline.Span              // what is hidden, before it is cut
	spans  pipeline.List[pipeline.Span] // of the batch, with what was found
	counts Tally
}

func (w *worker) do(b *pipeline.Batch) error {
	w.spans.Reset()
	for i := range b.Len() {
		before := len(w.spans.Items)
		if b.Reason[i] != pipeline.Sound || guard.Note(func() { w.note(b, i) }) {
			w.spans.Items = append(w.spans.Items[:before], b.Spans.At(i)...)
			b.Quarantine(i, pipeline.Panicked)
		}
		w.spans.End()
	}
	b.Spans, w.spans = w.spans, b.Spans
	w.Counts.add(&w.counts)
	return nil
}

// note appends the spans of note i, and what was found between them.
func (w *worker) note(b *pipeline.Batch, i int) {
	text, from := b.Seen(i)
	w.find(text, w.placed.Tokens(from, b.Tokens.At(i)))
	first, spans := len(w.spans.Items), b.Spans.At(i)
	if len(w.finds)+len(w.maybe) == 0 {
		w.spans.Items = append(w.spans.Items, spans...)
		return
	}
	w.found = rules.Disjoint(w.found[:0], w.finds)
	w.found = slices.DeleteFunc(w.found, func(s pipeline.Span) bool { return s.Category != dateCategory })
	hidden := w.between(b.Text.At(i), spans, view.BackSpans(from, w.found), view.BackSpans(from, w.days))
	w.counts.Hidden += hidden
	if hidden > 0 {
		w.counts.Notes++
	}
	if slices.ContainsFunc(view.BackSpans(from, w.maybe), func(s pipeline.Span) bool { return free(w.spans.Items[first:], s) }) {
		w.counts.Keeping++
	}
}

// find looks for words, and sorts what it finds.
func (w *worker) find(text []byte, tokens []pipeline.Token) {
	w.finds, w.days, w.maybe = w.finds[:0], w.days[:0], w.maybe[:0]
	for _, p := range w.packs {
		for _, f := range p.Finds(text, tokens) {
			s := pipeline.Span{Start: f.Start, End: f.End}
			switch weekday := int(f.Network) == p.weekday; {
			case weekday && !w.Weekdays:
			case f.Score < hidden:
				w.maybe = append(w.maybe, s)
			default:
				w.finds = append(w.finds, f)
				if weekday {
					w.days = append(w.days, s)
				}
			}
		}
	}
	slices.SortFunc(w.days, pipeline.ByStart)
	slices.SortFunc(w.maybe, pipeline.ByStart)
}

// between appends spans and the parts of found that none of them covers, in order,
// and returns how many of these are no weekdays. A span that lies within what was
// found, and is no date, goes: who takes Reyes for a name had not seen the night before.
func (w *worker) between(text []byte, spans, found, days []pipeline.Span) (hidden int64) {
	put := func(f pipeline.Span, start, end int32) {
		f.Start, f.End = trim(text, start, end)
		if f.Start == f.End {
			return
		}
		f.Category, f.Source = w.Date, pipeline.FromRule
		w.spans.Items = append(w.spans.Items, f)
		for len(days) > 0 && days[0].End < f.End {
			days = days[1:]
		}
		if len(days) == 0 || days[0].Start != f.Start || days[0].End != f.End {
			hidden++
		}
	}
	covered := int32(0) // up to here by spans that are appended: one may cover several finds
	for _, f := range found {
		at := max(f.Start, covered)
		for len(spans) > 0 && spans[0].Start < f.End {
			s := &spans[0]
			if start, end := trim(text, s.Start, s.End); s.Category != w.Date && start >= at && end <= f.End {
				spans = spans[1:]
				continue
			}
			put(f, at, max(at, spans[0].Start))
			at = max(at, spans[0].End)
			covered = max(covered, spans[0].End)
			w.spans.Items, spans = append(w.spans.Items, spans[0]), spans[1:]
		}
		put(f, at, max(at, f.End))
	}
	w.spans.Items = append(w.spans.Items, spans...)
	return hidden
}

// trim takes away what is no letter or digit at both ends; nothing is left of a
// piece without one.
func trim(text []byte, start, end int32) (int32, int32) {
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	piece := text[start:end]
	i := bytes.IndexFunc(piece, word)
	if i < 0 {
		return start, start
	}
	j := bytes.LastIndexFunc(piece, word)
	_, size := utf8.DecodeRune(piece[j:])
	return start + int32(i), start + int32(j+size)
}

// free tells whether no span, of those in order, has a byte of s.
func free(spans []pipeline.Span, s pipeline.Span) bool {
	i, _ := slices.BinarySearchFunc(spans, s.Start, func(o pipeline.Span, at int32) int { return cmp.Compare(o.End, at+1) })
	return i == len(spans) || spans[i].Start >= s.End
}
