package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/velum-health/velum/models/learn/crftrain"
	"github.com/velum-health/velum/models/learn/svmtrain"
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/stages/teach"
)

// beside is what LIBLINEAR and we made of one problem.
type beside struct {
	Loss      string  `json:"loss"`
	Tokens    int     `json:"tokens"`
	Columns   int     `json:"columns"`
	Tags      int     `json:"tags"`
	Objective float64 `json:"objective"`      // of the dual, all tags
	Theirs    float64 `json:"theirs"`         // of LIBLINEAR
	Relative  float64 `json:"relative"`       // of the sums
	Worst     float64 `json:"relative_worst"` // of a tag
	Gap       float64 `json:"gap"`            // ours, primal to dual
	Dev       int     `json:"dev_tokens"`
	Equal     float64 `json:"equal_tags"` // share of dev's tokens
	Seconds   float64 `json:"seconds"`
	TheirTime float64 `json:"their_seconds"`
	// Share of the optimum by which the dual of either side falls short of it, that of
	// --reference: of the sums, of the tag where it is most, of the tag of Worst.
	Short      *[3]float64 `json:"short,omitempty"`
	TheirShort *[3]float64 `json:"their_short,omitempty"`
}

// liblinear solves one against the rest of the tags of train with both losses, by us and
// by LIBLINEAR's tools with the same tolerance, and tags the tokens of dev by the largest score.
func (t *task) liblinear() error {
	corpus := crftrain.NewCorpus(t.t, t.set, t.res)
	train := 0
	for i, dir := range []string{t.train, t.dev} {
		if err := t.feed(dir, teach.New(teach.Options{TagSet: t.set, Corpus: corpus, Patterns: t.pat})); err != nil {
			return err
		}
		if i == 0 {
			train = corpus.Tokens()
		}
	}
	x := corpus.Examples(2)
	if err := write(filepath.Join(t.out, "train.txt"), x, 0, train); err != nil {
		return err
	}
	if err := write(filepath.Join(t.out, "dev.txt"), x, train, x.Rows()); err != nil {
		return err
	}
	for _, loss := range []svmtrain.Loss{svmtrain.SquaredHinge, svmtrain.Hinge} {
		b := beside{Loss: []string{"squared_hinge", "hinge"}[loss], Tokens: train, Columns: len(x.Columns), Dev: x.Rows() - train}
		objectives, tags, err := t.theirs(loss, &b)
		if err != nil {
			return err
		}
		t.ours(x, train, loss, objectives, tags, &b)
		if err := json.NewEncoder(os.Stdout).Encode(b); err != nil {
			return err
		}
	}
	return nil
}

// write writes rows as LIBLINEAR reads them; a column that stands twice would be an error there.
func write(path string, x *crftrain.Examples, lo, hi int) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	dense := make([]float32, len(x.Columns))
	for i := lo; i < hi; i++ {
		fmt.Fprint(w, x.Tag[i])
		first, last := len(dense), 0
		for k := x.Start[i]; k < x.Start[i+1]; k++ {
			c, v := int(x.Column[k]), float32(1)
			if x.Value != nil {
				v = x.Value[k]
			}
			dense[c], first, last = v, min(first, c), max(last, c+1)
		}
		for c := first; c < last; c++ {
			if dense[c] != 0 {
				fmt.Fprintf(w, " %d:%v", c+1, dense[c])
				dense[c] = 0
			}
		}
		w.WriteByte('\n')
	}
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

var (
	objective = regexp.MustCompile(`Objective value = (\S+)`)
	labels    = regexp.MustCompile(`(?m)^label (.*)$`)
)

// theirs trains and tags with LIBLINEAR: the objective of every tag, the tags of dev.
func (t *task) theirs(loss svmtrain.Loss, b *beside) (objectives map[int]float64, tags []uint8, err error) {
	in := func(name string) string { return filepath.Join(t.out, name) }
	began := time.Now()
	out, err := exec.Command("liblinear-train", "-s", []string{"1", "3"}[loss], "-c", fmt.Sprint(svmtrain.Cost), "-B", "1",
		"-e", fmt.Sprint(t.tolerance), in("train.txt"), in("model.txt")).Output()
	if err != nil {
		return nil, nil, err
	}
	b.TheirTime = time.Since(began).Seconds()
	model, err := os.ReadFile(in("model.txt"))
	if err != nil {
		return nil, nil, err
	}
	objectives = map[int]float64{}
	found := objective.FindAllSubmatch(out, -1)
	for i, label := range strings.Fields(string(labels.FindSubmatch(model)[1])) {
		tag, _ := strconv.Atoi(label)
		if objectives[tag], err = strconv.ParseFloat(string(found[i][1]), 64); err != nil {
			return nil, nil, err
		}
	}
	if err := exec.Command("liblinear-predict", in("dev.txt"), in("model.txt"), in("tags.txt")).Run(); err != nil {
		return nil, nil, err
	}
	text, err := os.ReadFile(in("tags.txt"))
	for _, line := range strings.Fields(string(text)) {
		tag, _ := strconv.Atoi(line)
		tags = append(tags, uint8(tag))
	}
	return objectives, tags, err
}

// ours does the same and compares.
func (t *task) ours(x *crftrain.Examples, train int, loss svmtrain.Loss, theirs map[int]float64, tags []uint8, b *beside) {
	began := time.Now()
	solutions := t.solve(x, train, loss, theirs, t.tolerance)
	b.Seconds = time.Since(began).Seconds()
	primal, worst := 0.0, 0
	for tag, s := range solutions {
		if s == nil {
			continue
		}
		b.Tags, b.Objective, b.Theirs, primal = b.Tags+1, b.Objective+s.Dual, b.Theirs-theirs[tag], primal+s.Primal
		if apart := math.Abs(s.Dual+theirs[tag]) / s.Dual; apart > b.Worst {
			b.Worst, worst = apart, tag
		}
	}
	b.Relative, b.Gap = math.Abs(b.Objective-b.Theirs)/b.Theirs, (primal-b.Objective)/primal
	if t.reference > 0 {
		b.Short, b.TheirShort = new([3]float64), new([3]float64)
		sum := 0.0
		for tag, s := range t.solve(x, train, loss, theirs, t.reference) {
			if s == nil {
				continue
			}
			sum += s.Dual
			for side, short := range map[*[3]float64]float64{b.Short: s.Dual - solutions[tag].Dual, b.TheirShort: s.Dual + theirs[tag]} {
				side[0], side[1] = side[0]+short, max(side[1], short/s.Dual)
				if tag == worst {
					side[2] = short / s.Dual
				}
			}
		}
		b.Short[0], b.TheirShort[0] = b.Short[0]/sum, b.TheirShort[0]/sum
	}
	for i, theirs := range tags {
		best, top := -1, math.Inf(-1)
		for tag, s := range solutions {
			if s == nil {
				continue
			}
			if v := svmtrain.Score(x, int32(train+i), s.W); v > top {
				best, top = tag, v
			}
		}
		if best == int(theirs) {
			b.Equal += 1 / float64(len(tags))
		}
	}
}

// solve finds the hyperplanes of the tags that LIBLINEAR has one of.
func (t *task) solve(x *crftrain.Examples, train int, loss svmtrain.Loss, theirs map[int]float64, tolerance float64) []*svmtrain.Solution {
	rows := make([]int32, train)
	for i := range rows {
		rows[i] = int32(i)
	}
	solutions := make([]*svmtrain.Solution, t.set.Len())
	kernels.Parallel(t.workers, t.set.Len(), func(_, tag int) {
		if _, seen := theirs[tag]; seen {
			p := &svmtrain.Problem{X: x, Rows: rows, Loss: loss, Tolerance: tolerance, Passes: svmtrain.Passes,
				Positive: func(row int32) bool { return int(x.Tag[row]) == tag }, Cost: func(int32) float64 { return svmtrain.Cost }}
			solutions[tag] = p.Solve(uint64(tag))
		}
	})
	return solutions
}
