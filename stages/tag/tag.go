// Package tag runs the patterns and the tagger: it writes one tag per token and one confidence per note.
//
//	in:  Text or View (Batch.Seen), Tokens, Reason
//	out: Matches, TagSet, Tags, Conf, SpanProbs
//
// Patterns run first, because a tagger may use their matches as features. The tagger is any model; the package calls
// one method of it. A note with an impossible tag or confidence goes to quarantine.
package tag

import (
	"time"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// later is a labeller that may postpone notes, to tag several at once.
type later interface {
	tagger.Labeller
	// LabelLater is Label, or postpones the note: then its tags are written at Flush. Until then tags must stay where
	// it is; the other arguments may be reused.
	LabelLater(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) (conf float32, waits bool)
	// Waiting returns the number of tokens of the postponed notes.
	Waiting() int
	// Flush tags the postponed notes and calls done for each, in order, with its confidence and the probabilities of
	// its spans, which are valid until done returns. After LabelLater has postponed a note, only LabelLater may be
	// called before Flush.
	Flush(done func(conf float32, spans []float32))
}

// waitingMost is the number of tokens at which postponed notes are tagged. What is kept for so many fits the
// processor's caches.
const waitingMost = 4096

// A Finder appends the pattern matches of text to dst. It is shared by the
// workers. *patterns.Matcher is one.
type Finder interface {
	Find(dst []pipeline.Match, text []byte) []pipeline.Match
}

// Options holds the options of the stage. NewLabeller and TagSet are required.
type Options struct {
	Workers     int
	TagSet      *pipeline.TagSet
	NewLabeller func() tagger.Labeller // called once a worker
	Patterns    Finder                 // nil: no patterns

	NoteTimeout time.Duration // for a long note, see guard.Clock; 0: none
}

// New returns the step.
func New(o Options) pipeline.Step {
	return pipeline.Step{Name: "tag", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		return (&worker{Options: o, labeller: o.NewLabeller(), clock: guard.Clock{Limit: o.NoteTimeout}}).do
	}}
}

type worker struct {
	Options
	labeller tagger.Labeller
	clock    guard.Clock
	placed   view.Placed

	waits []int     // notes that were put off
	spans []stretch // [notes] of probs
	probs []float32 // of spans, in the order in which notes were done
}

type stretch struct{ from, to int }

func (w *worker) do(b *pipeline.Batch) error {
	b.TagSet = w.TagSet
	b.Tags = grow(b.Tags, len(b.Tokens.Items))
	b.Conf = grow(b.Conf, b.Len())
	w.spans, w.probs = grow(w.spans, b.Len()), w.probs[:0]
	for i := range b.Len() {
		w.note(b, i)
		b.Matches.End()
		if l, ok := w.labeller.(later); ok && l.Waiting() >= waitingMost {
			w.flush(b, l)
		}
	}
	if l, ok := w.labeller.(later); ok {
		w.flush(b, l)
	}
	for _, s := range w.spans {
		b.SpanProbs.Items = append(b.SpanProbs.Items, w.probs[s.from:s.to]...)
		b.SpanProbs.End()
	}
	return nil
}

// note tags note i, or puts it off.
func (w *worker) note(b *pipeline.Batch, i int) {
	if b.Reason[i] != pipeline.Sound {
		return
	}
	text, tags := b.Text.At(i), b.TagsOf(i)
	first, waits := len(b.Matches.Items), false
	later, mayWait := w.labeller.(later)
	if mayWait && guard.Timed(len(text)) {
		w.flush(b, later) // its time is its own
		mayWait = false
	}
	w.clock.Start(len(text))
	reason := pipeline.Panicked
	if guard.Note(func() { reason, waits = w.label(w.labeller, b, i, tags, mayWait) }) {
		w.labeller = w.NewLabeller() // the old one's scratch is in an unknown state
		w.again(b)
	}
	if reason == pipeline.Sound && w.clock.Over() {
		reason = pipeline.TimedOut
	}
	switch {
	case reason != pipeline.Sound:
		b.Matches.Items = b.Matches.Items[:first]
		w.refuse(b, i, reason)
	case waits:
		w.waits = append(w.waits, i)
	}
}

// refuse sends note i to quarantine.
func (w *worker) refuse(b *pipeline.Batch, i int, reason pipeline.Reason) {
	b.Quarantine(i, reason)
	clear(b.TagsOf(i))
	b.Conf[i] = 0
	w.spans[i] = stretch{}
}

// label finds the patterns of note i and tags it, unless the note may wait and
// waits. It returns why what was found cannot be trusted, or Sound.
func (w *worker) label(labeller tagger.Labeller, b *pipeline.Batch, i int, tags []pipeline.Tag, mayWait bool) (reason pipeline.Reason,
	waits bool) {
	if labeller == nil {
		return pipeline.NoModel, false
	}
	text, from := b.Seen(i)
	tokens := w.placed.Tokens(from, b.Tokens.At(i))
	if !cover(text, tokens) {
		return pipeline.BadTags, false
	}
	first := len(b.Matches.Items)
	if w.Patterns != nil {
		b.Matches.Items = w.Patterns.Find(b.Matches.Items, text)
	}
	matches := b.Matches.Items[first:]
	if !within(text, matches) {
		return pipeline.BadTags, false
	}
	conf := float32(0)
	if mayWait {
		conf, waits = labeller.(later).LabelLater(text, tokens, matches, tags)
	} else {
		conf = labeller.Label(text, tokens, matches, tags)
	}
	if !waits {
		reason = w.keep(b, i, conf, spansOf(labeller))
	}
	view.BackMatches(from, matches)
	return reason, waits
}

// spansOf returns how probable the spans of a labeller's last tags are.
func spansOf(l tagger.Labeller) []float32 {
	if s, ok := l.(tagger.Spanned); ok {
		return s.SpanProbs()
	}
	return nil
}

// keep keeps what was said of note i, whose tags are written, and returns why it
// cannot be trusted, or Sound.
func (w *worker) keep(b *pipeline.Batch, i int, conf float32, spans []float32) pipeline.Reason {
	if !share(conf) || !known(b.TagsOf(i), w.TagSet.Len()) {
		return pipeline.BadTags
	}
	for _, p := range spans {
		if !share(p) {
			return pipeline.BadTags
		}
	}
	b.Conf[i] = conf
	w.spans[i].from = len(w.probs)
	w.probs = append(w.probs, spans...)
	w.spans[i].to = len(w.probs)
	return pipeline.Sound
}

// flush tags the notes that were put off. If that panics nobody knows which of them
// did it, and each is tagged by itself.
func (w *worker) flush(b *pipeline.Batch, l later) {
	if len(w.waits) == 0 {
		return
	}
	done := 0
	if guard.Note(func() {
		l.Flush(func(conf float32, spans []float32) {
			i := w.waits[done]
			if reason := w.keep(b, i, conf, spans); reason != pipeline.Sound {
				w.refuse(b, i, reason)
			}
			done++
		})
	}) {
		w.waits = w.waits[done:]
		w.labeller = w.NewLabeller()
		w.again(b)
	}
	w.waits = w.waits[:0]
}

// again tags the postponed notes one by one with a new labeller, after a panic of the one that held them.
func (w *worker) again(b *pipeline.Batch) {
	for _, i := range w.waits {
		reason := pipeline.Panicked
		if guard.Note(func() {
			text, from := b.Seen(i)
			conf := w.labeller.Label(text, w.placed.Tokens(from, b.Tokens.At(i)), w.placed.Matches(from, b.Matches.At(i)), b.TagsOf(i))
			reason = w.keep(b, i, conf, spansOf(w.labeller))
		}) {
			w.labeller = w.NewLabeller()
		}
		if reason != pipeline.Sound {
			w.refuse(b, i, reason)
		}
	}
	w.waits = w.waits[:0]
}

// grow returns s with length n, all zero, and keeps its memory if it can.
func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	s = s[:n]
	clear(s)
	return s
}
