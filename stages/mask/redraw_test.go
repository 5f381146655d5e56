package mask_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/stages/mask"
)

// A redrawn note has other names and places where the old ones stood, the rest byte for byte, and its dates: the same each time
// for a key, others for another.
func TestRedraw(t *testing.T) {
	set, err := pipeline.Labels("primary-care")
	if err != nil {
		t.Fatal(err)
	}
	redrawn := func(key string) (text, name, place string) {
		b := new(pipeline.Batch)
		note, gold, err := markup.Parse("Avui [PERSON:Marta Vidal] ve de [LOCATION:Girona] el [DATE:3/4/2021].")
		if err != nil {
			t.Fatal(err)
		}
		b.ID.Append([]byte("n1"))
		b.Text.Append(note)
		b.Gold.Append(gold...)
		b.Reason = append(b.Reason, pipeline.Sound)
		step, err := mask.Redraw(&pipeline.TagSet{Categories: set.Categories}, key)
		if err != nil {
			t.Fatal(err)
		}
		if err := step.New()(b); err != nil {
			t.Fatal(err)
		}
		now := b.Text.At(0)
		var values []string
		rest := slices.Clone(now)
		for _, s := range slices.Backward(b.Gold.At(0)) {
			values = append(values, string(now[s.Start:s.End]))
			rest = slices.Delete(rest, int(s.Start), int(s.End))
		}
		if len(values) != 3 || values[0] != "3/4/2021" || !bytes.Equal(rest, []byte("Avui  ve de  el .")) {
			t.Errorf("%d spans in %q", len(values), now)
		}
		return string(now), values[2], values[1]
	}
	first, name, place := redrawn("1 0")
	if name == "Marta Vidal" || place == "Girona" {
		t.Errorf("the old values stand in %q", first)
	}
	if again, _, _ := redrawn("1 0"); again != first {
		t.Errorf("%q, then %q", first, again)
	}
	if other, _, _ := redrawn("1 1"); other == first {
		t.Errorf("two keys draw %q", other)
	}
}
