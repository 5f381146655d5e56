package notes

import (
	"cmp"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
)

// eagerRecall is the setting of the recall dial that must agree with the model
// as it is, where the configuration names none; or the highest that its
// precision allows, if that is less.
const eagerRecall = 0.99

// contextSteps is the row of `velum synth --contexts`: what the model finds as
// it is becomes Gold, what it finds at a high recall Spans.
func contextSteps(c *option.Config) ([]pipeline.Step, error) {
	careful, eager := *c, *c
	careful.Tag.Recall = 0
	f, err := flow.New(&careful)
	if err != nil {
		return nil, err
	}
	if f.Model.Labels != "primary-care" {
		return nil, exit.Errorf(exit.Config, "name one with --model, primary-care say", "values are drawn for the labels of primary-care, and %s has those of %s", f.Model.Name, f.Model.Labels)
	}
	steps, err := f.TagSteps()
	if err != nil {
		return nil, err
	}
	if eager.Tag.Recall == 0 {
		eager.Tag.Recall = highestRecall(f.Model, c.Tag.PrecisionFloor)
	}
	more, err := flow.New(&eager)
	if err != nil {
		return nil, err
	}
	again, err := more.TagSteps()
	if err != nil {
		return nil, err
	}
	aside := pipeline.Step{Name: "aside", New: func() func(*pipeline.Batch) error { return setAside }}
	return slices.Concat(steps, []pipeline.Step{aside}, again[1:]), nil // the notes have their tokens
}

// highestRecall is the most of the dial, up to eagerRecall, that a model
// reaches with a precision of at least floor; eagerRecall, which is refused with
// the reason, if there is none.
func highestRecall(m *flow.Model, floor float64) float64 {
	recall := 0.0
	for _, p := range m.Header().RecallDial {
		if p.Precision >= floor {
			recall = max(recall, min(p.Recall, eagerRecall))
		}
	}
	return cmp.Or(recall, eagerRecall)
}

// setAside makes the spans of a batch its gold and empties what tagging fills.
func setAside(b *pipeline.Batch) error {
	b.Gold, b.Spans = b.Spans, b.Gold
	b.Spans.Reset()
	b.Matches.Reset()
	b.Tags, b.Conf = b.Tags[:0], b.Conf[:0]
	return nil
}
