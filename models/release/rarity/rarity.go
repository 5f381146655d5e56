// Package rarity estimates of how few people all that a note tells of its patient can be true. In: what was found in notes,
// with public scores; of whom each note is. Out: a score for each note and patient.
//
// A phrase of score s is true of one person in 10^(10 s). Scores of different phrases add up, as if they were independent.
// What several people of the archive have is as common as it is there, whatever the public tables say: a rare disease is
// not rare in the ward that treats it. The people of a phrase are counted by the smallest of their hashes (bottom-k sketches,
// Cohen and Kaplan 2007), so that counts of units can be merged in any order, and memory does not grow with people.
package rarity

import (
	"math"
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// population is how many people could be meant: of a region that a hospital serves.
const population = 1e6

// Alone returns the score from which a note stands alone: in a region of a million fewer than k people can be meant, one if k is 0.
func Alone(k int) float64 { return math.Log10(population/float64(max(k, 1))) / 10 }

// Of is the public score of what was found in a note.
func Of(found []pipeline.Span) (sum float64) {
	for _, f := range found {
		sum += float64(f.Score)
	}
	return sum
}

// Counts are hashes of people by phrase, of each phrase the smallest.
type Counts map[uint64][]uint64

// kept is how many people of a phrase are remembered; phrases is of how many phrases.
const (
	kept    = 32
	phrases = 1 << 18
)

// Add counts a person who has a phrase. Phrases beyond so many are not counted, and judged by their public score alone.
func (c Counts) Add(phrase, person uint64) {
	people, known := c[phrase]
	at, again := slices.BinarySearch(people, person)
	if again || at == kept || !known && len(c) == phrases {
		return
	}
	people = slices.Insert(people, at, person)
	c[phrase] = people[:min(len(people), kept)]
}

// people estimates how many have a phrase.
func (c Counts) people(phrase uint64) float64 {
	people := c[phrase]
	if len(people) < kept {
		return float64(len(people))
	}
	return (kept - 1) / (float64(people[kept-1]) / math.MaxUint64)
}

// Score returns what a phrase of a public score is worth among so many notes: it is as common as in the archive, the person
// at hand left out, and weighs less with everyone who has it. A word of every other note is worth little however rare
// the tables call it, and one that nobody else has keeps its score.
func (c Counts) Score(phrase uint64, public float32, notes int64) float64 {
	others := c.people(phrase) - 1
	if others <= 0 {
		return float64(public)
	}
	return max(0, min(float64(public)*(1-math.Log(others+1)/math.Log(float64(notes))), math.Log10(float64(notes)/others)/10))
}
