package svmtrain

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/velum-health/velum/models/learn/crftrain"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/models/tag/crf/crftest"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/pipeline"
)

// column is a matrix of one column.
func column(values ...float32) *crftrain.Examples {
	x := &crftrain.Examples{Start: []int{0}, Columns: make([]crftrain.Column, 1), Value: values, Column: make([]int32, len(values)), Tag: make([]pipeline.Tag, len(values))}
	for i := range values {
		x.Start = append(x.Start, i+1)
	}
	return x
}

func near(a, b float64) bool { return math.Abs(a-b) < 1e-6 }

// TestRow: two rows, (2, 0, 3) and (0, 5, 0), with the column of ones behind.
func TestRow(t *testing.T) {
	x := &crftrain.Examples{Start: []int{0, 2, 3}, Column: []int32{0, 2, 1}, Value: []float32{2, 3, 5}, Columns: make([]crftrain.Column, 3), Tag: make([]pipeline.Tag, 2)}
	w := []float64{1, 10, 100, .5}
	if a, b := Score(x, 0, w), Score(x, 1, w); a != 302.5 || b != 50.5 {
		t.Errorf("scores %v and %v, want 2 + 300 + .5 and 50 + .5", a, b)
	}
	if a, b := square(x, 0), square(x, 1); a != 14 || b != 26 {
		t.Errorf("squares %v and %v, want 1 + 4 + 9 and 1 + 25", a, b)
	}
	if axpy(2, x, 0, w); !slices.Equal(w, []float64{5, 10, 106, 2.5}) {
		t.Errorf("with twice the first row: %v", w)
	}
}

// TestSolveByHand: rows of x = 1 and x = -1 that differ in sign do not touch each other: α = 1 / (1 + 1 + D) each, and w = 2α. Two rows
// that are the same have Q = (3 2; 2 3) at D = 1: one pass sets 1/3 and then 1/9, the end is 1/5 each. Another pass sets the first to
// 7/27, or leaves it; what it leaves undone is 10/27 or 2/9.
func TestSolveByHand(t *testing.T) {
	for _, c := range []struct {
		name           string
		x              *crftrain.Examples
		cost           float64
		yes            []bool
		tolerance      float64
		passes         int
		weight, offset []float64 // one of
	}{
		{"two sides", column(1, -1), .5, []bool{true, false}, 1e-9, 100, []float64{2. / 3}, []float64{0}},
		{"at a higher cost", column(1, -1), 5, []bool{true, false}, 1e-9, 100, []float64{2 / 2.1}, []float64{0}},
		{"the other way", column(1, -1), .5, []bool{false, true}, 1e-9, 100, []float64{-2. / 3}, []float64{0}},
		{"twice the same", column(1, 1), .5, []bool{true, true}, 1e-9, 1000, []float64{.4}, []float64{.4}},
		{"one pass", column(1, 1), .5, []bool{true, true}, 1e-9, 1, []float64{4. / 9}, []float64{4. / 9}},
		{"a tolerance that one pass reaches", column(1, 1), .5, []bool{true, true}, .67, 1000, []float64{4. / 9}, []float64{4. / 9}},
		{"a tolerance that two passes reach", column(1, 1), .5, []bool{true, true}, .4, 1000, []float64{34. / 81, 10. / 27}, []float64{34. / 81, 10. / 27}},
	} {
		for seed := range uint64(4) {
			p := &Problem{X: c.x, Rows: []int32{0, 1}, C: c.cost, Tolerance: c.tolerance, Passes: c.passes, Positive: func(row int32) bool { return c.yes[row] }}
			w := p.Solve(seed).w
			is := func(v float64, of []float64) bool {
				return slices.ContainsFunc(of, func(want float64) bool { return math.Abs(v-want) < 1e-6 })
			}
			if !is(w[0], c.weight) || !is(w[1], c.offset) {
				t.Errorf("%s: w is %v, want one of %v and one of %v", c.name, w, c.weight, c.offset)
			}
		}
	}
}

// TestShrinking: a multiplier at 0 whose gradient is above the largest of the pass before changes places with the last, which is looked at next.
func TestShrinking(t *testing.T) {
	p := &Problem{X: column(3, .5, 1.5), Rows: []int32{0, 1, 2}, C: .5, Positive: func(int32) bool { return true }}
	for _, c := range []struct {
		oldHigh   float64
		left      []int32
		high, low float64
	}{
		{.6, []int32{1, 2}, 0, -.5},   // gradients of 2, -.5 and .5: the first goes
		{.5, []int32{1, 2}, 0, -.5},   // .5 is not above .5
		{.4, []int32{1}, -.5, -.5},    // the first and the last go
		{9, []int32{0, 1, 2}, 0, -.5}, // a positive gradient at 0 is no way to go
	} {
		d := p.start()
		if !slices.Equal(d.alpha, []float64{0, 0, 0}) || !slices.Equal(d.q, []float64{11, 2.25, 4.25}) || d.active != 3 || !math.IsInf(d.oldHigh, 1) {
			t.Fatalf("at the start: multipliers %v, diagonal %v, %d active", d.alpha, d.q, d.active)
		}
		d.w[0], d.oldHigh = 1, c.oldHigh
		d.pass()
		left := slices.Sorted(slices.Values(d.order[:d.active]))
		if !slices.Equal(left, c.left) || d.high != c.high || d.low != c.low {
			t.Errorf("above %v: %v are left, gradients of %v to %v, want %v, %v to %v", c.oldHigh, left, d.low, d.high, c.left, c.low, c.high)
		}
		if !near(d.alpha[1], .5/2.25) || d.alpha[0] != 0 || d.alpha[2] != 0 || !near(d.w[0], 1+.25/2.25) || !near(d.w[1], .5/2.25) {
			t.Errorf("above %v: multipliers %v, w %v", c.oldHigh, d.alpha, d.w)
		}
	}
}

// TestFoldsOf: notes of 2, 1, 2 and 2 tokens.
func TestFoldsOf(t *testing.T) {
	if got := foldsOf([]int{0, 2, 3, 5}, 7); !slices.Equal(got, []uint8{0, 0, 1, 2, 2, 0, 0}) {
		t.Errorf("%v", got)
	}
}

// TestHyperplane: rows of x = 2, -1, 1 in folds of their own, of tags 0, 1, 0. Outside fold 0 stand -1 and 1, which give w = (2/3, 0) at
// C = ½: the score of the first row is 4/3. A tag without an example outside a fold scores -1 in it.
func TestHyperplane(t *testing.T) {
	x := column(2, -1, 1)
	x.Tag = []pipeline.Tag{0, 1, 0}
	tr := &training{o: TrainOptions{C: .5}, x: x, labels: 2, fold: []uint8{0, 1, 2}, w: make([][]float32, 2), scores: [][]float32{{9, 9, 9}, {9, 9, 9}}}
	tr.hyperplane(0, 0)
	tr.hyperplane(1, 1)
	for tag, want := range [][]float64{{4. / 3, 9, 9}, {9, -1, 9}} {
		for i, v := range want {
			if !near(float64(tr.scores[tag][i]), v) {
				t.Errorf("tag %d: scores %v, want %v", tag, tr.scores[tag], want)
			}
		}
		if tr.w[tag] != nil {
			t.Errorf("tag %d: a hyperplane without a fold is that of the model", tag)
		}
	}
	tr.hyperplane(1, -1)
	if tr.w[0] != nil || len(tr.w[1]) != 2 || tr.w[1][0] >= 0 || tr.scores[1][0] != 9 {
		t.Errorf("of all rows: %v, scores %v", tr.w, tr.scores)
	}
}

// TestOrder: the most frequent tag comes first, with all its folds.
func TestOrder(t *testing.T) {
	x := column(1, -1, -1, -1, 2, 2)
	x.Tag = []pipeline.Tag{0, 1, 1, 1, 2, 2}
	var said []string
	tr := &training{o: TrainOptions{C: .5}, x: x, labels: 3, fold: []uint8{0, 1, 2, 0, 1, 2}, progress: func(s string) bool {
		said = append(said, s)
		return len(said) < 10
	}}
	if tr.solve(1) {
		t.Error("it was stopped, and says that it was not")
	}
	var want []string
	for _, tag := range []int{1, 1, 1, 1, 2, 2, 2, 2, 0, 0} {
		want = append(want, fmt.Sprintf("tag %d of 3", tag))
	}
	if !slices.Equal(said, want) {
		t.Errorf("%q, want %q", said, want)
	}
}

// TestCalibrate: a score that falls where the tag stands says nothing: its sigmoid is flat, at the share of the tag by Platt's targets.
func TestCalibrate(t *testing.T) {
	x := column(0, 0, 0, 0)
	x.Tag = []pipeline.Tag{0, 0, 1, 1}
	tr := &training{x: x, labels: 2, scores: [][]float32{{-1, -1, 1, 1}, {-1, -1, 1, 1}}}
	tr.calibrate(1)
	if tr.sigmoid[0].A != 0 || tr.sigmoid[1].A >= 0 {
		t.Errorf("sigmoids %+v", tr.sigmoid)
	}
	// Of two tags and two others the targets are ¾ and ¼: log odds of ±log 3 at ±1.
	for i, want := range []float64{-math.Log(3), -math.Log(3), math.Log(3), math.Log(3)} {
		if math.Abs(float64(tr.scores[1][i])-want) > 1e-3 || !near(float64(tr.scores[0][i]), -tr.sigmoid[0].B) {
			t.Errorf("log odds %v, want ±log 3 of tag 1, one number of tag 0", tr.scores)
		}
	}
}

// TestBegin: a bias is added wherever a path may come to the tag, and nowhere else.
func TestBegin(t *testing.T) {
	set := crftest.Set(pipeline.BIO)
	legal := chain.NewWeights(set, true)
	for tag := range set.Len() {
		w := chain.NewWeights(set, true)
		begin(w, tag, 2)
		for to := range set.Len() {
			want := legal.Start[to]
			if to == tag && set.Starts(pipeline.Tag(to)) {
				want = 2
			}
			if w.Start[to] != want {
				t.Errorf("start of %d at the bias of %d: %v, want %v", to, tag, w.Start[to], want)
			}
			for from := range set.Len() {
				want := legal.Score[from*w.L+to]
				if to == tag && set.MayFollow(pipeline.Tag(from), pipeline.Tag(to)) {
					want = 2
				}
				if got := w.Score[from*w.L+to]; got != want {
					t.Errorf("%d to %d at the bias of %d: %v, want %v", from, to, tag, got, want)
				}
			}
		}
	}
}

// TestOwnBias: the template's bias is a column of its own, at the row of its offset 0.
func TestOwnBias(t *testing.T) {
	with := NewTrainer(crftest.Parsed(t, "version 1\nbias\nword -1..1\n"), crftest.Set(pipeline.BIO), crftest.Resources(), TrainOptions{})
	without := NewTrainer(crftest.Parsed(t, "version 1\nword -1..1\n"), crftest.Set(pipeline.BIO), crftest.Resources(), TrainOptions{})
	own := crftrain.Column{Key: features.Key("bias", "1"), Row: 0}
	if !with.isBias(own) || without.isBias(own) || with.isBias(crftrain.Column{Key: own.Key, Row: 1}) || with.isBias(crftrain.Column{Key: own.Key + 1}) {
		t.Error("the bias is not told from other columns")
	}
	if unit, n := with.Work(); unit != "hyperplanes" || n != 7*4 {
		t.Errorf("work: %d %s, want one of all notes and three of folds for each of seven tags", n, unit)
	}
	if with.o.C != 0.1 {
		t.Errorf("cost %v", with.o.C)
	}
}
