package mask_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/markup"
	"github.com/velum-health/velum/pipeline/secret"
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
	text, spans, err := markup.Parse(marked)
	if err != nil {
		t.Fatal(err)
	}
	return text, spans
}

func chain(t testing.TB, text string) *mask.Chain {
	t.Helper()
	c, err := mask.ParseChain(text)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// testKey returns a key from a file, as users have it.
func testKey(t testing.TB, fill byte) *secret.Key {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, bytes.Repeat([]byte{fill, 'q'}, 16), 0o400); err != nil {
		t.Fatal(err)
	}
	key, err := secret.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newMasker(t testing.TB, o mask.Options) *mask.Masker {
	t.Helper()
	m, err := mask.NewMasker(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// masked masks marked text.
func masked(t testing.TB, m *mask.Masker, n mask.Note, marked string) string {
	t.Helper()
	n.Text, n.Spans = parse(t, marked)
	got, places, ok := m.Mask([]byte("x"), nil, m.NewNote(n))
	if !ok || len(places) != len(n.Spans) {
		t.Fatalf("%q: %v, %d places", marked, ok, len(places))
	}
	return string(got[1:])
}

func TestMask(t *testing.T) {
	policy := map[pipeline.Category]*mask.Chain{
		category(t, "DATE"):      chain(t, "keep"),
		category(t, "TELEPHONE"): chain(t, "suppress"),
		category(t, "DNI"):       chain(t, "mask"),
		category(t, "PATIENT"):   chain(t, "placeholder form=numbered"),
		category(t, "DOCTOR"):    chain(t, "placeholder form=untyped"),
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
		{"stars", "DNI [DNI:1234 ñ]!", "DNI ****************!"},
		{"wide characters", "ñ [PERSON:Núria Solà] · [LOCATION:L'Hospitalet]…", "ñ [PERSON] · [LOCATION]…"},
		{"untyped", "Dr. [DOCTOR:Pou]", "Dr. [PHI]"},
		{"numbered", "[PATIENT:Núria Solà] y [PATIENT:Joan Pou]; [PATIENT:NURIA], [PATIENT:Pou, Joan] y [PATIENT:Mas]", "[PATIENT_1] y [PATIENT_2]; [PATIENT_1], [PATIENT_2] y [PATIENT_3]"},
		{"numbered again", "[PATIENT:Joan Pou]", "[PATIENT_1]"},
	} {
		m := newMasker(t, mask.Options{Policy: policy})
		text, spans := parse(t, c.marked)
		got, places, ok := m.Mask([]byte("x"), nil, m.NewNote(mask.Note{Text: text, Spans: spans}))
		if !ok || string(got) != "x"+c.want {
			t.Errorf("%s: got %q, %v", c.what, got, ok)
		}
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

func TestKeyed(t *testing.T) {
	o := mask.Options{
		Policy: map[pipeline.Category]*mask.Chain{
			category(t, "PERSON"): chain(t, "hash scope=archive digits=6"), category(t, "DOCTOR"): chain(t, "hash"),
		},
		Key: testKey(t, 1),
	}
	m := newMasker(t, o)
	first := masked(t, m, mask.Note{ID: []byte("1")}, "[PERSON:Núria Solà] y [PERSON:NURIA SOLA]")
	if len(first) != len("[PERSON:123456] y [PERSON:123456]") || first[:15] != first[18:] {
		t.Errorf("hashes: %q", first)
	}
	if again := masked(t, m, mask.Note{ID: []byte("2")}, "[PERSON:Núria Solà]"); again != first[:15] {
		t.Errorf("another note of the archive: %q", again)
	}
	a := masked(t, m, mask.Note{ID: []byte("1"), Patient: []byte("p")}, "[DOCTOR:Pou]")
	b := masked(t, m, mask.Note{ID: []byte("2"), Patient: []byte("p")}, "[DOCTOR:POU]")
	c := masked(t, m, mask.Note{ID: []byte("2"), Patient: []byte("q")}, "[DOCTOR:Pou]")
	if a != b || a == c {
		t.Errorf("hashes of a patient: %q, %q; of another: %q", a, b, c)
	}
	o.Purpose = "another"
	if other := masked(t, newMasker(t, o), mask.Note{ID: []byte("1")}, "[PERSON:Núria Solà]"); other == first[:15] {
		t.Errorf("another purpose: %q", other)
	}
	o.Purpose, o.Key = "", testKey(t, 2)
	if other := masked(t, newMasker(t, o), mask.Note{ID: []byte("1")}, "[PERSON:Núria Solà]"); other == first[:15] {
		t.Errorf("another key: %q", other)
	}
	o.Key = nil
	if _, err := mask.NewMasker(o); !errors.Is(err, mask.ErrNoKey) {
		t.Errorf("no key: %v", err)
	}
	if _, err := mask.New(o); !errors.Is(err, mask.ErrNoKey) {
		t.Errorf("no key: %v", err)
	}
}

func TestDefault(t *testing.T) {
	m := newMasker(t, mask.Options{
		Policy:  map[pipeline.Category]*mask.Chain{category(t, "PERSON"): nil},
		Default: chain(t, "suppress"),
	})
	if got := masked(t, m, mask.Note{}, "[PERSON:Anna] [DATE:hoy]"); got != " " {
		t.Errorf("got %q", got)
	}
	text, spans := parse(t, "[PERSON:Anna] [DATE:hoy]")
	for _, c := range []pipeline.Category{pipeline.None, pipeline.Category(pipeline.Categories()), 255} {
		spans[0].Category = c
		m := newMasker(t, mask.Options{Default: chain(t, "keep")})
		if got, _, _ := m.Mask(nil, nil, &mask.Note{Text: text, Spans: spans[:1]}); string(got) != "[PHI] hoy" {
			t.Errorf("category %d: got %q", c, got)
		}
	}
}

func TestParseChain(t *testing.T) {
	for text, want := range map[string]string{
		"placeholder": "", "keep": "", "mask | suppress": "", "hash scope=note digits=4": "", "placeholder form=numbered": "",
		"Keep":                 `"Keep" is none of`,
		"":                     "an operator is missing",
		"mask |":               "an operator is missing",
		"suppress x=1":         "suppress has no options",
		"hash scop=note":       `hash has no option "scop"; known: scope, digits`,
		"hash scope=village":   `hash: scope="village" is none of note, patient, archive`,
		"hash digits=3":        "hash: digits wants a whole number from 4 to 64",
		"hash digits=4 digits": "hash: digits comes twice",
		"mask|mask|mask|mask|mask|mask|mask|mask": "8 operators in a chain, the most is 7",
	} {
		_, err := mask.ParseChain(text)
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
		if _, ok := errors.AsType[*mask.PolicyError](err); err != nil && !ok {
			t.Errorf("%q: %T", text, err)
		}
	}
	for _, line := range mask.Describe() {
		if _, err := mask.ParseChain(line[0]); err != nil || line[1] == "" {
			t.Errorf("%q as it is described: %v", line[0], err)
		}
	}
}

// broken panics half way; unable never can.
type broken struct{}

func (broken) Replace(dst []byte, _ *mask.Note, v mask.Value) ([]byte, bool) {
	dst = append(dst, v.Words...)
	return append(dst, v.Words[len(v.Words)]), true
}

type unable struct{}

func (unable) Replace(dst []byte, _ *mask.Note, v mask.Value) ([]byte, bool) {
	return append(dst, v.Words...), false
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
		{"operator cannot", []pipeline.Span{{Start: 0, End: 5, Category: category(t, "AGE")}}, pipeline.Sound, "[AGE] por Añe en Reus", pipeline.Sound},
		{"sound again", spans[:1], pipeline.Sound, "Visto por [PERSON] en Reus", pipeline.Sound},
	}
	var b pipeline.Batch
	for _, c := range cases {
		b.Text.Append(text)
		b.Spans.Append(c.spans...)
		b.Reason = append(b.Reason, c.before)
	}
	counts := new(mask.Counts)
	o := mask.Options{Counts: counts, Policy: map[pipeline.Category]*mask.Chain{
		category(t, "DATE"): mask.NewChain("broken", func() mask.Operator { return broken{} }),
		category(t, "AGE"):  mask.NewChain("unable", func() mask.Operator { return unable{} }),
	}}
	step, err := mask.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := step.New()(&b); err != nil {
		t.Fatal(err)
	}
	if b.Places.Len() != b.Len() {
		t.Fatalf("%d lists of places", b.Places.Len())
	}
	for i, c := range cases {
		if got := string(b.Masked.At(i)); got != c.want || b.Reason[i] != c.after {
			t.Errorf("%s: got %q, %v", c.what, got, b.Reason[i])
		}
		places := b.Places.At(i)
		if want := len(c.spans); c.after == pipeline.Sound && len(places) != want || c.after != pipeline.Sound && len(places) != 0 {
			t.Errorf("%s: %d places", c.what, len(places))
		}
		for _, p := range places {
			if put := b.Masked.At(i)[p.Start:p.End]; string(put) != "["+p.Category.String()+"]" {
				t.Errorf("%s: %q in its place", c.what, put)
			}
		}
	}
	want := map[mask.Use]int64{
		{Category: spans[0].Category, Operator: "placeholder"}:                  2,
		{Category: spans[1].Category, Operator: "placeholder"}:                  1,
		{Category: category(t, "AGE"), Operator: "placeholder", Fallback: true}: 1,
	}
	if diff := cmp.Diff(want, counts.Take()); diff != "" {
		t.Error(diff)
	}
	b.Spans.Reset()
	if step.New()(&b) == nil {
		t.Error("no error for a batch without spans")
	}
}

// seer writes what it sees of the note.
type seer struct{}

func (seer) Replace(dst []byte, n *mask.Note, _ mask.Value) ([]byte, bool) {
	return fmt.Appendf(dst, "%s %s %v %d %v", n.ID, n.Patient, n.Language, n.Day, n.Dated), true
}

// TestNote: an operator sees id, patient, date and language of the note.
func TestNote(t *testing.T) {
	text, spans := parse(t, "[PERSON:Añe]")
	for _, c := range []struct {
		what          string
		patient, date pipeline.Column
		want          string
	}{
		{"no columns", pipeline.Column{}, pipeline.Column{}, "7  ca 0 false"},
		{"text", pipeline.Column{Kind: pipeline.BytesColumn}, pipeline.Column{Kind: pipeline.BytesColumn}, "7 2014-03-05T10:00 ca 16134 true"},
		{"number and date", pipeline.Column{Kind: pipeline.Int64Column, Fixed: []uint64{31}}, pipeline.Column{Kind: pipeline.DateColumn, Fixed: []uint64{16134}}, "7 31 ca 16134 true"},
		{"before 1970", pipeline.Column{Kind: pipeline.Int32Column, Fixed: []uint64{31}}, pipeline.Column{Kind: pipeline.TimestampColumn, Fixed: []uint64{1<<64 - 1}}, "7 31 ca -1 true"},
		{"a number is no date", pipeline.Column{Kind: pipeline.Int32Column, Fixed: []uint64{31}}, pipeline.Column{Kind: pipeline.Int32Column, Fixed: []uint64{16134}}, "7 31 ca 0 false"},
		{"null", pipeline.Column{Valid: []bool{false}}, pipeline.Column{Valid: []bool{false}}, "7  ca 0 false"},
	} {
		b := pipeline.Batch{Reason: []pipeline.Reason{pipeline.Sound}, Language: []pipeline.Language{pipeline.Catalan}}
		b.ID.Append([]byte("7"))
		b.Text.Append(text)
		b.Spans.Append(spans...)
		if c.what != "no columns" {
			for k, column := range []*pipeline.Column{&c.patient, &c.date} {
				column.Name = []string{"patient_id", "date"}[k]
				column.Bytes.Append([]byte("2014-03-05T10:00"))
				if column.Valid == nil {
					column.Valid = []bool{true}
				}
				b.Extra = append(b.Extra, *column)
			}
		}
		step, err := mask.New(mask.Options{Default: mask.NewChain("seer", func() mask.Operator { return seer{} }), PatientColumn: "patient_id", DateColumn: "date"})
		if err != nil {
			t.Fatal(err)
		}
		if err := step.New()(&b); err != nil || string(b.Masked.At(0)) != c.want {
			t.Errorf("%s: %v, %q, want %q", c.what, err, b.Masked.At(0), c.want)
		}
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

// Outside the spans the masked text is the text, byte for byte, and the places
// tell where.
func TestGapsStay(t *testing.T) {
	operators := []string{"placeholder", "suppress", "keep", "mask", "placeholder form=numbered"}
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) *mask.Chain {
			c, err := mask.ParseChain(rapid.SampledFrom(operators).Draw(t, label))
			if err != nil {
				t.Fatal(err)
			}
			return c
		}
		o := mask.Options{Policy: map[pipeline.Category]*mask.Chain{}, Default: draw("default")}
		for c := range pipeline.Categories() {
			if rapid.IntRange(0, 3).Draw(t, "in policy") == 0 {
				o.Policy[pipeline.Category(c)] = draw("operator")
			}
		}
		text, spans := drawNote(t)
		m, err := mask.NewMasker(o)
		if err != nil {
			t.Fatal(err)
		}
		masked, places, ok := m.Mask(nil, nil, &mask.Note{Text: text, Spans: spans})
		if !ok || !utf8.Valid(masked) || len(places) != len(spans) {
			t.Fatalf("ok %v, valid %v, %d places", ok, utf8.Valid(masked), len(places))
		}
		old, now := int32(0), int32(0)
		for i, s := range append(spans, pipeline.Span{Start: int32(len(text)), End: int32(len(text))}) {
			p := pipeline.Span{Start: int32(len(masked))}
			if i < len(places) {
				p = places[i]
			}
			if !bytes.Equal(text[old:s.Start], masked[now:p.Start]) {
				t.Fatalf("gap before span %d differs", i)
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
		m, err := mask.NewMasker(mask.Options{})
		if err != nil {
			t.Fatal(err)
		}
		masked, places, _ := m.Mask(nil, nil, &mask.Note{Text: text, Spans: spans})
		again, _, ok := m.Mask(nil, nil, &mask.Note{Text: masked, Spans: places})
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

// TestAllocations wants none in steady state, for every operator but encrypt,
// whose library allocates a value.
func TestAllocations(t *testing.T) {
	for _, line := range mask.Describe() {
		if strings.HasPrefix(line[0], "encrypt") {
			continue
		}
		batch := benchmarked(t)
		step, err := mask.New(mask.Options{Default: chain(t, line[0]), Key: testKey(t, 1)})
		if err != nil {
			t.Fatal(err)
		}
		do := step.New()
		if n := testing.AllocsPerRun(10, func() {
			batch.Masked.Reset()
			batch.Places.Reset()
			err = errors.Join(err, do(batch))
		}); n != 0 || err != nil {
			t.Errorf("%s: %v allocations in 1000 notes, %v", line[0], n, err)
		}
	}
}

func BenchmarkStep(b *testing.B) {
	for _, line := range mask.Describe() {
		b.Run(strings.Fields(line[0])[0], func(b *testing.B) {
			batch := benchmarked(b)
			step, err := mask.New(mask.Options{Default: chain(b, line[0]), Key: testKey(b, 1)})
			if err != nil {
				b.Fatal(err)
			}
			do := step.New()
			b.SetBytes(int64(len(batch.Text.Data)))
			b.ReportAllocs()
			for b.Loop() {
				batch.Masked.Reset()
				batch.Places.Reset()
				if err := do(batch); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch.Len()), "ns/note")
		})
	}
}
