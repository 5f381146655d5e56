package mask_test

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/mask"
)

func category(t testing.TB, name string) pipeline.Category {
	t.Helper()
	c, err := pipeline.ParseCategory(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func parse(t testing.TB, marked string) ([]byte, []pipeline.Span) {
	t.Helper()
	text, spans, err := pipeline.ParseMarked(marked)
	if err != nil {
		t.Fatal(err)
	}
	return text, spans
}

func TestMask(t *testing.T) {
	policy := map[pipeline.Category]mask.Operator{
		category(t, "DATE"):      mask.Keep,
		category(t, "TELEPHONE"): mask.Suppress,
		category(t, "DNI"):       mask.Stars,
	}
	for _, c := range []struct{ what, marked, want string }{
		{"nothing", "", ""},
		{"no spans", "sin hallazgos", "sin hallazgos"},
		{"placeholder", "Visto por [PERSON:Anna Pou].", "Visto por [PERSON]."},
		{"only a span", "[PERSON:Anna]", "[PERSON]"},
		{"at both ends", "[PERSON:Anna] viu a [LOCATION:Reus]", "[PERSON] viu a [LOCATION]"},
		{"touching", "[PERSON:Anna][LOCATION:Reus]", "[PERSON][LOCATION]"},
		{"keep", "el [DATE:1/2/2014] acude", "el 1/2/2014 acude"},
		{"suppress", "tel [TELEPHONE:934 000 000].", "tel ."},
		{"stars", "DNI [DNI:1234 ñ]!", "DNI ******!"},
		{"wide characters", "ñ [PERSON:Núria Solà] · [LOCATION:L'Hospitalet]…", "ñ [PERSON] · [LOCATION]…"},
	} {
		text, spans := parse(t, c.marked)
		m := mask.NewMasker(mask.Options{Policy: policy})
		got, ok := m.Mask([]byte("x"), text, spans)
		if !ok || string(got) != "x"+c.want {
			t.Errorf("%s: got %q, %v", c.what, got, ok)
		}
		places := m.Places(nil, text, spans)
		if len(places) != len(spans) {
			t.Errorf("%s: %d places for %d spans", c.what, len(places), len(spans))
		}
		for i, p := range places {
			if p.Category != spans[i].Category || p.Source != spans[i].Source || int(p.End) > len(c.want) {
				t.Errorf("%s: place %d is %+v", c.what, i, p)
			}
		}
	}
}

func TestDefault(t *testing.T) {
	text, spans := parse(t, "[PERSON:Anna] [DATE:hoy]")
	m := mask.NewMasker(mask.Options{
		Policy:  map[pipeline.Category]mask.Operator{category(t, "PERSON"): nil},
		Default: mask.Suppress,
	})
	if got, _ := m.Mask(nil, text, spans); string(got) != " " {
		t.Errorf("got %q", got)
	}
	for _, c := range []pipeline.Category{pipeline.None, pipeline.Category(pipeline.Categories()), 255} {
		spans[0].Category = c
		if got, _ := mask.NewMasker(mask.Options{Default: mask.Keep}).Mask(nil, text, spans[:1]); string(got) != "[PHI] hoy" {
			t.Errorf("category %d: got %q", c, got)
		}
	}
}

func TestParseOperator(t *testing.T) {
	for name, want := range map[string]mask.Operator{
		"placeholder": mask.Placeholder, "suppress": mask.Suppress, "keep": mask.Keep, "mask": mask.Stars,
	} {
		if got, err := mask.ParseOperator(name); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := mask.ParseOperator("Keep"); err == nil {
		t.Error("no error for an unknown name")
	}
}

// broken panics half way.
type broken struct{}

func (broken) Replace(dst []byte, v mask.Value) []byte {
	dst = append(dst, v.Words...)
	return append(dst, v.Words[len(v.Words)])
}

func TestStep(t *testing.T) {
	text, spans := parse(t, "Visto por [PERSON:Añe] en [LOCATION:Reus]")
	at := func(pairs ...int32) (list []pipeline.Span) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, pipeline.Span{Start: pairs[i], End: pairs[i+1], Category: spans[0].Category})
		}
		return list
	}
	end := int32(len(text))
	cases := []struct {
		what   string
		spans  []pipeline.Span
		before pipeline.Reason
		want   string
		after  pipeline.Reason
	}{
		{"sound", spans, pipeline.Sound, "Visto por [PERSON] en [LOCATION]", pipeline.Sound},
		{"none", nil, pipeline.Sound, string(text), pipeline.Sound},
		{"has a reason", spans, pipeline.NullID, "", pipeline.NullID},
		{"has a reason and bad spans", at(5, 3), pipeline.NullID, "", pipeline.NullID},
		{"overlap", at(0, 5, 4, 8), pipeline.Sound, "", pipeline.Panicked},
		{"order", at(6, 8, 0, 2), pipeline.Sound, "", pipeline.Panicked},
		{"empty span", at(3, 3), pipeline.Sound, "", pipeline.Panicked},
		{"backwards", at(5, 3), pipeline.Sound, "", pipeline.Panicked},
		{"negative", at(-1, 3), pipeline.Sound, "", pipeline.Panicked},
		{"too far", at(3, end+1), pipeline.Sound, "", pipeline.Panicked},
		{"beyond", at(end+1, end+2), pipeline.Sound, "", pipeline.Panicked},
		{"starts within ñ", at(12, 13), pipeline.Sound, "", pipeline.Panicked},
		{"ends within ñ", at(10, 12), pipeline.Sound, "", pipeline.Panicked},
		{"operator panics", []pipeline.Span{{Start: 0, End: 5, Category: category(t, "DATE")}}, pipeline.Sound, "", pipeline.Panicked},
		{"sound again", spans[:1], pipeline.Sound, "Visto por [PERSON] en Reus", pipeline.Sound},
	}
	var b pipeline.Batch
	for _, c := range cases {
		b.Text.Append(text)
		b.Spans.Append(c.spans...)
		b.Reason = append(b.Reason, c.before)
	}
	o := mask.Options{Policy: map[pipeline.Category]mask.Operator{category(t, "DATE"): broken{}}}
	if err := mask.New(o).New()(&b); err != nil {
		t.Fatal(err)
	}
	for i, c := range cases {
		if got := string(b.Masked.At(i)); got != c.want || b.Reason[i] != c.after {
			t.Errorf("%s: got %q, %v", c.what, got, b.Reason[i])
		}
	}
	b.Spans.Reset()
	if mask.New(o).New()(&b) == nil {
		t.Error("no error for a batch without spans")
	}
}

// drawNote draws a text and spans that fit it.
func drawNote(t *rapid.T) ([]byte, []pipeline.Span) {
	text := []byte(rapid.StringOf(rapid.SampledFrom([]rune("abñ ·€👍\n"))).Draw(t, "text"))
	var borders []int32
	for i := range string(text) {
		if rapid.Bool().Draw(t, "border") {
			borders = append(borders, int32(i))
		}
	}
	borders = append(borders, int32(len(text)))
	var spans []pipeline.Span
	for i := 1; i < len(borders); i++ {
		if rapid.Bool().Draw(t, "span") {
			c := rapid.IntRange(0, pipeline.Categories()+1).Draw(t, "category")
			spans = append(spans, pipeline.Span{Start: borders[i-1], End: borders[i], Category: pipeline.Category(c)})
		}
	}
	return text, spans
}

// Outside the spans the masked text is the text, byte for byte, and Places
// and Offset tell where.
func TestGapsStay(t *testing.T) {
	operators := []mask.Operator{mask.Placeholder, mask.Suppress, mask.Keep, mask.Stars}
	rapid.Check(t, func(t *rapid.T) {
		o := mask.Options{Policy: map[pipeline.Category]mask.Operator{}, Default: rapid.SampledFrom(operators).Draw(t, "default")}
		for c := range pipeline.Categories() {
			if rapid.IntRange(0, 3).Draw(t, "in policy") == 0 {
				o.Policy[pipeline.Category(c)] = rapid.SampledFrom(operators).Draw(t, "operator")
			}
		}
		text, spans := drawNote(t)
		m := mask.NewMasker(o)
		masked, ok := m.Mask(nil, text, spans)
		if !ok || !utf8.Valid(masked) {
			t.Fatalf("ok %v, valid %v", ok, utf8.Valid(masked))
		}
		places := m.Places(nil, text, spans)
		old, now := int32(0), int32(0)
		for i, s := range append(spans, pipeline.Span{Start: int32(len(text)), End: int32(len(text))}) {
			p := pipeline.Span{Start: int32(len(masked))}
			if i < len(places) {
				p = places[i]
			}
			if !bytes.Equal(text[old:s.Start], masked[now:p.Start]) {
				t.Fatalf("gap before span %d differs", i)
			}
			for k := old + 1; k < s.Start; k++ {
				if got := mask.Offset(spans, places, k); got != now+k-old {
					t.Fatalf("byte %d went to %d", k, got)
				}
			}
			if got := mask.Offset(spans, places, s.Start); got != p.Start {
				t.Fatalf("start %d went to %d, want %d", s.Start, got, p.Start)
			}
			old, now = s.End, p.End
		}
	})
}

// Masking the places of the masked text with the same placeholders changes
// nothing more: the spans of the masked text are right.
func TestPlacesAreSpans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text, spans := drawNote(t)
		m := mask.NewMasker(mask.Options{})
		masked, _ := m.Mask(nil, text, spans)
		again, ok := m.Mask(nil, masked, m.Places(nil, text, spans))
		if diff := cmp.Diff(masked, again); !ok || diff != "" {
			t.Fatalf("%v %s", ok, diff)
		}
	})
}

// benchmarked returns a batch of a thousand notes, one in eight with spans.
func benchmarked(t testing.TB) *pipeline.Batch {
	text, spans := parse(t, "Pac. de 54 años, acude por dolor lumbar de 3 d de evolución. Visto por [PERSON:Anna Pou] en [LOCATION:Reus]. Exploración: dolor a la palpación. Pauto ibuprofeno y control.")
	batch := new(pipeline.Batch)
	for i := range 1000 {
		batch.Text.Append(text)
		batch.Reason = append(batch.Reason, pipeline.Sound)
		if i%8 > 0 {
			batch.Spans.Append()
			continue
		}
		batch.Spans.Append(spans...)
	}
	return batch
}

// TestAllocations wants none in steady state, for every operator.
func TestAllocations(t *testing.T) {
	for _, name := range []string{"placeholder", "suppress", "mask", "keep"} {
		op, err := mask.ParseOperator(name)
		if err != nil {
			t.Fatal(err)
		}
		batch, policy := benchmarked(t), map[pipeline.Category]mask.Operator{}
		for c := range pipeline.Categories() {
			policy[pipeline.Category(c)] = op
		}
		do := mask.New(mask.Options{Policy: policy}).New()
		if n := testing.AllocsPerRun(10, func() {
			batch.Masked.Reset()
			err = errors.Join(err, do(batch))
		}); n != 0 || err != nil {
			t.Errorf("%s: %v allocations in 1000 notes, %v", name, n, err)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	batch := benchmarked(b)
	do := mask.New(mask.Options{}).New()
	b.SetBytes(int64(len(batch.Text.Data)))
	b.ReportAllocs()
	for b.Loop() {
		batch.Masked.Reset()
		if err := do(batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Len()), "ns/note")
}
