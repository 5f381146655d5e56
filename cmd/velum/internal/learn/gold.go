package learn

import (
	"context"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/teach"
)

// splitGold finds out which labelled notes are for what. Held-out notes and
// the notes of a learning curve are drawn by the hash of their id under the
// seed: the first ones are held out, the next ones are learned from, so that
// more notes are always the same ones and others.
func (l *learning) splitGold() error {
	g := &l.cfg.Learn
	of := func(paths []string) flow.Labelled { return flow.Labelled{Paths: paths, Config: l.cfg} }
	l.gold, l.dev, l.gate, l.oracle = of(g.Gold), of(g.Dev), of(g.Gate), of(g.Oracle)
	l.known = map[string]bool{}
	drawn := []string(nil)
	for _, set := range []*flow.Labelled{&l.gold, &l.dev, &l.gate, &l.oracle} {
		ids, err := set.IDs()
		if err != nil {
			return err
		}
		if set == &l.oracle {
			break // its notes are in the archive to be asked about
		}
		for _, id := range ids {
			l.known[id] = true
		}
		flow.WarnUnknown(l.console, strings.Join(set.Paths, ", "), set.Unknown)
		if set == &l.gold {
			drawn = ids
		}
	}
	l.draw(drawn)
	if len(g.Gate) == 0 {
		l.gate = l.dev
	}
	return nil
}

// draw splits the ids of the labelled notes.
func (l *learning) draw(ids []string) {
	g := &l.cfg.Learn
	if len(g.Dev) > 0 && g.Labelled == 0 || len(ids) == 0 {
		return
	}
	ids = flow.ByHash(ids, g.Seed)
	if len(g.Dev) == 0 {
		held := max(1, int(g.Holdout*float64(len(ids))+0.5))
		l.dev = flow.Labelled{Paths: g.Gold, Config: l.cfg, Keep: flow.SetOf(ids[:min(held, len(ids))])}
		ids = ids[min(held, len(ids)):]
	}
	if g.Labelled > 0 {
		ids = ids[:min(g.Labelled, len(ids))]
	}
	l.gold.Keep = flow.SetOf(ids)
}

// count counts the spans of the validation notes: what is chosen keeps their
// proportions (BOOT §3.2.1).
func (l *learning) count(ctx context.Context) error {
	c := teach.NewCount(l.tagSet)
	s := teach.New(teach.Options{TagSet: l.tagSet, Corpus: c, Map: l.toSet})
	err := l.dev.Each(func(src pipeline.Source) error { return pipeline.Run(ctx, src, flow.TeachSteps(l.cfg), s, nil) })
	l.target = c.Training
	if err == nil && l.measured() && s.Spans == 0 {
		err = exit.Errorf(exit.Config, "look at --dev and --labels", "the validation notes have no spans")
	}
	return err
}
