package resolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/form/patterns"
	"github.com/velum-health/velum/models/word/view"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/casetest"
	"github.com/velum-health/velum/pipeline/markup"
)

// TestCases has the bounds of the package: what it says of the invented texts of testdata/cases.txt, see caseOf.
func TestCases(t *testing.T) { casetest.Run(t, caseOf) }

// caseOf answers "WAY TEXT", in which the marked spans are what the model found: the spans that come out, with the source of those that
// are not the model's.
//
//	rules, meddocan  with all rules and nothing else
//	repeat           with what stands at several places
//	lists            with a list of what is always masked and one of what never is
//	all              with everything, and the patterns
func caseOf(text string) string {
	way, text, _ := strings.Cut(text, " ")
	labels := "primary-care"
	if way == "meddocan" {
		labels = way
	}
	o, err := defaults(labels)
	if err != nil {
		return err.Error()
	}
	o.Lexicons = testLexicons
	switch way {
	case "rules", "meddocan":
		o.Repeat, o.RepeatPart = nil, nil
		for _, name := range RuleNames() {
			o.Rules[name] = true
		}
	case "repeat":
		o.Rules = nil
	case "lists":
		o.Repeat, o.RepeatPart, o.Rules = nil, nil, nil
	case "all":
	default:
		return ""
	}
	if way != "rules" {
		o.Never = []string{"signo de Pere Roca"}
		o.Always = []Entry{{"Mas del Pi", category(labels, "LOCATION")}}
	}
	plain, spans, err := markup.Parse(text)
	if err != nil {
		return "no markup"
	}
	set, _ := pipeline.Labels(labels)
	var b pipeline.Batch
	b.TagSet = &pipeline.TagSet{Categories: set.Categories}
	for _, s := range spans {
		if !strings.Contains(fmt.Sprint(set.Categories), s.Category.String()) {
			return "another category"
		}
	}
	var matches []pipeline.Match
	if way == "all" {
		matches = patterns.New(patterns.Options{}).Find(nil, plain)
	}
	add(&b, plain, spans, matches)
	if view.Plain(plain) {
		b.View.Append(nil)
		b.ViewFrom.Append()
	} else {
		v, from := view.Append(nil, nil, plain)
		b.View.Append(v)
		b.ViewFrom.Append(from...)
	}
	step, err := New(o)
	if err != nil {
		return err.Error()
	}
	if err := step.New()(&b); err != nil {
		return err.Error()
	}
	var out strings.Builder
	if b.Reason[0] != pipeline.Sound {
		return fmt.Sprint(b.Reason[0])
	}
	out.WriteString(markup.Write(plain, b.Spans.At(0)))
	for _, s := range b.Spans.At(0) {
		if s.Source != pipeline.FromModel {
			fmt.Fprintf(&out, " %d:%v", s.Start, s.Source)
		}
	}
	return strings.ReplaceAll(out.String(), "\n", "|")
}

func category(labels, or string) string {
	if labels == "meddocan" {
		return "TERRITORIO"
	}
	return or
}
