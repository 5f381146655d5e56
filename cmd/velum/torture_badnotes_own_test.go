package main

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"unicode/utf8"
)

// TestNamed: every bad note has a name of its own, and each change changes a
// seed (another encoding leaves what is ASCII).
func TestNamed(t *testing.T) {
	names := map[string]bool{}
	for _, c := range badNoteChanges {
		if !slices.ContainsFunc(badNoteSeeds, func(s struct{ name, text string }) bool { return c.do(s.text) != s.text }) {
			t.Errorf("%s changes nothing", c.name)
		}
	}
	invalid := 0
	for _, n := range badNoteNamed() {
		if n.Name == "" || names[n.Name] {
			t.Errorf("name %q is empty or stands there twice", n.Name)
		}
		names[n.Name] = true
		if !utf8.Valid(n.Text) {
			invalid++
		}
	}
	if want := len(badNoteSeeds)*len(badNoteChanges) + len(badNoteSingles); len(names) != want {
		t.Errorf("%d notes, want %d", len(names), want)
	}
	if invalid < 20 {
		t.Errorf("only %d notes are no UTF-8", invalid)
	}
}

// TestMutated: one seed gives the same mutations, and few leave a note as it is.
func TestMutated(t *testing.T) {
	named := badNoteNamed()
	known := map[string]bool{}
	for _, n := range named {
		known[string(n.Text)] = true
	}
	a, b := rand.New(rand.NewPCG(1, 2)), rand.New(rand.NewPCG(1, 2))
	same := 0
	for range 200 {
		one, two := badNoteMutated(a, named), badNoteMutated(b, named)
		if !bytes.Equal(one, two) {
			t.Fatal("one seed, two mutations")
		}
		if known[string(one)] {
			same++
		}
	}
	if same > 20 {
		t.Errorf("%d of 200 mutations are notes as they were", same)
	}
}
