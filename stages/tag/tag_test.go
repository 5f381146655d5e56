package tag

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
)

// capitals tags words that begin with a capital letter and is sure of notes
// without any. It panics on a note that says so.
type capitals struct {
	calls *int
	probs []float32 // one a capital: its place among them
}

func (c *capitals) SpanProbs() []float32 { return c.probs }

func (c *capitals) Label(text []byte, tokens []pipeline.Token, matches []pipeline.Match, tags []pipeline.Tag) float32 {
	*c.calls++
	conf := float32(1)
	c.probs = c.probs[:0]
	for i, t := range tokens {
		if bytes.Equal(text[t.Start:t.End], []byte("PANIC")) {
			tags[0] = 1
			panic("the words of a note")
		}
		if first := text[t.Start]; first >= 'A' && first <= 'Z' {
			tags[i] = 1
			conf /= 2
			c.probs = append(c.probs, 1/float32(i+1))
		}
	}
	return conf * (1 - float32(len(matches))/8)
}

// digits finds single digits.
type digits struct{}

func (digits) Find(dst []pipeline.Match, text []byte) []pipeline.Match {
	for i, c := range text {
		if c >= '0' && c <= '9' {
			dst = append(dst, pipeline.Match{Start: int32(i), End: int32(i) + 1})
		}
	}
	return dst
}

func batch(notes ...string) *pipeline.Batch {
	b := new(pipeline.Batch)
	for _, n := range notes {
		b.Text.Append([]byte(n))
		b.Reason = append(b.Reason, pipeline.Sound)
		text, at := []byte(n), 0
		for _, w := range bytes.Fields(text) {
			at += bytes.Index(text[at:], w)
			b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: int32(at), End: int32(at + len(w))})
			at += len(w)
		}
		b.Tokens.End()
	}
	return b
}

var people = &pipeline.TagSet{Categories: []pipeline.Category{1}}

func step(calls *int) func(*pipeline.Batch) error {
	return New(Options{
		TagSet: people, NewLabeller: func() tagger.Labeller { return &capitals{calls: calls} },
		Patterns: digits{},
	}).New()
}

func TestTagsConfidenceMatches(t *testing.T) {
	var calls int
	b := batch("veo a Ada y Eva", "", "toma 2 de 4")
	if err := step(&calls)(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pipeline.Tag{0, 0, 1, 0, 1, 0, 0, 0, 0}, b.Tags); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float32{0.25, 1, 0.75}, b.Conf); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float32{1. / 3, 1. / 5}, b.SpanProbs.At(0)); diff != "" || len(b.SpanProbs.At(2)) != 0 {
		t.Error(diff)
	}
	if got := len(b.Matches.At(0)) + len(b.Matches.At(1)); got != 0 || len(b.Matches.At(2)) != 2 {
		t.Errorf("matches stand in the wrong notes: %v", b.Matches.Offsets)
	}
}

func TestPanicQuarantinesOneNote(t *testing.T) {
	var calls int
	b := batch("Ada 1", "Eva 2 PANIC 3", "Ida 4")
	if err := step(&calls)(b); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]pipeline.Reason{0, pipeline.Panicked, 0}, b.Reason); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]pipeline.Tag{1, 0, 0, 0, 0, 0, 1, 0}, b.Tags); diff != "" {
		t.Errorf("a note that panicked keeps no tags: %s", diff)
	}
	if b.Conf[1] != 0 || len(b.Matches.At(1)) != 0 || len(b.Matches.At(2)) != 1 {
		t.Errorf("a note that panicked keeps nothing: conf %v, matches %v", b.Conf[1], b.Matches.Offsets)
	}
}

func TestNotesInQuarantineAreNotRead(t *testing.T) {
	var calls int
	b := batch("Ada")
	b.Reason[0] = pipeline.BadEncoding
	if err := step(&calls)(b); err != nil {
		t.Fatal(err)
	}
	if calls != 0 || b.Tags[0] != pipeline.O || b.Matches.Len() != 1 {
		t.Errorf("%d calls, tags %v, %d match lists", calls, b.Tags, b.Matches.Len())
	}
}

// A note with a view is tagged by it; matches have their places in the text.
func TestViewIsTagged(t *testing.T) {
	var calls int
	b := batch("tel ２\u00ad４ Ada", "no")
	text := b.Text.At(0)
	b.View.Data, b.ViewFrom.Items = view.Append(nil, nil, text)
	for range b.Len() {
		b.View.End()
		b.ViewFrom.End()
	}
	if err := step(&calls)(b); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range b.Matches.At(0) {
		got = append(got, string(text[m.Start:m.End]))
	}
	if diff := cmp.Diff([]string{"２\u00ad", "４"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]pipeline.Tag{0, 0, 1, 0}, b.Tags); diff != "" {
		t.Error(diff)
	}
}
