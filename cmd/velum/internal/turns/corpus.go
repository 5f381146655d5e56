package turns

import (
	_ "embed"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"

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

	language report.Language
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

var corpusTemplate = report.NewPage("corpus", plotPage+corpusPage)

// Write writes report.json and report.html in a language.
func (r *CorpusReport) Write(dir string, l report.Language) error {
	r.Language, r.language = l.String(), l
	data, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	html, err := corpusTemplate.Write(l, struct {
		*CorpusReport
		Last  CorpusTurn
		Curve chart
	}{r, r.Turns[len(r.Turns)-1], r.chart()})
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
