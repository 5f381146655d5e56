package anonymity

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// settled makes a table in which every note is somebody, the last column sensitive.
func settled(rows [][]string, k int, d Diversity) ([]string, Sizes) {
	columns := []Column{{"age", HierarchyOf("value")}, {"town", HierarchyOf("value")}, {"disease", HierarchyOf("sensitive")}}
	all := NewRows(len(columns))
	for _, row := range rows {
		all.add(row)
	}
	c := NewCounter(columns)
	c.Add(all)
	p := c.Decide(k, 1)
	r := p.Reader(all)
	r.Count(nil)
	p.Settle(true, d)
	var out []string
	for row := range all.Each() {
		out = append(out, strings.ReplaceAll(r.joined(row), "|", " "))
	}
	return out, p.Sizes()
}

// TestDiversityByHand: twelve people of three groups. Shares of all are heart 1/4, virus 1/4, cancer 1/2. A has two
// diseases and is 1/2 away, B has one and is 1/2 away, C has three and is 0 away.
func TestDiversityByHand(t *testing.T) {
	var rows [][]string
	for _, g := range []struct{ age, town, diseases string }{
		{"40", "Reus", "heart heart virus virus"}, {"50", "Reus", "cancer cancer cancer cancer"}, {"40", "Lugo", "heart virus cancer cancer"},
	} {
		for d := range strings.FieldsSeq(g.diseases) {
			rows = append(rows, []string{g.age, g.town, d})
		}
	}
	for _, c := range []struct {
		d    Diversity
		left string // A, B, C
		l    int
		t    float64
	}{
		{Diversity{0, 1}, "ABC", 1, 0.5},
		{Diversity{2, 1}, "AC", 2, 0.5},
		{Diversity{3, 1}, "C", 3, 0},
		{Diversity{0, 0.3}, "C", 3, 0},
		{Diversity{0, 0.5}, "ABC", 1, 0.5},
		{Diversity{4, 1}, "", 0, 0},
	} {
		out, sizes := settled(rows, 4, c.d)
		left := ""
		for i, name := range []string{"A", "B", "C"} {
			if !strings.HasPrefix(out[4*i], "*") {
				left += name
			} else if out[4*i] != "* * *" {
				t.Errorf("%v: %s is suppressed to %q", c.d, name, out[4*i])
			}
		}
		if left != c.left || sizes.L != c.l || math.Abs(sizes.T-c.t) > 1e-9 {
			t.Errorf("l %d, t %.1f: %s is left with l %d, t %.2f; want %s, %d, %.2f", c.d.L, c.d.T, left, sizes.L, sizes.T, c.left, c.l, c.t)
		}
	}
}

// TestDiversity: whatever the notes, no group that is left has fewer than k people, fewer than l diseases, or shares
// farther than t from those of all.
func TestDiversity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows [][]string
		for range rapid.IntRange(1, 60).Draw(t, "notes") {
			rows = append(rows, []string{fmt.Sprint(rapid.IntRange(0, 2).Draw(t, "age")), rapid.SampledFrom([]string{"Reus", "Lugo"}).Draw(t, "town"), rapid.SampledFrom([]string{"heart", "virus", "cancer"}).Draw(t, "disease")})
		}
		k, d := rapid.IntRange(1, 4).Draw(t, "k"), Diversity{rapid.IntRange(0, 3).Draw(t, "l"), rapid.Float64Range(0, 1).Draw(t, "t")}
		out, _ := settled(rows, k, d)
		all, of := map[string]float64{}, map[string]map[string]float64{}
		for i, row := range rows {
			all[row[2]]++
			group := strings.Join(row[:2], " ")
			if strings.HasPrefix(out[i], "*") {
				continue
			}
			if of[group] == nil {
				of[group] = map[string]float64{}
			}
			of[group][row[2]]++
		}
		for group, values := range of {
			n, far := 0.0, 0.0
			for _, x := range values {
				n += x
			}
			for v, x := range all {
				far += math.Abs(values[v]/n-x/float64(len(rows))) / 2
			}
			if int(n) < k || len(values) < d.L || far > d.T+1e-6 {
				t.Fatalf("%s: %.0f people, %d values, %.3f away; k %d, l %d, t %.3f", group, n, len(values), far, k, d.L, d.T)
			}
		}
	})
}
