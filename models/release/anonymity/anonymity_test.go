package anonymity

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestHierarchies(t *testing.T) {
	for _, c := range []struct{ name, value, want string }{
		{"value", "ingeniera", "ingeniera *"},
		{"value", "", "* *"},
		{"number", "42", "42 40-44 40-49 40-59 0-49 *"},
		{"number", "40-44 años", "40-44 años 40-44 40-49 40-59 0-49 *"},
		{"number", "[AGE > 89]", "[AGE > 89] >89 >89 >89 >89 *"},
		{"number", "adulto", "adulto * * * * *"},
		{"date", "2026-11-22", "2026-11-22 2026-11 2026-10 2026 2025 *"},
		{"place", "Lugo", "Lugo Lugo Galicia España *"},
		{"place", "Reus", "Reus Tarragona Cataluña España *"},
		{"place", "Atlantis", "Atlantis * * * *"},
		{"postal", "08001", "08001 080** 08*** *"},
	} {
		h := HierarchyOf(c.name)
		var all []string
		value := c.value
		for level := range h.top() + 1 {
			value = h.at(value, level)
			all = append(all, value)
		}
		if got := strings.Join(all, " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// note is a note of somebody, for tests.
type note struct {
	values []string
	person uint64
}

// anonymous runs the whole over some notes.
func anonymous(notes []note, columns []Column, k int, share float64, most int) ([]string, Sizes) {
	c := NewCounter(columns)
	c.most = most
	all := NewRows(len(columns))
	for _, n := range notes {
		all.add(n.values)
	}
	c.Add(all)
	p := c.Decide(k, share)
	persons := map[uint64]bool{}
	r := p.Reader(all)
	var people []uint64
	for _, n := range notes {
		people = append(people, n.person)
		persons[n.person] = true
	}
	r.Count(people)
	p.Settle(len(persons) == len(notes), Diversity{T: 1})
	var rows []string
	for row := range all.Each() {
		rows = append(rows, r.joined(row))
	}
	return rows, p.Sizes()
}

// add adds a note.
func (r *Rows) add(values []string) {
	for i, v := range values {
		r.Of = append(r.Of, r.Number(i, []byte(v)))
	}
}

// joined is what is written of a note.
func (r *Reader) joined(row []uint32) string {
	return string(bytes.Join(r.Values(row, r.Suppressed(row)), []byte("|")))
}

// TestK: whatever the notes, every combination that is written belongs to k people
// at least, unless there are fewer; and with a small memory alike.
func TestK(t *testing.T) {
	columns := []Column{{"age", HierarchyOf("number")}, {"sex", HierarchyOf("value")}, {"town", HierarchyOf("place")}, {"day", HierarchyOf("date")}}
	rapid.Check(t, func(r *rapid.T) {
		k := rapid.IntRange(1, 6).Draw(r, "k")
		var notes []note
		for range rapid.IntRange(0, 60).Draw(r, "notes") {
			notes = append(notes, note{[]string{
				fmt.Sprint(rapid.IntRange(0, 99).Draw(r, "age")), rapid.SampledFrom([]string{"", "h", "m"}).Draw(r, "sex"),
				rapid.SampledFrom([]string{"Reus", "Lugo", "Soria", "Atlantis"}).Draw(r, "town"),
				fmt.Sprintf("2026-%02d-11", rapid.IntRange(1, 12).Draw(r, "month")),
			}, rapid.Uint64Range(0, 30).Draw(r, "person")})
		}
		rows, sizes := anonymous(notes, columns, k, 0.1, rapid.SampledFrom([]int{3, 1000}).Draw(r, "most"))
		people, all := map[string]map[uint64]bool{}, map[uint64]bool{}
		for i, row := range rows {
			if people[row] == nil {
				people[row] = map[uint64]bool{}
			}
			people[row][notes[i].person], all[notes[i].person] = true, true
		}
		for row, of := range people {
			if len(of) < k && len(of) < len(all) {
				r.Fatalf("%s belongs to %d people, k is %d", row, len(of), k)
			}
		}
		if sizes.Notes != int64(len(notes)) {
			r.Fatalf("%d notes counted of %d", sizes.Notes, len(notes))
		}
	})
}

// TestLittleIsLost: what is common stays as it is.
func TestLittleIsLost(t *testing.T) {
	var notes []note
	for i := range 100 {
		notes = append(notes, note{[]string{fmt.Sprint(40 + i%2), "Reus"}, uint64(i)})
	}
	notes = append(notes, note{[]string{"97", "Lugo"}, 1000}, note{[]string{"12", "Soria"}, 1001})
	rows, sizes := anonymous(notes, []Column{{"age", HierarchyOf("number")}, {"town", HierarchyOf("place")}}, 2, 0.05, maxGroups)
	if rows[0] != "40|Reus" || rows[1] != "41|Reus" || rows[100] != "*|*" || rows[101] != "*|*" {
		t.Errorf("%v", rows[98:])
	}
	if sizes.Suppressed != 2 || sizes.Groups != 2 || sizes.Smallest != 50 || sizes.Under[0] != 2 {
		t.Errorf("%+v", sizes)
	}
}
