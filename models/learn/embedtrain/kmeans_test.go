package embedtrain

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/velum-health/velum/models/word/embed"
)

// points are vectors in the plane, a word each.
func points(at ...[2]float32) *Vectors {
	x := &Vectors{Vocabulary: new(Vocabulary), Dim: 2, rows: 2}
	for _, p := range at {
		x.Vocabulary.Words = append(x.Vocabulary.Words, embed.Word{Form: "w"})
		x.data = append(x.data, p[:]...)
	}
	return x
}

// TestRepair: an empty cluster takes the point that fits worst, of equals the first, but none that is alone in its cluster.
func TestRepair(t *testing.T) {
	for _, c := range []struct {
		name  string
		of    []uint16
		fit   []float32
		sizes []int32
		want  []uint16
		after []int32
		moved int
	}{
		{"none is empty", []uint16{0, 1, 1}, []float32{.1, .2, .3}, []int32{1, 2}, []uint16{0, 1, 1}, []int32{1, 2}, 0},
		{"the worst", []uint16{0, 0, 0}, []float32{.9, .2, .5}, []int32{3, 0}, []uint16{0, 1, 0}, []int32{2, 1}, 1},
		{"two of equals", []uint16{0, 0, 0}, []float32{.9, .5, .5}, []int32{3, 0}, []uint16{0, 1, 0}, []int32{2, 1}, 1},
		{"the worst is alone", []uint16{0, 1, 1}, []float32{.1, .9, .4}, []int32{1, 2, 0}, []uint16{0, 1, 2}, []int32{1, 1, 1}, 1},
		{"two are empty", []uint16{2, 2, 2, 2}, []float32{.4, .3, .2, .1}, []int32{0, 0, 4}, []uint16{2, 2, 1, 0}, []int32{1, 1, 2}, 2},
		{"one in the middle", []uint16{0, 0, 2}, []float32{.4, .6, .2}, []int32{2, 0, 1}, []uint16{1, 0, 2}, []int32{1, 1, 1}, 1},
	} {
		k := &clustering{k: len(c.sizes), of: c.of, fit: c.fit, sizes: c.sizes}
		if moved := k.repair(); moved != c.moved || !slices.Equal(k.of, c.want) || !slices.Equal(k.sizes, c.after) {
			t.Errorf("%s: %d moved, clusters %v of sizes %v, want %d, %v, %v", c.name, moved, k.of, k.sizes, c.moved, c.want, c.after)
		}
		if c.name == "the worst" && k.fit[1] != 1 {
			t.Errorf("a point at its own centre has the cosine %v", k.fit[1])
		}
	}
}

// TestCentre: (1, 0) and (0, 1) have their centre at (√½, √½), whatever their lengths were; (0, -1) is its own.
func TestCentre(t *testing.T) {
	for _, workers := range []int{1, 3} {
		c := newClustering(points([2]float32{5, 0}, [2]float32{0, -2}, [2]float32{0, .5}), KMeansOptions{K: 2, Workers: workers})
		c.of, c.sizes = []uint16{0, 1, 0}, []int32{2, 1}
		c.centre()
		half := math.Sqrt(.5)
		for i, want := range []float64{half, half, 0, -1} {
			if math.Abs(float64(c.centres[i])-want) > 1e-6 {
				t.Errorf("%d workers: centres %v, number %d is not %v", workers, c.centres[:4], i, want)
			}
		}
	}
}

// TestAssign: of two centres that are as near, the first; what moved is counted; sizes are those of now.
func TestAssign(t *testing.T) {
	x := points([2]float32{1, 0}, [2]float32{3, 0}, [2]float32{0, 1}, [2]float32{-1, 0})
	c := newClustering(x, KMeansOptions{K: 3})
	clear(c.centres)
	copy(c.centres, []float32{0, 1, 1, 0, 1, 0}) // (0, 1), and twice (1, 0)
	for _, moved := range []int{2, 0} {
		if got := c.assign(); got != moved || !slices.Equal(c.of, []uint16{1, 1, 0, 0}) || !slices.Equal(c.sizes, []int32{2, 2, 0}) {
			t.Errorf("%d moved, clusters %v of sizes %v, want %d moved", got, c.of, c.sizes, moved)
		}
		if want := []float32{1, 1, 1, 0}; !slices.Equal(c.fit, want) {
			t.Errorf("cosines %v, want %v", c.fit, want)
		}
	}
}

// TestAssignBlocks: points behind the first block are held against the centres as well, and all that move are counted.
func TestAssignBlocks(t *testing.T) {
	var all [][2]float32
	for i := range 2*blockRows + 3 {
		all = append(all, [2]float32{float32(i % 2), float32(1 - i%2)})
	}
	x := points(all...)
	for _, workers := range []int{1, 4} {
		c := newClustering(x, KMeansOptions{K: 2, Workers: workers})
		copy(c.centres, []float32{0, 1, 1, 0})
		if moved := c.assign(); moved != blockRows+1 || !slices.Equal(c.sizes, []int32{blockRows + 2, blockRows + 1}) {
			t.Errorf("%d workers: %d moved, sizes %v", workers, moved, c.sizes)
		}
		for i, of := range c.of {
			if int(of) != i%2 {
				t.Fatalf("%d workers: point %d is in cluster %d", workers, i, of)
			}
		}
	}
}

// TestKMeans: three directions are three clusters, whatever is drawn at first; progress hears that nothing moves any more, and may stop.
func TestKMeans(t *testing.T) {
	x := points([2]float32{1, 0}, [2]float32{0, 1}, [2]float32{-1, 0}, [2]float32{9, .1}, [2]float32{.1, 9}, [2]float32{-9, .1})
	for seed := range uint64(8) {
		var told []int
		of, err := x.KMeans(KMeansOptions{K: 6, Seed: seed, Progress: func(moved int) error {
			told = append(told, moved)
			return nil
		}})
		if err != nil || len(told) < 1 || len(told) > mostIterations || told[len(told)-1] != 0 || slices.Contains(told[:len(told)-1], 0) {
			t.Errorf("seed %d: moved %v, %v", seed, told, err)
		}
		if slices.Sort(of); !slices.Equal(of, []uint16{0, 1, 2, 3, 4, 5}) {
			t.Errorf("seed %d: six clusters of six words are %v", seed, of)
		}
	}
	stopped := errors.New("stopped")
	if of, err := x.KMeans(KMeansOptions{K: 2, Progress: func(int) error { return stopped }}); of != nil || !errors.Is(err, stopped) {
		t.Errorf("stopped: %v, %v", of, err)
	}
	for k, good := range map[int]bool{-1: false, 0: false, 1: true, 6: true, 7: true, embed.MaxClusters + 1: false} {
		if _, err := x.KMeans(KMeansOptions{K: k}); (err == nil) != good {
			t.Errorf("%d clusters of six words: %v", k, err)
		}
	}
}
