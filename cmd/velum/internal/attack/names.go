package attack

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/velum-health/velum/cmd/velum/internal/plant"
	"github.com/velum-health/velum/pipeline"
)

// spy is an attack on the names of an extract: it looks at a whole extract, and then
// says what it sees of each mention.
type spy interface {
	look(e *plant.Extract) (look, error)
	learn(e *plant.Extract) // of an extract of its own making, in which nothing is left
}

// spies are the attacks on names, in the order of their cells.
var spies = []struct {
	name    string
	patient bool // it needs to know whose the notes are
	make    func(a *attacker) (spy, error)
}{
	{"repetition", true, func(*attacker) (spy, error) { return &repetition{}, nil }},
	{"frequency", false, newFrequency},
	{"spelling", false, newSpelling},
	{"parrot", false, newParrot},
}

// together is the attack that adds up what the others see.
const together = "together"

const (
	ownRuns     = 5 // extracts of the attacker's own making, to learn what surrogates are
	mostRounds  = 120
	wantedRight = 40 // of guessing, over all rounds: with so many a lift of 2 is told
)

// names tries the attacks on names: with misses that are planted, and with those
// that there are, as far as labelled notes tell.
func (a *attacker) names(ctx context.Context, wanted []int) ([]*finding, error) {
	p, err := a.planter(ctx)
	if err != nil {
		return nil, err
	}
	at := make([]spy, len(wanted))
	for k, w := range wanted {
		if at[k], err = spies[w].make(a); err != nil {
			return nil, err
		}
	}
	for run := range ownRuns {
		warm, err := p.Planted(ctx, 0, -1-run, a.Seed)
		if err != nil {
			return nil, err
		}
		for _, spy := range at {
			spy.learn(warm)
		}
	}
	findings := make([]*finding, len(wanted), len(wanted)+1)
	for k, w := range wanted {
		findings[k] = &finding{Attack: spies[w].name}
	}
	if len(wanted) > 1 {
		findings = append(findings, &finding{Attack: together})
	}
	for n, share := range a.Misses {
		all, err := a.rounds(ctx, p, at, share, n == 0 && p.Judged > 0)
		if err != nil {
			return nil, err
		}
		for k := range findings {
			which := []int{k}
			if k == len(wanted) {
				which = which[:0]
				for k := range wanted {
					which = append(which, k)
				}
			}
			scores := score(all, which)
			planted := judge(all, scores, len(p.Patients), func(s *suspect) bool { return s.round >= 0 }, a.Most, a.Seed)
			planted.Kind, planted.Misses = "planted", share
			findings[k].add(planted)
			if n == 0 && p.Judged > 0 {
				natural := judge(all, scores, len(p.Patients), func(s *suspect) bool { return s.round < 0 && s.judged }, a.Most, a.Seed)
				natural.Kind = "natural"
				findings[k].add(natural)
			}
		}
	}
	return findings, nil
}

// rounds plants misses again and again, until guessing would be right often enough
// to tell from less, and lets the attacks look.
func (a *attacker) rounds(ctx context.Context, p *plant.Planter, at []spy, share float64, natural bool) (all []suspect, err error) {
	progress := a.NewProgress("attack", "extracts", mostRounds)
	defer progress.End()
	rounds := 2
	for round := 0; round < rounds; round++ {
		e, err := p.Planted(ctx, share, round, a.Seed)
		if err != nil {
			return nil, err
		}
		if all, err = suspects(all, e, at, round, a.Seed); err != nil {
			return nil, err
		}
		if round == 0 {
			expected := max(float64(len(all))*share*share, 1e-3)
			rounds = min(max(int(math.Ceil(wantedRight/expected)), 2), mostRounds)
		}
		progress.Add(1)
	}
	if natural {
		e, err := p.Natural(ctx)
		if err != nil {
			return nil, err
		}
		return suspects(all, e, at, -1, a.Seed)
	}
	return all, nil
}

// suspects adds the mentions of an extract as the attacks see them.
func suspects(all []suspect, e *plant.Extract, at []spy, round int, seed uint64) ([]suspect, error) {
	looks := make([]look, len(at))
	for k := range at {
		var err error
		if looks[k], err = at[k].look(e); err != nil {
			return nil, err
		}
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
	return all, nil
}

// imitates tells whether names are hidden among others.
func (a *attacker) imitates() (bool, error) {
	all, err := a.config.Imitated()
	for _, c := range all {
		if c.Kind() == pipeline.NameKind {
			return true, err
		}
	}
	return false, err
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
