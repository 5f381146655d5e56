package commit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// smallUnits are units of files by their folders; a large one has a "!" before it, and
// behind a "^" stands the folder in which it may share a unit with files of others.
func smallUnits(folders []string) (all []Unit) {
	for i, folder := range folders {
		u := Unit{Input: fmt.Sprint(i), Source: fmt.Sprint("f", i), SHA256: [32]byte{byte(i), byte(i >> 8)}, Rows: 2, Small: 1}
		folder, shelf, shares := strings.Cut(folder, "^")
		if shares {
			u.Shelf = &shelf
		}
		if name, large := strings.CutPrefix(folder, "!"); large {
			folder, u.Small = name, 0
		}
		u.Folder = folder
		all = append(all, u)
	}
	return all
}

func TestShared(t *testing.T) {
	for _, c := range []struct {
		name    string
		folders []string
		want    string // folder and number of files of each unit
	}{
		{"few", slices.Repeat([]string{"a"}, leastMembers-1), strings.Repeat("a 1, ", leastMembers-1)},
		{"enough", slices.Repeat([]string{"a"}, leastMembers), "a 16, "},
		{"a large one between", slices.Concat(slices.Repeat([]string{"a"}, 8), []string{"!a"}, slices.Repeat([]string{"a"}, 8)), "a 16, a 1, "},
		{"two months", slices.Concat(slices.Repeat([]string{"m=1", "m=2"}, 16), []string{"m=3"}), "m=1 16, m=2 16, m=3 1, "},
		{"patients", slices.Repeat([]string{"m=1/p1^m=1", "m=1/p2^m=1", "m=2/p3^m=2"}, 8), "m=1 16, " + strings.Repeat("m=2/p3 1, ", 8)},
		{"a ward that has enough", slices.Concat(slices.Repeat([]string{"w1^"}, 16), slices.Repeat([]string{"w2^", "w3^"}, 8)), "w1 16,  16, "},
		{"many", slices.Repeat([]string{""}, mostMembers+2), fmt.Sprintf(" %d,  2, ", mostMembers)},
		{"one too many", slices.Repeat([]string{""}, mostMembers+1), fmt.Sprintf(" %d,  1, ", mostMembers)},
	} {
		got, rows := "", int64(0)
		for _, u := range (&Plan{Units: smallUnits(c.folders)}).Shared() {
			got += fmt.Sprintf("%s %d, ", u.Folder, max(len(u.Members), 1))
			rows += u.Rows
			first := int64(0)
			for _, m := range u.Members {
				if m.First != first {
					t.Errorf("%s: a file begins at row %d, want %d", c.name, m.First, first)
				}
				first += m.Rows
			}
		}
		if got != c.want || rows != 2*int64(len(c.folders)) {
			t.Errorf("%s: %s, %d rows, want %s", c.name, got, rows, c.want)
		}
	}
}

// TestSharedBytes: files that are too large together do not share a unit.
func TestSharedBytes(t *testing.T) {
	units := smallUnits(slices.Repeat([]string{""}, 40))
	for i := range units {
		units[i].Small = mostShared / 16
	}
	var got []int
	for _, u := range (&Plan{Units: units}).Shared() {
		got = append(got, len(u.Members))
	}
	if !slices.Equal(got, []int{16, 16, 8}) {
		t.Error(got)
	}
}

// TestRestStays: the rows of a unit that has lost files are those of the others.
func TestRestStays(t *testing.T) {
	x := &rest{Keep: []memberRecord{{First: 2, Rows: 3}, {First: 7, Rows: 1}, {First: 8, Rows: 2}}}
	var got []int64
	for row := range int64(12) {
		if x.stays(row) {
			got = append(got, row)
		}
	}
	if want := []int64{2, 3, 4, 7, 8, 9}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
