// Package teach passes labelled notes to a trainer.
//
//	in:  Text or View, Tokens, Gold, Reason
//	out: a corpus of tagged token sequences
//
// It is the sink of `velum teach train`: read, tokenize, teach.
package teach

import (
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
)

// A Corpus stores training notes, copying what it keeps. *crftrain.Corpus implements it.
type Corpus interface {
	Add(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) error
}

// A Finder appends the pattern matches of text to dst.
type Finder interface {
	Find(dst []pipeline.Match, text []byte) []pipeline.Match
}

// Options holds the options of the sink. TagSet and Corpus are required.
type Options struct {
	TagSet   *pipeline.TagSet
	Corpus   Corpus
	Patterns Finder // nil: no pattern features
	// Map translates the gold categories into the tag set's; a category that
	// it maps to None is not learned. Nil keeps them.
	Map func(pipeline.Category) pipeline.Category
}

// Sink passes notes to the corpus and counts them.
type Sink struct {
	Options
	Notes, Skipped int // Skipped: notes with a reason for quarantine
	Tokens         int
	Spans          int // gold spans of categories that are learned
	OffBorder      int // of these, spans that do not start and end at a token border

	languages [pipeline.MaxLanguages]int // notes

	matches []pipeline.Match
	tags    []pipeline.Tag
	spans   []pipeline.Span
	placed  view.Placed
}

// New returns an empty sink.
func New(o Options) *Sink { return &Sink{Options: o} }

// Put passes the notes of b to the corpus.
func (s *Sink) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			s.Skipped++
			continue
		}
		text, from := b.Seen(i)
		tokens := b.Tokens.At(i)
		s.matches = s.matches[:0]
		if s.Patterns != nil {
			s.matches = s.Patterns.Find(s.matches, text)
		}
		s.mapSpans(b.Gold.At(i))
		s.count(tokens)
		s.languages[b.Language[i]]++
		if cap(s.tags) < len(tokens) {
			s.tags = make([]pipeline.Tag, len(tokens)*2)
		}
		tags := s.tags[:len(tokens)]
		s.TagSet.Encode(tags, tokens, s.spans)
		if err := s.Corpus.Add(text, s.placed.Tokens(from, tokens), s.matches, tags); err != nil {
			return err
		}
	}
	return nil
}

// Heard returns the codes of the languages of at least a tenth of the notes.
func (s *Sink) Heard() (codes []string) {
	for l, n := range s.languages {
		if l := pipeline.Language(l); n*10 >= max(s.Notes, 1) && l != pipeline.UnknownLanguage && l != pipeline.MixedLanguage {
			codes = append(codes, l.String())
		}
	}
	return codes
}

func (s *Sink) mapSpans(gold []pipeline.Span) {
	s.spans = s.spans[:0]
	for _, g := range gold {
		if s.Map != nil {
			g.Category = s.Map(g.Category)
		}
		if g.Category != pipeline.None {
			s.spans = append(s.spans, g)
		}
	}
}

func (s *Sink) count(tokens []pipeline.Token) {
	s.Notes++
	s.Tokens += len(tokens)
	s.Spans += len(s.spans)
	t := 0
	for _, g := range s.spans {
		for t < len(tokens) && tokens[t].End <= g.Start {
			t++
		}
		starts := t < len(tokens) && tokens[t].Start == g.Start
		for t < len(tokens) && tokens[t].End < g.End {
			t++
		}
		if !starts || t == len(tokens) || tokens[t].End != g.End {
			s.OffBorder++
		}
	}
}
