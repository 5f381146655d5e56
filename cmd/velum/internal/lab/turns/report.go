package turns

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/score"
)

// Report is report.json of learning, and what report.html shows. It holds
// no text and no ids of notes, and it is a function of the turns alone, so that
// learning that was stopped and went on ends with the same bytes.
type Report struct {
	Schema     string   `json:"schema"`
	Language   string   `json:"language"` // of the sentences and the page
	Sentence   string   `json:"sentence"`
	Remarks    []string `json:"remarks,omitempty"` // what to think of it
	Supervised Scores   `json:"supervised"`        // turn 0
	BestTurn   int      `json:"best_turn"`
	Best       Scores   `json:"best"`
	Promoted   int      `json:"promoted_turn"`
	Measured   bool     `json:"measured"`        // there were notes to judge on
	From       int      `json:"from_turn"`       // first turn whose scores are on the same notes as those of the last; Supervised is its, or that of the model before
	Folds      int      `json:"folds,omitempty"` // that labelled notes and answers were dealt out to, to judge on them; 0: there were validation notes
	Unit       string   `json:"unit"`
	Turns      []*Turn  `json:"turns,omitempty"`
	Draws      []Draw   `json:"draws,omitempty"` // of several seeds
	Mean       []Spread `json:"mean,omitempty"`  // by turn, of the draws that got so far

	language page.Language
}

// Draw is what one seed came to.
type Draw struct {
	Seed       int       `json:"seed"`
	Supervised float64   `json:"supervised_f1"`
	Best       float64   `json:"best_f1"`
	BestTurn   int       `json:"best_turn"`
	F1         []float64 `json:"f1"` // by turn
}

// Spread is the mean of draws, their standard deviation, and how many there
// were.
type Spread struct {
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`
	Draws int     `json:"draws"`
}

// ReportSchema is that of report.json.
const ReportSchema = "velum.learn/2"

// In sets the language.
func (r *Report) In(l page.Language) { r.Language, r.language = l.String(), l }

// On says what the best turn was judged on.
func (r *Report) On() string {
	if r.Folds > 0 {
		return r.language.Text("in folds", r.language.Plural(int64(r.Best.Notes), "labelled note"), fmt.Sprint(r.Folds))
	}
	return r.language.Plural(int64(r.Best.Notes), "dev note")
}

// Score writes a measure.
func (r *Report) Score(x float64) string { return r.language.Number(x, 4) }

// Write writes report.json and report.html.
func (r *Report) Write(dir string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	html, err := r.HTML()
	if err != nil {
		return err
	}
	if err := durable.WriteFile(nil, filepath.Join(dir, "report.html"), html); err != nil {
		return err
	}
	return durable.WriteFile(nil, filepath.Join(dir, "report.json"), append(data, '\n'))
}

//go:embed learn.gohtml
var learnPage string

// plotPage is the drawing of curves by turn, of both pages.
//
//go:embed plot.gohtml
var plotPage string

var learnTemplate = page.New("learn", plotPage+learnPage)

// HTML is the page.
func (r *Report) HTML() ([]byte, error) { return learnTemplate.Write(r.language, r.view()) }

// learnView is the report as the page shows it.
type learnView struct {
	*Report
	Gain      float64
	Curve     chart
	Taken     []learnBar
	Histogram report.Histogram
	Reliable  *reliableView
	Rows      []learnRow
	Classes   []learnClass
	Notes     int // of the archive, in the last training set
}

// learnBar is what a turn took.
type learnBar struct {
	Turn, Notes, Candidates int
	Width                   float64
}

// learnRow is a turn in the table.
type learnRow struct {
	*Turn
	Gain     float64 // against the supervised model
	Compared bool    // its scores are on the notes of the last turn
	Lost     []GateLine
	IsBest   bool
	Selected int
}

// learnClass is a category: the supervised model and the best one.
type learnClass struct {
	Category           string
	Gold               int64
	WasF1, F1          float64
	WasRecall, Recall  float64
	WasMasked, Masked  float64
	WorseF1, WorseMask bool
}

func (r *Report) view() *learnView {
	v := &learnView{Report: r, Gain: r.Best.Strict.F1 - r.Supervised.Strict.F1}
	if len(r.Draws) > 0 {
		v.Curve = r.drawsChart()
		return v
	}
	v.Curve = r.turnsChart()
	most := 1
	for _, t := range r.Turns {
		row := learnRow{Turn: t, Gain: t.F1() - r.Supervised.Strict.F1, Lost: t.Gated, IsBest: t.Number == r.BestTurn}
		row.Compared = t.Number > r.From || t.Number == r.From && t.Was != nil
		if t.Selection != nil {
			row.Selected = t.Selection.Notes
			v.Taken = append(v.Taken, learnBar{Turn: t.Number, Notes: t.Selection.Notes, Candidates: t.Selection.Candidates})
			most = max(most, t.Selection.Notes)
		}
		v.Rows = append(v.Rows, row)
	}
	for i := range v.Taken {
		v.Taken[i].Width = report.Tenths(report.BarWidth * float64(v.Taken[i].Notes) / float64(most))
	}
	last := r.Turns[len(r.Turns)-1]
	v.Notes = last.Training.Chosen
	if last.Selection != nil {
		v.Histogram = report.Confidences(last.Slice.Confidence, r.language, report.Limit{What: "taken from", At: last.Selection.MinConfidence})
	}
	v.Reliable = reliable(&last.Calibration, r.language)
	v.Classes = r.classes()
	return v
}

func (r *Report) classes() (all []learnClass) {
	for _, was := range r.Supervised.Categories {
		for _, c := range r.Best.Categories {
			if c.Category == was.Category && c.Gold > 0 {
				all = append(all, learnClass{
					c.Category, c.Gold, was.F1, c.F1, was.Recall, c.Recall, was.MaskedRecall, c.MaskedRecall,
					c.F1 < was.F1, c.MaskedRecall < was.MaskedRecall,
				})
			}
		}
	}
	return all
}

// chart is a drawing of curves by turn: 220 pixels high, from left to right in
// per cent of its width, so that letters are as large on every screen. What the
// lines are stands in a legend, where no line can run through it.
type chart struct {
	Title   string // key of the words
	Axis    string // what goes from left to right; "": turns
	Caption string
	Lines   []chartLine
	Legend  []chartKey
	Ring    bool    // the best turn has one
	Ringed  string  // or what else has
	Band    string  // points of a polygon; "" for none
	Base    float64 // height of the level that curves are held against
	YTicks  []chartTick
	XTicks  []chartTick
}

type chartLine struct {
	Class  string
	Points string
	Dots   []chartDot
}

type chartKey struct{ Class, Text string }

type chartDot struct {
	X, Y float64
	Ends *[2]float64 // of the interval
	Tip  string
	Ring bool // the best turn
}

type chartTick struct {
	At   float64
	Text string
}

const chartTop, chartBottom = 8, 216

// scale maps turns and scores to the drawing.
type scale struct {
	l        page.Language
	first    int // number of the first turn
	turns    int
	low, top float64
}

// newScale fits the scores with round ends, at least 0.05 apart.
func newScale(l page.Language, turns int, values []float64) scale {
	s := scale{l: l, turns: max(turns, 1), low: 1, top: 0}
	for _, v := range values {
		s.low, s.top = min(s.low, v), max(s.top, v)
	}
	s.low = max(0, math.Floor(s.low*20-0.2)/20)
	s.top = min(1, math.Ceil(s.top*20+0.2)/20)
	s.top = max(s.top, s.low+0.05)
	return s
}

func (s *scale) x(turn int) float64 { return report.Tenths(100 * float64(turn) / float64(s.turns)) }

func (s *scale) y(v float64) float64 {
	return report.Tenths(chartBottom - (v-s.low)/(s.top-s.low)*(chartBottom-chartTop))
}

// ticks are the scores with a line, five at most, and the turns with a number,
// eleven at most.
func (s *scale) ticks(c *chart) {
	step := 0.01
	for _, wider := range []float64{0.02, 0.05, 0.1, 0.2, 0.25} {
		if (s.top-s.low)/step > 5 {
			step = wider
		}
	}
	for k := max(math.Ceil(s.low/step-1e-9), 0); k*step <= s.top+1e-9; k++ {
		c.YTicks = append(c.YTicks, chartTick{s.y(k * step), s.l.Number(k*step, 2)})
	}
	every := (s.turns + 9) / 10
	for n := 0; n <= s.turns; n += every {
		c.XTicks = append(c.XTicks, chartTick{s.x(n), fmt.Sprint(s.first + n)})
	}
}

// line draws values by turn; ends are their intervals, nil for none.
func (s *scale) line(name, class string, values []float64, ends []*[2]float64, best int) chartLine {
	l := chartLine{Class: class}
	var points []string
	for n, v := range values {
		d := chartDot{X: s.x(n), Y: s.y(v), Ring: n == best}
		d.Tip = s.l.Text("dot", fmt.Sprint(s.first+n), name, s.l.Number(v, 4))
		if ends != nil && ends[n] != nil {
			d.Ends = &[2]float64{s.y(max(ends[n][0], s.low)), s.y(min(ends[n][1], s.top))}
		}
		points = append(points, fmt.Sprintf("%g,%g", d.X, d.Y))
		l.Dots = append(l.Dots, d)
	}
	l.Points = strings.Join(points, " ")
	return l
}

func (r *Report) turnsChart() chart {
	var f1, precision, recall, all []float64
	var ends []*[2]float64
	for _, t := range r.Turns[r.From:] {
		v := &t.Validation
		f1, precision, recall, ends = append(f1, v.Strict.F1), append(precision, v.Strict.Precision), append(recall, v.Strict.Recall), append(ends, v.F1Ends)
		if v.F1Ends != nil {
			all = append(all, v.F1Ends[:]...)
		}
	}
	s := newScale(r.language, len(f1)-1, append(slices.Concat(f1, precision, recall, all), r.Supervised.Strict.F1))
	s.first = r.From
	word := r.language.Text
	c := chart{Title: "curve", Caption: word("curve about", r.On()), Ring: true, Lines: []chartLine{
		s.line(word("precision"), "c-precision", precision, nil, -1), s.line(word("recall"), "c-recall", recall, nil, -1), s.line("F1", "c-f1", f1, ends, r.BestTurn-r.From),
	}}
	c.Legend = []chartKey{{"c-f1", "F1"}, {"c-precision", word("precision")}, {"c-recall", word("recall")}, {"level", word("base", r.Score(r.Supervised.Strict.F1))}}
	c.Base = s.y(r.Supervised.Strict.F1)
	s.ticks(&c)
	return c
}

func (r *Report) drawsChart() chart {
	var all, mean []float64
	turns := 0
	for _, d := range r.Draws {
		all = append(all, d.F1...)
		turns = max(turns, len(d.F1)-1)
	}
	for _, m := range r.Mean {
		mean = append(mean, m.Mean)
		all = append(all, m.Mean+m.SD, m.Mean-m.SD)
	}
	s := newScale(r.language, turns, all)
	word := r.language.Text
	c := chart{Title: "curve draws", Caption: word("draws about"), Ring: true}
	for _, d := range r.Draws {
		c.Lines = append(c.Lines, s.line(fmt.Sprint(d.Seed), "c-draw", d.F1, nil, d.BestTurn))
	}
	var upper, lower []string
	for n, m := range r.Mean {
		upper = append(upper, fmt.Sprintf("%g,%g", s.x(n), s.y(m.Mean+m.SD)))
		lower = append(lower, fmt.Sprintf("%g,%g", s.x(n), s.y(m.Mean-m.SD)))
	}
	slices.Reverse(lower)
	c.Band = strings.Join(append(upper, lower...), " ")
	c.Lines = append(c.Lines, s.line(word("mean f1"), "c-f1", mean, nil, -1))
	c.Legend = []chartKey{{"c-f1", word("mean f1")}, {"c-draw", word("seeds")}, {"level", word("base", r.Score(mean[0]))}}
	c.Base = s.y(mean[0])
	s.ticks(&c)
	return c
}

// reliableView is the drawing of the reliability of the last turn, 250 by 250.
type reliableView struct {
	Calibration
	Curves []reliableCurve
}

type reliableCurve struct {
	Name, Class, Points string
	Dots                []reliableDot
}

type reliableDot struct {
	X, Y, R   float64
	Low, High float64 // ends of the interval of Y
	Tip       string
}

// fewest is how many examples a point of the curve stands for at the least: of
// ten, one more or less that is right is the tenth of the way up.
const fewest = 10

// merged puts neighbouring bins together until each has enough examples. The
// last ones that have too few go to those before them.
func merged(bins []calibrate.Bin) (all []calibrate.Bin) {
	for _, b := range bins {
		if b.Count == 0 {
			continue
		}
		if n := len(all); n > 0 && all[n-1].Count < fewest {
			all[n-1] = joined(all[n-1], b)
		} else {
			all = append(all, b)
		}
	}
	if n := len(all); n > 1 && all[n-1].Count < fewest {
		all = append(all[:n-2], joined(all[n-2], all[n-1]))
	}
	return all
}

func joined(a, b calibrate.Bin) calibrate.Bin {
	n, of := float64(a.Count+b.Count), float64(a.Count)
	return calibrate.Bin{
		From: a.From, To: b.To, Count: a.Count + b.Count,
		Confidence: (a.Confidence*of + b.Confidence*(n-of)) / n, Right: (a.Right*of + b.Right*(n-of)) / n,
	}
}

func reliable(c *Calibration, l page.Language) *reliableView {
	if c.Before.Examples == 0 {
		return nil
	}
	v := &reliableView{Calibration: *c}
	for _, one := range []struct {
		class string
		r     *calibrate.Reliability
	}{{"c-recall", &c.Before}, {"c-f1", &c.After}} {
		curve := reliableCurve{Class: one.class}
		var points []string
		for _, b := range merged(one.r.Bins) {
			ends := score.Wilson(int64(math.Round(b.Right*float64(b.Count))), int64(b.Count))
			d := reliableDot{X: report.Tenths(40 + 200*b.Confidence), Y: report.Tenths(210 - 200*b.Right), R: report.Tenths(2 + 6*math.Sqrt(float64(b.Count)/float64(one.r.Examples)))}
			d.Low, d.High = report.Tenths(210-200*ends[0]), report.Tenths(210-200*ends[1])
			d.Tip = l.Text("reliable dot", l.Plural(int64(b.Count), "note"), l.Number(b.Confidence, 3), l.Interval(b.Right, ends, 3))
			points = append(points, fmt.Sprintf("%g,%g", d.X, d.Y))
			curve.Dots = append(curve.Dots, d)
		}
		curve.Points = strings.Join(points, " ")
		v.Curves = append(v.Curves, curve)
	}
	return v
}

// Drawn puts the draws of several seeds together.
func Drawn(all []*Report, seeds []int) *Report {
	r := &Report{Schema: ReportSchema, Unit: all[0].Unit, Measured: all[0].Measured}
	r.In(all[0].language)
	turns := 0
	for i, one := range all {
		d := Draw{Seed: seeds[i], Supervised: one.Supervised.Strict.F1, Best: one.Best.Strict.F1, BestTurn: one.BestTurn}
		for _, t := range one.Turns {
			d.F1 = append(d.F1, t.F1())
		}
		turns = max(turns, len(d.F1))
		r.Draws = append(r.Draws, d)
	}
	var gains []float64
	for n := range turns {
		var at []float64
		for _, d := range r.Draws {
			if n < len(d.F1) {
				at = append(at, d.F1[n])
			}
		}
		r.Mean = append(r.Mean, spreadOf(at))
	}
	for _, d := range r.Draws {
		gains = append(gains, d.Best-d.Supervised)
	}
	g := spreadOf(gains)
	if !r.Measured {
		r.Sentence = r.language.Text("learn unmeasured", r.language.Plural(int64(len(all)), "draw"))
		return r
	}
	r.Sentence = r.language.Text("learn draws", r.Score(g.Mean), r.Score(g.SD), r.language.Plural(int64(len(all)), "draw"))
	return r
}

func spreadOf(values []float64) Spread {
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return Spread{report.Rounded(mean), report.Rounded(math.Sqrt(squares / float64(max(len(values)-1, 1)))), len(values)}
}

// Words are those of the language of the report.
func (r *Report) Words() page.Language { return r.language }
