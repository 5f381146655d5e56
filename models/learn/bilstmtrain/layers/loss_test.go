package layers

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// TestLoss holds the objectives over a chain against the sum over all paths
// written out.
func TestLoss(t *testing.T) {
	set := &pipeline.TagSet{Categories: []pipeline.Category{aPerson}}
	rng := rand.New(rand.NewPCG(6, 7))
	scores, pairs := make([]float32, 4*8), make([]float32, 8*8)
	uniformly(rng, scores, 2)
	uniformly(rng, pairs, 1)
	gold := []pipeline.Tag{0, 1, 2, 0}
	total, right, marginal := 0.0, 0.0, make([]float64, 4)
	for code := range 81 {
		y := []int{code % 3, code / 3 % 3, code / 9 % 3, code / 27}
		score, legal := 0.0, y[0] != 2
		for i := range y {
			score += float64(scores[i*8+y[i]])
			if i > 0 {
				score += float64(pairs[y[i-1]*8+y[i]])
				legal = legal && set.MayFollow(pipeline.Tag(y[i-1]), pipeline.Tag(y[i]))
			}
		}
		if !legal {
			continue
		}
		total += math.Exp(score)
		same := 0
		for i := range y {
			if y[i] == int(gold[i]) {
				marginal[i] += math.Exp(score)
				same++
			}
		}
		if same == 4 {
			right = math.Exp(score)
		}
	}
	want := map[string]float64{"path": -math.Log(right / total)}
	for _, m := range marginal {
		want["marginals"] -= math.Log(m / total)
	}
	for i := range 4 {
		row := scores[i*8:]
		sum := math.Exp(float64(row[0])) + math.Exp(float64(row[1])) + math.Exp(float64(row[2]))
		want["softmax"] += math.Log(sum) - float64(row[gold[i]])
	}
	for objective, want := range want {
		b := &Batch{N: 4, Tags: gold, Scale: 1}
		b.Length = []int32{4}
		b.Pack(b.Length)
		in := [][]float32{scores, pairs}
		if objective == "softmax" {
			in = in[:1]
		}
		if got := NewLoss(b, set, objective, nil).Forward(in)[0]; math.Abs(float64(got)-want) > 1e-4 {
			t.Errorf("%s: %v, want %v", objective, got, want)
		}
	}
}

func uniformly(rng *rand.Rand, x []float32, most float32) {
	for i := range x {
		x[i] = most * (2*rng.Float32() - 1)
	}
}

var aPerson, _ = pipeline.ParseCategory("PERSON")
