package anonymity

import (
	"encoding/binary"
	"iter"
	"math"
	"slices"
)

// maxPeople is the number of hashes of people in memory. Above it, each group keeps only its lowest hashes, the limit
// being halved repeatedly, but at least k + 1. Up to the limit the people of a group are counted exactly; a larger
// number is estimated from the density of the lowest hashes (Bar-Yossef and others 2002). So whether a group has k
// people is always exact, memory is bounded, each pair of group and person is processed once, and their order does not
// matter.
const maxPeople = 1 << 24

// Groups counts the notes and the people of each group.
type Groups struct {
	of      map[uint64]*group
	each    int // hashes of a group
	least   int // each never falls below
	hashes  int // in all groups
	most    int // hashes; maxPeople, less in tests
	next    int // hashes after which bound looks
	patient []uint64
}

type group struct {
	notes  int64
	values map[uint64]int64 // notes, by the hash of a sensitive value
	people []uint64         // hashes, of which the first sorted are in order and different
	sorted int
}

// NewGroups returns a counter that is exact up to k people per group.
func NewGroups(k int) *Groups {
	return &Groups{of: map[uint64]*group{}, each: maxPeople, least: k + 1, most: maxPeople, next: maxPeople}
}

// Add counts notes of the group of. patients holds an eight-byte hash of each patient of these notes; if it is empty,
// every note counts as a person. values are the hashes of the notes' sensitive values.
func (g *Groups) Add(of uint64, notes int64, patients []byte, values ...uint64) {
	g.patient = g.patient[:0]
	for ; len(patients) > 0; patients = patients[8:] {
		g.patient = append(g.patient, binary.LittleEndian.Uint64(patients))
	}
	g.add(of, notes, g.patient)
	for _, v := range values {
		g.of[of].value(v, notes)
	}
}

func (x *group) value(v uint64, notes int64) {
	if x.values == nil {
		x.values = map[uint64]int64{}
	}
	x.values[v] += notes
}

func (g *Groups) add(of uint64, notes int64, people []uint64) {
	x := g.of[of]
	if x == nil {
		x = new(group)
		g.of[of] = x
	}
	x.notes += notes
	had := len(x.people)
	for _, p := range people {
		if x.sorted < g.each || p < x.people[g.each-1] {
			x.people = append(x.people, p)
		}
	}
	if len(x.people) >= 2*x.sorted+8 {
		x.sort(g.each)
	}
	if g.hashes += len(x.people) - had; g.hashes > g.next {
		g.bound()
	}
}

// sort puts the hashes in order, each once, and leaves the lowest.
func (x *group) sort(most int) {
	slices.Sort(x.people)
	x.people = slices.Compact(x.people)
	x.people = x.people[:min(len(x.people), most)]
	x.sorted = len(x.people)
}

// bound keeps memory within its bound.
func (g *Groups) bound() {
	for {
		g.hashes = 0
		for _, x := range g.of {
			x.sort(g.each)
			if g.hashes += len(x.people); cap(x.people) > 2*len(x.people) {
				x.people = slices.Clip(slices.Clone(x.people))
			}
		}
		if g.hashes <= g.most || g.each == g.least {
			break
		}
		g.each = max(g.each/2, g.least)
	}
	g.next = max(g.most, 2*g.hashes) // or each that comes would be sorted again
}

func (g *Groups) merge(o *Groups) {
	for of, x := range o.of {
		g.add(of, x.notes, x.people)
		for v, n := range x.values {
			g.of[of].value(v, n)
		}
	}
}

// people is how many people each group has, when all are counted.
func (g *Groups) people() iter.Seq2[uint64, int64] {
	return func(yield func(uint64, int64) bool) {
		g.bound()
		for of, x := range g.of {
			n := int64(len(x.people))
			switch {
			case n == 0:
				n = x.notes
			case len(x.people) == g.each:
				n = max(n, int64(float64(n-1)*math.MaxUint64/float64(x.people[n-1])))
			}
			if !yield(of, n) {
				return
			}
		}
	}
}
