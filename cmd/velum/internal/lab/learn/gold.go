package learn

import (
	"context"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/teach"
)

// splitGold finds out which labelled notes are for what. The notes of a learning
// curve are drawn by the hash of their id under the seed, so that more notes are
// always the same ones and others.
func (l *learning) splitGold() error {
	g := &l.cfg.Learn
	of := func(paths []string) flow.Labelled { return flow.Labelled{Paths: paths, Config: l.cfg} }
	l.gold, l.dev, l.gate, l.oracle = of(g.Gold), of(g.Dev), of(g.Gate), of(g.Oracle)
	l.known = map[string]bool{}
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
			l.goldIDs = ids
		}
	}
	l.draw()
	if len(g.Dev)+len(g.Gold) == 0 {
		l.dev = l.gate
	}
	return nil
}

// draw draws the labelled notes that are learned from, and deals them out to the folds.
func (l *learning) draw() {
	g := &l.cfg.Learn
	if len(l.goldIDs) == 0 {
		return
	}
	if l.goldIDs = flow.ByHash(l.goldIDs, g.Seed); g.Labelled > 0 {
		l.goldIDs = l.goldIDs[:min(g.Labelled, len(l.goldIDs))]
		l.gold.Keep = flow.SetOf(l.goldIDs)
	}
	if g.Folds > 0 {
		l.deal(l.goldIDs)
	}
}

// count counts the spans of the validation notes, or without any those of the
// labelled ones: what is chosen keeps their proportions (BOOT §3.2.1).
func (l *learning) count(ctx context.Context) error {
	c := teach.NewCount(l.tagSet)
	s := teach.New(teach.Options{TagSet: l.tagSet, Corpus: c, Map: l.toSet})
	notes := &l.dev
	if len(notes.Paths) == 0 {
		notes = &l.gold
	}
	err := notes.Each(func(src pipeline.Source) error { return pipeline.Run(ctx, src, flow.TeachSteps(l.cfg), s, nil) })
	l.target = c.Training
	if err == nil && len(notes.Paths) > 0 && s.Spans == 0 {
		err = exit.Errorf(exit.Config, "look at --gold, --dev and --labels", "the labelled notes have no spans")
	}
	return err
}
