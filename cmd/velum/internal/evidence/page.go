package evidence

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/page"
)

//go:embed evidence.gohtml
var evidencePage string

var evidenceTemplate = page.New("evidence", evidencePage)

// known tells whether the table of words has a word of another page.
func known(key string) bool { return page.Known(key) }

// view is a record as the page shows it.
type view struct {
	*Record
	Light           string
	Findings        []string
	Digest          string // of the record
	Sections        []viewSection
	Clauses         []viewClause
	Answered, Asked int
	Met             int
	Left, Runs      []viewFact // without an answer: of a person, of a program
	Signed          *Statement
}

type viewSection struct {
	Name, Title string
	Answered    int
	Facts       []viewFact
}

type viewFact struct {
	Name, Label string
	Section     string
	House       bool
	Missing     string
	Pieces      []piece
	Columns     []viewColumn
	Rows        [][]viewCell
}

type viewColumn struct {
	Label  string
	Number bool
}

type viewCell struct {
	Pieces []piece
	Number bool
}

// piece is a figure or a word; a digest is set as code.
type piece struct {
	Text string
	Code bool
}

type viewClause struct {
	Anchor, Clause, Asks string
	At, Missing          []viewFact // label, and section as Name
}

// render returns the page of a record, and of the statement of who signed it: the same
// bytes whenever it is asked.
func render(r *Record, signed *Statement, digest string) ([]byte, error) {
	l := page.LanguageOf(r.Language)
	v := &view{Record: r, Digest: digest, Signed: signed, Light: "amber"}
	for _, s := range r.Sections {
		section := viewSection{Name: s.Name, Title: l.Text("ev section " + s.Name)}
		for _, f := range s.Facts {
			shown := factOf(l, &f)
			shown.Section = s.Name
			switch v.Asked++; {
			case f.Missing == "":
				v.Answered++
				section.Answered++
			case strings.HasPrefix(f.Missing, byHouse):
				v.Left = append(v.Left, shown)
			default:
				v.Runs = append(v.Runs, shown)
			}
			if f.Name == "light" && len(f.Values) > 0 {
				v.Light = f.Values[0].Word
				for _, x := range f.Values[1:] {
					v.Findings = append(v.Findings, x.Text)
				}
				shown.Pieces = piecesOf(l, f.Values[:1])
			}
			section.Facts = append(section.Facts, shown)
		}
		v.Sections = append(v.Sections, section)
	}
	for _, c := range r.Clauses {
		k := viewClause{Anchor: c.Anchor, Clause: c.Clause, Asks: l.Text("ev asks " + c.Asks)}
		if len(c.Missing) == 0 {
			v.Met++
		}
		for _, f := range c.At {
			k.At = append(k.At, viewFact{Name: sectionOf(f), Label: l.Text("ev fact " + f)})
		}
		for _, f := range c.Missing {
			k.Missing = append(k.Missing, viewFact{Name: sectionOf(f), Label: l.Text("ev fact " + f)})
		}
		v.Clauses = append(v.Clauses, k)
	}
	return evidenceTemplate.Write(l, v)
}

func factOf(l page.Language, f *Fact) viewFact {
	v := viewFact{Name: f.Name, Label: l.Text("ev fact " + f.Name), House: f.House, Missing: f.Missing, Pieces: piecesOf(l, f.Values)}
	for i, c := range f.Columns {
		v.Columns = append(v.Columns, viewColumn{l.Text("ev column " + c), len(f.Rows) > 0 && slices.ContainsFunc(f.Rows, func(row []Value) bool { return row[i].isNumber() })})
	}
	for _, row := range f.Rows {
		var cells []viewCell
		for i, x := range row {
			cells = append(cells, viewCell{piecesOf(l, []Value{x}), v.Columns[i].Number})
		}
		v.Rows = append(v.Rows, cells)
	}
	return v
}

func (v *Value) isNumber() bool {
	return v.Count != nil || v.Share != nil || v.Number != nil || v.Between != nil
}

func piecesOf(l page.Language, values []Value) (all []piece) {
	for i := range values {
		said := values[i].shown(l)
		if i > 0 && !strings.ContainsAny(said[:min(1, len(said))], ",;") {
			all = append(all, piece{Text: " "})
		}
		all = append(all, piece{said, values[i].SHA256 != ""})
	}
	return all
}

// shown writes a value in a language.
func (v *Value) shown(l page.Language) string {
	figure := func(x float64) string { return l.Number(x, 2) }
	said := ""
	switch {
	case v.Count != nil:
		figure = func(x float64) string { return page.Thousands(int64(x)) }
		said = page.Thousands(*v.Count)
	case v.Share != nil:
		figure = l.Percent
		said = l.Percent(*v.Share)
	case v.Number != nil:
		said = l.Number(*v.Number, 2)
	case v.Word != "" && known("ev word "+v.Word):
		said = l.Text("ev word " + v.Word)
	case v.Word != "" && known(v.Word):
		said = l.Text(v.Word)
	case v.Word != "":
		said = l.Said(v.Word) // what another package says
	default:
		said = cmp.Or(v.SHA256, v.Text)
	}
	if v.Between == nil {
		return said
	}
	between := figure(v.Between[0]) + "\u2013" + figure(v.Between[1])
	if said == "" {
		return between
	}
	return said + "\u202f[" + between + "]"
}
