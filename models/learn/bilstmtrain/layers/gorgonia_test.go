package layers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gorgonia.org/gorgonia"
	"gorgonia.org/tensor"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/chain"
	"github.com/velum-health/velum/pipeline"
)

// Our nodes of the training graph are held against the same arithmetic written in
// gorgonia's own operations: what a layer gives, and every number of its gradients.

// sums builds expressions of gorgonia's operations on matrices of float64. What
// fails panics: shapes are constants of these tests.
type sums struct {
	g *gorgonia.ExprGraph
	n int
}

func must(n *gorgonia.Node, err error) *gorgonia.Node {
	if err != nil {
		panic(err)
	}
	return n
}

// matrix makes an input of numbers in rows.
func (s *sums) matrix(x []float32, columns int) *gorgonia.Node {
	data := make([]float64, len(x))
	for i, v := range x {
		data[i] = float64(v)
	}
	s.n++
	value := tensor.New(tensor.WithShape(len(x)/columns, columns), tensor.WithBacking(data))
	return gorgonia.NewMatrix(s.g, tensor.Float64, gorgonia.WithShape(len(x)/columns, columns), gorgonia.WithName(fmt.Sprint("m", s.n)), gorgonia.WithValue(value))
}

// columns makes an input a block of width columns, of rows of that many.
func (s *sums) columns(x []float32, all, width int) (blocks []*gorgonia.Node) {
	for first := 0; first < all; first += width {
		var block []float32
		for row := 0; row < len(x); row += all {
			block = append(block, x[row+first:row+first+width]...)
		}
		blocks = append(blocks, s.matrix(block, width))
	}
	return blocks
}

// pick is the matrix that takes those rows out of n.
func (s *sums) pick(rows []int32, n int) *gorgonia.Node {
	one := make([]float32, len(rows)*n)
	for i, r := range rows {
		if r >= 0 {
			one[i*n+int(r)] = 1
		}
	}
	return s.matrix(one, n)
}

func mul(a, b *gorgonia.Node) *gorgonia.Node  { return must(gorgonia.Mul(a, b)) }
func had(a, b *gorgonia.Node) *gorgonia.Node  { return must(gorgonia.HadamardProd(a, b)) }
func plus(a, b *gorgonia.Node) *gorgonia.Node { return must(gorgonia.Add(a, b)) }
func sub(a, b *gorgonia.Node) *gorgonia.Node  { return must(gorgonia.Sub(a, b)) }
func sigma(a *gorgonia.Node) *gorgonia.Node   { return must(gorgonia.Sigmoid(a)) }
func tanh(a *gorgonia.Node) *gorgonia.Node    { return must(gorgonia.Tanh(a)) }
func total(a *gorgonia.Node) *gorgonia.Node   { return must(gorgonia.Sum(a)) }
func logOf(a *gorgonia.Node) *gorgonia.Node   { return must(gorgonia.Log(a)) }
func expOf(a *gorgonia.Node) *gorgonia.Node   { return must(gorgonia.Exp(a)) }

func addAll(ns ...*gorgonia.Node) *gorgonia.Node {
	sum := ns[0]
	for _, n := range ns[1:] {
		sum = plus(sum, n)
	}
	return sum
}

// held is a layer, its inputs, and the same in gorgonia's words: the cost is what the
// layer gives times random numbers, blocks are the inputs' nodes, whose gradients put
// side by side are those of the layer.
type held struct {
	layer   Layer
	in      [][]float32
	touched func() []int32 // rows of the first input that its gradient has; nil: all
	build   func(s *sums, upstream []float32) (cost *gorgonia.Node, blocks [][]*gorgonia.Node)
}

func (h held) check(t *testing.T) {
	t.Helper()
	out := append([]float32(nil), h.layer.Forward(h.in)...)
	upstream := make([]float32, len(out))
	uniformly(rand.New(rand.NewPCG(8, 9)), upstream, 1)
	if _, last := h.layer.(*Loss); last {
		upstream[0] = 1
	}
	want := 0.0
	for i, v := range out {
		want += float64(v) * float64(upstream[i])
	}
	grads := h.layer.Backward(h.in, append([]float32(nil), upstream...))

	s := &sums{g: gorgonia.NewGraph()}
	cost, blocks := h.build(s, upstream)
	var inputs gorgonia.Nodes
	for _, b := range blocks {
		inputs = append(inputs, b...)
	}
	theirs, err := gorgonia.Grad(cost, inputs...)
	if err != nil {
		t.Fatal(err)
	}
	vm := gorgonia.NewTapeMachine(s.g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if got := cost.Value().Data().(float64); math.Abs(got-want) > 1e-4*max(1, math.Abs(got)) {
		t.Fatalf("gorgonia gives %v, the layer %v", got, want)
	}
	for k, b := range blocks {
		all := 0
		for range b {
			all += theirs[0].Shape()[1]
			compare(t, fmt.Sprintf("input %d, column %d", k, all-theirs[0].Shape()[1]), theirs[0].Value().Data().([]float64), h.block(grads[k], k, len(b), all-theirs[0].Shape()[1], theirs[0].Shape()[1]))
			theirs = theirs[1:]
		}
	}
}

// block takes a block of columns out of our gradient; rows that no token looked up are 0.
func (h held) block(grad []float32, input, blocks, first, width int) (out []float32) {
	all := blocks * width
	if input == 0 && h.touched != nil {
		whole := make([]float32, len(h.in[0]))
		for i, row := range h.touched() {
			copy(whole[int(row)*all:][:all], grad[i*all:][:all])
		}
		grad = whole
	}
	for row := 0; row+all <= len(grad); row += all {
		out = append(out, grad[row+first:row+first+width]...)
	}
	return out
}

func compare(t *testing.T, what string, want []float64, got []float32) {
	t.Helper()
	if len(want) != len(got) {
		t.Fatalf("%s: %d numbers, gorgonia has %d", what, len(got), len(want))
	}
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 {
		t.Errorf("%s: all gradients are 0, which shows nothing", what)
	}
	for i, v := range want {
		if math.Abs(float64(got[i])-v) > 1e-4*max(1, largest) {
			t.Fatalf("%s, number %d: gradient %v, gorgonia's %v", what, i, got[i], v)
		}
	}
}

func random(seed uint64, n int) []float32 {
	x := make([]float32, n)
	uniformly(rand.New(rand.NewPCG(seed, 1)), x, 1)
	return x
}

// packedOf packs sequences of these lengths.
func packedOf(lengths ...int32) *bilstm.Packed {
	p := new(bilstm.Packed)
	p.Pack(lengths)
	return p
}

func TestAffineAgainstGorgonia(t *testing.T) {
	const n, rows, width = 3, 16, 8
	in := [][]float32{random(1, n*rows), random(2, rows*width), random(3, width)}
	held{layer: &Affine{Width: width}, in: in, build: func(s *sums, r []float32) (*gorgonia.Node, [][]*gorgonia.Node) {
		x, w, b, ones := s.matrix(in[0], rows), s.matrix(in[1], width), s.matrix(in[2], width), s.matrix([]float32{1, 1, 1}, 1)
		return total(had(plus(mul(x, w), mul(ones, b)), s.matrix(r, width))), [][]*gorgonia.Node{{x}, {w}, {b}}
	}}.check(t)
}

// cell is one step of a recurrence: what the gates are given, the memory before.
type cell func(gates []*gorgonia.Node, c, v0, v1 *gorgonia.Node) (h, memory *gorgonia.Node)

func standardCell(gates []*gorgonia.Node, c, _, _ *gorgonia.Node) (h, memory *gorgonia.Node) {
	i, f, g, o := sigma(gates[0]), sigma(gates[1]), tanh(gates[2]), sigma(gates[3])
	memory = had(i, g)
	if c != nil {
		memory = plus(had(f, c), memory)
	}
	return had(o, tanh(memory)), memory
}

func coupledCell(ones *gorgonia.Node) cell {
	return func(gates []*gorgonia.Node, c, vi, vo *gorgonia.Node) (h, memory *gorgonia.Node) {
		gi, gout := gates[0], gates[1]
		if c != nil {
			gi, gout = plus(gi, mul(c, vi)), plus(gout, mul(c, vo))
		}
		i, o, z := sigma(gi), sigma(gout), tanh(gates[2])
		memory = had(i, z)
		if c != nil {
			memory = plus(had(sub(ones, i), c), memory)
		}
		return had(o, tanh(memory)), memory
	}
}

// unrolled is a recurrent layer step by step, a sequence after the other.
func unrolled(s *sums, x *gorgonia.Node, p *bilstm.Packed, lengths []int32, in [][]float32, units, gates int, r []float32) (*gorgonia.Node, [][]*gorgonia.Node) {
	w, b := s.columns(in[1], 2*gates*units, units), s.columns(in[3], 2*gates*units, units)
	half := len(in[2]) / 2
	u := [2][]*gorgonia.Node{s.columns(in[2][:half], gates*units, units), s.columns(in[2][half:], gates*units, units)}
	var v [2][]*gorgonia.Node
	step := cell(standardCell)
	if len(in) == 5 {
		half := len(in[4]) / 2
		v = [2][]*gorgonia.Node{s.columns(in[4][:half], 2*units, units), s.columns(in[4][half:], 2*units, units)}
		ones := make([]float32, units)
		for i := range ones {
			ones[i] = 1
		}
		step = coupledCell(s.matrix(ones, units))
	}
	var costs []*gorgonia.Node
	for k, sequence := range p.Order {
		for direction := range 2 {
			var h, c *gorgonia.Node
			for i := range lengths[sequence] {
				at := i
				if direction == 1 {
					at = lengths[sequence] - 1 - i
				}
				row := p.Start[at] + int32(k)
				here := mul(s.pick([]int32{row}, p.Rows()), x)
				var given []*gorgonia.Node
				for gate := range gates {
					column := direction*gates + gate
					sum := plus(mul(here, w[column]), b[column])
					if h != nil {
						sum = plus(sum, mul(h, u[direction][gate]))
					}
					given = append(given, sum)
				}
				var vi, vo *gorgonia.Node
				if v[direction] != nil {
					vi, vo = v[direction][0], v[direction][1]
				}
				h, c = step(given, c, vi, vo)
				costs = append(costs, total(had(h, s.matrix(r[int(row)*2*units+direction*units:][:units], units))))
			}
		}
	}
	blocks := [][]*gorgonia.Node{w, u[0], b}
	if v[0] != nil {
		blocks = append(blocks, v[0])
	}
	return addAll(costs...), blocks
}

func TestRecurrentAgainstGorgonia(t *testing.T) {
	const units, input = 8, 8
	lengths := []int32{2, 4, 3}
	for name, gates := range map[string]int{"lstm": 4, "coupled": 3} {
		t.Run(name, func(t *testing.T) {
			p := packedOf(lengths...)
			in := [][]float32{random(1, p.Rows()*input), random(2, input*2*gates*units), random(3, 2*units*gates*units), random(4, 2*gates*units)}
			if name == "coupled" {
				in = append(in, random(5, 2*units*2*units))
			}
			b := &Batch{Packed: *p}
			l := &Running{Recurrent{Units: units, Gates: gates}, b}
			held{layer: directions{l}, in: in, build: func(s *sums, r []float32) (*gorgonia.Node, [][]*gorgonia.Node) {
				x := s.matrix(in[0], input)
				cost, blocks := unrolled(s, x, p, lengths, in, units, gates, r)
				return cost, append([][]*gorgonia.Node{{x}}, blocks...)
			}}.check(t)
		})
	}
}

// directions gives of the gradients of u and v the first direction's half: that of the
// second is held by the gradients of x and w, which go through it.
type directions struct{ *Running }

func (d directions) Backward(in [][]float32, grad []float32) [][]float32 {
	grads := append([][]float32(nil), d.Running.Backward(in, grad)...)
	for _, k := range []int{2, 4} {
		if k < len(grads) {
			grads[k] = grads[k][:len(grads[k])/2]
		}
	}
	return grads
}

// charBatch has two forms of characters.
func charBatch() *Batch { return &Batch{Chars: []int32{2, 3, 4, 3, 5}, CharEnd: []int32{3, 5}} }

func TestConvolutionAgainstGorgonia(t *testing.T) {
	const char, width, kinds = 8, 8, 6
	b := charBatch()
	in := [][]float32{random(1, kinds*char), random(2, bilstm.FilterWidth*char*width), random(3, width)}
	l := &Convolution{B: b, Char: char, Width: width}
	held{layer: l, in: in, build: func(s *sums, r []float32) (*gorgonia.Node, [][]*gorgonia.Node) {
		chars, bias := s.matrix(in[0], char), s.matrix(in[2], width)
		filters := s.matrix(in[1], width)
		ones := s.matrix([]float32{1, 1, 1, 1, 1}, 1)
		responses := mul(ones, bias)
		for j := range bilstm.FilterWidth {
			var seen, of []int32
			l.eachPlace(func(_ int, chars []int32, i int) { seen = append(seen, bilstm.Around(chars, i+j-1)) })
			for k := range char {
				of = append(of, int32(j*char+k))
			}
			responses = plus(responses, mul(mul(s.pick(seen, kinds), chars), mul(s.pick(of, bilstm.FilterWidth*char), filters)))
		}
		// Which place is the largest of a form, and whether it is above 0, is taken from the layer.
		chosen := make([]float32, len(b.Chars)*width)
		for i, place := range l.best {
			if place >= 0 {
				chosen[int(place)*width+i%width] = r[i]
			}
		}
		return total(had(responses, s.matrix(chosen, width))), [][]*gorgonia.Node{{chars}, {filters}, {bias}}
	}}.check(t)
}

func TestSpellingAgainstGorgonia(t *testing.T) {
	const char, units, kinds, gates = 8, 8, 6, 4
	b := charBatch()
	lengths := []int32{3, 2}
	p := packedOf(lengths...)
	in := [][]float32{random(1, kinds*char), random(2, char*2*gates*units), random(3, 2*units*gates*units), random(4, 2*gates*units)}
	l := &Spelling{B: b, Char: char, R: Recurrent{Units: units, Gates: gates}}
	held{layer: firstHalf{l}, in: in, build: func(s *sums, r []float32) (*gorgonia.Node, [][]*gorgonia.Node) {
		rows := make([]int32, p.Rows())
		l.p = *p
		l.visit(func(row int, char int32) { rows[row] = char })
		chars := s.matrix(in[0], char)
		x := mul(s.pick(rows, kinds), chars)
		// Only what either direction says at its end counts.
		last := make([]float32, p.Rows()*2*units)
		for k, form := range p.Order {
			copy(last[(int(p.Start[lengths[form]-1])+k)*2*units:][:units], r[int(form)*2*units:])
			copy(last[k*2*units+units:][:units], r[int(form)*2*units+units:])
		}
		cost, blocks := unrolled(s, x, p, lengths, in, units, gates, last)
		return cost, append([][]*gorgonia.Node{{chars}}, blocks...)
	}}.check(t)
}

type firstHalf struct{ *Spelling }

func (f firstHalf) Backward(in [][]float32, grad []float32) [][]float32 {
	grads := append([][]float32(nil), f.Spelling.Backward(in, grad)...)
	grads[2] = grads[2][:len(grads[2])/2]
	return grads
}

func TestFeatureSumAgainstGorgonia(t *testing.T) {
	const width, kinds = 8, 5
	b := &Batch{N: 3, Features: []bilstm.Valued{{Row: 1, Value: 1}, {Row: 4, Value: .5}, {Row: 1, Value: -2}, {Row: 0, Value: 1}}, Ends: []int32{2, 3, 4}}
	in := [][]float32{random(1, kinds*width)}
	l := &FeatureSum{B: b, Width: width}
	held{layer: l, in: in, touched: func() []int32 { return l.Used.Rows }, build: func(s *sums, r []float32) (*gorgonia.Node, [][]*gorgonia.Node) {
		values := make([]float32, b.N*kinds)
		first := int32(0)
		for i, end := range b.Ends {
			for _, f := range b.Features[first:end] {
				values[i*kinds+int(f.Row)] += f.Value
			}
			first = end
		}
		table := s.matrix(in[0], width)
		return total(had(mul(s.matrix(values, kinds), table), s.matrix(r, width))), [][]*gorgonia.Node{{table}}
	}}.check(t)
}

func TestJoinAndDropAgainstGorgonia(t *testing.T) {
	const word, chars, words, forms, n = 8, 8, 4, 2, 3
	p := packedOf(1, 2)
	b := &Batch{Packed: *p, N: n, Word: []int32{3, 1, 3}, Form: []int32{1, 0, 1}}
	b.Masks = &Masks{Input: random(6, n*(word+chars)), Locked: random(7, 2*(word+chars)), Output: [][]float32{random(8, 2*word)}}
	mask := func(locked []float32, width int, input []float32) []float32 {
		m := make([]float32, n*width)
		for step := range p.Steps() {
			lo, rows := p.Step(step)
			copy(m[lo*width:(lo+rows)*width], locked)
		}
		for i, v := range input {
			m[i] *= v
		}
		return m
	}
	in := [][]float32{random(1, words*word), random(2, forms*chars)}
	l := &Join{B: b, Widths: []int{word, chars}, ByForm: true}
	held{layer: l, in: in, touched: func() []int32 { return l.Used.Rows }, build: func(s *sums, r []float32) (*gorgonia.Node, [][]*gorgonia.Node) {
		m := mask(b.Masks.Locked, word+chars, b.Masks.Input)
		var costs []*gorgonia.Node
		table, spelled := s.matrix(in[0], word), s.matrix(in[1], chars)
		masks, upstream := s.columns(m, word+chars, word), s.columns(r, word+chars, word)
		for k, x := range []*gorgonia.Node{mul(s.pick(b.Word, words), table), mul(s.pick(b.Form, forms), spelled)} {
			costs = append(costs, total(had(had(x, masks[k]), upstream[k])))
		}
		return addAll(costs...), [][]*gorgonia.Node{{table}, {spelled}}
	}}.check(t)

	x := [][]float32{random(3, n*word)}
	held{layer: &Drop{B: b}, in: x, build: func(s *sums, r []float32) (*gorgonia.Node, [][]*gorgonia.Node) {
		given := s.matrix(x[0], word)
		return total(had(had(given, s.matrix(mask(b.Masks.Output[0], word, nil), word)), s.matrix(r, word))), [][]*gorgonia.Node{{given}}
	}}.check(t)
}

// TestLossAgainstGorgonia: the objectives as sums over the chain, step by step.
func TestLossAgainstGorgonia(t *testing.T) {
	set := &pipeline.TagSet{Categories: []pipeline.Category{aPerson}}
	L, stride := set.Len(), kernels.Pad(set.Len())
	gold := []pipeline.Tag{0, 1, 2, 0}
	scores, pairs := random(1, len(gold)*stride), random(2, stride*stride)
	for _, objective := range []string{"path", "marginals", "softmax"} {
		t.Run(objective, func(t *testing.T) {
			b := &Batch{N: len(gold), Tags: gold, Scale: 1, Length: []int32{int32(len(gold))}}
			b.Pack(b.Length)
			in := [][]float32{scores, pairs}
			if objective == "softmax" {
				in = in[:1]
			}
			held{layer: NewLoss(b, set, objective, nil), in: in, build: func(s *sums, _ []float32) (*gorgonia.Node, [][]*gorgonia.Node) {
				first := make([]int32, L) // the tags without the padding
				for i := range first {
					first[i] = int32(i)
				}
				tags := must(gorgonia.Transpose(s.pick(first, stride)))
				x, y := s.matrix(scores, stride), s.matrix(pairs, stride)
				e := make([]*gorgonia.Node, len(gold))
				hot := make([]*gorgonia.Node, len(gold))
				for i, tag := range gold {
					e[i] = expOf(mul(mul(s.pick([]int32{int32(i)}, len(gold)), x), tags))
					hot[i] = s.pick([]int32{int32(tag)}, L)
				}
				if objective == "softmax" {
					var parts []*gorgonia.Node
					for i := range gold {
						parts = append(parts, sub(logOf(total(e[i])), logOf(total(had(e[i], hot[i])))))
					}
					return addAll(parts...), [][]*gorgonia.Node{{x}}
				}
				legal, begin := make([]float32, L*L), make([]float32, L)
				for i := range L {
					begin[i] = b2f(chain.NewWeights(set, true).Start[i] > chain.Forbidden)
					for j := range L {
						legal[i*L+j] = b2f(set.MayFollow(pipeline.Tag(i), pipeline.Tag(j)))
					}
				}
				next := had(expOf(mul(mul(s.pick(first, stride), y), tags)), s.matrix(legal, L))
				alpha := []*gorgonia.Node{had(e[0], s.matrix(begin, L))}
				path := had(alpha[0], hot[0])
				for i := range gold[1:] {
					alpha = append(alpha, had(mul(alpha[i], next), e[i+1]))
					path = had(had(mul(path, next), e[i+1]), hot[i+1])
				}
				z := logOf(total(alpha[len(gold)-1]))
				if objective == "path" {
					return sub(z, logOf(total(path))), [][]*gorgonia.Node{{x}, {y}}
				}
				ones := make([]float32, L)
				for i := range ones {
					ones[i] = 1
				}
				beta, back := s.matrix(ones, L), must(gorgonia.Transpose(next))
				var parts []*gorgonia.Node
				for i := len(gold) - 1; i >= 0; i-- {
					parts = append(parts, sub(z, logOf(total(had(had(alpha[i], beta), hot[i])))))
					beta = mul(had(beta, e[i]), back)
				}
				return addAll(parts...), [][]*gorgonia.Node{{x}, {y}}
			}}.check(t)
		})
	}
}

func b2f(b bool) float32 {
	if b {
		return 1
	}
	return 0
}
