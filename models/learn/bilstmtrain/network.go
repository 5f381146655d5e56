package bilstmtrain

import (
	"fmt"

	"github.com/velum-health/velum/models/learn/bilstmtrain/layers"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/pipeline"
)

// A network holds the layers of a training in order. It computes the forward pass for a batch, and the backward pass
// for the gradients of the parameters. Each worker has a network with its own scratch space; the parameters are shared
// and only read.
//
// gorgonia, which differentiates expressions automatically, needs dozens of nodes per step of the recurrence and is
// forty times slower; tests compare the gradients of every layer with it.
type network struct {
	b      layers.Batch
	masks  layers.Masks
	values [][]float32 // the parameters, then what each node gives
	grads  [][]float32 // of values, as far as the network has run backwards
	nodes  []node
	tables map[string]*layers.Lists // rows of the tables that the batch has looked up
}

// node is a layer that has its place in a network.
type node struct {
	layers.Layer
	in    []int // in values
	out   int
	given [][]float32
}

// newNetwork puts the layers together.
func newNetwork(a bilstm.Architecture, ps bilstm.Parameters, set *pipeline.TagSet, weights []float64) *network {
	n := &network{tables: map[string]*layers.Lists{}}
	at := map[string]int{}
	for i, p := range ps {
		at[p.Name] = i
		n.values = append(n.values, p.Data)
	}
	n.grads = make([][]float32, len(ps))
	named := func(names ...string) (in []int) {
		for _, name := range names {
			if i, ok := at[name]; ok {
				in = append(in, i)
			}
		}
		return in
	}
	add := func(l layers.Layer, in []int) (out int) {
		out = len(n.values)
		n.nodes = append(n.nodes, node{Layer: l, in: in, out: out, given: make([][]float32, len(in))})
		n.values, n.grads = append(n.values, nil), append(n.grads, nil)
		return out
	}
	words := &layers.Join{B: &n.b, Widths: []int{a.Word}, ByForm: a.Chars != "none"}
	n.tables["words"] = &words.Used
	in := named("words")
	switch a.Chars {
	case "cnn":
		in = append(in, add(&layers.Convolution{B: &n.b, Char: a.Char, Width: a.CharUnits}, named("chars", "filters", "filterbias")))
	case "lstm":
		in = append(in, add(&layers.Spelling{B: &n.b, Char: a.Char, R: layers.Recurrent{Units: a.CharUnits, Gates: a.Gates()}},
			named("chars", "wc", "uc", "bc", "vc")))
	}
	if a.Chars != "none" {
		words.Widths = append(words.Widths, a.CharWidth())
	}
	if a.Feature > 0 {
		sum := &layers.FeatureSum{B: &n.b, Width: a.Feature}
		n.tables["features"] = &sum.Used
		in, words.Widths = append(in, add(sum, named("features"))), append(words.Widths, a.Feature)
	}
	x := add(words, in)
	for l := range a.Layers {
		name := fmt.Sprint(l)
		x = add(&layers.Running{Recurrent: layers.Recurrent{Units: a.Units, Gates: a.Gates()}, B: &n.b},
			append([]int{x}, named("w"+name, "u"+name, "b"+name, "v"+name)...))
		x = add(&layers.Drop{B: &n.b, Level: l}, []int{x})
	}
	end := layers.NewLoss(&n.b, set, a.Objective, weights)
	x = add(&layers.Affine{Width: end.Stride}, append([]int{x}, named("output", "outputbias")...))
	add(end, append([]int{x}, named("pairs")...))
	return n
}

// run computes the loss of the batch and all gradients.
func (n *network) run() (loss float32) {
	for _, l := range n.nodes {
		for k, i := range l.in {
			l.given[k] = n.values[i]
		}
		n.values[l.out] = l.Forward(l.given)
	}
	loss = n.values[len(n.values)-1][0]
	for k := len(n.nodes) - 1; k >= 0; k-- {
		l := &n.nodes[k]
		for k, grad := range l.Backward(l.given, n.grads[l.out]) {
			n.grads[l.in[k]] = grad
		}
	}
	return loss
}
