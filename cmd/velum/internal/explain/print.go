package explain

import (
	_ "embed"
	"slices"
	"text/template"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/page"
)

//go:embed explanation.gotxt
var explanationText string

var explanation = template.Must(template.New("explanation").Parse(explanationText))

// print writes the explanation as text or as JSON. Unless a word was asked for, the text lists only the words that are
// worth explaining (see telling).
func (e *Explanation) print(c *console.Console, o *Options) error {
	if c.JSON {
		return c.WriteJSON(e)
	}
	told := slices.DeleteFunc(slices.Clone(e.Words), func(w Word) bool { return o.Word == "" && o.At < 0 && !w.telling() })
	hidden := ""
	if n := len(e.Words) - len(told); n > 0 {
		hidden = page.Language(0).Text("explain hidden", n)
	}
	return explanation.Execute(c.Out, struct {
		*Explanation
		Told   []Word
		Hidden string
	}{e, told, hidden})
}

// Confidence returns the tagger's confidence in the whole note. It must not be called if the note has none (Conf is
// nil).
func (e *Explanation) Confidence() float32 { return *e.Conf }

// telling reports whether a word is masked or has a cause worth showing.
func (w *Word) telling() bool {
	return w.Masked || slices.ContainsFunc(w.Why, func(c Cause) bool {
		return slices.Contains([]string{causeKept, causeTaken, causeBelow, causeOff, causeDoubt}, c.Code)
	})
}
