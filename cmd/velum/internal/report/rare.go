package report

// Rare counts the notes with rare facts that single a person out without naming anybody; nil if mask.rare is off.
type Rare struct {
	Notes  int64 `json:"notes"`  // masked notes with such words
	Alone  int64 `json:"alone"`  // of these, those that fewer than K people of a region can have written about them
	People int64 `json:"people"` // patients of whom all their notes together say so; without a patient, notes
	K      int   `json:"k"`
	Listed int64 `json:"listed"` // for `velum review --ask rare`
}
