package inverse

import (
	"reflect"
	"testing"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
)

// TestVain: what is masked outside gold is in vain; where nobody has marked any,
// what a safe list has. Only forms of safe lists are kept.
func TestVain(t *testing.T) {
	text, tokens := tokenize("Acude con Zyxwvut , refiere tos con fiebre 12")
	phi := untyped().Categories[0]
	span := func(first, last int) pipeline.Span {
		return pipeline.Span{Start: tokens[first].Start, End: tokens[last].End, Category: phi}
	}
	spans := []pipeline.Span{span(1, 2), span(5, 8)}
	forms := []Form{{"con", 2}, {"tos", 1}} // a value's words are no words to show
	for _, tt := range []struct {
		name string
		gold []pipeline.Span
		vain int64
	}{
		{"lists", nil, 5},
		{"gold", []pipeline.Span{span(2, 2)}, 5},
		{"nothing to mark", []pipeline.Span{}, 6},
	} {
		v := NewVain(gazetteer.Default(), gazetteer.Names())
		v.Add(text, tokens, spans, tt.gold)
		if v.All != tt.vain || v.Masked != 6 || v.Words != 8 || v.ByCategory[phi] != tt.vain {
			t.Errorf("%s: %d of %d of %d words in vain, %d as PHI", tt.name, v.All, v.Masked, v.Words, v.ByCategory[phi])
		}
		if got := v.Forms(9); !reflect.DeepEqual(got, forms) {
			t.Errorf("%s: %v, want %v", tt.name, got, forms)
		}
		if got := v.Forms(1); len(got) != 1 {
			t.Errorf("%s: %d forms, want one", tt.name, len(got))
		}
	}
}
