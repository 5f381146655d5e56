package study

import (
	_ "embed"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/cmd/velum/internal/report"
)

//go:embed study.gohtml
var studyPage string

var pageTemplate = page.New("study", turns.PlotPage+studyPage)

// order is that of the studies on the page.
var order = []string{"folds", "curve", "mix", "ablate", "grid", "confidence", "rank"}

// section is a study on the page.
type section struct {
	*Part
	Plot *turns.Chart
	Rows []pairRow
}

// pairRow is a pair with its drawing, 0 to 100 from left to right.
type pairRow struct {
	*Pair
	Low, High, Dot, Zero float64
	Sure                 bool // the difference is hardly chance among all pairs
}

// sureBelow is the probability of chance, after Holm, below which a difference counts.
const sureBelow = 0.05

func (s *Study) html(l page.Language) ([]byte, error) {
	var view []section
	for _, name := range order {
		if p := s.Parts[name]; p != nil {
			view = append(view, section{p, p.plot(l), p.rows()})
		}
	}
	return pageTemplate.Write(l, view)
}

// looks are the classes of curves, in turn.
var looks = []string{"c-f1", "c-precision", "c-recall", "c-fourth", "c-draw", "c-sixth"}

// plot draws strict F1: of kinds side by side, or curves over what was varied; nil
// where a table says more.
func (p *Part) plot(l page.Language) *turns.Chart {
	noun := "study group"
	if p.By == "note" || p.By == "source" {
		noun = "note"
	}
	drawn := 0
	for _, x := range p.Points {
		drawn = max(drawn, x.Drawn)
	}
	caption := l.Text("study intervals", l.Plural(int64(drawn), noun))
	ring := l.Text("study ring")
	switch p.Study {
	case "folds":
		places := []string{""}
		for _, x := range p.Points {
			places = append(places, short(x.Kind))
		}
		places = append(places, "")
		return turns.Chart{Title: "study f1", Axis: " ", Caption: caption, Ringed: ring}.Draw(l, places, p.curves(func(k int, _ *Point) int { return k + 1 }, len(places)))
	case "curve", "mix", "confidence":
		var places []string
		for _, x := range p.Points {
			if !slices.Contains(places, x.At) {
				places = append(places, x.At)
			}
		}
		axis := map[string]string{"curve": l.Text("study share"), "mix": l.Text("study mixture"), "confidence": l.Text("study threshold")}[p.Study]
		return turns.Chart{Title: "study f1", Axis: axis, Caption: caption, Ringed: ring}.Draw(l, places, p.curves(func(_ int, x *Point) int { return slices.Index(places, x.At) }, len(places)))
	}
	return nil
}

// short cuts the name of a kind to what fits below a dot on a narrow screen; the legend
// has it whole.
func short(name string) string {
	if letters := []rune(name); len(letters) > 12 {
		return string(letters[:11]) + "…"
	}
	return name
}

// curves are a line for each kind and what it was scored on.
func (p *Part) curves(place func(k int, x *Point) int, places int) (all []turns.Curve) {
	for k, x := range p.Points {
		name := strings.TrimSpace(x.Kind + " " + x.On)
		i := slices.IndexFunc(all, func(c turns.Curve) bool { return c.Name == name })
		if i < 0 {
			i = len(all)
			c := turns.Curve{Class: looks[i%len(looks)], Name: name, Ends: make([]*[2]float64, places), Rings: map[int]bool{}}
			for range places {
				c.Values = append(c.Values, math.NaN())
			}
			all = append(all, c)
		}
		if x.Tested == 0 { // no note reaches the confidence
			continue
		}
		at := place(k, x)
		all[i].Values[at] = x.Strict.F1
		if p.wins(x) {
			all[i].Rings[at] = true
		}
		if x.Strict.F1Ends != [2]float64{} {
			all[i].Ends[at] = &x.Strict.F1Ends
		}
	}
	return all
}

// wins tells whether a kind is better than each other one in its place, by more than
// chance among all pairs.
func (p *Part) wins(x *Point) bool {
	others, won := 0, 0
	for _, o := range p.Points {
		if o.Where() == x.Where() && o.Kind != x.Kind {
			others++
		}
	}
	for _, y := range p.Pairs {
		better := y.A == x.Kind && y.F1.Difference > 0 || y.B == x.Kind && y.F1.Difference < 0
		if y.At == x.Where() && better && y.F1.Holm < sureBelow {
			won++
		}
	}
	return others > 0 && won == others
}

// rows draws the differences of pairs on one scale.
func (p *Part) rows() (all []pairRow) {
	most := 1e-9
	for _, x := range p.Pairs {
		most = max(most, math.Abs(x.F1.Ends[0]), math.Abs(x.F1.Ends[1]), math.Abs(x.F1.Difference))
	}
	at := func(v float64) float64 { return report.Tenths(50 + 48*v/most) }
	for _, x := range p.Pairs {
		all = append(all, pairRow{x, at(x.F1.Ends[0]), at(x.F1.Ends[1]), at(x.F1.Difference), 50, x.F1.Holm < sureBelow})
	}
	return all
}

// Where is what a point's row is called.
func (p *Point) Where() string { return strings.TrimSpace(p.At + " " + p.On) }

// Wide tells whether the features of a model are counted.
func (p *Part) Wide() bool {
	return slices.ContainsFunc(p.Points, func(x *Point) bool { return x.Weights > 0 })
}

// Fair tells whether there is a figure of settings that other folds picked.
func (p *Part) Fair() bool {
	return slices.ContainsFunc(p.Points, func(x *Point) bool { return len(x.Picked) > 0 })
}

// Whole is a count that was reckoned as a mean.
func (p *Point) Whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }
