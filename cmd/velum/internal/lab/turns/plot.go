package turns

import (
	"fmt"
	"math"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/cmd/velum/internal/report"
)

// PlotPage has the templates "plot", which draws a Chart, and "plot style".
var PlotPage = plotPage

// Chart is the drawing of curves.
type Chart = chart

// Curve is one of a Chart: a value for each place, NaN for none, and its interval, nil
// for none. Class is its look; Rings are the places with a ring.
type Curve struct {
	Class, Name string
	Values      []float64
	Ends        []*[2]float64
	Rings       map[int]bool
}

// beside is how far the curves of one place stand apart, in per cent of the width, so
// that their intervals can be told apart.
const beside = 0.6

// Curves draws curves over places that have names and are equally far apart; ring
// says what a ring means.
func Curves(l page.Language, title, axis, caption, ring string, places []string, curves []Curve) *Chart {
	var all []float64
	for _, c := range curves {
		for k, v := range c.Values {
			if !math.IsNaN(v) {
				all = append(all, v)
			}
			if c.Ends != nil && c.Ends[k] != nil {
				all = append(all, c.Ends[k][:]...)
			}
		}
	}
	s := newScale(l, len(places)-1, all)
	drawn := &Chart{Title: title, Axis: axis, Caption: caption, Ringed: ring}
	for k, c := range curves {
		drawn.Lines = append(drawn.Lines, s.curve(c, places, beside*(float64(k)-float64(len(curves)-1)/2)))
		drawn.Ring = drawn.Ring || len(c.Rings) > 0
		drawn.Legend = append(drawn.Legend, chartKey{c.Class, c.Name})
	}
	s.ticks(drawn)
	drawn.XTicks = nil
	every := (len(places) + 9) / 10
	for k := 0; k < len(places); k += every {
		drawn.XTicks = append(drawn.XTicks, chartTick{s.x(k), places[k]})
	}
	return drawn
}

// curve draws the places of a curve that have a value.
func (s *scale) curve(c Curve, places []string, aside float64) chartLine {
	line := chartLine{Class: c.Class}
	var points []string
	for k, v := range c.Values {
		if math.IsNaN(v) {
			continue
		}
		d := chartDot{X: report.Tenths(max(s.x(k)+aside, 0)), Ring: c.Rings[k], Y: s.y(v), Tip: strings.TrimSpace(fmt.Sprintf("%s %s: %s", c.Name, places[k], s.l.Number(v, 4)))}
		if c.Ends != nil && c.Ends[k] != nil {
			d.Ends = &[2]float64{s.y(c.Ends[k][0]), s.y(c.Ends[k][1])}
		}
		points = append(points, fmt.Sprintf("%g,%g", d.X, d.Y))
		line.Dots = append(line.Dots, d)
	}
	line.Points = strings.Join(points, " ")
	return line
}
