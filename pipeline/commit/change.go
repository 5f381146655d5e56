package commit

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
)

// A new file is recognized as another version of an earlier file by its notes, not by its name: `inbox/notes.parquet` may
// hold January today and February in a month. A file at a path where earlier files lay is compared, by ids, with each of
// them:
//
//	most ids are the same                           replaced: it is a new version
//	most ids differ                                 added: the notes of both stay
//	anything in between                             *ChangedError: it could be either
//	the ids are the same, but hardly any text is    *ChangedError: ids may begin anew in each month

// Overlap counts the notes that an earlier file and a new file at the same path have in common.
type Overlap struct {
	Was, Given int64 // notes of the earlier one, and of the one that is given
	Shared     int64 // ids that both have
	Seen       int64 // of these, number whose masked text is available for comparison
	Alike      int64 // of these, number with nearly the same text
	Unknown    bool  // the notes have no ids to compare by
}

// A comparer compares a file with what an earlier run made of another.
type comparer func(given []Unit, was []*UnitRecord) (Overlap, error)

// fewNotes is the smallest number of compared notes at which the share of equal texts is used.
const fewNotes = 10

// fate returns what becomes of the earlier file: "replaced", "added" (both stay), or "" if the overlap does not decide
// it.
func (o *Overlap) fate() string {
	renumbered := o.Seen >= fewNotes && 10*o.Alike < o.Seen
	switch {
	case o.Unknown:
		return ""
	case o.Was == 0: // nothing of it could be read
		return "replaced"
	case 4*o.Shared <= o.Was && 4*o.Shared <= o.Given:
		return "added"
	case 4*o.Shared >= 3*o.Was && !renumbered:
		return "replaced"
	}
	return ""
}

// A ChangedError is returned if velum cannot tell whether a file is a new version of the earlier file at its path.
type ChangedError struct {
	Path    string
	Overlap Overlap
	Refused bool // because of UnitOptions.Changed
}

func (e *ChangedError) Error() string {
	o, why := &e.Overlap, "run.changed refuses that"
	switch {
	case e.Refused:
	case o.Unknown:
		why = "without ids nobody can tell whether it is a new version of that one"
	case 4*o.Shared >= 3*o.Was:
		why = fmt.Sprintf("%d of the %d ids are the same and hardly any text is: ids may begin anew in every file", o.Shared, o.Was)
	default:
		why = fmt.Sprintf("%d of the %d notes of that one are among the %d of this one: neither a new version nor another month", o.Shared, o.Was,
			o.Given)
	}
	return fmt.Sprintf("%s: another file lay there when it was masked, and %s; say with run.changed=add that both stay, or with run.changed=replace that it takes the place of the other", e.Path, why)
}

// version is an input file of an earlier run, with the units that were made of it.
type version struct {
	at, sum string
	source  string
	copy    int
	former  bool // another lies at its place
	units   []*UnitRecord
}

// remember groups the inputs of the last commit into files, by location and content. An input whose location is not known,
// as in an output of an older version, is taken to have lain where the given file of its name lies: then their notes are
// compared.
func (g *growth) remember(last *Manifest, files []*givenFile) {
	g.before, g.of, g.replaced = map[string][]*version{}, map[string]*version{}, map[*version]bool{}
	if last == nil {
		return
	}
	type key struct {
		at, sum, source string
		copy            int
	}
	known, namesake := map[key]*version{}, map[string]string{}
	for _, f := range files {
		namesake[f.units[0].source()] = f.at
	}
	inputs := last.Inputs()
	for i := range inputs {
		u := &inputs[i]
		was := g.old.Units[u.Name]
		at := cmp.Or(string(was.At), namesake[u.Input])
		k := key{at, u.SHA256, u.Input, u.Copy}
		v := known[k]
		if v == nil {
			v = &version{at: at, sum: u.SHA256, source: u.Input, copy: u.Copy, former: was.Former}
			known[k] = v
			if at != "" {
				g.before[at] = append(g.before[at], v)
			}
		}
		v.units = append(v.units, u)
		g.of[u.Name] = v
	}
	for _, all := range g.before {
		slices.SortStableFunc(all, func(a, b *version) int { return cmp.Compare(a.copy, b.copy) })
	}
}

// givenFile is an input file of this run, with its units.
type givenFile struct {
	at, sum string
	units   []Unit
	wants   []int // numbers that it had before, or that those had whose place it takes
}

func givenFiles(plan *Plan, at locator) (all []*givenFile) {
	for i, end := 0, 0; i < len(plan.Units); i = end {
		u := &plan.Units[i]
		for end = i + 1; end < len(plan.Units) && plan.Units[end].Input == u.Input; {
			end++
		}
		all = append(all, &givenFile{at: at.of(u.Input), sum: hex.EncodeToString(u.SHA256[:]), units: plan.Units[i:end]})
	}
	return all
}

// change decides about the files that lay where this one does.
func (g *growth) change(f *givenFile) error {
	was := g.before[f.at]
	if !g.o.Grow || len(was) == 0 {
		return nil
	}
	same := false
	for _, v := range was {
		if v.sum == f.sum {
			same, g.replaced[v] = true, true // the same file, though perhaps with other options
			f.wants = append(f.wants, v.copy)
		}
	}
	if same {
		return nil
	}
	for _, v := range was {
		if g.sums[v.sum] { // given elsewhere: it was moved
			g.replaced[v] = true
			continue
		}
		fate, err := g.compare(f, v)
		if err != nil {
			return err
		}
		if fate == "replaced" {
			g.replaced[v] = true
			f.wants = append(f.wants, v.copy)
		}
	}
	return nil
}

// compare tells whether a file that lay at the same place is replaced or stays.
func (g *growth) compare(f *givenFile, v *version) (string, error) {
	switch {
	case g.o.Changed == "refuse":
		return "", &ChangedError{Path: f.at, Refused: true}
	case g.o.Changed == "add", g.o.Changed == "replace" && v.former:
		return "added", nil
	case g.o.Changed == "replace", g.o.Compare == nil:
		return "replaced", nil
	}
	o, err := g.o.Compare(f.units, v.units)
	if err != nil {
		return "", err
	}
	fate := o.fate()
	if fate == "" {
		return "", &ChangedError{Path: f.at, Overlap: o}
	}
	return fate, nil
}

// number gives each file the number that tells it from its copies, and with it the names of its units. A file keeps the
// number that it had in the last commit, and a new version takes that of the version before, so that finished units are
// recognized by their names.
func (g *growth) number(plan *Plan, files []*givenFile) {
	n := numbering{g: g, plan: plan, taken: map[fileNumber]bool{}, marks: map[string]bool{}, copies: map[string]int{}}
	for _, v := range g.of {
		if g.o.Grow && !g.replaced[v] && (!g.sums[v.sum] || !v.former && !gone(v.at)) {
			n.taken[fileNumber{v.source, v.copy}] = true
			for _, u := range v.units {
				n.marks[u.Mark] = true
			}
		}
	}
	for _, again := range []bool{true, false} {
		for _, f := range files {
			if again == (len(f.wants) > 0) {
				n.file(f)
			}
		}
	}
}

// fileNumber tells the files of an output apart: no two share one.
type fileNumber struct {
	source string
	copy   int
}

type numbering struct {
	g      *growth
	plan   *Plan
	taken  map[fileNumber]bool
	marks  map[string]bool // of units of earlier runs that stay
	copies map[string]int  // by folder and content: the plan has all numbers below
}

func (n *numbering) file(f *givenFile) {
	first := &f.units[0]
	at := slices.IndexFunc(f.wants, func(k int) bool { return n.free(f, k) })
	if at >= 0 {
		first.Copy = f.wants[at]
	} else {
		for first.Copy = n.least(first, f.sum); !n.free(f, first.Copy); {
			first.Copy++
		}
	}
	n.taken[fileNumber{first.source(), first.Copy}] = true
	for i := range f.units {
		u := &f.units[i]
		u.Copy = first.Copy
		name := n.plan.Name(u)
		n.g.names[name], n.g.now.Units[name] = true, place{At: []byte(f.at)}
	}
}

// least returns the lowest number that no copy of a file in the plan has. It continues from the last one given out,
// since an archive may have thousands of copies.
func (n *numbering) least(first *Unit, sum string) int {
	u, of := *first, first.Folder+" "+sum
	for u.Copy = n.copies[of]; n.g.names[n.plan.Name(&u)]; {
		u.Copy++
	}
	n.copies[of] = u.Copy
	return u.Copy
}

// free tells whether a file may have a number: none of the plan has it, nor one
// of an earlier run that stays.
func (n *numbering) free(f *givenFile, k int) bool {
	u := f.units[0]
	u.Copy = k
	name := n.plan.Name(&u)
	if n.taken[fileNumber{u.source(), k}] || n.g.names[name] || n.plan.Mark != nil && len(n.marks) > 0 && n.marks[n.plan.Mark(&u)] {
		return false
	}
	was := n.g.old.Units[name]
	before := string(was.At)
	return !n.g.o.Grow || before == "" || before == f.at || was.Former || n.g.replaced[n.g.of[name]] || gone(before)
}
