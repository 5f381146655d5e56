package train

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/models/learn/calibratetrain"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// fewOfSource is the number of notes below which sources are merged with the others of their file, because means over
// few notes are not meaningful.
const fewOfSource = 30

// calibrate fits the calibration of the model's confidences on notes tagged by models that were made in the same way
// and have not seen them.
func (t *Training) calibrate(ctx context.Context, m *flow.Model) error {
	var by *regexp.Regexp
	if t.Options.Source != "" {
		var err error
		if by, err = regexp.Compile(t.Options.Source); err != nil {
			return exit.Misconfiguredf("write an expression of RE2 with a group, as '^([a-z]+)-'", "--sources is no regular expression")
		}
	}
	all := map[string]*calibrate.Source{}
	for _, held := range t.Options.Held {
		name, paths, ok := strings.Cut(held, "=")
		if !ok || name == "" || paths == "" {
			return exit.Misconfiguredf("write --held MODEL=PATH,PATH", "--held: %q names no model and notes", held)
		}
		asked, err := flow.OpenModel(name, t.cfg)
		if err != nil {
			return err
		}
		if asked.Labels != m.Labels || asked.Header().Kind != m.Header().Kind {
			return exit.Misconfiguredf("name a model that was made as this one", "--held: %s is not of the kind and labels of %s", name, m.Name)
		}
		asked.Label = flow.LabelOptions(t.cfg)
		asked.Label.SpanProbs = true
		for path := range strings.SplitSeq(paths, ",") {
			if err := t.count(ctx, asked, path, by, all); err != nil {
				return err
			}
		}
	}
	var sources []calibrate.Source
	for _, name := range slices.Sorted(maps.Keys(all)) {
		sources = append(sources, *all[name])
	}
	risk, err := calibratetrain.FitRisk(sources)
	if err != nil {
		return exit.Misconfigured(fmt.Errorf("--held: %w", err), "give more notes")
	}
	risk.Confidence = t.cfg.Tag.Confidence
	h := m.Header()
	h.Risk = risk
	m.Model = m.WithHeader(h)
	return nil
}

// count adds what a model makes of the notes of a file to their sources.
func (t *Training) count(ctx context.Context, asked *flow.Model, path string, by *regexp.Regexp, all map[string]*calibrate.Source) error {
	into, err := flow.IntoLabels(t.Options.Labels)
	if err != nil {
		return err
	}
	gold := flow.Labelled{Paths: []string{path}, Config: t.cfg}
	s := sourceSink{scorer: score.New(score.Options{Draws: -1, Map: into}), by: by, file: path, heard: asked.Header().Heard(),
		all: map[string]*calibrate.Source{}}
	err = gold.Tag(ctx, flow.With(t.cfg, asked), &s)
	for name, counts := range s.all {
		if n, _ := counts.All(); n < fewOfSource {
			name = path
		}
		if all[name] == nil {
			all[name] = new(calibrate.Source)
		}
		all[name].Add(counts)
	}
	return err
}

// sourceSink counts notes by their source.
type sourceSink struct {
	scorer *score.Scorer
	by     *regexp.Regexp // nil: the file is the source
	file   string
	heard  pipeline.Languages
	all    map[string]*calibrate.Source
}

// Put implements pipeline.Sink.
func (s *sourceSink) Put(b *pipeline.Batch) error {
	for i := range b.Sound() {
		name := s.source(b.ID.At(i))
		c := s.all[name]
		if c == nil {
			c = new(calibrate.Source)
			s.all[name] = c
		}
		s.scorer.Add(b.Text.At(i), nil, b.Gold.At(i), b.Spans.At(i))
		c.Note(b.Conf[i], s.heard.Foreign(b.Language[i], b.Words[i]), b.Words[i], len(b.Spans.At(i)))
		if s.scorer.Left() {
			c.Leaks[calibrate.DoubtBin(b.Conf[i])]++
		}
	}
	return nil
}

// source is the name of a note's source: what the groups find in its id.
func (s *sourceSink) source(id []byte) string {
	if s.by != nil {
		if found := s.by.FindSubmatch(id); found != nil {
			name := ""
			for _, group := range found[min(1, len(found)-1):] {
				name += string(group)
			}
			return name
		}
	}
	return s.file
}
