package review

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/secret"
)

// journalOf writes a journal of decisions on notes of a sample: rank, whether it
// leaks, seconds.
func journalOf(t *testing.T, head drawn, decisions ...[3]int64) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "read.jsonl")
	f, err := os.Create(out + ".journal")
	if err != nil {
		t.Fatal(err)
	}
	j := &journal{file: f}
	defer j.Close()
	if err := j.write(journalHead{Schema: journalSchema, Notes: "n", drawn: head}); err != nil {
		t.Fatal(err)
	}
	for _, d := range decisions {
		if err := j.write(journalLine{Note: int(100 - d[0]), Spans: []journalSpan{}, sampled: sampled{Rank: int(d[0]), Drawn: &audit.Drawn{To: 18, Notes: 100, Place: int(d[0])}}, Leaks: d[1] > 0, Time: 1_800_000_000 + d[2]}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// Each stratum counts as far as it was read in order; notes drawn for their centre count
// for it alone.
func TestReadingOfStrata(t *testing.T) {
	lines := []*journalLine{}
	at := func(rank, from, place int, center string, left ...string) {
		s := sampled{Rank: rank, Center: center}
		if place >= 0 {
			s.Drawn = &audit.Drawn{From: from, To: from + 9, Notes: int64(100 + from), Place: place}
		}
		lines = append(lines, &journalLine{sampled: s, Leaks: len(left) > 0, Left: left})
	}
	at(0, 9, 0, "A", "PERSON", "DATE")
	at(1, 9, 1, "B")
	at(3, 9, 3, "B", "PERSON") // behind a gap
	at(4, 0, 0, "A", "DATE")
	at(9, 0, -1, "C", "DATE")
	said := map[int]*journalLine{}
	for _, l := range lines {
		said[l.Rank] = l
	}
	r := &audit.Reading{}
	found(r, []map[int]*journalLine{said})
	got := fmt.Sprint(r.Read, r.Leaks, r.Strata, r.Categories, r.Centers)
	if want := "3 2 [{9 18 109 2 1} {0 9 100 1 1}] map[DATE:2 PERSON:1] map[A:{2 2} B:{1 0} C:{1 1}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestReading(t *testing.T) {
	ada, pau := drawn{"Ada", "s", "o"}, drawn{"Pau", "s", "o"}
	for _, tt := range []struct {
		name    string
		outs    []string
		read    int64
		leaks   int64
		seconds int64
		kappa   float64 // 0: none
		wrong   string
	}{
		{name: "one", outs: []string{journalOf(t, ada, [3]int64{0, 0, 0}, [3]int64{1, 1, 20}, [3]int64{2, 0, 35})}, read: 3, leaks: 1, seconds: 20},
		{name: "what comes behind a gap is no sample", outs: []string{journalOf(t, ada, [3]int64{0, 0, 0}, [3]int64{1, 0, 5}, [3]int64{3, 1, 12})}, read: 2, seconds: 7},
		{name: "the last decision counts", outs: []string{journalOf(t, ada, [3]int64{0, 1, 0}, [3]int64{0, 0, 9}, [3]int64{1, 0, 12})}, read: 2, seconds: 3},
		{name: "a pause is no reading", outs: []string{journalOf(t, ada, [3]int64{0, 0, 0}, [3]int64{1, 0, 3}, [3]int64{2, 0, 7200})}, read: 3, seconds: 3},
		{name: "two fill a gap, and one who sees a leak is enough", outs: []string{
			journalOf(t, ada, [3]int64{0, 0, 0}, [3]int64{1, 1, 10}, [3]int64{3, 0, 30}), journalOf(t, pau, [3]int64{0, 0, 0}, [3]int64{1, 0, 4}, [3]int64{2, 1, 8}, [3]int64{3, 0, 12})},
			read: 4, leaks: 2, seconds: 4, kappa: 0},
		{name: "two agree", outs: []string{
			journalOf(t, ada, [3]int64{0, 1, 0}, [3]int64{1, 0, 9}, [3]int64{2, 0, 18}, [3]int64{3, 0, 27}), journalOf(t, pau, [3]int64{0, 1, 0}, [3]int64{1, 0, 9}, [3]int64{2, 1, 18}, [3]int64{3, 0, 27})},
			read: 4, leaks: 2, seconds: 9, kappa: 0.5},
		{name: "the same reader twice", outs: []string{journalOf(t, ada, [3]int64{0, 0, 0}), journalOf(t, ada, [3]int64{1, 0, 0})}, wrong: "has read twice"},
		{name: "another sample", outs: []string{journalOf(t, ada, [3]int64{0, 0, 0}), journalOf(t, drawn{"Pau", "x", "o"}, [3]int64{1, 0, 0})}, wrong: "another sample"},
		{name: "no sample", outs: []string{journalOf(t, drawn{}, [3]int64{0, 0, 0})}, wrong: "no journal of a sample"},
		{name: "not from the first note", outs: []string{journalOf(t, ada, [3]int64{5, 0, 0})}, wrong: "first note"},
	} {
		r, _, err := Reading(tt.outs, nil)
		if tt.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), tt.wrong) {
				t.Errorf("%s: %v", tt.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(tt.name, err)
		}
		if r.Read != tt.read || r.Leaks != tt.leaks || r.Seconds() != tt.seconds || r.Sample != "s" || r.Output != "o" {
			t.Errorf("%s: %+v", tt.name, r)
		}
		if tt.kappa != 0 && (r.Kappa == nil || math.Abs(*r.Kappa-tt.kappa) > 1e-9) {
			t.Errorf("%s: kappa %v, want %v", tt.name, r.Kappa, tt.kappa)
		}
	}
	r, sums, err := Reading([]string{journalOf(t, ada, [3]int64{0, 0, 0}, [3]int64{1, 0, 60})}, nil)
	if err != nil || len(r.Readers) != 1 || !sums[r.Readers[0].Journal] {
		t.Fatalf("%v, %v", r, err)
	}
	r.Readers[0].Journal = ""
	if fmt.Sprint(r.Readers) != "[{Ada 2 2027-01-15T08:00:00Z 2027-01-15T08:01:00Z 60 }]" {
		t.Errorf("%v", r.Readers)
	}
}

// A journal that is signed is read with the key of the house alone, and nobody else can write
// one, not even another reader: who has no key writes one that is not signed.
func TestSignedJournals(t *testing.T) {
	house, other := secret.Public("the house"), secret.Public("another")
	out := filepath.Join(t.TempDir(), "read.jsonl")
	write := func(key []byte, id string) {
		t.Helper()
		f, err := os.Create(out + ".journal")
		if err != nil {
			t.Fatal(err)
		}
		j := &journal{file: f, key: key}
		err = j.write(journalHead{Schema: journalSchema, Notes: "n", Key: id, drawn: drawn{"Ada", "s", "o"}})
		err = errors.Join(err, j.write(journalLine{Spans: []journalSpan{}, sampled: sampled{Drawn: &audit.Drawn{To: 18, Notes: 100}}}), j.Close())
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		key  []byte
		id   string
		read *secret.Key
		want string // of the reading's Signed, or of the error
	}{
		{"signed", readerKey(house, "Ada"), house.ID(), house, house.ID()},
		{"signed, read without the key", readerKey(house, "Ada"), house.ID(), nil, "signed with key"},
		{"signed, read with another key", readerKey(house, "Ada"), house.ID(), other, "signed with key"},
		{"by another reader", readerKey(house, "Pau"), house.ID(), house, "not as it was written"},
		{"by a script without the key", nil, house.ID(), house, "not as it was written"},
		{"not signed", nil, "", house, ""},
	} {
		write(c.key, c.id)
		r, _, err := Reading([]string{out}, c.read)
		switch {
		case err != nil && (c.want == "" || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case err == nil && r.Signed != c.want:
			t.Errorf("%s: signed %q, want %q", c.name, r.Signed, c.want)
		}
	}
}

// What a session took is the sum of the times between its decisions, pauses left out.
func TestSpent(t *testing.T) {
	for _, c := range []struct {
		name      string
		decisions [][3]int64
		want      int64
	}{
		{"none", nil, 0},
		{"one decision has no time", [][3]int64{{0, 0, 50}}, 0},
		{"three", [][3]int64{{0, 0, 0}, {1, 0, 20}, {2, 0, 50}}, 50},
		{"a pause", [][3]int64{{0, 0, 0}, {1, 0, 20}, {2, 0, 20 + pause}, {3, 0, 30 + pause}}, 30},
		{"just no pause", [][3]int64{{0, 0, 0}, {1, 0, pause - 1}}, pause - 1},
		{"a clock that was set back", [][3]int64{{0, 0, 100}, {1, 0, 20}, {2, 0, 50}}, 30},
	} {
		got, err := Spent(journalOf(t, drawn{}, c.decisions...))
		if err != nil || got != c.want {
			t.Errorf("%s: %d, %v; want %d", c.name, got, err, c.want)
		}
	}
	if got, err := Spent(filepath.Join(t.TempDir(), "none")); got != 0 || err != nil {
		t.Errorf("no session: %d, %v", got, err)
	}
}

// A single byte that is changed is seen.
func TestTamperedReading(t *testing.T) {
	out := journalOf(t, drawn{"Ada", "s", "o"}, [3]int64{0, 1, 0}, [3]int64{1, 0, 9})
	whole, err := os.ReadFile(out + ".journal")
	if err != nil {
		t.Fatal(err)
	}
	want, _, err := Reading([]string{out}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		for _, flip := range []byte{1, 0x20} {
			other := append([]byte{}, whole...)
			other[i] ^= flip
			if err := os.WriteFile(out+".journal", other, 0o600); err != nil {
				t.Fatal(err)
			}
			if got, _, err := Reading([]string{out}, nil); err == nil && said(t, got) != said(t, want) {
				t.Fatalf("byte %d changed: %s", i, said(t, got))
			}
		}
	}
}

func said(t *testing.T, x any) string {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
