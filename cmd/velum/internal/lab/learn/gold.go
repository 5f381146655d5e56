package learn

import (
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
)

// splitGold finds out which labelled notes are for what, and deals those that are learned from out to the folds.
func (l *learning) splitGold() error {
	g := &l.cfg.Learn
	of := func(paths []string) flow.Labelled { return flow.Labelled{Paths: paths, Config: l.cfg} }
	l.gold, l.dev = of(g.Gold), of(g.Dev)
	l.known = map[string]bool{}
	for _, set := range []*flow.Labelled{&l.gold, &l.dev} {
		ids, err := set.IDs()
		if err != nil {
			return err
		}
		for _, id := range ids {
			l.known[id] = true
		}
		flow.WarnUnknown(l.console, strings.Join(set.Paths, ", "), set.Unknown)
		if set == &l.gold {
			l.goldIDs = ids
		}
	}
	l.goldIDs = flow.ByHash(l.goldIDs, seed)
	l.deal(l.goldIDs)
	return nil
}
