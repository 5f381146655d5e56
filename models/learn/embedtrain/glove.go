package embedtrain

import (
	"cmp"
	"maps"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/word/embed"
)

// gloVe learns from counts of pairs (Pennington et al. 2014): it minimises
//
//	Σ f(X_ij) (w_i·c_j + b_i + b̃_j - log X_ij)², f(x) = min(1, (x/100)^¾)
//
// where X_ij adds 1/distance for every time that two words stand within a
// window, by AdaGrad. The vector of a word is w + c.
//
// The notes are seen once, to count; all epochs run when Vectors is called.
// Pairs are dealt out on a grid of rows and columns, and only cells that share
// neither are learned at the same time (Gemulla et al. 2011): the result is
// that of one worker, with any number of them.
type gloVe struct {
	o     embed.Options
	v     *Vocabulary
	pairs map[uint64]float32 // X_ij by both numbers, the smaller one first
	low   float32            // sums below were forgotten
	most  int                // pairs
	done  uint64
}

const (
	gloveMax  = 100 // X_ij from which a pair has full weight
	grid      = 16  // rows and columns of the grid: as many cores are busy
	mostPairs = 1 << 25
)

// newGloVe makes an empty table of pairs.
func newGloVe(v *Vocabulary, o embed.Options) *gloVe {
	return &gloVe{o: withDefaults(o, 15, 0.05), v: v, pairs: map[uint64]float32{}, most: mostPairs}
}

// Epochs returns 1: the notes are seen once.
func (g *gloVe) Epochs() int { return 1 }

// RoundSize returns how many word numbers are counted at once.
func (g *gloVe) RoundSize() int { return 1 << 18 }

// Done returns how many tokens were counted.
func (g *gloVe) Done() uint64 { return g.done }

// Round counts the pairs of one round.
func (g *gloVe) Round(tokens []int32) {
	for i, t := range tokens {
		if t == Break {
			continue
		}
		for d := 1; d <= g.o.Window && i-d >= 0 && tokens[i-d] != Break; d++ {
			g.pairs[uint64(min(t, tokens[i-d]))<<32|uint64(max(t, tokens[i-d]))] += 1 / float32(d)
		}
		g.forget()
	}
	g.done += known(tokens)
}

// forget leaves out the pairs with the smallest sums if there are too many: they have the least weight in the sum too.
func (g *gloVe) forget() {
	if len(g.pairs) <= g.most {
		return
	}
	for g.low /= 4; len(g.pairs) > g.most/2; { // the limit falls again where sums have grown since
		g.low = max(2*g.low, 0.25)
		maps.DeleteFunc(g.pairs, func(_ uint64, x float32) bool { return x < g.low })
	}
}

// pair is one term of the sum.
type pair struct {
	i, j int32
	x    float32
}

// gloveState holds the parameters that are learned.
type gloveState struct {
	dim, rows int
	rate      float32
	w, c      []float32 // [words][rows]
	gw, gc    []float32 // sums of squared gradients
	b, bc     []float32
	gb, gbc   []float32
}

func newGloveState(n int, o embed.Options) *gloveState {
	s := &gloveState{dim: o.Dim, rows: kernels.Pad(o.Dim), rate: float32(o.Rate)}
	r := rand.New(rand.NewPCG(o.Seed, 1))
	for _, m := range []*[]float32{&s.w, &s.c, &s.gw, &s.gc} {
		*m = make([]float32, n*s.rows)
	}
	for _, m := range []*[]float32{&s.b, &s.bc, &s.gb, &s.gbc} {
		*m = make([]float32, n)
	}
	for i := range n * s.rows {
		s.gw[i], s.gc[i] = 1, 1
		if i%s.rows < s.dim {
			s.w[i], s.c[i] = (r.Float32()-0.5)/float32(s.dim), (r.Float32()-0.5)/float32(s.dim)
		}
	}
	for i := range n {
		s.gb[i], s.gbc[i] = 1, 1
	}
	return s
}

// Vectors learns from the pairs and returns the vectors.
func (g *gloVe) Vectors() *Vectors {
	n := len(g.v.Words)
	s := newGloveState(n, g.o)
	cells := g.cells()
	for epoch := range g.o.Epochs {
		for turn := range grid {
			kernels.Parallel(g.o.Workers, grid, func(_, row int) {
				cell := cells[row*grid+(row+turn)%grid]
				r := rand.New(rand.NewPCG(g.o.Seed+uint64(epoch)<<32, uint64(row*grid+turn)))
				r.Shuffle(len(cell), func(a, b int) { cell[a], cell[b] = cell[b], cell[a] })
				for _, p := range cell {
					s.learn(p)
				}
			})
		}
	}
	kernels.Add(s.w, s.c)
	return &Vectors{Vocabulary: g.v, Dim: s.dim, rows: s.rows, data: s.w}
}

// cells deals the pairs out, each in both orders, sorted so that the result
// does not depend on where the table had them.
func (g *gloVe) cells() [][]pair {
	cells := make([][]pair, grid*grid)
	put := func(i, j int32, x float32) {
		at := int(i%grid)*grid + int(j%grid)
		cells[at] = append(cells[at], pair{i, j, x})
	}
	for key, x := range g.pairs {
		i, j := int32(key>>32), int32(uint32(key))
		put(i, j, x)
		if i != j {
			put(j, i, x)
		}
	}
	for _, cell := range cells {
		slices.SortFunc(cell, func(a, b pair) int { return cmp.Or(cmp.Compare(a.i, b.i), cmp.Compare(a.j, b.j)) })
	}
	return cells
}

// learn is one step of AdaGrad for half the weighted square of one pair.
func (s *gloveState) learn(p pair) {
	w, c := s.w[int(p.i)*s.rows:][:s.rows], s.c[int(p.j)*s.rows:][:s.rows]
	gw, gc := s.gw[int(p.i)*s.rows:][:s.rows], s.gc[int(p.j)*s.rows:][:s.rows]
	off := kernels.Dot(w, c) + s.b[p.i] + s.bc[p.j] - float32(math.Log(float64(p.x)))
	f := off * min(1, float32(math.Pow(float64(p.x)/gloveMax, 0.75)))
	for k, v := range w {
		dw, dc := f*c[k], f*v
		w[k] = v - s.rate*dw/sqrt32(gw[k])
		c[k] -= s.rate * dc / sqrt32(gc[k])
		gw[k] += dw * dw
		gc[k] += dc * dc
	}
	s.b[p.i] -= s.rate * f / sqrt32(s.gb[p.i])
	s.bc[p.j] -= s.rate * f / sqrt32(s.gbc[p.j])
	s.gb[p.i] += f * f
	s.gbc[p.j] += f * f
}

func sqrt32(x float32) float32 { return float32(math.Sqrt(float64(x))) }
