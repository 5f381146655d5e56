package attack

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/velum-health/velum/stages/mask"
)

// repetition is the attack by repetition: a name that was missed once is missed again in other notes, while surrogates
// change. The cell of a mention has the numbers of the patient's notes, and of other patients, with its words.
type repetition struct {
	own map[ownWord][]int32 // places of the notes in which it stands, in the order of the patient's notes
	of  []int32             // by patient: notes with names
	who map[string]int      // patients by word
}

type ownWord struct {
	patient int
	word    string
}

func (r *repetition) look(e *planted) look {
	r.own, r.who, r.of = map[ownWord][]int32{}, map[string]int{}, nil
	order := make([]int, 0, len(e.Notes))
	for i := range e.Notes {
		if len(e.Notes[i].Mentions) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(e.Notes[x].Time, e.Notes[y].Time) })
	for _, i := range order {
		n := &e.Notes[i]
		for n.Patient >= len(r.of) {
			r.of = append(r.of, 0)
		}
		for k := range n.Mentions {
			for _, w := range n.Mentions[k].Words {
				key := ownWord{n.Patient, string(w)}
				at := r.own[key]
				if len(at) == 0 {
					r.who[key.word]++
				}
				if len(at) == 0 || at[len(at)-1] != r.of[n.Patient] {
					r.own[key] = append(at, r.of[n.Patient])
				}
			}
		}
		r.of[n.Patient]++
	}
	return r.see
}

// see returns the cell of a mention: how often its most and its least repeated word occurs, how often the name is in
// the note, and whether a title of staff precedes it.
func (r *repetition) see(n *note, k int) (c cell) {
	m := &n.Mentions[k]
	least := 0
	for i, w := range m.Words {
		at := r.own[ownWord{n.Patient, string(w)}]
		if i == 0 || len(at) < least {
			least = len(at)
		}
		stretches := 0 // of notes that follow each other
		for j := range at {
			if j == 0 || at[j] > at[j-1]+1 {
				stretches++
			}
		}
		spread := 0
		if len(at) > 1 {
			spread = int(4 * (at[len(at)-1] - at[0] + 1) / r.of[n.Patient])
		}
		now := cell{bucket(len(at)), bucket(stretches), uint8(spread), min(bucket(r.who[string(w)]), 7)}
		if now[0] > c[0] || now[0] == c[0] && now[3] < c[3] {
			c = now
			c[5] = min(bucket(timesIn(n, w)), 3)
		}
	}
	c[4], c[7] = bucket(least), uint8(min(len(m.Words), 3))
	if mask.StaffBefore(n.Text[:m.Start]) {
		c[6] = 1
	}
	return c
}

// timesIn counts the mentions of a note with a word.
func timesIn(n *note, word []byte) (times int) {
	for k := range n.Mentions {
		if slices.ContainsFunc(n.Mentions[k].Words, func(w []byte) bool { return bytes.Equal(w, word) }) {
			times++
		}
	}
	return times
}
