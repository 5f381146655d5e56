package inverse

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// TestCut: the cut costs least, by trying all places; without words of a list it is
// INV's own threshold.
func TestCut(t *testing.T) {
	p := Strict()
	for _, tt := range [][]judged{
		nil,
		{{-2, true}, {1, false}, {5, false}},
		slices.Concat([]judged{{0, false}, {0, true}, {6, false}}, slices.Repeat([]judged{{0, false}}, 3), slices.Repeat([]judged{{4, false}}, 40)),
		append(slices.Repeat([]judged{{2, false}}, 30), judged{2, true}, judged{2.5, true}, judged{3, false}),
	} {
		for _, l := range []List{Name, Drug} {
			own := float64(logit(float32(p.threshold(l))))
			cost := func(cut float64) (c float64) {
				for _, w := range append([]judged{{float32(own), true}}, tt...) {
					switch masked := float64(w.logit) < cut; {
					case w.personal && !masked:
						c += missed
					case !w.personal && masked:
						c++
					}
				}
				return c
			}
			least := math.Inf(1)
			for cut := -5.0; cut < 8; cut += .005 {
				least = min(least, cost(cut))
			}
			got := float64(p.cut(l, tt))
			if cost(got) > least {
				t.Errorf("%v of %v: cut %g costs %g, %g is possible", tt, l, got, cost(got), least)
			}
			if tt == nil && math.Abs(got-own) > .02 {
				t.Errorf("%v without words: cut %g, INV has %g", l, got, own)
			}
		}
	}
}

// TestCombiner: what labelled notes say of a list decides over its words; the dial stays
// one axis, and the file brings the cuts back.
func TestCombiner(t *testing.T) {
	m := modelOf(t, map[string]float32{"zyxwvu": .97, "con": .999}, Strict())
	c, err := NewCombiner(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Train(tagger.TrainOptions{}); err == nil {
		t.Error("no notes are enough")
	}
	text, tokens := tokenize("con zyxwvu")
	for range 30 {
		if err := c.Add(text, tokens, nil, []pipeline.Tag{pipeline.O, 1}); err != nil {
			t.Fatal(err)
		}
	}
	trained, err := c.Train(tagger.TrainOptions{About: tagger.Header{Name: "ours"}})
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := trained.Write(&file); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Parse(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	back, err := Load(f, gazetteer.Default(), gazetteer.Names(), func(*modelfile.File) (tagger.Model, error) { return m.network, nil })
	if err != nil || back.Header().Name != "ours" {
		t.Fatalf("%v, %+v", err, back)
	}
	for dial, want := range map[float64]string{0: "..", .5: ".#", .7: ".#"} {
		p := Strict()
		p.Dial = dial
		set, err := back.With(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := masked(set, "con zyxwvu"); got != want {
			t.Errorf("dial %g: %s, want %s; INV has %s", dial, got, want, masked(m, "con zyxwvu"))
		}
	}
	if _, err := NewCombiner(modelOf(t, nil, Strict())); err == nil {
		t.Error("rules alone are taken")
	}
	if checkCuts(map[string]float32{"name": float32(math.NaN())}) == nil || checkCuts(map[string]float32{"nobody": 1}) == nil {
		t.Error("a damaged header is taken")
	}
}
