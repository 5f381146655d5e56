package tag

import (
	"math"
	"testing"

	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// wrong is a labeller and finder whose answers a test makes.
type wrong struct {
	conf  float32
	tag   pipeline.Tag
	match pipeline.Match
	probs []float32
}

func (w *wrong) SpanProbs() []float32 { return w.probs }

func (w *wrong) Label(_ []byte, _ []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) float32 {
	if len(tags) > 0 {
		tags[len(tags)-1] = w.tag
	}
	return w.conf
}

func (w *wrong) Find(dst []pipeline.Match, _ []byte) []pipeline.Match { return append(dst, w.match) }

// TestImpossibleAnswers: what no sound model or pattern says costs the note.
func TestImpossibleAnswers(t *testing.T) {
	fine := pipeline.Match{Start: 0, End: 2, Score: 1}
	nan := float32(math.NaN())
	for name, tt := range map[string]struct {
		model wrong
		spoil func(b *pipeline.Batch)
		want  pipeline.Reason
	}{
		"nothing wrong":        {wrong{1, 2, fine, nil}, nil, pipeline.Sound},
		"NaN":                  {wrong{nan, 0, fine, nil}, nil, pipeline.BadTags},
		"above 1":              {wrong{1.1, 0, fine, nil}, nil, pipeline.BadTags},
		"below 0":              {wrong{-0.1, 0, fine, nil}, nil, pipeline.BadTags},
		"infinite":             {wrong{float32(math.Inf(1)), 0, fine, nil}, nil, pipeline.BadTags},
		"tag of another model": {wrong{1, 3, fine, nil}, nil, pipeline.BadTags},
		"match behind the end": {wrong{1, 0, pipeline.Match{Start: 0, End: 99}, nil}, nil, pipeline.BadTags},
		"match before it":      {wrong{1, 0, pipeline.Match{Start: -1, End: 2}, nil}, nil, pipeline.BadTags},
		"empty match":          {wrong{1, 0, pipeline.Match{Start: 2, End: 2}, nil}, nil, pipeline.BadTags},
		"unknown pattern":      {wrong{1, 0, pipeline.Match{Start: 0, End: 2, Category: 255}, nil}, nil, pipeline.BadTags},
		"score NaN":            {wrong{1, 0, pipeline.Match{Start: 0, End: 2, Score: nan}, nil}, nil, pipeline.BadTags},
		"span NaN":             {wrong{1, 1, fine, []float32{nan}}, nil, pipeline.BadTags},
		"span above 1":         {wrong{1, 1, fine, []float32{0.5, 2}}, nil, pipeline.BadTags},
		"token missing":        {wrong{1, 0, fine, nil}, func(b *pipeline.Batch) { b.Tokens.Items = b.Tokens.Items[:1]; b.Tokens.Offsets[1] = 1 }, pipeline.BadTags},
		"no tokens":            {wrong{1, 0, fine, nil}, func(b *pipeline.Batch) { b.Tokens.Items = nil; b.Tokens.Offsets[1] = 0 }, pipeline.BadTags},
		"tokens out of order":  {wrong{1, 0, fine, nil}, func(b *pipeline.Batch) { x := b.Tokens.Items; x[0], x[1] = x[1], x[0] }, pipeline.BadTags},
		"token behind the end": {wrong{1, 0, fine, nil}, func(b *pipeline.Batch) { b.Tokens.Items[1].End = 99 }, pipeline.BadTags},
		"token before it":      {wrong{1, 0, fine, nil}, func(b *pipeline.Batch) { b.Tokens.Items[0].Start = -1 }, pipeline.BadTags},
	} {
		b := batch("veo Ada")
		if tt.spoil != nil {
			tt.spoil(b)
		}
		do := New(Options{TagSet: people, NewLabeller: func() tagger.Labeller { return &tt.model }, Patterns: &tt.model}).New()
		if err := do(b); err != nil {
			t.Fatal(err)
		}
		if tt.want != pipeline.Sound && len(b.SpanProbs.At(0)) != 0 {
			t.Errorf("%s: probabilities of spans that are none", name)
		}
		if b.Reason[0] != tt.want {
			t.Errorf("%s: %v, want %v", name, b.Reason[0], tt.want)
		}
	}
	b := batch("veo Ada")
	if err := New(Options{TagSet: people, NewLabeller: func() tagger.Labeller { return nil }}).New()(b); err != nil || b.Reason[0] != pipeline.NoModel {
		t.Errorf("no model: %v, %v", b.Reason[0], err)
	}
}

func TestCover(t *testing.T) {
	b := batch("\ttos \r\n\u00a0y \u2003fiebre\u0085")
	if !cover(b.Text.At(0), b.Tokens.At(0)) {
		t.Error("white space between tokens counts as text")
	}
	if cover([]byte("tos\u200b"), b.Tokens.At(0)[:1]) {
		t.Error("a joiner outside all tokens is not seen")
	}
}
