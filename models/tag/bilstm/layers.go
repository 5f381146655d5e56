package bilstm

import "github.com/velum-health/velum/models/number/kernels"

// A layer is a node of the training graph: it reads matrices and gives one.
// What it returns stays good until the next call. It may look at the batch
// that it was made for beside its inputs.
type layer interface {
	columns() int
	forward(in [][]float32) []float32
	// backward returns the gradients of all inputs, given that of the result,
	// which it may write over.
	// For a table of vectors it is that of the rows which were looked up.
	backward(in [][]float32, grad []float32) [][]float32
}

// filterWidth is how many characters a filter of the convolution sees.
const filterWidth = 3

// convolution is the vector of a token from its characters (Ma and Hovy 2016):
//
//	in:  characters [C][char], filters [3·char][F], bias [1][F]
//	out: [forms][F], max(0, max over places of filter and characters around)
type convolution struct {
	b           *batch
	char, width int

	around     []float32 // [places][3·char] vectors of the characters around each place
	responses  []float32 // [places][F]
	best       []int32   // [forms][F] place of the largest; -1: none is above 0
	out        []float32
	transposed []float32

	dresponses, daround, dchars, dfilters, dbias []float32
}

func (l *convolution) columns() int { return l.width }

// at is the character at place i of a form of characters, with a border on
// either side.
func at(chars []int32, i int) int32 {
	if i < 0 || i >= len(chars) {
		return border
	}
	return chars[i]
}

func (l *convolution) forward(in [][]float32) []float32 {
	places, span := len(l.b.chars), filterWidth*l.char
	l.around, l.responses = grow(l.around, places*span), grow(l.responses, places*l.width)
	l.eachPlace(func(place int, chars []int32, i int) {
		for j := range filterWidth {
			copy(l.around[place*span+j*l.char:][:l.char], in[0][int(at(chars, i+j-1))*l.char:])
		}
	})
	kernels.GemmFrom(l.responses, l.width, in[2], l.around, span, in[1], l.width, places, span, l.width)
	forms := len(l.b.charEnd)
	l.out, l.best = zero(l.out, forms*l.width), grow(l.best, forms*l.width)
	for i := range l.best {
		l.best[i] = -1
	}
	place := 0
	for form, end := range l.b.charEnd {
		out, best := l.out[form*l.width:][:l.width], l.best[form*l.width:][:l.width]
		for ; place < int(end); place++ {
			kernels.Largest(out, best, l.responses[place*l.width:][:l.width], int32(place))
		}
	}
	return l.out
}

// eachPlace calls do for every character of every form.
func (l *convolution) eachPlace(do func(place int, chars []int32, i int)) {
	first := int32(0)
	for _, end := range l.b.charEnd {
		chars := l.b.chars[first:end]
		for i := range chars {
			do(int(first)+i, chars, i)
		}
		first = end
	}
}

func (l *convolution) backward(in [][]float32, grad []float32) [][]float32 {
	places, span := len(l.b.chars), filterWidth*l.char
	l.dresponses, l.dbias = zero(l.dresponses, places*l.width), zero(l.dbias, l.width)
	for i, place := range l.best {
		if place >= 0 {
			k := i % l.width
			l.dresponses[int(place)*l.width+k] += grad[i]
			l.dbias[k] += grad[i]
		}
	}
	l.transposed = grow(l.transposed, span*max(places, l.width))
	kernels.Transpose(l.transposed, l.around, span, places, span)
	l.dfilters = grow(l.dfilters, len(in[1]))
	kernels.GemmFrom(l.dfilters, l.width, nil, l.transposed, places, l.dresponses, l.width, span, places, l.width)
	kernels.Transpose(l.transposed, in[1], l.width, span, l.width)
	l.daround = grow(l.daround, places*span)
	kernels.GemmFrom(l.daround, span, nil, l.dresponses, l.width, l.transposed, span, places, l.width, span)
	l.dchars = zero(l.dchars, len(in[0]))
	l.eachPlace(func(place int, chars []int32, i int) {
		for j := range filterWidth {
			kernels.Add(l.dchars[int(at(chars, i+j-1))*l.char:], l.daround[place*span+j*l.char:][:l.char])
		}
	})
	return [][]float32{l.dchars, l.dfilters, l.dbias}
}

// spelling is the vector of a token by a recurrent layer over its characters
// (BOOT §3.5, INV §4.3.4): what either direction says when it has read all.
//
//	in:  characters [C][char], then as recurrent
//	out: [forms][2·units]
type spelling struct {
	b    *batch
	char int
	r    recurrent

	p       packed
	length  []int32
	x       []float32 // [places][char]
	out, dh []float32
	dchars  []float32
}

func (l *spelling) columns() int { return 2 * l.r.units }

// visit calls do with every place in packed rows and its character.
func (l *spelling) visit(do func(row int, char int32)) {
	for t := range l.p.steps() {
		lo, n := l.p.step(t)
		for k := range n {
			do(lo+k, l.b.chars[l.firstOf(l.p.order[k])+int32(t)])
		}
	}
}

func (l *spelling) firstOf(form int32) int32 {
	if form == 0 {
		return 0
	}
	return l.b.charEnd[form-1]
}

// ends calls do with every form and the rows of its first and last character.
func (l *spelling) ends(do func(form int32, first, last int)) {
	for k, form := range l.p.order {
		lo, _ := l.p.step(int(l.length[form]) - 1)
		do(form, k, lo+k)
	}
}

func (l *spelling) forward(in [][]float32) []float32 {
	l.length = l.length[:0]
	for form, end := range l.b.charEnd {
		l.length = append(l.length, end-l.firstOf(int32(form)))
	}
	l.p.pack(l.length)
	l.x = grow(l.x, l.p.rows()*l.char)
	l.visit(func(row int, char int32) {
		copy(l.x[row*l.char:][:l.char], in[0][int(char)*l.char:])
	})
	l.r.reset(&l.p)
	h, units, width := l.r.forward(l.inputs(in)), l.r.units, l.columns()
	l.out = grow(l.out, len(l.length)*width)
	l.ends(func(form int32, first, last int) {
		out := l.out[int(form)*width:][:width]
		copy(out[:units], h[last*width:])
		copy(out[units:], h[first*width+units:])
	})
	return l.out
}

func (l *spelling) inputs(in [][]float32) [][]float32 {
	return append([][]float32{l.x}, in[1:]...)
}

func (l *spelling) backward(in [][]float32, grad []float32) [][]float32 {
	units, width := l.r.units, l.columns()
	l.dh = zero(l.dh, l.p.rows()*width)
	l.ends(func(form int32, first, last int) {
		d := grad[int(form)*width:][:width]
		copy(l.dh[last*width:][:units], d)
		copy(l.dh[first*width+units:][:units], d[units:])
	})
	grads := l.r.backward(l.inputs(in), l.dh)
	l.dchars = zero(l.dchars, len(in[0]))
	l.visit(func(row int, char int32) {
		kernels.Add(l.dchars[int(char)*l.char:], grads[0][row*l.char:][:l.char])
	})
	grads[0] = l.dchars
	return grads
}

// featureSum adds the vectors of the features of each token.
//
//	in:  table [features][width]
//	out: [n][width]
type featureSum struct {
	b     *batch
	width int
	used  lists
	out   []float32
	d     []float32
}

func (l *featureSum) columns() int { return l.width }

func (l *featureSum) forward(in [][]float32) []float32 {
	l.out = zero(l.out, l.b.n*l.width)
	first := int32(0)
	for i, end := range l.b.ends {
		out := l.out[i*l.width:][:l.width]
		for _, f := range l.b.features[first:end] {
			kernels.Axpy(f.value, in[0][int(f.row)*l.width:][:l.width], out)
		}
		first = end
	}
	return l.out
}

func (l *featureSum) backward(in [][]float32, grad []float32) [][]float32 {
	l.used.reset(len(in[0]) / l.width)
	for _, f := range l.b.features {
		l.used.add(f.row)
	}
	l.d = zero(l.d, len(l.used.rows)*l.width)
	first := int32(0)
	for i, end := range l.b.ends {
		for _, f := range l.b.features[first:end] {
			kernels.Axpy(f.value, grad[i*l.width:][:l.width], l.d[int(l.used.at[f.row])*l.width:])
		}
		first = end
	}
	return [][]float32{l.d}
}

// join puts the vectors of a token's word, characters and features side by
// side, and drops some of the numbers.
//
//	in:  table of words [words][word], characters [forms][chars], features [n][features]; the latter two may be missing
//	out: [n][word+chars+features]
type join struct {
	b      *batch
	widths []int
	byForm bool // the second input has a row a form, not one a token
	used   lists
	out    []float32
	d      [][]float32
}

func (l *join) columns() int {
	sum := 0
	for _, w := range l.widths {
		sum += w
	}
	return sum
}

// row returns which row of input k belongs to token i.
func (l *join) row(k, i int) int {
	switch {
	case k == 0:
		return int(l.b.word[i])
	case k == 1 && l.byForm:
		return int(l.b.form[i])
	}
	return i
}

func (l *join) forward(in [][]float32) []float32 {
	all := l.columns()
	l.out = grow(l.out, l.b.n*all)
	for i := range l.b.n {
		to := l.out[i*all:][:all]
		for k, w := range l.widths {
			copy(to[:w], in[k][l.row(k, i)*w:])
			to = to[w:]
		}
	}
	if m := l.b.masks; m != nil {
		kernels.Multiply(l.out, l.out, m.input)
		l.b.lock(l.out, l.out, m.locked)
	}
	return l.out
}

func (l *join) backward(in [][]float32, grad []float32) [][]float32 {
	all := l.columns()
	if m := l.b.masks; m != nil {
		kernels.Multiply(l.out, grad, m.input)
		l.b.lock(l.out, l.out, m.locked)
		grad = l.out
	}
	l.used.reset(len(in[0]) / l.widths[0])
	for _, w := range l.b.word {
		l.used.add(w)
	}
	l.d = grow(l.d, len(l.widths))
	for k, w := range l.widths {
		rows := len(in[k]) / w
		if k == 0 {
			rows = len(l.used.rows)
		}
		l.d[k] = zero(l.d[k], rows*w)
	}
	for i := range l.b.n {
		from := grad[i*all:][:all]
		for k, w := range l.widths {
			row := l.row(k, i)
			if k == 0 {
				row = int(l.used.at[row])
			}
			kernels.Add(l.d[k][row*w:], from[:w])
			from = from[w:]
		}
	}
	return l.d
}

// lock writes x to dst with the rows of a sequence multiplied by its row of the
// mask. dst may be x.
func (b *batch) lock(dst, x, mask []float32) {
	width := len(mask) / len(b.order)
	for t := range b.steps() {
		lo, n := b.step(t)
		kernels.Multiply(dst[lo*width:], x[lo*width:(lo+n)*width], mask)
	}
}

// drop is the dropout of what a layer gives, the same for all tokens of a
// sequence (Gal and Ghahramani 2016).
type drop struct {
	b      *batch
	level  int // number of the layer
	width  int
	out, d []float32
}

func (l *drop) columns() int { return l.width }

func (l *drop) forward(in [][]float32) []float32 {
	l.out = l.dropped(l.out, in[0])
	return l.out
}

func (l *drop) backward(_ [][]float32, grad []float32) [][]float32 {
	l.d = l.dropped(l.d, grad)
	return [][]float32{l.d}
}

func (l *drop) dropped(dst, src []float32) []float32 {
	if l.b.masks == nil {
		return append(dst[:0], src...)
	}
	dst = grow(dst, len(src))
	l.b.lock(dst, src, l.b.masks.output[l.level])
	return dst
}

// affine is x·w + b.
//
//	in:  x [n][rows], w [rows][width], b [1][width]
//	out: [n][width]
type affine struct {
	width      int
	out        []float32
	transposed []float32
	dx, dw, db []float32
}

func (l *affine) columns() int { return l.width }

func (l *affine) forward(in [][]float32) []float32 {
	rows := len(in[1]) / l.width
	n := len(in[0]) / rows
	l.out = grow(l.out, n*l.width)
	kernels.GemmFrom(l.out, l.width, in[2], in[0], rows, in[1], l.width, n, rows, l.width)
	return l.out
}

func (l *affine) backward(in [][]float32, grad []float32) [][]float32 {
	rows := len(in[1]) / l.width
	n := len(in[0]) / rows
	l.transposed = grow(l.transposed, rows*max(n, l.width))
	kernels.Transpose(l.transposed, in[1], l.width, rows, l.width)
	l.dx = grow(l.dx, n*rows)
	kernels.GemmFrom(l.dx, rows, nil, grad, l.width, l.transposed, rows, n, l.width, rows)
	kernels.Transpose(l.transposed, in[0], rows, n, rows)
	l.dw = grow(l.dw, len(in[1]))
	kernels.GemmFrom(l.dw, l.width, nil, l.transposed, n, grad, l.width, rows, n, l.width)
	l.db = zero(l.db, l.width)
	for i := range n {
		kernels.Add(l.db, grad[i*l.width:][:l.width])
	}
	return [][]float32{l.dx, l.dw, l.db}
}
