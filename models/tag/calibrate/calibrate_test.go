package calibrate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/tag/calibrate"
)

func examples(n int, share func(p float64) float64, seed uint64) []calibrate.Example {
	r := rand.New(rand.NewPCG(seed, 1))
	list := make([]calibrate.Example, n)
	for i := range list {
		p := r.Float64()
		list[i] = calibrate.Example{Confidence: p, Right: r.Float64() < share(p)}
	}
	return list
}

// Both methods undo a tagger that is too sure, on examples that they have not
// seen.
func TestCrossed(t *testing.T) {
	list := examples(5000, func(p float64) float64 { return p * p }, 1)
	before := calibrate.Reliable(list, 10).ECE
	for _, method := range []string{"isotonic", "platt"} {
		crossed, err := calibrate.Crossed(method, list)
		if err != nil {
			t.Fatal(err)
		}
		if after := calibrate.Reliable(crossed, 10).ECE; before < 0.15 || after > 0.04 {
			t.Errorf("%s: error %.3f before, %.3f after", method, before, after)
		}
	}
	if crossed, _ := calibrate.Crossed("none", list); crossed[7] != list[7] {
		t.Error("no calibration changes a confidence")
	}
	if _, err := calibrate.Fit("magic", list); err == nil {
		t.Error("an unknown method is taken")
	}
}

// The map rises and stays within 0 and 1, whatever it learned from.
func TestRises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []calibrate.Example
		for range rapid.IntRange(0, 60).Draw(t, "n") {
			list = append(list, calibrate.Example{
				Confidence: float64(rapid.IntRange(0, 20).Draw(t, "confidence")) / 20, Right: rapid.Bool().Draw(t, "right"),
			})
		}
		m, err := calibrate.Fit(rapid.SampledFrom(calibrate.Methods()).Draw(t, "method"), list)
		if err != nil {
			t.Fatal(err)
		}
		last := 0.0
		for k := range 101 {
			p := m.At(float64(k) / 100)
			if p < last-1e-12 || p < 0 || p > 1 {
				t.Fatalf("%s: %g after %g at %d", m.Method, p, last, k)
			}
			last = p
		}
	})
}

// Pooling finds the rising values with the least squared error: no rising
// sequence of a fine grid has less.
func TestIsotonicIsBest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		right := make([]bool, 12)
		list := make([]calibrate.Example, len(right))
		for i := range right {
			right[i] = rapid.Bool().Draw(t, "right")
			list[i] = calibrate.Example{Confidence: float64(i) / 12, Right: right[i]}
		}
		m, _ := calibrate.Fit("isotonic", list)
		if m.Method == "" {
			return // all right or all wrong
		}
		got := 0.0
		for _, e := range list {
			d := m.At(e.Confidence) - one(e.Right)
			got += d * d
		}
		// least[g] is the least error so far of sequences that end at g/60 or below
		const steps = 60
		least := make([]float64, steps+1)
		for i := range right {
			best := math.Inf(1)
			for g := range least {
				best = min(best, least[g])
				d := float64(g)/steps - one(right[i])
				least[g] = best + d*d
			}
		}
		best := math.Inf(1)
		for _, v := range least {
			best = min(best, v)
		}
		if got > best+1e-9 {
			t.Fatalf("error %.4f, %.4f is possible", got, best)
		}
	})
}

func one(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Platt's sigmoid has the gradient zero at its end: among its neighbours, none
// is likelier.
func TestPlattIsBest(t *testing.T) {
	list := examples(400, func(p float64) float64 { return 0.2 + 0.6*p }, 3)
	m, _ := calibrate.Fit("platt", list)
	right := 0
	for _, e := range list {
		if e.Right {
			right++
		}
	}
	high, low := float64(right+1)/float64(right+2), 1/float64(len(list)-right+2)
	loss := func(m calibrate.Map) (sum float64) {
		for _, e := range list {
			p, target := m.At(e.Confidence), low
			if e.Right {
				target = high
			}
			sum -= target*math.Log(p) + (1-target)*math.Log(1-p)
		}
		return sum
	}
	best := loss(m)
	for _, d := range [][2]float64{{1e-3, 0}, {-1e-3, 0}, {0, 1e-3}, {0, -1e-3}} {
		n := m
		n.A, n.B = n.A+d[0], n.B+d[1]
		if loss(n) < best {
			t.Errorf("%v is better than %v", n, m)
		}
	}
	// Surer answers that are right less often: the map must not fall.
	worse, _ := calibrate.Fit("platt", examples(400, func(p float64) float64 { return 1 - p }, 4))
	if worse.At(0.9) < worse.At(0.1) {
		t.Error("the map falls")
	}
}

func TestReliable(t *testing.T) {
	// Two bins: of four at 0.25 one is right, of two at 0.75 both.
	var list []calibrate.Example
	for _, right := range []bool{true, false, false, false} {
		list = append(list, calibrate.Example{Confidence: 0.25, Right: right})
	}
	list = append(list, calibrate.Example{Confidence: 0.75, Right: true}, calibrate.Example{Confidence: 0.75, Right: true})
	r := calibrate.Reliable(list, 2)
	if r.Examples != 6 || math.Abs(r.ECE-2./6*0.25) > 1e-12 || math.Abs(r.Brier-(0.5625+3*0.0625+2*0.0625)/6) > 1e-12 || r.Right != 0.5 {
		t.Errorf("%+v", r)
	}
	if b := r.Bins[0]; b.Count != 4 || b.Confidence != 0.25 || b.Right != 0.25 {
		t.Errorf("%+v", b)
	}
	if b := calibrate.Reliable([]calibrate.Example{{Confidence: 1, Right: true}}, 10).Bins[9]; b.Count != 1 {
		t.Error("confidence 1 is in no bin")
	}
	if r := calibrate.Reliable(nil, 10); r.ECE != 0 || len(r.Bins) != 10 {
		t.Errorf("%+v", r)
	}
}
