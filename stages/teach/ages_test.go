package teach_test

import (
	"regexp"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/stages/teach"
)

// Where an extract has a class, its reader learns an age of the class; all else stays, and spans stand around the same text.
func TestAges(t *testing.T) {
	for marked, want := range map[string]string{
		"[PERSON:Ada], [AGE:60-64 años], ve de [LOCATION:Olot].":          `^\[PERSON:Ada\], \[AGE:6[0-4] años\], ve de \[LOCATION:Olot\]\.$`,
		"[AGE:85-89a] y [AGE:30-34]":                                      `^\[AGE:8[5-9]a\] y \[AGE:3[0-4]\]$`,
		"[AGE:0-4 años] y [PERSON:Ada]":                                   `^\[AGE:([234] años|[0-9]+ mes[eo]s)\] y \[PERSON:Ada\]$`,
		"[AGE:62 años], del [DATE:3-4 de mayo], 60-64 años, [PERSON:Ada]": `^\[AGE:62 años\], del \[DATE:3-4 de mayo\], 60-64 años, \[PERSON:Ada\]$`,
	} {
		wants(t, marked, nil, want)
	}
	text := []byte("Tiene [AGE > 89], es Ada")
	age, _ := pipeline.ParseCategory("AGE")
	name, _ := pipeline.ParseCategory("PERSON")
	wants(t, string(text), []pipeline.Span{{Start: 6, End: 16, Category: age}, {Start: 21, End: 24, Category: name}}, `^Tiene \[AGE:9[0-9]( años| anys|a| a\.)\], es \[PERSON:Ada\]$`)
}

// wants runs the step over a note: marked, or with the spans that are given.
func wants(t *testing.T, text string, spans []pipeline.Span, want string) {
	t.Helper()
	note := []byte(text)
	if spans == nil {
		var err error
		if note, spans, err = markup.Parse(text); err != nil {
			t.Fatal(err)
		}
	}
	var first string
	for range 2 {
		b := new(pipeline.Batch)
		b.Text.Append(note)
		b.Gold.Append(spans...)
		b.Reason = append(b.Reason, pipeline.Sound)
		if err := teach.Ages.New()(b); err != nil {
			t.Fatal(err)
		}
		got, at := "", int32(0)
		for _, s := range b.Gold.At(0) {
			now := b.Text.At(0)
			got += string(now[at:s.Start]) + "[" + s.Category.String() + ":" + string(now[s.Start:s.End]) + "]"
			at = s.End
		}
		got += string(b.Text.At(0)[at:])
		if !regexp.MustCompile(want).MatchString(got) {
			t.Errorf("%s: %s", text, got)
		}
		if first != "" && got != first {
			t.Errorf("%s, then %s", first, got)
		}
		first = got
	}
}
