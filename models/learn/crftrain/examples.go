package crftrain

import "math"

// Examples are the tokens of a corpus as rows of a sparse matrix, for learners
// that take each token by itself. A column is a feature at a window offset.
type Examples struct {
	Start  []int     // [rows+1] first number of a row
	Column []int32   // [...]    its columns, each once a row
	Value  []float32 // [...]    their values; nil while all are 1
	Tag    []uint8   // [rows]   what the token is

	Columns []Column
}

// Column is a feature at window offset Hi - Row of its group, as a Builder of
// package crf counts rows.
type Column struct {
	Key uint64
	Row int
}

// Rows returns the number of examples.
func (e *Examples) Rows() int { return len(e.Tag) }

// examiner numbers the columns.
type examiner struct {
	c     *Corpus
	x     *Examples
	first []int // [features] place of the feature's first row in column
	// column of a feature's row; below 0: it is left out
	column []int32
	count  []float64
	line   [][]cell // by token of a sequence
}

// cell is a number of a row.
type cell struct {
	place int // in column
	value float32
}

// Examples returns the tokens of the corpus, in the order in which they were added.
// Features seen less than minCount times at an offset are left out, as by Train.
func (c *Corpus) Examples(minCount int) *Examples {
	e := &examiner{c: c, x: &Examples{Start: make([]int, 1, len(c.form)+1), Tag: c.tag}, first: make([]int, len(c.features))}
	places := 0
	for f, ft := range c.features {
		e.first[f] = places
		places += c.template.Groups[ft.group].Rows()
	}
	e.column, e.count = make([]int32, places), make([]float64, places)
	for i := range c.sequences {
		e.read(i)
		for _, row := range e.line {
			for _, n := range row {
				e.count[n.place] += math.Abs(float64(n.value))
			}
		}
	}
	e.number(float64(minCount))
	for i := range c.sequences {
		e.read(i)
		for _, row := range e.line {
			e.keep(row)
		}
	}
	return e.x
}

// number numbers the columns that stay.
func (e *examiner) number(least float64) {
	for f, ft := range e.c.features {
		for row := range e.c.template.Groups[ft.group].Rows() {
			at := e.first[f] + row
			if e.count[at] == 0 || e.count[at] < least {
				e.column[at] = -1
				continue
			}
			e.column[at] = int32(len(e.x.Columns))
			e.x.Columns = append(e.x.Columns, Column{ft.key, row})
		}
	}
}

// keep appends a row.
func (e *examiner) keep(row []cell) {
	x := e.x
	for _, n := range row {
		if e.column[n.place] < 0 {
			continue
		}
		if n.value != 1 && x.Value == nil {
			x.Value = make([]float32, len(x.Column), 2*len(x.Column)+1)
			for i := range x.Value {
				x.Value[i] = 1
			}
		}
		x.Column = append(x.Column, e.column[n.place])
		if x.Value != nil {
			x.Value = append(x.Value, n.value)
		}
	}
	x.Start = append(x.Start, len(x.Column))
}

// read writes the rows of sequence i into line.
func (e *examiner) read(i int) {
	c := e.c
	s, T, marks := c.sequence(i)
	for len(e.line) < T {
		e.line = append(e.line, nil)
	}
	e.line = e.line[:T]
	for t := range e.line {
		e.line[t] = e.line[t][:0]
	}
	for at, form := range c.form[s.token:][:T] {
		for k := c.formStart[form]; k < c.formStart[form+1]; k++ {
			e.see(int(c.formFeature[k]), at, 1)
		}
	}
	own := make([]int, T) // numbers of a row that are of forms, of which none comes twice
	for t := range own {
		own[t] = len(e.line[t])
	}
	for _, m := range marks {
		e.see(int(m.feature), int(m.at), m.value)
	}
	for t := range e.line {
		e.line[t] = added(e.line[t], own[t])
	}
}

// see writes a feature at a place into the rows of the tokens that see it.
func (e *examiner) see(f, at int, value float32) {
	g := &e.c.template.Groups[e.c.features[f].group]
	for row := range g.Rows() {
		if t := at - g.Hi + row; t >= 0 && t < len(e.line) {
			e.line[t] = append(e.line[t], cell{e.first[f] + row, value})
		}
	}
}

// added returns a row with what stands twice behind its first numbers added up:
// overlapping matches mark a token twice.
func added(row []cell, first int) []cell {
	kept := row[:first]
	for _, n := range row[first:] {
		twice := false
		for k := first; k < len(kept) && !twice; k++ {
			if twice = kept[k].place == n.place; twice {
				kept[k].value += n.value
			}
		}
		if !twice {
			kept = append(kept, n)
		}
	}
	return kept
}
