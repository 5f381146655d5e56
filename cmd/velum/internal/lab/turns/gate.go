package turns

import (
	"fmt"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/stages/score"
)

// Draws is the number of bootstrap samples for an interval of 95 %.
const Draws = 2000

// The measures of a GateLine.
const (
	foundRecall  = "recall"        // of spans with the right category and borders
	maskedRecall = "masked_recall" // of spans whose letters and digits are all covered
)

// GateLine compares the model of a turn with the model in use, on the same notes and for one category: the recall of
// exact spans, or the recall of masked spans. Category score.AllCategories means all categories together.
type GateLine struct {
	Category string     `json:"category"`
	Measure  string     `json:"measure"`
	Was      float64    `json:"was"`
	Now      float64    `json:"now"`
	Ends     [2]float64 `json:"interval"` // of Now - Was, 95 %, paired by note
	Lost     int        `json:"lost"`     // spans that the model in use has and the turn's model has not
	Gained   int        `json:"gained"`   // spans that the turn's model has and the model in use has not
}

// Judgment holds the comparison of a turn's model with the model in use, and the decision which of them to use.
type Judgment struct {
	Beside   int         `json:"beside"`           // number of the turn whose model was in use before; -1: none was
	Was      *Scores     `json:"was,omitempty"`    // of the model in use, on the notes of Validation
	Better   *[2]float64 `json:"better,omitempty"` // 95 % interval of how much higher the turn's strict F1 is
	Compared []GateLine  `json:"compared,omitempty"`
	Gated    []GateLine  `json:"gated"` // those of Compared that keep the turn's model out of use
	Promoted bool        `json:"promoted"`
}

// Decide sets Promoted: the model of the turn goes into use if its strict F1 is significantly higher and no line shows
// a significant loss (95 %).
func (j *Judgment) Decide() {
	j.Gated = []GateLine{}
	for _, l := range j.Compared {
		if l.lost() {
			j.Gated = append(j.Gated, l)
		}
	}
	j.Promoted = j.Better == nil || j.Better[0] > 0 && len(j.Gated) == 0
}

// lost tells whether a line is a loss: net of what the turn's model gains it has less, and the whole
// interval of the difference lies below 0. Of three spans lost and none gained among thousands the interval reaches 0.
func (l *GateLine) lost() bool { return l.Now < l.Was && l.Ends[1] < 0 }

// Compare compares two systems that tagged the same notes: the masking recall of all categories together, and the
// masking recall and recall of each category.
func Compare(was, now *score.Scorer) (all []GateLine, err error) {
	differences, err := now.RecallDifferences(was, Draws, 1)
	for _, d := range differences {
		measure := foundRecall
		if d.Masked {
			measure = maskedRecall
		} else if d.Category == score.AllCategories {
			continue // strict F1 says it
		}
		all = append(all, GateLine{
			d.Category, measure, report.Rounded(d.Was), report.Rounded(d.Now), report.RoundedEnds(d.Ends),
			d.Lost, d.Gained,
		})
	}
	return all, err
}

// NotInUse explains in a sentence why the model of a turn did not replace the model in use: the difference may be
// chance, or some category lost recall.
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
	case l.Category == score.AllCategories:
		return r.Words().Text("lost of all", was, now)
	case l.Measure == maskedRecall:
		return r.Words().Text("lost masked", l.Category, was, now)
	}
	return r.Words().Text("lost found", l.Category, was, now)
}
