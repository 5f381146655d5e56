// Package layers implements the forward and backward passes of the network in training: layers, recurrence, losses, and
// the batch that they work on. It knows neither words nor files.
package layers

import (
	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
)

// A Layer computes one matrix from several. Its result is valid until the next call. Layers may also read the batch
// that they were made for.
type Layer interface {
	Forward(in [][]float32) []float32
	// Backward returns the gradients of all inputs, given that of the result, which it may overwrite. For a table of
	// vectors it returns those of the rows that were looked up.
	Backward(in [][]float32, grad []float32) [][]float32
}

// Convolution is the vector of a token from its characters (Ma and Hovy 2016):
//
//	in:  characters [C][char], filters [3·char][F], bias [1][F]
//	out: [forms][F], max(0, max over places of filter and characters around)
type Convolution struct {
	B           *Batch
	Char, Width int

	around  []float32 // [places][3·char] vectors of the characters around each place
	filters Affine    // [places][F]
	best    []int32   // [forms][F] place of the largest; -1: none is above 0
	out     []float32

	dresponses, dchars []float32
}

// inputs are those of the filters.
func (c *Convolution) inputs(in [][]float32) [][]float32 { return [][]float32{c.around, in[1], in[2]} }

func (c *Convolution) Forward(in [][]float32) []float32 {
	places, span := len(c.B.Chars), bilstm.FilterWidth*c.Char
	c.around, c.filters.Width = kernels.Grow(c.around, places*span), c.Width
	c.eachPlace(func(place int, chars []int32, i int) {
		for j := range bilstm.FilterWidth {
			copy(c.around[place*span+j*c.Char:][:c.Char], in[0][int(bilstm.Around(chars, i+j-1))*c.Char:])
		}
	})
	responses := c.filters.Forward(c.inputs(in))
	forms := len(c.B.CharEnd)
	c.out, c.best = zero(c.out, forms*c.Width), kernels.Grow(c.best, forms*c.Width)
	for i := range c.best {
		c.best[i] = -1
	}
	place := 0
	for form, end := range c.B.CharEnd {
		out, best := c.out[form*c.Width:][:c.Width], c.best[form*c.Width:][:c.Width]
		for ; place < int(end); place++ {
			kernels.Largest(out, best, responses[place*c.Width:][:c.Width], int32(place))
		}
	}
	return c.out
}

// eachPlace calls do for every character of every form.
func (c *Convolution) eachPlace(do func(place int, chars []int32, i int)) {
	first := int32(0)
	for _, end := range c.B.CharEnd {
		chars := c.B.Chars[first:end]
		for i := range chars {
			do(int(first)+i, chars, i)
		}
		first = end
	}
}

func (c *Convolution) Backward(in [][]float32, grad []float32) [][]float32 {
	places, span := len(c.B.Chars), bilstm.FilterWidth*c.Char
	c.dresponses = zero(c.dresponses, places*c.Width)
	for i, place := range c.best {
		if place >= 0 {
			c.dresponses[int(place)*c.Width+i%c.Width] += grad[i]
		}
	}
	grads := c.filters.Backward(c.inputs(in), c.dresponses)
	c.dchars = zero(c.dchars, len(in[0]))
	c.eachPlace(func(place int, chars []int32, i int) {
		for j := range bilstm.FilterWidth {
			kernels.Add(c.dchars[int(bilstm.Around(chars, i+j-1))*c.Char:], grads[0][place*span+j*c.Char:][:c.Char])
		}
	})
	grads[0] = c.dchars
	return grads
}

// Spelling is the vector of a token by a recurrent layer over its characters
// (BOOT §3.5, INV §4.3.4): what either direction says when it has read all.
//
//	in:  characters [C][char], then as recurrent
//	out: [forms][2·units]
type Spelling struct {
	B    *Batch
	Char int
	R    Recurrent

	p       bilstm.Packed
	length  []int32
	x       []float32 // [places][char]
	out, dh []float32
	dchars  []float32
}

// visit calls do with every place in packed rows and its character.
func (s *Spelling) visit(do func(row int, char int32)) {
	for t := range s.p.Steps() {
		lo, n := s.p.Step(t)
		for k := range n {
			do(lo+k, s.B.Chars[s.firstOf(s.p.Order[k])+int32(t)])
		}
	}
}

func (s *Spelling) firstOf(form int32) int32 {
	if form == 0 {
		return 0
	}
	return s.B.CharEnd[form-1]
}

// ends calls do with every form and the rows of its first and last character.
func (s *Spelling) ends(do func(form int32, first, last int)) {
	for k, form := range s.p.Order {
		lo, _ := s.p.Step(int(s.length[form]) - 1)
		do(form, k, lo+k)
	}
}

func (s *Spelling) Forward(in [][]float32) []float32 {
	s.length = s.length[:0]
	for form, end := range s.B.CharEnd {
		s.length = append(s.length, end-s.firstOf(int32(form)))
	}
	s.p.Pack(s.length)
	s.x = kernels.Grow(s.x, s.p.Rows()*s.Char)
	s.visit(func(row int, char int32) {
		copy(s.x[row*s.Char:][:s.Char], in[0][int(char)*s.Char:])
	})
	s.R.reset(&s.p)
	h, units, width := s.R.Forward(s.inputs(in)), s.R.Units, 2*s.R.Units
	s.out = kernels.Grow(s.out, len(s.length)*width)
	s.ends(func(form int32, first, last int) {
		out := s.out[int(form)*width:][:width]
		copy(out[:units], h[last*width:])
		copy(out[units:], h[first*width+units:])
	})
	return s.out
}

func (s *Spelling) inputs(in [][]float32) [][]float32 {
	return append([][]float32{s.x}, in[1:]...)
}

func (s *Spelling) Backward(in [][]float32, grad []float32) [][]float32 {
	units, width := s.R.Units, 2*s.R.Units
	s.dh = zero(s.dh, s.p.Rows()*width)
	s.ends(func(form int32, first, last int) {
		d := grad[int(form)*width:][:width]
		copy(s.dh[last*width:][:units], d)
		copy(s.dh[first*width+units:][:units], d[units:])
	})
	grads := s.R.Backward(s.inputs(in), s.dh)
	s.dchars = zero(s.dchars, len(in[0]))
	s.visit(func(row int, char int32) {
		kernels.Add(s.dchars[int(char)*s.Char:], grads[0][row*s.Char:][:s.Char])
	})
	grads[0] = s.dchars
	return grads
}

// FeatureSum adds the vectors of the features of each token.
//
//	in:  table [features][width]
//	out: [n][width]
type FeatureSum struct {
	B     *Batch
	Width int
	Used  Lists
	out   []float32
	d     []float32
}

func (s *FeatureSum) Forward(in [][]float32) []float32 {
	s.out = zero(s.out, s.B.N*s.Width)
	first := int32(0)
	for i, end := range s.B.Ends {
		out := s.out[i*s.Width:][:s.Width]
		for _, f := range s.B.Features[first:end] {
			kernels.Axpy(f.Value, in[0][int(f.Row)*s.Width:][:s.Width], out)
		}
		first = end
	}
	return s.out
}

func (s *FeatureSum) Backward(in [][]float32, grad []float32) [][]float32 {
	s.Used.Reset(len(in[0]) / s.Width)
	for _, f := range s.B.Features {
		s.Used.Add(f.Row)
	}
	s.d = zero(s.d, len(s.Used.Rows)*s.Width)
	first := int32(0)
	for i, end := range s.B.Ends {
		for _, f := range s.B.Features[first:end] {
			kernels.Axpy(f.Value, grad[i*s.Width:][:s.Width], s.d[int(s.Used.at[f.Row])*s.Width:])
		}
		first = end
	}
	return [][]float32{s.d}
}

// Join puts the vectors of a token's word, characters and features side by
// side, and drops some of the numbers.
//
//	in:  table of words [words][word], characters [forms][chars], features [n][features]; the latter two may be missing
//	out: [n][word+chars+features]
type Join struct {
	B      *Batch
	Widths []int
	ByForm bool // the second input has a row a form, not one a token
	Used   Lists
	out    []float32
	d      [][]float32
}

// columns returns the length of the vector of a token.
func (j *Join) columns() int {
	sum := 0
	for _, w := range j.Widths {
		sum += w
	}
	return sum
}

// row returns which row of input k belongs to token i.
func (j *Join) row(k, i int) int {
	switch {
	case k == 0:
		return int(j.B.Word[i])
	case k == 1 && j.ByForm:
		return int(j.B.Form[i])
	}
	return i
}

func (j *Join) Forward(in [][]float32) []float32 {
	all := j.columns()
	j.out = kernels.Grow(j.out, j.B.N*all)
	for i := range j.B.N {
		to := j.out[i*all:][:all]
		for k, w := range j.Widths {
			copy(to[:w], in[k][j.row(k, i)*w:])
			to = to[w:]
		}
	}
	if m := j.B.Masks; m != nil {
		kernels.Multiply(j.out, j.out, m.Input)
		j.B.lock(j.out, j.out, m.Locked)
	}
	return j.out
}

func (j *Join) Backward(in [][]float32, grad []float32) [][]float32 {
	all := j.columns()
	if m := j.B.Masks; m != nil {
		kernels.Multiply(j.out, grad, m.Input)
		j.B.lock(j.out, j.out, m.Locked)
		grad = j.out
	}
	j.Used.Reset(len(in[0]) / j.Widths[0])
	for _, w := range j.B.Word {
		j.Used.Add(w)
	}
	j.d = kernels.Grow(j.d, len(j.Widths))
	for k, w := range j.Widths {
		rows := len(in[k]) / w
		if k == 0 {
			rows = len(j.Used.Rows)
		}
		j.d[k] = zero(j.d[k], rows*w)
	}
	for i := range j.B.N {
		from := grad[i*all:][:all]
		for k, w := range j.Widths {
			row := j.row(k, i)
			if k == 0 {
				row = int(j.Used.at[row])
			}
			kernels.Add(j.d[k][row*w:], from[:w])
			from = from[w:]
		}
	}
	return j.d
}

// lock writes x to dst with the rows of a sequence multiplied by its row of the
// mask. dst may be x.
func (b *Batch) lock(dst, x, mask []float32) {
	width := len(mask) / len(b.Order)
	for t := range b.Steps() {
		lo, n := b.Step(t)
		kernels.Multiply(dst[lo*width:], x[lo*width:(lo+n)*width], mask)
	}
}

// Drop applies dropout to the output of a layer, with the same mask for all tokens of a sequence (Gal and Ghahramani
// 2016).
type Drop struct {
	B      *Batch
	Level  int // number of the layer
	out, d []float32
}

func (d *Drop) Forward(in [][]float32) []float32 {
	d.out = d.dropped(d.out, in[0])
	return d.out
}

func (d *Drop) Backward(_ [][]float32, grad []float32) [][]float32 {
	d.d = d.dropped(d.d, grad)
	return [][]float32{d.d}
}

func (d *Drop) dropped(dst, src []float32) []float32 {
	if d.B.Masks == nil {
		return append(dst[:0], src...)
	}
	dst = kernels.Grow(dst, len(src))
	d.B.lock(dst, src, d.B.Masks.Output[d.Level])
	return dst
}

// Affine is x·w + b.
//
//	in:  x [n][rows], w [rows][width], b [1][width]
//	out: [n][width]
type Affine struct {
	Width      int
	out        []float32
	transposed []float32
	dx, dw, db []float32
}

func (a *Affine) Forward(in [][]float32) []float32 {
	rows := len(in[1]) / a.Width
	n := len(in[0]) / rows
	a.out = kernels.Grow(a.out, n*a.Width)
	kernels.GemmFrom(a.out, a.Width, in[2], in[0], rows, in[1], a.Width, n, rows, a.Width)
	return a.out
}

func (a *Affine) Backward(in [][]float32, grad []float32) [][]float32 {
	rows := len(in[1]) / a.Width
	n := len(in[0]) / rows
	a.transposed = kernels.Grow(a.transposed, rows*max(n, a.Width))
	kernels.Transpose(a.transposed, in[1], a.Width, rows, a.Width)
	a.dx = kernels.Grow(a.dx, n*rows)
	kernels.GemmFrom(a.dx, rows, nil, grad, a.Width, a.transposed, rows, n, a.Width, rows)
	kernels.Transpose(a.transposed, in[0], rows, n, rows)
	a.dw = kernels.Grow(a.dw, len(in[1]))
	kernels.GemmFrom(a.dw, a.Width, nil, a.transposed, n, grad, a.Width, rows, n, a.Width)
	a.db = zero(a.db, a.Width)
	for i := range n {
		kernels.Add(a.db, grad[i*a.Width:][:a.Width])
	}
	return [][]float32{a.dx, a.dw, a.db}
}
