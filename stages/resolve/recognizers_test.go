package resolve

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/models/form/recognizers"
	"github.com/velum-health/velum/pipeline"
)

// TestRecognizers: what patterns of the house find stands beside the rest, mapped
// into the label set; a note on which they cost too much goes to quarantine, and
// the next one does not.
func TestRecognizers(t *testing.T) {
	s, err := recognizers.Compile("version: 1\nrecognizers:\n  - {name: a, category: RECORD_ID, patterns: [{regex: 'HC\\d+', score: 0.6}]}\n  - {name: b, category: DNI, patterns: [" +
		strings.Repeat("{regex: 'qqq\\pL{990}', score: 0.1},", 4) + "]}\n") // four times a thousand instructions, quickly tried
	if err != nil {
		t.Fatal(err)
	}
	o, err := defaults("primary-care")
	if err != nil {
		t.Fatal(err)
	}
	o.Recognizers = []*recognizers.Set{s}
	step, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	b := new(pipeline.Batch)
	b.Reset()
	for _, text := range []string{"nota HC77 aquí", strings.Repeat("x ", 1<<21), "otra HC78"} {
		b.ID.Append(nil)
		b.Text.Append([]byte(text))
		b.Tokens.End()
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	if err := step.New()(b); err != nil {
		t.Fatal(err)
	}
	want, _ := pipeline.ParseCategory("SANITARY_CARD_ID")
	for _, i := range []int{0, 2} {
		if got := b.Spans.At(i); len(got) != 1 || got[0].Start != 5 || got[0].Category != want || got[0].Source != pipeline.FromPattern || got[0].Score != 0.6 {
			t.Errorf("note %d: spans %v", i, got)
		}
	}
	if b.Reason[1] != pipeline.TooCostly || b.Reason[2] != pipeline.Sound {
		t.Errorf("reasons %v", b.Reason)
	}
	if _, err := New(Options{Labels: "meddocan", Categories: map[string]string{}, Recognizers: []*recognizers.Set{s}}); err == nil {
		t.Error("a category of no label set was taken")
	}
}
