// Package calibrate turns confidences into probabilities.
//
//	in:  confidences of answers, and which of the answers were right
//	out: a rising map from [0, 1] to [0, 1]; how far confidences lie from shares
//
// A tagger's P(y*|x) says how far its best answer is ahead of the others, and
// is a probability only where the model is right: fitted to few notes, it is
// too sure. What of 100 notes of confidence 0.9 is right can be measured on
// held-out notes, and the map that makes it 90 is learned there: by isotonic
// regression (Zadrozny and Elkan 2002; pool adjacent violators) or by Platt's
// sigmoid (Platt 1999, with his target values; Newton's method as in Lin, Lin
// and Weng 2007).
package calibrate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Example is an answer: how sure the tagger was and whether it was right.
type Example struct {
	Confidence float64
	Right      bool
}

// Map is a calibration. The zero value changes nothing. It is data: it can be
// written as JSON.
type Map struct {
	Method string `json:"method,omitempty"` // "isotonic", "platt"; "" for none
	// X and Y are the corners of the isotonic map, both rising; between them
	// it is straight, outside flat.
	X []float64 `json:"x,omitempty"`
	Y []float64 `json:"y,omitempty"`
	// A and B are those of Platt's 1 / (1 + exp(A·z + B)), z the log odds of
	// the confidence.
	A float64 `json:"a,omitempty"`
	B float64 `json:"b,omitempty"`
}

// Methods returns the names that Fit takes.
func Methods() []string { return []string{"none", "isotonic", "platt"} }

// Fit learns a map. The error names an unknown method. With fewer than ten
// examples, or with right or wrong answers only, nothing can be learned and
// the map changes nothing.
func Fit(method string, examples []Example) (Map, error) {
	if !slices.Contains(Methods(), method) {
		return Map{}, fmt.Errorf("unknown calibration %q", method)
	}
	right := 0
	for _, e := range examples {
		if e.Right {
			right++
		}
	}
	if method == "none" || len(examples) < 10 || right == 0 || right == len(examples) {
		return Map{}, nil
	}
	if method == "platt" {
		return platt(examples, right), nil
	}
	return isotonic(examples), nil
}

// At returns the probability for a confidence. It never falls as p rises.
func (m *Map) At(p float64) float64 {
	p = min(max(p, 0), 1)
	switch m.Method {
	case "isotonic":
		return m.between(p)
	case "platt":
		return sigmoid(-m.A*logOdds(p) - m.B)
	}
	return p
}

func (m *Map) between(p float64) float64 {
	i, _ := slices.BinarySearch(m.X, p)
	switch {
	case i == 0:
		return m.Y[0]
	case i == len(m.X):
		return m.Y[i-1]
	}
	share := (p - m.X[i-1]) / (m.X[i] - m.X[i-1])
	return m.Y[i-1] + share*(m.Y[i]-m.Y[i-1])
}

// block is a run of examples that get one value.
type block struct{ from, to, right, n float64 }

func (b block) share() float64 { return b.right / b.n }

// isotonic finds the rising map with the least squared error by pooling
// adjacent violators. Between its steps it is straight. Joining the middles of
// the steps, so that of two confidences the higher one stays higher, was tried:
// with a hundred examples the steps are wide and the map missed them by half.
func isotonic(examples []Example) Map {
	sorted := slices.Clone(examples)
	slices.SortFunc(sorted, func(a, b Example) int { return cmp.Compare(a.Confidence, b.Confidence) })
	var blocks []block
	for i := 0; i < len(sorted); {
		at := sorted[i].Confidence
		b := block{from: at, to: at}
		for ; i < len(sorted) && sorted[i].Confidence == at; i++ {
			b.n++
			if sorted[i].Right {
				b.right++
			}
		}
		blocks = append(blocks, b)
		for n := len(blocks); n > 1 && blocks[n-2].share() >= blocks[n-1].share(); n-- {
			last := blocks[n-1]
			blocks[n-2] = block{blocks[n-2].from, last.to, blocks[n-2].right + last.right, blocks[n-2].n + last.n}
			blocks = blocks[:n-1]
		}
	}
	m := Map{Method: "isotonic"}
	for _, b := range blocks {
		m.X, m.Y = append(m.X, b.from), append(m.Y, b.share())
		if b.to > b.from {
			m.X, m.Y = append(m.X, b.to), append(m.Y, b.share())
		}
	}
	return m
}

// platt fits the sigmoid by Newton's method with backtracking. The targets are
// Platt's: (n₊+1)/(n₊+2) and 1/(n₋+2), so that no share becomes 0 or 1.
func platt(examples []Example, right int) Map {
	high := (float64(right) + 1) / (float64(right) + 2)
	low := 1 / (float64(len(examples)-right) + 2)
	z, target := make([]float64, len(examples)), make([]float64, len(examples))
	for i, e := range examples {
		z[i], target[i] = logOdds(e.Confidence), low
		if e.Right {
			target[i] = high
		}
	}
	loss := func(a, b float64) (sum float64) {
		for i, x := range z {
			f := a*x + b
			sum += target[i]*f + softplus(-f)
		}
		return sum
	}
	a, b := 0.0, math.Log(float64(len(examples)-right+1)/float64(right+1))
	value := loss(a, b)
	for range 100 {
		// gradient and Hessian of Σ t·f + log(1 + e^-f), f = a·z + b
		ga, gb, haa, hab, hbb := 0.0, 0.0, 1e-12, 0.0, 1e-12
		for i, x := range z {
			p := sigmoid(-(a*x + b))
			d, w := target[i]-p, p*(1-p)
			ga += d * x
			gb += d
			haa += w * x * x
			hab += w * x
			hbb += w
		}
		if math.Abs(ga) < 1e-9 && math.Abs(gb) < 1e-9 {
			break
		}
		det := haa*hbb - hab*hab
		da, db := -(hbb*ga-hab*gb)/det, -(haa*gb-hab*ga)/det
		step := 1.0
		for ; step > 1e-10; step /= 2 {
			if next := loss(a+step*da, b+step*db); next < value+1e-4*step*(ga*da+gb*db) {
				a, b, value = a+step*da, b+step*db, next
				break
			}
		}
		if step <= 1e-10 {
			break
		}
	}
	if a > 0 { // surer answers are worse: nothing to go by, and a map must rise
		a, b = 0, math.Log(float64(len(examples)-right)/float64(right))
	}
	return Map{Method: "platt", A: a, B: b}
}

// sure is how near to 0 and 1 confidences may come before log odds: a float32
// next to 1 is 6e-8 away.
const sure = 1e-7

func logOdds(p float64) float64 {
	p = min(max(p, sure), 1-sure)
	return math.Log(p / (1 - p))
}

func sigmoid(z float64) float64 {
	if z >= 0 {
		return 1 / (1 + math.Exp(-z))
	}
	e := math.Exp(z)
	return e / (1 + e)
}

func softplus(z float64) float64 { return max(z, 0) + math.Log1p(math.Exp(-math.Abs(z))) }

// folds of Crossed: fewer examples than that many are left as they are.
const folds = 5

// Crossed returns the examples with the confidence that a map gives them which
// was learned from the others, by fifths: what calibration is worth on answers
// that it has not seen.
func Crossed(method string, examples []Example) ([]Example, error) {
	crossed := slices.Clone(examples)
	for fold := range folds {
		var others []Example
		for i, e := range examples {
			if i%folds != fold {
				others = append(others, e)
			}
		}
		m, err := Fit(method, others)
		if err != nil {
			return nil, err
		}
		for i := fold; i < len(crossed); i += folds {
			crossed[i].Confidence = m.At(crossed[i].Confidence)
		}
	}
	return crossed, nil
}

// Bin is the examples whose confidence lies in [From, To); the last one holds
// 1 too.
type Bin struct {
	From       float64 `json:"from"`
	To         float64 `json:"to"`
	Count      int     `json:"count"`
	Confidence float64 `json:"confidence"` // mean
	Right      float64 `json:"right"`      // share
}

// Reliability is how far confidences lie from shares.
type Reliability struct {
	Examples int     `json:"examples"`
	Right    float64 `json:"right"` // share of all
	// ECE is the expected calibration error: the mean distance of confidence
	// and share over the bins, weighted by their examples (Naeini et al. 2015).
	ECE float64 `json:"ece"`
	// Brier is the mean squared distance of confidence and outcome.
	Brier float64 `json:"brier"`
	Bins  []Bin   `json:"bins"` // all of equal width, empty ones too
}

// Reliable measures the examples in so many bins.
func Reliable(examples []Example, bins int) Reliability {
	r := Reliability{Examples: len(examples), Bins: make([]Bin, bins)}
	for k := range r.Bins {
		r.Bins[k].From, r.Bins[k].To = float64(k)/float64(bins), float64(k+1)/float64(bins)
	}
	for _, e := range examples {
		p := e.Confidence
		b := &r.Bins[min(int(p*float64(bins)), bins-1)]
		b.Count++
		b.Confidence += p
		miss := p
		if e.Right {
			b.Right++
			r.Right++
			miss = 1 - p
		}
		r.Brier += miss * miss
	}
	n := float64(max(len(examples), 1))
	r.Right /= n
	r.Brier /= n
	for k := range r.Bins {
		b := &r.Bins[k]
		if b.Count > 0 {
			r.ECE += math.Abs(b.Confidence-b.Right) / n
			b.Confidence /= float64(b.Count)
			b.Right /= float64(b.Count)
		}
	}
	return r
}
