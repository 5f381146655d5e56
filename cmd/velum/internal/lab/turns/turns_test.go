package turns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/tag/calibrate"
)

// A point of the reliability curve stands for ten examples or more, and all
// examples stand for a point.
func TestMerged(t *testing.T) {
	bins := func(counts ...int) (all []calibrate.Bin) {
		for i, n := range counts {
			all = append(all, calibrate.Bin{From: float64(i), To: float64(i + 1), Count: n, Confidence: float64(i), Right: 0.5})
		}
		return all
	}
	for _, c := range []struct {
		in   []int
		want string
	}{
		{[]int{2, 3, 20, 0, 2, 40, 1}, "25@1.72 43@4.98"}, {[]int{20, 20}, "20@0.00 20@1.00"}, {[]int{3, 4}, "7@0.57"}, {[]int{0, 0}, ""},
	} {
		var got []string
		for _, b := range merged(bins(c.in...)) {
			if b.Right != 0.5 {
				t.Errorf("%v: share %v", c.in, b.Right)
			}
			got = append(got, fmt.Sprintf("%d@%.2f", b.Count, b.Confidence))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%v: %s, want %s", c.in, s, c.want)
		}
	}
}
