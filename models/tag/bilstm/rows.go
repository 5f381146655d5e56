package bilstm

import (
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
)

// Packed lays several sequences out for processing side by side, time step by time step. The tokens of one step are
// consecutive rows, the longest sequence first, so that no row is padding. Token t of the k-th longest sequence is row
// Start[t]+k.
type Packed struct {
	Start []int32 // [steps+1]
	Order []int32 // the sequences by falling length
}

// Steps returns the number of time steps, the length of the longest sequence.
func (p *Packed) Steps() int { return len(p.Start) - 1 }

// Rows returns the number of tokens of all sequences.
func (p *Packed) Rows() int { return int(p.Start[len(p.Start)-1]) }

// Step returns the first row of step t and the number of rows.
func (p *Packed) Step(t int) (lo, n int) { return int(p.Start[t]), int(p.Start[t+1] - p.Start[t]) }

// Pairs returns the first row and the number of rows of step t, the first row of the neighbouring step s, and how many
// rows of t have a counterpart there; those come first.
func (p *Packed) Pairs(t, s int) (lo, n, before, have int) {
	lo, n = p.Step(t)
	if s < 0 || s >= p.Steps() {
		return lo, n, 0, 0
	}
	before, have = p.Step(s)
	return lo, n, before, min(n, have)
}

// Pack computes the layout for sequences of these lengths, which must not be 0.
func (p *Packed) Pack(lengths []int32) {
	p.Order = kernels.Grow(p.Order, len(lengths))
	for i := range p.Order {
		p.Order[i] = int32(i)
	}
	slices.SortStableFunc(p.Order, func(a, b int32) int { return int(lengths[b] - lengths[a]) })
	p.Start = append(p.Start[:0], 0)
	active := len(lengths)
	for t := int32(0); ; t++ {
		for active > 0 && lengths[p.Order[active-1]] <= t {
			active--
		}
		if active == 0 {
			return
		}
		p.Start = append(p.Start, p.Start[t]+int32(active))
	}
}

// Valued is the row of a feature vector with the factor by which it is multiplied.
type Valued = kernels.Valued

// Border is the number of the imaginary character before the first and behind the last character of a form; unknown
// characters have number 0.
const Border = 1

// FilterWidth is the number of characters under a filter of the convolution.
const FilterWidth = 3

// Around returns the character at index i of a form, and Border outside.
func Around(chars []int32, i int) int32 {
	if i < 0 || i >= len(chars) {
		return Border
	}
	return chars[i]
}
