// Package choose selects the notes for training the next model, and those that a curator should see. The stage reads
// Conf and Tags and fills Chosen; the selection set follows at the end of a run.
//
// The stage, [New], sees one note at a time and marks candidates. Which candidates are taken depends on all of them, so
// [Final] decides once per run from a small [Record] of each: it takes the k most confident ones whose classes, lengths
// and share of empty notes have the wanted proportions (BOOT §3.2.1). Records are passed through files and their order
// does not matter, so units can be processed in any order by any number of workers.
package choose

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// Options holds the options of the stage. The zero value takes every note with a span.
type Options struct {
	// MinConfidence is C_min, the lowest confidence of a candidate. Both are rounded to 1e-4 before they are compared,
	// so that rounding errors of a kernel decide nothing.
	MinConfidence float64
	WithoutSpans  bool // notes in which the model found nothing may be candidates
	// ReviewBelow marks notes with a lower confidence for a curator; 0 marks
	// none. Least picks among them.
	ReviewBelow float64
	Workers     int // 0 means 1
}

// New returns the stage. Notes with a Reason are never chosen.
func New(o Options) pipeline.Step {
	return pipeline.Step{Name: "choose", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		return o.do
	}}
}

var (
	errNoTags = errors.New("a batch without tags or confidences: tag has to come before choose")
	errWide   = fmt.Errorf("a tag set of more than %d categories", MaxClasses)
)

func (o Options) do(b *pipeline.Batch) error {
	if len(b.Conf) != b.Len() || len(b.Tags) != len(b.Tokens.Items) {
		return errNoTags
	}
	for i := range b.Len() {
		chosen := pipeline.NotChosen
		if guard.Note(func() { chosen = o.choice(b, i) }) {
			b.Quarantine(i, pipeline.Panicked)
		}
		b.Chosen = append(b.Chosen, chosen)
	}
	return nil
}

// minTokens is how many a candidate has at least: a note of one or two words is certain and teaches nothing.
const minTokens = 3

// ReviewBelow is the confidence below which a note of a run may be given to a curator. Above one half, the model's
// answer is more probably right than all others together.
const ReviewBelow = 0.5

func (o Options) choice(b *pipeline.Batch, i int) pipeline.Choice {
	tags := b.TagsOf(i)
	if b.Reason[i] != pipeline.Sound || len(tags) == 0 {
		return pipeline.NotChosen
	}
	confidence := Round(float64(b.Conf[i]))
	if confidence < Round(o.ReviewBelow) {
		return pipeline.ToReview
	}
	if confidence < Round(o.MinConfidence) || len(tags) < minTokens || !o.WithoutSpans && !holdsSpan(tags) {
		return pipeline.NotChosen
	}
	return pipeline.Candidate
}

func holdsSpan(tags []pipeline.Tag) bool {
	return slices.ContainsFunc(tags, func(t pipeline.Tag) bool { return t != pipeline.O })
}

// Recorder makes the records of notes. It has scratch space, so each worker needs its own.
type Recorder struct{ spans []pipeline.Span }

// Record returns the record of note i of b; unit is the index of its unit in the plan.
func (r *Recorder) Record(b *pipeline.Batch, i int, unit uint32) (Record, error) {
	if b.TagSet == nil {
		return Record{}, errNoTags
	}
	if len(b.TagSet.Categories) > MaxClasses {
		return Record{}, errWide
	}
	tokens := b.Tokens.At(i)
	record := Record{
		Key:        Key{Unit: unit, Row: b.First + int64(i)},
		Confidence: Round(float64(b.Conf[i])),
		Tokens:     uint32(len(tokens)),
		Hash:       xxh3.Hash(b.ID.At(i)),
	}
	r.spans = b.TagSet.Decode(r.spans[:0], tokens, b.TagsOf(i))
	t := 0
	for _, s := range r.spans {
		class := slices.Index(b.TagSet.Categories, s.Category) // Decode writes categories of the set only
		if increase(&record.Spans[class]); record.Spans[class] == 1 {
			record.Least[class] = record.Confidence
		}
		for ; t < len(tokens) && tokens[t].End <= s.End; t++ {
			if tokens[t].Start >= s.Start {
				increase(&record.Lengths[class])
			}
		}
	}
	return record, nil
}

// Sure sets Least from the scores of the spans of note i, if resolve and the teacher have run before. to is the
// category map of the teacher; nil keeps the categories.
func (r *Record) Sure(b *pipeline.Batch, i int, to func(pipeline.Category) pipeline.Category) {
	var seen [MaxClasses]bool
	for _, s := range b.Spans.At(i) {
		if to != nil {
			s.Category = to(s.Category)
		}
		class := slices.Index(b.TagSet.Categories, s.Category)
		if class < 0 || r.Spans[class] == 0 {
			continue
		}
		if score := Round(float64(s.Score)); !seen[class] || score < r.Least[class] {
			r.Least[class], seen[class] = score, true
		}
	}
}

func increase(n *uint8) {
	if *n < 255 {
		*n++
	}
}
