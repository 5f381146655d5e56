package turns

import (
	"fmt"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/stages/score"
)

// Draws are those of an interval of 95 %.
const Draws = 2000

// Losses lists what a model loses: categories of which it finds or masks less, by more than is tolerated and beyond chance;
// and the share of all entities that it masks, if that is lower at all by more than is tolerated, for what is left is read.
func Losses(was, now *score.Scorer, tolerance float64) ([]GateLine, error) {
	lost := []GateLine{}
	before, after := ScoresOf(was.Report()).Masked.Recall, ScoresOf(now.Report()).Masked.Recall
	if after < before-tolerance-1e-9 {
		lost = append(lost, GateLine{Category: "ALL", Measure: "masked_recall", Was: before, Now: after})
	}
	differences, err := now.RecallDifferences(was, Draws, 1)
	for _, d := range differences {
		if d.Now >= d.Was-tolerance-1e-9 || d.Ends[1] >= 0 {
			continue
		}
		line := GateLine{Category: d.Category, Measure: "recall", Was: report.Rounded(d.Was), Now: report.Rounded(d.Now)}
		if d.Masked {
			line.Measure = "masked_recall"
		}
		lost = append(lost, line)
	}
	return lost, err
}

// NotInUse says why a turn that was compared with the model in use did not take its place: chance, or what it loses.
func (r *Report) NotInUse(t *Turn) string {
	number, from, to := fmt.Sprint(t.Number), r.Words().Number(t.Better[0], 4), r.Words().Number(t.Better[1], 4)
	if t.Better[0] <= 0 || len(t.Gated) == 0 {
		return r.Words().Text("learn chance", number, from, to)
	}
	lost := make([]string, len(t.Gated))
	for i, l := range t.Gated {
		lost[i] = fmt.Sprintf("%s %s → %s", l.Category, r.Words().Number(l.Was, 4), r.Words().Number(l.Now, 4))
	}
	return r.Words().Text("learn lost", number, from, to, strings.Join(lost, ", "))
}
