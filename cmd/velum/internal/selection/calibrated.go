package selection

import (
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline"
)

// Calibrated is the step that turns confidences into shares of right answers.
func Calibrated(m calibrate.Map) pipeline.Step {
	return pipeline.Step{Name: "calibrate", New: func() func(*pipeline.Batch) error {
		return func(b *pipeline.Batch) error {
			for i, c := range b.Conf {
				b.Conf[i] = float32(m.At(float64(c)))
			}
			for i := range b.Spans.Items {
				s := &b.Spans.Items[i]
				s.Score = float32(m.At(float64(s.Score)))
			}
			return nil
		}
	}}
}
