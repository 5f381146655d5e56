package svmtrain

import (
	"math"

	"github.com/velum-health/velum/pipeline"
)

// Sigmoid turns a score f into log odds: log P/(1-P) = -(A f + B).
type Sigmoid struct{ A, B float64 }

// LogOdds returns log P/(1-P) for the score f.
func (s Sigmoid) LogOdds(f float64) float64 { return -(s.A*f + s.B) }

// Platt fits a sigmoid to scores of examples that are positive or not, by the
// maximum of the likelihood with Platt's targets, which allow for as many mistakes as there were examples to see (Platt 1999). It is
// Newton's method with backtracking of Lin, Lin and Weng 2007 (Machine Learning 68,
// appendix C), whose sums neither overflow nor cancel.
func Platt(scores []float32, positive func(i int) bool) Sigmoid {
	p := &platt{scores: scores, target: make([]float64, len(scores))}
	yes, no := 0.0, 0.0
	for i := range scores {
		if positive(i) {
			yes++
		} else {
			no++
		}
	}
	for i := range scores {
		if p.target[i] = 1 / (no + 2); positive(i) {
			p.target[i] = (yes + 1) / (yes + 2)
		}
	}
	s := Sigmoid{A: 0, B: math.Log((no + 1) / (yes + 1))}
	value := p.value(s)
	for range 100 {
		var next Sigmoid
		var fell bool
		if next, value, fell = p.step(s, value); !fell {
			break
		}
		s = next
	}
	return s
}

// platt is a negative log likelihood and what it is of.
type platt struct {
	scores []float32
	target []float64
}

// value returns -Σ t log P + (1-t) log(1-P).
func (p *platt) value(s Sigmoid) float64 {
	sum := 0.0
	for i, f := range p.scores {
		z := s.A*float64(f) + s.B
		if z >= 0 {
			sum += p.target[i]*z + math.Log1p(math.Exp(-z))
		} else {
			sum += (p.target[i]-1)*z + math.Log1p(math.Exp(z))
		}
	}
	return sum
}

// step makes one step of Newton's method, and tells whether the value fell.
func (p *platt) step(s Sigmoid, value float64) (Sigmoid, float64, bool) {
	const ridge, least, shortest, slope = 1e-12, 1e-5, 1e-10, 1e-4
	h11, h22, h21, g1, g2 := ridge, ridge, 0.0, 0.0, 0.0
	for i, score := range p.scores {
		f := float64(score)
		z := s.A*f + s.B
		e := math.Exp(-math.Abs(z))
		yes, no := e/(1+e), 1/(1+e)
		if z < 0 {
			yes, no = no, yes
		}
		d2 := yes * no
		h11, h22, h21 = h11+f*f*d2, h22+d2, h21+f*d2
		d1 := p.target[i] - yes
		g1, g2 = g1+f*d1, g2+d1
	}
	if math.Abs(g1) < least && math.Abs(g2) < least {
		return s, value, false
	}
	det := h11*h22 - h21*h21
	dA, dB := -(h22*g1-h21*g2)/det, -(-h21*g1+h11*g2)/det
	falls := g1*dA + g2*dB
	for length := 1.0; length >= shortest; length /= 2 {
		next := Sigmoid{s.A + length*dA, s.B + length*dB}
		if v := p.value(next); v < value+slope*length*falls {
			return next, v, true
		}
	}
	return s, value, false
}

// Temperature returns the τ at which P(y) = e^(τ z_y) / Σ e^(τ z) makes the tags of
// examples most probable (Guo, Pleiss, Sun and Weinberger 2017 §4.2). The binary problems
// of one against the rest look at the same token and are no independent witnesses: at two
// tags, each being the other's rest, τ is ½. z is [tags][rows]. It is Newton's method, in a convex function of one number.
func Temperature(z [][]float32, tag []pipeline.Tag) float64 {
	tau := 1.0
	row := make([]float64, len(z))
	for range 30 {
		slope, curve := 0.0, 1e-9
		for i, y := range tag {
			top := math.Inf(-1)
			for k := range z {
				row[k] = float64(z[k][i])
				top = max(top, row[k])
			}
			sum, mean, square := 0.0, 0.0, 0.0
			for _, v := range row {
				p := math.Exp(tau * (v - top))
				sum, mean, square = sum+p, mean+p*(v-top), square+p*(v-top)*(v-top)
			}
			mean, square = mean/sum, square/sum
			slope += mean - (row[y] - top)
			curve += square - mean*mean
		}
		step := min(max(slope/curve, -tau), tau/2) // at most half or twice
		tau = min(max(tau-step, 0.05), 20)
		if math.Abs(step) < 1e-6*tau {
			break
		}
	}
	return tau
}
