package option

import (
	"fmt"
	"strings"
)

// DidYouMean returns a hint with the nearest of the known names, or "" when
// none is near: at most one letter in three may differ.
func DidYouMean(name string, known []string) string {
	best, nearest := len(name)/3+1, ""
	for _, k := range known {
		if d := distance(strings.ToLower(name), strings.ToLower(k)); d <= best && (nearest == "" || d < best) {
			best, nearest = d, k
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf("did you mean %q?", nearest)
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
