package features

import (
	"fmt"

	"github.com/velum-health/velum/pipeline"
	"github.com/zeebo/xxh3"
)

// Attribute is a feature of a token in readable form: "word[-1]=calle".
type Attribute struct {
	Name  string
	Value float32
}

// Describe lists the attributes of every token of a note, sequence by
// sequence: [sequence][token][]Attribute. They hold words of the note: they are
// for `velum model inspect`, for the names section of a model and for comparisons
// with other programs, not for logs.
func Describe(t *Template, r Resources, text []byte, tokens []pipeline.Token, matches []pipeline.Match) [][][]Attribute {
	e := New(t, r)
	e.naming = true
	e.Note(text, tokens, matches)
	var all [][][]Attribute
	for lo := 0; lo < len(tokens); {
		hi := t.Next(tokens, lo)
		all = append(all, e.describe(lo, hi))
		lo = hi
	}
	return all
}

func (e *Extractor) describe(lo, hi int) [][]Attribute {
	seen := make([][]Attribute, hi-lo)
	see := func(at int, f Feature, name string) {
		g := e.t.Groups[f.Group]
		for o := g.Lo; o <= g.Hi; o++ {
			if t := at - o; t >= 0 && t < hi-lo {
				seen[t] = append(seen[t], Attribute{fmt.Sprintf("%s[%d]=%s", g.Name, o, name), f.Value})
			}
		}
	}
	for i := lo; i < hi; i++ {
		for j, f := range e.Form(e.form(i)) {
			see(i-lo, f, e.names[j])
		}
	}
	for j, m := range e.Marks(lo, hi) {
		see(int(m.At), m.Feature, e.names[j])
	}
	return seen
}

// Key returns the key of a feature by its group's name and readable value, as
// Describe writes them.
func Key(group, value string) uint64 {
	return key(xxh3.HashStringSeed(value, xxh3.HashString(group)))
}
