package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/models/dictionary"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/features"
	"github.com/velum-health/velum/models/patterns"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/teach"
)

type trainFlags struct {
	kind       string
	train, dev []string
	labels     string
	init, out  string
	name       string
	stop       bool
	choose     bool

	dictionary dictionaryFlags
	lookups    lookupFlags
}

func newTrainCommand(a *app) *cobra.Command {
	var f trainFlags
	c := &cobra.Command{
		Use:   "train --kind crf|morph --train PATH [--dev PATH] [--init MODEL] --out FILE",
		Short: "Train a model from labelled notes",
		Long: `Train a tagger from labelled notes in any format. With --dev the model is scored on
notes that it has not seen, and its recall dial is set: which bias towards masking
reaches which masking recall, at which precision. The scores stand in the model.

A template may look forms up: parts of speech and lemmas (pos, lemma), clusters
(cluster/NAME; --clusters). What is looked up becomes part of the model file. Of several
clusterings --choose-clusters takes the one with the best strict F1 on a held-out fifth
of the training notes, then trains on all; the scores stand in the model. A line "use wc lm
mph pos c" stands for groups of the papers, the templates boot, ngrid, vigi and inv for
their whole sets. --kind morph makes a table of parts of speech and lemmas from
treebanks in CoNLL-U.

A dictionary needs no labelled notes: it takes names from lists (velum gazetteer build)
and how often an archive holds them. --dev then chooses its thresholds.`,
		Example: `  velum train --kind crf --train meddocan/train --dev meddocan/dev --labels meddocan --out m.velum
  velum train --kind crf --train gold.jsonl,selected.jsonl --init primary-care --out next.velum
  velum train --kind dictionary --gazetteer names.velum --archive notes.jsonl --dev few.jsonl --out names-model.velum
  velum train --train train/ --template boot --clusters wc=words.velum:1024 --out boot.velum
  velum train --train train/ --template boot --clusters wc=words.velum:128,wc=words.velum:1024 --choose-clusters --out boot.velum
  velum train --kind morph --train es.conllu.gz,ca.conllu.gz --out morph.velum`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.train(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.kind, "kind", "crf", "kind of model: crf, dictionary or morph")
	flags.StringSliceVar(&f.train, "train", nil, "`PATHS` of labelled notes to learn from")
	flags.StringSliceVar(&f.dev, "dev", nil, "`PATHS` of labelled notes to score on")
	flags.StringVar(&f.labels, "labels", "", "label `SET` of the model; gold of other schemes is mapped (default: that of the profile)")
	flags.StringVar(&f.init, "init", "", "`MODEL` whose weights to begin with")
	flags.StringVar(&f.out, "out", "", "model `FILE` to write")
	flags.StringVar(&f.name, "name", "", "name of the model (default: that of the file)")
	flags.BoolVar(&f.stop, "early-stop", false, "stop when the F1 on --dev no longer rises, and keep the best model")
	f.dictionary.add(flags)
	f.lookups.add(c)
	flags.BoolVar(&f.choose, "choose-clusters", false, "offer the --clusters one at a time, and none, and take what is best on a held-out fifth of --train")
	a.optionFlag(c, "template", "train.template")
	a.optionFlag(c, "scheme", "train.scheme")
	a.optionFlag(c, "l1", "train.l1")
	a.optionFlag(c, "l2", "train.l2")
	a.optionFlag(c, "iterations", "train.iterations")
	a.optionFlag(c, "workers", "run.workers")
	return c
}

// training is one run of `velum train`.
type training struct {
	*app
	cfg    *Config
	flags  *trainFlags
	tagSet *pipeline.TagSet
	corpus *crf.Corpus
	taught *teach.Sink
	offers []crf.Offer // of clusterings, where one was chosen
	cold   bool        // do not begin at the weights of --init
}

func (a *app) train(ctx context.Context, f *trainFlags) error {
	if f.kind == dictionary.Kind {
		return a.trainDictionary(ctx, f)
	}
	if f.kind != "crf" && f.kind != "morph" {
		return exitf(exitConfig, "known: crf, dictionary, morph", "--kind: unknown kind %q", f.kind)
	}
	if len(f.train) == 0 || f.out == "" {
		return exitf(exitConfig, "see `velum train --help`", "--train and --out are needed")
	}
	if f.kind == "morph" {
		return a.trainMorph(f)
	}
	if f.choose && len(f.lookups.clusters) == 0 {
		return exitf(exitConfig, "offer some with --clusters", "--choose-clusters: there is nothing to choose from")
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	t := &training{app: a, cfg: cfg, flags: f}
	if err := t.prepare(); err != nil {
		return err
	}
	if err := t.learnAll(ctx); err != nil {
		return err
	}
	m, err := t.fit(ctx)
	if err != nil {
		return err
	}
	if len(f.dev) > 0 {
		if err := t.judge(ctx, m); err != nil {
			return err
		}
	}
	return t.save(m)
}

// learnAll adds the training notes to the corpus, after the choice of clusters.
func (t *training) learnAll(ctx context.Context) error {
	gold := labelled{paths: t.flags.train}
	teach := func(t *training, notes *labelled) error {
		return notes.each(func(src pipeline.Source) error { return t.teach(ctx, src) })
	}
	if t.flags.choose {
		if err := t.choose(ctx, gold, 0, teach); err != nil {
			return err
		}
	}
	return teach(t, &gold)
}

// prepare reads the template and makes the empty corpus.
func (t *training) prepare() error {
	if t.flags.labels == "" {
		t.flags.labels = t.cfg.Profile
	}
	set, err := pipeline.Labels(t.flags.labels)
	if err != nil {
		return exit(exitConfig, err, "name one with --labels")
	}
	scheme, err := pipeline.ParseScheme(t.cfg.Train.Scheme)
	if err != nil {
		return exit(exitConfig, err, "")
	}
	t.tagSet = &pipeline.TagSet{Scheme: scheme, Categories: set.Categories}
	text, err := t.template()
	if err != nil {
		return exit(exitConfig, err, "")
	}
	template, err := features.Parse(text)
	if err == nil {
		template, err = t.flags.lookups.narrow(template)
	}
	if err != nil {
		return exit(exitConfig, fmt.Errorf("template: %w", err), "")
	}
	lists, err := t.cfg.featureLists()
	if err != nil {
		return err
	}
	r := resources(lists)
	from, err := t.starts()
	if err != nil {
		return err
	}
	if err := t.flags.lookups.fill(&r, template, from...); err != nil {
		return err
	}
	t.corpus = crf.NewCorpus(template, t.tagSet, r)
	t.taught = teach.New(teach.Options{TagSet: t.tagSet, Corpus: t.corpus, Patterns: finder(t.cfg)})
	return nil
}

// starts returns the resources of the model to begin with, and of the embedded
// model that has the template's name: their clusters serve whoever gives none.
func (t *training) starts() (from []features.Resources, err error) {
	name := cmp.Or(t.cfg.Train.Template, t.cfg.Profile)
	for _, name := range []string{t.flags.init, name} {
		if _, shipped := embedded.Model(name); name == "" || !shipped && name != t.flags.init {
			continue
		}
		cfg := t.cfg
		if name != t.flags.init {
			cfg = new(Config) // a shipped model knows the shipped lists only; its clusters need none
		}
		m, err := openModel(name, cfg)
		if err != nil {
			return nil, err
		}
		if m.crf != nil { // fit says what is wrong with a dictionary
			from = append(from, m.crf.Resources())
		}
	}
	return from, nil
}

// template returns the text of the feature template: a file, a built-in name,
// or by default the one of the profile.
func (t *training) template() (string, error) {
	name := t.cfg.Train.Template
	if name == "" {
		name = t.cfg.Profile
	}
	if text, err := configs.Template(name); err == nil {
		return string(text), nil
	}
	text, err := os.ReadFile(name)
	return string(text), err
}

// learn adds the notes of one path to the corpus.
func (t *training) learn(ctx context.Context, path string) error {
	src, err := openNotes("from", "", path, read.TextOptions{})
	if err != nil {
		return err
	}
	defer src.Close()
	return t.teach(ctx, src)
}

// teach adds the notes of a source to the corpus.
func (t *training) teach(ctx context.Context, src pipeline.Source) (err error) {
	t.taught.Map, err = intoScheme(t.flags.labels)
	if err != nil {
		return exit(exitConfig, err, "")
	}
	return inputError(pipeline.Run(ctx, src, teachPlan(t.cfg), t.taught, nil))
}

// fit trains the model.
func (t *training) fit(ctx context.Context) (*model, error) {
	c := &t.cfg.Train
	progress := t.newProgress("train", "iterations", int64(c.Iterations))
	defer progress.End()
	o := crf.TrainOptions{
		L1: c.L1, L2: c.L2, MinCount: c.MinCount, Iterations: c.Iterations, Memory: c.History, Delta: c.Tolerance,
		Workers: workers(t.cfg), Prune: float32(c.Prune), About: t.about(),
		Progress: func(p crf.Progress) bool {
			progress.Add(1)
			progress.Say("objective %.1f, %d weights, %.0f s", p.Objective, p.Weights, p.Seconds)
			return ctx.Err() == nil
		},
	}
	if t.flags.init != "" && !t.cold {
		from, err := openModel(t.flags.init, t.cfg)
		if err != nil {
			return nil, err
		}
		if err := from.needCRF("--init"); err != nil {
			return nil, err
		}
		o.Init, o.About.Parent = from.crf, hex.EncodeToString(from.sha256[:])
	}
	if t.flags.stop && len(t.flags.dev) > 0 {
		o.DevEvery = devEvery
		o.Patience = max(1, c.Patience/devEvery)
		o.Dev = func(m *crf.Model) (float64, error) { return t.strictF1(ctx, m, t.dev()) }
	}
	trained, err := crf.Train(t.corpus, o)
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, err
	}
	return t.wrap(trained)
}

// devEvery is how many iterations lie between two scores on the development
// notes: scoring MEDDOCAN dev takes as long as two or three iterations.
const devEvery = 5

// modelName is the name of the model, by default that of its file.
func (f *trainFlags) modelName() string {
	return cmp.Or(f.name, strings.TrimSuffix(filepath.Base(f.out), filepath.Ext(f.out)))
}

func (t *training) about() crf.Header {
	return crf.Header{Name: t.flags.modelName(), Fingerprints: map[string]string{patternsPrint: patterns.Version}, Offers: t.offers}
}

func (t *training) wrap(trained *crf.Model) (*model, error) {
	labels, err := labelSetOf(trained.TagSet().Categories)
	return &model{name: t.flags.out, labels: labels, crf: trained, tagSet: trained.TagSet(), header: trained.Header()}, err
}

// save writes the model beside its place and renames it.
func (t *training) save(m *model) error {
	data, err := m.file()
	if err != nil {
		return err
	}
	if err := pipeline.WriteFile(nil, t.flags.out, data); err != nil {
		return err
	}
	sum := sha256.Sum256(data)
	features, weights := m.crf.Size()
	h := m.crf.Header()
	result := map[string]any{
		"model": t.flags.out, "sha256": hex.EncodeToString(sum[:]), "bytes": len(data), "features": features, "weights": weights,
		"notes": t.taught.Notes, "tokens": t.taught.Tokens, "spans": t.taught.Spans, "off_border": t.taught.OffBorder,
		"training": h.Training, "scores": h.Scores, "recall_dial": h.RecallDial,
	}
	if len(h.Offers) > 0 {
		result["offers"] = h.Offers
	}
	if t.json {
		return json.NewEncoder(t.out).Encode(result)
	}
	if _, err := fmt.Fprintf(t.out, "%s: %.1f MB, %d features, %d weights, from %d notes with %d spans (%d not at token borders)\n",
		t.flags.out, float64(len(data))/1e6, features, weights, t.taught.Notes, t.taught.Spans, t.taught.OffBorder); err != nil {
		return err
	}
	if err := printOffers(t.out, h.Offers); err != nil {
		return err
	}
	return printScoresOf(t.out, h)
}
