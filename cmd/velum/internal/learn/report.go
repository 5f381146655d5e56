package learn

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/tally"

	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/models/calibrate"
)

// Report is report.json of learning, and what report.html shows. It holds
// no text and no ids of notes, and it is a function of the turns alone, so that
// learning that was stopped and went on ends with the same bytes.
type Report struct {
	Schema     string      `json:"schema"`
	Sentence   string      `json:"sentence"`
	Supervised scores      `json:"supervised"` // turn 0
	BestTurn   int         `json:"best_turn"`
	Best       scores      `json:"best"`
	Promoted   int         `json:"promoted_turn"`
	Measured   bool        `json:"measured"` // there were validation notes
	Unit       string      `json:"unit"`
	Turns      []*turn     `json:"turns,omitempty"`
	Draws      []learnDraw `json:"draws,omitempty"` // of several seeds
	Mean       []spread    `json:"mean,omitempty"`  // by turn, of the draws that got so far

	labels string
}

// learnDraw is what one seed came to.
type learnDraw struct {
	Seed       int       `json:"seed"`
	Supervised float64   `json:"supervised_f1"`
	Best       float64   `json:"best_f1"`
	BestTurn   int       `json:"best_turn"`
	F1         []float64 `json:"f1"` // by turn
}

// spread is the mean of draws, their standard deviation, and how many there
// were.
type spread struct {
	Mean  float64 `json:"mean"`
	SD    float64 `json:"sd"`
	Draws int     `json:"draws"`
}

const learnSchema = "velum.learn/1"

func (l *learning) learned() *Report {
	best := l.best(0)
	r := &Report{
		Schema: learnSchema, Supervised: l.turns[0].Validation, BestTurn: best.Number, Best: best.Validation,
		Unit: l.cfg.Learn.Unit, Turns: l.turns, labels: l.labels, Measured: l.measured(),
	}
	for _, t := range l.turns {
		if t.Promoted {
			r.Promoted = t.Number
		}
	}
	if !l.measured() {
		r.Sentence = fmt.Sprintf("%s, not measured: there are no validation notes.", report.Plural(int64(l.last().Number), "turn"))
		return r
	}
	gain := r.Best.Strict.F1 - r.Supervised.Strict.F1
	r.Sentence = fmt.Sprintf("Strict F1 from %.4f to %.4f (turn %d) on %s.", r.Supervised.Strict.F1, r.Best.Strict.F1, r.BestTurn, report.Plural(int64(r.Best.Notes), "validation note"))
	if gain <= 0 {
		r.Sentence = fmt.Sprintf("No turn is better than the first model: strict F1 %.4f on %s.", r.Supervised.Strict.F1, report.Plural(int64(r.Best.Notes), "validation note"))
	}
	return r
}

// report writes report.json and report.html.
func (l *learning) report() error { return l.learned().write(l.out) }

func (r *Report) write(dir string) error {
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	html, err := r.html()
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

var learnTemplate = report.Page("learn", learnPage)

func (r *Report) html() ([]byte, error) {
	var b bytes.Buffer
	err := learnTemplate.Execute(&b, r.view())
	return b.Bytes(), err
}

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
	*turn
	Gain     float64 // against the supervised model
	Lost     []gateLine
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
		row := learnRow{turn: t, Gain: t.f1() - r.Supervised.Strict.F1, Lost: t.Gated, IsBest: t.Number == r.BestTurn}
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
		v.Histogram = (&report.Report{Confidence: last.Slice.Confidence}).Histogram()
		v.Histogram.Marks = []report.HistogramMark{report.Mark(report.HistogramPitch*tally.Bins, last.Selection.MinConfidence, "taken from")}
	}
	v.Reliable = reliable(&last.Calibration)
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

// chart is a drawing of curves by turn: 640 wide, 250 high, axes inside.
type chart struct {
	Lines  []chartLine
	Band   string // points of a polygon; "" for none
	Base   *chartLevel
	YTicks []chartTick
	XTicks []chartTick
	Title  string
}

type chartLine struct {
	Name, Class string
	Points      string
	Dots        []chartDot
	LabelY      float64
}

type chartDot struct {
	X, Y float64
	Tip  string
	Ring bool // the best turn
}

type chartLevel struct {
	Y    float64
	Text string
}

type chartTick struct {
	At   float64
	Text string
}

const (
	chartLeft, chartRight = 44, 560
	chartTop, chartBottom = 14, 220
)

// scale maps turns and scores to the drawing.
type scale struct {
	turns    int
	low, top float64
}

// newScale fits the scores with round ends, at least 0.05 apart.
func newScale(turns int, values []float64) scale {
	s := scale{turns: max(turns, 1), low: 1, top: 0}
	for _, v := range values {
		s.low, s.top = min(s.low, v), max(s.top, v)
	}
	s.low = max(0, math.Floor(s.low*20-0.2)/20)
	s.top = min(1, math.Ceil(s.top*20+0.2)/20)
	s.top = max(s.top, s.low+0.05)
	return s
}

func (s *scale) x(turn int) float64 {
	return report.Tenths(chartLeft + float64(turn)/float64(s.turns)*(chartRight-chartLeft))
}

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
	for k := math.Ceil(s.low/step - 1e-9); k*step <= s.top+1e-9; k++ {
		c.YTicks = append(c.YTicks, chartTick{s.y(k * step), fmt.Sprintf("%.2f", k*step)})
	}
	every := (s.turns + 9) / 10
	for n := 0; n <= s.turns; n += every {
		c.XTicks = append(c.XTicks, chartTick{s.x(n), fmt.Sprint(n)})
	}
}

func (s *scale) line(name, class string, values []float64, best int) chartLine {
	l := chartLine{Name: name, Class: class}
	var points []string
	for n, v := range values {
		d := chartDot{X: s.x(n), Y: s.y(v), Tip: fmt.Sprintf("turn %d: %s %.4f", n, name, v), Ring: n == best}
		points = append(points, fmt.Sprintf("%g,%g", d.X, d.Y))
		l.Dots = append(l.Dots, d)
	}
	l.Points = strings.Join(points, " ")
	l.LabelY = l.Dots[len(l.Dots)-1].Y + 4
	return l
}

// apart moves the names at the ends of the lines so that none hides another.
func (c *chart) apart() {
	order := make([]*chartLine, len(c.Lines))
	for i := range c.Lines {
		order[i] = &c.Lines[i]
	}
	slices.SortStableFunc(order, func(a, b *chartLine) int { return int(10*a.LabelY) - int(10*b.LabelY) })
	for i := 1; i < len(order); i++ {
		order[i].LabelY = report.Tenths(max(order[i].LabelY, order[i-1].LabelY+12))
	}
}

func (r *Report) turnsChart() chart {
	var f1, precision, recall []float64
	for _, t := range r.Turns {
		s := t.Validation.Strict
		f1, precision, recall = append(f1, s.F1), append(precision, s.Precision), append(recall, s.Recall)
	}
	s := newScale(len(r.Turns)-1, slices.Concat(f1, precision, recall))
	c := chart{Title: "Strict F1, precision and recall by turn", Lines: []chartLine{
		s.line("precision", "c-precision", precision, -1), s.line("recall", "c-recall", recall, -1), s.line("F1", "c-f1", f1, r.BestTurn),
	}}
	c.Base = &chartLevel{s.y(f1[0]), fmt.Sprintf("supervised F1 %.4f", f1[0])}
	s.ticks(&c)
	c.apart()
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
	s := newScale(turns, all)
	c := chart{Title: "Strict F1 by turn, mean and standard deviation of the draws"}
	for _, d := range r.Draws {
		l := s.line(fmt.Sprintf("seed %d", d.Seed), "c-draw", d.F1, d.BestTurn)
		c.Lines = append(c.Lines, l)
	}
	var upper, lower []string
	for n, m := range r.Mean {
		upper = append(upper, fmt.Sprintf("%g,%g", s.x(n), s.y(m.Mean+m.SD)))
		lower = append(lower, fmt.Sprintf("%g,%g", s.x(n), s.y(m.Mean-m.SD)))
	}
	slices.Reverse(lower)
	c.Band = strings.Join(append(upper, lower...), " ")
	c.Lines = append(c.Lines, s.line("mean F1", "c-f1", mean, -1))
	c.Base = &chartLevel{s.y(mean[0]), fmt.Sprintf("supervised F1 %.4f", mean[0])}
	s.ticks(&c)
	c.apart()
	return c
}

// reliableView is the drawing of the reliability of the last turn, 250 by 250.
type reliableView struct {
	calibrationRecord
	Curves []reliableCurve
}

type reliableCurve struct {
	Name, Class, Points string
	Dots                []reliableDot
}

type reliableDot struct {
	X, Y, R float64
	Tip     string
}

func reliable(c *calibrationRecord) *reliableView {
	if c.Before.Examples == 0 {
		return nil
	}
	v := &reliableView{calibrationRecord: *c}
	for _, one := range []struct {
		name, class string
		r           *calibrate.Reliability
	}{{"as the model says", "c-recall", &c.Before}, {"calibrated", "c-f1", &c.After}} {
		curve := reliableCurve{Name: one.name, Class: one.class}
		var points []string
		for _, b := range one.r.Bins {
			if b.Count == 0 {
				continue
			}
			d := reliableDot{X: report.Tenths(40 + 200*b.Confidence), Y: report.Tenths(210 - 200*b.Right), R: report.Tenths(2 + 6*math.Sqrt(float64(b.Count)/float64(one.r.Examples)))}
			d.Tip = fmt.Sprintf("%s, %s: confidence %.3f, right %.3f", one.name, report.Plural(int64(b.Count), "note"), b.Confidence, b.Right)
			points = append(points, fmt.Sprintf("%g,%g", d.X, d.Y))
			curve.Dots = append(curve.Dots, d)
		}
		curve.Points = strings.Join(points, " ")
		v.Curves = append(v.Curves, curve)
	}
	return v
}

// drawn puts the draws of several seeds together.
func drawn(all []*Report, seeds []int) *Report {
	r := &Report{Schema: learnSchema, Unit: all[0].Unit, labels: all[0].labels, Measured: all[0].Measured}
	turns := 0
	for i, one := range all {
		d := learnDraw{Seed: seeds[i], Supervised: one.Supervised.Strict.F1, Best: one.Best.Strict.F1, BestTurn: one.BestTurn}
		for _, t := range one.Turns {
			d.F1 = append(d.F1, t.f1())
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
		r.Sentence = fmt.Sprintf("%s, not measured: there are no validation notes.", report.Plural(int64(len(all)), "draw"))
		return r
	}
	r.Sentence = fmt.Sprintf("Gain of strict F1 over the supervised model: %.4f ± %.4f (mean and standard deviation of %s, best turn each).", g.Mean, g.SD, report.Plural(int64(len(all)), "draw"))
	return r
}

func spreadOf(values []float64) spread {
	mean, squares := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return spread{report.Rounded(mean), report.Rounded(math.Sqrt(squares / float64(max(len(values)-1, 1)))), len(values)}
}
