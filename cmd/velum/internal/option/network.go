package option

import (
	"cmp"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
)

// Variant returns the named network and its training, changed as the options
// say.
func (n *Network) Variant() (bilstm.Architecture, bilstm.Recipe, error) {
	a, r, err := bilstm.Variant(n.Named)
	if err != nil {
		return a, r, err
	}
	a.Chars, a.Cell, a.Objective = cmp.Or(n.Chars, a.Chars), cmp.Or(n.Cell, a.Cell), cmp.Or(n.Objective, a.Objective)
	a.Units, a.Layers = kernels.Pad(cmp.Or(n.Units, a.Units)), cmp.Or(n.Layers, a.Layers)
	r.Epochs, r.Batch, r.Rate = cmp.Or(n.Epochs, r.Epochs), cmp.Or(n.Batch, r.Batch), cmp.Or(n.Rate, r.Rate)
	a.Window = unlessBelowZero(n.Window, a.Window)
	r.Swap, r.Noise, r.Frozen = unlessBelowZero(n.Swap, r.Swap), unlessBelowZero(n.Noise, r.Noise), n.Frozen
	r.Blind = n.Blind
	return a, r, nil
}

func unlessBelowZero[T int | float64](n, otherwise T) T {
	if n < 0 {
		return otherwise
	}
	return n
}
