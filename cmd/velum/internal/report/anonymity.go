package report

import "github.com/velum-health/velum/models/release/anonymity"

// Anonymity is what k-anonymity came to.
type Anonymity struct {
	K       int                 `json:"k"`
	Columns []GeneralizedColumn `json:"columns"`
	Share   float64             `json:"suppressed_share"` // of the notes
	Sizes   *anonymity.Sizes    `json:"sizes,omitempty"`  // of groups; private: small ones were hidden
}

// GeneralizedColumn is how far a column was generalized.
type GeneralizedColumn struct {
	Name   string `json:"name"`
	Level  int    `json:"level"`  // 0: as it was
	Levels int    `json:"levels"` // the last one: suppressed
}

// groupRow is how many groups had fewer notes than a limit.
type groupRow struct{ Limit, Groups, Notes int64 }

// groupRows are the sizes of groups before any was suppressed.
func (a *Anonymity) groupRows() (rows []groupRow) {
	if a == nil || a.Sizes == nil {
		return nil
	}
	for i, limit := range anonymity.Limits {
		rows = append(rows, groupRow{limit, a.Sizes.Under[i], a.Sizes.UnderNotes[i]})
	}
	return rows
}
