package anonymity

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/zeebo/xxh3"
)

// hashed returns the hashes of some people.
func hashed(people ...uint64) (all []byte) {
	for _, p := range people {
		all = binary.LittleEndian.AppendUint64(all, xxh3.Hash(binary.LittleEndian.AppendUint64(nil, p)))
	}
	return all
}

// TestGroups counts what a map counts as long as there is room; with little room whether a group has k people is as true,
// and the counts are the same in whatever order and portions notes come.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type seen struct{ group, person uint64 }
		notes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) seen {
			return seen{rapid.Uint64Range(0, 5).Draw(t, "group"), rapid.Uint64Range(0, 60).Draw(t, "person")}
		}), 1, 400).Draw(t, "notes")
		k, most := rapid.IntRange(2, 8).Draw(t, "k"), rapid.SampledFrom([]int{1, 30, 100, maxPeople}).Draw(t, "most")
		people := map[uint64]map[uint64]bool{}
		for _, n := range notes {
			if people[n.group] == nil {
				people[n.group] = map[uint64]bool{}
			}
			people[n.group][n.person] = true
		}
		count := func(portion int) map[uint64]int64 {
			all := NewGroups(k)
			all.most, all.next = most, most
			for from := 0; from < len(notes); from += portion {
				some := NewGroups(k)
				for _, n := range notes[from:min(from+portion, len(notes))] {
					some.Add(n.group, 1, hashed(n.person))
				}
				all.merge(some)
			}
			return maps.Collect(all.people())
		}
		got := count(rapid.IntRange(1, 100).Draw(t, "portion"))
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(notes), func(i, j int) { notes[i], notes[j] = notes[j], notes[i] })
		if again := count(rapid.IntRange(1, 100).Draw(t, "other portion")); !maps.Equal(got, again) {
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
	g := NewGroups(5)
	g.most, g.next = 1<<12, 1<<12
	for person := range uint64(100_000) {
		g.Add(person%2, 3, hashed(person, person))
		g.Add(7, 1, hashed(person%9))
	}
	if g.hashes > 2*g.most+16 {
		t.Errorf("%d hashes are kept, more than %d", g.hashes, 2*g.most)
	}
	for group, n := range g.people() {
		if want := map[uint64]float64{0: 50_000, 1: 50_000, 7: 9}[group]; float64(n) < .9*want || float64(n) > 1.1*want {
			t.Errorf("group %d: %d people, not %v", group, n, want)
		}
	}
}

// TestGroupsOfNotes: without patients every note is a person.
func TestGroupsOfNotes(t *testing.T) {
	g := NewGroups(5)
	g.Add(1, 3, nil)
	g.Add(1, 4, nil)
	if got := maps.Collect(g.people()); got[1] != 7 {
		t.Error(got)
	}
}
