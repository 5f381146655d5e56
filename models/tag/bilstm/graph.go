package bilstm

import (
	"errors"
	"fmt"
	"hash"
	"hash/fnv"

	"github.com/chewxy/hm"
	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/velum-health/velum/models/tag/bilstm/layers"
	"github.com/velum-health/velum/pipeline"
)

// A graph is a network that gorgonia differentiates and runs: parameters are
// its inputs, layers its operations. Operation by operation, as gorgonia's own
// would be, a step of the recurrence takes dozens of nodes; that was measured
// at a fortieth of this speed. Here a layer over a whole batch is one node,
// and does its arithmetic in models/kernels.
//
// Shapes are fixed when a graph is made, and batches differ in theirs. So the
// graph is made once, for a batch of one token; its values have as many rows
// as the batch has that is in work, which no operation of ours minds.
type graph struct {
	b       layers.Batch
	masks   layers.Masks
	network parameters
	inputs  gorgonia.Nodes // in the order of network
	grads   gorgonia.Nodes // of inputs, in the same order
	tables  map[string]*layers.Lists
	cost    *gorgonia.Node
	vm      gorgonia.VM
	g       *gorgonia.ExprGraph
	ops     int
}

// newGraph makes the graph of a network with these parameters, which it reads
// and never writes.
func newGraph(a Architecture, ps parameters, set *pipeline.TagSet, weights []float64) (*graph, error) {
	g := &graph{network: ps, g: gorgonia.NewGraph(), tables: map[string]*layers.Lists{}}
	nodes := map[string]*gorgonia.Node{}
	for _, p := range ps {
		value := tensor.New(tensor.WithShape(p.rows, p.cols), tensor.WithBacking(p.data))
		nodes[p.name] = gorgonia.NewMatrix(g.g, gorgonia.Float32, gorgonia.WithName(p.name), gorgonia.WithShape(p.rows, p.cols), gorgonia.WithValue(value))
		g.inputs = append(g.inputs, nodes[p.name])
	}
	var err error
	if g.cost, err = g.build(a, nodes, set, weights); err != nil {
		return nil, err
	}
	if g.grads, err = gorgonia.Grad(g.cost, g.inputs...); err != nil {
		return nil, fmt.Errorf("gradients: %w", err)
	}
	g.vm = gorgonia.NewTapeMachine(g.g)
	return g, nil
}

// build puts the layers together.
func (g *graph) build(a Architecture, nodes map[string]*gorgonia.Node, set *pipeline.TagSet, weights []float64) (*gorgonia.Node, error) {
	named := func(names ...string) (ns gorgonia.Nodes) {
		for _, name := range names {
			if n := nodes[name]; n != nil {
				ns = append(ns, n)
			}
		}
		return ns
	}
	words := &layers.Join{B: &g.b, Widths: []int{a.Word}, ByForm: a.Chars != "none"}
	g.tables["words"] = &words.Used
	in := named("words")
	var errs []error
	apply := func(l layers.Layer, in gorgonia.Nodes) *gorgonia.Node {
		n, err := gorgonia.ApplyOp(g.op(l, len(in)), in...)
		errs = append(errs, err)
		return n
	}
	add := func(l layers.Layer, from gorgonia.Nodes) {
		in = append(in, apply(l, from))
		words.Widths = append(words.Widths, l.Columns())
	}
	switch a.Chars {
	case "cnn":
		add(&layers.Convolution{B: &g.b, Char: a.Char, Width: a.CharUnits}, named("chars", "filters", "filterbias"))
	case "lstm":
		add(&layers.Spelling{B: &g.b, Char: a.Char, R: layers.Recurrent{Units: a.CharUnits, Gates: a.gates()}}, named("chars", "wc", "uc", "bc", "vc"))
	}
	if a.Feature > 0 {
		sum := &layers.FeatureSum{B: &g.b, Width: a.Feature}
		g.tables["features"] = &sum.Used
		add(sum, named("features"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	x := apply(words, in)
	for l := range a.Layers {
		n := fmt.Sprint(l)
		x = apply(&layers.Running{Recurrent: layers.Recurrent{Units: a.Units, Gates: a.gates()}, B: &g.b}, append(gorgonia.Nodes{x}, named("w"+n, "u"+n, "b"+n, "v"+n)...))
		x = apply(&layers.Drop{B: &g.b, Level: l, Width: 2 * a.Units}, gorgonia.Nodes{x})
	}
	end := layers.NewLoss(&g.b, set, a.Objective, weights)
	x = apply(&layers.Affine{Width: end.Stride}, append(gorgonia.Nodes{x}, named("output", "outputbias")...))
	cost := apply(end, append(gorgonia.Nodes{x}, named("pairs")...))
	return cost, errors.Join(errs...)
}

// run computes the loss of the batch and all gradients.
func (g *graph) run() (float32, error) {
	defer g.vm.Reset()
	if err := g.vm.RunAll(); err != nil {
		return 0, errors.New("training: gorgonia could not run the graph") // its own words may quote values
	}
	return g.cost.Value().Data().(float32), nil
}

// gradient of the i-th parameter; of a table, that of the rows in touched.
func (g *graph) gradient(i int) []float32 { return numbers(g.grads[i].Value()) }

// touched returns the rows of a table that the batch has looked up, nil for
// other parameters.
func (g *graph) touched(i int) []int32 {
	if l := g.tables[g.network[i].name]; l != nil {
		return l.Rows
	}
	return nil
}

func numbers(v gorgonia.Value) []float32 { return v.Data().([]float32) }

// operation is what gorgonia asks of a node. Its numbers are matrices, all of
// one type; the last node gives a scalar.
type operation struct {
	what  string
	arity int
	id    int // no two nodes are ever the same
	shape tensor.Shape
}

func (g *graph) operation(what string, arity int, shape tensor.Shape) operation {
	g.ops++
	return operation{what, arity, g.ops, shape}
}

func (o operation) Arity() int            { return o.arity }
func (o operation) ReturnsPtr() bool      { return true }
func (o operation) CallsExtern() bool     { return false }
func (o operation) OverwritesInput() int  { return -1 }
func (o operation) String() string        { return fmt.Sprintf("%s#%d", o.what, o.id) }
func (o operation) WriteHash(h hash.Hash) { fmt.Fprint(h, o.String()) }

func (o operation) Hashcode() uint32 {
	h := fnv.New32a()
	o.WriteHash(h)
	return h.Sum32()
}

func (o operation) InferShape(...gorgonia.DimSizer) (tensor.Shape, error) { return o.shape, nil }

// Type is a -> ... -> a, or -> float32 for what gives a scalar.
func (o operation) Type() hm.Type {
	types := make([]hm.Type, o.arity+1)
	for i := range types {
		types[i] = hm.TypeVariable('a')
	}
	if len(o.shape) == 0 {
		types[o.arity] = tensor.Float32
	}
	return hm.NewFnType(types...)
}

// forwardOp runs a layer forwards.
type forwardOp struct {
	operation
	g *graph
	l layers.Layer

	in    [][]float32
	grads [][]float32 // of the inputs, once backwardOp has run
}

func (g *graph) op(l layers.Layer, arity int) *forwardOp {
	shape := tensor.Shape{1, l.Columns()}
	if _, last := l.(*layers.Loss); last {
		shape = tensor.ScalarShape()
	}
	return &forwardOp{operation: g.operation(fmt.Sprintf("%T", l), arity, shape), g: g, l: l}
}

func (o *forwardOp) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	o.in = o.in[:0]
	for _, v := range in {
		o.in = append(o.in, numbers(v))
	}
	out := o.l.Forward(o.in)
	if len(o.shape) == 0 {
		return gorgonia.NewF32(out[0]), nil
	}
	return matrix(out, o.l.Columns()), nil
}

func matrix(x []float32, columns int) gorgonia.Value {
	return tensor.New(tensor.WithShape(len(x)/columns, columns), tensor.WithBacking(x))
}

func (o *forwardOp) DiffWRT(inputs int) []bool {
	all := make([]bool, inputs)
	for i := range all {
		all[i] = true
	}
	return all
}

// SymDiff returns the nodes of the gradients of the inputs: one that runs the
// layer backwards and gives the first, and one for each of the others, which
// waits for that and gives what it has found.
func (o *forwardOp) SymDiff(in gorgonia.Nodes, out, grad *gorgonia.Node) (gorgonia.Nodes, error) {
	back := &backwardOp{o.g.operation(o.what+" back", 2, in[0].Shape()), o}
	first, err := gorgonia.ApplyOp(back, out, grad)
	if err != nil {
		return nil, err
	}
	nodes := gorgonia.Nodes{first}
	for i, n := range in[1:] {
		pick := &pickOp{o.g.operation(o.what+" pick", 1, n.Shape()), o, i + 1}
		node, err := gorgonia.ApplyOp(pick, first)
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node)
	}
	return nodes, nil
}

// backwardOp runs a layer backwards. Its inputs are the layer's result, which
// it does not look at and which must be there before, and the gradient of it.
type backwardOp struct {
	operation
	forward *forwardOp
}

// Type is a -> a -> a; behind a scalar float32 -> float32 -> matrix.
func (o *backwardOp) Type() hm.Type {
	if len(o.forward.shape) > 0 {
		return o.operation.Type()
	}
	return hm.NewFnType(tensor.Float32, tensor.Float32, gorgonia.TensorType{Dims: 2, Of: tensor.Float32})
}

func (o *backwardOp) Do(in ...gorgonia.Value) (gorgonia.Value, error) {
	var grad []float32
	if len(o.forward.shape) > 0 {
		grad = numbers(in[1])
	}
	o.forward.grads = o.forward.l.Backward(o.forward.in, grad)
	return matrix(o.forward.grads[0], o.shape[1]), nil
}

// pickOp gives the gradient of another input.
type pickOp struct {
	operation
	forward *forwardOp
	input   int
}

func (o *pickOp) Do(...gorgonia.Value) (gorgonia.Value, error) {
	return matrix(o.forward.grads[o.input], o.shape[1]), nil
}
