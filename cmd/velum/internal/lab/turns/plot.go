package turns

import (
	_ "embed"
	"fmt"
	"math"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/cmd/velum/internal/report"
)

// PlotPage has the templates "plot", which draws a Chart, and "plot style".
//
//go:embed plot.gohtml
var PlotPage string

// Chart is a drawing of curves: 220 pixels high, from left to right in per cent of its width, so that letters are as large on every
// screen. What the lines are stands in a legend, where no line can run through it.
type Chart struct {
	Title   string // key of the words
	Axis    string // what goes from left to right; "": turns
	Caption string
	Ringed  string // what a ring says; "": the best turn
	Level   *Level // that curves are held against; nil: none

	Base   float64 // height of the level
	Ring   bool    // some place has a ring
	Lines  []chartLine
	Legend []chartKey
	YTicks []chartTick
	XTicks []chartTick
}

// Level is a line from left to right.
type Level struct {
	At   float64
	Name string
}

// Curve is one of a Chart: a value for each place, NaN for none, and its interval, nil
// for none. Class is its look; Rings are the places with a ring.
type Curve struct {
	Class, Name string
	Values      []float64
	Ends        []*[2]float64
	Rings       map[int]bool
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
	Ring bool
}

type chartTick struct {
	At   float64
	Text string
}

const chartTop, chartBottom = 8, 216

// beside is how far the curves of one place stand apart, in per cent of the width, so
// that their intervals can be told apart.
const beside = 0.6

// Draw draws curves over places that have names and are equally far apart.
func (c Chart) Draw(l page.Language, places []string, curves []Curve) *Chart {
	var all []float64
	if c.Level != nil {
		all = append(all, c.Level.At)
	}
	for _, curve := range curves {
		for k, v := range curve.Values {
			if !math.IsNaN(v) {
				all = append(all, v)
			}
			if curve.Ends != nil && curve.Ends[k] != nil {
				all = append(all, curve.Ends[k][:]...)
			}
		}
	}
	s := newScale(l, len(places)-1, all)
	for k, curve := range curves {
		c.Lines = append(c.Lines, s.line(curve, places, beside*(float64(k)-float64(len(curves)-1)/2)))
		c.Ring = c.Ring || len(curve.Rings) > 0
		c.Legend = append(c.Legend, chartKey{curve.Class, curve.Name})
	}
	if c.Level != nil {
		c.Base = s.y(c.Level.At)
		c.Legend = append(c.Legend, chartKey{"level", c.Level.Name})
	}
	c.YTicks = s.ticks()
	for k := 0; k < len(places); k += (len(places) + 9) / 10 {
		c.XTicks = append(c.XTicks, chartTick{s.x(k), places[k]})
	}
	return &c
}

// scale maps places and scores to the drawing.
type scale struct {
	l        page.Language
	places   int // behind the first
	low, top float64
}

// newScale fits the scores with round ends, at least 0.05 apart.
func newScale(l page.Language, places int, values []float64) scale {
	s := scale{l: l, places: max(places, 1), low: 1, top: 0}
	for _, v := range values {
		s.low, s.top = min(s.low, v), max(s.top, v)
	}
	s.low = max(0, math.Floor(s.low*20-0.2)/20)
	s.top = min(1, math.Ceil(s.top*20+0.2)/20)
	s.top = max(s.top, s.low+0.05)
	return s
}

func (s *scale) x(place int) float64 { return report.Tenths(100 * float64(place) / float64(s.places)) }

func (s *scale) y(v float64) float64 {
	return report.Tenths(chartBottom - (v-s.low)/(s.top-s.low)*(chartBottom-chartTop))
}

// ticks are the scores with a line, five at most.
func (s *scale) ticks() (all []chartTick) {
	step := 0.01
	for _, wider := range []float64{0.02, 0.05, 0.1, 0.2, 0.25} {
		if (s.top-s.low)/step > 5 {
			step = wider
		}
	}
	for k := max(math.Ceil(s.low/step-1e-9), 0); k*step <= s.top+1e-9; k++ {
		all = append(all, chartTick{s.y(k * step), s.l.Number(k*step, 2)})
	}
	return all
}

// line draws the places of a curve that have a value.
func (s *scale) line(c Curve, places []string, aside float64) chartLine {
	line := chartLine{Class: c.Class}
	var points []string
	for k, v := range c.Values {
		if math.IsNaN(v) {
			continue
		}
		d := chartDot{X: report.Tenths(max(s.x(k)+aside, 0)), Ring: c.Rings[k], Y: s.y(v), Tip: strings.TrimPrefix(fmt.Sprintf("%s: %s %s", places[k], c.Name, s.l.Number(v, 4)), ": ")}
		if c.Ends != nil && c.Ends[k] != nil {
			d.Ends = &[2]float64{s.y(c.Ends[k][0]), s.y(c.Ends[k][1])}
		}
		points = append(points, fmt.Sprintf("%g,%g", d.X, d.Y))
		line.Dots = append(line.Dots, d)
	}
	line.Points = strings.Join(points, " ")
	return line
}
