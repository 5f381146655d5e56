package tokenize

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
)

// TestCheck: notes are quarantined for what New quarantines them for, and for
// nothing else, and languages are those that are told.
func TestCheck(t *testing.T) {
	pieces := []string{"Acude ", "niño", "Núria", "\x00", "\x01", "\x7f", "\u0085", "\u00ad", "\u00a0", "\xc3", "\xff", "６１２", "\t", "\r\n", "·", "2º", "\xc2", "\xc2 ", "\u0080", "<b>", "&#769;", "&eacute;", `\n`, "{\"", "\u202e", "\u00bf", "€", "x", "1 "}
	rapid.Check(t, func(r *rapid.T) {
		o := Options{MaxBytes: rapid.IntRange(1, 60).Draw(r, "bytes"), MaxTokens: rapid.IntRange(1, 12).Draw(r, "tokens"), AllowControls: rapid.Bool().Draw(r, "controls")}
		one, other := new(pipeline.Batch), new(pipeline.Batch)
		for range rapid.IntRange(1, 5).Draw(r, "notes") {
			var text []byte
			for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 8).Draw(r, "text") {
				text = append(text, p...)
			}
			for _, b := range []*pipeline.Batch{one, other} {
				b.Text.Append(text)
				b.Reason = append(b.Reason, pipeline.Sound)
			}
		}
		if err := New(o).New()(one); err != nil {
			r.Fatal(err)
		}
		o.Languages = func(b *pipeline.Batch) {
			for range b.Len() {
				b.Language = append(b.Language, pipeline.Catalan)
			}
		}
		if err := NewCheck(o).New()(other); err != nil {
			r.Fatal(err)
		}
		for i := range one.Len() {
			if one.Reason[i] != other.Reason[i] || other.Language[i] != pipeline.Catalan || len(other.Tokens.At(i)) > 0 || len(other.View.At(i)) > 0 || len(other.ViewFrom.At(i)) > 0 {
				r.Fatalf("note %d: %v, want %v", i, other.Reason[i], one.Reason[i])
			}
		}
	})
}
