package bilstm

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/tag/bilstm/layers"
	"github.com/velum-health/velum/models/tag/tagger"
)

// TestPlaces: what a piece shares and what its tokens have of their own come to
// the sum of all their features, whatever was kept before.
func TestPlaces(t *testing.T) {
	const rows, vector, width = 20000, 8, 16
	r := rand.New(rand.NewPCG(2, 9))
	table := &parameter{rows: rows, cols: vector, data: make([]float32, rows*vector)}
	w := make([]float32, 3*vector*width)
	for _, x := range [][]float32{table.data, w} {
		uniform(r, x, 1)
	}
	x := places{width: width}
	x.set(table, w)
	for range 1500 {
		list, first := []layers.Valued(nil), []int32{0}
		all := make([]layers.Valued, 3)
		for i := range all {
			all[i] = layers.Valued{Row: int32(r.IntN(rows)), Value: 1 + float32(r.IntN(2))}
		}
		for range 1 + r.IntN(6) {
			for i, f := range all {
				if i < 2 || r.IntN(2) == 0 {
					list = append(list, f)
				}
				for range r.IntN(3) {
					list = append(list, layers.Valued{Row: int32(r.IntN(rows)), Value: 1})
				}
			}
			first = append(first, int32(len(list)))
		}
		x.reset()
		x.add(list, first)
		if len(x.shared) < 2 {
			t.Fatal("nothing is shared")
		}
		for token := range len(first) - 1 {
			for j := range width {
				got, want := 0.0, 0.0
				for _, f := range slices.Concat(x.shared, x.own[x.ends[token]:x.ends[token+1]]) {
					got += float64(f.Value) * float64(x.rows[f.Row][j])
				}
				for _, f := range list[first[token]:first[token+1]] {
					for k, v := range table.row(f.Row) {
						want += float64(f.Value) * float64(v) * float64(w[(2*vector+k)*width+j])
					}
				}
				if math.Abs(got-want) > 1e-4 {
					t.Fatalf("token %d, number %d: %v, want %v", token, j, got, want)
				}
			}
		}
	}
	if len(x.rows) < placesMost || len(x.rows) > placesMost+100 {
		t.Errorf("%d rows are kept", len(x.rows))
	}
}

// TestCacheForgets: a labeller says the same whatever its cache holds, also when
// that is too small for a note.
func TestCacheForgets(t *testing.T) {
	a, r := tiny(t, "b-1")
	r.Epochs, r.MinCount = 1, 1
	m := fit(t, a, r, sentences)
	n := parse(strings.Join(sentences, "\n"))
	l := m.newLabeller(tagger.LabelOptions{})
	want := l.Marginals(nil, n.text, n.tokens, nil)
	for _, rows := range []int{1, 7, len(n.tokens) + 1} {
		l.cache = newCache(0, l.cache.width)
		l.cache.make(rows)
		for range 3 {
			if got := l.Marginals(nil, n.text, n.tokens, nil); !slices.Equal(got, want) {
				t.Fatalf("room for %d forms: other marginals", rows)
			}
		}
	}
}
