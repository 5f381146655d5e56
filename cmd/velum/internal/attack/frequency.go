package attack

import (
	"math"
	"strconv"

	"github.com/velum-health/velum/cmd/velum/internal/plant"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// frequency goes by what names surrogates are drawn from: velum is public, so an
// attacker masks an archive of their own and counts. A name that surrogates never
// or seldom are, and people are, is real.
type frequency struct {
	known  *gazetteer.Gazetteer
	people map[string]int // who bear a name, by its folded word; nil: not known
	total  int
	pool   map[string]int // surrogates by word
	drawn  int
	here   map[string]int // mentions by word in the extract at hand
}

func newFrequency(a *attacker) (spy, error) {
	f := &frequency{known: gazetteer.Default(), pool: map[string]int{}}
	var err error
	f.people, err = readFrequencies(a.People)
	for _, n := range f.people {
		f.total += n
	}
	return f, err
}

// readFrequencies reads a table of names: CSV or TSV, a name and how many bear it.
func readFrequencies(path string) (map[string]int, error) {
	if path == "" {
		return nil, nil
	}
	people := map[string]int{}
	err := read.EachRow(path, text.Options{}, func(names []string) error { return nil }, func(_ int64, cells []parquet.Cell) error {
		if len(cells) < 2 {
			return nil
		}
		n, err := strconv.ParseFloat(cells[1].Text, 64)
		if err != nil {
			return nil // nobody counted them
		}
		for _, w := range plant.Words([]byte(cells[0].Text)) {
			people[string(w)] += int(n)
		}
		return nil
	})
	return people, err
}

func (f *frequency) learn(e *plant.Extract) {
	for i := range e.Notes {
		for k := range e.Notes[i].Mentions {
			for _, w := range e.Notes[i].Mentions[k].Words {
				f.pool[string(w)]++
				f.drawn++
			}
		}
	}
}

func (f *frequency) look(e *plant.Extract) (look, error) {
	f.here = map[string]int{}
	for i := range e.Notes {
		for k := range e.Notes[i].Mentions {
			for _, w := range e.Notes[i].Mentions[k].Words {
				f.here[string(w)]++
			}
		}
	}
	return f.see, nil
}

// see takes the word of a mention that surrogates are least for what people are.
func (f *frequency) see(n *plant.Note, k int) (c cell) {
	c[7] = uint8(min(len(n.Mentions[k].Words), 3))
	worst := math.Inf(-1)
	for _, w := range n.Mentions[k].Words {
		pool := float64(f.pool[string(w)]+1) / float64(f.drawn+len(f.pool)+1)
		real := 1e-5
		if f.total > 0 {
			real = (float64(f.people[string(w)]) + 20) / float64(f.total)
		}
		if odds := math.Log2(real / pool); odds > worst {
			worst = odds
			class := f.known.Classes(w)
			listed := uint8(0)
			if class&gazetteer.GivenName != 0 {
				listed = 1
			}
			if class&gazetteer.Surname != 0 {
				listed += 2
			}
			c = cell{uint8(min(max(odds+8, 0), 16)), min(bucket(f.pool[string(w)]), 7), listed, bucket(f.here[string(w)]), 0, 0, 0, c[7]}
		}
	}
	return c
}
