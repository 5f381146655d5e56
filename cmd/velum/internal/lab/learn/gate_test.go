package learn

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// knower is a model that knows some words, each of a category.
type knower map[string]pipeline.Category

func (k knower) Header() tagger.Header                           { return tagger.Header{Kind: "crf"} }
func (k knower) WithHeader(tagger.Header) tagger.Model           { return k }
func (k knower) NewLabeller(tagger.LabelOptions) tagger.Labeller { return k }
func (k knower) Write(io.Writer) error                           { return nil }
func (k knower) MarshalHeader() ([]byte, error)                  { return nil, nil }

func (k knower) TagSet() *pipeline.TagSet {
	set, err := pipeline.Labels("primary-care")
	if err != nil {
		panic(err)
	}
	return &pipeline.TagSet{Scheme: pipeline.BIO, Categories: set.Categories}
}

func (k knower) Label(text []byte, tokens []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) float32 {
	var spans []pipeline.Span
	for _, t := range tokens {
		if c, known := k[string(text[t.Start:t.End])]; known {
			spans = append(spans, pipeline.Span{Start: t.Start, End: t.End, Category: c})
		}
	}
	k.TagSet().Encode(tags, tokens, spans)
	return 1
}

// gated has the gate judge a model against another on notes of people, with what the configuration says beside.
func gated(t *testing.T, was, now knower, notes []string, sets ...string) *turns.Turn {
	t.Helper()
	cfg, err := option.Load(option.Sources{}.With(append(sets, "profile=primary-care", "run.workers=1")))
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for i, note := range notes {
		before, name, _ := strings.Cut(note, "*")
		name, after, _ := strings.Cut(name, "*")
		fmt.Fprintf(&lines, `{"id":"%d","text":"%s%s%s","spans":[{"start":%d,"end":%d,"label":"PERSON"}]}`+"\n", i, before, name, after, len(before), len(before)+len(name))
	}
	dev := filepath.Join(t.TempDir(), "dev.jsonl")
	if err := os.WriteFile(dev, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	l := learningOf(1000, 10, 0.6)
	l.cfg, l.dev, l.tagSet = cfg, flow.Labelled{Paths: []string{dev}}, now.TagSet()
	if l.toSet, err = flow.IntoLabels("primary-care"); err != nil {
		t.Fatal(err)
	}
	made := func(k knower) *flow.Model {
		m, err := flow.Made("knower", k)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	w := &turning{of: l, record: &turns.Turn{Number: 1, Base: &turns.Base{}}, next: made(now), protected: made(was)}
	if err := w.judge(context.Background()); err != nil {
		t.Fatal(err)
	}
	return w.record
}

// The model in use masks all names, none as a person. That of the turn knows them; one name it leaves, which is not beyond chance,
// or twelve, which are.
func TestGate(t *testing.T) {
	person, place := categoryOf(t, "PERSON"), categoryOf(t, "LOCATION")
	was, now := knower{"Zupan": place, "Qwertal": place}, knower{"Qwertal": person}
	for _, c := range []struct {
		lost     int
		promoted bool
		want     string
	}{
		{1, true, "[]"},
		{12, false, "[{ALL masked_recall 1 0.7143 [-0.4286 -0.1667] 12 0} {PERSON masked_recall 1 0.7143 [-0.4286 -0.1667] 12 0}]"},
	} {
		notes := slices.Repeat([]string{"tos seca, lo dice *Qwertal* desde ayer"}, 30)
		notes = append(notes, slices.Repeat([]string{"tos seca, lo dice *Zupan* desde ayer"}, c.lost)...)
		got := gated(t, was, now, notes)
		if said := fmt.Sprint(got.Gated); got.Promoted != c.promoted || said != c.want {
			t.Errorf("%d names lost: in use %v, %s; want %v, %s; better %v", c.lost, got.Promoted, said, c.promoted, c.want, *got.Better)
		}
	}
}

func categoryOf(t *testing.T, name string) pipeline.Category {
	t.Helper()
	c, err := pipeline.ParseCategory(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
