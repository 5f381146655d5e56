package attack

import (
	"strings"
	"testing"
)

// naming is a note of a patient at a time, in which each mention is some words.
func naming(patient int, time int64, text string, names ...string) note {
	n := note{Patient: patient, Time: time, Text: []byte(text)}
	for _, name := range names {
		m := mention{Start: int32(strings.Index(text, "#")), End: int32(len(text))}
		for word := range strings.FieldsSeq(name) {
			m.Words = append(m.Words, []byte(word))
		}
		n.Mentions = append(n.Mentions, m)
	}
	return n
}

// TestSee: what repetition sees, counted by hand. Patient 0 has six notes with names, in the order of their times 1 to 6, and one without.
// Numbers are those of the steps 1, 2, 3, 4, 6, 9, 16, 64, from 1 on.
//
//	note     1    2    3    4    5    6
//	ada      x    x         x         x     in 4 notes, in 3 stretches, from the first to the last: 4·6/6
//	bea           x    x                    in 2 notes, in 1 stretch, 4·2/6; of patient 1 too
//	cleo                         x          in 1 note; of patient 1 too
//	dina                         x          in 1 note
func TestSee(t *testing.T) {
	e := &planted{Notes: []note{
		naming(0, 6, "ve a #", "ada"),
		naming(0, 5, "Dra. #", "cleo dina"),
		naming(0, 4, "ve a #", "ada"),
		naming(0, 3, "ve a #", "bea", "bea"),
		naming(0, 2, "Dra. #", "bea ada"),
		naming(0, 1, "ve a #", "ada", "ada ada", "ada"),
		naming(0, 0, "nadie"),
		naming(1, 1, "ve a #", "bea cleo"),
	}}
	see := new(repetition).look(e)
	for _, c := range []struct {
		name string
		note int
		k    int
		want cell
	}{
		// notes, stretches, spread, patients, of the word that comes again least, times in the note, staff, words
		{"ada", 0, 0, cell{4, 3, 4, 1, 4, 1, 0, 1}},
		{"cleo dina: as often, but dina is one patient's", 1, 0, cell{1, 1, 0, 1, 1, 1, 1, 2}},
		{"bea, twice in the note", 3, 0, cell{2, 1, 1, 2, 2, 2, 0, 1}},
		{"bea ada: ada comes again more", 4, 0, cell{4, 3, 4, 1, 2, 1, 1, 2}},
		{"ada, three times in the note", 5, 0, cell{4, 3, 4, 1, 4, 3, 0, 1}},
		{"ada twice in one mention", 5, 1, cell{4, 3, 4, 1, 4, 3, 0, 2}},
		{"bea cleo of the other patient", 7, 0, cell{1, 1, 0, 2, 1, 1, 0, 2}},
	} {
		if got := see(&e.Notes[c.note], c.k); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestBucket: steps of counts.
func TestBucket(t *testing.T) {
	for n, want := range map[int]uint8{-1: 0, 0: 0, 1: 1, 2: 2, 3: 3, 4: 4, 5: 4, 6: 5, 8: 5, 9: 6, 15: 6, 16: 7, 63: 7, 64: 8, 1000: 8} {
		if got := bucket(n); got != want {
			t.Errorf("%d is of step %d, want %d", n, got, want)
		}
	}
}
