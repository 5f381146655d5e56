package score

import (
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline"
)

// entity says whether a gold span was masked, and whether it was found with its category and borders.
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

// RecallDifference compares the recall of two systems for one category.
type RecallDifference struct {
	Category string // or AllCategories
	Masked   bool   // all letters and digits are covered, whatever the category; else category, start and end agree
	Gold     int
	Lost     int        // gold spans that the other system found and this one does not
	Gained   int        // gold spans that this system finds and the other one did not
	Was, Now float64    // shares of Gold
	Ends     [2]float64 // the middle 95 % of the difference, over draws of notes
}

// AllCategories stands for the gold spans of all categories.
const AllCategories = "ALL"

// RecallDifferences compares a system with a previous one, for all categories together and for each. Both must have
// seen the same notes in the same order. The intervals are those of the paired bootstrap over the notes that have the
// category.
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
			now, after := tallied(s.entities, at, masked)
			was, earlier := tallied(before.entities, at, masked)
			d := RecallDifference{Category: name, Masked: masked, Gold: len(at)}
			for _, i := range at {
				switch had, has := before.entities[i].found(masked), s.entities[i].found(masked); {
				case had && !has:
					d.Lost++
				case has && !had:
					d.Gained++
				}
			}
			d.Was, d.Now = earlier.ratios(1).Recall, after.ratios(1).Recall
			d.Ends = gained(was, now, draws, seed, 0xca7e).Recall
			all = append(all, d)
		}
	}
	slices.SortStableFunc(all, func(a, b RecallDifference) int { return strings.Compare(a.Category, b.Category) })
	return all, nil
}

// tallied counts the gold spans at some indices, by note and altogether.
func tallied(entities []entity, at []int, masked bool) (notes []count, all total) {
	last := int32(-1)
	for _, i := range at {
		e := entities[i]
		if e.note != last {
			notes, last = append(notes, count{}), e.note
		}
		one := count{gold: 1}
		if e.found(masked) {
			one.found = 1
		}
		n := &notes[len(notes)-1]
		n.gold, n.found = n.gold+1, n.found+one.found
		all.add(one, 1)
	}
	return notes, all
}
