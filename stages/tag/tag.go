// Package tag finds the patterns of every note and writes one tag a token and
// one confidence a note.
//
//	in:  Text or View (Batch.Seen), Tokens, Reason
//	out: Matches, TagSet, Tags, Conf, SpanProbs
//
// Patterns come first since a tagger may look at them. The tagger itself is
// any model: the package knows one method of it. What it says is not taken on
// trust: a note with a tag or a confidence that cannot be goes to quarantine.
package tag

import (
	"time"

	"github.com/velum-health/velum/models/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// A Labeller tags one note at a time. It owns scratch space and is used by
// one goroutine. *crf.Labeller is one.
type Labeller interface {
	// Label fills tags, one a token, and returns the confidence in [0, 1].
	Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32
}

// spanned is a Labeller that says how probable the spans of its last tags are
// (tagger.Spanned).
type spanned interface{ SpanProbs() []float32 }

// A Finder appends the pattern matches of text to dst. It is shared by the
// workers. *patterns.Matcher is one.
type Finder interface {
	Find(dst []pipeline.Match, text []byte) []pipeline.Match
}

// Options of the stage. NewLabeller and TagSet are required.
type Options struct {
	Workers     int
	TagSet      *pipeline.TagSet
	NewLabeller func() Labeller // called once a worker
	Patterns    Finder          // nil: no patterns
	CacheBytes  int             // memory a worker for notes already tagged; 0: none
	Cache       *CacheStats     // nil: not counted

	NoteTimeout time.Duration // for a long note, see guard.Clock; 0: none

	// Of some notes another labeller of the same TagSet is asked: those of
	// centres that have no labelled notes. Nil: of none.
	Other    func(b *pipeline.Batch, i int) bool
	NewOther func() Labeller
}

// New returns the step.
func New(o Options) pipeline.Step {
	return pipeline.Step{Name: "tag", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		w := &worker{Options: o, labeller: o.NewLabeller(), clock: guard.Clock{Limit: o.NoteTimeout}}
		if o.CacheBytes > 0 {
			w.cache = newCache(o.CacheBytes)
		}
		if o.Other != nil {
			w.other = o.NewOther()
		}
		return w.do
	}}
}

type worker struct {
	Options
	labeller Labeller
	other    Labeller // nil: there is none
	cache    *cache   // nil: switched off
	clock    guard.Clock
	placed   view.Placed
}

func (w *worker) do(b *pipeline.Batch) error {
	b.TagSet = w.TagSet
	b.Tags = grow(b.Tags, len(b.Tokens.Items))
	b.Conf = grow(b.Conf, b.Len())
	for i := range b.Len() {
		w.note(b, i)
		b.Matches.End()
		b.SpanProbs.End()
	}
	if w.cache != nil {
		w.Cache.add(w.cache)
	}
	return nil
}

// note tags note i, from the cache if the same text was tagged before.
func (w *worker) note(b *pipeline.Batch, i int) {
	if b.Reason[i] != pipeline.Sound {
		return
	}
	text, tags := b.Text.At(i), b.TagsOf(i)
	labeller, renew, cached := &w.labeller, w.NewLabeller, w.cache
	if w.other != nil && w.Other(b, i) {
		labeller, renew, cached = &w.other, w.NewOther, nil // the cache knows notes by their text alone
	}
	if cached != nil {
		if e := cached.find(text); e != nil && len(e.tags) == len(tags) {
			copy(tags, e.tags)
			b.Matches.Items = append(b.Matches.Items, e.matches...)
			b.SpanProbs.Items = append(b.SpanProbs.Items, e.probs...)
			b.Conf[i] = e.conf
			return
		}
	}
	first, firstProb := len(b.Matches.Items), len(b.SpanProbs.Items)
	w.clock.Start(len(text))
	reason := pipeline.Panicked
	if guard.Note(func() { reason = w.label(*labeller, b, i, tags) }) {
		*labeller = renew() // the old one's scratch is in an unknown state
	}
	if reason == pipeline.Sound && w.clock.Over() {
		reason = pipeline.TimedOut
	}
	if reason != pipeline.Sound {
		b.Quarantine(i, reason)
		b.Matches.Items, b.SpanProbs.Items = b.Matches.Items[:first], b.SpanProbs.Items[:firstProb]
		clear(tags)
		b.Conf[i] = 0
		return
	}
	if cached != nil {
		cached.keep(text, tags, b.Matches.Items[first:], b.SpanProbs.Items[firstProb:], b.Conf[i])
	}
}

// label finds the patterns and tags of note i. It returns why they cannot be
// trusted, or Sound.
func (w *worker) label(labeller Labeller, b *pipeline.Batch, i int, tags []pipeline.Tag) pipeline.Reason {
	if labeller == nil {
		return pipeline.NoModel
	}
	text, from := b.Seen(i)
	tokens := w.placed.Tokens(from, b.Tokens.At(i))
	if !cover(text, tokens) {
		return pipeline.BadTags
	}
	first := len(b.Matches.Items)
	if w.Patterns != nil {
		b.Matches.Items = w.Patterns.Find(b.Matches.Items, text)
	}
	matches := b.Matches.Items[first:]
	b.Conf[i] = labeller.Label(text, tokens, matches, tags)
	if !share(b.Conf[i]) || !within(text, matches) || !known(tags, w.TagSet.Len()) {
		return pipeline.BadTags
	}
	if s, ok := labeller.(spanned); ok {
		for _, p := range s.SpanProbs() {
			if !share(p) {
				return pipeline.BadTags
			}
			b.SpanProbs.Items = append(b.SpanProbs.Items, p)
		}
	}
	view.BackMatches(from, matches)
	return pipeline.Sound
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
