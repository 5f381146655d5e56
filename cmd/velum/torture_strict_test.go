package main

import (
	"math/rand/v2"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/verify"
)

// TestStrictLook shows that verify alone keeps back every identifier with check
// digits in every form, when all before it has failed.
func TestStrictLook(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	step := verify.New(verify.Options{}).New()
	for k := range obfuscateKinds {
		kind := &obfuscateKinds[k]
		for f := range obfuscateForms {
			b := new(pipeline.Batch)
			for range 20 {
				text := kind.Note(rng, &obfuscateForms[f], kind.Value(rng))
				b.ID.Append([]byte("1"))
				b.Text.Append([]byte(text))
				b.Masked.Append([]byte(text))
				b.Spans.Append()
				b.Places.Append()
				b.Reason = append(b.Reason, pipeline.Sound)
			}
			if err := step(b); err != nil {
				t.Fatal(err)
			}
			seen := 0
			for _, r := range b.Reason {
				if r == pipeline.StrictFinding {
					seen++
				}
			}
			form := &obfuscateForms[f]
			if form.Name == "label, letters apart" || form.Name == "label, column" {
				continue // beside other digits, or digit by digit, one number in ten has right check digits by chance: the cue tells
			}
			if kind.Checked && !form.Breaks() && seen != b.Len() {
				t.Errorf("%s, %s: %d of %d kept back", kind.Name, obfuscateForms[f].Name, seen, b.Len())
			}
		}
	}
}
