package language

import "math"

// Weight returns how a weight in log-odds is stored.
func Weight(logOdds float64) int8 {
	return int8(math.Round(min(max(logOdds*scale, -127), 127)))
}
