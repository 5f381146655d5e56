package cut

import (
	"strconv"
	"strings"
)

// Table is a decision table over values of type C, read from a file. The first row whose conditions all hold gives the
// result: a number, or the result of another table. It is 0 if no row holds.
type Table[C any] struct{ rows []row[C] }

type row[C any] struct {
	conditions []condition[C]
	value      float32
	then       *Table[C] // nil: value decides
}

type condition[C any] struct {
	holds func(C) bool
	want  bool
}

// Decide returns the result of the table for c.
func (t *Table[C]) Decide(c C) float32 {
rows:
	for i := range t.rows {
		r := &t.rows[i]
		for _, x := range r.conditions {
			if x.holds(c) != x.want {
				continue rows
			}
		}
		if r.then != nil {
			return r.then.Decide(c)
		}
		return r.value
	}
	return 0
}

// Tables parses a file of decision tables. A line "[name]" begins a table, and each line below is a row, "condition
// condition -> 0.5" or "condition -> name" of another table. "!" negates a condition, and "?name" holds if that table
// gives more than 0. The caller's function compiles all other conditions. It panics on an invalid file.
func Tables[C any](file string, compile func(condition string) func(C) bool) map[string]*Table[C] {
	all := map[string]*Table[C]{}
	named := func(name string) *Table[C] {
		if all[name] == nil {
			all[name] = new(Table[C])
		}
		return all[name]
	}
	Sections(file, func(names, words []string) {
		last := len(words) - 1
		var r row[C]
		value, err := strconv.ParseFloat(words[last], 32)
		if r.value = float32(value); err != nil {
			r.then = named(words[last])
		}
		for _, word := range words[:last-1] {
			text, negated := strings.CutPrefix(word, "!")
			var holds func(C) bool
			if name, asks := strings.CutPrefix(text, "?"); asks {
				t := named(name)
				holds = func(c C) bool { return t.Decide(c) > 0 }
			} else {
				holds = compile(text)
			}
			r.conditions = append(r.conditions, condition[C]{holds, !negated})
		}
		t := named(names[0])
		t.rows = append(t.rows, r)
	})
	for name, t := range all {
		if len(t.rows) == 0 {
			panic("no table " + name)
		}
	}
	return all
}
