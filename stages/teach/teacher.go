package teach

import (
	"fmt"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/guard"
)

// TeacherOptions holds the options of the step. TagSet is required.
type TeacherOptions struct {
	TagSet *pipeline.TagSet // of the notes from here on
	// Map translates the categories of the spans, and of the model, into the
	// tag set's; what it maps to None is no span. Nil keeps them.
	Map func(pipeline.Category) pipeline.Category
	// NewLabeller makes a labeller of the model that tagged the notes, for the probabilities of its tags; nil: the
	// model has none.
	NewLabeller func() tagger.Marginals
	Workers     int // 0 means 1
}

// NewTeacher returns the step that makes a teacher of the whole pipeline: what
// resolve settled on becomes the tags of the note, and not what the model
// alone said of it. Else everything that patterns, rules and lists find is O
// in what the next model learns from.
//
//	in:  Text or View, Tokens, Matches, TagSet, Conf, Spans, Reason
//	out: TagSet, Tags, Conf; the scores of Spans
//
// Every span has a confidence of its own, its score: of a pattern, a list or a
// rule the share that is right of what it finds, or if that is more, the least
// probability over its tokens that the model gives the category; of the model
// the probability of the span, which resolve gives it.
// The confidence of a note is that of its least sure span, and of its least
// sure token outside spans; where the model gives no marginals, its own
// confidence stands for these. It stays 0 where it was: the model has nothing
// to say, or a second one disagrees.
func NewTeacher(o TeacherOptions) pipeline.Step {
	return pipeline.Step{Name: "teacher", Workers: o.Workers, New: func() func(*pipeline.Batch) error {
		t := &teacher{TeacherOptions: o}
		if o.NewLabeller != nil {
			t.labeller = o.NewLabeller()
		}
		return t.do
	}}
}

type teacher struct {
	TeacherOptions
	labeller tagger.Marginals // nil: no marginals
	placed   view.Placed

	probs []float32 // of the note's tokens and the model's tags
	spans []pipeline.Span
	of    []pipeline.Category // by tag of the model, the category in TagSet
}

func (t *teacher) do(b *pipeline.Batch) error {
	if b.TagSet == nil || len(b.Conf) != b.Len() || len(b.Tags) != len(b.Tokens.Items) || b.Spans.Len() != b.Len() {
		return fmt.Errorf("batch %d has no tags, confidences or spans: resolve has to come before the teacher", b.Seq)
	}
	t.of = t.of[:0]
	for tag := range b.TagSet.Len() {
		t.of = append(t.of, t.category(b.TagSet.Category(pipeline.Tag(tag))))
	}
	for i := range b.Len() {
		if b.Reason[i] == pipeline.Sound && guard.Note(func() { t.note(b, i) }) {
			b.Quarantine(i, pipeline.Panicked)
		}
		if b.Reason[i] != pipeline.Sound {
			clear(b.TagsOf(i)) // they are tags of another set
		}
	}
	b.TagSet = t.TagSet
	return nil
}

func (t *teacher) category(c pipeline.Category) pipeline.Category {
	if t.Map == nil || c == pipeline.None {
		return c
	}
	return t.Map(c)
}

// note writes tags, scores and confidence of note i.
func (t *teacher) note(b *pipeline.Batch, i int) {
	tokens, spans := b.Tokens.At(i), b.Spans.At(i)
	conf := min(max(b.Conf[i], 0), 1)
	if t.labeller != nil && conf > 0 {
		text, from := b.Seen(i)
		t.probs = t.labeller.Marginals(t.probs[:0], text, t.placed.Tokens(from, tokens), t.placed.Matches(from, b.Matches.At(i)))
		conf = t.outside(tokens, spans)
		t.score(tokens, spans)
	}
	t.spans = t.spans[:0]
	for _, s := range spans {
		if s.Category = t.category(s.Category); s.Category == pipeline.None {
			continue
		}
		t.spans = append(t.spans, s)
		conf = min(conf, max(s.Score, 0))
	}
	t.TagSet.Encode(b.TagsOf(i), tokens, t.spans)
	b.Conf[i] = conf
}

// outside returns the least probability of O over the tokens of no span; 1 if
// there are none.
func (t *teacher) outside(tokens []pipeline.Token, spans []pipeline.Span) float32 {
	least, s := float32(1), 0
	for k, token := range tokens {
		for s < len(spans) && spans[s].End <= token.Start {
			s++
		}
		if s < len(spans) && spans[s].Start < token.End {
			continue
		}
		least = min(least, max(t.probs[k*len(t.of)+int(pipeline.O)], 0))
	}
	return least
}

// score gives spans that are not the model's what it says of them, if that is
// surer.
func (t *teacher) score(tokens []pipeline.Token, spans []pipeline.Span) {
	k := 0
	for i := range spans {
		s := &spans[i]
		for k < len(tokens) && tokens[k].End <= s.Start {
			k++
		}
		least, c := float32(1), t.category(s.Category)
		for ; k < len(tokens) && tokens[k].Start < s.End; k++ {
			least = min(least, t.probability(k, c))
		}
		if s.Source != pipeline.FromModel && s.Source != pipeline.FromRepeat {
			s.Score = max(s.Score, min(least, 1))
		}
	}
}

// probability returns that of token k to be in a span of the category.
func (t *teacher) probability(k int, c pipeline.Category) (sum float32) {
	row := t.probs[k*len(t.of):][:len(t.of)]
	for tag, of := range t.of {
		if of == c && tag != int(pipeline.O) {
			sum += row[tag]
		}
	}
	return sum
}
