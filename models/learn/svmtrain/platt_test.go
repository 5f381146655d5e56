package svmtrain

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// Of scores that have two values only, the sigmoid goes through the mean target at
// each of them: two equations for A and B.
func TestPlattOfTwoScores(t *testing.T) {
	for _, c := range []struct{ yesHigh, noHigh, yesLow, noLow int }{{9, 1, 1, 9}, {30, 2, 5, 400}, {1, 0, 0, 1}, {5, 5, 5, 5}, {2, 8, 8, 2}, {3, 0, 0, 5000}} {
		var scores []float32
		var yes []bool
		add := func(n int, score float32, positive bool) {
			for range n {
				scores, yes = append(scores, score), append(yes, positive)
			}
		}
		add(c.yesHigh, 1.5, true)
		add(c.noHigh, 1.5, false)
		add(c.yesLow, -1, true)
		add(c.noLow, -1, false)
		s := Platt(scores, func(i int) bool { return yes[i] })
		nYes, nNo := float64(c.yesHigh+c.yesLow), float64(c.noHigh+c.noLow)
		high, low := (nYes+1)/(nYes+2), 1/(nNo+2)
		for _, at := range []struct {
			score   float64
			yes, no int
		}{{1.5, c.yesHigh, c.noHigh}, {-1, c.yesLow, c.noLow}} {
			p := (high*float64(at.yes) + low*float64(at.no)) / float64(at.yes+at.no)
			if got := 1 / (1 + math.Exp(-s.LogOdds(at.score))); math.Abs(got-p) > 1e-4 {
				t.Errorf("%+v at %v: probability %v, want %v", c, at.score, got, p)
			}
		}
	}
}

// Nothing near the sigmoid is more likely, and no score is too
// large for it.
func TestPlattIsTheMaximum(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	for _, scale := range []float64{1, 1e-3, 300} {
		var scores []float32
		var yes []bool
		for range 500 {
			score := r.NormFloat64() * scale
			positive := r.Float64() < 1/(1+math.Exp(2-3*score/scale))
			scores, yes = append(scores, float32(score)), append(yes, positive)
		}
		s := Platt(scores, func(i int) bool { return yes[i] })
		p := likelihood(scores, yes)
		best := p.value(s)
		for range 200 {
			near := Sigmoid{s.A * (1 + r.NormFloat64()/20), s.B * (1 + r.NormFloat64()/20)}
			if v := p.value(near); v < best-1e-6*best {
				t.Fatalf("scale %v: %+v has %v, %+v less, %v", scale, s, best, near, v)
			}
		}
	}
}

// likelihood makes the targets anew.
func likelihood(scores []float32, yes []bool) *platt {
	p := &platt{scores: scores, target: make([]float64, len(scores))}
	var n [2]float64
	for _, y := range yes {
		n[map[bool]int{true: 1}[y]]++
	}
	for i, y := range yes {
		if p.target[i] = 1 / (n[0] + 2); y {
			p.target[i] = (n[1] + 1) / (n[1] + 2)
		}
	}
	return p
}

// Two tags that are each other's rest say everything twice; three whose log odds are
// those of independent counts say it once.
func TestTemperature(t *testing.T) {
	mirrored := [][]float32{nil, nil}
	var tag []pipeline.Tag
	for _, c := range []struct {
		odds  float64
		right int // of 100
	}{{math.Log(9), 90}, {math.Log(3), 75}, {-math.Log(4), 20}} {
		for i := range 100 {
			mirrored[1], mirrored[0] = append(mirrored[1], float32(c.odds)), append(mirrored[0], float32(-c.odds))
			y := pipeline.Tag(0)
			if i < c.right {
				y = 1
			}
			tag = append(tag, y)
		}
	}
	if tau := Temperature(mirrored, tag); math.Abs(tau-0.5) > 1e-4 {
		t.Errorf("two tags: τ is %v, not ½", tau)
	}
	z := [][]float32{{}, {}, {}}
	tag = tag[:0]
	for y, n := range []int{50, 30, 20} {
		for range n {
			for k, share := range []float64{.5, .3, .2} {
				z[k] = append(z[k], float32(math.Log(share)*2))
			}
			tag = append(tag, pipeline.Tag(y))
		}
	}
	if tau := Temperature(z, tag); math.Abs(tau-0.5) > 1e-4 {
		t.Errorf("log shares doubled: τ is %v, not ½", tau)
	}
}
