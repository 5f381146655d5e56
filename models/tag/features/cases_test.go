package features

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// caseOf answers "WAY TEXT":
//
//	form   what all groups of forms say of a word
//	place  what all groups of places say of words between blanks: / begins a line, a word behind + is glued, the second is a date
//	note   the same where the sequence is the note and every group looks from one word back to one ahead
//	parse  a template as it is written again, and how far it looks
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	var b strings.Builder
	switch way {
	case "parse":
		t, err := Parse(strings.ReplaceAll(text, ";", "\n"))
		if err != nil {
			b.WriteString(err.Error())
			break
		}
		fmt.Fprint(&b, t, t.Lo, t.Hi, t.Margin(), t.MaxTokens, t.Sequence)
		for _, g := range t.Groups {
			fmt.Fprint(&b, " ", g.Rows(), g.Slotted())
		}
	case "form":
		t, err := Parse("version 1\n" + strings.Join(groupNames(), "\n"))
		if err != nil {
			return err.Error()
		}
		e := New(t, Resources{Lexicon: gazetteer.Default()})
		fs, names := e.FormNames([]byte(text))
		for i, f := range fs {
			if g := t.Groups[f.Group].Name; names[i] != text {
				fmt.Fprintf(&b, "%s=%s ", g, names[i])
			}
			if f.Value != 1 {
				fmt.Fprintf(&b, "*%.2f ", f.Value)
			}
		}
	case "place", "note":
		template := "version 1\n"
		if way == "note" {
			template += "sequence note\n"
		}
		for _, k := range kinds {
			switch {
			case k.form != nil:
			case way == "note":
				template += k.name + " -1..1\n"
			default:
				template += k.name + "\n"
			}
		}
		t, err := Parse(template)
		if err != nil {
			return err.Error()
		}
		tokens := cut(text)
		var matches []pipeline.Match
		if date, _ := pipeline.ParseCategory("DATE"); len(tokens) > 1 {
			matches = []pipeline.Match{{Start: tokens[1].Start, End: tokens[min(2, len(tokens)-1)].End, Category: date, Checked: true}}
		}
		r := Resources{Lexicon: gazetteer.Default(), Phrases: toy{}, Slots: map[string]Slot{"chunk": itself{}}}
		for _, sequence := range Describe(t, r, []byte(text), tokens, matches) {
			for _, attributes := range sequence {
				b.WriteString("| ")
				for _, a := range attributes {
					b.WriteString(strings.TrimSuffix(a.Name, "=1"))
					if a.Value != 1 {
						fmt.Fprintf(&b, "*%.2f", a.Value)
					}
					b.WriteString(" ")
				}
			}
		}
	}
	return strings.ReplaceAll(b.String(), "\n", ";")
}
