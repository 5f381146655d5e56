package embedtrain

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/word/embed"
)

// KMeansOptions holds the options of clustering.
type KMeansOptions struct {
	K        int // clusters, 1 to embed.MaxClusters
	Workers  int // never changes the result
	Seed     uint64
	Progress func(moved int) error // after an iteration; may be nil; an error stops it
}

// mostIterations bounds k-means, which stops when nothing moves.
const mostIterations = 20

// KMeans assigns every word to one of K non-empty clusters by spherical k-means (Dhillon and Modha 2001): word vectors
// are compared by their cosine, since their length reflects frequency. It starts from K different words drawn at
// random; k-means++ at K = 8192 cost as much as an iteration and did not improve the sum of cosines. A cluster that
// loses its last word takes the word with the lowest cosine to its own cluster.
//
// If there are fewer words than clusters, every word is a cluster by itself: that is as close to the words as clusters can be.
func (v *Vectors) KMeans(o KMeansOptions) ([]uint16, error) {
	if o.K < 1 || o.K > embed.MaxClusters {
		return nil, fmt.Errorf("cannot make %d clusters", o.K)
	}
	if n := len(v.Vocabulary.Words); o.K > n {
		of := make([]uint16, n)
		for i := range of {
			of[i] = uint16(i)
		}
		return of, nil
	}
	c := newClustering(v, o)
	for range mostIterations {
		moved := c.assign()
		moved += c.repair()
		if o.Progress != nil {
			if err := o.Progress(moved); err != nil {
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
	wide    int // k, padded
	workers int
	points  []float32   // [n][dim], of length one
	centres []float32   // [wide][dim], those behind k are zero
	columns []float32   // the same, [dim][wide]
	cosines [][]float32 // by worker, [blockRows][wide]
	of      []uint16    // cluster of each point
	fit     []float32   // cosine of each point with its centre
	sizes   []int32
}

func newClustering(x *Vectors, o KMeansOptions) *clustering {
	n := len(x.Vocabulary.Words)
	c := &clustering{
		k: o.K, dim: x.Dim, wide: kernels.Pad(o.K), workers: max(o.Workers, 1),
		points: make([]float32, n*x.Dim), of: make([]uint16, n), fit: make([]float32, n), sizes: make([]int32, o.K),
	}
	c.centres, c.columns = make([]float32, c.wide*x.Dim), make([]float32, c.wide*x.Dim)
	for range c.workers {
		c.cosines = append(c.cosines, make([]float32, blockRows*c.wide))
	}
	for i := range n {
		embed.Unit(c.points[i*x.Dim:][:x.Dim], x.At(i))
	}
	for j, i := range rand.New(rand.NewPCG(o.Seed, uint64(o.K))).Perm(n)[:o.K] {
		copy(c.centres[j*x.Dim:][:x.Dim], c.points[i*x.Dim:][:x.Dim])
	}
	return c
}

// blockRows is the number of points that are compared with all centres at once.
const blockRows = 128

// assign puts every point into the cluster whose centre is nearest, the first
// of equals, and returns how many moved.
func (c *clustering) assign() int {
	kernels.Transpose(c.columns, c.centres, c.dim, c.wide, c.dim)
	n := len(c.of)
	blocks := (n + blockRows - 1) / blockRows
	moved := make([]int, blocks)
	kernels.Parallel(c.workers, blocks, func(worker, s int) {
		moved[s] = c.assignBlock(c.cosines[worker], s*blockRows, min(n, (s+1)*blockRows))
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

func (c *clustering) assignBlock(cosines []float32, lo, hi int) (moved int) {
	kernels.GemmFrom(cosines, c.wide, nil, c.points[lo*c.dim:], c.dim, c.columns, c.wide, hi-lo, c.dim, c.wide)
	for i := lo; i < hi; i++ {
		at, best := uint16(0), float32(-2)
		for j, v := range cosines[(i-lo)*c.wide:][:c.k] {
			if v > best {
				at, best = uint16(j), v
			}
		}
		if c.of[i] != at {
			moved++
		}
		c.of[i], c.fit[i] = at, best
	}
	return moved
}

// repair gives every empty cluster the point with the lowest cosine to its own centre, and returns the number of moved
// points.
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
}
