package score

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/score"
)

// mistake is an error as --errors writes it, a line of JSON. It holds words of a note.
type mistake struct {
	ID     string `json:"id"`
	Group  string `json:"group,omitempty"` // the column center, else the folder of the id
	Kind   string `json:"kind"`            // type, border, border_and_type, missing, spurious
	Leaks  bool   `json:"leaks"`           // something of the gold span can still be read
	Gold   *side  `json:"gold,omitempty"`
	System *side  `json:"system,omitempty"`
	Source string `json:"source,omitempty"` // who found the system's span
	Seen   *bool  `json:"seen,omitempty"`   // whether the model knows all words of the span; none: it cannot say
	Before string `json:"before"`
	After  string `json:"after"`
}

type side struct {
	Start    int32  `json:"start"` // in bytes
	End      int32  `json:"end"`
	Category string `json:"category"`
	Text     string `json:"text"`
}

// around is how many bytes of the note stand on either side of an error.
const around = 60

// mistakes collects the errors.
type mistakes struct {
	all    []mistake
	knows  func(form []byte) bool // nil: nobody can say
	values frequencies
}

// add takes an error of note i.
func (m *mistakes) add(b *pipeline.Batch, i int, e score.Error) {
	text := b.Text.At(i)
	n := mistake{ID: string(b.ID.At(i)), Kind: e.Kind.String(), Leaks: e.Leaks, Group: path.Dir(string(b.ID.At(i)))}
	if n.Group == "." {
		n.Group = ""
	}
	if c := b.ExtraNamed("center").AppendText(nil, i); len(c) > 0 {
		n.Group = string(c)
	}
	lo, hi := int32(len(text)), int32(0)
	sideOf := func(s pipeline.Span) *side {
		if s.Start >= s.End || int(s.End) > len(text) {
			return nil
		}
		lo, hi = min(lo, s.Start), max(hi, s.End)
		return &side{s.Start, s.End, s.Category.String(), string(text[s.Start:s.End])}
	}
	n.Gold, n.System = sideOf(e.Gold), sideOf(e.System)
	if n.System != nil {
		for _, s := range b.Spans.At(i) {
			if s.Start == e.System.Start && s.End == e.System.End {
				n.Source = s.Source.String()
			}
		}
	}
	if about := cmp.Or(n.Gold, n.System); about != nil && m.knows != nil {
		seen := true
		for _, t := range b.Tokens.At(i) {
			if t.Start < about.End && about.Start < t.End && !m.knows(text[t.Start:t.End]) {
				seen = false
			}
		}
		n.Seen = &seen
	}
	n.Before, n.After = string(clip(text[max(0, lo-around):lo], true)), string(clip(text[hi:min(int32(len(text)), hi+around)], false))
	m.all = append(m.all, n)
}

// clip takes half a character off the end at which a text was cut.
func clip(text []byte, front bool) []byte {
	for len(text) > 0 && front && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	for n := 0; n < utf8.UTFMax && len(text) > 0 && !front && !utf8.Valid(text[max(0, len(text)-utf8.UTFMax):]); n++ {
		text = text[:len(text)-1]
	}
	return text
}

// knownForms tells of a form whether a model has heard it in training: whether it
// has weights of its own. nil for kinds that cannot say.
func knownForms(m tagger.Model) func(form []byte) bool {
	if e, ok := m.(*ensemble.Model); ok {
		m = e.Members()[0]
	}
	why, ok := m.(tagger.Explainer)
	if !ok {
		return nil
	}
	return func(form []byte) bool {
		for _, sequence := range why.Describe(form, []pipeline.Token{{End: int32(len(form)), Flags: pipeline.LineStart}}, nil) {
			for _, a := range sequence[0] {
				if strings.HasPrefix(a.Name, "word[0]=") || strings.HasPrefix(a.Name, "folded[0]=") {
					if len(why.Reasons(a)) > 0 {
						return true
					}
				}
			}
		}
		return false
	}
}

// write writes the errors to a file: a page, or a line of JSON each.
func (m *mistakes) write(file string, l page.Language) error {
	if filepath.Ext(file) == ".html" {
		page, err := m.page(l)
		if err != nil {
			return err
		}
		return durable.WriteFile(nil, file, page)
	}
	var lines bytes.Buffer
	to := json.NewEncoder(&lines)
	to.SetEscapeHTML(false)
	for i := range m.all {
		if err := to.Encode(&m.all[i]); err != nil {
			return err
		}
	}
	return durable.WriteFile(nil, file, lines.Bytes())
}

// errorsFile refuses a name that says neither of the two forms.
func errorsFile(name string) error {
	if ext := filepath.Ext(name); ext != ".html" && ext != ".jsonl" {
		return exit.Errorf(exit.Config, "name it FILE.html or FILE.jsonl", "--errors: a page or lines of JSON")
	}
	return nil
}

//go:embed errors.gohtml
var errorsText string

var errorsPage = page.New("errors", errorsText)

// mostShown is how many errors the page shows, those that leak first: a browser
// takes no million rows.
const mostShown = 2000

// errorsView is what the page shows.
type errorsView struct {
	Total, Leaks int
	Tables       []table
	Boxes        []box
	Shown        []mistake
	Hidden       int
}

// table is counts of errors by one of their properties.
type table struct {
	Title string
	Kinds []string
	Rows  []tableRow
}

type tableRow struct {
	Name   string
	Counts []int
	Total  int
	Leaks  int
}

func (m *mistakes) page(l page.Language) ([]byte, error) {
	v := errorsView{Total: len(m.all)}
	for i := range m.all {
		if m.all[i].Leaks {
			v.Leaks++
		}
	}
	v.Tables = append(v.Tables,
		m.table(table{Title: "errors by category"}, func(e *mistake) string { return cmp.Or(e.Gold, e.System).Category }),
		m.table(table{Title: "errors by source"}, func(e *mistake) string { return e.Source }),
		m.table(table{Title: "errors by group"}, func(e *mistake) string { return e.Group }),
		m.table(table{Title: "errors by form"}, func(e *mistake) string {
			switch {
			case e.Seen == nil:
				return ""
			case *e.Seen:
				return l.Text("errors seen")
			}
			return l.Text("errors unseen")
		}),
		m.table(table{Title: "errors by frequency"}, func(e *mistake) string { return m.values.class(e, l) }))
	v.Boxes = m.values.boxes()
	v.Tables = slices.DeleteFunc(v.Tables, func(t table) bool { return len(t.Rows) == 0 })
	v.Shown = slices.Clone(m.all)
	slices.SortStableFunc(v.Shown, func(a, b mistake) int { return rank(&a) - rank(&b) })
	v.Hidden = max(0, len(v.Shown)-mostShown)
	v.Shown = v.Shown[:len(v.Shown)-v.Hidden]
	return errorsPage.Write(l, v)
}

// rank puts first what can still be read.
func rank(e *mistake) int {
	if e.Leaks {
		return 0
	}
	return 1
}

// table fills in how many errors there are by what of says; those of which it says nothing are in no row.
func (m *mistakes) table(t table, of func(*mistake) string) table {
	for k := score.WrongType; k <= score.Spurious; k++ {
		t.Kinds = append(t.Kinds, k.String())
	}
	rows := map[string]*tableRow{}
	for i := range m.all {
		e := &m.all[i]
		name := of(e)
		if name == "" {
			continue
		}
		r := rows[name]
		if r == nil {
			r = &tableRow{Name: name, Counts: make([]int, len(t.Kinds))}
			rows[name] = r
		}
		r.Counts[slices.Index(t.Kinds, e.Kind)]++
		r.Total++
		if e.Leaks {
			r.Leaks++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		t.Rows = append(t.Rows, *rows[name])
	}
	slices.SortStableFunc(t.Rows, func(a, b tableRow) int { return cmp.Compare(b.Total, a.Total) })
	return t
}
