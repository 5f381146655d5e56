package exit

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/velum-health/velum/models/word/near"
)

// DidYouMean returns a hint with the nearest of the known names, or "" when
// none is near.
func DidYouMean(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// Suggest returns a remedy for an unknown name: the nearest known name, or the list of known names.
func Suggest(name string, known []string) string {
	if near := DidYouMean(name, known); near != "" {
		return near
	}
	return "known: " + strings.Join(known, ", ")
}

// Nearest returns the known name nearest to name, or "" when none is near. Known names that begin with name come first,
// the shortest before the others ("key" finds "keyed"). Other names may differ in at most one letter of three.
func Nearest(name string, known []string) string {
	begins, nearest := "", ""
	best := len(name)/3 + 1
	for _, k := range known {
		if len(name) >= 3 && strings.HasPrefix(strings.ToLower(k), strings.ToLower(name)) && (begins == "" || len(k) < len(begins)) {
			begins = k
		}
		if d := near.Distance(strings.ToLower(name), strings.ToLower(k)); d <= best && (nearest == "" || d < best) {
			best, nearest = d, k
		}
	}
	return cmp.Or(begins, nearest)
}
