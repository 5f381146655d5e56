package study

import (
	"context"
	"fmt"
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
func (s *study) splits() ([]split, error) {
	gold := s.corpus.of(goldSet)
	if len(s.Dev) > 0 {
		return []split{{train: gold, test: s.corpus.of(devSet)}}, nil
	}
	folds, err := s.folds(gold, s.Seed)
	if err != nil {
		return nil, err
	}
	var all []split
	for _, f := range folds {
		x := split{train: without(gold, f), test: f}
		if s.By == "source" && len(s.corpus.groups(f, 0)) == 1 {
			x.name = s.corpus.notes[f[0]].group
		}
		all = append(all, x)
	}
	return all, nil
}

// folds are those of --k, or as many as there are groups.
func (s *study) folds(notes []int, seed int) ([][]int, error) {
	groups := len(s.corpus.groups(notes, seed))
	k := s.K
	if k == 0 || k > groups && s.By == "source" {
		k = groups
	}
	if k < 2 || groups < k {
		return nil, exit.Misconfiguredf("give more, fewer folds (--k), notes to score on (--dev), or another --by", "%d groups of notes (--by %s) make no %d folds", groups, s.By, max(k, 2))
	}
	return s.corpus.folds(notes, k, seed), nil
}

// of makes the trials of an arm.
func of(a *arm, splits []split, without ...string) (trials []*trial) {
	for _, x := range splits {
		trials = append(trials, &trial{arm: a, without: without, train: x.train, test: x.test})
	}
	return trials
}

// all runs the trials of many points. Those of one split come after one another, so that
// the time that is left is reckoned from all kinds early.
func (s *study) all(ctx context.Context, rows [][]*trial) error {
	var order []*trial
	for k := 0; ; k++ {
		n := len(order)
		for _, row := range rows {
			if k < len(row) {
				order = append(order, row[k])
			}
		}
		if len(order) == n {
			break
		}
	}
	s.begin(len(order))
	return s.run(ctx, order...)
}

// begin shows how far the trials are.
func (s *study) begin(trials int) {
	if s.progress == nil {
		s.progress = s.NewProgress("study", "trials", int64(trials))
	}
}

// inSplits runs each arm in all splits, a row an arm; rank has features ranked there.
func (s *study) inSplits(ctx context.Context, rank bool) (splits []split, rows [][]*trial, err error) {
	if splits, err = s.splits(); err != nil {
		return nil, nil, err
	}
	for _, a := range s.arms {
		row := of(a, splits)
		for _, t := range row {
			t.rank = rank
		}
		rows = append(rows, row)
	}
	return splits, rows, s.all(ctx, rows)
}

// foldsPart is cross-validation: each kind in all folds, all pairs of kinds tested.
func (s *study) foldsPart(ctx context.Context) (*Part, error) {
	splits, rows, err := s.inSplits(ctx, false)
	if err != nil {
		return nil, err
	}
	p := &Part{Folds: len(splits), Varied: "kind"}
	for _, x := range splits {
		if x.name != "" {
			p.Sources = append(p.Sources, x.name)
		}
	}
	for k, a := range s.arms {
		p.Points = append(p.Points, s.point(a, "", rows[k], nil))
	}
	p.Pairs, err = s.pairs(p.Points)
	return p, err
}

// curvePart is learning curves (VIGI §5.7): in each draw each kind learns from the first
// notes of one order, more and more of them, and is scored on a fold that it has not
// seen, or on the development notes.
func (s *study) curvePart(ctx context.Context) (*Part, error) {
	shares, err := perCent(s.Shares, 10, 20, 40, 60, 80, 100)
	if err != nil {
		return nil, err
	}
	rows := make([][]*trial, len(shares)*len(s.arms))
	for d := range max(s.Times, 1) {
		x, err := s.drawn(s.corpus.of(goldSet), d)
		if err != nil {
			return nil, err
		}
		groups := s.corpus.groups(x.train, s.Seed+d)
		for i, share := range shares {
			notes := first(groups, max(1, int(math.Round(share/100*float64(len(x.train))))))
			for k, a := range s.arms {
				at := i*len(s.arms) + k
				rows[at] = append(rows[at], &trial{arm: a, train: notes, test: x.test})
			}
		}
	}
	if err := s.all(ctx, rows); err != nil {
		return nil, err
	}
	p := &Part{Varied: "share"}
	for k, a := range s.arms {
		for i, share := range shares {
			p.Points = append(p.Points, s.point(a, number(share)+" %", rows[i*len(s.arms)+k], nil))
		}
	}
	p.Pairs, err = s.pairs(p.Points)
	return p, err
}

// drawn is the split of draw d: the development notes, or fold d of a division of its
// own every k draws.
func (s *study) drawn(notes []int, d int) (split, error) {
	if len(s.Dev) > 0 {
		return split{train: notes, test: s.corpus.of(devSet)}, nil
	}
	k := s.K
	if k == 0 {
		k = len(s.corpus.groups(notes, 0))
	}
	folds, err := s.folds(notes, s.Seed+d/max(k, 1))
	if err != nil {
		return split{}, err
	}
	f := folds[d%len(folds)]
	return split{train: without(notes, f), test: f}, nil
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
func (s *study) ablatePart(ctx context.Context) (*Part, error) {
	splits, err := s.splits()
	if err != nil {
		return nil, err
	}
	groups := make([][]string, len(s.arms))
	var rows [][]*trial
	for k, a := range s.arms {
		if groups[k], err = s.features(a); err != nil {
			return nil, err
		}
		rows = append(rows, of(a, splits))
		for _, g := range groups[k] {
			rows = append(rows, of(a, splits, g))
		}
	}
	if s.Forward {
		s.begin(len(splits) * (len(rows) - len(s.arms)))
	} else if err := s.all(ctx, rows); err != nil {
		return nil, err
	}
	p := &Part{Folds: len(splits), Varied: "groups"}
	for k, a := range s.arms {
		var points []*Point
		var base *Point
		if s.Forward {
			points, base, err = s.forward(ctx, a, splits, groups[k])
			p.Caution = pickedHere
		} else {
			points = s.oneLess(a, groups[k], rows[:1+len(groups[k])])
			base, rows = points[0], rows[1+len(groups[k]):]
		}
		if err != nil {
			return nil, err
		}
		pairs, err := s.against(base, points)
		if err != nil {
			return nil, err
		}
		p.Points, p.Pairs = append(p.Points, points...), append(p.Pairs, pairs...)
	}
	p.Pairs = adjusted(p.Pairs)
	return p, nil
}

// features are the groups of an arm's template.
func (s *study) features(a *arm) ([]string, error) {
	groups, err := train.Groups(a.cfg, &train.Options{Kind: a.kind, Labels: s.labels})
	if err == nil && len(groups) < 2 || !a.learns {
		err = exit.Misconfiguredf("name a kind with features, as crf, or give bilstm a template with some", "--kinds: %s has no features that could be left out", a.name)
	}
	return groups, err
}

// oneLess makes the points of rows with all groups and without each.
func (s *study) oneLess(a *arm, groups []string, rows [][]*trial) []*Point {
	points := []*Point{s.point(a, "all", rows[0], nil)}
	for k, g := range groups {
		points = append(points, s.point(a, "-"+g, rows[k+1], nil))
	}
	return points
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
func (s *study) gridPart(ctx context.Context) (*Part, error) {
	splits, err := s.splits()
	if err != nil {
		return nil, err
	}
	settings, err := s.settings()
	if err != nil {
		return nil, err
	}
	var rows [][]*trial
	for _, a := range s.arms {
		for _, set := range settings {
			one, err := s.with(a, set)
			if err != nil {
				return nil, err
			}
			rows = append(rows, of(one, splits))
		}
	}
	if err := s.all(ctx, rows); err != nil {
		return nil, err
	}
	p := &Part{Folds: len(splits), Varied: "settings", Caution: pickedHere}
	for k, a := range s.arms {
		var points []*Point
		var best *Point
		tried := rows[k*len(settings):][:len(settings)]
		for i, set := range settings {
			x := s.point(a, strings.Join(set, " "), tried[i], nil)
			if points = append(points, x); best == nil || x.Strict.FBeta > best.Strict.FBeta {
				best = x
			}
		}
		best.Taken = true
		pairs, err := s.against(best, points)
		if err != nil {
			return nil, err
		}
		if fair := s.fair(a, tried); fair != nil {
			p.Caution, points = pickedElsewhere, append(points, fair)
		}
		p.Points, p.Pairs = append(p.Points, points...), append(p.Pairs, pairs...)
	}
	p.Pairs = adjusted(p.Pairs)
	return p, nil
}

// What is said of a figure whose notes have picked what it is of.
const (
	pickedHere      = "What was picked was picked by the same scores that are shown for it, so its figure is a little too good: among many, one is best by luck. Measure it again on notes that had no part here."
	pickedElsewhere = "The setting that was taken was picked by the same scores that are shown for it, so its figure is a little too good: among many, one is best by luck. Expect the figure of \"picked by the other folds\": there each fold is measured with the setting that was best in the other folds."
)

// fair returns the gain of picking among the settings of an arm: each fold with the setting
// whose F_β is best in all other folds. It costs no training, and no note is scored by a
// choice that it had part in (the models that are compared for it learned from it, as
// all models outside its fold do). There is none of one fold.
func (s *study) fair(a *arm, tried [][]*trial) *Point {
	folds := len(tried[0])
	if folds < 2 {
		return nil
	}
	picked := make([]*trial, folds)
	var settings []string
	for f := range picked {
		best := 0.0
		for _, row := range tried {
			others := score.New(score.Options{Beta: s.Beta, Draws: -1})
			for k, t := range row {
				if k != f {
					others.Gather(t.outcome.Scores, func(i int) int { return i })
				}
			}
			if m, _ := others.Report().Measure(score.Strict); picked[f] == nil || m.FBeta > best {
				best, picked[f] = m.FBeta, row[f]
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
func (s *study) mixPart(ctx context.Context) (*Part, error) {
	if len(s.With) == 0 {
		return nil, exit.Misconfiguredf("name the other corpus", "--with is needed")
	}
	shares, err := perCent(s.Shares, 0, 25, 50, 75, 100)
	if err != nil {
		return nil, err
	}
	rows := make([][]*trial, len(shares)*len(s.arms))
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
		for i, share := range shares {
			theirs := int(math.Round(share / 100 * n))
			notes := append(first(of, int(n)-theirs), first(others, theirs)...)
			slices.Sort(notes)
			for k, a := range s.arms {
				at := i*len(s.arms) + k
				rows[at] = append(rows[at], &trial{arm: a, train: notes, test: test})
			}
		}
	}
	if err := s.all(ctx, rows); err != nil {
		return nil, err
	}
	return s.mixed(shares, rows)
}

func (s *study) mixed(shares []float64, rows [][]*trial) (*Part, error) {
	p := &Part{Varied: "mixture"}
	on := []struct {
		set  set
		name string
	}{{goldSet, "--gold"}, {withSet, "--with"}}
	if len(s.Dev) > 0 {
		on = on[:1]
		on[0].set, on[0].name = devSet, "--dev"
	}
	for k, a := range s.arms {
		for _, x := range on {
			var points []*Point
			for i, share := range shares {
				point := s.point(a, number(share)+" %", rows[i*len(s.arms)+k], func(n int, _ float32) bool { return s.corpus.notes[n].set == x.set })
				point.On = x.name
				points = append(points, point)
			}
			pairs, err := s.against(points[0], points)
			if err != nil {
				return nil, err
			}
			p.Points, p.Pairs = append(p.Points, points...), append(p.Pairs, pairs...)
		}
	}
	p.Pairs = adjusted(p.Pairs)
	return p, nil
}

// confidencePart scores the notes alone whose confidence reaches a threshold (BOOT
// table 3.2), in the folds of foldsPart.
func (s *study) confidencePart(ctx context.Context) (*Part, error) {
	splits, rows, err := s.inSplits(ctx, false)
	if err != nil {
		return nil, err
	}
	thresholds := []float64{0, 0.5, 0.7, 0.85, 0.95, 0.99}
	if len(s.Thresholds) > 0 {
		thresholds = slices.Sorted(slices.Values(s.Thresholds))
	}
	p := &Part{Folds: len(splits), Varied: "confidence"}
	for k, a := range s.arms {
		for _, least := range slices.Compact(thresholds) {
			if least < 0 || least > 1 {
				return nil, exit.Misconfiguredf("give some from 0 to 1, as 0,0.5,0.85", "--thresholds: %v is no confidence", least)
			}
			p.Points = append(p.Points, s.point(a, fmt.Sprintf("≥ %s", number(least)), rows[k], func(_ int, conf float32) bool { return float64(conf) >= least }))
		}
	}
	return p, nil
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
