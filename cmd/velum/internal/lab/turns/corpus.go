package turns

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline/durable"
)

// CorpusReport is report.json of a corpus that grows, and what its
// report.html shows: counts, and in the JSON ids of notes, no text.
type CorpusReport struct {
	Schema   string       `json:"schema"`
	Language string       `json:"language"`
	Enough   float64      `json:"enough"` // F1 at which the corpus is done
	Turns    []CorpusTurn `json:"turns"`
	Compared *Comparison  `json:"compared,omitempty"`

	Validation string `json:"validation,omitempty"` // path of the validation notes

	language page.Language
}

// CorpusTurn is a turn that was answered.
type CorpusTurn struct {
	Number     int                `json:"number"`
	Scored     int                `json:"scored"` // notes of the archive that ranked
	Asked      int                `json:"asked"`  // of them, down to the elbow
	Elbow      float64            `json:"elbow"`  // score of the last one asked about
	Unchanged  int                `json:"answers_unchanged"`
	Corrected  int                `json:"corrected"` // notes of the corpus
	F1         float64            `json:"f1"`        // of the rules on it
	Precision  float64            `json:"precision"`
	Recall     float64            `json:"recall"`
	ByCategory map[string]float64 `json:"f1_by_category"`
	Validation *float64           `json:"validation_f1,omitempty"`
	Curve      *Rank              `json:"curve,omitempty"` // where f(d) ranked, and not words
}

// Rank is the curve of the sorted scores f(d) of a turn, thinned out.
type Rank struct {
	Elbow  int         `json:"elbow"` // notes above it
	Points []RankPoint `json:"points"`
}

// RankPoint is a note of the curve, counted from the best one.
type RankPoint struct {
	Rank  int     `json:"rank"`
	Score float64 `json:"score"`
}

// Comparison is which errors of the rules came and went between two turns.
type Comparison struct {
	From       int      `json:"from"`
	To         int      `json:"to"`
	Categories []Change `json:"categories"`
}

// Change is that of a category. An id stands as often as its note has errors.
type Change struct {
	Category string   `json:"category"`
	Went     []string `json:"went"`  // ids of notes with errors that are none any more
	Came     []string `json:"came"`  // with new ones, in notes that the first turn knew
	Added    []string `json:"added"` // with those of notes that came between
}

// CorpusSchema is that of report.json of a corpus.
const CorpusSchema = "velum.corpus.report/1"

//go:embed corpus.gohtml
var corpusPage string

var corpusTemplate = page.New("corpus", plotPage+corpusPage)

// Write writes report.json and report.html in a language.
func (r *CorpusReport) Write(dir string, l page.Language) error {
	r.Language, r.language = l.String(), l
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	html, err := corpusTemplate.Write(l, struct {
		*CorpusReport
		Last  CorpusTurn
		Curve chart
		Ranks *chart
	}{r, r.Turns[len(r.Turns)-1], r.chart(), r.rankChart()})
	if err != nil {
		return err
	}
	if err := durable.WriteFile(nil, filepath.Join(dir, "report.html"), html); err != nil {
		return err
	}
	return durable.WriteFile(nil, filepath.Join(dir, "report.json"), append(data, '\n'))
}

// categoryClasses are the looks of the curves of categories, in turn.
var categoryClasses = []string{"c-precision", "c-recall", "c-draw"}

// chart draws F1 by turn: of all, of each category, and on validation notes
// where every turn had some.
func (r *CorpusReport) chart() chart {
	categories := map[string]bool{}
	values := map[string][]float64{}
	for _, t := range r.Turns {
		for name := range t.ByCategory {
			categories[name] = true
		}
	}
	validation := r.language.Text("on validation")
	all := []float64{r.Enough}
	add := func(name string, v float64) {
		values[name] = append(values[name], v)
		all = append(all, v)
	}
	for _, t := range r.Turns {
		add("F1", t.F1)
		for name := range categories {
			add(name, t.ByCategory[name])
		}
		if t.Validation != nil {
			add(validation, *t.Validation)
		}
	}
	s := newScale(r.language, len(r.Turns)-1, all)
	s.first = r.Turns[0].Number
	c := chart{Title: "curve corpus", Caption: r.language.Text("corpus about"), Base: s.y(r.Enough)}
	draw := func(name, class string) {
		c.Lines = append(c.Lines, s.line(name, class, values[name], nil, -1))
		c.Legend = append(c.Legend, chartKey{class, name})
	}
	for k, name := range slices.Sorted(maps.Keys(categories)) {
		draw(name, categoryClasses[k%len(categoryClasses)])
	}
	if len(values[validation]) == len(r.Turns) {
		draw(validation, "c-validation")
	}
	draw("F1", "c-f1")
	c.Legend = append(c.Legend, chartKey{"level", r.language.Text("enough", r.language.Number(r.Enough, 1))})
	s.ticks(&c)
	return c
}

// rankChart draws the sorted scores of the last turn that was ranked by them, and
// where they bend; nil if none was.
func (r *CorpusReport) rankChart() *chart {
	n := len(r.Turns) - 1
	for n >= 0 && (r.Turns[n].Curve == nil || len(r.Turns[n].Curve.Points) < 2) {
		n--
	}
	if n < 0 {
		return nil
	}
	t := &r.Turns[n]
	points := t.Curve.Points
	last, top := points[len(points)-1].Rank, points[0].Score
	x := func(rank int) float64 { return report.Tenths(100 * float64(rank-1) / float64(max(last-1, 1))) }
	y := func(score float64) float64 { return report.Tenths(chartBottom - score/top*(chartBottom-chartTop)) }
	curve, bend := chartLine{Class: "c-f1"}, chartLine{Class: "level"}
	var all []string
	for _, p := range points {
		all = append(all, fmt.Sprintf("%g,%g", x(p.Rank), y(p.Score)))
		if p.Rank == t.Curve.Elbow {
			curve.Dots = []chartDot{{X: x(p.Rank), Y: y(p.Score), Tip: r.language.Number(p.Score, 3), Ring: true}}
			bend.Points = fmt.Sprintf("%g,%d %g,%d", x(p.Rank), chartTop, x(p.Rank), chartBottom)
		}
	}
	curve.Points = strings.Join(all, " ")
	word := r.language.Text
	c := &chart{
		Title: "ranks", Axis: word("rank"), Caption: word("ranks about", fmt.Sprint(t.Number)), Lines: []chartLine{curve, bend},
		Legend: []chartKey{{"c-f1", "f(d)"}, {"level", word("bend", r.language.Plural(int64(t.Curve.Elbow), "note"), fmt.Sprint(t.Asked))}},
	}
	digits := 1
	if top < 1 {
		digits = 3
	}
	for k := range 3 {
		c.YTicks = append(c.YTicks, chartTick{y(top * float64(k) / 2), r.language.Number(top*float64(k)/2, digits)})
	}
	for k := range 5 {
		if rank := 1 + (last-1)*k/4; k == 0 || rank > 1+(last-1)*(k-1)/4 {
			c.XTicks = append(c.XTicks, chartTick{x(rank), fmt.Sprint(rank)})
		}
	}
	return c
}
