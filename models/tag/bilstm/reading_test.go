package bilstm

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/word/embed"
)

// TestPlaces: what a piece shares and what its tokens have of their own come to
// the sum of all their features, whatever was kept before.
func TestPlaces(t *testing.T) {
	const rows, vector, width = 20000, 8, 16
	r := rand.New(rand.NewPCG(2, 9))
	table := &Parameter{Rows: rows, Cols: vector, Data: make([]float32, rows*vector)}
	w := make([]float32, 3*vector*width)
	for _, x := range [][]float32{table.Data, w} {
		for i := range x {
			x[i] = 2*r.Float32() - 1
		}
	}
	table = table.rounded()
	numbers := table.Numbers()
	x := places{width: width}
	x.set(table, w)
	for range 1500 {
		list, first := []Valued(nil), []int32{0}
		all := make([]Valued, 3)
		for i := range all {
			all[i] = Valued{Row: int32(r.IntN(rows)), Value: 1 + float32(r.IntN(2))}
		}
		for range 1 + r.IntN(6) {
			for i, f := range all {
				if i < 2 || r.IntN(2) == 0 {
					list = append(list, f)
				}
				for range r.IntN(3) {
					list = append(list, Valued{Row: int32(r.IntN(rows)), Value: 1})
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
					got += float64(f.Value) * float64(x.rows[int(f.Row)*x.width+j])
				}
				for _, f := range list[first[token]:first[token+1]] {
					for k, v := range numbers[int(f.Row)*vector:][:vector] {
						want += float64(f.Value) * float64(v) * float64(w[(2*vector+k)*width+j])
					}
				}
				if math.Abs(got-want) > 1e-4 {
					t.Fatalf("token %d, number %d: %v, want %v", token, j, got, want)
				}
			}
		}
	}
	if rows := cap(x.rows) / x.width; rows < placesMost || rows > 2*placesMost {
		t.Errorf("there is room for %d rows", rows)
	}
}

// TestHalve: no number is further from its level than half of the widest step, unless it is cut off.
func TestHalve(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		row := rapid.SliceOfN(rapid.Float32Range(-3, 3), 16, 16).Draw(t, "row")
		half := make([]byte, 8)
		scale := halve(half, row)
		p := &Parameter{Rows: 1, Cols: 16, halves: half, scales: []float32{scale}}
		for i, got := range p.Numbers() {
			if far := math.Abs(float64(row[i] - got)); far > 20.5*float64(scale) && math.Abs(float64(got)) < 127*float64(scale)*.999 {
				t.Fatalf("%v became %v at scale %v", row[i], got, scale)
			}
		}
	})
	if scale := halve(make([]byte, 8), make([]float32, 16)); scale != 0 {
		t.Errorf("of zeros the scale is %v", scale)
	}
}

// lemmas takes the last letter away.
type lemmas struct{}

func (lemmas) Value(dst, form []byte) []byte { return append(dst, Lower(nil, form[:len(form)-1])...) }

func TestLookUp(t *testing.T) {
	fold := embed.Fold
	v := NewVocabulary(lemmas{})
	v.Norm = &fold
	v.number([]string{"", "Roca", "roca", "maria"}, make([]uint64, 1), make([]rune, Border+1))
	v.AddWord("Roca")
	v.AddWord("dolor")
	for form, want := range map[string]int32{"Roca": 1, "ROCA": 2, "María": 3, "Dolors": 4, "Ona": Unknown} {
		if got := v.Word([]byte(form)); got != want {
			t.Errorf("%s: row %d, want %d", form, got, want)
		}
	}
}
