package features_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// wholeLines finds the second and third token of every four.
type wholeLines struct{ category pipeline.Category }

func (f wholeLines) Kind() string { return "test" }
func (f wholeLines) Data() []byte { return []byte("test") }
func (f wholeLines) NewSpans() func([]pipeline.Span, []byte, []pipeline.Token) []pipeline.Span {
	return func(dst []pipeline.Span, _ []byte, tokens []pipeline.Token) []pipeline.Span {
		for i := 0; i+2 < len(tokens); i += 4 {
			dst = append(dst, pipeline.Span{Start: tokens[i+1].Start, End: tokens[i+2].End, Category: f.category})
		}
		return dst
	}
}

// TestRules: a token that rules find is marked with the category and its place,
// in every sequence of the note.
func TestRules(t *testing.T) {
	template, err := features.Parse("version 1\nrules 0..0\n")
	if err != nil {
		t.Fatal(err)
	}
	person, _ := pipeline.ParseCategory("PERSON")
	var r features.Resources
	if missing := template.Missing(r); len(missing) != 1 {
		t.Errorf("missing %v, want the group rules", missing)
	}
	if err := r.Fill(template.Groups[0], wholeLines{person}); err != nil {
		t.Fatal(err)
	}
	text := "a b c d\na b c d"
	var tokens []pipeline.Token
	for i := range 8 {
		tokens = append(tokens, pipeline.Token{Start: int32(2 * i), End: int32(2*i + 1)})
	}
	tokens[0].Flags, tokens[4].Flags = pipeline.LineStart, pipeline.LineStart
	e := features.New(template, r)
	e.Note([]byte(text), tokens, nil)
	for _, lo := range []int{0, 4} {
		var got []string
		for _, m := range e.Marks(lo, lo+4) {
			for _, value := range []string{"PERSON:B", "PERSON:I", "PERSON:E", "PERSON:S"} {
				if m.Key == features.Key("rules", value) {
					got = append(got, fmt.Sprint(m.At)+value)
				}
			}
		}
		if want := "1PERSON:B 2PERSON:E"; strings.Join(got, " ") != want {
			t.Errorf("from %d: %v, want %s", lo, got, want)
		}
	}
}
