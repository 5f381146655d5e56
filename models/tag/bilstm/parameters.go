package bilstm

import (
	"fmt"
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
)

// Parameter is a matrix of trained weights.
type Parameter struct {
	Name       string
	Rows, Cols int
	Data       []float32 // [Rows][Cols]; nil of tables of a model, which have halves alone
	Table      bool      // of vectors that are looked up: a step moves some rows only

	blocks int // of rows, which tagging multiplies by with eight bits a number; 0: as they are

	codes  []int8    // [Rows][Cols] of blocks in a model, numbers = codes · scales; nil while it is learned
	halves []byte    // [Rows][Cols/2] of a table in a model: two of levels a byte
	scales []float32 // [Rows] of a table; [blocks][Cols]
}

// Row returns row i.
func (p *Parameter) Row(i int32) []float32 { return p.Data[int(i)*p.Cols:][:p.Cols] }

// finished converts a trained parameter to the form in a model.
func (p *Parameter) finished() *Parameter {
	switch {
	case p.Table:
		return p.rounded()
	case p.blocks > 0:
		return p.folded()
	}
	return &Parameter{Name: p.Name, Rows: p.Rows, Cols: p.Cols, Data: slices.Clone(p.Data)}
}

// folded quantizes blocks of a matrix to the codes that tagging multiplies with. They take a quarter of the space in
// the file and need no conversion when the model is opened.
func (p *Parameter) folded() *Parameter {
	f := &Parameter{Name: p.Name, Rows: p.Rows, Cols: p.Cols, blocks: p.blocks}
	for _, q := range p.products() {
		if q == nil {
			f.Data = slices.Clone(p.Data)
			return f
		}
		c, s := q.Numbers()
		f.codes, f.scales = append(f.codes, c...), append(f.scales, s...)
	}
	f.unfold()
	return f
}

// unfold makes the numbers of blocks from their codes.
func (p *Parameter) unfold() {
	p.Data = make([]float32, len(p.codes))
	for row := range p.Rows {
		at, scales := row*p.Cols, p.scales[row/(p.Rows/p.blocks)*p.Cols:][:p.Cols]
		for k, s := range scales {
			p.Data[at+k] = s * float32(p.codes[at+k])
		}
	}
}

// products returns the blocks in the form for multiplication in tagging; nil for a shape that is multiplied
// unquantized.
func (p *Parameter) products() []*kernels.Quantized {
	rows := p.Rows / p.blocks
	all := make([]*kernels.Quantized, p.blocks)
	for i := range all {
		lo, hi := i*rows*p.Cols, (i+1)*rows*p.Cols
		if p.codes == nil {
			all[i] = kernels.Quantize(p.Data[lo:hi], rows, p.Cols)
		} else {
			all[i] = kernels.QuantizedOf(p.codes[lo:hi], p.scales[i*p.Cols:][:p.Cols], rows, p.Cols)
		}
	}
	return all
}

// rounded quantizes a table to four bits per number and a scale per row. Tagging reads some rows of it, once per form,
// so that they can stay in the file and the model opens faster.
func (p *Parameter) rounded() *Parameter {
	r := &Parameter{Name: p.Name, Rows: p.Rows, Cols: p.Cols, Table: true, halves: make([]byte, p.Rows*p.Cols/2),
		scales: make([]float32, p.Rows)}
	for i := range p.Rows {
		r.scales[i] = halve(r.halves[i*p.Cols/2:][:p.Cols/2], p.Row(int32(i)))
	}
	return r
}

// add adds value times a row of a model's table to to.
func (p *Parameter) add(to []float32, row int32, value float32) {
	kernels.AxpyHalves(value, p.scales[row], p.half(row), &levels, to)
}

// half returns the bytes of a row of a table.
func (p *Parameter) half(row int32) []byte { return p.halves[int(row)*p.Cols/2:][:p.Cols/2] }

// Numbers returns the numbers of all rows.
func (p *Parameter) Numbers() []float32 {
	if p.Data != nil {
		return p.Data
	}
	all := make([]float32, p.Rows*p.Cols)
	for i := range p.Rows {
		p.write(all[i*p.Cols:], int32(i))
	}
	return all
}

// write writes a row of a table to to and returns its length.
func (p *Parameter) write(to []float32, row int32) int {
	clear(to[:p.Cols])
	p.add(to, row, 1)
	return p.Cols
}

// Parameters holds the parameters of a network, in the order of the file.
type Parameters []*Parameter

// Named returns the parameter with that name; nil if there is none.
func (ps Parameters) Named(name string) *Parameter {
	for _, p := range ps {
		if p.Name == name {
			return p
		}
	}
	return nil
}

// data returns the numbers of the parameter of that name; nil if the network has none.
func (ps Parameters) data(name string) []float32 {
	if p := ps.Named(name); p != nil {
		return p.Data
	}
	return nil
}

// Shapes returns the parameters of a network of this architecture with their sizes and without numbers.
func Shapes(a Architecture, words, features, chars, labels int) Parameters {
	var ps Parameters
	add := func(name string, rows, cols int) *Parameter {
		p := &Parameter{Name: name, Rows: rows, Cols: cols}
		ps = append(ps, p)
		return p
	}
	// A layer has parameters of what comes in, of what it said a step before, and of its memory where
	// the cell looks at that; the two directions side by side in w and b, one above the other in u and v.
	recurrent := func(layer string, input, units int) (w, u *Parameter) {
		g := a.Gates()
		w = add("w"+layer, input, 2*g*units)
		u = add("u"+layer, 2*units, g*units)
		add("b"+layer, 1, 2*g*units)
		if a.Cell == "coupled" {
			add("v"+layer, 2*units, 2*units)
		}
		return w, u
	}
	add("words", words, a.Word).Table = true
	if a.Feature > 0 {
		add("features", features, a.Feature).Table = true
	}
	if a.Chars != "none" {
		add("chars", chars, a.Char)
	}
	switch a.Chars {
	case "cnn":
		add("filters", FilterWidth*a.Char, a.CharUnits)
		add("filterbias", 1, a.CharUnits)
	case "lstm":
		recurrent("c", a.Char, a.CharUnits)
	}
	input := a.Input()
	for l := range a.Layers {
		w, u := recurrent(fmt.Sprint(l), input, a.Units)
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
