package attack

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"strconv"

	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// frequency is the attack by the frequency of surrogates: velum is public, so an attacker masks an archive of their own
// and counts surrogates. A name that people have and surrogates rarely or never have is real.
type frequency struct {
	known  *gazetteer.Gazetteer
	people map[string]int // who bear a name, by its folded word; nil: not known
	total  int
	pool   map[string]int // surrogates by word
	drawn  int
	here   map[string]int // mentions by word in the current extract
}

func newFrequency(a *attacker) (*frequency, error) {
	f := &frequency{known: gazetteer.Default(), pool: map[string]int{}}
	var err error
	f.people, err = readFrequencies(cmp.Or(a.People, a.config.Mask.Names))
	for _, n := range f.people {
		f.total += n
	}
	return f, err
}

// readFrequencies reads a table of names: columns name and people, or the first two.
func readFrequencies(path string) (map[string]int, error) {
	if path == "" {
		return nil, nil
	}
	people := map[string]int{}
	name, count := 0, 1
	err := read.EachRow(path, text.Options{}, func(names []string) error {
		if i, j := slices.Index(names, "name"), slices.Index(names, "people"); i >= 0 && j >= 0 {
			name, count = i, j
		}
		return nil
	}, func(_ int64, cells []parquet.Cell) error {
		var of, bear string
		for _, c := range cells {
			switch c.Column {
			case name:
				of = c.Text
			case count:
				bear = c.Text
			}
		}
		n, err := strconv.ParseFloat(bear, 64)
		if err != nil {
			return nil // nobody counted them
		}
		for _, w := range nameWords([]byte(of)) {
			people[string(w)] += int(n)
		}
		return nil
	})
	return people, err
}

func (f *frequency) learn(e *planted) {
	for w := range e.words {
		f.pool[w]++
		f.drawn++
	}
}

func (f *frequency) look(e *planted) look {
	f.here = map[string]int{}
	for w := range e.words {
		f.here[w]++
	}
	return f.see
}

// listed returns which lists of names contain a word: 1 given names, 2 surnames, 3 both.
func (f *frequency) listed(w []byte) (of uint8) {
	class := f.known.Classes(w)
	if class&gazetteer.GivenName != 0 {
		of = 1
	}
	if class&gazetteer.Surname != 0 {
		of += 2
	}
	return of
}

// see returns the cell of a mention: its word with the lowest ratio of surrogates to people and, for its rarest word,
// the numbers of people and of surrogates who have it.
func (f *frequency) see(n *note, k int) (c cell) {
	worst, fewest := math.Inf(-1), math.MaxInt
	for _, w := range n.Mentions[k].Words {
		pool, people := f.pool[string(w)], f.people[string(w)]
		real := 1e-5
		if f.total > 0 {
			real = (float64(people) + 20) / float64(f.total)
		}
		if odds := math.Log2(real * float64(f.drawn+len(f.pool)+1) / float64(pool+1)); odds > worst {
			worst = odds
			c[0], c[1], c[2], c[3] = uint8(min(max(2*odds+12, 0), 24)), min(bucket(pool), 7), f.listed(w), bucket(f.here[string(w)])
			c[6] = uint8(bits.Len(uint(people)) / 2)
		}
		if people < fewest {
			fewest = people
			c[4], c[5] = uint8(bits.Len(uint(people))/2), min(bucket(pool), 7)
		}
	}
	c[7] = uint8(min(len(n.Mentions[k].Words), 3))
	return c
}
