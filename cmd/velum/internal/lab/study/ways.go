package study

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/stages/score"
)

// split holds the notes that trials learn from, and those that they are scored on.
type split struct {
	name        string // of the source that is left out, if one is
	train, test []int
}

// splits are the folds of the gold notes, or the development notes.
func (s *study) splits() (all []split, err error) {
	gold, k := s.corpus.of(goldSet), 1
	if len(s.Dev) == 0 {
		if k, err = s.folds(gold); err != nil {
			return nil, err
		}
	}
	for d := range k {
		x, err := s.drawn(gold, d)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, nil
}

// folds is how many there are: --k, or as many as there are groups.
func (s *study) folds(notes []int) (int, error) {
	groups := len(s.corpus.groups(notes, 0))
	k := s.K
	if k == 0 || k > groups && s.By == "source" {
		k = groups
	}
	if k < 2 || groups < k {
		return 0, exit.Misconfiguredf("give more, fewer folds (--k), notes to score on (--dev), or another --by",
			"%d groups of notes (--by %s) make no %d folds", groups, s.By, max(k, 2))
	}
	return k, nil
}

// drawn is the split of draw d: the development notes, or fold d of a division of its
// own every k draws.
func (s *study) drawn(notes []int, d int) (split, error) {
	if len(s.Dev) > 0 {
		return split{train: notes, test: s.corpus.of(devSet)}, nil
	}
	k, err := s.folds(notes)
	if err != nil {
		return split{}, err
	}
	f := s.corpus.folds(notes, k, s.Seed+d/k)[d%k]
	x := split{train: without(notes, f), test: f}
	if s.By == "source" && len(s.corpus.groups(f, 0)) == 1 {
		x.name = s.corpus.notes[f[0]].group
	}
	return x, nil
}

// of makes the trials of an arm.
func of(a *arm, splits []split, without ...string) (trials []*trial) {
	for _, x := range splits {
		trials = append(trials, &trial{arm: a, without: without, train: x.train, test: x.test})
	}
	return trials
}

// cell is a point to be computed: an arm in one place, its trials, and the notes that count; nil means all.
type cell struct {
	arm    *arm
	at, on string
	trials []*trial
	keep   func(note int, conf float32) bool
}

// inSplits are the cells of all arms, one each.
func (s *study) inSplits(splits []split) (cells []cell) {
	for _, a := range s.arms {
		cells = append(cells, cell{arm: a, trials: of(a, splits)})
	}
	return cells
}

// table runs the trials of all cells and makes their points. Trials of one split follow each other, so that the
// remaining time is soon estimated from all kinds.
func (s *study) table(ctx context.Context, varied string, folds int, cells []cell) (*Part, error) {
	var order []*trial
	for k, n := 0, -1; n < len(order); k++ {
		n = len(order)
		for _, c := range cells {
			if k < len(c.trials) && !slices.Contains(order, c.trials[k]) {
				order = append(order, c.trials[k])
			}
		}
	}
	s.begin(len(order))
	if err := s.run(ctx, order...); err != nil {
		return nil, err
	}
	p := &Part{Varied: varied, Folds: folds}
	for _, c := range cells {
		x := s.point(c.arm, c.at, c.trials, c.keep)
		x.On = c.on
		p.Points = append(p.Points, x)
	}
	return p, nil
}

// begin shows how far the trials are.
func (s *study) begin(trials int) {
	if s.progress == nil {
		s.progress = s.NewProgress("study", "trials", int64(trials))
	}
}

// foldsPart is cross-validation: each kind in all folds, all pairs of kinds tested.
func (s *study) foldsPart(ctx context.Context, splits []split) (*Part, error) {
	p, err := s.table(ctx, "kind", len(splits), s.inSplits(splits))
	if err != nil {
		return nil, err
	}
	for _, x := range splits {
		if x.name != "" {
			p.Sources = append(p.Sources, x.name)
		}
	}
	return p, s.pairs(p)
}

// curvePart is learning curves (VIGI §5.7): in each draw each kind learns from the first
// notes of one order, more and more of them, and is scored on a fold that it has not
// seen, or on the development notes.
func (s *study) curvePart(ctx context.Context, _ []split) (*Part, error) {
	shares, err := perCent(s.Shares, 10, 20, 40, 60, 80, 100)
	if err != nil {
		return nil, err
	}
	var cells []cell
	for _, a := range s.arms {
		for _, share := range shares {
			cells = append(cells, cell{arm: a, at: number(share) + " %"})
		}
	}
	for d := range max(s.Times, 1) {
		x, err := s.drawn(s.corpus.of(goldSet), d)
		if err != nil {
			return nil, err
		}
		groups := s.corpus.groups(x.train, s.Seed+d)
		for i := range cells {
			n := math.Round(shares[i%len(shares)] / 100 * float64(len(x.train)))
			c := &cells[i]
			c.trials = append(c.trials, &trial{arm: c.arm, train: first(groups, max(1, int(n))), test: x.test})
		}
	}
	p, err := s.table(ctx, "share", 0, cells)
	if err != nil {
		return nil, err
	}
	return p, s.pairs(p)
}

// perCent sorts shares, those otherwise if there are none, and refuses what is none.
func perCent(shares []float64, otherwise ...float64) ([]float64, error) {
	if len(shares) == 0 {
		return otherwise, nil
	}
	all := slices.Clone(shares)
	slices.Sort(all)
	if all[0] < 0 || all[len(all)-1] > 100 {
		return nil, exit.Misconfiguredf("give some, as 10,50,100", "--shares are per cent, 0 to 100")
	}
	return slices.Compact(all), nil
}

func number(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// ablatePart leaves each group of features out of the template, or with --forward adds
// one after the other and drops those that lower the score, O(n) trainings (NGRID).
func (s *study) ablatePart(ctx context.Context, splits []split) (*Part, error) {
	groups, n := make([][]string, len(s.arms)), 0
	var cells []cell
	for k, a := range s.arms {
		var err error
		if groups[k], err = s.features(a); err != nil {
			return nil, err
		}
		cells = append(cells, cell{arm: a, at: "all", trials: of(a, splits)})
		for _, g := range groups[k] {
			cells = append(cells, cell{arm: a, at: "-" + g, trials: of(a, splits, g)})
		}
		n += len(groups[k])
	}
	if !s.Forward {
		p, err := s.table(ctx, "groups", len(splits), cells)
		if err != nil {
			return nil, err
		}
		return p, s.against(p, func(x *Point) bool { return x.At == "all" })
	}
	s.begin(len(splits) * n)
	p, bases := &Part{Folds: len(splits), Varied: "groups", Caution: pickedHere}, map[*Point]bool{}
	for k, a := range s.arms {
		points, best, err := s.forward(ctx, a, splits, groups[k])
		if err != nil {
			return nil, err
		}
		p.Points, bases[best] = append(p.Points, points...), true
	}
	return p, s.against(p, func(x *Point) bool { return bases[x] })
}

// features are the groups of an arm's template.
func (s *study) features(a *arm) ([]string, error) {
	groups, err := train.Groups(a.cfg, &train.Options{Kind: a.kind, Labels: s.labels})
	if err == nil && len(groups) < 2 || !a.learns {
		err = exit.Misconfiguredf("name a kind with features, as crf, or give bilstm a template with some",
			"--kinds: %s has no features that could be left out", a.name)
	}
	return groups, err
}

func (s *study) forward(ctx context.Context, a *arm, splits []split, groups []string) (points []*Point, best *Point, err error) {
	var taken []string
	for _, g := range groups {
		rest := slices.DeleteFunc(slices.Clone(groups), func(x string) bool { return x == g || slices.Contains(taken, x) })
		trials := of(a, splits, rest...)
		if err := s.run(ctx, trials...); err != nil {
			return nil, nil, err
		}
		p := s.point(a, "+"+g, trials, nil)
		points = append(points, p)
		if best == nil || p.Strict.FBeta >= best.Strict.FBeta {
			p.Taken, best, taken = true, p, append(taken, g)
		}
	}
	return points, best, nil
}

// gridPart tries all settings of some options and takes the best F_β. The figure of the
// best of many is too good, so what picking brings is a point of its own.
func (s *study) gridPart(ctx context.Context, splits []split) (*Part, error) {
	settings, err := s.settings()
	if err != nil {
		return nil, err
	}
	var cells []cell
	for _, a := range s.arms {
		for _, set := range settings {
			one, err := s.with(a, set)
			if err != nil {
				return nil, err
			}
			cells = append(cells, cell{arm: one, at: strings.Join(set, " "), trials: of(one, splits)})
		}
	}
	p, err := s.table(ctx, "settings", len(splits), cells)
	if err != nil {
		return nil, err
	}
	n := len(settings)
	for points := range slices.Chunk(p.Points, n) {
		slices.MaxFunc(points, func(a, b *Point) int { return cmp.Compare(a.Strict.FBeta, b.Strict.FBeta) }).Taken = true
	}
	p.Caution, err = pickedHere, s.against(p, func(x *Point) bool { return x.Taken })
	for k, a := range slices.Backward(s.arms) {
		if fair := s.fair(a, cells[k*n:][:n]); fair != nil {
			p.Caution, p.Points = pickedElsewhere, slices.Insert(p.Points, (k+1)*n, fair)
		}
	}
	return p, err
}

// Warnings that a score is too optimistic because the same notes selected the setting that it measures.
const (
	pickedHere      = "What was picked was picked by the same scores that are shown for it, so its figure is a little too good: among many, one is best by luck. Measure it again on notes that had no part here."
	pickedElsewhere = "The setting that was taken was picked by the same scores that are shown for it, so its figure is a little too good: among many, one is best by luck. Expect the figure of \"picked by the other folds\": there each fold is measured with the setting that was best in the other folds."
)

// fair returns the score with the best setting chosen without the scored notes: each fold is scored with the setting
// whose F_β is best in all other folds. It needs no further training. With a single fold there is none.
func (s *study) fair(a *arm, tried []cell) *Point {
	folds := len(tried[0].trials)
	if folds < 2 {
		return nil
	}
	picked := make([]*trial, folds)
	var settings []string
	for f := range picked {
		best := 0.0
		for _, row := range tried {
			others := score.New(score.Options{Beta: s.Beta, Draws: -1})
			for k, t := range row.trials {
				if k != f {
					others.Gather(t.outcome.Scores, func(i int) int { return i })
				}
			}
			if m, _ := others.Report().Measure(score.Strict); picked[f] == nil || m.FBeta > best {
				best, picked[f] = m.FBeta, row.trials[f]
			}
		}
		settings = append(settings, strings.Join(picked[f].arm.settings[len(a.settings):], " "))
	}
	p := s.point(a, "picked by the other folds", picked, nil)
	p.Picked = settings
	return p
}

// settings are all combinations of the values of --vary, the last option fastest.
func (s *study) settings() (all [][]string, err error) {
	all = [][]string{nil}
	for _, text := range s.Vary {
		key, values, ok := strings.Cut(text, "=")
		if !ok || values == "" {
			return nil, exit.Misconfiguredf("write --vary train.l2=0.1,1,10", "--vary: %q is not KEY=VALUE,VALUE", text)
		}
		var more [][]string
		for _, was := range all {
			for v := range strings.SplitSeq(values, ",") {
				more = append(more, append(slices.Clone(was), key+"="+v))
			}
		}
		all = more
	}
	if len(s.Vary) == 0 {
		err = exit.Misconfiguredf("write --vary train.l2=0.1,1,10, once for each option", "--vary is needed")
	}
	return all, err
}

// mixPart learns from a fixed number of notes of two corpora, with more and more of the
// second one (VIGI §9), and is scored on each.
func (s *study) mixPart(ctx context.Context, _ []split) (*Part, error) {
	if len(s.With) == 0 {
		return nil, exit.Misconfiguredf("name the other corpus", "--with is needed")
	}
	shares, err := perCent(s.Shares, 0, 25, 50, 75, 100)
	if err != nil {
		return nil, err
	}
	rows := make([][]*trial, len(s.arms)*len(shares))
	for d := range max(s.Times, 1) {
		one, err := s.drawn(s.corpus.of(goldSet), d)
		if err != nil {
			return nil, err
		}
		two, err := s.drawn(s.corpus.of(withSet), d)
		if err != nil {
			return nil, err
		}
		test := one.test
		if len(s.Dev) == 0 {
			test = slices.Concat(one.test, two.test)
			slices.Sort(test)
		}
		n := float64(min(len(one.train), len(two.train)))
		of, others := s.corpus.groups(one.train, s.Seed+d), s.corpus.groups(two.train, s.Seed+d)
		for i := range rows {
			theirs := int(math.Round(shares[i%len(shares)] / 100 * n))
			notes := append(first(of, int(n)-theirs), first(others, theirs)...)
			slices.Sort(notes)
			rows[i] = append(rows[i], &trial{arm: s.arms[i/len(shares)], train: notes, test: test})
		}
	}
	var cells []cell
	for k, a := range s.arms {
		for set, on := range []string{goldSet: "--gold", withSet: "--with", devSet: "--dev"} {
			if (set == int(devSet)) != (len(s.Dev) > 0) {
				continue
			}
			for i, share := range shares {
				cells = append(cells, cell{a, number(share) + " %", on, rows[k*len(shares)+i],
					func(n int, _ float32) bool { return int(s.corpus.notes[n].set) == set }})
			}
		}
	}
	p, err := s.table(ctx, "mixture", 0, cells)
	if err != nil {
		return nil, err
	}
	return p, s.against(p, func(x *Point) bool { return x.At == cells[0].at })
}

// confidencePart scores the notes alone whose confidence reaches a threshold (BOOT
// table 3.2), in the folds of foldsPart.
func (s *study) confidencePart(ctx context.Context, splits []split) (*Part, error) {
	thresholds := []float64{0, 0.5, 0.7, 0.85, 0.95, 0.99}
	if len(s.Thresholds) > 0 {
		thresholds = slices.Compact(slices.Sorted(slices.Values(s.Thresholds)))
	}
	var cells []cell
	for _, c := range s.inSplits(splits) {
		for _, least := range thresholds {
			if least < 0 || least > 1 {
				return nil, exit.Misconfiguredf("give some from 0 to 1, as 0,0.5,0.85", "--thresholds: %v is no confidence", least)
			}
			c.at, c.keep = "≥ "+number(least), func(_ int, conf float32) bool { return float64(conf) >= least }
			cells = append(cells, c)
		}
	}
	return s.table(ctx, "confidence", len(splits), cells)
}

// describe says what a study was made on.
func (s *study) describe(p *Part, what string) {
	p.Study, p.By, p.Labels, p.Seed, p.Beta, p.Draws = what, s.By, s.labels, s.Seed, s.Beta, s.Options.Draws
	all := make([]int, len(s.corpus.notes))
	for i := range s.corpus.notes {
		all[i] = i
		p.Spans += s.corpus.notes[i].spans
	}
	p.Notes, p.Groups, p.Digest = len(all), len(s.corpus.groups(all, 0)), s.corpus.digest()
	p.Trials = len(s.done)
}
