package audit

import (
	"fmt"
	"path/filepath"
	"testing"
)

// No reading overrules another: the worst of an output stands, until somebody judges by name, or the
// same journals go on and take no find back.
func TestStandingReading(t *testing.T) {
	read := func(output string, n, leaks int64, journal string, before ...string) Entry {
		return Entry{Event: "read", Read: &Reading{Read: n, Leaks: leaks, Output: output, Readers: []Reader{{By: "Ada", Journal: journal}}, Before: before}}
	}
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
		{"of another output", []Entry{read("o", 598, 25, "a"), read("p", 598, 0, "b")}, "598 0 0"},
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
		if r := Standing(all); r != nil {
			got = fmt.Sprint(r.Read, r.Leaks, r.Others)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}
