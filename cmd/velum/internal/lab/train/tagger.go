package train

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/form/patterns"
	"github.com/velum-health/velum/models/tag/ensemble"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/teach"
)

// Training is the training of one tagger on labelled notes, of any kind:
//
//	Prepare ─> Teach, notes after notes ─> Fit
type Training struct {
	*console.Console
	cfg     *option.Config
	Options *Options
	kind    *flow.Kind
	tagSet  *pipeline.TagSet
	trainer tagger.Trainer
	Taught  *teach.Sink
}

// New returns a Training with these options; Prepare checks them.
func New(c *console.Console, cfg *option.Config, o *Options) *Training {
	return &Training{Console: c, cfg: cfg, Options: o}
}

// trainTagger trains a tagger, scores it and writes it.
func trainTagger(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	if kind, ok := flow.KindNamed(o.Kind); !ok || !kind.Without || len(o.Train) > 0 || o.Out == "" {
		if err := o.need(); err != nil {
			return err
		}
	}
	t := New(c, cfg, o)
	if err := t.Prepare(); err != nil {
		return err
	}
	if err := t.learnAll(ctx); err != nil {
		return err
	}
	m, err := t.Fit(ctx)
	if err != nil {
		return err
	}
	if len(o.Dev) > 0 {
		err = t.judge(ctx, m)
	} else if o.Scores != "" {
		err = t.lend(m)
	}
	if err != nil {
		return err
	}
	return t.save(m)
}

// learnAll adds the training notes to the corpus.
func (t *Training) learnAll(ctx context.Context) error {
	gold := flow.Labelled{Paths: t.Options.Train, Config: t.cfg}
	err := t.Teach(ctx, &gold, teach.Ages)
	flow.WarnUnknown(t.Console, strings.Join(gold.Paths, ", "), gold.Unknown)
	return err
}

// Prepare checks the options and creates the trainer without notes.
func (t *Training) Prepare() error {
	var ok bool
	if t.kind, ok = flow.KindNamed(t.Options.Kind); !ok || !t.kind.Learns {
		return unknownKind(t.Options.Kind)
	}
	t.Options.Labels = cmp.Or(t.Options.Labels, t.kind.Labels, t.cfg.Profile)
	var into func(pipeline.Category) pipeline.Category
	var err error
	if t.tagSet, into, err = Tags(t.cfg, t.Options.Labels); err != nil {
		return err
	}
	m := &Materials{Config: t.cfg, TagSet: t.tagSet, Open: func(name string) (tagger.Model, error) {
		m, err := flow.OpenModel(name, t.cfg)
		if err != nil {
			return nil, err
		}
		return m.Model, nil
	}}
	if t.kind.Template {
		if err := t.template(m); err != nil {
			return err
		}
	}
	if t.trainer, err = Trainers[t.kind.Name](m); err != nil {
		return exit.Misconfigured(err, "")
	}
	t.Taught = teach.New(teach.Options{TagSet: t.tagSet, Map: into, Corpus: t.trainer, Patterns: flow.Finder(t.cfg)})
	return nil
}

// Tags returns the tag set of a label set in the scheme of the configuration, and the function that maps categories
// into it.
func Tags(cfg *option.Config, labels string) (*pipeline.TagSet, func(pipeline.Category) pipeline.Category, error) {
	into, err := flow.IntoLabels(labels)
	if err != nil {
		return nil, nil, err
	}
	set, err := pipeline.Labels(labels)
	if err != nil {
		return nil, nil, err
	}
	scheme, err := pipeline.ParseScheme(cfg.Train.Scheme)
	if err != nil {
		return nil, nil, exit.Misconfigured(err, "")
	}
	return &pipeline.TagSet{Scheme: scheme, Categories: set.Categories}, into, nil
}

// template reads the feature template and fills its slots.
func (t *Training) template(m *Materials) error {
	text, err := t.templateText()
	if err != nil {
		return exit.Misconfigured(err, "")
	}
	m.Template, err = features.Parse(text)
	if err == nil {
		m.Template, err = t.Options.Lookups.narrow(m.Template)
	}
	if err != nil {
		return exit.Misconfigured(fmt.Errorf("template: %w", err), "")
	}
	lists, err := flow.FeatureLists(t.cfg)
	if err != nil {
		return err
	}
	m.Resources = flow.Resources(lists)
	from, err := t.starts()
	if err != nil {
		return err
	}
	if words, err := files.CommonWords(t.cfg.Inverse.Words); err != nil {
		return err
	} else if words != nil {
		from = slices.Insert(from, 0, features.Resources{Slots: map[string]features.Slot{"cluster/common": words}})
	}
	t.Options.Lookups.clusters = t.cfg.Train.Clusters
	return t.Options.Lookups.fill(&m.Resources, m.Template, from...)
}

// starts returns the resources of the initial model, and of the embedded models with the same template or profile.
// Their clusters are used if the options give none.
func (t *Training) starts() (from []features.Resources, err error) {
	names := []string{t.Options.Init, t.cfg.Train.Template, t.cfg.Profile}
	for k, name := range names {
		if slices.Contains(names[:k], name) {
			continue
		}
		if shipped := embedded.Size(name) > 0; name == "" || !shipped && name != t.Options.Init {
			continue
		}
		cfg := t.cfg
		if name != t.Options.Init {
			cfg = new(option.Config) // a shipped model knows the shipped lists only; its clusters need none
		}
		m, err := flow.OpenWeights(name, cfg)
		if err != nil {
			return nil, err
		}
		if like, ok := m.Model.(tagger.Templated); ok { // Fit says what is wrong with others
			from = append(from, like.Resources())
		}
	}
	return from, nil
}

// templateText returns the text of the feature template: a file, a built-in
// name, or by default that of the model to begin with, of the kind or of the profile.
func (t *Training) templateText() (string, error) {
	name := t.cfg.Train.Template
	if name == "" && t.Options.Init != "" {
		if from, err := t.initial(); err == nil && from.Header().Template != "" { // Fit says what is wrong with others
			return from.Header().Template, nil
		}
	}
	if name == "" && t.kind.DefaultTemplate != nil {
		name = t.kind.DefaultTemplate(t.cfg)
	}
	return flow.TemplateText(cmp.Or(name, t.cfg.Profile))
}

// Learn adds notes that a teacher model has labelled to the training corpus. It replaces their names and places by
// surrogates, so that the new model does not memorize the names that its teacher found.
func (t *Training) Learn(ctx context.Context, path string) error {
	step, err := mask.Redraw(t.tagSet, "redraw 1 0")
	if err != nil {
		return err
	}
	return t.Teach(ctx, &flow.Labelled{Paths: []string{path}, Config: t.cfg}, step)
}

// Teach adds labelled notes to the corpus, after the stages of before.
func (t *Training) Teach(ctx context.Context, notes *flow.Labelled, before ...pipeline.Step) error {
	return notes.Run(ctx, append(before, flow.TeachSteps(t.cfg)...), t.Taught)
}

// Fit trains the model on the corpus.
func (t *Training) Fit(ctx context.Context) (*flow.Model, error) {
	unit, times := t.trainer.Work()
	progress := t.NewProgress("train", unit, int64(times))
	defer progress.End()
	told := 0
	o := tagger.TrainOptions{Workers: t.cfg.Workers(), About: t.about(), Progress: func(said string) bool {
		if told++; told <= times { // the state before the first is told too
			progress.Add(1)
		}
		progress.Say("%s", said)
		return ctx.Err() == nil
	}}
	if t.Options.Init != "" {
		from, err := t.initial()
		if err != nil {
			return nil, err
		}
		o.Init, o.About.Parent = from.Model, hex.EncodeToString(from.SHA256[:])
	}
	trained, err := t.trainer.Train(o)
	if err == nil {
		err = context.Cause(ctx)
	}
	if errors.Is(err, tagger.ErrInit) {
		return nil, exit.Misconfigured(fmt.Errorf("--init: %w", err), "begin with a model that was trained with the same options")
	}
	if err != nil {
		return nil, err
	}
	return flow.Made(t.Options.Out, trained)
}

// initial opens the model from which training starts: of an ensemble, the last member of the trained kind, so that an
// embedded model can be tuned to the institution's notes (INV §4.3.6).
func (t *Training) initial() (*flow.Model, error) {
	from, err := flow.OpenWeights(t.Options.Init, t.cfg)
	if err != nil {
		return nil, err
	}
	if all, ok := from.Model.(*ensemble.Model); ok && t.kind.Name != ensemble.Kind {
		for _, m := range all.Members() {
			if m.Header().Kind == t.kind.Name {
				from.Model = m
			}
		}
	}
	return from, from.Need("--init", func(k *flow.Kind) bool { return k.Name == t.kind.Name })
}

func (t *Training) about() tagger.Header {
	return tagger.Header{Name: t.Options.modelName(), Languages: t.Taught.Heard(),
		Fingerprints: map[string]string{tagger.PatternsPrint: patterns.Version}}
}

// save writes the model beside its place and renames it.
func (t *Training) save(m *flow.Model) error {
	data, err := m.File()
	if err != nil {
		return err
	}
	h := m.Header()
	sum := sha256.Sum256(data)
	result := map[string]any{
		"sha256": hex.EncodeToString(sum[:]),
		"notes":  t.Taught.Notes, "tokens": t.Taught.Tokens, "spans": t.Taught.Spans, "off_border": t.Taught.OffBorder,
		"training": h.Training, "scores": h.Scores, "recall_dial": h.RecallDial, "measured": h.Measured,
	}
	if sized, ok := m.Model.(tagger.Sized); ok {
		result["features"], result["weights"] = sized.Size()
	}
	if is, ok := m.Model.(tagger.Summarized); ok {
		result["summary"] = is.Summary()
	}
	return writeModel(t.Console, t.Options.Out, data, result, `, {{with .weights}}{{$.features}} features, {{.}} weights, {{end -}}
from {{.notes}} notes with {{.spans}} spans ({{.off_border}} not at token borders)
{{with .summary}}  {{.}}
{{end}}`+scoresText)
}
