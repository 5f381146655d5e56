package attack

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// spy is an attack that first reads a whole extract, and then returns the cell of each mention of a name.
type spy interface {
	look(e *planted) look
}

const (
	ownRuns     = 5 // extracts of the attacker's own making, to learn what surrogates are
	mostRounds  = 120
	wantedRight = 40 // of guessing, over all rounds: with so many a lift of 2 is told
)

// noNames returns why the attack on names does not apply.
func (a *attacker) noNames() string {
	all, err := a.config.Imitated()
	if err == nil && !slices.ContainsFunc(all, func(c pipeline.Category) bool { return c.Kind() == pipeline.NameKind }) {
		return "the policy writes no surrogates for names: what was missed can be told at sight"
	}
	return ""
}

// names is the attack that points out missed names by two properties together: how they repeat in the notes of a
// patient, and how often surrogates and people have them. It is tried on planted missed names and, as far as there are
// labelled notes, on real ones.
var names = attack{"names", (*attacker).noNames, (*attacker).tryNames}

func (a *attacker) tryNames(ctx context.Context) (*finding, error) {
	often, _, err := a.own(ctx)
	if err != nil {
		return nil, err
	}
	p, at := a.planted, []spy{often}
	if a.config.Read.Columns.Patient != "" {
		at = append(at, new(repetition))
	}
	f := &finding{Attack: "names"}
	for n, share := range a.Misses {
		natural := n == 0 && p.Judged > 0
		all, err := a.rounds(ctx, p, at, share, natural)
		if err != nil {
			return nil, err
		}
		scores := score(all)
		planted := judge(all, scores, len(p.Patients), func(s *suspect) bool { return s.round >= 0 }, a.Most, a.Seed)
		planted.Kind, planted.Misses = "planted", share
		f.add(planted)
		if natural {
			there := judge(all, scores, len(p.Patients), func(s *suspect) bool { return s.round < 0 && s.judged }, a.Most, a.Seed)
			there.Kind = "natural"
			f.add(there)
		}
	}
	return f, nil
}

// own makes extracts as an attacker would, and counts which names surrogates are in them.
func (a *attacker) own(ctx context.Context) (often *frequency, own []*planted, err error) {
	p, err := a.planter(ctx)
	if err != nil {
		return nil, nil, err
	}
	if often, err = newFrequency(a); err != nil {
		return nil, nil, err
	}
	for run := range ownRuns {
		e, err := p.plant(ctx, 0, -1-run, a.Seed)
		if err != nil {
			return nil, nil, err
		}
		often.learn(e)
		own = append(own, e)
	}
	return often, own, nil
}

// rounds plants missed names repeatedly until there are enough for a significant result, and runs the attacks.
func (a *attacker) rounds(ctx context.Context, p *planter, at []spy, share float64, natural bool) (all []suspect, err error) {
	progress := a.NewProgress("attack", "extracts", mostRounds)
	defer progress.End()
	rounds := 2
	for round := 0; round < rounds; round++ {
		e, err := p.plant(ctx, share, round, a.Seed)
		if err != nil {
			return nil, err
		}
		all = suspects(all, e, at, round, a.Seed)
		if round == 0 {
			expected := max(float64(len(all))*share*share, 1e-3)
			rounds = min(max(int(math.Ceil(wantedRight/expected)), 2), mostRounds)
		}
		progress.Add(1)
	}
	if natural {
		e, err := p.natural(ctx)
		if err != nil {
			return nil, err
		}
		return suspects(all, e, at, -1, a.Seed), nil
	}
	return all, nil
}

// suspects adds the mentions of an extract as the attacks see them.
func suspects(all []suspect, e *planted, at []spy, round int, seed uint64) []suspect {
	looks := make([]look, len(at))
	for k := range at {
		looks[k] = at[k].look(e)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(round)))
	for i := range e.Notes {
		n := &e.Notes[i]
		for k, m := range n.Mentions {
			s := suspect{round: round, patient: n.Patient, tie: rng.Uint32(), left: m.Left, judged: n.Judged, cells: make([]cell, len(at))}
			for j, look := range looks {
				s.cells[j] = look(n, k)
			}
			all = append(all, s)
		}
	}
	return all
}

// bucket puts a count into one of nine classes: 0, 1, 2, 3, 4 to 5, 6 to 8, 9 to 15, 16 to 63, more.
func bucket(n int) uint8 {
	for k, least := range [...]int{64, 16, 9, 6, 4, 3, 2, 1} {
		if n >= least {
			return uint8(8 - k)
		}
	}
	return 0
}
