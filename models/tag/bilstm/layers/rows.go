package layers

import (
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// packed is where the tokens of some sequences stand when the sequences are
// read side by side: those of one step are rows that follow each other, the
// longest sequence first, so that no row is padding. Token t of the k-th
// longest sequence is row start[t]+k.
type Packed struct {
	Start []int32 // [steps+1]
	Order []int32 // the sequences by falling length
}

func (p *Packed) Steps() int { return len(p.Start) - 1 }

func (p *Packed) Rows() int { return int(p.Start[len(p.Start)-1]) }

// step returns the rows of a step.
func (p *Packed) Step(t int) (lo, n int) { return int(p.Start[t]), int(p.Start[t+1] - p.Start[t]) }

// pack places sequences of these lengths, none of them 0.
func (p *Packed) Pack(lengths []int32) {
	p.Order = Grow(p.Order, len(lengths))
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

// batch is what a network works on: tokens in packed rows. Lists of rows of
// tables come as one run of numbers and where each list ends.
type Batch struct {
	Packed
	N        int     // tokens
	Word     []int32 // [n] row of the table of words
	Form     []int32 // [n] number of its characters below
	Chars    []int32 // of the forms, one after the other
	CharEnd  []int32 // [forms]
	Features []Valued
	Ends     []int32 // [n] of the features of a token
	Tags     []pipeline.Tag
	Length   []int32 // [sequences]
	Scale    float32 // of the loss: 1 / sequences of the step

	Masks *Masks // nil: nothing is dropped
}

// lists are rows of tables that a batch uses, each once.
type Lists struct {
	Rows []int32
	at   []int32 // of each row of the table, its place in rows; -1
}

func (l *Lists) Reset(n int) {
	for _, r := range l.Rows {
		l.at[r] = -1
	}
	l.Rows = l.Rows[:0]
	for len(l.at) < n {
		l.at = append(l.at, -1)
	}
}

func (l *Lists) Add(row int32) int32 {
	if l.at[row] < 0 {
		l.at[row] = int32(len(l.Rows))
		l.Rows = append(l.Rows, row)
	}
	return l.at[row]
}

// masks are the numbers that dropout multiplies by: 0, or what makes up for
// the zeros.
type Masks struct {
	Input  []float32   // [n][input]
	Locked []float32   // [sequences][input]
	Output [][]float32 // [layers][sequences][2·units]
}

func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}

// zero returns s with length n, all zero.
func zero(s []float32, n int) []float32 {
	s = Grow(s, n)
	clear(s)
	return s
}

// valued is a feature with a vector, and what it is multiplied by.
type Valued struct {
	Row   int32
	Value float32
}

// border is the character before the first and behind the last, as unknown ones are 0.
const Border = 1
