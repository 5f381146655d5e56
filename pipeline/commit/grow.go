package commit

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline/durable"
)

// An output can grow: units that an earlier run committed stay in it even if the present plan does not have them, unless
// their input is given again. The first line that applies decides what becomes of such a unit:
//
//	the plan has the unit                                   done
//	Forget returns true for it                              removed
//	its file is given, and is now another version           replaced
//	its content is given at a path where it did not lie     moved
//	its content is given, and its old file is gone          moved
//	its file is gone from below one of the roots            as the option Vanished says
//	otherwise                                               kept
//
// A file is identified by its path after links are followed: see places. The old file of a moved one may still exist, as
// when an archive is copied and mounted elsewhere. If one run is given the same content twice, these are two files. Files
// of several months may lie at the same path one after the other: see change.go.

// A Change describes what a run would do with one input file.
type Change struct {
	Input string `json:"input"`          // name in the private manifest
	Path  string `json:"path,omitempty"` // where the file is or was; "" if unknown
	Fate  string `json:"fate"`           // done, added, moved, replaced, kept, vanished (and kept), removed
	Rows  int64  `json:"rows"`
	Units int    `json:"units"`
	After bool   `json:"after,omitempty"` // the file was added at a path where another lay before, which stays in the output
	From  string `json:"from,omitempty"`  // if the file was moved: where it was before
	Twin  string `json:"twin,omitempty"`  // another file with the same content, and so the same notes
}

// Changes returns what a run would do with its inputs and with those of earlier runs. It changes nothing and takes no
// lock. Errors are those of Prepare.
func Changes(plan *Plan, out Output, o UnitOptions) ([]Change, error) {
	if err := plan.check(); err != nil {
		return nil, err
	}
	r := newPrepared(plan, out, o)
	if err := r.earlier(); err != nil {
		return nil, err
	}
	units, err := r.known()
	if err != nil {
		return nil, err
	}
	known := map[string]*UnitRecord{}
	for _, u := range units {
		for _, f := range u.Files() {
			known[f.Name] = &f
		}
	}
	return r.changes(known), nil
}

// growth decides what becomes of units of the last commit that the plan does not have: they stay, are replaced, or are
// removed. It holds what this run was given, and what the last commit had.
type growth struct {
	names map[string]bool // of units
	files map[string]bool // locations, of files that cannot be read as well
	sums  map[string]bool // contents

	folders map[string]bool // of the files
	roots   []string

	before   map[string][]*version // earlier files by location, in their order
	replaced map[*version]bool     // those that make way for a file at their location, or for themselves in another
	of       map[string]*version   // by name of the unit
	from     map[string]string     // where a file lay before that lies elsewhere now, by location

	old *places
	now *places // of the units that the manifest will have
	o   *UnitOptions
}

// newGrowth also settles the numbers of the files, and with them the names of
// the units. Errors are *ChangedError, and those of UnitOptions.Compare.
func newGrowth(plan *Plan, out *Output, last *Manifest, old *places, o *UnitOptions) (*growth, error) {
	g := &growth{names: map[string]bool{}, files: map[string]bool{}, sums: map[string]bool{}, folders: map[string]bool{}, old: old,
		from: map[string]string{}, now: noPlaces(), o: o}
	g.now.Output = []byte(resolve(out.Dir))
	at := locator{}
	files := givenFiles(plan, at)
	g.remember(last, files)
	for i := range plan.BadInputs {
		b := &plan.BadInputs[i]
		if b.Path != "" {
			g.files[at.of(b.Path)], g.now.Bad[badKey(b)] = true, []byte(at.of(b.Path))
		}
	}
	for _, root := range plan.Roots {
		g.roots = append(g.roots, resolve(root))
	}
	for _, f := range files {
		g.files[f.at], g.sums[f.sum], g.folders[filepath.Dir(f.at)] = true, true, true
	}
	if o.Grow {
		g.move(files)
	}
	for _, f := range files {
		if err := g.change(f); err != nil {
			return nil, err
		}
	}
	g.number(plan, files)
	return g, nil
}

// move finds files that were moved: their content is given at a place where it did not lie before. The earlier file is
// then replaced by it. If the earlier file is given again as well, both stay. Files whose ids contain their path are
// the same only if they have the same path below the archive, or if the earlier one is gone.
func (g *growth) move(files []*givenFile) {
	again, arrived := map[[2]string]bool{}, map[string][]*givenFile{}
	for _, f := range files {
		again[[2]string{f.at, f.sum}] = true
		if !slices.ContainsFunc(g.before[f.at], func(v *version) bool { return v.sum == f.sum }) {
			arrived[f.sum] = append(arrived[f.sum], f)
		}
	}
	for _, v := range g.of {
		for _, f := range arrived[v.sum] {
			if again[[2]string{v.at, v.sum}] || f.units[0].Placed && f.units[0].source() != v.source && !gone(v.at) {
				continue
			}
			if !g.replaced[v] {
				g.replaced[v] = true
				f.wants = append(f.wants, v.copy)
				slices.Sort(f.wants)
			}
			if from := g.from[f.at]; from == "" || v.at < from {
				g.from[f.at] = v.at
			}
		}
	}
}

// places returns where the inputs lie: those of the last commit, and those of this run.
func (g *growth) places() *places {
	all := noPlaces()
	all.Output = g.now.Output
	for _, at := range []*places{g.old, g.now} {
		maps.Copy(all.Units, at.Units)
		maps.Copy(all.Bad, at.Bad)
	}
	return all
}

// fate tells what becomes of an input of the last commit: "done" if the plan has it.
func (g *growth) fate(u *UnitRecord) string {
	if g.names[u.Name] {
		return "done"
	}
	return g.fateAt(u, g.old.at(u.Name))
}

// fateAt is fate for an input that the plan does not have, and where it lay.
func (g *growth) fateAt(u *UnitRecord, at string) string {
	former := g.old.Units[u.Name].Former
	switch {
	case !g.o.Grow || g.o.Forget != nil && g.o.Forget(u, at):
		return "removed"
	case strings.HasSuffix(at, "/*.txt") && g.folders[filepath.Dir(at)]: // of a version to which the notes of a folder were one file
		return "replaced"
	case g.replaced[g.of[u.Name]], g.sums[u.SHA256] && (former || gone(at)):
		return "replaced"
	case at == "" || former || !gone(at) || !below(at, g.roots):
		return "kept"
	case g.o.Vanished == "remove":
		return "removed"
	}
	return "vanished"
}

// badFate is fate for an input that could not be read. One that was no file of notes is removed from the list as soon
// as it is gone, since the output has nothing of it.
func (g *growth) badFate(b *BadInput, at string) string {
	if g.o.Grow && at != "" && g.files[at] {
		return "replaced"
	}
	if b.Other && gone(at) {
		return "removed"
	}
	return g.fateAt(&UnitRecord{Input: b.Input, SHA256: b.SHA256}, at)
}

// gone reports whether a file no longer exists, or its location is unknown. A file that cannot be looked at counts as
// there.
func gone(at string) bool {
	if at == "" {
		return true
	}
	_, err := os.Lstat(at)
	return errors.Is(err, fs.ErrNotExist)
}

func stays(fate string) bool { return fate == "kept" || fate == "vanished" }

// keep finds out what of the last commit stays, and that it is whole.
func (r *Prepared) keep() error {
	if err := r.orphans(); err != nil || r.old == nil {
		return err
	}
	var vanished []string
	for _, u := range r.old.Inputs() {
		fate := r.growth.fate(&u)
		if !stays(fate) {
			continue
		}
		if fate == "vanished" {
			vanished = append(vanished, cmp.Or(r.growth.old.at(u.Name), u.Input))
		}
		r.mixed = r.mixed || r.old.Key != r.of.Key
		if r.committed[u.Name] == nil {
			continue // it shares a unit
		}
		if err := r.keepUnit(r.committed[u.Name]); err != nil {
			return err
		}
	}
	for _, b := range r.old.BadInputs {
		key := badKey(&b)
		at := r.growth.old.Bad[key]
		if _, again := r.growth.now.Bad[key]; !again && stays(r.growth.badFate(&b, string(at))) {
			r.keptBad = append(r.keptBad, b)
			r.growth.now.Bad[key] = at
		}
	}
	return r.mayKeep(vanished)
}

// mayKeep returns an error if units of the last commit may not stay beside those of this run: the options refuse it, or
// ids were made with another key.
func (r *Prepared) mayKeep(vanished []string) error {
	if len(vanished) > 0 && r.o.Vanished == "refuse" {
		return &durable.IntegrityError{Path: slices.Min(vanished),
			Cause: "is in the output and not in the archive any more, which run.vanished refuses; with keep its notes stay, with remove they go"}
	}
	if r.mixed {
		return &OutputError{fmt.Sprintf("%s was made with the key %q, not %q: the same note would have two ids", r.out.Dir, r.old.Key, r.of.Key),
			"give the key of before, or write elsewhere"}
	}
	return nil
}

// orphans refuses two trees whose manifests do not list the same units, unless every unit that only the private one
// lists is given again. A run that was killed does not leave such trees (see pending), except the first one, which has
// committed nothing.
func (r *Prepared) orphans() error {
	if r.listed[0] == nil && r.unended {
		return nil
	}
	orphan := false
	if m := r.listed[1]; m != nil {
		for i := range m.Units {
			if r.committed[m.Units[i].Name] != nil {
				continue
			}
			for _, u := range m.Units[i].Files() {
				orphan = orphan || stays(r.growth.fate(&u))
			}
		}
	}
	known := pathsOf(r.listed[1])
	for p := range r.listed[0].all {
		orphan = orphan || !known[0][p.Path]
	}
	if orphan {
		return &durable.IntegrityError{Path: filepath.Join(r.out.Dir, manifestName),
			Cause: "is not of the same run as that of " + r.out.Private + ", and not all of their inputs are given again"}
	}
	return nil
}

// keepUnit takes an earlier unit over.
func (r *Prepared) keepUnit(u *UnitRecord) error {
	if damaged, err := r.damaged(u); err != nil || damaged != nil {
		return cmp.Or[error](err, damaged)
	}
	r.kept = append(r.kept, *r.elsewhere(u))
	r.growth.away(u)
	return nil
}

// away records the location of an earlier input that is not given now and stays in the output.
func (g *growth) away(u *UnitRecord) {
	was := g.old.Units[u.Name]
	was.Former = was.Former || g.files[string(was.At)]
	g.now.Units[u.Name] = was
}

// unless returns s, or "" if s is the usual value, which is not written.
func unless(s, usual string) string {
	if s == usual {
		return ""
	}
	return s
}

// merge lists what stays among what the plan has: in the order of the files,
// as if all had been given at once.
func (r *Prepared) merge(m *Manifest) {
	shared := slices.ContainsFunc(m.Units, func(u UnitRecord) bool { return len(u.Members) > 0 })
	if len(r.kept)+len(r.keptBad) == 0 && !shared {
		return
	}
	now := r.growth.now
	m.Units = append(m.Units, r.kept...)
	place := map[string]string{}
	for i := range m.Units {
		first := m.Units[i].Files()[0]
		place[m.Units[i].Name] = cmp.Or(now.at(first.Name), first.Input)
	}
	slices.SortStableFunc(m.Units, func(a, b UnitRecord) int {
		return cmp.Or(cmp.Compare(place[a.Name], place[b.Name]), cmp.Compare(a.Copy, b.Copy), cmp.Compare(a.From, b.From))
	})
	m.BadInputs = append(slices.Clone(m.BadInputs), r.keptBad...)
	slices.SortStableFunc(m.BadInputs, func(a, b BadInput) int {
		return cmp.Compare(cmp.Or(string(now.Bad[badKey(&a)]), a.Input), cmp.Or(string(now.Bad[badKey(&b)]), b.Input))
	})
}

// changes lists what becomes of every input: first those given now, then those of the last commit.
func (r *Prepared) changes(known map[string]*UnitRecord) []Change {
	var all []Change
	byFile, bySum := map[string]int{}, map[string]string{}
	add := func(c Change, sum string, done bool) {
		at := cmp.Or(c.Path, c.Input)
		key := at + " " + sum
		i, there := byFile[key]
		if !there {
			byFile[key] = len(all)
			if c.Fate != "removed" && c.Rows > 0 {
				if c.Twin = bySum[sum]; c.Twin == "" {
					bySum[sum] = at
				}
			}
			all = append(all, c)
			return
		}
		all[i].Rows += c.Rows
		all[i].Units++
		if all[i].Fate == "done" && !done {
			all[i].Fate = c.Fate
		}
	}
	g := r.growth
	for i := range r.plan.Units {
		u := &r.plan.Units[i]
		name, sum := r.plan.Name(u), hex.EncodeToString(u.SHA256[:])
		at := g.now.at(name)
		c := Change{Input: u.source(), Path: at, Fate: "added", Rows: u.Rows, Units: 1, From: g.from[at]}
		record := known[name]
		done := record != nil && !record.Unread && !r.o.Fresh
		switch {
		case done:
			c.Fate = "done"
		case c.From != "":
			c.Fate = "moved"
		case r.givesWay(at):
			c.Fate = "replaced"
		default:
			c.After = r.o.Grow && len(g.before[at]) > 0
		}
		add(c, sum, done)
	}
	if r.old == nil {
		return all
	}
	for _, u := range r.old.Inputs() {
		at := g.old.at(u.Name)
		if fate := g.fate(&u); stays(fate) || fate == "removed" && !g.files[at] {
			add(Change{Input: u.Input, Path: at, Fate: fate, Rows: u.Rows, Units: 1}, u.SHA256, false)
		}
	}
	return all
}

// givesWay tells whether an earlier file gives way to the one that is given in its place.
func (r *Prepared) givesWay(at string) bool {
	return slices.ContainsFunc(r.growth.before[at], func(v *version) bool { return r.growth.replaced[v] || !r.o.Grow })
}
