package crftrain

import (
	"math"
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// Examples holds the tokens of a corpus as rows of a sparse matrix, for learners that classify each token by itself. A
// column is a feature at a window offset.
type Examples struct {
	Start  []int          // [rows+1] first number of a row
	Column []int32        // [...]    its columns, each once a row
	Value  []float32      // [...]    their values
	Tag    []pipeline.Tag // [rows]   what the token is

	Columns []Column
}

// Column is a feature at window offset Hi - Row of its group; package crf numbers rows in the same way.
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

// Examples returns the tokens of the corpus in the order of adding. Features seen fewer than minCount times at an
// offset are left out, as in Train.
func (c *Corpus) Examples(minCount int) *Examples {
	e := &examiner{c: c, x: &Examples{Start: make([]int, 1, len(c.form)+1), Tag: c.tag}}
	first, places := c.places()
	e.first, e.column, e.count = first, make([]int32, places), make([]float64, places)
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
		x.Column, x.Value = append(x.Column, e.column[n.place]), append(x.Value, n.value)
	}
	x.Start = append(x.Start, len(x.Column))
}

// read writes the rows of sequence i into line. What stands twice in a row is added up: overlapping matches mark a token twice.
func (e *examiner) read(i int) {
	_, T, _ := e.c.sequence(i)
	e.line = slices.Grow(e.line[:0], T)[:T]
	for t := range e.line {
		e.line[t] = e.line[t][:0]
	}
	e.c.walk(i, func(t int, f int32, row int, value float32, marked bool) {
		place := e.first[f] + row
		if marked {
			if k := slices.IndexFunc(e.line[t], func(was cell) bool { return was.place == place }); k >= 0 {
				e.line[t][k].value += value
				return
			}
		}
		e.line[t] = append(e.line[t], cell{place, value})
	})
}
