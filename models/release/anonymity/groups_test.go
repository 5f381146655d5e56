package anonymity

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/zeebo/xxh3"
)

// hashed returns the hash of somebody.
func hashed(person uint64) []uint64 {
	return []uint64{xxh3.Hash(binary.LittleEndian.AppendUint64(nil, person))}
}

// roomFor returns groups with room for so many hashes in each share.
func roomFor(k, most int) *groups {
	g := newGroups(k)
	for i := range g {
		g[i].most, g[i].next = most, most
	}
	return g
}

// add adds a note of somebody, or of nobody.
func (g *groups) add(of uint64, people []uint64) { g[of%uint64(len(g))].add(of, people, nil) }

// people is how many each group has.
func (g *groups) people() map[uint64]int64 {
	all := map[uint64]int64{}
	for of, x := range g.each() {
		all[of] = x.n
	}
	return all
}

// TestGroups counts what a map counts as long as there is room; with little room whether a group has k people is as true,
// and the counts are the same in whatever order notes come.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type seen struct{ group, person uint64 }
		notes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) seen {
			return seen{rapid.SampledFrom([]uint64{0, 1, 2, 16, 32, 48}).Draw(t, "group"), rapid.Uint64Range(0, 60).Draw(t, "person")}
		}), 1, 400).Draw(t, "notes")
		k, most := rapid.IntRange(2, 8).Draw(t, "k"), rapid.SampledFrom([]int{1, 30, 100, maxPeople}).Draw(t, "most")
		people := map[uint64]map[uint64]bool{}
		for _, n := range notes {
			if people[n.group] == nil {
				people[n.group] = map[uint64]bool{}
			}
			people[n.group][n.person] = true
		}
		count := func() map[uint64]int64 {
			all := roomFor(k, most)
			for _, n := range notes {
				all.add(n.group, hashed(n.person))
			}
			return all.people()
		}
		got := count()
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(notes), func(i, j int) { notes[i], notes[j] = notes[j], notes[i] })
		if again := count(); !maps.Equal(got, again) {
			t.Fatalf("%v, then %v", got, again)
		}
		for group, who := range people {
			n := int64(len(who))
			if most == maxPeople && got[group] != n || (got[group] < int64(k)) != (n < int64(k)) {
				t.Fatalf("group %d has %d people, not %d, k is %d", group, got[group], n, k)
			}
		}
	})
}

// TestGroupsReckoned: of groups that are larger than what is kept of them the numbers are near, and memory has its bound.
func TestGroupsReckoned(t *testing.T) {
	g := roomFor(5, 1<<12)
	for person := range uint64(100_000) {
		for range 2 {
			g.add(person%2*16, hashed(person))
		}
		g.add(32, hashed(person%9))
	}
	if s := &g[0]; s.hashes > 2*s.most+16 {
		t.Errorf("%d hashes are kept, more than %d", s.hashes, 2*s.most)
	}
	for group, n := range g.people() {
		if want := map[uint64]float64{0: 50_000, 16: 50_000, 32: 9}[group]; float64(n) < .9*want || float64(n) > 1.1*want {
			t.Errorf("group %d: %d people, not %v", group, n, want)
		}
	}
}

// TestGroupsOfNotes: without patients every note is a person.
func TestGroupsOfNotes(t *testing.T) {
	g := newGroups(5)
	for range 7 {
		g.add(1, nil)
	}
	if got := g.people(); got[1] != 7 {
		t.Error(got)
	}
}
