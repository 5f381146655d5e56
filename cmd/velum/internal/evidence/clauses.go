package evidence

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed dossier.txt
var dossierText string

// question is a fact that every dossier asks for. asks is the question to the institution in its facts file; if it is
// "", the template answer computes it.
type question struct{ section, fact, by, asks, answer string }

// clause is a clause of a standard with the facts that answer it.
type clause struct {
	anchor, clause, asks string
	facts                []string
}

type tables struct {
	questions []question
	clauses   []clause
}

// asked holds the tables of dossier.txt.
var asked = sync.OnceValue(func() (t tables) {
	section, anchor := "", ""
	for line := range strings.Lines(dossierText) {
		line = strings.TrimSuffix(line, "\n")
		columns := append(strings.Split(line, "\t"), "")
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '\t':
			t.questions[len(t.questions)-1].answer += line
		case line[0] == '[':
			section = strings.Trim(line, "[]")
		case line[0] == '=':
			anchor = line[len("= "):]
		case anchor == "":
			t.questions = append(t.questions, question{section, columns[0], columns[1], columns[2], ""})
		default:
			t.clauses = append(t.clauses, clause{anchor, strings.TrimPrefix(columns[0], "-"), columns[1], strings.Fields(columns[2])})
		}
	}
	return t
})

// byHouse is the prefix that marks a question which a person of the institution has to answer.
const byHouse = "--facts: "

// sectionsOf sorts the answers into their sections; for open questions it says who has to answer.
func sectionsOf(answers map[string]*Fact) (all []Section) {
	for _, q := range asked().questions {
		if n := len(all); n == 0 || all[n-1].Name != q.section {
			all = append(all, Section{Name: q.section})
		}
		answer := answers[q.fact]
		if answer == nil {
			missing := q.by
			if q.asks != "" {
				missing = byHouse + q.fact
			}
			answer = &Fact{Name: q.fact, Missing: missing}
		}
		section := &all[len(all)-1]
		section.Facts = append(section.Facts, *answer)
	}
	return all
}

// clausesOf returns which clauses the answers satisfy.
func clausesOf(answers map[string]*Fact) (all []Clause) {
	for _, c := range asked().clauses {
		k := Clause{Anchor: c.anchor, Clause: c.clause, Asks: c.asks}
		for _, f := range c.facts {
			if answers[f] == nil {
				k.Missing = append(k.Missing, f)
			} else {
				k.At = append(k.At, f)
			}
		}
		all = append(all, k)
	}
	return all
}
