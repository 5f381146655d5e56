package explain

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/page"
)

// most is how many features of a word are shown; the others are added up.
const most = 6

// print writes the explanation for a person, or as JSON.
func (e *Explanation) print(c *console.Console, o *Options) error {
	if c.JSON {
		return c.WriteJSON(e)
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "%s, language %s, model %s", e.Status, or(e.Language, "unknown"), e.Model)
	if e.Conf != nil {
		fmt.Fprintf(&out, ", confidence %.4f", *e.Conf)
	}
	fmt.Fprintln(&out)
	if e.Masked != "" {
		fmt.Fprintf(&out, "\n%s\n", e.Masked)
	}
	for _, s := range e.Steps {
		fmt.Fprintf(&out, "\n%s\n", or(stepNames[s.Name], "rule "+s.Name))
		for _, x := range s.Added {
			fmt.Fprintf(&out, "  + %s\n", x.line())
		}
		for _, x := range s.Removed {
			fmt.Fprintf(&out, "  - %s\n", x.line())
		}
	}
	shown, all := 0, o.Word != "" || o.At >= 0
	for i := range e.Words {
		if w := &e.Words[i]; all || w.telling() {
			shown++
			w.print(&out)
		}
	}
	if n := len(e.Words) - shown; n > 0 {
		fmt.Fprintf(&out, "\n%s: --word WORD explains one, --json all.\n", page.Language(0).Text("explain hidden", n))
	}
	_, err := c.Out.Write(out.Bytes())
	return err
}

// stepNames say what resolve did, by the names of its steps; a rule has its own.
var stepNames = map[string]string{
	"model": "the tagger", "never": "words that a tagger may not mask (resolve.never and its lists)",
	"candidates": "patterns, known people, rules and lists", "merge": "overlaps settled",
	"cover": "known people and untyped finds, to their borders", "repeats": "the same values at other places",
}

func or(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (s *Span) line() string {
	line := fmt.Sprintf("%d-%d  %s  %s %.3f  %s", s.Start, s.End, s.Category, s.Source, s.Score, s.Text)
	if s.Operator != "" {
		line += "  ->  " + s.Operator
	}
	return line
}

// telling tells whether there is something to say of a word.
func (w *Word) telling() bool {
	for _, c := range w.Why {
		switch c.Code {
		case causeKept, causeTaken, causeBelow, causeOff, causeDoubt:
			return true
		}
	}
	return w.Masked
}

func (w *Word) print(out *bytes.Buffer) {
	fmt.Fprintf(out, "\n%d-%d  %s\n", w.Start, w.End, w.Text)
	for _, c := range w.Why {
		fmt.Fprintf(out, "  %s\n", c.Says)
	}
	if w.Says != nil {
		fmt.Fprintf(out, "  tagger: %s %.4f, %s %.4f\n", w.Tag, w.Says.Tag, w.Rival, w.Says.Rival)
	}
	for _, m := range w.Members {
		if m.Says == nil {
			fmt.Fprintf(out, "    %s was not asked", m.Kind)
		} else {
			fmt.Fprintf(out, "    %s, weight %.2f: %s %.4f, %s %.4f", m.Kind, m.Weight, w.Tag, m.Says.Tag, w.Rival, m.Says.Rival)
		}
		if m.List != "" {
			fmt.Fprintf(out, ", list %s", m.List)
		}
		fmt.Fprintln(out)
		if m.Odds != nil {
			m.Odds.print(out)
		}
	}
	if len(w.Lists) > 0 {
		fmt.Fprintf(out, "  lists: %s\n", strings.Join(w.Lists, ", "))
	}
	for _, p := range w.Patterns {
		fmt.Fprintf(out, "  pattern %s %.2f%s%s\n", p.Category, p.Score, when(p.Checked, ", check digit right"), when(p.Off, ", switched off"))
	}
}

func when(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// print writes the sum that the odds are.
func (o *Odds) print(out *bytes.Buffer) {
	fmt.Fprintf(out, "      log odds %+.3f = words before %+.3f, words behind %+.3f, recall dial %+.3f\n", o.Log, o.Before, o.After, o.Dial)
	for _, f := range o.loudest() {
		fmt.Fprintf(out, "        %+7.3f  %s\n", f.Weight, f.Name)
	}
}

// loudest are the features that speak loudest, and all others as one.
func (o *Odds) loudest() []Feature {
	if len(o.Features) <= most+1 {
		return o.Features
	}
	rest := Feature{Name: fmt.Sprintf("%d more", len(o.Features)-most)}
	for _, f := range o.Features[most:] {
		rest.Weight += f.Weight
	}
	return append(slices.Clone(o.Features[:most]), rest)
}
