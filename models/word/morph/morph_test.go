package morph_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/learn/morphtrain"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/word/morph"
)

// The treebank of the tests: invented sentences.
const toyTreebank = `# sent_id = 1
1	La	el	DET	_	_	_	_	_	_
2	rosa	rosa	NOUN	_	_	_	_	_	_
3-4	del	_	_	_	_	_	_	_	_
3	de	de	ADP	_	_	_	_	_	_
4	el	el	DET	_	_	_	_	_	_
5	jardín	jardín	NOUN	_	_	_	_	_	_
5.1	es	ser	AUX	_	_	_	_	_	_

1	Rosa	Rosa	PROPN	_	_	_	_	_	_
2	vive	vivir	VERB	_	_	_	_	_	_
3	en	en	ADP	_	_	_	_	_	_
4	Vallfosca	Vallfosca	PROPN	_	_	_	_	_	_

1	La	el	DET	_	_	_	_	_	_
2	niña	niño	NOUN	_	_	_	_	_	_
3	come	comer	VERB	_	_	_	_	_	_
4	rosas	rosa	NOUN	_	_	_	_	_	_
5	casas	casa	NOUN	_	_	_	_	_	_
6	mesas	mesa	NOUN	_	_	_	_	_	_
7	corre	correr	VERB	_	_	_	_	_	_
8	barre	barrer	VERB	_	_	_	_	_	_
`

func toy(t testing.TB) *morph.Model {
	t.Helper()
	var all [][]morphtrain.Word
	for s, err := range morphtrain.Sentences(strings.NewReader(toyTreebank)) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	m, err := morphtrain.Train(all, morphtrain.Options{Name: "toy"})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestModel(t *testing.T) {
	m, err := morph.Open((morph.POS{Model: toy(t)}).Data())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		form, pos, lemma string
		known            bool
	}{
		{"la", "DET", "el", true},
		{"LA", "DET", "el", true},
		{"Del", "ADP+DET", "de+el", true},
		{"rosa", "NOUN", "rosa", true},
		{"Rosa", "PROPN", "Rosa", true},
		{"Vallserena", "PROPN", "Vallserena", false}, // by its capital
		{"cosas", "NOUN", "cosa", false},             // by its ending
		{"cierre", "VERB", "cierrer", false},
		{strings.Repeat("é", 40) + "osas", "NOUN", strings.Repeat("é", 40) + "osa", false}, // longer than the stack's room
	} {
		pos, lemma := string(m.AppendPOS([]byte("x"), []byte(c.form))), string(m.AppendLemma([]byte("x"), []byte(c.form)))
		if pos != "x"+c.pos || lemma != "x"+c.lemma || m.Knows([]byte(c.form)) != c.known {
			t.Errorf("%q: %s %q, want %s %q behind an x", c.form, pos, lemma, c.pos, c.lemma)
		}
	}
	if h := m.Header(); h.Name != "toy" || h.Kind != morph.Kind || h.Tokens != 16 {
		t.Errorf("header %+v", h)
	}
}

func TestShapeOf(t *testing.T) {
	same := [][]string{{"rosa", "rOSA", "ñ"}, {"Rosa", "RoSA", "Ángela"}, {"ROSA", "Ñ", "R."}, {"12", "a1", "R2d2"}, {"", ".", "/-", "\u200b"}}
	of := map[byte]int{}
	for i, forms := range same {
		for _, form := range forms {
			shape := morph.ShapeOf([]byte(form))
			if j, seen := of[shape]; seen && j != i {
				t.Errorf("%q has the shape of %q", form, same[j][0])
			}
			of[shape] = i
		}
	}
	if len(of) != len(same) {
		t.Errorf("%d shapes, want %d", len(of), len(same))
	}
	if morph.ShapeOf([]byte("Rosa")) != morph.ShapeFirst {
		t.Error("Rosa does not begin with a capital")
	}
}

func TestEnding(t *testing.T) {
	for _, c := range []struct {
		form string
		n    int
		want string
	}{{"jardín", 0, ""}, {"jardín", 1, "n"}, {"jardín", 2, "ín"}, {"jardín", 6, "jardín"}, {"jardín", 7, "jardín"}, {"", 2, ""}, {"ñ", 1, "ñ"}} {
		if got := string(morph.Ending([]byte(c.form), c.n)); got != c.want {
			t.Errorf("the last %d of %q: %q, want %q", c.n, c.form, got, c.want)
		}
	}
	if got := string(morph.AppendLower([]byte("A"), []byte("ÁRBOL Ñu"))); got != "Aárbol ñu" {
		t.Errorf("in lower case: %q", got)
	}
}

func TestRule(t *testing.T) {
	for _, c := range []struct {
		rule       morph.Rule
		form, want string
	}{
		{morph.Rule{}, "CASA", "casa"},
		{morph.Rule{Keep: true}, "CASA", "CASA"},
		{morph.Rule{Cut: 1, Add: "o"}, "Niña", "niño"},
		{morph.Rule{Cut: 2, Add: "x"}, "caÑÍ", "cax"},
		{morph.Rule{Cut: 2, Add: "x"}, "ab", "x"},
		{morph.Rule{Cut: 3, Add: "x"}, "ab", "ab"}, // shorter than the cut
		{morph.Rule{Cut: 1, Keep: true}, "PÉ", "P"},
	} {
		if got := string(c.rule.Apply([]byte("-"), []byte(c.form), []byte(strings.ToLower(c.form)))); got != "-"+c.want {
			t.Errorf("%+v of %s: %q, want -%s", c.rule, c.form, got, c.want)
		}
	}
}

// TestTables has files whose tables do not fit: none is opened.
func TestTables(t *testing.T) {
	words := func(values ...uint32) []byte {
		var b []byte
		for _, v := range values {
			b = append(b, byte(v), byte(v>>8), byte(v>>16), byte(v>>24))
		}
		return b
	}
	sound := morph.Header{Kind: morph.Kind, Tags: []string{"NOUN", "VERB"}, Rules: []morph.Rule{{}, {Cut: 1}}}
	for _, c := range []struct {
		name               string
		header             morph.Header
		bucket, key, value []byte
		ok                 bool
	}{
		{"sound", sound, words(0, 1, 1), words(5), words(1 | 1<<8), true},
		{"sound, four buckets", sound, words(0, 0, 1, 1, 2), words(5, 6), words(0, 1), true},
		{"no buckets", sound, words(0), nil, nil, false},
		{"one bucket", sound, words(0, 1), words(5), words(0), false},
		{"three buckets", sound, words(0, 0, 0, 1), words(5), words(0), false},
		{"more keys than values", sound, words(0, 1, 2), words(5, 6), words(0), false},
		{"first bucket", sound, words(1, 1, 1), words(5), words(0), false},
		{"last bucket", sound, words(0, 1, 1), words(5, 6), words(0, 0), false},
		{"order", sound, words(0, 2, 1), words(5), words(0), false},
		{"tag", sound, words(0, 1, 1), words(5), words(2), false},
		{"rule", sound, words(0, 1, 1), words(5), words(2 << 8), false},
		{"no tags", morph.Header{Kind: morph.Kind, Rules: sound.Rules}, words(0, 0, 0), nil, nil, false},
		{"no rules", morph.Header{Kind: morph.Kind, Tags: sound.Tags}, words(0, 0, 0), nil, nil, false},
		{"256 tags", morph.Header{Kind: morph.Kind, Tags: make([]string, 256), Rules: sound.Rules}, words(0, 1, 1), words(5), words(255), true},
		{"257 tags", morph.Header{Kind: morph.Kind, Tags: make([]string, 257), Rules: sound.Rules}, words(0, 1, 1), words(5), words(255), false},
		{"another kind", morph.Header{Kind: "crf", Tags: sound.Tags, Rules: sound.Rules}, words(0, 1, 1), words(5), words(0), false},
	} {
		var b bytes.Buffer
		if err := modelfile.Write(&b, c.header, modelfile.Section{Name: "bucket", Data: c.bucket}, modelfile.Section{Name: "key", Data: c.key}, modelfile.Section{Name: "value", Data: c.value}); err != nil {
			t.Fatal(err)
		}
		m, err := morph.Open(b.Bytes())
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
		if err == nil {
			m.AppendLemma(nil, []byte("rosas")) // no look-up leaves the tables
		}
	}
}

// Short forms and endings of all shapes and tags have keys of their own.
func TestKeysDiffer(t *testing.T) {
	seen := map[uint64]string{}
	see := func(key uint64, name string) {
		if seen[key] != "" {
			t.Fatalf("%s and %s have one key", seen[key], name)
		}
		seen[key] = name
	}
	for a := range 256 {
		for _, form := range [][]byte{{byte(a)}, {'x', byte(a)}, {byte(a), 'y', 'z'}} {
			see(morph.FormKey(form), fmt.Sprintf("form %q", form))
			for under := range byte(30) {
				see(morph.EndingKey(morph.SeedTag, under, form), fmt.Sprintf("shape %d %q", under, form))
				see(morph.EndingKey(morph.SeedEnding, under, form), fmt.Sprintf("tag %d %q", under, form))
			}
		}
	}
}

// A file that is whole but no lexicon gives an error and no panic.
func TestOpenDamaged(t *testing.T) {
	f, err := modelfile.Parse((morph.POS{Model: toy(t)}).Data())
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.Sections() {
		for _, data := range [][]byte{nil, s.Data[:len(s.Data)/2&^3], append(slices.Clone(s.Data), s.Data...), bytes.Repeat([]byte{0xFF}, len(s.Data))} {
			sections := slices.Clone(f.Sections())
			sections[i].Data = data
			var b bytes.Buffer
			if err := modelfile.Write(&b, toy(t).Header(), sections...); err != nil {
				t.Fatal(err)
			}
			m, err := morph.Open(b.Bytes())
			if err != nil {
				continue
			}
			if s.Name != "key" { // other hashes are another lexicon
				t.Errorf("section %s with %d bytes: no error", s.Name, len(data))
			}
			m.AppendLemma(nil, []byte("rosas"))
		}
	}
	var b bytes.Buffer
	if err := modelfile.Write(&b, morph.Header{Kind: "crf"}, f.Sections()...); err != nil {
		t.Fatal(err)
	}
	if _, err := morph.Open(b.Bytes()); err == nil {
		t.Error("another kind of file: no error")
	}
}

// Both halves are slots of a tagger and need no memory.
func TestSlots(t *testing.T) {
	m := toy(t)
	var slots = []interface {
		features.Slot
		features.Stored
	}{morph.POS{Model: m}, morph.Lemma{Model: m}}
	buf, form := make([]byte, 0, 64), []byte("Niñas")
	for i, want := range []string{"PROPN", "Niñas"} {
		if got := string(slots[i].Value(nil, form)); got != want {
			t.Errorf("%s: %q, want %q", slots[i].Kind(), got, want)
		}
		if n := testing.AllocsPerRun(20, func() { buf = slots[i].Value(buf[:0], form) }); n != 0 {
			t.Errorf("%s: %v allocations", slots[i].Kind(), n)
		}
		if !bytes.Equal(slots[i].Data(), (morph.POS{Model: m}).Data()) {
			t.Errorf("%s: other data", slots[i].Kind())
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add((morph.POS{Model: toy(f)}).Data())
	f.Fuzz(func(t *testing.T, data []byte) {
		if m, err := morph.Open(data); err == nil {
			m.AppendPOS(nil, []byte("rosas"))
			m.AppendLemma(nil, []byte("rosas"))
		}
	})
}

func BenchmarkPOSAndLemma(b *testing.B) {
	m := toy(b)
	forms := [][]byte{[]byte("rosas"), []byte("Vallserena"), []byte("del"), []byte("12/03/2024")}
	buf := make([]byte, 0, 64)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		buf = m.AppendPOS(buf[:0], forms[i%4])
		buf = m.AppendLemma(buf[:0], forms[i%4])
	}
}
