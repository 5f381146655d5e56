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

// view is a record in the form that the page shows.
type view struct {
	*Record
	Digest   string // of the record
	Signed   *Statement
	language page.Language
}

// render returns the page of a record and, if it is signed, of the signed statement. Equal records give equal bytes.
func render(r *Record, signed *Statement, digest string) ([]byte, error) {
	l := page.LanguageOf(r.Language)
	return evidenceTemplate.Write(l, &view{r, digest, signed, l})
}

// Facts returns the facts of all sections.
func (r *Record) Facts() (all []Fact) {
	for _, s := range r.Sections {
		all = append(all, s.Facts...)
	}
	return all
}

// Answered returns the facts that have an answer.
func (r *Record) Answered(facts []Fact) []Fact {
	return slices.DeleteFunc(slices.Clone(facts), func(f Fact) bool { return f.Missing != "" })
}

// Open returns the facts without an answer: those that a person has to give if person is true, otherwise those that a
// program can compute.
func (r *Record) Open(person bool) []Fact {
	return slices.DeleteFunc(r.Facts(), func(f Fact) bool { return f.Missing == "" || strings.HasPrefix(f.Missing, byHouse) != person })
}

// Met returns the clauses whose facts are all answered.
func (r *Record) Met() []Clause {
	return slices.DeleteFunc(slices.Clone(r.Clauses), func(c Clause) bool { return len(c.Missing) > 0 })
}

// Light returns the verdict of the report (green, amber or red) followed by the findings that caused it.
func (r *Record) Light() []Value {
	for _, f := range r.Facts() {
		if f.Name == "light" && len(f.Values) > 0 {
			return f.Values
		}
	}
	return []Value{term("amber")}
}

// Section returns the name of the section that contains the fact.
func (r *Record) Section(fact string) string {
	all := asked().questions
	return all[slices.IndexFunc(all, func(q question) bool { return q.fact == fact })].section
}

// IsNumber reports whether a column of the fact's table holds figures.
func (f Fact) IsNumber(column int) bool {
	return slices.ContainsFunc(f.Rows, func(row []Value) bool { v := row[column]; return v.Count != nil || v.Share != nil || v.Number != nil })
}

// Parted reports whether a blank goes before the value: false if it begins with a comma or semicolon.
func (v *view) Parted(x Value) bool { return strings.IndexAny(v.Shown(x), ",;") != 0 }

// Shown formats a value in the language of the page.
func (v *view) Shown(x Value) string {
	l := v.language
	figure := func(x float64) string { return l.Number(x, 2) }
	said := cmp.Or(x.SHA256, x.Text)
	switch {
	case x.Count != nil:
		figure = func(x float64) string { return page.Thousands(int64(x)) }
		said = figure(float64(*x.Count))
	case x.Share != nil:
		figure = l.Percent
		said = figure(*x.Share)
	case x.Number != nil:
		said = figure(*x.Number)
	case x.Word != "" && page.Known("ev word "+x.Word):
		said = l.Text("ev word " + x.Word)
	case x.Word != "" && page.Known(x.Word):
		said = l.Text(x.Word)
	case x.Word != "":
		said = l.Said(x.Word) // what another package says
	}
	if x.Between == nil {
		return said
	}
	return said + "\u202f[" + figure(x.Between[0]) + "\u2013" + figure(x.Between[1]) + "]"
}
