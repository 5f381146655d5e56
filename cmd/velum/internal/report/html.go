package report

import (
	_ "embed"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/page"

	"github.com/velum-health/velum/pipeline/tally"
)

// The page is one file that needs nothing else: no network, no script, no
// font. html/template escapes everything that comes from outside.
//
//go:embed report.gohtml
var reportPage string

var reportTemplate = page.New("report", reportPage)

// html returns report.html.
func (r *Report) html() ([]byte, error) { return r.page(nil) }

// page returns the page of a report, with what is known of the run.
func (r *Report) page(about *About) ([]byte, error) {
	head, rest, more := strings.Cut(r.Sentence, ". ")
	if more {
		head += "."
	}
	view := reportView{
		Headline: head, Rest: rest,
		Report: r, Data: r, About: about, Histogram: r.Histogram(), Trend: r.trendRows(), Parts: r.riskTables(),
		Groups: r.Anonymity.GroupRows(),
	}
	if r.Uses != nil {
		view.Rules, view.Lists = used(r.Uses.Rules), used(r.listRows())
		view.Operators = used(r.Uses.Operators)
	}
	return reportTemplate.Write(r.language, &view)
}

// About describes the run that wrote a page: time, input, output and exit code. These differ from run to run, so a page
// that shows them is listed in no manifest.
type About struct {
	Date   string
	Run    string
	Inputs []string
	Output string
	Exit   int
	Head   string // of the audit log
	Stop   string // why the run stopped with nothing committed; "" if it did not
}

// Read decodes report.json of a private tree. If it is in another language, the sentences are written again in l; no
// verdict is recomputed.
func Read(data []byte, l page.Language) (*Report, error) {
	r := &Report{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, errors.New("report.json of the private tree is none")
	}
	if r.language = l; r.Language != l.String() {
		r.Language, r.Sentence = l.String(), r.sentence()
		for i := range r.Findings {
			if f := &r.Findings[i]; page.Known(f.Code) { // else another version found it
				f.Text = r.said(f.Code, f.Values)
			}
		}
	}
	return r, nil
}

// AboutPage renders the page of a run: the facts about the run, and the report in data if there is one (report.json of
// the private tree, or nil).
func AboutPage(data []byte, lang string, about *About) ([]byte, error) {
	r := &Report{Private: true, Findings: []reportFinding{}, Light: red, language: page.LanguageOf(lang)}
	if data != nil {
		var err error
		if r, err = Read(data, page.LanguageOf(lang)); err != nil {
			return nil, err
		}
	}
	if about.Stop != "" {
		r.Light, r.Sentence, r.Findings = red, r.language.Text("sentence stopped", r.language.Said(about.Stop)), nil
		if data != nil {
			r.find(amber, "find before")
		}
	}
	return r.page(about)
}

// reportView is the report as the page shows it: what has to be computed is
// computed here.
type reportView struct {
	*Report
	Headline  string  // the first sentence
	Rest      string  // the others
	Data      *Report // goes into the page as JSON
	About     *About  // nil on the pages of the manifest
	Histogram Histogram
	Trend     []trendRow
	Parts     []riskTable
	Groups    []groupRow
	Rules     []named
	Lists     []named
	Operators []named
}

// Show reports whether there are counts to show. Only a first run that was stopped has none.
func (v *reportView) Show() bool { return v.Schema != "" }

// Tenths rounds to one decimal, so that pages are small and the same on every machine.
func Tenths(x float64) float64 { return float64(int(x*10+0.5)) / 10 }

// Histogram is the drawing of the confidences. Horizontal positions are percentages of its width and heights are
// pixels, so that text has the same size on every screen.
type Histogram struct {
	Columns []histogramColumn
	Marks   []HistogramMark
	Empty   bool // no note has a confidence
}

type histogramColumn struct {
	X, Y, Height   float64
	LabelX, LabelY float64
	Label          string // share of the notes, above the column
	Tip            string
}

// HistogramMark marks a limit of the configuration in a histogram.
type HistogramMark struct {
	X      float64
	DX, Y  int // of the text, pixels
	Text   string
	Anchor string // end of the text that is at X
}

// Geometry of a histogram: bars of 4.4 % width at a pitch of 5 % stand on y = 165 and are at most 120 pixels high; the
// names of the limits are above, one below the other.
const (
	histogramPitch = 100. / tally.Bins
	histogramBase  = 165
	histogramMost  = 120
)

// Histogram returns the histogram of the confidences in the report.
func (r *Report) Histogram() Histogram { return Confidences(r.Confidence, r.language, r.limits()...) }

// A Limit is a confidence at which the treatment of a note changes.
type Limit struct {
	What string // key of its name
	At   float64
}

func (r *Report) limits() []Limit {
	if s := r.Selection; s != nil {
		return []Limit{{"review below", s.ReviewBelow}, {"candidates from", s.MinConfidence}}
	}
	return nil
}

// Confidences draws a histogram of bins with marks at the limits.
func Confidences(bins []Bin, l page.Language, limits ...Limit) (h Histogram) {
	most, all := int64(1), int64(0)
	for _, b := range bins {
		most = max(most, b.Count)
		all += b.Count
	}
	h.Empty = all == 0
	for k, b := range bins {
		height := Tenths(histogramMost * float64(b.Count) / float64(most))
		if b.Count > 0 {
			height = max(height, 1) // a few notes must not look like none
		}
		c := histogramColumn{X: Tenths(float64(k)*histogramPitch + 0.3), Y: Tenths(histogramBase - height), Height: height}
		c.LabelX, c.LabelY = Tenths((float64(k)+0.5)*histogramPitch), Tenths(c.Y-3)
		c.Tip = l.Text("from to", l.Number(b.From, 2), l.Number(b.To, 2), l.Plural(b.Count, "note"))
		c.Label = columnLabel(l, float64(b.Count)/float64(max(all, 1)))
		h.Columns = append(h.Columns, c)
	}
	for i, limit := range limits {
		m := HistogramMark{X: Tenths(100 * limit.At), DX: 4, Y: 10 + 13*i, Text: l.Text(limit.What) + " " + l.Number(limit.At, 2),
			Anchor: "start"}
		if limit.At > 0.5 {
			m.DX, m.Anchor = -4, "end"
		}
		h.Marks = append(h.Marks, m)
	}
	return h
}

// columnLabel is a share in per cent, short enough for a narrow column.
func columnLabel(l page.Language, share float64) string {
	switch p := 100 * share; {
	case p < 0.05:
		return ""
	case p < 9.95:
		return strings.TrimSuffix(l.Number(p, 1), strings.TrimPrefix(l.Number(0, 1), "0"))
	default:
		return l.Number(p, 0)
	}
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
	for _, of := range []struct {
		key     string
		entries []named
	}{{"never list", r.Uses.NeverLists}, {"always entry", r.Uses.Always}, {"never entry", r.Uses.Never}} {
		for _, e := range of.entries {
			rows = append(rows, named{r.language.Text(of.key, e.Name), e.Count})
		}
	}
	return rows
}
