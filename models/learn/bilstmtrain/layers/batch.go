package layers

import (
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/pipeline"
)

// Batch is the input of one training step: tokens in packed rows (see bilstm.Packed). A list of lists is stored as one
// array of numbers and the end of each list in it.
type Batch struct {
	bilstm.Packed
	N        int     // tokens
	Word     []int32 // [N] row of the table of words
	Form     []int32 // [N] number of its characters below
	Chars    []int32 // of the forms, one after the other
	CharEnd  []int32 // [forms]
	Features []bilstm.Valued
	Ends     []int32 // [N] of the features of a token
	Tags     []pipeline.Tag
	Length   []int32 // [sequences]
	Scale    float32 // of the loss: 1 / sequences of the step

	Masks *Masks // nil: nothing is dropped
}

// Lists is a set of rows of a table that a batch uses, each once.
type Lists struct {
	Rows []int32
	at   []int32 // of each row of the table, its place in Rows; -1
}

// Reset empties the set for a table of n rows.
func (l *Lists) Reset(n int) {
	for _, r := range l.Rows {
		l.at[r] = -1
	}
	l.Rows = l.Rows[:0]
	for len(l.at) < n {
		l.at = append(l.at, -1)
	}
}

// Add returns the position of a row in Rows, adding it if it is new.
func (l *Lists) Add(row int32) int32 {
	if l.at[row] < 0 {
		l.at[row] = int32(len(l.Rows))
		l.Rows = append(l.Rows, row)
	}
	return l.at[row]
}

// Masks holds the factors of dropout: 0 for a dropped number, and the scale that compensates for it otherwise.
type Masks struct {
	Input  []float32   // [N][input]
	Locked []float32   // [sequences][input]
	Output [][]float32 // [layers][sequences][2·units]
}

// zero returns s with length n, all zero.
func zero(s []float32, n int) []float32 {
	s = kernels.Grow(s, n)
	clear(s)
	return s
}
