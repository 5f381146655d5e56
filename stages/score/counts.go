package score

import (
	"encoding/json"
	"fmt"

	"github.com/velum-health/velum/pipeline"
)

// countsFile is how the counts of a Scorer stand in JSON.
type countsFile struct {
	Rows       [][4 * int(numMeasures)]int32 `json:"rows"`       // by note: gold, found, system, right of each Measure
	Categories map[string][4]int64           `json:"categories"` // gold, system, right, masked
}

// MarshalJSON encodes the counts of notes and of categories. Kinds of errors, confusions and places are left out.
func (s *Scorer) MarshalJSON() ([]byte, error) {
	f := countsFile{Rows: make([][4 * int(numMeasures)]int32, len(s.rows)), Categories: map[string][4]int64{}}
	for i := range s.rows {
		for m, c := range s.rows[i] {
			copy(f.Rows[i][4*m:], []int32{c.gold, c.found, c.system, c.right})
		}
	}
	for c, k := range s.categories {
		if k.gold+k.system > 0 {
			f.Categories[pipeline.Category(c).String()] = [4]int64{k.gold, k.system, k.right, k.masked}
		}
	}
	return json.Marshal(&f)
}

// UnmarshalJSON decodes the result of MarshalJSON into a new Scorer.
func (s *Scorer) UnmarshalJSON(data []byte) error {
	var f countsFile
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	if s.categories == nil {
		*s = *New(s.o)
	}
	s.rows = make([]row, len(f.Rows))
	for i, r := range f.Rows {
		for m := range s.rows[i] {
			s.rows[i][m] = count{r[4*m], r[4*m+1], r[4*m+2], r[4*m+3]}
		}
	}
	for name, k := range f.Categories {
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			return fmt.Errorf("counts: %w", err)
		}
		s.categories[c] = categoryCount{gold: k[0], system: k[1], right: k[2], masked: k[3]}
	}
	return nil
}

// Gather adds the counts of note i of another Scorer to row into(i) of s; a negative row drops the note. So a row may
// be a document of several notes, or a note scored for several systems. Intervals and tests resample rows. Counts of
// categories are added as a whole.
func (s *Scorer) Gather(other *Scorer, into func(i int) int) {
	for i := range other.rows {
		k := into(i)
		if k < 0 {
			continue
		}
		if more := k + 1 - len(s.rows); more > 0 {
			s.rows = append(s.rows, make([]row, more)...)
		}
		for m, c := range other.rows[i] {
			to := &s.rows[k][m]
			*to = count{to.gold + c.gold, to.found + c.found, to.system + c.system, to.right + c.right}
		}
	}
	for c, k := range other.categories {
		to := &s.categories[c]
		to.gold, to.system, to.right, to.masked = to.gold+k.gold, to.system+k.system, to.right+k.right, to.masked+k.masked
	}
}

// DifferenceInterval returns the 95 % interval of the difference of measure m, s minus other, by the paired bootstrap:
// each draw resamples the notes of both scorers together. Both must have scored the same notes with the same gold
// spans, in the same order. It is an error if their numbers of notes, or of gold spans in some note, differ.
func (s *Scorer) DifferenceInterval(other *Scorer, m Measure, draws int, seed uint64) (Interval, error) {
	if err := s.comparable(other); err != nil {
		return Interval{}, err
	}
	return gained(other.column(m), s.column(m), draws, seed, 0xd1ff), nil
}
