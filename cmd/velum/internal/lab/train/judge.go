package train

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/stages/score"
)

// judge scores a model on the development notes, with the stages of `velum
// tag`, and sets its recall dial.
func (t *Training) judge(ctx context.Context, m *flow.Model) error {
	report, err := t.scored(ctx, m, t.dev())
	if err != nil {
		return err
	}
	if report.Notes == 0 {
		return exit.Errorf(exit.Nothing, "look at the paths", "%s: no notes to score on", strings.Join(t.Options.Dev, ", "))
	}
	h := m.Header()
	h.Scores = map[string]float64{}
	for _, k := range []score.Measure{score.Strict, score.Span, score.Merged, score.MaskedEntities, score.MaskedCharacters} {
		at, _ := report.Measure(k)
		h.Scores[k.String()+"_f1"] = at.F1
		h.Scores[k.String()+"_recall"] = at.Recall
	}
	h.Measured = nil
	if t.Options.Real != "" {
		h.Measured = &tagger.Measured{
			On: t.Options.Real, Date: time.Now().UTC().Format(time.DateOnly),
			Notes: int64(report.Notes), Entities: report.GoldSpans, DialPoint: setting(report, 0),
		}
	}
	if t.kind.Dial {
		if h.RecallDial, err = t.dial(ctx, m); err != nil {
			return err
		}
	}
	m.Model = m.WithHeader(h)
	return nil
}

// lend copies the scores and the recall dial of a model that was made in the same way from fewer notes. A model that
// ships is trained on the development notes, too, so scores on them would be meaningless.
func (t *Training) lend(m *flow.Model) error {
	from, err := flow.OpenWeights(t.Options.Scores, t.cfg)
	if err != nil {
		return err
	}
	if from.Labels != m.Labels {
		return exit.Misconfiguredf("name a model of the same labels", "--scores: %s has the labels of %s, this model those of %s",
			t.Options.Scores, from.Labels, m.Labels)
	}
	h, of := m.Header(), from.Header()
	h.Scores, h.RecallDial, h.Measured = of.Scores, of.RecallDial, of.Measured
	m.Model = m.WithHeader(h)
	return nil
}

// biases lists the settings of the recall dial that are tried. Scores are log odds: a bias of 1 makes O 2.7 times less
// likely at every token. Beyond 10 nearly everything is masked.
var biases = []float32{0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3, 3.5, 4, 5, 6, 8, 10}

// dial measures masking recall by entity, and precision, at each bias. A
// setting that reaches no more than a smaller one is left out.
func (t *Training) dial(ctx context.Context, m *flow.Model) (points []tagger.DialPoint, err error) {
	progress := t.NewProgress("recall dial", "settings", int64(len(biases)))
	defer progress.End()
	biased := *m
	for _, b := range biases {
		biased.Label.OBias = b
		report, err := t.scored(ctx, &biased, t.dev())
		if err != nil {
			return nil, err
		}
		at := setting(report, b)
		if len(points) == 0 || at.Recall > points[len(points)-1].Recall {
			points = append(points, at)
		}
		progress.Add(1)
	}
	return points, nil
}

// setting returns the part of a report that describes a setting of the dial; intervals where it
// has any.
func setting(r *score.Report, bias float32) tagger.DialPoint {
	at, _ := r.Measure(score.MaskedEntities)
	p := tagger.DialPoint{Recall: at.Recall, Bias: bias, Precision: at.Precision}
	if r.Draws > 0 {
		p.Interval = at.Sure()
	}
	return p
}

// dev are the development notes.
func (t *Training) dev() *flow.Labelled { return &flow.Labelled{Paths: t.Options.Dev, Config: t.cfg} }

// scored tags labelled notes with a model and scores them in its label set.
func (t *Training) scored(ctx context.Context, m *flow.Model, on *flow.Labelled) (*score.Report, error) {
	// An inverse model has one label, however many its network has learned.
	toLabels, err := flow.IntoLabels(cmp.Or(t.kind.Labels, t.Options.Labels))
	if err != nil {
		return nil, err
	}
	draws := -1
	if t.Options.Real != "" {
		draws = 0 // as many as score takes
	}
	s := score.New(score.Options{Draws: draws, Map: toLabels})
	err = on.Tag(ctx, flow.With(t.cfg, m), s)
	return s.Report(), err
}

// scoresText says what a model's header says of its quality.
const scoresText = `{{range $name, $x := .scores}}  {{printf "%-26s" $name}} {{figure "%.4f" $x}}
{{end}}{{with .measured}}  measured on {{.on}}, {{.date}}: {{.notes}} notes, {{.entities}} entities, masking recall {{figure "%.4f" .recall -}}
{{with .recall_interval}} [{{figure "%.4f" (index . 0)}}, {{figure "%.4f" (index . 1)}}]{{end}}, precision {{figure "%.4f" .precision}}
{{end}}{{range .recall_dial}}  recall dial: bias {{figure "%4.1f" .bias}}  masking recall {{figure "%.4f" .recall}}  precision {{figure "%.4f" .precision}}
{{end}}`
