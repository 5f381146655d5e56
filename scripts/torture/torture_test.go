package main

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/scripts/torture/obfuscate"
	"github.com/velum-health/velum/stages/verify"
)

// TestShort runs the short form of every test on a binary of this tree.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the binary and runs it some hundred times")
	}
	velum := filepath.Join(t.TempDir(), "velum")
	if text, err := exec.Command("go", "build", "-o", velum, "../../cmd/velum").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if err := (&torture{ended: t.Context(), velum: velum, short: true, seed: 2}).run(""); err != nil {
		t.Error(err)
	}
}

// TestStrictLook shows that verify alone keeps back every identifier with check
// digits in every form, when all before it has failed.
func TestStrictLook(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 5))
	step := verify.New(verify.Options{}).New()
	for k := range obfuscate.Kinds {
		kind := &obfuscate.Kinds[k]
		for f := range obfuscate.Forms {
			b := new(pipeline.Batch)
			for range 20 {
				text := kind.Note(rng, &obfuscate.Forms[f], kind.Value(rng))
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
			form := &obfuscate.Forms[f]
			if form.Name == "label, letters apart" || form.Name == "label, column" {
				continue // beside other digits, or digit by digit, one number in ten has right check digits by chance: the cue tells
			}
			if kind.Checked && !form.Breaks() && seen != b.Len() {
				t.Errorf("%s, %s: %d of %d kept back", kind.Name, obfuscate.Forms[f].Name, seen, b.Len())
			}
		}
	}
}
