package teach

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
)

// written keeps what it is taught as words and tag names.
type written struct {
	set *pipeline.TagSet
	got []string
}

func (w *written) Add(text []byte, tokens []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) error {
	var words []string
	for i, t := range tokens {
		words = append(words, string(text[t.Start:t.End])+"/"+w.set.Name(tags[i]))
	}
	w.got = append(w.got, strings.Join(words, " "))
	return nil
}

func TestPut(t *testing.T) {
	person, _ := pipeline.ParseCategory("PERSON")
	patient, _ := pipeline.ParseCategory("NOMBRE_SUJETO_ASISTENCIA")
	set := &pipeline.TagSet{Categories: []pipeline.Category{person}}
	c := &written{set: set}
	s := New(Options{TagSet: set, Corpus: c, Map: func(c pipeline.Category) pipeline.Category {
		return map[pipeline.Category]pipeline.Category{patient: person}[c]
	}})

	b := new(pipeline.Batch)
	for _, marked := range []string{
		"viene [NOMBRE_SUJETO_ASISTENCIA:Ada Puig] sola de [TERRITORIO:Vic]",
		"ilegible",
		"sin la[NOMBRE_SUJETO_ASISTENCIA:Eva] hoy",
	} {
		text, spans, err := markup.Parse(marked)
		if err != nil {
			t.Fatal(err)
		}
		b.Text.Append(text)
		b.Gold.Append(spans...)
		b.Reason, b.Language = append(b.Reason, pipeline.Sound), append(b.Language, pipeline.Catalan)
		at := int32(0)
		for w := range strings.FieldsSeq(string(text)) {
			b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: at, End: at + int32(len(w))})
			at += int32(len(w)) + 1
		}
		b.Tokens.End()
	}
	b.Reason[1] = pipeline.BadEncoding
	if err := s.Put(b); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"viene/O Ada/B-PERSON Puig/I-PERSON sola/O de/O Vic/O",
		"sin/O laEva/B-PERSON hoy/O",
	}
	if diff := cmp.Diff(want, c.got); diff != "" {
		t.Error(diff)
	}
	if s.Notes != 2 || s.Skipped != 1 || s.Tokens != 9 || s.Spans != 2 || s.OffBorder != 1 {
		t.Errorf("notes %d, skipped %d, tokens %d, spans %d, off border %d", s.Notes, s.Skipped, s.Tokens, s.Spans, s.OffBorder)
	}
}
