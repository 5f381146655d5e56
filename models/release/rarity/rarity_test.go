package rarity_test

import (
	"math"
	"testing"

	"github.com/velum-health/velum/models/release/rarity"
)

func TestScore(t *testing.T) {
	c := rarity.Counts{}
	for person := range uint64(1000) {
		if c.Add(1, person<<54|person); person < 2 {
			c.Add(2, person)
		}
	}
	for range 9 { // the same person again
		c.Add(3, 7)
	}
	if got := c.Score(3, 0.5, 1000); math.Abs(got-0.5) > 1e-6 {
		t.Errorf("what one person has is worth %.3f, want .5", got)
	}
	if got := c.Score(2, 0.5, 1000); got >= 0.5 || got < 0.25 {
		t.Errorf("what two of a thousand have is worth %.3f", got)
	}
	if got := c.Score(1, 0.5, 1000); got > 0.02 {
		t.Errorf("what all have is worth %.3f", got)
	}
	if got := c.Score(9, 0.5, 1000); math.Abs(got-0.5) > 1e-6 {
		t.Errorf("what was not counted is worth %.3f, want .5", got)
	}
}

// The order in which people come decides nothing.
func TestOrder(t *testing.T) {
	a, b := rarity.Counts{}, rarity.Counts{}
	for i := range uint64(500) {
		a.Add(5, i*0x9E3779B97F4A7C15)
		b.Add(5, (499-i)*0x9E3779B97F4A7C15)
	}
	if x, y := a.Score(5, 0.5, 1e6), b.Score(5, 0.5, 1e6); x != y || math.Abs(x-math.Log10(1e6/499)/10) > 0.1 {
		t.Errorf("%.4f and %.4f", x, y)
	}
}

func TestAlone(t *testing.T) {
	if a, b := rarity.Alone(0), rarity.Alone(10); math.Abs(a-0.6) > 1e-9 || math.Abs(b-0.5) > 1e-9 {
		t.Errorf("%.2f %.2f", a, b)
	}
}
