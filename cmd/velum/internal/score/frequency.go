package score

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/page"
	"github.com/velum-health/velum/models/word/gazetteer"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// seeing is a scorer beside which the values of gold are counted.
type seeing struct {
	*score.Scorer
	values *frequencies
}

// Put implements pipeline.Sink.
func (s seeing) Put(b *pipeline.Batch) error {
	s.values.add(b)
	return s.Scorer.Put(b)
}

// frequencies are in how many notes each value of gold stands. What comes in many
// notes, as the names of staff, is learned by heart; what comes in one, as those
// of patients, is not (NGRID §8.2.4 and figure 8).
type frequencies struct {
	of   func(pipeline.Category) pipeline.Category // as categories are compared
	all  map[string]*frequency                     // by category and folded words
	note int
}

type frequency struct {
	category        string
	mentions, notes int
	last            int // note that was counted last
}

func valueKey(category string, text []byte) string {
	return category + " " + string(gazetteer.Fold(nil, text))
}

// add counts the values of sound notes.
func (f *frequencies) add(b *pipeline.Batch) {
	for i := range b.Len() {
		if i < len(b.Reason) && b.Reason[i] != pipeline.Sound || i >= b.Gold.Len() {
			continue
		}
		f.note++
		for _, g := range b.Gold.At(i) {
			c := g.Category
			if f.of != nil {
				c = f.of(c)
			}
			text := b.Text.At(i)
			if c == pipeline.None || g.Start >= g.End || int(g.End) > len(text) {
				continue
			}
			key := valueKey(c.String(), text[g.Start:g.End])
			v := f.all[key]
			if v == nil {
				v = &frequency{category: c.String()}
				f.all[key] = v
			}
			if v.mentions++; v.last != f.note {
				v.notes, v.last = v.notes+1, f.note
			}
		}
	}
}

// class says in words in how many notes the gold value of an error stands.
func (f *frequencies) class(e *mistake, l page.Language) string {
	if e.Gold == nil {
		return ""
	}
	switch v := f.all[valueKey(e.Gold.Category, []byte(e.Gold.Text))]; {
	case v == nil:
		return ""
	case v.notes == 1:
		return l.Text("errors once")
	case v.notes <= 5:
		return l.Text("errors few")
	}
	return l.Text("errors often")
}

// box is a row of the figure: of the mentions of a category, in how many notes
// their values stand. X are the same on a scale of logarithms, 0 to 100.
type box struct {
	Category         string
	Mentions, Values int
	Notes            [5]int // least, quartiles, most
	X                [5]float64
}

// boxes returns the rows, those that come in most notes first.
func (f *frequencies) boxes() []box {
	notes, values := map[string][]int{}, map[string]int{}
	most := 2
	for _, v := range f.all {
		notes[v.category] = append(notes[v.category], slices.Repeat([]int{v.notes}, v.mentions)...)
		values[v.category]++
		most = max(most, v.notes)
	}
	var rows []box
	for _, c := range slices.Sorted(maps.Keys(notes)) {
		n := notes[c]
		slices.Sort(n)
		r := box{Category: c, Mentions: len(n), Values: values[c]}
		for k := range r.Notes {
			r.Notes[k] = n[k*(len(n)-1)/4]
			r.X[k] = 100 * math.Log(float64(r.Notes[k])) / math.Log(float64(most))
		}
		rows = append(rows, r)
	}
	slices.SortStableFunc(rows, func(a, b box) int {
		return cmp.Or(cmp.Compare(b.Notes[2], a.Notes[2]), strings.Compare(a.Category, b.Category))
	})
	return rows
}
