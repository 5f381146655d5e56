package study

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/stages/score"
)

// Part holds the results of one study.
type Part struct {
	Study  string  `json:"study"`
	Digest string  `json:"notes_digest"` // of all notes, in order
	Notes  int     `json:"notes"`
	Groups int     `json:"groups"`
	By     string  `json:"by"`
	Spans  int     `json:"gold_spans"`
	Labels string  `json:"labels"`
	Folds  int     `json:"folds,omitempty"` // 0: scored on --dev, or drawn
	Seed   int     `json:"seed"`
	Beta   float64 `json:"beta"`
	Draws  int     `json:"bootstrap_draws"`
	Trials int     `json:"trials"` // different ones

	Varied  string    `json:"varied,omitempty"`  // what Point.At is
	Caution string    `json:"caution,omitempty"` // about figures that are too good
	Sources []string  `json:"sources,omitempty"` // that the folds leave out, in turn
	Points  []*Point  `json:"points,omitempty"`
	Pairs   []*Pair   `json:"pairs,omitempty"`
	Ranking []*Ranked `json:"ranking,omitempty"`
}

// Point holds the scores of one setting on one set of notes, summed over its trials. Intervals are 95 % bootstrap
// intervals, resampled by group, or by note where a group is a source.
type Point struct {
	Kind     string     `json:"kind"`
	At       string     `json:"at,omitempty"`
	On       string     `json:"on,omitempty"` // mix: whose notes were scored
	Taken    bool       `json:"taken,omitempty"`
	Picked   []string   `json:"picked_in_folds,omitempty"` // grid: the settings of each fold, see fair
	Share    float64    `json:"share,omitempty"`           // confidence: of the notes that are above
	Trials   int        `json:"trials"`
	Learned  float64    `json:"learned"` // notes of a trial, mean; 0: a model that there is
	Tested   int        `json:"tested"`  // notes of all trials
	Drawn    int        `json:"drawn"`   // groups of them, which intervals draw
	Strict   Scores     `json:"strict"`
	Masked   Scores     `json:"masked_entities"`
	Mean     float64    `json:"mean"` // of the trials' strict F1
	SD       float64    `json:"sd"`
	F1       []float64  `json:"f1"`                // of each trial
	Weights  float64    `json:"weights,omitempty"` // of a model, mean
	Category []Category `json:"categories,omitempty"`

	scorer *score.Scorer
}

// Scores holds precision, recall, F1 and F-beta of one measure, with the ends of the 95 % intervals of F1 and recall.
type Scores struct {
	Precision float64    `json:"precision"`
	Recall    float64    `json:"recall"`
	F1        float64    `json:"f1"`
	FBeta     float64    `json:"f_beta"`
	F1Ends    [2]float64 `json:"f1_ends"`
	Ends      [2]float64 `json:"recall_ends"`
}

// Category holds the strict F1 and the masking recall of one category.
type Category struct {
	Category string  `json:"category"`
	Gold     int64   `json:"gold"`
	F1       float64 `json:"f1"`
	Masked   float64 `json:"masked_recall"`
}

// Pair compares two points, A - B, by strict F1 and by masking recall per entity: the difference with its interval by
// paired bootstrap, and its p-value by approximate randomization over the same groups (NGRID §6.4).
type Pair struct {
	A      string     `json:"a"`
	B      string     `json:"b"`
	At     string     `json:"at,omitempty"`
	F1     Difference `json:"strict_f1"`
	Masked Difference `json:"masked_recall"`
}

// Difference is the difference of one measure between the points of a Pair. Alpha is the p-value, and Holm the p-value
// corrected for the number of pairs in the study (Holm 1979).
type Difference struct {
	Difference float64    `json:"difference"`
	Ends       [2]float64 `json:"ends"`
	Alpha      float64    `json:"alpha"`
	Holm       float64    `json:"holm"`
}

// point combines the trials of an arm. keep selects notes by their index in the corpus and their confidence; nil takes
// all. The trials of all compared points have the same test notes in the same order, so that equal rows are equal
// groups.
func (s *study) point(a *arm, at string, trials []*trial, keep func(note int, conf float32) bool) *Point {
	p := &Point{Kind: a.name, At: at, Trials: len(trials)}
	p.scorer = score.New(score.Options{Beta: s.Beta, Draws: s.Draws, Seed: uint64(s.Seed)})
	rows := map[string]int{}
	whole := 0
	for _, t := range trials {
		row := func(i int) int {
			n := t.test[t.outcome.Notes[i]]
			if keep != nil && !keep(n, t.outcome.Confidence[i]) {
				return -1
			}
			g := s.corpus.notes[n].drawn
			if _, known := rows[g]; !known {
				rows[g] = len(rows)
			}
			p.Tested++
			return rows[g]
		}
		p.scorer.Gather(t.outcome.Scores, row)
		whole += len(t.outcome.Notes)
		alone := score.New(score.Options{Draws: -1})
		alone.Gather(t.outcome.Scores, func(i int) int {
			if keep != nil && !keep(t.test[t.outcome.Notes[i]], t.outcome.Confidence[i]) {
				return -1
			}
			return i
		})
		m, _ := alone.Report().Measure(score.Strict)
		p.F1 = append(p.F1, report.Rounded(m.F1))
		if t.arm.learns {
			p.Learned += float64(len(t.train)) / float64(len(trials))
		}
		p.Weights += float64(t.outcome.Weights) / float64(len(trials))
	}
	p.Drawn = len(rows)
	p.Mean, p.SD = spread(p.F1)
	r := p.scorer.Report()
	p.Strict, p.Masked = scoresOf(r, score.Strict), scoresOf(r, score.MaskedEntities)
	if keep == nil {
		for _, c := range r.Categories {
			p.Category = append(p.Category, Category{c.Category, c.Gold, report.Rounded(c.F1), report.Rounded(c.MaskedRecall)})
		}
	}
	p.Learned, p.Weights = math.Round(p.Learned), math.Round(p.Weights)
	p.Share = report.Rounded(float64(p.Tested) / float64(max(whole, 1)))
	return p
}

func scoresOf(r *score.Report, k score.Measure) Scores {
	m, _ := r.Measure(k)
	x := Scores{Precision: report.Rounded(m.Precision), Recall: report.Rounded(m.Recall), F1: report.Rounded(m.F1),
		FBeta: report.Rounded(m.FBeta)}
	if m.Interval != nil {
		x.F1Ends, x.Ends = report.RoundedEnds(m.Interval.F1), report.RoundedEnds(m.Interval.Recall)
	}
	return x
}

// spread returns mean and standard deviation.
func spread(values []float64) (mean, sd float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sd += (v - mean) * (v - mean)
	}
	return report.Rounded(mean), report.Rounded(math.Sqrt(sd / float64(max(len(values)-1, 1))))
}

// pair tests whether two points differ.
func (s *study) pair(a, b *Point, nameA, nameB, at string) (*Pair, error) {
	p := &Pair{A: nameA, B: nameB, At: at}
	for _, x := range []struct {
		to *Difference
		m  score.Measure
		of func(score.Ratios) float64
		in func(score.Interval) [2]float64
	}{
		{&p.F1, score.Strict, func(r score.Ratios) float64 { return r.F1 }, func(i score.Interval) [2]float64 { return i.F1 }},
		{&p.Masked, score.MaskedEntities, func(r score.Ratios) float64 { return r.Recall },
			func(i score.Interval) [2]float64 { return i.Recall }},
	} {
		test, err := a.scorer.Compare(b.scorer, x.m, 0, uint64(s.Seed))
		if err != nil {
			return nil, err
		}
		ends, err := a.scorer.DifferenceInterval(b.scorer, x.m, s.Draws, uint64(s.Seed))
		if err != nil {
			return nil, err
		}
		*x.to = Difference{report.Rounded(x.of(test.Difference)), report.RoundedEnds(x.in(ends)), report.Rounded(x.of(test.Alpha)), 0}
	}
	return p, nil
}

// pairs tests all pairs of kinds in the same place.
func (s *study) pairs(p *Part) error {
	for i, a := range p.Points {
		for _, b := range p.Points[i+1:] {
			if a.At == b.At && a.On == b.On && a.Kind != b.Kind {
				x, err := s.pair(a, b, a.Kind, b.Kind, strings.TrimSpace(a.At+" "+a.On))
				if err != nil {
					return err
				}
				p.Pairs = append(p.Pairs, x)
			}
		}
	}
	adjust(p.Pairs)
	return nil
}

// against tests points against the base points of the same kind and notes.
func (s *study) against(p *Part, isBase func(*Point) bool) error {
	for _, base := range p.Points {
		for _, a := range p.Points {
			if a == base || a.Kind != base.Kind || a.On != base.On || !isBase(base) {
				continue
			}
			x, err := s.pair(a, base, a.At, base.At, strings.TrimSpace(base.Kind+" "+base.On))
			if err != nil {
				return err
			}
			p.Pairs = append(p.Pairs, x)
		}
	}
	adjust(p.Pairs)
	return nil
}

// adjust computes Holm's corrected p-values over all pairs: the smallest p-value is multiplied by the number of pairs,
// the next by one less, and so on, and none is lower than one before.
func adjust(all []*Pair) {
	for _, of := range []func(*Pair) *Difference{func(p *Pair) *Difference { return &p.F1 }, func(p *Pair) *Difference { return &p.Masked }} {
		order := slices.Clone(all)
		slices.SortStableFunc(order, func(a, b *Pair) int { return cmp.Compare(of(a).Alpha, of(b).Alpha) })
		least := 0.0
		for k, p := range order {
			d := of(p)
			least = max(least, min(1, d.Alpha*float64(len(order)-k)))
			d.Holm = report.Rounded(least)
		}
	}
}
