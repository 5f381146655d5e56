package review

import (
	"context"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// A question is a task that the page sets for every note.
type question struct {
	name    string
	load    func(ctx context.Context, cfg *option.Config, o *Options) (notes []note, unseen int, err error)
	output  bool     // it is about the notes of an output, see Options.Of
	marks   bool     // spans may be changed: the answer is spans
	drawn   bool     // it is about a sample: who reads, and when, is kept
	answers []string // else one of these is: what texts calls them, by the keys 1, 2...
}

// questions lists all questions. The first one is the default. The guideline of a question is the text
// "guideline-NAME", or else "guideline".
var questions = []question{
	{name: "spans", load: loadNotes, marks: true},
	{name: "audit", load: listed("audit", "draw one: start the same run with --audit N"), output: true, marks: true, drawn: true},
	{name: "quarantine", load: loadQuarantined, output: true, marks: true},
	{name: "rare", load: listed("rare", "start the same run with --set mask.rare=review"), output: true, marks: true},
	{name: "usefulness", load: loadNotes, answers: []string{"kept", "lost-something", "lost-all"}},
}

// Questions returns the names of the questions that a review can ask (values of --ask).
func Questions() (names []string) {
	for _, q := range questions {
		names = append(names, q.name)
	}
	return names
}

// questionNamed returns the question with that name; "" means the first.
func questionNamed(name string) *question {
	i := slices.IndexFunc(questions, func(q question) bool { return q.name == name })
	return &questions[max(i, 0)]
}

// check returns an error for options that the question does not support.
func (q *question) check(o *Options) error {
	if q.output && o.Of == "" {
		return exit.Misconfiguredf("name the output of `velum run` with --of, and its archive with --in", "velum review --ask %s: --of is needed",
			q.name)
	}
	if !q.drawn && o.Reader != "" {
		return exit.Misconfiguredf("leave it out, or ask about a sample with --ask audit", "velum review --ask %s: --reader says nothing here",
			q.name)
	}
	if !q.output && o.Of != "" {
		return exit.Misconfiguredf("--of goes with --ask audit, quarantine and rare", "velum review --ask %s: --of says nothing here", q.name)
	}
	return nil
}

// keyOf returns the key of an answer.
func keyOf(i int) string { return string(rune('1' + i)) }
