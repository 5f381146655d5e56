package commit

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/velum-health/velum/pipeline/durable"
)

// Prepared is a run that has exclusive use of its trees and knows which of its units are done already. A run consists of
//
//	Prepare   settles units and names; adopts or removes what earlier processes of the run left
//	Do        processes some of the units and records them in a journal; may be called several times
//	Commit    reads all journals; does the last step and replaces the manifests
//
// and ends with Close. [RunUnits] calls all of them.
type Prepared struct {
	plan *Plan
	out  *Output
	fs   durable.FS
	of   *Planned // the plan
	o    UnitOptions
	made durable.Folders

	held    []io.Closer     // the locks
	turns   []*durable.Turn // the right to write in both trees; nil: this process does a share, see scratch
	unended bool            // an earlier run was not completed
	died    bool            // an earlier run may have removed parts without syncing their folders
	ended   bool            // this run was completed

	listed [2]*Manifest // manifest of each tree, as the last commits left them; nil: none
	old    *Manifest    // manifest of both trees together; nil: none

	committed map[string]*UnitRecord // units of old, by name
	growth    *growth
	kept      []UnitRecord // units that the plan does not have and that stay
	rests     []Unit       // new units for what is left of units of which the plan has no file
	keptBad   []BadInput
	mixed     bool // some of the kept units have ids made with another key

	joined  bool   // the plan was made by another process
	planned []bool // units that were done when the plan was made

	mu      sync.Mutex // guards Done calls and what follows, and the folders of the run
	touched bool       // something on the disk had to be changed
	records []*UnitRecord
	result  Result

	starts map[string]int // by unit: number of starts at which a note took too long
}

// Prepare locks the trees for a plan, determines which units are done already, and removes the temporary files of
// earlier starts. Errors are *durable.LockedError if another run holds the trees, *durable.IntegrityError if a manifest
// or journal cannot be read, or those of the file system.
func Prepare(plan *Plan, out Output, o UnitOptions) (*Prepared, error) {
	if err := errors.Join(out.Apart(), plan.check()); err != nil {
		return nil, err
	}
	r := newPrepared(plan, out, o)
	err := r.open()
	if err == nil {
		err = r.lost(r.recover())
	}
	if err == nil && o.Locked != nil {
		err = o.Locked()
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// newPrepared returns a Prepared with a copy of the plan, since Prepare may rename units.
func newPrepared(plan *Plan, out Output, o UnitOptions) *Prepared {
	out = out.withDefaults()
	mine := *plan
	mine.Units = slices.Clone(plan.Units)
	return &Prepared{plan: &mine, out: &out, fs: out.FS, of: plan.Planned(), o: o}
}

// Close releases the locks of the trees.
func (r *Prepared) Close() error {
	var errs []error
	for i, l := range r.held {
		// The folder is synced, because a lock file that comes back after a power cut would look like that of a run that did
		// not end.
		root := r.roots()[i]
		if i < len(r.turns) {
			errs = append(errs, r.turns[i].End())
		}
		if r.ended && i == 1 { // until then a finish goes on where this one dies
			errs = append(errs, durable.RemoveIfThere(r.fs, r.out.plan()))
		}
		errs = append(errs, l.Close(), r.fs.SyncDir(root))
	}
	return errors.Join(errs...)
}

// Todo returns the indexes of the units that are not done.
func (r *Prepared) Todo() []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	var todo []int
	for i, record := range r.records {
		if record == nil {
			todo = append(todo, i)
		}
	}
	return todo
}

func (r *Prepared) roots() [2]string { return [2]string{r.out.Dir, r.out.Private} }

// open takes the locks and the turns of both trees, and completes a commit that was killed.
func (r *Prepared) open() error {
	if err := r.lock(); err != nil {
		return err
	}
	err := r.takeTurns()
	if err == nil {
		err = r.rollForward()
	}
	return r.lost(err)
}

func (r *Prepared) lock() error {
	holder := durable.NewHolder(r.of.Run)
	for _, root := range r.roots() {
		err := durable.MkdirAll(r.fs, root)
		// A process that was killed may have created or renamed entries of this folder without syncing it. They are synced
		// before anything is removed because of them, since a power cut could otherwise lose both the old files and the new.
		if err == nil {
			err = r.fs.SyncDir(root)
		}
		var l io.Closer
		if err == nil {
			l, err = r.fs.Lock(filepath.Join(root, lockName), holder)
		}
		if err != nil {
			return err
		}
		r.held = append(r.held, l)
	}
	return nil
}

// Alone calls do while no run and no other caller of Alone holds the output; what says what the process does. The error is a
// *durable.LockedError if one does.
func (o Output) Alone(what string, do func() error) error {
	o = o.withDefaults()
	r := &Prepared{of: &Planned{Run: what}, out: &o, fs: o.FS}
	err := r.lock()
	if err == nil {
		err = do()
	}
	return errors.Join(err, r.Close())
}

// touch removes _SUCCESS from both trees before the first change to them. The commit writes it again.
func (r *Prepared) touch() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.touched {
		return nil
	}
	r.touched = true
	for _, private := range both {
		if err := r.remove(private, successName); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a file if it is there, durably.
func (r *Prepared) remove(private bool, name string) error {
	return r.turns[tree(private)].Remove(name, durable.RemoveIfThere)
}

// recover finds out what is done already, and removes what an earlier start
// left half done.
func (r *Prepared) recover() error {
	if err := r.earlier(); err != nil {
		return err
	}
	if r.o.Grow {
		if err := r.keep(); err != nil {
			return err
		}
	}
	if err := r.share(); err != nil {
		return err
	}
	for i := range r.plan.Units {
		u := &r.plan.Units[i]
		r.plan.label(u)
		for k := range u.Members {
			u.Members[k].set.Name = r.plan.Name(&u.Members[k])
		}
	}
	if err := r.foreign(); err != nil {
		return err
	}
	r.records = make([]*UnitRecord, len(r.plan.Units))
	if err := r.take(r.Todo(), false); err != nil {
		return err
	}
	for _, record := range r.records {
		r.planned = append(r.planned, record != nil)
	}
	return r.sweep()
}

// take adopts those of the given units that are done already.
func (r *Prepared) take(units []int, unread bool) error {
	known, err := r.known()
	if err != nil {
		return err
	}
	r.starts = map[string]int{}
	for name, u := range known {
		r.starts[name] = u.Starts
	}
	for _, i := range units {
		if err := r.adopt(i, known, unread); err != nil {
			return err
		}
	}
	return nil
}

// earlier reads the manifests of the last commit, and where its inputs lay.
func (r *Prepared) earlier() error {
	if err := r.readCommitted(); err != nil {
		return err
	}
	at, _, err := readPlaces(r.fs, r.out.Private)
	if err != nil {
		return err
	}
	r.growth, err = newGrowth(r.plan, r.out, r.old, at, &r.o)
	r.of = r.plan.Planned()
	return err
}

// readCommitted reads the last commit.
func (r *Prepared) readCommitted() (err error) {
	if r.old, err = r.lastCommit(); err != nil {
		return err
	}
	r.committed = map[string]*UnitRecord{}
	if r.old != nil {
		for i := range r.old.Units {
			r.committed[r.old.Units[i].Name] = &r.old.Units[i]
		}
		if r.died {
			return r.syncFolders(r.old, nil)
		}
	}
	return nil
}

// known returns the units that earlier starts did, by name; of a plan that was joined,
// those that any process did.
func (r *Prepared) known() (map[string]*UnitRecord, error) {
	known := map[string]*UnitRecord{}
	if !r.o.Fresh || r.joined {
		if err := r.journaled(known); err != nil {
			return nil, err
		}
	}
	if r.o.Fresh {
		return known, nil
	}
	for name, u := range r.committed {
		if have := known[name]; have == nil || !u.Unread {
			known[name] = u
		}
	}
	return known, nil
}

// lastCommit reads both manifests. With --fresh, one that cannot be read does
// not matter, unless the trees are to grow. A start that was killed between the
// two leaves them of two runs, which may have no unit in common: what each
// lists stays until the commit.
func (r *Prepared) lastCommit() (*Manifest, error) {
	for i, root := range r.roots() {
		m, err := readManifest(r.fs, root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && (!r.o.Fresh || r.o.Grow) {
			return nil, err
		}
		r.listed[i] = m
	}
	if r.listed[0] == nil || r.listed[1] == nil {
		return nil, nil
	}
	return committed(r.listed[0], r.listed[1]), nil
}

// rollForward completes a commit that was killed after it had replaced the private manifest and before the public one,
// which is a function of the private one. Otherwise the next run would find two trees that do not fit together.
func (r *Prepared) rollForward() error {
	if !r.unended {
		return nil
	}
	private, err := readManifest(r.fs, r.out.Private)
	if _, bad := errors.AsType[*durable.IntegrityError](err); bad || errors.Is(err, fs.ErrNotExist) {
		return nil // lastCommit says what is wrong
	}
	if err != nil {
		return err
	}
	public, err := private.public().MarshalFile()
	if err != nil || !private.Vouches(public) {
		return err
	}
	// Killed behind the rename of the private manifest, perhaps before its sync.
	if err := r.fs.SyncDir(r.out.Private); err != nil {
		return err
	}
	return r.place(false, manifestName, public)
}

// journaled adds the records of all journals of runs that did not end to known. There is one journal for each share of a
// plan. When a unit was recorded twice, the record without read errors counts.
func (r *Prepared) journaled(known map[string]*UnitRecord) error {
	entries, err := r.fs.ReadDir(r.out.journals())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if e.IsDir() {
			continue
		}
		lines, err := durable.ReadJournal(r.fs, filepath.Join(r.out.journals(), e.Name()), journalFormat)
		if err != nil {
			return err
		}
		for _, line := range lines {
			var u UnitRecord
			if json.Unmarshal(line, &u) != nil {
				break
			}
			if before := known[u.Name]; before == nil || before.Unread {
				known[u.Name] = &u
			}
		}
	}
	return nil
}

// adopt marks unit i as done if it is known and all its parts are sound. A unit whose input could not be read, or with
// a note that took too long, is tried again, unless unread is true and this plan has tried.
func (r *Prepared) adopt(i int, known map[string]*UnitRecord, unread bool) error {
	u := &r.plan.Units[i]
	record := known[r.plan.Name(u)]
	switch {
	case record == nil:
		return nil
	case unread && record.Run == r.of.Run: // as it is
	case record.Unread, !u.set.Again && slices.ContainsFunc(record.Members, func(m memberRecord) bool { return m.Unread }):
		return nil
	}
	if !u.set.Again { // else share has looked
		if damaged, err := r.damaged(record); err != nil || damaged != nil {
			return err
		}
	}
	mine := *record
	mine.Input, mine.Config, mine.Model, mine.Run = u.source(), "", "", ""
	if u.set.Rest != nil {
		of := r.elsewhere(r.whole(u.set.Rest))
		mine.Config, mine.Model = of.Config, of.Model
	}
	r.records[i] = &mine
	r.result.Reused++
	if r.o.Done != nil {
		r.o.Done(&mine, true)
	}
	return nil
}

// sweep removes temporary files, and parts that no manifest and no record
// knows. Files that velum did not name stay.
func (r *Prepared) sweep() error {
	keep := pathsOf(r.listed[:]...)
	for _, record := range r.records {
		if record != nil {
			for _, p := range record.Parts {
				keep[tree(p.Private)][p.Path] = true
			}
		}
	}
	_, err := r.fs.Stat(r.out.plan())
	if err == nil { // of a run that did not end: there is one a time
		err = errors.Join(r.touch(), r.remove(true, planName))
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for i, private := range both {
		if err := r.sweepRuns(private); err != nil {
			return err
		}
		if _, err := r.sweepDir(private, "", keep[i]); err != nil {
			return err
		}
	}
	return nil
}

// both lists the two trees by the value of PartRecord.Private, in the order of Prepared.roots: public, private.
var both = [2]bool{false, true}

func tree(private bool) int {
	if private {
		return 1
	}
	return 0
}

// sweepRuns removes the temporary files of shards, and journals that are not to count. Journals of other plans stay until a
// run ends: equal names of units mean equal parts.
func (r *Prepared) sweepRuns(private bool) error {
	if !r.unended {
		return nil
	}
	entries, err := r.fs.ReadDir(filepath.Join(r.out.root(private), runsName))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	err = errors.Join(err, r.touch())
	for _, e := range entries {
		name := path.Join(runsName, e.Name())
		if err == nil && e.IsDir() {
			err = r.turns[tree(private)].Remove(name, durable.RemoveAll)
		} else if err == nil && r.o.Fresh {
			err = r.remove(private, name)
		}
	}
	return err
}

// sweepDir removes stray parts below a folder and tells whether anything is
// left in it.
func (r *Prepared) sweepDir(private bool, dir string, keep map[string]bool) (left bool, err error) {
	root := r.out.root(private)
	entries, err := r.fs.ReadDir(filepath.Join(root, dir))
	if err != nil {
		return true, err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		stays := true
		switch {
		case strings.ContainsAny(e.Name()[:1], "._"): // not ours, or swept by itself
		case e.IsDir():
			stays, err = r.sweepDir(private, name, keep)
		case dir != "" && !keep[name] && strings.HasPrefix(e.Name(), "part-"):
			if err = r.touch(); err == nil {
				err = r.remove(private, name)
			}
			stays = false
		}
		if err != nil {
			return true, err
		}
		left = left || stays
	}
	if left || dir == "" {
		return true, nil
	}
	at := filepath.Join(root, dir)
	if err := r.fs.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	return false, r.fs.SyncDir(filepath.Dir(at))
}
