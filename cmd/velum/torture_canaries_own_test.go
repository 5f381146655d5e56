package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestIn: all canaries of the notes are found, whole ones only, and no
// telephone in a sum.
func TestIn(t *testing.T) {
	set, notes := canaryNotes(rand.New(rand.NewPCG(1, 1)), 50)
	if set.Len() != 200 {
		t.Fatalf("%d canaries in 50 notes", set.Len())
	}
	var all strings.Builder
	for _, n := range notes {
		all.WriteString(n.Text)
	}
	if hits := set.In([]byte(all.String())); hits != [4]int{50, 50, 50, 50} {
		t.Errorf("found %v", hits)
	}
	of := func(k canaryKind) string {
		for c, kind := range set.of {
			if kind == k {
				return string(c[:])
			}
		}
		return ""
	}
	sum := strings.Repeat("ab", 12)
	for _, c := range []struct {
		text string
		want [4]int
	}{
		{"", [4]int{}},
		{of(canaryDNI)[:canarySize-1], [4]int{}},
		{"x" + of(canaryDNI) + of(canaryDNI), [4]int{canaryDNI: 2}},
		{"tel. " + of(canaryTelephone) + ".", [4]int{canaryTelephone: 1}},
		{sum + of(canaryTelephone) + sum, [4]int{}},
		{sum + of(canarySurname), [4]int{canarySurname: 1}},
		{strings.ToUpper(of(canaryMail)), [4]int{}},
	} {
		if got := set.In([]byte(c.text)); got != c.want {
			t.Errorf("a text of %d bytes: found %v, want %v", len(c.text), got, c.want)
		}
	}
}

// TestBelow: a canary is found in the bytes of a file, and in a column that is
// compressed; a folder without any has none.
func TestBelow(t *testing.T) {
	set, notes := canaryNotes(rand.New(rand.NewPCG(2, 1)), 20)
	dir := t.TempDir()
	if finds, _, err := set.Below(dir); err != nil || len(finds) != 0 {
		t.Errorf("an empty folder: %v, %v", finds, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "log"), []byte("note n3: "+notes[3].Text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(filepath.Join(dir, "a.parquet"), notes, parquet.Compression(&parquet.Zstd), parquet.SkipPageBounds("text")); err != nil {
		t.Fatal(err)
	}
	finds, size, err := set.Below(dir)
	if err != nil || len(finds) != 2 || size == 0 {
		t.Fatalf("%d files, %d bytes, %v", len(finds), size, err)
	}
	for k, n := range finds[0].Hits { // what is not compressed is found twice
		if n < 20 || finds[1].Hits[k] != 1 {
			t.Errorf("found %v", finds)
		}
	}
}
