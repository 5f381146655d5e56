package attack

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// LinkOptions holds the options of the attack that links an extract with a table of people.
type LinkOptions struct {
	Table   string // Parquet or CSV: a row a person, columns of the names that quasi/ has
	AtLeast int    // notes that a person must match, if any; 0: anonymity.k
}

// linkFigures counts the people of the table who match few or no notes.
type linkFigures struct {
	Columns  []string `json:"columns"`
	People   int      `json:"people"`
	Matched  int      `json:"matched"`  // with some note
	Alone    int      `json:"alone"`    // with one note
	Few      int      `json:"few"`      // with fewer notes than are wanted
	AtLeast  int      `json:"at_least"` // wanted
	Smallest int      `json:"smallest"` // notes of the person who has the fewest
}

// linkNeeds is the least number of people who must match a note for a valid result; without a match it is unknown
// whether people are in the archive at all.
const linkNeeds = 2

// maxLinkGroups is the most combinations of values that a linkage compares.
const maxLinkGroups = 1 << 20

// linkage is the attack that joins the public columns of an extract with a table of people. A person matches a note if
// every value of the note is the person's value at some level of some hierarchy, or is suppressed.
var linkage = attack{"linkage", (*attacker).noTable, (*attacker).tryLinkage}

// noTable returns why no table can be linked.
func (a *attacker) noTable() string {
	if a.Link.Table == "" {
		return "needs a --table of people"
	}
	return ""
}

func (a *attacker) tryLinkage(ctx context.Context) (*finding, error) {
	r := &linkFigures{AtLeast: cmp.Or(a.Link.AtLeast, max(a.config.Anonymity.K, 2))}
	groups := map[string]int{}
	err := eachRow(ctx, a.Dir, "quasi", func(_ string, row map[string]string) error {
		quasi := quasiOf(row)
		r.Columns = slices.Sorted(maps.Keys(quasi))
		var values []string
		for _, name := range r.Columns {
			values = append(values, quasi[name])
		}
		if groups[strings.Join(values, "\x00")]++; len(groups) > maxLinkGroups {
			return exit.Misconfiguredf("make the extract with anonymity.k", "more than %d combinations of values", maxLinkGroups)
		}
		return nil
	})
	if err == nil && len(groups) == 0 {
		err = exit.Misconfiguredf("name the output of a run with anonymity.k", "%s has no quasi/", a.Dir)
	}
	if err == nil {
		err = a.linkPeople(r, groups)
	}
	if err != nil {
		return nil, err
	}
	return judged(r, r.Few > 0, r.Matched < linkNeeds, "raise anonymity.k, or suppress more", "give a table of people who are in the archive",
		"%d of %d people match a note, %d a single one, %d fewer than %d", r.Matched, r.People, r.Alone, r.Few, r.AtLeast), nil
}

// linkPeople counts how many notes each person of the table matches.
func (a *attacker) linkPeople(r *linkFigures, groups map[string]int) error {
	split := make([][]string, 0, len(groups))
	counts := make([]int, 0, len(groups))
	for key, n := range groups {
		split, counts = append(split, strings.Split(key, "\x00")), append(counts, n)
	}
	var at []int // by column of the table: which of r.Columns
	return read.EachRow(a.Link.Table, text.Options{}, func(names []string) error {
		shared := 0
		for _, name := range names {
			k := slices.Index(r.Columns, name)
			if at = append(at, k); k >= 0 {
				shared++
			}
		}
		if shared == 0 {
			return exit.Misconfiguredf("the extract has: "+strings.Join(r.Columns, ", "), "%s has none of the columns of the extract", a.Link.Table)
		}
		return nil
	}, func(_ int64, cells []parquet.Cell) error {
		forms := make([]map[string]bool, len(r.Columns))
		for _, c := range cells {
			if k := at[c.Column]; k >= 0 {
				forms[k] = anonymity.Forms(c.Text)
			}
		}
		n := 0
		for i, values := range split {
			matches := true
			for k, v := range values {
				matches = matches && (v == anonymity.Suppressed || forms[k] == nil || forms[k][v])
			}
			if matches {
				n += counts[i]
			}
		}
		r.People++
		if n > 0 {
			r.Matched++
			if r.Smallest == 0 || n < r.Smallest {
				r.Smallest = n
			}
			if n == 1 {
				r.Alone++
			}
			if n < r.AtLeast {
				r.Few++
			}
		}
		return nil
	})
}
