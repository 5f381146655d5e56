package anonymity

import (
	"iter"
	"math"
	"slices"
	"sync"
)

// maxPeople is the number of hashes of people in memory. Above it, or rather its part of a share of the groups, each group keeps
// only its lowest hashes, the limit being halved repeatedly, but at least k + 1. Up to the limit the people of a group are counted exactly; a larger
// number is estimated from the density of the lowest hashes (Bar-Yossef and others 2002). So whether a group has k
// people is always exact, memory is bounded, each pair of group and person is processed once, and their order does not
// matter.
const maxPeople = 1 << 24

// groups counts the notes and the people of each group, in shares by the last bits of its hash, so that several workers may count.
type groups [16]share

// share is the groups of some hashes.
type share struct {
	mu     sync.Mutex
	of     map[uint64]*group
	limit  int // hashes of a group
	least  int // limit never falls below
	hashes int // in all groups
	most   int // hashes; a share of maxPeople, less in tests
	next   int // hashes after which bound looks
}

type group struct {
	notes  int64
	n      int64            // people, when all are counted
	values map[uint64]int64 // notes, by the hash of a sensitive value
	people []uint64         // hashes, of which the first sorted are in order and different
	sorted int
}

// newGroups returns a counter that is exact up to k people per group.
func newGroups(k int) *groups {
	g := new(groups)
	for i := range g {
		most := maxPeople / len(g)
		g[i] = share{of: map[uint64]*group{}, limit: maxPeople, least: k + 1, most: most, next: most}
	}
	return g
}

// add counts a note of the group of. people has the hash of whom it is of; if it is empty, every note counts as a person. values are
// the hashes of its sensitive values.
func (s *share) add(of uint64, people, values []uint64) {
	x := s.of[of]
	if x == nil {
		x = new(group)
		s.of[of] = x
	}
	x.notes++
	for _, v := range values {
		if x.values == nil {
			x.values = map[uint64]int64{}
		}
		x.values[v]++
	}
	had := len(x.people)
	for _, p := range people {
		if x.sorted < s.limit || p < x.people[s.limit-1] {
			x.people = append(x.people, p)
		}
	}
	if len(x.people) >= 2*x.sorted+8 {
		x.sort(s.limit)
	}
	if s.hashes += len(x.people) - had; s.hashes > s.next {
		s.bound()
	}
}

// sort puts the hashes in order, each once, and leaves the lowest.
func (x *group) sort(most int) {
	if x.sorted == len(x.people) && x.sorted <= most {
		return
	}
	slices.Sort(x.people)
	x.people = slices.Compact(x.people)
	x.people = x.people[:min(len(x.people), most)]
	x.sorted = len(x.people)
}

// bound keeps memory within its bound.
func (s *share) bound() {
	for {
		s.hashes = 0
		for _, x := range s.of {
			x.sort(s.limit)
			if s.hashes += len(x.people); cap(x.people) > 2*len(x.people) {
				x.people = slices.Clip(slices.Clone(x.people))
			}
		}
		if s.hashes <= s.most || s.limit == s.least {
			break
		}
		s.limit = max(s.limit/2, s.least)
	}
	s.next = max(s.most, 2*s.hashes) // or each that comes would be sorted again
}

// each returns the groups with the number of their people, when all are counted.
func (g *groups) each() iter.Seq2[uint64, *group] {
	return func(yield func(uint64, *group) bool) {
		for i := range g {
			s := &g[i]
			s.bound()
			for of, x := range s.of {
				n := len(x.people)
				switch {
				case n == 0:
					x.n = x.notes
				case n == s.limit:
					x.n = max(int64(n), int64(float64(n-1)*math.MaxUint64/float64(x.people[n-1])))
				default:
					x.n = int64(n)
				}
				if !yield(of, x) {
					return
				}
			}
		}
	}
}
