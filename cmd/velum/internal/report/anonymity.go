package report

import (
	"fmt"
	"strings"

	"github.com/velum-health/velum/models/release/anonymity"
)

// Anonymity reports the outcome of k-anonymity.
type Anonymity struct {
	K       int                 `json:"k"`
	Columns []GeneralizedColumn `json:"columns"`
	Share   float64             `json:"suppressed_share"` // of the notes
	Cohorts int                 `json:"cohorts"`          // of notes that were released together first
	Sizes   *anonymity.Sizes    `json:"sizes,omitempty"`  // of groups; private: small ones were hidden
}

// GeneralizedColumn is a quasi-identifier with the level to which it was generalized.
type GeneralizedColumn struct {
	Name   string `json:"name"`
	Level  int    `json:"level"`  // 0: as it was; of the cohorts the highest
	Levels int    `json:"levels"` // the last one: suppressed
}

// Plan returns the levels of all columns as text, for the ledger of releases.
func (a *Anonymity) Plan() string {
	var all []string
	for _, c := range a.Columns {
		all = append(all, fmt.Sprintf("%s %d/%d", c.Name, c.Level, c.Levels))
	}
	return strings.Join(all, ", ")
}

// groupRow is how many groups had fewer notes than a limit.
type groupRow struct{ Limit, Groups, Notes int64 }

// GroupRows returns the distribution of group sizes before suppression.
func (a *Anonymity) GroupRows() (rows []groupRow) {
	if a == nil || a.Sizes == nil {
		return nil
	}
	for i, limit := range anonymity.Limits {
		rows = append(rows, groupRow{limit, a.Sizes.Under[i], a.Sizes.UnderNotes[i]})
	}
	return rows
}
