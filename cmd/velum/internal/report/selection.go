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

// SelectionClass compares the wanted and the actual share of one category in the selection set.
type SelectionClass struct {
	Category string     `json:"category"`
	Share    WantedGot  `json:"share"`
	Length   *WantedGot `json:"mean_span_tokens,omitempty"`
	// MinConfidence is C_min of the category, where each has its own.
	MinConfidence *float64 `json:"min_confidence,omitempty"`
}

// WantedGot compares the wanted share, if there is one, with the share in the selection.
type WantedGot struct {
	Wanted *float64 `json:"wanted,omitempty"`
	Got    float64  `json:"got"`
}
