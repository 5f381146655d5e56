package audit

import (
	"math"
	"strings"
	"testing"
)

func TestAuditLines(t *testing.T) {
	long := strings.Repeat("x", maxAuditLine)
	for _, c := range []struct {
		data    string
		end     bool
		advance int
	}{{"a\nb", false, 2}, {"\n", false, 1}, {"a", false, 0}, {"a", true, 1}, {"", true, 0}, {"", false, 0}, {long, false, len(long)}, {long[1:], false, 0}, {long[1:], true, len(long) - 1}} {
		n, line, err := auditLines([]byte(c.data), c.end)
		if n != c.advance || len(line) != c.advance || err != nil {
			t.Errorf("%.5q of %d bytes, the end %t: %d, %d bytes, %v", c.data, len(c.data), c.end, n, len(line), err)
		}
	}
}

// TestHypergeometric takes samples of small archives, whose probabilities are quotients of binomial coefficients.
func TestHypergeometric(t *testing.T) {
	for _, c := range []struct {
		notes, n, leaks, most int64
		want                  []float64
	}{
		{10, 3, 4, 3, []float64{20. / 120, 60. / 120, 36. / 120, 4. / 120}}, // C(4,x)·C(6,3-x) of C(10,3)
		{10, 3, 4, 1, []float64{20. / 120, 60. / 120}},
		{5, 5, 2, 3, []float64{0, 0, 1, 0}}, // all are read
		{5, 2, 0, 2, []float64{1, 0, 0}},
		{5, 2, 5, 2, []float64{0, 0, 1}},
		{5, 0, 3, 1, []float64{1, 0}},
		{6, 4, 5, 4, []float64{0, 0, 0, 10. / 15, 5. / 15}}, // at most one sound note
	} {
		got := hypergeometric([]float64{9}, c.notes, c.n, c.leaks, c.most)
		if got[0] != 9 || len(got) != len(c.want)+1 {
			t.Fatalf("%+v: %v", c, got)
		}
		for x, p := range c.want {
			if math.Abs(got[x+1]-p) > 1e-12 {
				t.Errorf("%+v: %v, want %v", c, got[1:], c.want)
				break
			}
		}
	}
}

func TestSeconds(t *testing.T) {
	for want, readers := range map[int64][]Reader{0: nil, 5: {{Seconds: 9}, {Seconds: 5}, {Seconds: 7}}, 4: {{Seconds: 4}}, -1: {{Seconds: 3}, {Seconds: 0}}} {
		if got := (&Reading{Readers: readers}).Seconds(); got != max(want, 0) {
			t.Errorf("%+v: %d", readers, got)
		}
	}
}
