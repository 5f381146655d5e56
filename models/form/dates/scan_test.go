package dates

import (
	"testing"
	"time"
)

// TestRealDates compares the days that exist with the calendar.
func TestRealDates(t *testing.T) {
	for y := 1900; y <= 2099; y++ {
		year := item{kinds: number, value: y, sure: true}
		for m := range 14 {
			for d := range 33 {
				at := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
				real := m >= 1 && m <= 12 && at.Day() == d && at.Month() == time.Month(m)
				if exists(year, m, d) != real {
					t.Fatalf("%d-%d-%d: %v", y, m, d, !real)
				}
			}
		}
	}
}
