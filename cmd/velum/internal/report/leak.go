package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/tally"
)

// Leak estimates the probability that a note of the output holds an identifier that was missed and can be recognized.
// An audit by readers gives the rate of misses by category (option gate.missed), and the run gives the mean number of
// values in a note. Misses that cluster in a few notes make fewer notes leak, so the estimate errs on the safe side.
//
// A missed value is recognized at sight among placeholders, and among consistent surrogates, where every other name
// always changes to the same one. Surrogates that vary hide it (hiding in plain sight, Carrell et al. 2013; by Markov
// chain, Osborne et al. 2025): then only a value that was missed twice in a note counts, at the rate at which attacks
// recognized it (gate.attacks), and at least at the rate of human readers.
type Leak struct {
	Probability float64        `json:"probability"`
	Low         float64        `json:"low"` // lower end of the 95 % interval, all categories at their bounds at once
	High        float64        `json:"high"`
	Allowed     float64        `json:"allowed,omitempty"`
	Categories  []CategoryLeak `json:"categories"`
	*Attacks
}

// CategoryLeak is the estimate for one category.
type CategoryLeak struct {
	Category string  `json:"category"`
	Strategy string  `json:"strategy,omitempty"` // of its surrogates
	Missed   float64 `json:"missed_share"`       // share that was missed in the audit
	Expected float64 `json:"expected"`           // expected number of values left in the output
	Told     float64 `json:"told_share"`         // of these, share that can be told from surrogates
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
		ends := calibrate.Wilson(int64(missed), int64(of))
		leaks := func(share float64) float64 { return left(found, share) * in.told(name, share) }
		middle, low, high = middle+leaks(share), low+leaks(ends[0]), high+leaks(min(ends[1], 0.999))
		l.Categories = append(l.Categories, CategoryLeak{name, in.strategies[name], rounded6(share), Rounded(left(found, share)),
			rounded6(in.told(name, share))})
	}
	per := func(x float64) float64 { return rounded6(1 - math.Exp(-x/float64(in.notes))) }
	l.Probability, l.Low, l.High = per(middle), per(low), per(high)
	return l
}

// told returns the share of missed values that can be distinguished from replacements, at this miss rate.
func (in *leakInput) told(category string, share float64) float64 {
	strategy := in.strategies[category]
	if strategy != "random" && strategy != "markov" {
		return 1
	}
	withSpans := max(in.counts.Get(tally.WithSpans, ""), 1)
	others := max(float64(in.counts.By(tally.Category)[category])/float64(withSpans)-1, 0)
	return max(1-math.Pow(1-share, others), in.attacks.recall(share), toldByPeople)
}

// toldByPeople is the recall of four human readers (200 notes, 2020): the share of missed values among surrogates that
// they recognized in an extract. The estimate never assumes less.
const toldByPeople = 0.268

// left is how many values a share of misses leaves beside those that were found.
func left(found, share float64) float64 { return found * share / (1 - share) }

// TooMuch returns why the output exceeds the allowed leak probability or the allowed share of linked people; "" if it
// does not.
func (l *Leak) TooMuch() string {
	switch {
	case l == nil || l.Allowed == 0:
		return ""
	case l.High > l.Allowed:
		return fmt.Sprintf("a note leaks with a probability of %.4g (%.4g to %.4g), more than %.4g", l.Probability, l.Low, l.High, l.Allowed)
	case l.Attacks != nil && l.Linkage != nil && l.Linkage.Share() > l.Allowed:
		return fmt.Sprintf("%d of %d people match fewer than %d notes, a larger share than %.4g", l.Linkage.Few, l.Linkage.People,
			l.Linkage.AtLeast, l.Allowed)
	}
	return ""
}
