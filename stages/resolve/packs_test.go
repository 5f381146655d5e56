package resolve

import (
	"strings"
	"testing"

	networks "github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/pipeline"
)

// TestPacks: what networks of the house find stands beside the rest, mapped into the
// label set; a note on which they cost too much goes to quarantine, and the next one does not.
func TestPacks(t *testing.T) {
	p, err := networks.Compile("version 1\nnetwork a RECORD_ID 0.6\n a text:/HC\\d+/ -> end\nnetwork b DNI 0.1\n b form:x text:/qqq\\pL{990}|qqq\\pL{980}/ -> end\n", networks.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := defaults("primary-care")
	if err != nil {
		t.Fatal(err)
	}
	o.Packs = []*networks.Pack{p}
	step, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	b := new(pipeline.Batch)
	b.Reset()
	for _, text := range []string{"nota HC77 aquí", strings.Repeat("x ", 1<<15), "otra HC78"} {
		b.ID.Append(nil)
		b.Text.Append([]byte(text))
		at := 0
		for word := range strings.SplitSeq(text, " ") {
			if word != "" {
				b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: int32(at), End: int32(at + len(word))})
			}
			at += len(word) + 1
		}
		b.Tokens.End()
		b.Reason = append(b.Reason, pipeline.Sound)
	}
	if err := step.New()(b); err != nil {
		t.Fatal(err)
	}
	want, _ := pipeline.ParseCategory("SANITARY_CARD_ID")
	for _, i := range []int{0, 2} {
		if got := b.Spans.At(i); len(got) != 1 || got[0].Start != 5 || got[0].Category != want || got[0].Source != pipeline.FromRule || got[0].Score != 0.6 {
			t.Errorf("note %d: spans %v", i, got)
		}
	}
	if b.Reason[1] != pipeline.TooCostly || b.Reason[2] != pipeline.Sound {
		t.Errorf("reasons %v", b.Reason)
	}
	if _, err := New(Options{Labels: "meddocan", Words: o.Words, Packs: o.Packs}); err == nil {
		t.Error("a category of no label set was taken")
	}
}
