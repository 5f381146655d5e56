package attack

import (
	"cmp"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/plant"
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

func (r *repetition) learn(*plant.Extract) {}

func (r *repetition) look(e *plant.Extract) (look, error) {
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
	return r.see, nil
}

// see takes the word of a mention that comes again most.
func (r *repetition) see(n *plant.Note, k int) (c cell) {
	c[7] = uint8(min(len(n.Mentions[k].Words), 3))
	for _, w := range n.Mentions[k].Words {
		at := r.own[ownWord{n.Patient, string(w)}]
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
		now := cell{bucket(len(at)), bucket(stretches), uint8(spread), min(bucket(r.who[string(w)]), 6), 0, 0, 0, c[7]}
		if now[0] > c[0] || now[0] == c[0] && now[3] < c[3] {
			c = now
		}
	}
	return c
}
