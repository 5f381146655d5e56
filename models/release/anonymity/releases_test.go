package anonymity

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// released is a note of an archive that grows: who it is of, what it says, when it
// came, and what it was in each release since.
type released struct {
	patient, cohort int
	values          []string
	given           map[int]string // by release
}

// release makes a table of all notes as a run does: earlier cohorts are resumed.
func release(columns []Column, k, number int, cohorts *[]Cohort, notes []*released) {
	for cohort := range number + 1 {
		var plan *Plan
		var mine []*released
		all := NewRows(len(columns))
		for _, n := range notes {
			if n.cohort == cohort {
				mine = append(mine, n)
				all.add(n.values)
			}
		}
		if cohort < len(*cohorts) {
			plan = Resume(columns, k, (*cohorts)[cohort])
		} else {
			c := NewCounter(columns)
			c.Add(all)
			plan = c.Decide(k, 0.1)
		}
		var people []uint64
		for _, n := range mine {
			people = append(people, uint64(n.patient))
		}
		r, at := plan.Reader(all), 0
		r.Count(people)
		plan.Settle(false, Diversity{T: 1})
		for row := range all.Each() {
			mine[at].given[number] = r.joined(row)
			at++
		}
		if cohort < len(*cohorts) {
			(*cohorts)[cohort] = plan.Cohort()
		} else {
			*cohorts = append(*cohorts, plan.Cohort())
		}
	}
}

// smallest returns the fewest people of a combination that notes have in a join of
// some releases, those left aside of which all columns are suppressed.
func smallest(notes []*released, join []int, columns int) int {
	suppressed := strings.Join(slices.Repeat([]string{Suppressed}, columns), "|")
	people := map[string]map[int]bool{}
	for _, n := range notes {
		key, tells := "", false
		for _, r := range join {
			given, there := n.given[r]
			key += fmt.Sprintf("%v %s;", there, given)
			tells = tells || there && given != suppressed
		}
		if !tells {
			continue
		}
		if people[key] == nil {
			people[key] = map[int]bool{}
		}
		people[key][n.patient] = true
	}
	least := 1 << 30
	for _, p := range people {
		least = min(least, len(p))
	}
	return least
}

// TestJoins: twelve releases of an archive that grows, and no join of any of them, by
// ids of notes and by which release a note came in, has a class of fewer than k people.
// Where people go, those who are left of a class lose their values, and in every
// release by itself the classes have k.
func TestJoins(t *testing.T) {
	columns := []Column{{Name: "age", Hierarchy: HierarchyOf("number")}, {Name: "sex", Hierarchy: HierarchyOf("value")}}
	rapid.Check(t, func(t *rapid.T) {
		k := rapid.IntRange(2, 6).Draw(t, "k")
		forgets := rapid.Bool().Draw(t, "forgets")
		var notes []*released
		var cohorts []Cohort
		const releases = 12
		for number := range releases {
			for range rapid.IntRange(0, 60).Draw(t, "notes") {
				patient := rapid.IntRange(0, 80).Draw(t, "patient")
				notes = append(notes, &released{patient, number, []string{fmt.Sprint(20 + patient%50 + number/6), []string{"F", "M"}[patient%2]}, map[int]string{}})
			}
			if forgets && number > 0 {
				gone := rapid.IntRange(0, 80).Draw(t, "forgotten")
				notes = slices.DeleteFunc(notes, func(n *released) bool { return n.patient == gone })
			}
			release(columns, k, number, &cohorts, notes)
			if least := smallest(notes, []int{number}, len(columns)); least < k {
				t.Fatalf("release %d by itself has a class of %d, k is %d", number, least, k)
			}
		}
		if forgets {
			for _, n := range notes {
				if was, is := n.given[n.cohort], n.given[releases-1]; is != was && strings.Trim(is, Suppressed+"|") != "" {
					t.Fatalf("a note had %q and has %q now", was, is)
				}
			}
			return
		}
		for range 40 {
			join := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.IntRange(0, releases-1), 1, releases).Draw(t, "join"))))
			if least := smallest(notes, join, len(columns)); least < k {
				t.Fatalf("the join of releases %v has a class of %d, k is %d", join, least, k)
			}
		}
	})
}
