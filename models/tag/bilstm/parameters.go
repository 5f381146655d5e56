package bilstm

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm/layers"
)

// parameter is a matrix that is learned.
type parameter struct {
	name       string
	rows, cols int
	data       []float32 // [rows][cols]; nil of words and features of a model, which have codes alone
	table      bool      // of vectors that are looked up: a step moves some rows only

	blocks int // of rows, which tagging multiplies by with eight bits a number; 0: as they are

	codes  []int8    // [rows][cols] of blocks in a model and of tables in files of before, numbers = codes · scales; nil while it is learned
	halves []byte    // [rows][cols/2] of a table in a model: two of levels a byte instead of codes
	scales []float32 // [rows] of a table; [blocks][cols]
}

// folded returns blocks as a model holds them: the codes that tagging
// multiplies by, which are a quarter of the file that the numbers would be, and
// leave nothing to be made when it is opened.
func (p *parameter) folded() *parameter {
	f := &parameter{name: p.name, rows: p.rows, cols: p.cols, blocks: p.blocks}
	var codes []int8
	var scales []float32
	for _, q := range p.products() {
		if q == nil {
			return p
		}
		c, s := q.Numbers()
		codes, scales = append(codes, c...), append(scales, s...)
	}
	f.codes, f.scales = codes, scales
	f.unfold()
	return f
}

// unfold makes the numbers of blocks from their codes.
func (p *parameter) unfold() {
	p.data = make([]float32, len(p.codes))
	for row := range p.rows {
		at, scales := row*p.cols, p.scales[row/(p.rows/p.blocks)*p.cols:][:p.cols]
		for k, s := range scales {
			p.data[at+k] = s * float32(p.codes[at+k])
		}
	}
}

// products returns the blocks as tagging multiplies by them; nil for a shape
// that is multiplied as it is.
func (p *parameter) products() []*kernels.Quantized {
	rows := p.rows / p.blocks
	all := make([]*kernels.Quantized, p.blocks)
	for i := range all {
		lo, hi := i*rows*p.cols, (i+1)*rows*p.cols
		if p.codes == nil {
			all[i] = kernels.Quantize(p.data[lo:hi], rows, p.cols)
		} else {
			all[i] = kernels.QuantizedOf(p.codes[lo:hi], p.scales[i*p.cols:][:p.cols], rows, p.cols)
		}
	}
	return all
}

// rounded returns a table as a model holds it: four bits a number and a scale a
// row. Of millions of numbers tagging asks for some rows, once a form, so they stay in
// the file as they are and a model opens the sooner.
func (p *parameter) rounded() *parameter {
	r := &parameter{name: p.name, rows: p.rows, cols: p.cols, table: true}
	r.halves, r.scales = make([]byte, p.rows*p.cols/2), make([]float32, p.rows)
	row := make([]float32, p.cols)
	for i := range p.rows {
		p.write(row, int32(i))
		r.scales[i] = halve(r.halves[i*p.cols/2:][:p.cols/2], row)
	}
	return r
}

// add adds value times a row of a model's table to to.
func (p *parameter) add(to []float32, row int32, value float32) {
	var buf [someCodes]int8
	for at := 0; at < p.cols; {
		codes := p.some(row, at, &buf)
		kernels.AxpyCodes(value, p.scales[row], codes, to[at:])
		at += len(codes)
	}
}

// warm asks for a row before it is needed.
func (p *parameter) warm(row int32) {
	if p.codes != nil {
		kernels.Prefetch(p.codes[int(row)*p.cols:][:p.cols])
		return
	}
	kernels.Prefetch(p.half(row))
}

// half returns the bytes of a row.
func (p *parameter) half(row int32) []byte { return p.halves[int(row)*p.cols/2:][:p.cols/2] }

// someCodes is how many numbers of a row of halves become codes at a time.
const someCodes = 64

// some returns codes of a row from a column on: all the others, or some in buf.
func (p *parameter) some(row int32, at int, buf *[someCodes]int8) []int8 {
	if p.codes != nil {
		return p.codes[int(row)*p.cols:][at:p.cols]
	}
	half := p.half(row)[at/2:]
	half = half[:min(len(half), someCodes/2)]
	for i, b := range half {
		buf[2*i], buf[2*i+1] = levels[b&15], levels[b>>4]
	}
	return buf[:2*len(half)]
}

// numbers returns those of all rows.
func (p *parameter) numbers() []float32 {
	if p.data != nil {
		return p.data
	}
	all := make([]float32, p.rows*p.cols)
	for i := range p.rows {
		p.write(all[i*p.cols:], int32(i))
	}
	return all
}

// write writes a row to to and returns its length.
func (p *parameter) write(to []float32, row int32) int {
	if p.data != nil {
		return copy(to, p.row(row))
	}
	to = to[:p.cols]
	clear(to)
	p.add(to, row, 1)
	return p.cols
}

// parameters of a network, in the order in which a file holds them.
type parameters []*parameter

func (ps parameters) named(name string) *parameter {
	for _, p := range ps {
		if p.name == name {
			return p
		}
	}
	panic("bilstm: no parameter " + name) // a bug: names are those of shapes
}

// shapes returns the parameters that a network of this architecture has, with
// rows, columns and no numbers.
func shapes(a Architecture, words, features, chars, labels int) parameters {
	var ps parameters
	add := func(name string, rows, cols int) *parameter {
		p := &parameter{name: name, rows: rows, cols: cols}
		ps = append(ps, p)
		return p
	}
	add("words", words, a.Word).table = true
	if a.Feature > 0 {
		add("features", features, a.Feature).table = true
	}
	switch a.Chars {
	case "cnn":
		add("chars", chars, a.Char)
		add("filters", layers.FilterWidth*a.Char, a.CharUnits)
		add("filterbias", 1, a.CharUnits)
	case "lstm":
		add("chars", chars, a.Char)
		recurrentShapes(add, "c", a, a.Char, a.CharUnits)
	}
	input := a.input()
	for l := range a.Layers {
		w, u := recurrentShapes(add, fmt.Sprint(l), a, input, a.Units)
		w.blocks, u.blocks = 1, 2
		input = 2 * a.Units
	}
	add("output", input, labels)
	add("outputbias", 1, labels)
	if a.Objective != "softmax" {
		add("pairs", labels, labels)
	}
	return ps
}

// recurrentShapes are the parameters of a layer: of what comes in, of what it
// said a step before, and of its memory where the cell looks at that; the two
// directions side by side in w and b, one above the other in u and v.
func recurrentShapes(add func(name string, rows, cols int) *parameter, layer string, a Architecture, input, units int) (w, u *parameter) {
	g := a.gates()
	w = add("w"+layer, input, 2*g*units)
	u = add("u"+layer, 2*units, g*units)
	add("b"+layer, 1, 2*g*units)
	if a.Cell == "coupled" {
		add("v"+layer, 2*units, 2*units)
	}
	return w, u
}

// start draws the numbers to begin with: uniform, of variance 1/rows for what
// is multiplied (Glorot and Bengio 2010, for inputs), small for vectors that
// are added up, 1 for the bias of forget gates (Jozefowicz et al. 2015).
func (ps parameters) start(a Architecture, rng *rand.Rand) {
	for _, p := range ps {
		p.data = make([]float32, p.rows*p.cols)
		switch {
		case p.name == "words", p.name == "chars":
			uniform(rng, p.data, math.Sqrt(3/float64(p.cols)))
		case p.name == "features":
			uniform(rng, p.data, 0.1)
		case p.rows == 1 || p.name == "pairs":
			p.forget(a)
		default:
			uniform(rng, p.data, math.Sqrt(3/float64(p.rows+p.cols)*2))
		}
	}
}

func uniform(rng *rand.Rand, x []float32, most float64) {
	for i := range x {
		x[i] = float32((2*rng.Float64() - 1) * most)
	}
}

// forget sets the bias of the forget gates of a layer's two directions.
func (p *parameter) forget(a Architecture) {
	if p.name[0] != 'b' || a.Cell != "lstm" {
		return
	}
	units := p.cols / 8
	for _, at := range []int{units, 5 * units} {
		for i := range units {
			p.data[at+i] = 1
		}
	}
}

func (p *parameter) row(i int32) []float32 { return p.data[int(i)*p.cols:][:p.cols] }
