package audit

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/velum-health/velum/pipeline/commit"
)

// months is the manifest of an output whose masked parts have as many notes each.
func months(notes int64, parts ...string) *commit.Manifest {
	m := &commit.Manifest{Counts: commit.Counts{Masked: notes * int64(len(parts))}}
	for _, p := range parts {
		m.Units = append(m.Units, commit.UnitRecord{Parts: []commit.PartRecord{{Kind: "masked", SHA256: p, Rows: notes}}})
	}
	return m
}

// A reading is valid as long as the parts stand that it is of, and those of several months add up: as thinly as the
// thinnest of them was read, with all finds.
func TestReadingsOfMonths(t *testing.T) {
	of := func(read, leaks int64, parts ...string) Recorded {
		m := months(10_000, parts...)
		return Recorded{Reading: &Reading{Read: read, Leaks: leaks, By: "Ada", Extent: ExtentOf(m, nil), Strata: []Stratum{{To: 18, Notes: m.Counts.Masked, Read: read, Leaks: leaks}}}}
	}
	for _, c := range []struct {
		name     string
		readings []Recorded
		parts    []string
		want     string // read, leaks, strata
		upper    float64
	}{
		{"one month", []Recorded{of(598, 0, "a")}, []string{"a"}, "598 0 [{0 18 10000 598 0}]", .0048},
		{"one month of two", []Recorded{of(598, 0, "a")}, []string{"a", "b"}, "598 0 [{0 18 10000 598 0} {0 0 10000 0 0}]", .5025},
		{"three months", []Recorded{of(200, 0, "a"), of(200, 0, "b"), of(200, 0, "c")}, []string{"a", "b", "c"}, "600 0 [{0 18 30000 600 0}]", .00494},
		{"one read thinly", []Recorded{of(500, 0, "a"), of(50, 0, "b")}, []string{"a", "b"}, "550 0 [{0 18 20000 100 0}]", .0294},
		{"with finds", []Recorded{of(500, 3, "a"), of(500, 0, "b")}, []string{"a", "b"}, "1000 3 [{0 18 20000 1000 3}]", .0077},
		{"a month that changed", []Recorded{of(500, 0, "a"), of(500, 0, "b")}, []string{"a", "x"}, "500 0 [{0 18 10000 500 0} {0 0 10000 0 0}]", .5031},
		{"a larger one, and finds of before", []Recorded{of(500, 4, "a"), of(600, 1, "a", "b")}, []string{"a", "b"}, "600 4 [{0 18 20000 600 4}]", .0151},
		{"nothing that still stands", []Recorded{of(500, 0, "a")}, []string{"b"}, "500 0 [{0 18 10000 500 0}]", .0059},
	} {
		m := months(10_000, c.parts...)
		r := Standing(c.readings, m)
		if got := fmt.Sprint(r.Read, r.Leaks, r.Strata); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if math.Abs(r.Upper()-c.upper) > c.upper*.02 {
			t.Errorf("%s: at most %.5f, want %.5f", c.name, r.Upper(), c.upper)
		}
		if valid := r.In(m); valid != (c.name != "nothing that still stands") {
			t.Errorf("%s: valid %v", c.name, valid)
		}
	}
}

// No reading overrules another: the worst of an output stands, until somebody judges by name, or the
// same journals go on and take no find back.
func TestStandingReading(t *testing.T) {
	read := func(output string, n, leaks int64, journal string, before ...string) Entry {
		return Entry{Event: "read", Read: &Reading{Read: n, Leaks: leaks, Extent: Extent{Output: output, Parts: []string{output}},
			Strata: []Stratum{{To: 18, Notes: 1000, Read: n, Leaks: leaks}}, Readers: []Reader{{By: "Ada", Journal: journal}}, Before: before}}
	}
	m := months(1000, "o")
	judge := func(line int64) Entry {
		return Entry{Event: "adjudicate", Judged: &Judgement{By: "M. Soler", Line: line, Why: "w"}}
	}
	for _, c := range []struct {
		name    string
		entries []Entry
		want    string // read, leaks, others
	}{
		{"none", nil, "none"},
		{"one", []Entry{read("o", 598, 25, "a")}, "598 25 0"},
		{"a later one with none", []Entry{read("o", 598, 25, "a"), read("o", 598, 0, "b")}, "598 25 1"},
		{"an earlier one with none", []Entry{read("o", 598, 0, "b"), read("o", 598, 25, "a")}, "598 25 1"},
		{"of another output", []Entry{read("p", 598, 0, "b"), read("o", 598, 25, "a")}, "598 25 0"},
		{"the same journal, further on", []Entry{read("o", 10, 0, "a"), read("o", 598, 2, "b", "a")}, "598 2 1"},
		{"the same journal, a find taken back", []Entry{read("o", 598, 25, "a"), read("o", 598, 0, "b", "a")}, "598 25 1"},
		{"judged", []Entry{read("o", 598, 25, "a"), read("o", 598, 0, "b"), judge(2)}, "598 0 1"},
		{"judged, and read again", []Entry{read("o", 598, 25, "a"), read("o", 598, 0, "b"), judge(2), read("o", 598, 9, "c")}, "598 9 2"},
		{"judged twice", []Entry{read("o", 598, 25, "a"), read("o", 598, 0, "b"), judge(2), judge(1)}, "598 25 1"},
		{"judged, what was recorded again is set aside", []Entry{read("o", 598, 0, "a"), read("o", 100, 0, "b"), read("o", 598, 0, "a", "a"), judge(1)}, "598 0 2"},
		{"judged of a line that is no reading", []Entry{read("o", 598, 25, "a"), read("o", 598, 0, "b"), judge(7)}, "598 25 1"},
	} {
		log := filepath.Join(t.TempDir(), "audit.jsonl")
		if len(c.entries) > 0 {
			if _, err := Append(log, c.entries...); err != nil {
				t.Fatal(err)
			}
		}
		all, err := Readings(log)
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if r := Standing(all, m); r != nil {
			got = fmt.Sprint(r.Read, r.Leaks, r.Others)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// Months of which different shares were read make one bound: whatever leaks in which of them, in all samples together
// it holds with 95 of 100 at least.
// Every outcome of two and three months is added up, so that chance decides nothing here.
func TestJoinedCoverage(t *testing.T) {
	choose := func(n, k int64) float64 {
		c := 1.0
		for i := range k {
			c = c * float64(n-i) / float64(i+1)
		}
		return c
	}
	for _, c := range []struct{ notes, read []int64 }{
		{[]int64{20, 20}, []int64{10, 10}}, {[]int64{20, 20}, []int64{15, 5}}, {[]int64{30, 10}, []int64{6, 10}}, {[]int64{30, 10}, []int64{20, 1}},
		{[]int64{24, 5}, []int64{8, 3}}, {[]int64{10, 10, 10}, []int64{3, 5, 9}}, {[]int64{16, 8, 4}, []int64{8, 4, 2}},
	} {
		m := &commit.Manifest{}
		for k, n := range c.notes {
			m.Counts.Masked += n
			m.Units = append(m.Units, commit.UnitRecord{Parts: []commit.PartRecord{{Kind: "masked", SHA256: fmt.Sprint("part", k), Rows: n}}})
		}
		bounds := map[string]int64{}
		bound := func(found []int64) int64 {
			key := fmt.Sprint(found)
			if b, ok := bounds[key]; ok {
				return b
			}
			var valid []*Reading
			for k, n := range c.notes {
				valid = append(valid, &Reading{Read: c.read[k], Leaks: found[k], Extent: ExtentOf(&commit.Manifest{Units: m.Units[k : k+1]}, nil),
					Strata: []Stratum{{To: 18, Notes: n, Read: c.read[k], Leaks: found[k]}}})
			}
			bounds[key] = int64(joined(valid, m).Upper()*float64(m.Counts.Masked) + 1e-9)
			return bounds[key]
		}
		least := 1.0
		var outcomes func(leaks, found []int64, p float64) float64
		outcomes = func(leaks, found []int64, p float64) (holds float64) {
			k := len(found)
			if k == len(leaks) {
				total := int64(0)
				for _, n := range leaks {
					total += n
				}
				if bound(found) < total {
					return 0
				}
				return p
			}
			for x := max(0, c.read[k]+leaks[k]-c.notes[k]); x <= min(c.read[k], leaks[k]); x++ {
				q := choose(leaks[k], x) * choose(c.notes[k]-leaks[k], c.read[k]-x) / choose(c.notes[k], c.read[k])
				holds += outcomes(leaks, append(found[:k:k], x), p*q)
			}
			return holds
		}
		var archives func(leaks []int64)
		archives = func(leaks []int64) {
			if k := len(leaks); k < len(c.notes) {
				for n := range c.notes[k] + 1 {
					archives(append(leaks[:k:k], n))
				}
				return
			}
			holds := outcomes(leaks, nil, 1)
			if least = min(least, holds); holds < 0.95-1e-9 {
				t.Errorf("%v of %v, leaks %v: the bound holds with %.4f", c.read, c.notes, leaks, holds)
			}
		}
		archives(nil)
		t.Logf("%v of %v: least coverage %.4f", c.read, c.notes, least)
	}
}

// What is let stand is in the log once, however often it is said, until it is taken back, and no line outgrows its bound.
func TestLetStand(t *testing.T) {
	log := filepath.Join(t.TempDir(), "audit.jsonl")
	if all, err := Places(log); err != nil || len(all) != 0 {
		t.Fatalf("of no log: %d places, %v", len(all), err)
	}
	places := make([]uint64, 20_000)
	for i := range places {
		places[i] = math.MaxUint64 - uint64(i)
	}
	for _, some := range [][]uint64{places[:2], places, places[5:9], nil} {
		if err := LetStand(log, slices.Clone(some), true); err != nil {
			t.Fatal(err)
		}
	}
	all, err := Places(log)
	if err != nil || len(all) != len(places) || !all[places[19_999]] {
		t.Errorf("%d places of %d: %v", len(all), len(places), err)
	}
	for _, stand := range []bool{false, false, true} {
		if err := LetStand(log, slices.Clone(places[5:6]), stand); err != nil {
			t.Fatal(err)
		}
		if all, err = Places(log); err != nil || all[places[5]] != stand {
			t.Errorf("stands: %v, want %v: %v", all[places[5]], stand, err)
		}
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(data, []byte("\n")); n != 6 { // 2, 8192, 8192, 3614; one no more, and again
		t.Errorf("%d lines", n)
	}
	if r, err := Verify(bytes.NewReader(data), ""); err != nil || len(r.Findings) != 0 {
		t.Errorf("the log is not whole: %v, %v", r, err)
	}
}
