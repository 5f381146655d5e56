package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/tally"
	"github.com/velum-health/velum/stages/score"
)

// Leak is how probable it is that a note of the output holds an identifier that
// nobody found and that can be told, by what a person found who read a sample: an
// audit gives the misses by category, the run what was found, and what a note holds
// on average is what it may leak. Notes in which misses come together leak less
// often than that, so that the probability errs on the safe side.
//
// What was left can be told from a placeholder at sight, and from consistent
// surrogates: one name among others that always come as another. Surrogates that
// change hide it (hiding in plain sight, Carrell et al. 2013; by Markov chain,
// Osborne et al. 2025): it is told if it was left twice in a note, as often as an
// attack told it (gate.attacks), and as often as people did at the least.
type Leak struct {
	Probability float64        `json:"probability"`
	Low         float64        `json:"low"` // of 95 %, all categories at their bounds at once
	High        float64        `json:"high"`
	Allowed     float64        `json:"allowed,omitempty"`
	Categories  []CategoryLeak `json:"categories"`
	*Attacks
}

// CategoryLeak is the estimate for one category.
type CategoryLeak struct {
	Category string  `json:"category"`
	Strategy string  `json:"strategy,omitempty"` // of its surrogates
	Missed   float64 `json:"missed_share"`       // in the audit
	Expected float64 `json:"expected"`           // values left in the output
	Told     float64 `json:"told_share"`         // of these, those that can be told
}

// leakInput holds the counts from which a leak is simulated.
type leakInput struct {
	counts     tally.Counts
	notes      int64 // that are masked
	audited    map[string]string
	strategies map[string]string // of surrogates, by category
	attacks    *Attacks
	allowed    float64
}

// leakOf simulates it; nil without an audit and attacks.
func leakOf(in *leakInput) *Leak {
	if len(in.audited) == 0 && in.attacks == nil || in.notes == 0 {
		return nil
	}
	l := &Leak{Allowed: in.allowed, Attacks: in.attacks, Categories: []CategoryLeak{}}
	var middle, low, high float64
	for _, name := range slices.Sorted(maps.Keys(in.audited)) {
		missed, of, _ := option.ParseAudited(in.audited[name]) // the configuration was checked
		found := float64(in.counts.By(tally.Category)[name])
		share := float64(missed) / float64(of)
		ends := score.Wilson(int64(missed), int64(of))
		leaks := func(share float64) float64 { return left(found, share) * in.told(name, share) }
		middle, low, high = middle+leaks(share), low+leaks(ends[0]), high+leaks(min(ends[1], 0.999))
		l.Categories = append(l.Categories, CategoryLeak{name, in.strategies[name], rounded6(share), Rounded(left(found, share)), rounded6(in.told(name, share))})
	}
	per := func(x float64) float64 { return rounded6(1 - math.Exp(-x/float64(in.notes))) }
	l.Probability, l.Low, l.High = per(middle), per(low), per(high)
	return l
}

// told returns which share of the values that are left can be told from
// replacements, when so large a share was missed.
func (in *leakInput) told(category string, share float64) float64 {
	strategy := in.strategies[category]
	if strategy != "random" && strategy != "markov" {
		return 1
	}
	withSpans := max(in.counts.Get(tally.WithSpans, ""), 1)
	others := max(float64(in.counts.By(tally.Category)[category])/float64(withSpans)-1, 0)
	return max(1-math.Pow(1-share, others), in.attacks.recall(share), toldByPeople)
}

// toldByPeople is the recall of four readers (200 notes, 2020): the share of values left among surrogates that people who
// attacked an extract told from them. No less is reckoned with.
const toldByPeople = 0.268

// left is how many values a share of misses leaves beside those that were found.
func left(found, share float64) float64 { return found * share / (1 - share) }

// TooMuch says that a leak is more probable than is allowed, or that more people
// can be linked with notes; "" if neither.
func (l *Leak) TooMuch() string {
	switch {
	case l == nil || l.Allowed == 0:
		return ""
	case l.High > l.Allowed:
		return fmt.Sprintf("a note leaks with a probability of %.4g (%.4g to %.4g), more than %.4g", l.Probability, l.Low, l.High, l.Allowed)
	case l.Attacks != nil && l.Linkage != nil && l.Linkage.Share() > l.Allowed:
		return fmt.Sprintf("%d of %d people match fewer than %d notes, a larger share than %.4g", l.Linkage.Few, l.Linkage.People, l.Linkage.AtLeast, l.Allowed)
	}
	return ""
}
