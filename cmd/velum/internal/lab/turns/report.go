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
	"github.com/velum-health/velum/pipeline/durable"
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
	Turns      []*Turn  `json:"turns,omitempty"`

	language page.Language
}

// ReportSchema is that of report.json.
const ReportSchema = "velum.learn/3"

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

// Words are those of the language of the report.
func (r *Report) Words() page.Language { return r.language }
