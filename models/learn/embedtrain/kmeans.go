package embedtrain

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/word/embed"
)

// KMeansOptions are the choices of clustering.
type KMeansOptions struct {
	K          int // clusters
	Iterations int // most; 0 means 20. It stops when nothing moves
	Workers    int // never changes the result
	Seed       uint64
	Progress   func(iteration, moved int) error // may be nil; an error stops it
}

// KMeans puts every word into one of K clusters, none of them empty: spherical
// k-means (Dhillon and Modha 2001), since vectors of words are compared by
// their cosine and their length says how frequent a word is. It starts from K
// different words drawn at random: k-means++ at K = 8192 costs as much as an
// iteration and changed nothing in the sum of cosines. A cluster that loses
// its last word takes the word that fits worst where it is.
//
// It is an error to ask for more clusters than words.
func (v *Vectors) KMeans(o KMeansOptions) ([]uint16, error) {
	n := len(v.Vocabulary.Words)
	if o.K < 1 || o.K > n || o.K > embed.MaxClusters {
		return nil, fmt.Errorf("cannot make %d clusters of %d words", o.K, n)
	}
	if o.Iterations == 0 {
		o.Iterations = 20
	}
	c := newClustering(v, o)
	for it := range o.Iterations {
		moved := c.assign()
		moved += c.repair()
		if o.Progress != nil {
			if err := o.Progress(it+1, moved); err != nil {
				return nil, err
			}
		}
		if moved == 0 {
			break
		}
		c.centre()
	}
	return c.of, nil
}

// clustering is the state of one k-means.
type clustering struct {
	k, dim  int
	workers int
	points  []float32 // [padded to TileRows][dim], of length one
	centres []float32 // [k][dim]
	panels  []float32 // the same, [k/TileColumns][dim][TileColumns]
	of      []uint16  // cluster of each point
	fit     []float32 // cosine of each point with its centre
	sizes   []int32
}

func newClustering(x *Vectors, o KMeansOptions) *clustering {
	n := len(x.Vocabulary.Words)
	padded := (n + kernels.TileRows - 1) / kernels.TileRows * kernels.TileRows
	panels := (o.K + kernels.TileColumns - 1) / kernels.TileColumns
	c := &clustering{
		k: o.K, dim: x.Dim, workers: max(o.Workers, 1),
		points: make([]float32, padded*x.Dim), centres: make([]float32, o.K*x.Dim),
		panels: make([]float32, panels*x.Dim*kernels.TileColumns),
		of:     make([]uint16, n), fit: make([]float32, n), sizes: make([]int32, o.K),
	}
	for i := range n {
		embed.Unit(c.points[i*x.Dim:][:x.Dim], x.At(i))
	}
	for j, i := range rand.New(rand.NewPCG(o.Seed, uint64(o.K))).Perm(n)[:o.K] {
		copy(c.centres[j*x.Dim:][:x.Dim], c.points[i*x.Dim:][:x.Dim])
	}
	c.pack()
	return c
}

// pack lays the centres out for the kernel.
func (c *clustering) pack() {
	for j := range c.k {
		panel := c.panels[j/kernels.TileColumns*c.dim*kernels.TileColumns:]
		for d, v := range c.centres[j*c.dim:][:c.dim] {
			panel[d*kernels.TileColumns+j%kernels.TileColumns] = v
		}
	}
}

// blockRows is how many points are held against one panel of centres before
// the next panel: they and the panel stay in the second-level cache.
const blockRows = 256

// assign puts every point into the cluster whose centre is nearest, the first
// of equals, and returns how many moved.
func (c *clustering) assign() int {
	n := len(c.of)
	blocks := (n + blockRows - 1) / blockRows
	moved := make([]int, blocks)
	kernels.Parallel(c.workers, blocks, func(_, s int) {
		moved[s] = c.assignBlock(s*blockRows, min(n, (s+1)*blockRows))
	})
	clear(c.sizes)
	for _, j := range c.of {
		c.sizes[j]++
	}
	total := 0
	for _, m := range moved {
		total += m
	}
	return total
}

func (c *clustering) assignBlock(lo, hi int) (moved int) {
	var best [blockRows]float32
	var at [blockRows]uint16
	for i := range best {
		best[i] = -2
	}
	var tile [kernels.TileRows * kernels.TileColumns]float32
	for first := 0; first < c.k; first += kernels.TileColumns {
		panel := c.panels[first*c.dim:][:c.dim*kernels.TileColumns]
		columns := min(kernels.TileColumns, c.k-first)
		for i := lo; i < hi; i += kernels.TileRows {
			kernels.Tile(&tile, c.points[i*c.dim:], panel)
			for row := range kernels.TileRows {
				b := best[i-lo+row]
				for j, v := range tile[row*kernels.TileColumns:][:columns] {
					if v > b {
						b = v
						at[i-lo+row] = uint16(first + j)
					}
				}
				best[i-lo+row] = b
			}
		}
	}
	for i := lo; i < hi; i++ {
		if c.of[i] != at[i-lo] {
			moved++
		}
		c.of[i], c.fit[i] = at[i-lo], best[i-lo]
	}
	return moved
}

// repair gives every empty cluster the point that fits worst where it is, and
// returns how many points it moved.
func (c *clustering) repair() (moved int) {
	if !slices.Contains(c.sizes, 0) {
		return 0
	}
	worst := make([]int32, len(c.of))
	for i := range worst {
		worst[i] = int32(i)
	}
	slices.SortFunc(worst, func(a, b int32) int {
		return cmp.Or(cmp.Compare(c.fit[a], c.fit[b]), cmp.Compare(a, b))
	})
	for j := range c.sizes {
		if c.sizes[j] > 0 {
			continue
		}
		for c.sizes[c.of[worst[0]]] == 1 {
			worst = worst[1:]
		}
		i := worst[0]
		worst = worst[1:]
		c.sizes[c.of[i]]--
		c.of[i], c.fit[i] = uint16(j), 1
		c.sizes[j] = 1
		moved++
	}
	return moved
}

// centre moves the centres to the mean direction of their points, adding in
// the order of the points whatever the number of workers.
func (c *clustering) centre() {
	first := make([]int32, c.k+1)
	for j, s := range c.sizes {
		first[j+1] = first[j] + s
	}
	members, next := make([]int32, len(c.of)), slices.Clone(first)
	for i, j := range c.of {
		members[next[j]] = int32(i)
		next[j]++
	}
	shares := min(64, c.k)
	kernels.Parallel(c.workers, shares, func(_, s int) {
		lo, hi := kernels.Share(c.k, s, shares)
		sum := make([]float32, c.dim)
		for j := lo; j < hi; j++ {
			clear(sum)
			for _, i := range members[first[j]:first[j+1]] {
				for d, v := range c.points[int(i)*c.dim:][:c.dim] {
					sum[d] += v
				}
			}
			embed.Unit(c.centres[j*c.dim:][:c.dim], sum)
		}
	})
	c.pack()
}
