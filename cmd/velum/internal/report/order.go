package report

import (
	"math"

	"github.com/velum-health/velum/pipeline/tally"
)

// reportOrder says whether rows stand in the order of their days, where dates move. Then
// a row's place gives its day away, and the day by how much its patient's dates were
// moved.
type reportOrder struct {
	Rising  int64   `json:"rising"`  // first notes of patients that are younger than the one before
	Falling int64   `json:"falling"` // older
	Share   float64 `json:"share"`   // of the larger of both
	Sorted  bool    `json:"sorted"`

	Stretches bool `json:"stretches,omitempty"` // parts are of stretches of time, as months are that came one by one
}

// In an archive in any order half of the pairs rise. Sorted is one of which at least
// sortedShare go one way, and more than sortedSigmas standard deviations of a fair coin
// beyond half: the share alone would take ten notes for an order, the deviations alone a
// million notes that rise .501 of the time.
const (
	sortedShare  = 0.6
	sortedSigmas = 4
)

// orderOf returns nil where no dates move.
func orderOf(t tally.Counts, dates string) *reportOrder {
	if dates == "" {
		return nil
	}
	o := &reportOrder{Rising: t.Get(tally.Order, tally.OrderRising), Falling: t.Get(tally.Order, tally.OrderFalling)}
	n := float64(o.Rising + o.Falling)
	if n == 0 {
		return o
	}
	most := float64(max(o.Rising, o.Falling))
	o.Share = Rounded(most / n)
	o.Sorted = most >= sortedShare*n && most-n/2 > sortedSigmas*math.Sqrt(n)/2
	return o
}
