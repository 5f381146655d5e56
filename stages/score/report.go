package score

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// Report holds the measures of a Scorer. Ratios without a denominator are 0.
type Report struct {
	Notes       int   `json:"notes"`
	NotesPHI    int   `json:"notes_with_phi"`
	Quarantined int64 `json:"quarantined"` // not scored
	GoldSpans   int64 `json:"gold_spans"`
	SystemSpans int64 `json:"system_spans"`

	Beta  float64 `json:"beta"`
	Draws int     `json:"bootstrap_draws"`
	Seed  uint64  `json:"bootstrap_seed"`

	Measures        []Measured      `json:"measures"`         // those that apply, in the order of Measure
	MacroCategories Ratios          `json:"macro_categories"` // strict, mean over the categories that occur
	Categories      []CategoryScore `json:"categories"`       // that occur, by name
	Errors          ErrorCounts     `json:"errors"`
	Confusion       []Confused      `json:"confusion"` // cells that are not 0, the largest first, then by name

	CleanNotes    Share    `json:"clean_notes"`          // of all notes
	CleanNotesPHI Share    `json:"clean_notes_with_phi"` // of those with PHI
	Leaks         LeakRate `json:"leaks"`
}

// Ratios are precision, recall and their means.
type Ratios struct {
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
	FBeta     float64 `json:"f_beta"`
}

// Measured is one measure over all notes: Found of Gold spans were found, and Right of System spans are right.
type Measured struct {
	Name   string `json:"name"`
	Gold   int64  `json:"gold"`
	Found  int64  `json:"found"`
	System int64  `json:"system"`
	Right  int64  `json:"right"`
	Ratios
	Macro    Ratios    `json:"macro"`              // mean over the notes that have gold or system spans
	Interval *Interval `json:"interval,omitempty"` // 95 %, percentiles of the bootstrap over notes
}

// Interval holds the lower and upper ends of intervals.
type Interval struct {
	Precision [2]float64 `json:"precision"`
	Recall    [2]float64 `json:"recall"`
	F1        [2]float64 `json:"f1"`
}

// CategoryScore holds the strict measure and the masking recall of one category.
type CategoryScore struct {
	Category string `json:"category"`
	Gold     int64  `json:"gold"`
	System   int64  `json:"system"`
	Right    int64  `json:"right"`
	Ratios
	Masked       int64       `json:"masked"` // gold spans that are covered whole, by spans of any category
	MaskedRecall float64     `json:"masked_recall"`
	Errors       ErrorCounts `json:"errors"`
}

// Confused counts how often a system span of one category overlapped a gold span of another; "" stands for no span.
type Confused struct {
	Gold   string `json:"gold"`
	System string `json:"system"`
	Count  int64  `json:"count"`
}

// Share is a ratio with its counts.
type Share struct {
	Part  int64   `json:"part"`
	Whole int64   `json:"whole"`
	Share float64 `json:"share"`
}

// LeakRate is the number of gold spans of which a letter or digit is still readable, per note, sentence and so on (the
// leak score of the MEDDOCAN track). Sentences is 0 if no tokens were given.
type LeakRate struct {
	Spans       int64   `json:"spans"`
	Sentences   int64   `json:"sentences"`
	PerSentence float64 `json:"per_sentence"`
	Lines       int64   `json:"lines"`
	PerLine     float64 `json:"per_line"`
}

// Measure returns one measure; false if it could not be taken.
func (r *Report) Measure(m Measure) (Measured, bool) {
	for _, have := range r.Measures {
		if have.Name == m.String() {
			return have, true
		}
	}
	return Measured{}, false
}

// Report computes the measures of the notes so far. It may be called repeatedly.
func (s *Scorer) Report() *Report {
	sum := s.sum()
	r := &Report{
		Notes: len(s.rows), NotesPHI: int(sum[CleanNotes].gold), Quarantined: s.quarantined,
		GoldSpans: sum[Strict].gold, SystemSpans: sum[Strict].system,
		Beta: s.o.Beta, Draws: max(s.o.Draws, 0), Seed: s.o.Seed, Errors: s.errors,
	}
	for m := range numMeasures {
		if s.tokens == 0 && (m == Tokens || m == MaskedTokens) {
			continue
		}
		if m == DirectNotes && sum[m].gold == 0 {
			continue
		}
		x := Measured{Name: m.String(), Gold: sum[m].gold, Found: sum[m].found, System: sum[m].system, Right: sum[m].right}
		x.Ratios = sum[m].ratios(s.o.Beta)
		x.Macro = s.macro(m)
		if s.o.Draws > 0 && len(s.rows) > 0 {
			x.Interval = new(gained(make([]count, len(s.rows)), s.column(m), s.o.Draws, s.o.Seed, 0x5c07e))
		}
		r.Measures = append(r.Measures, x)
	}
	s.byCategory(r)
	clean := sum[CleanNotes]
	r.CleanNotesPHI = share(clean.found, clean.gold)
	r.CleanNotes = share(clean.found+int64(len(s.rows))-clean.gold, int64(len(s.rows)))
	r.Leaks.Spans = sum[MaskedEntities].gold - sum[MaskedEntities].found
	r.Leaks.Sentences, r.Leaks.Lines = s.sentences, s.lines
	r.Leaks.PerSentence = ratio(r.Leaks.Spans, s.sentences)
	r.Leaks.PerLine = ratio(r.Leaks.Spans, s.lines)
	return r
}

// total is a count over many notes.
type total struct{ gold, found, system, right int64 }

func (t *total) add(c count, times int64) {
	t.gold += times * int64(c.gold)
	t.found += times * int64(c.found)
	t.system += times * int64(c.system)
	t.right += times * int64(c.right)
}

// ratios computes
//
//	P = right / system, R = found / gold, F_β = (1 + β²) P R / (β² P + R)
func (t total) ratios(beta float64) Ratios {
	r := Ratios{Precision: ratio(t.right, t.system), Recall: ratio(t.found, t.gold)}
	r.F1 = harmonic(r.Precision, r.Recall, 1)
	r.FBeta = harmonic(r.Precision, r.Recall, beta)
	return r
}

func ratio(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func harmonic(p, r, beta float64) float64 {
	if p+r == 0 {
		return 0
	}
	b := beta * beta
	return (1 + b) * p * r / (b*p + r)
}

func share(part, whole int64) Share { return Share{part, whole, ratio(part, whole)} }

func (s *Scorer) sum() [numMeasures]total {
	var sum [numMeasures]total
	for i := range s.rows {
		for m := range numMeasures {
			sum[m].add(s.rows[i][m], 1)
		}
	}
	return sum
}

// macro returns the mean of the ratios of single notes. It leaves out notes with neither gold nor system spans. In the
// other notes a ratio without a denominator is 0.
func (s *Scorer) macro(m Measure) Ratios {
	var mean means
	for i := range s.rows {
		var t total
		t.add(s.rows[i][m], 1)
		if t.gold+t.system > 0 {
			mean.add(t.ratios(s.o.Beta))
		}
	}
	return mean.value()
}

type means struct {
	sum Ratios
	n   float64
}

func (m *means) add(r Ratios) {
	m.sum.Precision += r.Precision
	m.sum.Recall += r.Recall
	m.sum.F1 += r.F1
	m.sum.FBeta += r.FBeta
	m.n++
}

func (m *means) value() Ratios {
	n := max(m.n, 1)
	return Ratios{m.sum.Precision / n, m.sum.Recall / n, m.sum.F1 / n, m.sum.FBeta / n}
}

func (s *Scorer) byCategory(r *Report) {
	n := len(s.categories)
	names := make([]int, 0, n)
	for c := range n {
		names = append(names, c)
	}
	slices.SortFunc(names, func(a, b int) int {
		return strings.Compare(pipeline.Category(a).String(), pipeline.Category(b).String())
	})
	var mean means
	for _, c := range names {
		k := s.categories[c]
		if k.gold+k.system == 0 {
			continue
		}
		ratios := total{k.gold, k.right, k.system, k.right}.ratios(s.o.Beta)
		mean.add(ratios)
		r.Categories = append(r.Categories, CategoryScore{
			Category: pipeline.Category(c).String(), Gold: k.gold, System: k.system, Right: k.right, Ratios: ratios,
			Masked: k.masked, MaskedRecall: ratio(k.masked, k.gold), Errors: k.errors,
		})
	}
	r.MacroCategories = mean.value()
	for _, g := range names {
		for _, x := range names {
			if k := s.confusion[g*n+x]; k > 0 {
				r.Confusion = append(r.Confusion, Confused{pipeline.Category(g).String(), pipeline.Category(x).String(), k})
			}
		}
	}
	slices.SortStableFunc(r.Confusion, func(a, b Confused) int { return cmp.Compare(b.Count, a.Count) })
}

// column returns the counts of all notes for a measure.
func (s *Scorer) column(m Measure) (all []count) {
	for i := range s.rows {
		all = append(all, s.rows[i][m])
	}
	return all
}

// gained returns the 95 % interval of how much each ratio of now is higher than that of was, by the paired bootstrap:
// it draws as many notes as there are, with replacement, takes the difference over each draw, and returns the middle 95
// % of the differences. Notes with equal counts are interchangeable, and short notes have few different counts, so a
// draw chooses how often each kind of note occurs and sums over the kinds.
func gained(was, now []count, draws int, seed, stream uint64) Interval {
	index, kinds, kindOf := map[[2]count]int{}, [][2]count{}, make([]int, len(now))
	for i := range now {
		pair := [2]count{was[i], now[i]}
		k, ok := index[pair]
		if !ok {
			k = len(kinds)
			index[pair], kinds = k, append(kinds, pair)
		}
		kindOf[i] = k
	}
	random := rand.New(rand.NewPCG(seed, stream))
	var values [3][]float64
	drawn := make([]int64, len(kinds))
	for range draws {
		clear(drawn)
		for range now {
			drawn[kindOf[random.IntN(len(now))]]++
		}
		var a, b total
		for k, times := range drawn {
			a.add(kinds[k][0], times)
			b.add(kinds[k][1], times)
		}
		d := minus(b.ratios(1), a.ratios(1))
		for k, v := range [3]float64{d.Precision, d.Recall, d.F1} {
			values[k] = append(values[k], v)
		}
	}
	return Interval{middle(values[0]), middle(values[1]), middle(values[2])}
}

// middle returns the 2.5 % and 97.5 % percentiles, rounded outwards.
func middle(values []float64) (ends [2]float64) {
	if len(values) == 0 {
		return ends
	}
	slices.Sort(values)
	last := float64(len(values) - 1)
	return [2]float64{values[int(math.Floor(0.025*last))], values[int(math.Ceil(0.975*last))]}
}
