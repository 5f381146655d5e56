package mask

import (
	"fmt"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// An Operator says what is written in place of a value. The workers of the
// stage share it.
type Operator interface {
	// Replace appends to dst what stands for v. It must not keep v.Words,
	// and what it appends must be valid UTF-8.
	Replace(dst []byte, v Value) []byte
}

// Value is what an operator replaces.
type Value struct {
	Words    []byte // as they stand in the note
	Category pipeline.Category
}

// The operators without options. They can be compared: a policy whose
// operator for a category is Keep leaves its values in the text.
var (
	Placeholder Operator = placeholder{} // the name of the category: [PERSON]
	Suppress    Operator = suppress{}    // nothing
	Keep        Operator = keep{}        // the value itself
	Stars       Operator = stars{}       // a * for every code point, blanks included
)

var operators = []struct {
	name string
	Operator
}{
	{"placeholder", Placeholder},
	{"suppress", Suppress},
	{"keep", Keep},
	{"mask", Stars},
}

// ParseOperator returns the operator of that name: placeholder, suppress,
// keep or mask.
func ParseOperator(name string) (Operator, error) {
	for _, o := range operators {
		if o.name == name {
			return o.Operator, nil
		}
	}
	return nil, fmt.Errorf("unknown operator %q; known: placeholder, suppress, keep, mask", name)
}

type placeholder struct{}

// placeholders holds the bracketed name of every category. A span without a
// category is still PHI.
var placeholders = func() [][]byte {
	names := make([][]byte, pipeline.Categories())
	for c := range names {
		names[c] = fmt.Appendf(nil, "[%v]", pipeline.Category(c))
	}
	names[pipeline.None] = []byte("[PHI]")
	return names
}()

func (placeholder) Replace(dst []byte, v Value) []byte {
	c := v.Category
	if int(c) >= len(placeholders) {
		c = pipeline.None
	}
	return append(dst, placeholders[c]...)
}

type suppress struct{}

func (suppress) Replace(dst []byte, _ Value) []byte { return dst }

type keep struct{}

func (keep) Replace(dst []byte, v Value) []byte { return append(dst, v.Words...) }

type stars struct{}

// Replace masks blanks, too: the lengths of given name and surname tell more
// than their sum.
func (stars) Replace(dst []byte, v Value) []byte {
	for range utf8.RuneCount(v.Words) {
		dst = append(dst, '*')
	}
	return dst
}
