// Package rarity estimates to how few people all the facts in a patient's notes can apply. It takes the phrases found
// in notes with their public scores, and the patient of each note. It returns a score for each note and patient.
//
// A phrase with score s applies to one person in 10^(10 s). Scores of different phrases are added, as if they were
// independent. A phrase that several people of the archive have is as common as it is there, whatever public tables
// say: a rare disease is not rare in the ward that treats it. The people with a phrase are counted by the smallest of
// their hashes (bottom-k sketches, Cohen and Kaplan 2007), so that counts of units can be merged in any order and
// memory does not grow with the number of people.
package rarity

import (
	"math"
	"slices"

	"github.com/velum-health/velum/pipeline"
)

// population is the number of people in the region that a hospital serves.
const population = 1e6

// Alone returns the score from which a note singles a person out: fewer than k people (one if k is 0) in a region of a
// million match it.
func Alone(k int) float64 { return math.Log10(population/float64(max(k, 1))) / 10 }

// Of returns the public score of the phrases found in a note.
func Of(found []pipeline.Span) (sum float64) {
	for _, f := range found {
		sum += float64(f.Score)
	}
	return sum
}

// Counts maps each phrase to the smallest hashes of the people who have it.
type Counts map[uint64][]uint64

// kept is the number of hashes per phrase; phrases is the largest number of phrases.
const (
	kept    = 32
	phrases = 1 << 18
)

// Add records that a person has a phrase. Phrases beyond the limit are not counted, and their public score alone is
// used.
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

// Score returns the score of a phrase for a person who has it, in an archive of that many notes. If nobody else has the
// phrase, it is the public score. Otherwise it is the lower of two values: the score that corresponds to the frequency
// in the archive, and the public score reduced for each other person with the phrase. So a word of every other note
// scores little, however rare public tables call it.
func (c Counts) Score(phrase uint64, public float32, notes int64) float64 {
	others := c.people(phrase) - 1
	if others <= 0 {
		return float64(public)
	}
	return max(0, min(float64(public)*(1-math.Log(others+1)/math.Log(float64(notes))), math.Log10(float64(notes)/others)/10))
}
