package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/models/dictionary"
	"github.com/velum-health/velum/models/gazetteer"
	"github.com/velum-health/velum/models/modelfile"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
)

// dictionaryFlags are the flags of `velum train --kind dictionary`.
type dictionaryFlags struct {
	method                      string
	gazetteers, negative, notes []string
	classes                     []string
	category                    string
}

func (f *dictionaryFlags) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.method, "method", "divergence", "dictionary: how it decides, divergence or binary")
	flags.StringSliceVar(&f.gazetteers, "gazetteer", nil, "dictionary: `FILES` of names, from `velum gazetteer build`")
	flags.StringSliceVar(&f.negative, "negative", nil, "dictionary: `FILES` of words that are no names")
	flags.StringSliceVar(&f.notes, "archive", nil, "dictionary: `PATHS` of notes in which the names are counted; no labels needed")
	flags.StringSliceVar(&f.classes, "classes", []string{"GivenName", "Surname"}, "dictionary: classes of the lists that are tagged")
	flags.StringVar(&f.category, "category", "PERSON", "dictionary: what they are tagged as")
}

// newDictionary makes a model of a file of kind dictionary.
func newDictionary(name string, f *modelfile.File, sum [32]byte) (*model, error) {
	d, err := dictionary.Load(f)
	if err != nil {
		return nil, exit(exitIntegrity, fmt.Errorf("%s: %w", name, err), "train it again")
	}
	h := d.Header()
	m := &model{name: name, sha256: sum, dictionary: d, tagSet: d.TagSet(), header: crf.Header{
		Kind: h.Kind, Name: h.Name, Scheme: h.Scheme, Categories: h.Categories, Scores: h.Scores,
	}}
	m.labels, err = labelSetOf(m.tagSet.Categories)
	return m, err
}

// dictionaryTraining is one run of `velum train --kind dictionary`.
type dictionaryTraining struct {
	*app
	cfg     *Config
	flags   *trainFlags
	counter *dictionary.Counter
}

func (a *app) trainDictionary(ctx context.Context, f *trainFlags) error {
	d := &f.dictionary
	method := dictionary.Method(d.method)
	switch {
	case len(d.gazetteers) == 0 || f.out == "":
		return exitf(exitConfig, "see `velum train --help`", "--gazetteer and --out are needed")
	case method != dictionary.Binary && method != dictionary.Divergence:
		return exitf(exitConfig, "known: divergence, binary", "--method: unknown method %q", d.method)
	case method == dictionary.Divergence && len(d.notes) == 0:
		return exitf(exitConfig, "name notes with --archive; labels are not needed", "--archive is needed: divergence compares with how often notes hold a word")
	case len(f.train) > 0:
		return exitf(exitConfig, "name labelled notes with --dev: they choose the thresholds", "--train: a dictionary is not trained on labelled notes")
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	t := &dictionaryTraining{app: a, cfg: cfg, flags: f, counter: dictionary.NewCounter()}
	m, err := t.words(ctx, method)
	if err != nil {
		return err
	}
	if len(f.dev) > 0 {
		if m, err = t.tune(ctx, m, method); err != nil {
			return err
		}
	}
	return t.save(m)
}

// words makes the model with the default thresholds.
func (t *dictionaryTraining) words(ctx context.Context, method dictionary.Method) (*dictionary.Model, error) {
	d := &t.flags.dictionary
	var classes gazetteer.Class
	for _, name := range d.classes {
		c, err := gazetteer.ParseClass(name)
		if err != nil {
			return nil, exit(exitConfig, fmt.Errorf("--classes: %w", err), classRemedy(name))
		}
		classes |= c
	}
	if c, err := pipeline.ParseCategory(d.category); err != nil || c == pipeline.None {
		return nil, exitf(exitConfig, "categories: "+strings.Join(labelNames("primary-care"), ", "), "--category: unknown category %q", d.category)
	}
	names, prints, err := openTables(d.gazetteers)
	if err != nil {
		return nil, err
	}
	others, _, err := openTables(d.negative)
	if err != nil {
		return nil, err
	}
	for _, path := range d.notes {
		if err := t.read(ctx, path, counting{t.counter}); err != nil {
			return nil, err
		}
	}
	positive, positives := dictionary.Words(classes, names...)
	if len(positive) == 0 {
		return nil, exitf(exitConfig, "look at `velum gazetteer show FILE`", "--gazetteer: no entries of the classes %s", strings.Join(d.classes, ", "))
	}
	negative, negatives := dictionary.Words(^gazetteer.Class(0), others...)
	seen := t.counter
	if method == dictionary.Binary {
		seen = nil
	}
	name := t.flags.name
	if name == "" {
		name = strings.TrimSuffix(filepath.Base(t.flags.out), filepath.Ext(t.flags.out))
	}
	return dictionary.New(dictionary.Header{
		Name: name, Categories: []string{d.category}, Params: dictionary.Defaults(method), Archive: t.counter.Tokens(), Gazetteers: prints,
	}, dictionary.Frequencies(positive, positives, negative, negatives, seen))
}

// openTables opens files of compiled lists; prints are their fingerprints.
func openTables(paths []string) (tables []*gazetteer.Table, prints []string, err error) {
	for _, path := range paths {
		t, err := openTable(path)
		if err != nil {
			return nil, nil, err
		}
		tables, prints = append(tables, t), append(prints, fmt.Sprintf("%x", t.Fingerprint()))
	}
	return tables, prints, nil
}

// read moves notes, tokenized, into a sink.
func (t *dictionaryTraining) read(ctx context.Context, path string, to pipeline.Sink) error {
	src, err := openNotes("from", "", path, read.TextOptions{SkipUnknown: true})
	if err != nil {
		return err
	}
	defer src.Close()
	progress := t.newProgress("read", "notes", 0)
	defer progress.End()
	return inputError(pipeline.Run(ctx, src, teachPlan(t.cfg), watched{to, progress}, nil))
}

// counting is a sink that counts words.
type counting struct{ *dictionary.Counter }

func (c counting) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] == pipeline.Sound {
			c.Add(b.Text.At(i), b.Tokens.At(i))
		}
	}
	return nil
}

// tune chooses thresholds on the labelled notes of --dev. The scores in the
// model are those on these notes: higher than on others.
func (t *dictionaryTraining) tune(ctx context.Context, m *dictionary.Model, method dictionary.Method) (*dictionary.Model, error) {
	labels, err := labelSetOf(m.TagSet().Categories)
	if err != nil {
		return nil, err
	}
	names, err := intoScheme(labels)
	if err != nil {
		return nil, exit(exitConfig, err, "")
	}
	to := tuning{dictionary.NewTuner(m), names}
	for _, path := range t.flags.dev {
		if err := t.read(ctx, path, to); err != nil {
			return nil, err
		}
	}
	p := to.Tune(method)
	if m, err = m.With(p); err != nil {
		return nil, err
	}
	precision, recall, f1 := to.F1(p)
	return m.WithScores(map[string]float64{"strict_precision": precision, "strict_recall": recall, "strict_f1": f1}), nil
}

// tuning is a sink that hands labelled notes to a tuner.
type tuning struct {
	*dictionary.Tuner
	names func(pipeline.Category) pipeline.Category
}

func (s tuning) Put(b *pipeline.Batch) error {
	var gold []pipeline.Span
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			continue
		}
		gold = append(gold[:0], b.Gold.At(i)...)
		for k := range gold {
			gold[k].Category = s.names(gold[k].Category)
		}
		s.Add(b.Text.At(i), b.Tokens.At(i), gold)
	}
	return nil
}

func (t *dictionaryTraining) save(m *dictionary.Model) error {
	data, err := (&model{dictionary: m}).file()
	if err != nil {
		return err
	}
	if err := pipeline.WriteFile(nil, t.flags.out, data); err != nil {
		return err
	}
	h := m.Header()
	if t.json {
		return json.NewEncoder(t.out).Encode(map[string]any{"message_type": "train", "model": t.flags.out, "bytes": len(data), "header": h})
	}
	if _, err := fmt.Fprintf(t.out, "%s: %.1f MB, %s model of %d words, %d words counted in the archive\n",
		t.flags.out, float64(len(data))/1e6, h.Params.Method, h.Words, h.Archive); err != nil {
		return err
	}
	return printScoresOf(t.out, crf.Header{Scores: h.Scores})
}
