package bilstm

import (
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
)

// Packed says where the tokens of some sequences stand when the sequences are
// read side by side: those of one step are rows that follow each other, the
// longest sequence first, so that no row is padding. Token t of the k-th
// longest sequence is row Start[t]+k.
type Packed struct {
	Start []int32 // [steps+1]
	Order []int32 // the sequences by falling length
}

// Steps returns the length of the longest sequence.
func (p *Packed) Steps() int { return len(p.Start) - 1 }

// Rows returns the number of tokens.
func (p *Packed) Rows() int { return int(p.Start[len(p.Start)-1]) }

// Step returns the rows of a step.
func (p *Packed) Step(t int) (lo, n int) { return int(p.Start[t]), int(p.Start[t+1] - p.Start[t]) }

// Pairs returns the rows of step t, and how many of them have a row at step s,
// which was before: those come first.
func (p *Packed) Pairs(t, s int) (lo, n, before, have int) {
	lo, n = p.Step(t)
	if s < 0 || s >= p.Steps() {
		return lo, n, 0, 0
	}
	before, have = p.Step(s)
	return lo, n, before, min(n, have)
}

// Pack places sequences of these lengths, none of them 0.
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

// Valued is a feature with a vector, and what the vector is multiplied by.
type Valued struct {
	Row   int32
	Value float32
}

// Border is the number of the character before the first and behind the last;
// unknown characters have 0.
const Border = 1

// FilterWidth is how many characters a filter of the convolution sees.
const FilterWidth = 3

// Around returns the character at place i of a form, a border on either side.
func Around(chars []int32, i int) int32 {
	if i < 0 || i >= len(chars) {
		return Border
	}
	return chars[i]
}
