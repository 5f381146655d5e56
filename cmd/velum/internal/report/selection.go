package report

// Selection reports the selection set of the run.
type Selection struct {
	MinConfidence float64          `json:"min_confidence"`
	Wanted        int              `json:"wanted"`
	Notes         int              `json:"notes"`
	Candidates    int              `json:"candidates"`
	Lowest        float64          `json:"lowest_confidence"`
	Met           bool             `json:"shares_met"`
	Tolerance     float64          `json:"tolerance"`
	Short         string           `json:"short_of,omitempty"` // class of which there are too few
	Classes       []SelectionClass `json:"classes"`
	WithoutSpans  WantedGot        `json:"without_spans"`

	ReviewBelow  float64 `json:"review_below"`
	ReviewWanted int     `json:"review_wanted"`
	ReviewNotes  int     `json:"review_notes"`
}

// SelectionClass is a category: what was wanted of it and what came.
type SelectionClass struct {
	Category string     `json:"category"`
	Share    WantedGot  `json:"share"`
	Length   *WantedGot `json:"mean_span_tokens,omitempty"`
	// MinConfidence is C_min of the category, where each has its own.
	MinConfidence *float64 `json:"min_confidence,omitempty"`
}

// WantedGot compares a share of the target, if it names one, with that of the selection.
type WantedGot struct {
	Wanted *float64 `json:"wanted,omitempty"`
	Got    float64  `json:"got"`
}
