package learn

import (
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
)

// splitGold finds out which labelled notes are for what, and deals those that are learned from out to the folds.
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
	if l.goldIDs = flow.ByHash(l.goldIDs, g.Seed); g.Folds > 0 {
		l.deal(l.goldIDs)
	}
	if len(g.Dev)+len(g.Gold) == 0 {
		l.dev = l.gate
	}
	return nil
}
