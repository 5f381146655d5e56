package turns

import (
	_ "embed"
	"fmt"
	"path/filepath"

	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline/durable"
)

// Report is the content of report.json of learning; report.html shows it. It holds no text and no ids of notes. It
// depends on the turns alone, so that interrupted and uninterrupted learning give the same bytes.
type Report struct {
	Schema     string   `json:"schema"`
	Language   string   `json:"language"` // of the sentences and the page
	Sentence   string   `json:"sentence"`
	Remarks    []string `json:"remarks,omitempty"` // what to think of it
	Supervised Scores   `json:"supervised"`        // scores of turn 0
	BestTurn   int      `json:"best_turn"`
	Best       Scores   `json:"best"`
	Promoted   int      `json:"promoted_turn"`
	Measured   bool     `json:"measured"` // there were notes to score on
	// first turn whose scores are on the same notes as those of the last; Supervised is its, or that of the model before
	From int `json:"from_turn"`
	// that labelled notes and answers were dealt out to, to judge on them; 0: there were validation notes
	Folds int     `json:"folds,omitempty"`
	Turns []*Turn `json:"turns,omitempty"`

	language page.Language
}

// ReportSchema identifies the format of report.json.
const ReportSchema = "velum.learn/3"

// In sets the language of sentences and numbers.
func (r *Report) In(l page.Language) { r.Language, r.language = l.String(), l }

// On describes the notes on which the best turn was measured, as a phrase.
func (r *Report) On() string {
	if r.Folds > 0 {
		return r.language.Text("in folds", r.language.Plural(int64(r.Best.Notes), "labelled note"), fmt.Sprint(r.Folds))
	}
	return r.language.Plural(int64(r.Best.Notes), "dev note")
}

// Score formats a measure with four decimals in the language of the report.
func (r *Report) Score(x float64) string { return r.language.Number(x, 4) }

// Write writes report.json and report.html.
func (r *Report) Write(dir string) error {
	data, err := Encode(r)
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
	return durable.WriteFile(nil, filepath.Join(dir, "report.json"), data)
}

//go:embed learn.gohtml
var learnPage string

var learnTemplate = page.New("learn", learnPage)

// HTML returns report.html.
func (r *Report) HTML() ([]byte, error) { return learnTemplate.Write(r.language, r.view()) }

// learnView is the report as the page shows it.
type learnView struct {
	*Report
	Gain      float64
	Histogram report.Histogram
	Rows      []learnRow
	Classes   []learnClass
	Notes     int // of the archive, in the last training set
}

// learnRow is a turn in the table.
type learnRow struct {
	*Turn
	Gain     float64 // against the supervised model
	Compared bool    // its scores are on the notes of the last turn
}

// learnClass is a category: the supervised model and the best one.
type learnClass struct{ Was, Now CategoryScore }

func (r *Report) view() *learnView {
	v := &learnView{Report: r, Gain: r.Best.Strict.F1 - r.Supervised.Strict.F1}
	for _, t := range r.Turns {
		row := learnRow{Turn: t, Gain: t.F1() - r.Supervised.Strict.F1}
		row.Compared = t.Number > r.From || t.Number == r.From && t.Was != nil
		v.Rows = append(v.Rows, row)
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
				all = append(all, learnClass{was, c})
			}
		}
	}
	return all
}

// Words returns the language of the report, which formats its words and numbers.
func (r *Report) Words() page.Language { return r.language }
