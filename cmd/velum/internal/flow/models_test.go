package flow

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/word/morph"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// TestTextOptions: how labelled notes are read by configuration.
func TestTextOptions(t *testing.T) {
	for in, want := range map[string]rune{"": 0, `\t`: '\t', ";": ';', "·": '·'} {
		if got, err := delimiter(in); got != want || err != nil {
			t.Errorf("%q: %q, %v", in, got, err)
		}
	}
	if _, err := delimiter(";;"); exit.CodeOf(err) != exit.Config {
		t.Error(err)
	}
	if of, err := categoriesOf(nil); of != nil || err != nil {
		t.Error("no labels are no map")
	}
	of, err := categoriesOf(map[string]string{"PER": "PERSON", "MISC": "None"})
	if err != nil {
		t.Fatal(err)
	}
	for label, want := range map[string]string{"PER": "PERSON", "DATE": "DATE", "MISC": pipeline.None.String()} {
		if c, err := of(label); err != nil || c.String() != want {
			t.Errorf("%s: %v, %v", label, c, err)
		}
	}
	if _, err := of("NOBODY"); err == nil {
		t.Error("an unknown label is known")
	}
	for name, remedy := range map[string]string{"PERSN": "PERSON", "Q": "NONE (leaves it out)"} {
		_, err := categoriesOf(map[string]string{"x": name})
		if _, says := exit.Explain(err); exit.CodeOf(err) != exit.Config || !strings.Contains(says, remedy) {
			t.Errorf("%s: %v; %s", name, err, says)
		}
	}
	for _, c := range []struct {
		set    string
		id, tx string
		fails  bool
	}{{"", "", "", false}, {"read.columns.id=a", "a", "", false}, {"read.columns.id=[a, b]", "", "", true}, {"read.columns.text=nota", "", "nota", false}, {"read.skip_unknown=true", "", "", false}} {
		var set []string
		if c.set != "" {
			set = []string{c.set}
		}
		cfg, err := option.Load(option.Sources{}.With(set))
		if err != nil {
			t.Fatal(err)
		}
		o, err := TextOptions(cfg)
		if (err != nil) != c.fails || !c.fails && (o.IDColumn != c.id || o.TextColumn != c.tx || o.SkipUnknown != strings.Contains(c.set, "skip")) {
			t.Errorf("%s: %+v, %v", c.set, o, err)
		}
	}
}

const goldNotes = `{"id":"1","text":"Viene Ana Puig de Reus","spans":[{"start":6,"end":14,"label":"PERSON"},{"start":18,"end":22,"label":"TOWN"}]}
{"id":"2","text":"Tos","spans":[]}
`

// TestLabelled: labelled notes are handed on by file, those that are kept, with what was left out, and their digest tells them from others.
func TestLabelled(t *testing.T) {
	t.Chdir(t.TempDir())
	put := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	put("gold.jsonl", goldNotes)
	put("bad.jsonl", "{\n")
	cfg, err := option.Load(option.Sources{}.With([]string{"read.skip_unknown=true", "tag.fast=true", "run.workers=1"}))
	if err != nil {
		t.Fatal(err)
	}
	all := Labelled{Paths: []string{"gold.jsonl", "gold.jsonl"}, Config: cfg}
	ids, err := all.IDs()
	if err != nil || !slices.Equal(ids, []string{"1", "2", "1", "2"}) || all.Unknown != 2 || len(all.Digest) != 20 {
		t.Errorf("%q, %d unknown, %s, %v", ids, all.Unknown, all.Digest, err)
	}
	some := Labelled{Paths: all.Paths, Config: cfg, Keep: map[string]bool{"2": true}}
	if ids, err := some.IDs(); err != nil || !slices.Equal(ids, []string{"2", "2"}) || some.Digest == all.Digest {
		t.Errorf("%q, %v", ids, err)
	}
	put("moved.jsonl", strings.Replace(goldNotes, `"end":14`, `"end":13`, 1))
	moved := Labelled{Paths: []string{"moved.jsonl", "moved.jsonl"}, Config: cfg}
	if _, err := moved.IDs(); err != nil || moved.Digest == all.Digest {
		t.Errorf("another span, the same digest: %v", err)
	}
	if _, err := (&Labelled{Paths: []string{"gold.jsonl"}}).IDs(); exit.CodeOf(err) != exit.Config {
		t.Errorf("an unknown label: %v", err)
	}
	for _, path := range []string{"bad.jsonl", "nowhere.jsonl"} {
		if _, err := (&Labelled{Paths: []string{path}, Config: cfg}).IDs(); exit.CodeOf(err) != exit.Config {
			t.Errorf("%s: %v", path, err)
		}
	}
	f, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	s := score.New(score.Options{Draws: -1})
	if err := all.Tag(t.Context(), f, s); err != nil || s.Report().Notes != 4 || s.Report().GoldSpans != 2 {
		t.Errorf("%+v, %v", s.Report(), err)
	}
	given, err := (&Labelled{Paths: []string{"gold.jsonl"}, Config: cfg}).Given()
	if err != nil || len(given.Spans) != 2 || len(given.Spans["1"]) != 1 || given.Spans["1"][0].End != 14 || len(given.Spans["2"]) > 0 {
		t.Errorf("%+v, %v", given, err)
	}
	if _, err := (&Labelled{Paths: []string{"nowhere.jsonl"}, Config: cfg}).Given(); err == nil {
		t.Error("no file, no error")
	}
}

// TestModels: what can be done with which kind of model, and what is wrong with files of models.
func TestModels(t *testing.T) {
	t.Chdir(t.TempDir())
	cfg, err := option.Load(option.Sources{}.With([]string{"tag.fast=true"}))
	if err != nil {
		t.Fatal(err)
	}
	m, err := OpenModel(cfg.Tag.Model, cfg)
	if err != nil {
		t.Fatal(err)
	}
	kind := m.Header().Kind
	if err := m.Need("x", func(k *Kind) bool { return k.Name == kind }); err != nil {
		t.Error(err)
	}
	err = m.Need("x", func(k *Kind) bool { return k.Name == "morph" || k.Name == "svm" || k.Name == "rules" })
	if _, remedy := exit.Explain(err); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), "x: "+m.Name+" is of kind "+kind) || !strings.Contains(remedy, "svm") || !strings.Contains(remedy, " or ") {
		t.Errorf("%v; %s", err, remedy)
	}
	if got := KindsThat(func(*Kind) bool { return false }); got != "" {
		t.Error(got)
	}
	if h := m.Header(); len(h.RecallDial) > 0 {
		if at, err := m.Bias(h.RecallDial[0].Recall); err != nil || at.Recall < h.RecallDial[0].Recall {
			t.Errorf("%+v, %v", at, err)
		}
	}
	if _, err := m.Bias(0.999999); exit.CodeOf(err) != exit.Config {
		t.Errorf("nobody reaches that: %v", err)
	}
	for _, name := range embedded.Names()[:1] {
		if data, err := ModelData(name); err != nil || len(data) == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.WriteFile("x.velum", []byte("no model"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	if data, err := ModelData("x.velum"); err != nil || string(data) != "no model" {
		t.Errorf("%q, %v", data, err)
	}
	for name, says := range map[string]string{"nobody": `no model "nobody"`, "./nobody.velum": "nobody.velum", "folder": ""} {
		if _, err := ModelData(name); exit.CodeOf(err) != exit.Config || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := OpenModel(name, cfg); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := ParseModel("x", []byte("no model"), cfg); err == nil || !strings.HasPrefix(err.Error(), "x: ") {
		t.Error(err)
	}
	data, err := m.File()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseModel("again", data, cfg); err != nil || again.Name != "again" || again.Labels != m.Labels || again.Header().Kind != kind {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := ParseModel("morph", embedded.Morph(), cfg); exit.CodeOf(err) != exit.Integrity || !strings.Contains(err.Error(), "which is no tagger") {
		t.Error(err)
	}
	for kind, want := range map[string]string{morph.KindPOS: "morph.POS", morph.KindLemma: "morph.Lemma"} {
		if s, err := openStored(kind, embedded.Morph()); err != nil || fmt.Sprintf("%T", s) != want {
			t.Errorf("%s: %T, %v", kind, s, err)
		}
		if _, err := openStored(kind, []byte("x")); err == nil {
			t.Errorf("%s: no error", kind)
		}
	}
	if _, err := openStored("nothing", nil); err == nil || !strings.Contains(err.Error(), `"nothing" is not known`) {
		t.Error(err)
	}
	for names, want := range map[string]string{"PERSON DATE": "primary-care", "NOMBRE_SUJETO_ASISTENCIA": "meddocan", "PHI": untyped, "PERSON PHI": "primary-care", "PERSON NOMBRE_SUJETO_ASISTENCIA": "!"} {
		var categories []pipeline.Category
		for name := range strings.FieldsSeq(names) {
			c, err := pipeline.ParseCategory(name)
			if err != nil {
				t.Fatal(err)
			}
			categories = append(categories, c)
		}
		if got, err := labelSetOf(categories); got != strings.Trim(want, "!") || (err != nil) != (want == "!") {
			t.Errorf("%s: %q, %v", names, got, err)
		}
	}
}
