package score

import (
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// entity says what became of a gold span.
type entity struct {
	note          int32
	category      pipeline.Category
	right, masked bool
}

// found tells whether the gold span was masked, or found with its category and borders.
func (e entity) found(masked bool) bool {
	if masked {
		return e.masked
	}
	return e.right
}

// RecallDifference compares what a system finds of the gold spans of a category with what another system found of them.
type RecallDifference struct {
	Category string // or AllCategories
	Masked   bool   // all letters and digits are covered, whatever the category; else category, start and end agree
	Gold     int
	Lost     int        // gold spans that the other system found and this one does not
	Gained   int        // gold spans that this system finds and the other one did not
	Was, Now float64    // shares of Gold
	Ends     [2]float64 // the middle 95 % of the difference, over draws of notes
}

// AllCategories stands in place of a category for the gold spans of all of them.
const AllCategories = "ALL"

// RecallDifferences compares a system with the one before it, for all categories together and for each of them.
// Both must have seen the same notes in the same order. The intervals are those of
// the paired bootstrap over the notes that have the category.
func (s *Scorer) RecallDifferences(before *Scorer, draws int, seed uint64) (all []RecallDifference, err error) {
	if err := s.comparable(before); err != nil {
		return nil, err
	}
	of := map[string][]int{}
	for i, e := range s.entities {
		for _, name := range []string{AllCategories, e.category.String()} {
			of[name] = append(of[name], i)
		}
	}
	for name, at := range of {
		for _, masked := range []bool{false, true} {
			now, was := tallied(s.entities, at, masked), tallied(before.entities, at, masked)
			d := RecallDifference{Category: name, Masked: masked, Gold: len(at)}
			for _, i := range at {
				switch had, has := before.entities[i].found(masked), s.entities[i].found(masked); {
				case had && !has:
					d.Lost++
				case has && !had:
					d.Gained++
				}
			}
			d.Was, d.Now = ratio(whole(was), int64(len(at))), ratio(whole(now), int64(len(at)))
			d.Ends = drawn(was, now, draws, rand.New(rand.NewPCG(seed, 0xca7e)))
			all = append(all, d)
		}
	}
	slices.SortFunc(all, func(a, b RecallDifference) int {
		if k := strings.Compare(a.Category, b.Category); k != 0 || a.Masked == b.Masked {
			return k
		}
		if b.Masked {
			return -1
		}
		return 1
	})
	return all, nil
}

// tallied counts some entities by note: those found, and all.
func tallied(entities []entity, at []int, masked bool) (notes [][2]int64) {
	last := int32(-1)
	for _, i := range at {
		e := entities[i]
		if e.note != last {
			notes, last = append(notes, [2]int64{}), e.note
		}
		n := &notes[len(notes)-1]
		n[1]++
		if e.found(masked) {
			n[0]++
		}
	}
	return notes
}

func whole(notes [][2]int64) (found int64) {
	for _, n := range notes {
		found += n[0]
	}
	return found
}

// drawn returns the middle 95 % of the difference of two recalls of the same notes.
func drawn(was, now [][2]int64, draws int, random *rand.Rand) [2]float64 {
	if draws <= 0 {
		return [2]float64{}
	}
	values := make([]float64, 0, draws)
	for range draws {
		var more, gold int64
		for range was {
			i := random.IntN(len(was))
			more, gold = more+now[i][0]-was[i][0], gold+was[i][1]
		}
		values = append(values, ratio(more, gold))
	}
	return middle(values)
}
