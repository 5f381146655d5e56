package ensembletrain

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

var set = &pipeline.TagSet{Categories: []pipeline.Category{1, 2}}

// member tags words as it was told.
type member struct {
	tagger.Model
	tags map[string]pipeline.Tag
}

func (m member) Header() tagger.Header                           { return tagger.Header{Kind: "member"} }
func (m member) TagSet() *pipeline.TagSet                        { return set }
func (m member) NewLabeller(tagger.LabelOptions) tagger.Labeller { return m }

func (m member) Label(text []byte, tokens []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) float32 {
	for i, t := range tokens {
		tags[i] = m.tags[string(text[t.Start:t.End])]
	}
	return 1
}

func TestPrecision(t *testing.T) {
	m, err := ensemble.New(ensemble.Priority, []tagger.Model{
		member{tags: map[string]pipeline.Tag{"Ada": 1, "Pardo": 1}}, member{tags: map[string]pipeline.Tag{"Pardo": 3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	trainer := NewTrainer(m)
	if _, err := trainer.Train(tagger.TrainOptions{}); err == nil {
		t.Error("nothing measured is no error")
	}
	text := []byte("Ada Pardo Ada")
	tokens := []pipeline.Token{{Start: 0, End: 3, Flags: pipeline.LineStart}, {Start: 4, End: 9}, {Start: 10, End: 13}}
	if err := trainer.Add(text, tokens, nil, []pipeline.Tag{1, 3, 1}); err != nil {
		t.Fatal(err)
	}
	both, err := trainer.Train(tagger.TrainOptions{About: tagger.Header{Name: "both"}})
	if err != nil || both.Header().Name != "both" {
		t.Fatal(both, err)
	}
	// The first is right of two in three persons, the second of its only place; one right and one wrong are added.
	var header struct {
		Members []struct{ Precision map[string]float32 }
	}
	if text, err := both.MarshalHeader(); err != nil || json.Unmarshal(text, &header) != nil {
		t.Fatal(err)
	}
	for k, want := range []map[string]float32{{pipeline.Category(1).String(): 3. / 5}, {pipeline.Category(2).String(): 2. / 3}} {
		for name, p := range want {
			if got := header.Members[k].Precision[name]; math.Abs(float64(got-p)) > 1e-6 {
				t.Errorf("member %d, %s: precision %v, want %v", k, name, got, p)
			}
		}
	}
	if _, err := NewTrainer(m).Train(tagger.TrainOptions{Init: m}); err == nil {
		t.Error("an ensemble to begin with is no error")
	}
}
