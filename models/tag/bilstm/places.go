package bilstm

import (
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
)

// places computes the contributions of positional features to the first layer. A few hundred features are most of what
// notes have, so each is multiplied once and kept; and most features of a token are common to its line, so these are
// summed once per piece. Features are those of the queued pieces; row is a position in rows.
type places struct {
	table  *Parameter // of vectors; nil: none
	w      []float32  // the rows of the first layer's w for them
	width  int        // numbers that come in: columns of w
	rows   []float32  // [known][width]
	at     []int32    // of each feature its place in rows, plus 1; 0: none
	known  []int32    // the features that have one
	common []Valued
	vector []float32 // of a feature

	shared     []Valued // of pieces
	sharedEnds []int32  // [pieces+1] where those of each piece end
	own        []Valued // of tokens, those that are not all the piece's
	ends       []int32  // [tokens+1] where those of each token end
}

// placesMost is how many features are kept between groups: 14 MB with 104
// units. Templates with pairs of words have more than anyone wants to keep.
const placesMost = 4096

// set takes what a model knows of features.
func (x *places) set(table *Parameter, w []float32) {
	x.table = table
	x.w = w[len(w)-table.Cols*x.width:]
	x.at = make([]int32, table.Rows)
	x.rows = kernels.Pages[float32](x, placesMost*x.width)[:0] // a few more are rare
}

// reset forgets the pieces before.
func (x *places) reset() {
	x.shared, x.sharedEnds = x.shared[:0], append(x.sharedEnds[:0], 0)
	x.own, x.ends = x.own[:0], append(x.ends[:0], 0)
	if len(x.known) > placesMost {
		for _, f := range x.known {
			x.at[f] = 0
		}
		x.known, x.rows = x.known[:0], x.rows[:0]
	}
}

// row returns the place of what a feature comes to.
func (x *places) row(feature int32) int32 {
	if x.at[feature] == 0 {
		n := len(x.known)
		x.rows = slices.Grow(x.rows, x.width)[:(n+1)*x.width]
		x.vector = kernels.Grow(x.vector, x.table.Cols)
		x.table.write(x.vector, feature)
		kernels.GemmFrom(x.rows[n*x.width:], x.width, nil, x.vector, x.table.Cols, x.w, x.width, 1, x.table.Cols, x.width)
		x.known = append(x.known, feature)
		x.at[feature] = int32(n) + 1
	}
	return x.at[feature] - 1
}

// add adds a piece whose token t has the features list[first[t]:first[t+1]].
func (x *places) add(list []Valued, first []int32) {
	x.share(list, first)
	for _, f := range x.common {
		x.shared = append(x.shared, Valued{Row: x.row(f.Row), Value: f.Value})
	}
	x.sharedEnds = append(x.sharedEnds, int32(len(x.shared)))
	for t := range len(first) - 1 {
		left := x.common
		for _, f := range list[first[t]:first[t+1]] {
			if len(left) > 0 && left[0] == f {
				left = left[1:]
				continue
			}
			x.own = append(x.own, Valued{Row: x.row(f.Row), Value: f.Value})
		}
		x.ends = append(x.ends, int32(len(x.own)))
	}
}

// share finds the features that all tokens of a piece have, in their common order.
func (x *places) share(list []Valued, first []int32) {
	x.common = append(x.common[:0], list[first[0]:first[1]]...)
	for t := 1; t < len(first)-1 && len(x.common) > 0; t++ {
		rest, both := list[first[t]:first[t+1]], x.common[:0]
		for _, f := range x.common {
			if i := slices.Index(rest, f); i >= 0 {
				both, rest = append(both, f), rest[i+1:]
			}
		}
		x.common = both
	}
}
