package report

// Rare reports what singles people out without a name, where somebody looked (mask.rare).
type Rare struct {
	Notes  int64 `json:"notes"`  // masked notes with such words
	Alone  int64 `json:"alone"`  // of these, those that fewer than K people of a region can have written about them
	People int64 `json:"people"` // patients of whom all their notes together say so; without a patient, notes
	K      int   `json:"k"`
	Listed int64 `json:"listed"` // for `velum review --ask rare`
}
