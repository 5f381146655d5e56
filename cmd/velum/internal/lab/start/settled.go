package start

import (
	"context"
	"errors"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/score"
)

// Constants of the stop rule: questions end when the models of several turns in a row agree with their predecessors on
// a sample of the archive, which needs no labels (Bloodgood and Vijay-Shanker 2009, kappa of at least .99). For spans,
// the F1 of one model against the other takes the place of kappa, which it approaches where most text is outside of
// spans (Hripcsak and Rothschild 2005).
const (
	enoughAgreed = 0.99
	enoughTurns  = 2
	stopNotes    = 10_000
)

// settle measures how far each turn's model agrees with that of the turn before, where nobody has yet: also of one
// that is not in use, for it has the same answers.
func (m *month) settle(ctx context.Context) error {
	model := func(n int) string { return m.at(learnedName, turns.Folder(n), turns.ModelName) }
	for n := len(m.state.Agreed) + 1; n < m.turns(); n++ {
		agreed, err := m.agreed(ctx, model(n-1), model(n))
		if err != nil {
			return err
		}
		m.state.Agreed = append(m.state.Agreed, agreed)
	}
	return m.save()
}

// enough tells whether the stop rule holds.
func (m *month) enough() bool {
	n := len(m.state.Agreed)
	return n >= enoughTurns && slices.Min(m.state.Agreed[n-enoughTurns:]) >= enoughAgreed
}

// agreed is the strict F1 of the spans of one model against those of another.
func (m *month) agreed(ctx context.Context, one, other string) (float64, error) {
	a, err := m.found(ctx, one)
	if err != nil {
		return 0, err
	}
	b, err := m.found(ctx, other)
	if err != nil {
		return 0, err
	}
	return agreement(a, b), nil
}

// agreement returns the strict F1 of spans against others, note by note; 1 if neither has any.
func agreement(a, b *pipeline.List[pipeline.Span]) float64 {
	s := score.New(score.Options{Draws: -1})
	for i := range a.Len() {
		s.Add(nil, nil, a.At(i), b.At(i))
	}
	both, _ := s.Report().Measure(score.Strict)
	if both.Gold+both.System == 0 {
		return 1
	}
	return 2 * float64(both.Found) / float64(both.Gold+both.System)
}

// found returns the spans of a model in the first notes of the archive.
func (m *month) found(ctx context.Context, model string) (*pipeline.List[pipeline.Span], error) {
	a, err := flow.Archive(ctx, m.cfg, []string{m.Options.In}, nil)
	if err != nil {
		return nil, err
	}
	defer a.Close()
	opened, err := flow.OpenModel(model, m.cfg)
	if err != nil {
		return nil, err
	}
	opened.Label = flow.LabelOptions(m.cfg)
	steps, err := flow.With(m.cfg, opened).TagSteps()
	if err != nil {
		return nil, err
	}
	src := archive.NewSlice(a, 0, min(stopNotes, a.Rows()))
	found := new(pipeline.List[pipeline.Span])
	err = pipeline.Run(ctx, src, steps, pipeline.SinkFunc(func(b *pipeline.Batch) error {
		for i := range b.Len() {
			found.Append(b.Spans.At(i)...)
		}
		return nil
	}), nil)
	return found, errors.Join(flow.InputError(err), src.Close())
}
