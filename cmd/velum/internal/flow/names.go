package flow

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// names reads the table of mask.names with the columns kind, name and people; nil if there is none.
func (f *Flow) names() (*surrogate.Names, error) {
	path := f.Mask.Names
	if path == "" {
		return nil, nil
	}
	var all []surrogate.Name
	var columns [3]int
	err := read.EachRow(path, text.Options{}, func(header []string) error {
		for i, name := range []string{"kind", "name", "people"} {
			if columns[i] = slices.Index(header, name); columns[i] < 0 {
				return exit.Misconfiguredf("name the columns kind,name,people", "mask.names: %s has no column %s", path, name)
			}
		}
		return nil
	}, func(row int64, cells []parquet.Cell) error {
		var of [4]string // the first for columns that say something else
		for _, c := range cells {
			of[1+slices.Index(columns[:], c.Column)] = strings.TrimSpace(c.Text)
		}
		kind, ok := surrogate.KindOf(of[1])
		if !ok {
			return exit.Misconfiguredf("write "+strings.Join(surrogate.KindNames(), ", "), "mask.names: %s, row %d, column kind: no kind of name",
				path, row)
		}
		people, err := strconv.ParseFloat(of[3], 64)
		if err != nil || people < 0 || people > math.MaxInt32 || of[2] == "" {
			return exit.Misconfiguredf("write the name, and how many people bear it as a number without dots or commas",
				"mask.names: %s, row %d: no name, or no number of people", path, row)
		}
		all = append(all, surrogate.Name{Kind: kind, Text: of[2], People: int(people)})
		return nil
	})
	if err == nil && len(all) < 1000 {
		err = exit.Misconfiguredf("give the whole table", "mask.names: %s has %d names, and 1000 at least are needed to hide one", path, len(all))
	}
	if err != nil {
		return nil, InputError(err)
	}
	return surrogate.NewNames(all), nil
}
