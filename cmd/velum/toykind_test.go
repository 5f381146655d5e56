package main

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
)

// A toy kind of tagger: it knows the words that it saw inside spans, and tags
// each as an entity of one token. It wants no template and has no dial. What
// stands between here and toyRow would be its package; toyRow is its row.

type toyHeader struct {
	tagger.Header
	Words map[string]pipeline.Tag `json:"words"`
}

type toyModel struct {
	header toyHeader
	set    *pipeline.TagSet
}

func (m *toyModel) Header() tagger.Header    { return m.header.Header }
func (m *toyModel) TagSet() *pipeline.TagSet { return m.set }
func (m *toyModel) WithHeader(h tagger.Header) tagger.Model {
	n := *m
	n.header.Name, n.header.Scores, n.header.RecallDial, n.header.Measured, n.header.Parent = h.Name, h.Scores, h.RecallDial, h.Measured, h.Parent
	return &n
}
func (m *toyModel) NewLabeller(tagger.LabelOptions) tagger.Labeller {
	return toyLabeller(m.header.Words)
}
func (m *toyModel) Write(w io.Writer) error        { return modelfile.Write(w, m.header) }
func (m *toyModel) MarshalHeader() ([]byte, error) { return json.MarshalIndent(m.header, "", "  ") }
func (m *toyModel) Size() (features, weights int)  { return len(m.header.Words), 0 }

type toyLabeller map[string]pipeline.Tag

func (l toyLabeller) Label(text []byte, tokens []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) float32 {
	for i, t := range tokens {
		tags[i] = l[string(text[t.Start:t.End])]
	}
	return 0.9
}

type toyTrainer struct {
	set   *pipeline.TagSet
	words map[string]pipeline.Tag
	about tagger.Training
}

func (t *toyTrainer) Add(text []byte, tokens []pipeline.Token, _ []pipeline.Match, tags []pipeline.Tag) error {
	t.about.Sequences++
	for i, k := range tokens {
		if tags[i] != pipeline.O && t.set.Starts(tags[i]) {
			t.words[string(text[k.Start:k.End])] = tags[i]
		}
	}
	return nil
}

func (t *toyTrainer) Work() (unit string, times int) { return "words", len(t.words) }

func (t *toyTrainer) Train(o tagger.TrainOptions) (tagger.Model, error) {
	m := &toyModel{set: t.set, header: toyHeader{Header: o.About, Words: t.words}}
	m.header.Kind, m.header.Scheme, m.header.Training = "toy", t.set.Scheme.String(), t.about
	for _, c := range t.set.Categories {
		m.header.Categories = append(m.header.Categories, c.String())
	}
	if from, ok := o.Init.(*toyModel); ok {
		m.header.Words = maps.Clone(from.header.Words)
		maps.Copy(m.header.Words, t.words)
	}
	for range t.words {
		o.Progress("a word")
	}
	return m, nil
}

func loadToy(f *modelfile.File, _ *flow.Opening) (tagger.Model, error) {
	m := new(toyModel)
	err := f.Header(&m.header)
	if err == nil {
		m.set, err = pipeline.ParseTagSet(m.header.Scheme + " " + strings.Join(m.header.Categories, " "))
	}
	return m, err
}

var toyRow = flow.Kind{Name: "toy", Load: loadToy, Learns: true}

func newToyTrainer(m *train.Materials) (tagger.Trainer, error) {
	return &toyTrainer{set: m.TagSet, words: map[string]pipeline.Tag{}}, nil
}

// TestToyKind: a kind that is a row of the table is a kind to every verb.
func TestToyKind(t *testing.T) {
	flow.Kinds, train.Trainers["toy"] = append(flow.Kinds, toyRow), newToyTrainer
	defer func() {
		flow.Kinds = flow.Kinds[:len(flow.Kinds)-1]
		delete(train.Trainers, "toy")
	}()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	velum := func(want exit.Code, args ...string) string {
		t.Helper()
		var out, errs bytes.Buffer
		if code := start(append(args, "--quiet"), &out, &errs, nil); code != want {
			t.Fatalf("velum %v: exit code %d, want %d: %s", args, code, want, errs.String())
		}
		return out.String() + errs.String()
	}
	has := func(text string, wants ...string) {
		t.Helper()
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("want %q in:\n%s", want, text)
			}
		}
	}
	for name, args := range map[string][]string{"gold.jsonl": {"--seed", "1", "--notes", "150"}, "dev.jsonl": {"--seed", "2", "--notes", "80"}} {
		velum(0, append([]string{"teach", "synth", "--split", "train", "--density", "5", "--out", at(name)}, args...)...)
	}
	velum(0, "teach", "synth", "--seed", "3", "--notes", "200", "--split", "train", "--density", "5", "--out", at("in"), "--to", "archive")

	has(velum(0, "teach", "train", "--kind", "toy", "--train", at("gold.jsonl"), "--dev", at("dev.jsonl"), "--out", at("toy.velum")), "from 150 notes", "masked_entities_recall")
	has(velum(0, "teach", "train", "--kind", "toy", "--train", at("dev.jsonl"), "--init", at("toy.velum"), "--out", at("more.velum")), "from 80 notes")
	has(velum(exit.Config, "teach", "train", "--kind", "crf", "--train", at("gold.jsonl"), "--init", at("toy.velum"), "--out", at("x.velum")), "--init", "is of kind toy")
	has(velum(exit.Config, "teach", "train", "--kind", "none", "--train", at("gold.jsonl"), "--out", at("x.velum")), "known: bilstm, crf, dictionary, ensemble, inverse, morph, svm, toy, words")
	has(velum(0, "model", "promote", at("toy.velum"), "--models", at("models")), "is in use")
	has(velum(0, "model", "list", "--models", at("models")), "toy")
	has(velum(0, "model", "inspect", "--model", at("toy.velum")), `"kind": "toy"`, `"words"`)
	velum(0, "model", "tag", "--model", at("toy.velum"), "--in", at("dev.jsonl"), "--out", at("tagged.jsonl"))
	has(velum(0, "prove", "evaluate", "--gold", at("dev.jsonl"), "--model", at("models"), "--draws", "-1"), "masking recall by entity")
	has(velum(exit.Config, "prove", "evaluate", "--gold", at("dev.jsonl"), "--model", at("toy.velum"), "--recall", "0.9"), "tag.recall", "use a model of kind crf or svm or bilstm or ensemble or inverse")
	velum(0, "run", "--model", at("toy.velum"), "--in", at("in"), "--out", at("out"))
	report, err := os.ReadFile(at("out/report.json"))
	if err != nil {
		t.Fatal(err)
	}
	has(string(report), `"kind": "toy"`)
	has(velum(0, "teach", "learn", "--set", "learn.kind=toy", "--in", at("in"), "--gold", at("gold.jsonl"), "--dev", at("dev.jsonl"), "--out", at("learned"),
		"--slice", "100", "--turns", "1", "--k", "20"), "strict F1")
	has(velum(0, "model", "inspect", "--model", at("learned/turn-01/model.velum")), `"kind": "toy"`)
	has(velum(exit.Config, "teach", "learn", "--set", "learn.kind=dictionary", "--in", at("in"), "--gold", at("gold.jsonl"), "--out", at("x")), "crf or svm or bilstm or ensemble or inverse or toy")
	if slices.ContainsFunc(flow.Kinds[:len(flow.Kinds)-1], func(k flow.Kind) bool { return k.Name == "toy" }) {
		t.Error("the toy is a kind of the product")
	}
}
