package commit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/velum-health/velum/pipeline/durable"
)

// A unit needs about ten files that are opened, synced and read again, so small files share units. The rest of the package
// deals with single files: a plan has a unit for each file, and growth decides about each file. Only after that, share
// bundles new files, and assigns the committed units to their files:
//
//	all files of a shared unit are given, or stay                    the unit stays as it is
//	some of its files are forgotten, replaced or removed             its other files stay, in a new unit, the rest
//	all of its files are                                             the unit is removed
//
// A committed unit of a single file is bundled with later files when there are enough of them, unless its parts must stay
// as they are (UnitOptions.Stands).
//
// The bundles depend only on the plan and the last commit, and not on a journal, so a run that is continued makes the same
// bundles. A rest is copied from the parts of its unit without the rows of the removed files. It does not need the input
// files, which may no longer exist.

const (
	leastMembers = 16      // fewer small files of a folder are units of their own: a year of small months stays twelve units
	mostMembers  = 4096    // a record of a unit is a line of the journal
	mostShared   = 4 << 20 // bytes of files that share a unit: a second of work, which is what a crash loses
)

// rest says which files of a committed shared unit stay when other files of it go.
type rest struct {
	Of   string         `json:"of"` // name of the unit
	Keep []memberRecord `json:"keep"`
}

func (x *rest) name(to io.Writer) {
	fmt.Fprintln(to, "velum rest of a unit 1\n", x.Of)
	for i := range x.Keep {
		fmt.Fprintln(to, x.Keep[i].Name)
	}
}

// stays reports whether a row of the unit belongs to a file that stays.
func (x *rest) stays(row int64) bool {
	i, found := slices.BinarySearchFunc(x.Keep, row, func(m memberRecord, row int64) int { return cmp.Compare(m.First, row) })
	return found || i > 0 && row < x.Keep[i-1].First+x.Keep[i-1].Rows
}

// unit is the work of making the rest.
func (x *rest) unit(of *UnitRecord) Unit {
	u := Unit{Source: of.Input, Folder: folderOf(of), Copy: of.Copy, set: settled{Rest: x}}
	sum, _ := hex.DecodeString(of.SHA256) // of a manifest that was parsed; its name has four bytes of it
	copy(u.SHA256[:], sum)
	for i := range x.Keep {
		u.Rows += x.Keep[i].Rows
	}
	return u
}

// folderOf returns the folder of a unit's parts, relative to masked/ and the other folders of a tree.
func folderOf(u *UnitRecord) string {
	if len(u.Parts) == 0 {
		return ""
	}
	_, folder, _ := strings.Cut(path.Dir(u.Parts[0].Path), "/")
	return folder
}

// A rester copies those rows of a committed unit's parts that stay, and counts them. of is the committed unit, open
// opens its parts, stays says which rows stay.
type rester func(parts *Parts, of *UnitRecord, open func(PartRecord) (durable.File, error), stays func(row int64) bool) (Counts, error)

// sharing settles which files share units.
type sharing struct {
	*Prepared
	at    map[string]int // place in the plan of a file, by name
	units [][]Unit       // that stand at the place of a file of the plan, in its stead
	taken []bool         // files of the plan that a committed unit has
}

// share takes over what shared units have of the plan, and bundles what is new.
func (r *Prepared) share() error {
	s := newSharing(r)
	for i := range r.plan.Units {
		s.at[r.plan.Name(&r.plan.Units[i])] = i
	}
	if r.old != nil {
		for i := range r.old.Units {
			u := &r.old.Units[i]
			if len(u.Members) > 0 {
				if err := s.committed(u); err != nil {
					return err
				}
			} else if at, given := s.at[u.Name]; given && r.o.Stands != nil && r.o.Stands(u) {
				s.units[at], s.taken[at] = append(s.units[at], r.plan.Units[at]), true
			}
		}
	}
	r.plan.Units = append(s.bundle(), r.rests...)
	return nil
}

func newSharing(r *Prepared) *sharing {
	return &sharing{Prepared: r, at: map[string]int{}, units: make([][]Unit, len(r.plan.Units)), taken: make([]bool, len(r.plan.Units))}
}

// committed decides about a shared unit of the last commit.
func (s *sharing) committed(u *UnitRecord) error {
	x := &rest{Of: u.Name}
	var given []int
	var away []UnitRecord // files that are not given and stay
	for k, f := range u.Files() {
		if i, there := s.at[f.Name]; there {
			if s.o.Fresh || f.Unread {
				continue // done again
			}
			given = append(given, i)
		} else if s.o.Grow && stays(s.growth.fate(&f)) {
			away = append(away, f)
		} else {
			continue
		}
		x.Keep = append(x.Keep, u.Members[k])
	}
	if len(x.Keep) == 0 {
		return nil
	}
	if damaged, err := s.damaged(u); err != nil || damaged != nil {
		if len(away) > 0 {
			return cmp.Or[error](err, damaged)
		}
		return err // what is given is done again
	}
	for i := range away {
		s.growth.away(&away[i])
	}
	for _, i := range given {
		s.taken[i] = true
	}
	if len(x.Keep) == len(u.Members) && len(given) == 0 {
		s.kept = append(s.kept, *s.elsewhere(u))
		return nil
	}
	unit := x.unit(u)
	if len(x.Keep) == len(u.Members) {
		unit.set = settled{Name: u.Name, Again: true}
	}
	if len(given) == 0 {
		s.rests = append(s.rests, unit)
	} else {
		s.units[given[0]] = append(s.units[given[0]], unit)
	}
	return nil
}

// bundle makes units of the small files that no committed unit is to keep, and returns all units.
func (s *sharing) bundle() (all []Unit) {
	for _, b := range bundles(s.plan.Units, s.taken) {
		s.units[b.files[0]] = append(s.units[b.files[0]], b.unit(s.plan.Units))
		for _, i := range b.files {
			s.taken[i] = true
		}
	}
	for i, u := range s.plan.Units {
		all = append(all, s.units[i]...)
		if !s.taken[i] {
			all = append(all, u)
		}
	}
	return all
}

// Shared returns the units of the plan, with small files bundled, as if nothing had been committed before.
func (p *Plan) Shared() []Unit { return newSharing(&Prepared{plan: p}).bundle() }

// bundle is small files that are to share a unit, by their places in the plan.
type bundle struct {
	files []int
	shelf bool // their folders are several
}

// bundles groups small files by their folder. Files of folders with too few of them are grouped by the folder above
// that names a period (a month, say), or otherwise by that of the archive.
func bundles(units []Unit, taken []bool) (all []bundle) {
	left := make([]bool, len(units))
	for i := range units {
		left[i] = units[i].Small > 0 && !taken[i]
	}
	for _, shelf := range []bool{false, true} {
		by, order := map[string][]int{}, []string(nil)
		for i := range units {
			if !left[i] || shelf && units[i].Shelf == nil {
				continue
			}
			folder := units[i].Folder
			if shelf {
				folder = *units[i].Shelf
			}
			if by[folder] == nil {
				order = append(order, folder)
			}
			by[folder] = append(by[folder], i)
		}
		for _, folder := range order {
			if len(by[folder]) < leastMembers {
				continue
			}
			for _, files := range cut(units, by[folder]) {
				all = append(all, bundle{files, shelf})
			}
			for _, i := range by[folder] {
				left[i] = false
			}
		}
	}
	return all
}

// cut divides files into bundles within the limits of number and size. A single file that is left over makes no bundle.
func cut(units []Unit, files []int) (all [][]int) {
	for len(files) > 0 {
		n, bytes := 0, int64(0)
		for n < min(len(files), mostMembers) && (n == 0 || bytes+units[files[n]].Small <= mostShared) {
			bytes += units[files[n]].Small
			n++
		}
		if n > 1 {
			all = append(all, files[:n])
		}
		files = files[n:]
	}
	return all
}

// unit returns the unit that the files of the bundle share.
func (b *bundle) unit(units []Unit) Unit {
	first := &units[b.files[0]]
	u := Unit{Input: first.Input, Source: path.Join(path.Dir(first.source()), "*"), Folder: first.Folder, Copy: first.Copy}
	if b.shelf {
		u.Source, u.Folder = path.Join(*first.Shelf, "*"), *first.Shelf
	}
	h := sha256.New()
	for _, i := range b.files {
		m := units[i]
		m.First = u.Rows
		u.Rows += m.Rows
		u.Members = append(u.Members, m)
		fmt.Fprintf(h, "%x %d\n", m.SHA256, m.Copy)
	}
	h.Sum(u.SHA256[:0])
	return u
}

// members returns the records of the files that share the unit.
func (p *Plan) members(u *Unit) (all []memberRecord) {
	for i := range u.Members {
		m := &u.Members[i]
		all = append(all, memberRecord{
			Name: p.Name(m), Input: m.source(), SHA256: hex.EncodeToString(m.SHA256[:]), Copy: m.Copy, From: m.From, To: m.To, First: m.First,
			Rows: m.Rows,
		})
	}
	return all
}

// damaged returns an error if parts of an earlier unit are not what their records say. Parts of the last commit are
// checked as the options say. Those of this plan are checked by length: each was synced and re-read before it was
// journaled. Those of a run that ended before its commit are read.
func (r *Prepared) damaged(u *UnitRecord) (*durable.IntegrityError, error) {
	byLength := r.joined
	if r.committed[u.Name] == u {
		byLength = r.o.ByLength
	}
	return r.unlike(u, byLength)
}

// unlike returns an error that names a part of a unit that is not as it was written, or nil.
func (r *Prepared) unlike(u *UnitRecord, byLength bool) (*durable.IntegrityError, error) {
	for _, p := range u.Parts {
		kind, err := partState(r.fs, r.out.root(p.Private), p, byLength)
		if err != nil {
			return nil, err
		}
		if kind != "" {
			return &durable.IntegrityError{Path: r.out.file(p),
				Cause: fmt.Sprintf("is %s since it was written; its input, %s, is not given: give it again, or forget it", kind,
					cmp.Or(r.growth.old.at(u.Name), u.Input))}, nil
		}
	}
	return nil, nil
}

// whole returns the committed unit of which a rest is made. If a later commit has begun, the unit may have been
// removed; then the record holds only its name.
func (r *Prepared) whole(x *rest) *UnitRecord {
	return cmp.Or(r.committed[x.Of], &UnitRecord{Name: x.Of})
}

// elsewhere returns the record of a unit that stays, as the next manifest lists it: with the configuration and model it
// was made with where these differ from those of this run.
func (r *Prepared) elsewhere(u *UnitRecord) *UnitRecord {
	mine := *u
	mine.Config = unless(cmp.Or(u.Config, r.old.Config), r.of.Config)
	mine.Model = unless(cmp.Or(u.Model, r.old.Model), r.of.Model)
	return &mine
}

// remainder makes the rest of a unit.
func (r *doing) remainder(x *rest, parts *Parts, record *UnitRecord) (err error) {
	of := r.elsewhere(r.whole(x))
	record.Mark, record.Members, record.Config, record.Model = of.Mark, x.Keep, of.Config, of.Model
	// The rest must not be made from a part that is not as it was written.
	if changed, err := r.unlike(of, false); err != nil || changed != nil {
		return cmp.Or[error](err, changed)
	}
	if r.o.Rest == nil {
		return errors.New("a file of a shared unit goes, and nobody says how the others stay")
	}
	record.Counts, err = r.o.Rest(parts, of, func(p PartRecord) (durable.File, error) {
		return r.fs.OpenFile(r.out.file(p), 0, 0)
	}, x.stays)
	if err != nil {
		return fmt.Errorf("what is left of a unit: %w", err)
	}
	rows := int64(0)
	for i := range x.Keep {
		rows += x.Keep[i].Rows
	}
	return record.conserved(rows, rows)
}
