package turns

import (
	"fmt"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/stages/score"
)

// Draws are those of an interval of 95 %.
const Draws = 2000

// Of a line of the gate: of which category, and what of it was measured.
const (
	everything   = "ALL"
	maskedRecall = "masked_recall"
)

// Compared is what a model says, alone or beside another, and what the one in use says of the same notes.
type Compared struct{ Was, Now *score.Scorer }

// Pair is what is masked with an inverse model beside both.
func (c Compared) Pair() *Pair {
	return &Pair{Was: ScoresOf(c.Was.Report()).Masked.Recall, Now: ScoresOf(c.Now.Report()).Masked.Recall}
}

// Losses lists what a model loses: categories of which it finds less, or of which less is masked, by more than is tolerated and
// beyond chance; and the share of all entities that is masked, if that is lower at all by more than is tolerated, for what is left
// is read. found is of the models alone: a category is found by the model, for what an inverse one masks beside it has none. masked
// is of what masks: the pairs where a house masks with pairs, else the models.
func Losses(found, masked Compared, tolerance float64) ([]GateLine, error) {
	lost := []GateLine{}
	if all := masked.Pair(); all.Now < all.Was-tolerance-1e-9 {
		lost = append(lost, GateLine{Category: everything, Measure: maskedRecall, Was: all.Was, Now: all.Now})
	}
	differences, err := byCategory(found, masked)
	for _, d := range differences {
		if d.Now >= d.Was-tolerance-1e-9 || d.Ends[1] >= 0 {
			continue
		}
		line := GateLine{Category: d.Category, Measure: "recall", Was: report.Rounded(d.Was), Now: report.Rounded(d.Now)}
		if d.Masked {
			line.Measure = maskedRecall
		}
		lost = append(lost, line)
	}
	return lost, err
}

// byCategory are the differences of what is found and of what is masked, each of the two that say it.
func byCategory(found, masked Compared) ([]score.RecallDifference, error) {
	all, err := found.Now.RecallDifferences(found.Was, Draws, 1)
	if err != nil || found == masked {
		return all, err
	}
	pairs, err := masked.Now.RecallDifferences(masked.Was, Draws, 1)
	all = slices.DeleteFunc(all, func(d score.RecallDifference) bool { return d.Masked })
	pairs = slices.DeleteFunc(pairs, func(d score.RecallDifference) bool { return !d.Masked })
	return append(all, pairs...), err
}

// NotInUse says why a turn that was compared with the model in use did not take its place: chance, or what it loses.
func (r *Report) NotInUse(t *Turn) string {
	number, from, to := fmt.Sprint(t.Number), r.Words().Number(t.Better[0], 4), r.Words().Number(t.Better[1], 4)
	switch {
	case t.Better[1] < 0:
		return r.Words().Text("learn worse", number, from, to)
	case t.Better[0] <= 0 && t.Answers > 0:
		return r.Words().Text("learn chance", number, from, to, r.Words().Text("more answers"))
	case t.Better[0] <= 0 || len(t.Gated) == 0:
		return r.Words().Text("learn chance", number, from, to, r.Words().Text("some answers"))
	}
	lost := make([]string, len(t.Gated))
	for i, l := range t.Gated {
		lost[i] = r.lost(l)
	}
	return r.Words().Text("learn lost", number, from, to, strings.Join(lost, ", "))
}

// lost says what a line of the gate is about: what a model finds, or what is masked.
func (r *Report) lost(l GateLine) string {
	was, now := r.Words().Number(l.Was, 4), r.Words().Number(l.Now, 4)
	switch {
	case l.Category == everything:
		return r.Words().Text("lost of all", was, now)
	case l.Measure == maskedRecall:
		return r.Words().Text("lost masked", l.Category, was, now)
	}
	return r.Words().Text("lost found", l.Category, was, now)
}

// Masked says what is masked with the inverse model beside the model of a turn; "" where nobody asked.
func (r *Report) Masked(t *Turn) string {
	if t.Pair == nil {
		return ""
	}
	return r.Words().Text("learn pair", fmt.Sprint(t.Number), r.Words().Number(t.Pair.Now, 4), r.Words().Number(t.Pair.Was, 4))
}
