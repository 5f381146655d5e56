package exit

import (
	"cmp"
	"fmt"
	"strings"
)

// DidYouMean returns a hint with the nearest of the known names, or "" when
// none is near.
func DidYouMean(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// Suggest is the remedy for a name that is none of the known ones.
func Suggest(name string, known []string) string {
	if near := DidYouMean(name, known); near != "" {
		return near
	}
	return "known: " + strings.Join(known, ", ")
}

// Nearest returns the nearest of the known names, or "" when none is near. One
// that begins with name goes before all others, the shortest first: key is the
// beginning of keyed. Of the others at most one letter in three may differ.
func Nearest(name string, known []string) string {
	begins, nearest := "", ""
	best := len(name)/3 + 1
	for _, k := range known {
		if len(name) >= 3 && strings.HasPrefix(strings.ToLower(k), strings.ToLower(name)) && (begins == "" || len(k) < len(begins)) {
			begins = k
		}
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d <= best && (nearest == "" || d < best) {
			best, nearest = d, k
		}
	}
	return cmp.Or(begins, nearest)
}

// distance counts the letters inserted, left out, changed or swapped with
// their neighbour between a and b (optimal string alignment).
func distance(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			differs := 1
			if a[i] == b[j] {
				differs = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+differs)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
