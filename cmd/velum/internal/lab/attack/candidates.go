package attack

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/velum-health/velum/stages/mask"
)

// candidateFigures holds how well surrogates alone identify people in a list of candidates.
type candidateFigures struct {
	Patients int     `json:"patients"` // each is a candidate for each
	First    int     `json:"first"`    // found at the first guess
	Median   float64 `json:"median_rank"`
	Most     float64 `json:"most_first"`    // allowed at the first guess
	Least    float64 `json:"least_rank"`    // allowed in the median
	Shuffled float64 `json:"shuffled_rank"` // the median where patients are shuffled
}

const (
	candidateNeeds = 100 // patients: of fewer one of a hundred is nobody
	// candidateNoise is the share of a patient's surrogates that are of somebody else.
	candidateNoise = 0.4
	// candidatePrior is how many words count as evidence for all traits alike before any word is seen.
	candidatePrior = 8
)

// leastRank is the lowest allowed median rank of the true person. Sex, which notes reveal anyway, halves the
// candidates: of n candidates the expected median is n/4 with a deviation of √n/4. Two deviations less are allowed, 66
// of 300; four archives had 81 to 87.
func leastRank(candidates float64) float64 {
	return math.Floor((candidates - 2*math.Sqrt(candidates)) / 4)
}

// trait holds the properties of a word that an attacker compares: how many surrogates and people have it, which lists
// contain it, and whether it ends like a woman's name.
type trait [4]uint8

func (f *frequency) trait(w []byte) trait {
	t := trait{uint8(bits.Len(uint(f.pool[string(w)]))), uint8(bits.Len(uint(f.people[string(w)]))) / 2}
	t[2] = f.listed(w)
	if w[len(w)-1] == 'a' {
		t[3] = 1
	}
	return t
}

// channel counts, over names whose surrogates are known, how often a word with one trait (how common it is as a name and
// among people, its list, its ending) was replaced by a word with another. From that follows how likely each candidate
// is, given the surrogate. Anybody can count this by masking names of their own with velum.
type channel struct {
	*frequency
	both    map[[2]trait]float64
	was, is map[trait]float64
	all     float64
}

func newChannel(f *frequency) *channel {
	return &channel{frequency: f, both: map[[2]trait]float64{}, was: map[trait]float64{}, is: map[trait]float64{}}
}

// learn counts the words of an extract whose names are known.
func (c *channel) learn(e *planted) {
	for i := range e.Notes {
		for _, m := range e.Notes[i].Mentions {
			for k, w := range m.Words {
				if len(m.Was) == 0 {
					continue
				}
				was, is := c.trait(m.Was[min(k, len(m.Was)-1)]), c.trait(w)
				c.both[[2]trait{was, is}]++
				c.was[was]++
				c.is[is]++
				c.all++
			}
		}
	}
}

// odds returns how many times likelier a surrogate has a trait for this word than for any word.
func (c *channel) odds(was, is trait) float64 {
	base := (c.is[is] + 1) / (c.all + 1)
	return (c.both[[2]trait{was, is}] + candidatePrior*base) / (c.was[was] + candidatePrior) / base
}

// person holds the traits of a person's name, from the list of candidates, and those of the words in the person's
// notes.
type person struct {
	name []trait
	seen []trait
}

// patients returns the patients of an extract whose full name is in it.
func (c *channel) patients(e *planted, patients int) (all []person) {
	names, words := make([]map[string]int, patients), make([]map[string]bool, patients)
	for i := range e.Notes {
		n := &e.Notes[i]
		if names[n.Patient] == nil {
			names[n.Patient], words[n.Patient] = map[string]int{}, map[string]bool{}
		}
		for _, m := range n.Mentions {
			if mask.StaffBefore(n.Text[:m.Start]) {
				continue // of staff
			}
			if len(m.Was) > 1 {
				names[n.Patient][string(bytes.Join(m.Was, []byte{' '}))]++
			}
			for _, w := range m.Words {
				words[n.Patient][string(w)] = true
			}
		}
	}
	for p := range names {
		best := ""
		for name, n := range names[p] {
			if of := names[p][best]; n > of || n == of && name < best {
				best = name
			}
		}
		if best == "" {
			continue
		}
		var of person
		for w := range strings.FieldsSeq(best) {
			of.name = append(of.name, c.trait([]byte(w)))
		}
		for w := range words[p] {
			of.seen = append(of.seen, c.trait([]byte(w)))
		}
		slices.SortFunc(of.seen, func(x, y trait) int { return slices.Compare(x[:], y[:]) })
		all = append(all, of)
	}
	return all
}

// rank counts for each person how many candidates fit the person's surrogates at least as well as the true one,
// truth[p]; truth is the identity unless people are shuffled.
func (c *channel) rank(all []person, truth []int) (first int, median float64) {
	ranks := make([]float64, len(all))
	scores := make([]float64, len(all))
	for p := range all {
		for k := range all {
			scores[k] = 0
			for _, seen := range all[p].seen {
				odds := 0.
				for _, was := range all[k].name {
					odds += c.odds(was, seen) / float64(len(all[k].name))
				}
				scores[k] += math.Log(candidateNoise + (1-candidateNoise)*odds)
			}
		}
		before, alike := 0, 0
		for k := range all {
			switch {
			case scores[k] > scores[truth[p]]:
				before++
			case scores[k] == scores[truth[p]] && k != truth[p]:
				alike++
			}
		}
		if ranks[p] = 1 + float64(before) + float64(alike)/2; before+alike == 0 {
			first++
		}
	}
	slices.Sort(ranks)
	return first, ranks[len(ranks)/2]
}

// candidates is the attack by surrogates alone: given an extract and a list of people, it ranks the people by how well
// the surrogates of a patient fit their names. It needs no missed name.
var candidates = attack{"candidates", (*attacker).noNames, (*attacker).tryCandidates}

func (a *attacker) tryCandidates(ctx context.Context) (*finding, error) {
	often, own, err := a.own(ctx)
	if err != nil {
		return nil, err
	}
	c := newChannel(often)
	for _, e := range own {
		c.learn(e)
	}
	e, err := a.planted.natural(ctx)
	if err != nil {
		return nil, err
	}
	all := c.patients(e, len(a.planted.Patients))
	r := &candidateFigures{Patients: len(all), Least: leastRank(float64(len(all)))}
	truth := make([]int, len(all))
	for p := range truth {
		truth[p] = p
	}
	// An attack may find one in a hundred, plus what chance adds in one extract of forty: 7 of 300. Four archives had 0
	// to 6, so a limit of 3 would fail half of them. With this limit, an extract in which 10 of 300 can be found fails
	// three times in four, one with 14 in 97 of 100.
	expected := max(namedMost*float64(len(all)), 2)
	r.Most = math.Ceil(expected + 1.96*math.Sqrt(expected))
	if len(all) > 0 {
		r.First, r.Median = c.rank(all, truth)
		rand.New(rand.NewPCG(a.Seed, 19)).Shuffle(len(truth), func(i, j int) { truth[i], truth[j] = truth[j], truth[i] })
		_, r.Shuffled = c.rank(all, truth)
	}
	return judged(r, float64(r.First) > r.Most || len(all) >= candidateNeeds && r.Median < r.Least, len(all) < candidateNeeds,
		"take placeholders for names: what surrogates keep of a name tells too much here",
		fmt.Sprintf("give %d patients or more whose names stand in their notes, or more of the archive with --notes", candidateNeeds),
		"surrogates alone lead to %d of %d patients at the first guess (%.0f allowed), median rank %.0f (%.0f wanted; %.0f where patients are shuffled)",
		r.First, r.Patients, r.Most, r.Median, r.Least, r.Shuffled), nil
}
