package flow

import (
	"sync"

	"github.com/velum-health/velum/models/tag/inverse"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/tally"
)

// Vain counts the words that an inverse model masks although a list of safe words has them, as a lower bound of what
// readers lose without need.
type Vain struct {
	lock  sync.Mutex
	words *inverse.Vain // nil: nothing
}

// vainForms is the number of most frequent forms kept per unit.
const vainForms = 40

// Take moves the counts into to and resets them.
func (v *Vain) Take(to *tally.Counts) {
	v.lock.Lock()
	defer v.lock.Unlock()
	if v.words == nil {
		return
	}
	for l, n := range v.words.ByList {
		to.Note(tally.VainList, inverse.List(l).String(), n)
	}
	for c, n := range v.words.ByCategory {
		to.Note(tally.VainCategory, c.String(), n)
	}
	for _, f := range v.words.Forms(vainForms) {
		to.Note(tally.VainForm, f.Form, f.Words)
	}
	v.words = nil
}

// vain returns the step that counts harmless masked words, in notes with spans; none without an inverse model.
func (f *Flow) vain(v *Vain) []pipeline.Step {
	if _, ok := f.Model.Model.(*inverse.Model); !ok {
		return nil
	}
	count := func(b *pipeline.Batch) error {
		v.lock.Lock()
		defer v.lock.Unlock()
		if v.words == nil {
			v.words = inverse.NewVain(gazetteer.Default(), gazetteer.Names())
		}
		for i := range b.Len() {
			if spans := b.Spans.At(i); b.Reason[i] == pipeline.Sound && len(spans) > 0 {
				v.words.Add(b.Text.At(i), b.Tokens.At(i), spans, nil)
			}
		}
		return nil
	}
	return []pipeline.Step{{Name: "vain", New: func() func(*pipeline.Batch) error { return count }}}
}
