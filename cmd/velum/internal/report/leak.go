package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/pipeline/tally"
)

// Leak is how probable it is that a note of the output holds an identifier that
// nobody found, by what a person found who read a sample: an audit gives the
// misses by category, the run what was found, and what a note holds on average is
// what it may leak. Notes in which misses come together leak less often than that,
// so that the probability errs on the safe side. A reader must still tell what was
// left from surrogates beside it (`velum attack --gold`); that is not counted off.
type Leak struct {
	Probability float64        `json:"probability"`
	Low         float64        `json:"low"` // of 95 %, all categories at their bounds at once
	High        float64        `json:"high"`
	Allowed     float64        `json:"allowed,omitempty"`
	Categories  []CategoryLeak `json:"categories"`
}

// CategoryLeak is what is expected of one category.
type CategoryLeak struct {
	Category string  `json:"category"`
	Missed   float64 `json:"missed_share"` // in the audit
	Expected float64 `json:"expected"`     // values left in the output
}

// ParseAudited reads "3/1000": of so many values that were there so many were
// missed.
func ParseAudited(text string) (missed, of int, ok bool) {
	a, b, found := strings.Cut(text, "/")
	missed, err1 := strconv.Atoi(strings.TrimSpace(a))
	of, err2 := strconv.Atoi(strings.TrimSpace(b))
	return missed, of, found && err1 == nil && err2 == nil && missed >= 0 && of > 0 && missed < of
}

// leakOf simulates it; nil without an audit.
func leakOf(counts tally.Counts, notes int64, audited map[string]string, allowed float64) *Leak {
	if len(audited) == 0 || notes == 0 {
		return nil
	}
	l := &Leak{Allowed: allowed}
	var middle, low, high float64
	for _, name := range sortedNames(audited) {
		missed, of, _ := ParseAudited(audited[name]) // the configuration was checked
		found := float64(counts.By(tally.Category)[name])
		share := float64(missed) / float64(of)
		from, to := wilson(missed, of)
		middle, low, high = middle+left(found, share), low+left(found, from), high+left(found, to)
		l.Categories = append(l.Categories, CategoryLeak{name, rounded6(share), Rounded(left(found, share))})
	}
	per := func(x float64) float64 { return rounded6(1 - math.Exp(-x/float64(notes))) }
	l.Probability, l.Low, l.High = per(middle), per(low), per(high)
	return l
}

// left is how many values a share of misses leaves beside those that were found.
func left(found, share float64) float64 { return found * share / (1 - share) }

// wilson returns the 95 % score interval of a share.
func wilson(k, n int) (low, high float64) {
	const z = 1.959964
	p, m := float64(k)/float64(n), float64(n)
	center, half := p+z*z/(2*m), z*math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return max((center-half)/(1+z*z/m), 0), min((center+half)/(1+z*z/m), 0.999)
}

// TooMuch says that a leak is more probable than is allowed; "" if it is not.
func (l *Leak) TooMuch() string {
	if l == nil || l.Allowed == 0 || l.High <= l.Allowed {
		return ""
	}
	return fmt.Sprintf("a note leaks with a probability of %.4g (%.4g to %.4g), more than %.4g", l.Probability, l.Low, l.High, l.Allowed)
}

func sortedNames(m map[string]string) (names []string) {
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
