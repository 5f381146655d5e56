package attack

import (
	"cmp"
	"slices"
)

// repetition goes by how a name comes again: what was missed once is missed again,
// in notes of months, while what hides it changes. A word of a name that stands in
// several notes of a patient, and in how many of others, is what it sees.
type repetition struct {
	own map[ownWord][]int32 // places of the notes in which it stands, in the order of the patient's notes
	of  []int32             // by patient: notes with names
	who map[string]int      // patients by word
}

type ownWord struct {
	patient int
	word    string
}

func (r *repetition) learn(*extract) {}

func (r *repetition) look(e *extract) (look, error) {
	r.own, r.who, r.of = map[ownWord][]int32{}, map[string]int{}, nil
	order := make([]int, 0, len(e.notes))
	for i := range e.notes {
		if len(e.notes[i].mentions) > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(x, y int) int { return cmp.Compare(e.notes[x].time, e.notes[y].time) })
	for _, i := range order {
		n := &e.notes[i]
		for n.patient >= len(r.of) {
			r.of = append(r.of, 0)
		}
		for k := range n.mentions {
			for _, w := range n.mentions[k].words {
				key := ownWord{n.patient, string(w)}
				at := r.own[key]
				if len(at) == 0 {
					r.who[key.word]++
				}
				if len(at) == 0 || at[len(at)-1] != r.of[n.patient] {
					r.own[key] = append(at, r.of[n.patient])
				}
			}
		}
		r.of[n.patient]++
	}
	return r.see, nil
}

// see takes the word of a mention that comes again most.
func (r *repetition) see(n *note, k int) (c cell) {
	c[7] = uint8(min(len(n.mentions[k].words), 3))
	for _, w := range n.mentions[k].words {
		at := r.own[ownWord{n.patient, string(w)}]
		stretches := 0 // of notes that follow each other
		for j := range at {
			if j == 0 || at[j] > at[j-1]+1 {
				stretches++
			}
		}
		spread := 0
		if len(at) > 1 {
			spread = int(4 * (at[len(at)-1] - at[0] + 1) / r.of[n.patient])
		}
		now := cell{bucket(len(at)), bucket(stretches), uint8(spread), min(bucket(r.who[string(w)]), 6), 0, 0, 0, c[7]}
		if now[0] > c[0] || now[0] == c[0] && now[3] < c[3] {
			c = now
		}
	}
	return c
}
