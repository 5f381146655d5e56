package mask

import (
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
)

// Redraw returns the step that writes other names and places in gold spans of a tag set's categories, drawn by the text and the
// ids of the notes. Where a teacher took something else for a place, its student sees a place; and it learns no string by heart,
// but what stands around them.
//
//	in:  ID, Text, Gold, Reason
//	out: Text, Gold
func Redraw(set *pipeline.TagSet, text string) (pipeline.Step, error) {
	o := Options{Policy: map[pipeline.Category]*Chain{}, Key: secret.Public(text)}
	other, err := ParseChain("surrogate scope=note strategy=random | keep")
	if err == nil {
		o.Default, err = ParseChain("keep")
	}
	for _, c := range set.Categories {
		if kind := c.Kind(); kind == pipeline.NameKind || kind == pipeline.PlaceKind {
			o.Policy[c] = other
		}
	}
	return pipeline.Step{Name: "redraw", New: func() func(*pipeline.Batch) error {
		m, err := NewMasker(o)
		return func(b *pipeline.Batch) error {
			if err != nil {
				return err
			}
			for i := range b.Len() {
				b.Spans.Append(b.Gold.At(i)...)
			}
			err := m.do(b)
			b.Text, b.Masked, b.Gold, b.Places = b.Masked, b.Text, b.Places, b.Gold
			return err
		}
	}}, err
}
