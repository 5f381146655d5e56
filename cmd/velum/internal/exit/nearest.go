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
		if d := near.Distance(strings.ToLower(name), strings.ToLower(k)); d <= best && (nearest == "" || d < best) {
			best, nearest = d, k
		}
	}
	return cmp.Or(begins, nearest)
}
