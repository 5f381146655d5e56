package audit

import (
	"fmt"
	"math"
	"path/filepath"
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
