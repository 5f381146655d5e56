package mask

import (
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
)

// Redraw returns the step that replaces names and places in gold spans by surrogates drawn from text and the ids of the
// notes. It is for notes labelled by a teacher model: the student then cannot memorize strings and has to learn from
// their context, and what the teacher took for a place becomes a place.
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
