package dates

import (
	"testing"
	"time"
)

// TestRealDates compares the days that exist with the calendar.
func TestRealDates(t *testing.T) {
	for y := int32(1900); y <= 2099; y++ {
		year := item{kinds: number, value: y, sure: true}
		for m := range int32(14) {
			for d := range int32(33) {
				at := time.Date(int(y), time.Month(m), int(d), 0, 0, 0, 0, time.UTC)
				real := m >= 1 && m <= 12 && at.Day() == int(d) && at.Month() == time.Month(m)
				if exists(year, m, d) != real {
					t.Fatalf("%d-%d-%d: %v", y, m, d, !real)
				}
			}
		}
	}
}
