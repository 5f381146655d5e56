package teach

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// sayings is a labeller that knows what it is to say: P of every tag but O, the
// same for each token of a note.
type sayings struct {
	person, place float32
}

func (s *sayings) Marginals(dst []float32, _ []byte, tokens []pipeline.Token, _ []pipeline.Match) []float32 {
	for range tokens {
		dst = append(dst, 1-s.person-s.place, s.person, 0, s.place, 0)
	}
	return dst
}

// resolved is a batch of notes as resolve leaves them; words are tokens.
func resolved(t testing.TB, set *pipeline.TagSet, conf float32, notes ...note) *pipeline.Batch {
	t.Helper()
	b := &pipeline.Batch{TagSet: set}
	for _, n := range notes {
		b.Text.Append([]byte(n.text))
		at := int32(0)
		for w := range strings.FieldsSeq(n.text) {
			b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: at, End: at + int32(len(w))})
			b.Tags = append(b.Tags, 1) // what the model said does not count
			at += int32(len(w)) + 1
		}
		b.Tokens.End()
		b.Matches.End()
		b.Spans.Append(n.spans...)
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Conf = append(b.Conf, conf)
	}
	return b
}

type note struct {
	text  string
	spans []pipeline.Span
}

func categories(t testing.TB, names ...string) (all []pipeline.Category) {
	t.Helper()
	for _, name := range names {
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	return all
}

func TestTeacher(t *testing.T) {
	all := categories(t, "PERSON", "LOCATION", "DATE", "NOMBRE_SUJETO_ASISTENCIA")
	person, place, date, patient := all[0], all[1], all[2], all[3]
	model := &pipeline.TagSet{Categories: []pipeline.Category{patient, place}}
	taught := &pipeline.TagSet{Categories: []pipeline.Category{person, place, date}}
	to := func(c pipeline.Category) pipeline.Category {
		if c == patient {
			return person
		}
		return c
	}
	for _, c := range []struct {
		what  string
		conf  float32
		says  *sayings
		spans []pipeline.Span
		tags  []pipeline.Tag
		want  float32
	}{
		{"nothing found, no marginals", 0.7, nil, nil, []pipeline.Tag{0, 0, 0, 0}, 0.7},
		{"nothing found", 0.7, &sayings{person: 0.125, place: 0.125}, nil, []pipeline.Tag{0, 0, 0, 0}, 0.75},
		{"a span of the model, as sure as resolve says", 0.7, &sayings{person: 0.25},
			[]pipeline.Span{{Start: 6, End: 15, Category: patient, Score: 0.5}}, []pipeline.Tag{0, 1, 2, 0}, 0.5},
		{"a pattern that the model does not know", 0.9, &sayings{person: 0.0625},
			[]pipeline.Span{{Start: 16, End: 20, Category: date, Score: 0.8, Source: pipeline.FromPattern}}, []pipeline.Tag{0, 0, 0, 5}, 0.8},
		{"a rule that the model agrees with", 0.3, &sayings{place: 0.95},
			[]pipeline.Span{{Start: 0, End: 20, Category: place, Score: 0.9, Source: pipeline.FromRule}}, []pipeline.Tag{3, 4, 4, 4}, 0.95},
		{"the least sure of two", 0.9, nil,
			[]pipeline.Span{{Start: 0, End: 5, Category: patient, Score: 0.6}, {Start: 6, End: 20, Category: date, Score: 0.8, Source: pipeline.FromPattern}},
			[]pipeline.Tag{1, 5, 6, 6}, 0.6},
		{"two models disagree", 0, &sayings{}, nil, []pipeline.Tag{0, 0, 0, 0}, 0},
	} {
		o := TeacherOptions{TagSet: taught, Map: to}
		if c.says != nil {
			o.NewLabeller = func() tagger.Marginals { return c.says }
		}
		b := resolved(t, model, c.conf, note{"viene Ada Puig 2019", slices.Clone(c.spans)})
		b.Spans.Items = slices.Clone(b.Spans.Items)
		if err := NewTeacher(o).New()(b); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.tags, b.TagsOf(0)); diff != "" || b.TagSet != taught {
			t.Errorf("%s: %s", c.what, diff)
		}
		if got := b.Conf[0]; got < c.want-1e-6 || got > c.want+1e-6 {
			t.Errorf("%s: confidence %g, want %g", c.what, got, c.want)
		}
	}
}

// What is in no tag set of ours is no span, and a note that is not sound keeps
// no tags of another set.
func TestTeacherLeavesOut(t *testing.T) {
	all := categories(t, "PERSON", "AGE")
	set := &pipeline.TagSet{Categories: all[:1]}
	b := resolved(t, &pipeline.TagSet{Categories: all}, 1,
		note{"tiene 40 años", []pipeline.Span{{Start: 6, End: 14, Category: all[1], Score: 0.1}}}, note{"Ada Puig", nil})
	b.Reason[1] = pipeline.BadTags
	none := func(c pipeline.Category) pipeline.Category {
		if c == all[1] {
			return pipeline.None
		}
		return c
	}
	if err := NewTeacher(TeacherOptions{TagSet: set, Map: none}).New()(b); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(b.Tags, make([]pipeline.Tag, 5)) || b.Conf[0] != 1 {
		t.Errorf("tags %v, confidence %g", b.Tags, b.Conf[0])
	}
	b.Spans.Reset()
	if NewTeacher(TeacherOptions{TagSet: set}).New()(b) == nil {
		t.Error("no error for a batch without spans")
	}
}

// The tags are those of the spans, whatever the model said, and no confidence
// is above that of a span.
func TestTeacherTags(t *testing.T) {
	all := categories(t, "PERSON", "LOCATION")
	set := &pipeline.TagSet{Categories: all}
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.IntRange(1, 12).Draw(r, "words")
		var spans []pipeline.Span
		for w := 0; w < words; w++ {
			long := rapid.IntRange(0, 3).Draw(r, "long")
			if long == 0 || w+long > words {
				continue
			}
			spans = append(spans, pipeline.Span{
				Start: int32(2 * w), End: int32(2*(w+long) - 1), Category: rapid.SampledFrom(all).Draw(r, "category"),
				Score: rapid.Float32Range(0, 1).Draw(r, "score"), Source: pipeline.SpanSource(rapid.IntRange(0, 3).Draw(r, "source")),
			})
			w += long
		}
		says := &sayings{person: rapid.Float32Range(0, 0.5).Draw(r, "person"), place: rapid.Float32Range(0, 0.5).Draw(r, "place")}
		b := resolved(t, set, rapid.Float32Range(0, 1).Draw(r, "confidence"), note{strings.Repeat("x ", words-1) + "x", spans})
		if err := NewTeacher(TeacherOptions{TagSet: set, NewLabeller: func() tagger.Marginals { return says }}).New()(b); err != nil {
			r.Fatal(err)
		}
		got := set.Decode(nil, b.Tokens.At(0), b.TagsOf(0))
		if len(got) != len(spans) {
			r.Fatalf("%d spans, want %d", len(got), len(spans))
		}
		for k, s := range b.Spans.At(0) {
			if got[k].Start != s.Start || got[k].End != s.End || got[k].Category != s.Category || b.Conf[0] > s.Score {
				r.Fatalf("span %d: %+v for %+v, confidence %g", k, got[k], s, b.Conf[0])
			}
		}
	})
}
