package attack

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// spansOf reads «PERSON:words» out of a text, and returns it without the marks.
func spansOf(t *testing.T, marked string) (text string, spans []pipeline.Span) {
	t.Helper()
	for {
		before, rest, ok := strings.Cut(marked, "«")
		text += before
		if !ok {
			return text, spans
		}
		inside, after, _ := strings.Cut(rest, "»")
		label, words, _ := strings.Cut(inside, ":")
		c, err := pipeline.ParseCategory(label)
		if err != nil {
			t.Fatal(err)
		}
		spans = append(spans, pipeline.Span{Start: int32(len(text)), End: int32(len(text) + len(words)), Category: c})
		text, marked = text+words, after
	}
}

// TestWithout: what of marked names lies in no span that was found.
func TestWithout(t *testing.T) {
	for _, tt := range []struct{ gold, found, want string }{
		{"amb «PERSON:Rosa Puig» i «PERSON:Pere»", "amb «PERSON:Rosa Puig» i Pere", "Pere"},
		{"amb «PERSON:Rosa Puig Mas» avui", "amb Rosa «PERSON:Puig» Mas avui", "Rosa|Mas"},
		{"amb «PERSON:Rosa Puig» avui", "«LOCATION:amb Rosa» Puig avui", "Puig"},
		{"amb «PERSON:Rosa» avui", "«LOCATION:amb» «PERSON:Rosa avui»", ""},
		{"a «LOCATION:Reus» amb «PERSON:J.»", "a Reus amb J.", ""}, // places are no names, and J is no word
		{"amb «PERSON:Rosa Puig»", "amb Rosa Puig", "Rosa Puig"},
	} {
		text, gold := spansOf(t, tt.gold)
		_, found := spansOf(t, tt.found)
		var left []string
		for _, s := range without([]byte(text), gold, found) {
			left = append(left, text[s.Start:s.End])
		}
		if got := strings.Join(left, "|"); got != tt.want {
			t.Errorf("%s, found %s: %q is left, want %q", tt.gold, tt.found, got, tt.want)
		}
	}
}

// TestMentions: where names stand in a masked note, replaced or left.
func TestMentions(t *testing.T) {
	masked, places := spansOf(t, "«PERSON:Immaculada» veu «LOCATION:Ull de Molins» amb Rosa, «PERSON:[PERSON]» i «PERSON:Jan» i Mas")
	text, spans := spansOf(t, "«PERSON:Ana» veu «LOCATION:Reus» amb Rosa, «PERSON:Puig» i «PERSON:Bartomeu» i Mas")
	var left []pipeline.Span
	for _, word := range []string{"Rosa", "Mas"} {
		at := int32(strings.Index(text, word))
		left = append(left, pipeline.Span{Start: at, End: at + int32(len(word)), Category: spans[0].Category})
	}
	var got []string
	for _, m := range mentionsOf([]byte(text), []byte(masked), spans, places, left) {
		name := masked[m.Start:m.End]
		if m.Left {
			name += "!"
		}
		got = append(got, name)
	}
	if want := "Immaculada|Rosa!|Jan|Mas!"; strings.Join(got, "|") != want {
		t.Errorf("%v, want %s", got, want)
	}
}
