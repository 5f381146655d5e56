package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

// The page is one file that needs nothing else: no network, no script, no
// font. html/template escapes everything that comes from outside.
//
//go:embed report.gohtml
var reportPage string

// stylePage is the style of all pages.
//
//go:embed style.gohtml
var stylePage string

var reportTemplate = Page("report", reportPage)

// Page parses the template of a page.
func Page(name, text string) *template.Template {
	return template.Must(template.Must(template.New(name).Funcs(pageFuncs).Parse(stylePage)).Parse(text))
}

var pageFuncs = template.FuncMap{
	"thousands": func(n any) string {
		switch n := n.(type) {
		case int:
			return thousands(int64(n))
		case *int64:
			return thousands(*n)
		}
		return thousands(n.(int64))
	},
	"percent": percent,
	"plural":  func(n int, what string) string { return Plural(int64(n), what) },
	"short":   func(digest string) string { return digest[:min(12, len(digest))] },
	"number":  func(x float64) string { return fmt.Sprintf("%.2f", x) },
	"score":   func(x float64) string { return fmt.Sprintf("%.4f", x) },
	"gain":    func(x float64) string { return strings.Replace(fmt.Sprintf("%+.4f", x), "-", "\u2212", 1) },
}

// html returns report.html.
func (r *Report) html() ([]byte, error) {
	var page bytes.Buffer
	view := reportView{
		Report: r, Data: r, Bars: r.spanBars(), Histogram: r.Histogram(), Scores: r.scores(), Months: r.months(),
		Reasons: reasonRows(r), Languages: languageRows(r), Groups: r.Anonymity.groupRows(),
	}
	if r.Uses != nil {
		view.Rules, view.Lists = used(r.Uses.Rules), r.listRows()
	}
	err := reportTemplate.Execute(&page, &view)
	return page.Bytes(), err
}

// reportView is the report as the page shows it: what has to be computed is
// computed here.
type reportView struct {
	*Report
	Data      *Report // goes into the page as JSON
	Bars      []spanBar
	Histogram Histogram
	Scores    []scoreRow
	Months    []monthRow
	Reasons   []barRow
	Languages []barRow
	Groups    []groupRow
	Rules     []named
	Lists     []named
}

// BarWidth is the width of a bar's drawing, in its own units.
const BarWidth = 400

// spanBar is a category: its bar has a piece for every source.
type spanBar struct {
	Category string
	Count    int64
	Share    float64 // of all spans
	Pieces   []barPiece
}

type barPiece struct {
	Source   string
	Count    int64
	X, Width float64
}

func (r *Report) spanBars() []spanBar {
	var bars []spanBar
	for _, c := range r.Spans.Categories {
		most := r.Spans.Categories[0].Count // the largest comes first
		bar := spanBar{Category: c.Category, Count: c.Count, Share: float64(c.Count) / float64(max(r.Spans.Total, 1))}
		x := 0.0
		if len(c.BySource) == 0 {
			bar.Pieces = []barPiece{{"", c.Count, 0, Tenths(BarWidth * float64(c.Count) / float64(most))}}
		}
		for k, n := range c.BySource {
			if n == 0 {
				continue
			}
			width := Tenths(BarWidth * float64(n) / float64(most))
			bar.Pieces = append(bar.Pieces, barPiece{r.Spans.Sources[k], n, Tenths(x), width})
			x += width
		}
		bars = append(bars, bar)
	}
	return bars
}

// Tenths keeps the page small and its bytes the same everywhere.
func Tenths(x float64) float64 { return float64(int(x*10+0.5)) / 10 }

// barRow is a name with a count and a bar.
type barRow struct {
	Name, Meaning string
	Count         int64
	Share         float64 // of all
	Width         float64
}

func barRows(counts []named, all int64, meaning map[string]string) (rows []barRow) {
	for _, c := range counts {
		rows = append(rows, barRow{
			Name: c.Name, Meaning: meaning[c.Name], Count: c.Count, Share: float64(c.Count) / float64(max(all, 1)),
			Width: Tenths(BarWidth * float64(c.Count) / float64(max(counts[0].Count, 1))),
		})
	}
	return rows
}

func reasonRows(r *Report) []barRow { return barRows(r.Reasons, r.Notes.Read, reasonMeanings) }

func languageRows(r *Report) []barRow { return barRows(r.Languages, r.Notes.Masked, languageMeanings) }

var languageMeanings = map[string]string{
	"es": "Spanish", "ca": "Catalan", "en": "English", "mixed": "Spanish and Catalan in one note", "unknown": "too short to tell",
}

// reasonMeanings says what to do about each reason.
var reasonMeanings = map[string]string{
	"null_text":       "The text is null: nothing to mask.",
	"bad_encoding":    "The text is not UTF-8. Ask for the export in UTF-8.",
	"too_long":        "Longer than read.max_note_bytes or tokenize.max_tokens.",
	"control_text":    "Control characters: the note was damaged on its way.",
	"null_id":         "The row has no id.",
	"panicked":        "velum failed on this note. Please report it.",
	"timed_out":       "The note took too long. Please report it.",
	"no_model":        "The model or a list was missing.",
	"surviving_value": "A masked value could still be read elsewhere in the note.",
	"strict_finding":  "The second look found something like an identifier.",
	"bad_unit":        "The file or row group cannot be decoded. Ask for it again.",
	"excluded":        "The patient objects: the note was left out.",
	"unsealed":        "The masked text was not the one that was verified. Please report it.",
}

// Histogram is the drawing of the confidences.
type Histogram struct {
	Columns []histogramColumn
	Marks   []HistogramMark
}

type histogramColumn struct {
	X, Y, Height   float64
	LabelX, LabelY float64
	Label          string // share of the notes, above the column
	Tip            string
}

// HistogramMark is a limit that the configuration sets.
type HistogramMark struct {
	X, TextX float64
	Text     string
	Anchor   string // end of the text that is at TextX
}

// The drawing is 640 wide; columns of 28 on a pitch of 32 stand on y = 150
// and are at most 120 high.
const (
	HistogramPitch = 32
	histogramBase  = 150
	histogramMost  = 120
)

// Histogram draws the confidences of a report.
func (r *Report) Histogram() (h Histogram) {
	most, all := int64(1), int64(0)
	for _, b := range r.Confidence {
		most = max(most, b.Count)
		all += b.Count
	}
	for k, b := range r.Confidence {
		height := Tenths(histogramMost * float64(b.Count) / float64(most))
		if b.Count > 0 {
			height = max(height, 1) // a few notes must not look like none
		}
		c := histogramColumn{X: float64(k*HistogramPitch + 2), Y: Tenths(histogramBase - height), Height: height}
		c.LabelX, c.LabelY = c.X+14, Tenths(c.Y-3)
		c.Tip = fmt.Sprintf("%.2f to %.2f: %s", b.From, b.To, Plural(b.Count, "note"))
		if share := float64(b.Count) / float64(max(all, 1)); share >= 0.0005 {
			c.Label = strings.TrimSuffix(fmt.Sprintf("%.1f", 100*share), ".0")
		}
		h.Columns = append(h.Columns, c)
	}
	if s := r.Selection; s != nil {
		width := float64(HistogramPitch * len(r.Confidence))
		h.Marks = []HistogramMark{
			Mark(width, s.ReviewBelow, "review below"), Mark(width, s.MinConfidence, "candidates from"),
		}
	}
	return h
}

// Mark is a limit at a place of a drawing of that width.
func Mark(width, at float64, what string) HistogramMark {
	m := HistogramMark{X: Tenths(width * at), Text: fmt.Sprintf("%s %.2f", what, at), Anchor: "start"}
	m.TextX = m.X + 4
	if at > 0.7 {
		m.TextX, m.Anchor = m.X-4, "end"
	}
	return m
}

// scoreRow is one measure of the model on its gold set.
type scoreRow struct {
	Measure    string
	F1, Recall float64
}

func (r *Report) scores() (rows []scoreRow) {
	for _, name := range slices.Sorted(maps.Keys(r.Model.Scores)) {
		if measure, ok := strings.CutSuffix(name, "_f1"); ok {
			rows = append(rows, scoreRow{strings.ReplaceAll(measure, "_", " "), r.Model.Scores[name], r.Model.Scores[measure+"_recall"]})
		}
	}
	return rows
}

// monthRow compares a folder with the whole archive.
type monthRow struct {
	folder
	PerNote    float64 // spans per 100 notes
	Change     string  // against the whole
	Stands     bool    // out: more than a quarter off
	Width      float64
	Quarantine float64
}

func (r *Report) months() (rows []monthRow) {
	var notes, spans int64
	most := 0.0
	for _, f := range r.Folders {
		notes += f.Read - f.Quarantined
		spans += f.Spans
	}
	whole := 100 * float64(spans) / float64(max(notes, 1))
	for _, f := range r.Folders {
		per := 100 * float64(f.Spans) / float64(max(f.Read-f.Quarantined, 1))
		row := monthRow{folder: f, PerNote: per, Quarantine: float64(f.Quarantined) / float64(max(f.Read, 1))}
		if whole > 0 && f.Read > f.Quarantined {
			change := per/whole - 1
			row.Change = strings.Replace(fmt.Sprintf("%+.0f\u202f%%", 100*change), "-0\u202f", "+0\u202f", 1)
			row.Stands = change > 0.25 || change < -0.25
		}
		most = max(most, per)
		rows = append(rows, row)
	}
	for k := range rows {
		rows[k].Width = Tenths(BarWidth * rows[k].PerNote / max(most, 1e-9))
	}
	return rows
}

// used leaves out what was never used, and puts the most used first.
func used(all []named) (some []named) {
	for _, n := range all {
		if n.Count > 0 {
			some = append(some, n)
		}
	}
	slices.SortStableFunc(some, func(a, b named) int { return int(max(min(b.Count-a.Count, 1), -1)) })
	return some
}

// listRows names the lists' entries by their numbers.
func (r *Report) listRows() (rows []named) {
	for _, l := range r.Uses.NeverLists {
		rows = append(rows, named{"never: built-in list of " + l.Name, l.Count})
	}
	for _, e := range r.Uses.Always {
		rows = append(rows, named{"always: entry " + e.Name, e.Count})
	}
	for _, e := range r.Uses.Never {
		rows = append(rows, named{"never: entry " + e.Name, e.Count})
	}
	return rows
}
