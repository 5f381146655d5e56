package crf_test

import (
	"bytes"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/learn/crftrain"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/crf"
	"github.com/velum-health/velum/models/tag/crf/crftest"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// toySlot gives the words of its data the value x.
type toySlot struct {
	kind string
	data []byte
}

func (s toySlot) Kind() string { return s.kind }
func (s toySlot) Data() []byte { return s.data }
func (s toySlot) Value(dst, form []byte) []byte {
	if bytes.Contains(s.data, form) {
		return append(dst, 'x')
	}
	return dst
}

var errToy = errors.New("not for this reader")

func openToy(kind string, data []byte) (features.Stored, error) {
	switch {
	case len(data) == 0:
		return nil, errToy
	case strings.HasPrefix(kind, "toy"):
		return toySlot{kind, data}, nil
	}
	return nil, errToy
}

const slottedTemplate = `version 1
word 0
pos -1..1
lemma 0
cluster/a 0
cluster/empty 0
`

func slottedModel(t *testing.T) (*crf.Model, *modelfile.File) {
	t.Helper()
	names, others := []byte("Marta Pau Iris"), []byte("Vallfosca")
	r := features.Resources{
		Slots: map[string]features.Slot{
			"pos": toySlot{"toypos", names}, "lemma": toySlot{"toylemma", bytes.Clone(names)}, "cluster/a": toySlot{"toy", others},
			"cluster/unused": toySlot{"toy", []byte("nobody asks")},
		},
	}
	set := crftest.Set(pipeline.BIO)
	c := crftrain.NewCorpus(crftest.Parsed(t, slottedTemplate), set, r)
	for _, n := range crftest.Notes(t, set, 40, 6) {
		if err := c.Add(n.Text, n.Tokens, n.Matches, n.Tags); err != nil {
			t.Fatal(err)
		}
	}
	m, err := crftrain.Train(c, crftrain.TrainOptions{L2: .5, Iterations: 30})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Parse(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return m, f
}

// A model with slots is one file: what it was trained with is in it, once for
// each content, and nothing else.
func TestResources(t *testing.T) {
	m, f := slottedModel(t)
	var got []string
	for _, s := range f.Sections()[6:] {
		got = append(got, s.Name+"="+string(s.Data))
	}
	if want := "resource0=Marta Pau Iris,resource1=Vallfosca"; strings.Join(got, ",") != want {
		t.Errorf("sections %s, want %s", got, want)
	}
	loaded, err := crf.Load(f, features.Resources{Open: openToy, Slots: map[string]features.Slot{"cluster/empty": toySlot{"toy", []byte("Marta")}}})
	if err != nil {
		t.Fatal(err)
	}
	if missing := loaded.Missing(); len(missing) != 1 || missing[0] != "cluster/empty" {
		t.Errorf("empty slots %v", missing)
	}
	notes := crftest.Notes(t, m.TagSet(), 40, 8)
	if x, y := accuracy(t, m, notes), accuracy(t, loaded, notes); x != y {
		t.Errorf("accuracy %v, after loading %v", x, y)
	}
	var again, first bytes.Buffer
	if err := errors.Join(loaded.Write(&again), m.Write(&first)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), first.Bytes()) {
		t.Error("the loaded model writes other bytes")
	}
}

// Whatever is wrong with a resource is an error.
func TestResourcesDamaged(t *testing.T) {
	m, f := slottedModel(t)
	if _, err := crf.Load(f, features.Resources{}); err == nil {
		t.Error("nothing to open resources with: no error")
	}
	for _, tt := range []struct {
		name   string
		change func(h *tagger.Header, sections []modelfile.Section) []modelfile.Section
	}{
		{"section missing", func(_ *tagger.Header, s []modelfile.Section) []modelfile.Section { return s[:len(s)-1] }},
		{"sections exchanged", func(_ *tagger.Header, s []modelfile.Section) []modelfile.Section {
			s[6].Data, s[7].Data = s[7].Data, s[6].Data
			return s
		}},
		{"section empty", func(h *tagger.Header, s []modelfile.Section) []modelfile.Section {
			s[7].Data = nil
			h.Fingerprints["cluster/a"] = strconv.FormatUint(xxh3.Hash(nil), 16)
			return s
		}},
		{"group not in the template", func(h *tagger.Header, s []modelfile.Section) []modelfile.Section {
			h.Resources[0].Group = "cluster/b"
			return s
		}},
		{"group without a slot", func(h *tagger.Header, s []modelfile.Section) []modelfile.Section {
			h.Resources[0].Group, h.Fingerprints["word"] = "word", h.Fingerprints["pos"]
			return s
		}},
		{"kind not known", func(h *tagger.Header, s []modelfile.Section) []modelfile.Section {
			h.Resources[0].Kind = "other"
			return s
		}},
	} {
		var b bytes.Buffer
		if err := m.Write(&b); err != nil {
			t.Fatal(err)
		}
		copied, err := modelfile.Parse(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		var h tagger.Header
		if err := copied.Header(&h); err != nil {
			t.Fatal(err)
		}
		sections := tt.change(&h, copied.Sections())
		b = bytes.Buffer{}
		if err := modelfile.Write(&b, h, sections...); err != nil {
			t.Fatal(err)
		}
		bad, err := modelfile.Parse(b.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := crf.Load(bad, features.Resources{Open: openToy}); err == nil {
			t.Errorf("%s: no error", tt.name)
		}
	}
}

// bare cannot be stored.
type bare struct{}

func (bare) Value(dst, _ []byte) []byte { return append(dst, 'x') }

// A model that nobody could load is not made.
func TestResourceNotStored(t *testing.T) {
	set := crftest.Set(pipeline.BIO)
	c := crftrain.NewCorpus(crftest.Parsed(t, "version 1\nword\npos"), set, features.Resources{Slots: map[string]features.Slot{"pos": bare{}}})
	n := crftest.New(t, set, "con [PERSON:Iris]")
	if err := c.Add(n.Text, n.Tokens, n.Matches, n.Tags); err != nil {
		t.Fatal(err)
	}
	if _, err := crftrain.Train(c, crftrain.TrainOptions{L2: .5, Iterations: 2}); err == nil {
		t.Error("no error")
	}
}
