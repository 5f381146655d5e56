// Package commit writes the results of a run to disk so that a reader always finds either the complete run or the
// complete previous one.
//
// A [Unit] is processed and made durable as a whole, and recorded in a journal. When all units of a [Plan] are done,
// one rename replaces the [Manifest], and from then on only the files that it lists count ([RunUnits]). [durable.Draft]
// does the same for a folder, and package promote for the model in use. All file operations go through [durable.FS].
package commit

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
)

// UnitOptions holds the options of RunUnits. The zero value works.
type UnitOptions struct {
	// Grow keeps units that earlier runs committed and the plan does not have: see Changes. Otherwise they are removed.
	Grow     bool
	Vanished string   // keep, remove or refuse what has gone from below a root; "" means keep
	Changed  string   // what becomes of a file at whose path another lay: add, replace or refuse; "" asks Compare
	Compare  comparer // nil: a file at whose path another lay is a new version of it
	// Forget reports whether a unit of an earlier run is to be removed, given its record and where its input lay ("" if
	// that is not known). nil: none is removed.
	Forget func(u *UnitRecord, at string) bool

	Rest rester // copies what is left of a unit when some of its files are removed

	// Stands reports whether a committed unit of one small file must stay as it is, so that no other file is added to
	// it: people have read a sample of it, say. nil: small files are bundled.
	Stands func(u *UnitRecord) bool
	// ByLength checks parts of the last commit by existence and length alone. Otherwise every byte of them is read.
	ByLength bool

	AtOnce  int             // number of units done at the same time; 0 means 1
	Fresh   bool            // do everything again, whatever is done already
	Attempt string          // name for this process' temporary files and journals, if other processes may do the same share
	Verify  verifier        // re-reads every Parquet part; nil: sizes only
	Stats   *pipeline.Stats // may be nil

	// Locked is called by Prepare while it holds the locks of the trees, before any unit is done. An error stops the run. May be nil.
	Locked func() error

	// Done is called for every unit, whether done now or before, one call at a time. May be nil.
	Done func(u *UnitRecord, reused bool)

	// Finish is the last step: when all units are done it may write files of
	// its own before the run is committed. It must be deterministic. An error
	// stops the commit. It is not called when nothing changed. May be nil.
	Finish func(ctx context.Context, f *Final) error

	// LastStep identifies settings of Finish that are not part of the plan's configuration: Finish is called again if
	// the last commit has another LastStep. May be empty.
	LastStep string
}

// Final gives the last step of a run access to the trees: the manifest, the parts of the units, and the creation of
// files.
type Final struct {
	Manifest *Manifest    // of both trees, with the counts of the whole run; Files is empty
	Before   []PartRecord // files that the last step of the last commit wrote
	parts    Parts
	kept     []PartRecord
	disk     durable.Witness
	mu       sync.Mutex // of parts and kept: several workers may write files
}

// Create creates a file of the last step; path is relative to the tree, with slashes.
func (f *Final) Create(kind, path string, private bool) (*Part, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.parts.create(kind, path, private)
}

// Settle makes a complete file durable and verifies it by reading it again. Files that are not settled earlier are
// settled at the end.
func (f *Final) Settle(p *Part) error { return f.parts.settle(p) }

// Keep reuses a part of the previous last step (Before) without change; false if it is no longer there in the same
// state.
func (f *Final) Keep(p PartRecord) (bool, error) {
	kind, err := f.parts.run.state(p)
	if err != nil || kind != "" {
		return false, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = append(f.kept, p)
	return true, nil
}

// Open opens a part that a unit has written.
func (f *Final) Open(p PartRecord) (durable.File, error) {
	return f.open(f.parts.run.out.file(p))
}

func (f *Final) open(name string) (durable.File, error) {
	file, err := f.parts.run.fs.OpenFile(name, 0, 0)
	if err != nil {
		return nil, err
	}
	return f.disk.Watch(file), nil
}

// Staged is a part of the private tree of which the last step makes public parts.
type Staged struct {
	PartRecord
	Open func() (durable.File, error)
}

// Staged returns the private parts of a kind: those of units, whose bytes it checks, and those that the last step has kept
// or settled. The error is a *durable.IntegrityError if a part is missing or changed.
func (f *Final) Staged(kind string) (all []Staged, err error) {
	add := func(parts []PartRecord) {
		for _, p := range parts {
			if p.Kind == kind && p.Private && err == nil {
				all = append(all, Staged{p, func() (durable.File, error) { return f.Open(p) }})
				err = f.Intact(p)
			}
		}
	}
	for i := range f.Manifest.Units {
		add(f.Manifest.Units[i].Parts)
	}
	add(f.kept)
	for _, p := range f.parts.parts {
		if p.Kind == kind && p.Private {
			all = append(all, f.Passed(p))
		}
	}
	return all, err
}

// Intact checks the bytes of a part that a unit has written. The error is a *durable.IntegrityError if it is missing or changed.
func (f *Final) Intact(p PartRecord) error {
	out := f.parts.run.out
	state, err := partState(f.parts.run.fs, out.root(p.Private), p, false)
	if state != "" {
		err = changed(out.file(p))
	}
	return err
}

func changed(name string) error {
	return &durable.IntegrityError{Path: name,
		Cause: "is missing or changed since it was written; run.recheck=0d does again what is given, and names the input of what is not"}
}

// Passed is a part of the last step that is settled and has no name yet.
func (f *Final) Passed(p *Part) Staged {
	return Staged{p.record(), func() (durable.File, error) { return f.open(p.tmp) }}
}

// Drop takes back a part that was only passing.
func (f *Final) Drop(p *Part) error {
	f.parts.parts = slices.DeleteFunc(f.parts.parts, func(q *Part) bool { return p == q })
	return durable.RemoveIfThere(f.parts.run.fs, p.tmp)
}

// Read returns the content of a part that a unit has written, after checking it. The error is a *durable.IntegrityError
// if the part is missing or changed.
func (f *Final) Read(p PartRecord) ([]byte, error) {
	name := f.parts.run.out.file(p)
	data, err := durable.ReadFile(f.parts.run.fs, name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil || digest(data) != p.SHA256 {
		return nil, changed(name)
	}
	return data, nil
}

// Result holds the outcome of RunUnits.
type Result struct {
	Manifest *Manifest  // of both trees
	Bad      []BadInput // files of the plan that could not be read
	Kept     int        // units of earlier runs that the plan does not have
	Done     int        // units done now
	Reused   int        // units that were done already
	Nothing  bool       // nothing had to be done or repaired: the trees are unchanged
}

// RunUnits does the units of a plan and commits them as a whole:
//
//	line -> temporary parts -> fsync -> re-read -> rename -> fsync folder -> journal
//	all units -> last step -> private manifest -> manifest (the commit) -> old parts removed -> _SUCCESS
//
// A run that follows a crash, or that has another plan, processes only the units whose parts do not exist yet; the trees
// end up byte-identical to those of an undisturbed run. line is called for every unit that has to be processed.
//
// Errors: *durable.LockedError if another run holds the trees; *durable.IntegrityError if notes were lost or a part does
// not read as it was written; ENOSPC or EDQUOT if the disk or a quota is full; errors for which durable.DiskFailed is
// true; the cause of ctx. The next run continues from there. If the source of a unit returns a *DamageError, all rows of
// the unit go to quarantine, and the run continues.
func RunUnits(ctx context.Context, plan *Plan, out Output, line makeLine, o UnitOptions) (*Result, error) {
	r, err := Prepare(plan, out, o)
	if err != nil {
		return nil, err
	}
	result, err := r.run(ctx, line)
	return result, errors.Join(err, r.Close())
}

func (r *Prepared) run(ctx context.Context, line makeLine) (*Result, error) {
	if err := r.Do(ctx, "", r.Todo(), line); err != nil {
		return nil, err
	}
	return r.Commit(ctx)
}

// Commit completes a run whose shares are done: it reads the journals of all processes, runs the last step, and
// replaces the manifests. The error is a *durable.IntegrityError if units are missing, or one of RunUnits.
func (r *Prepared) Commit(ctx context.Context) (*Result, error) {
	if ctx.Err() != nil { // Done may have had a reason to stop
		return nil, context.Cause(ctx)
	}
	if err := r.others(); err != nil {
		return nil, r.lost(err)
	}
	manifest, err := r.sum()
	if err != nil {
		return nil, err
	}
	if err := r.finish(ctx, manifest); err != nil {
		return nil, r.lost(err)
	}
	if err = r.syncFolders(manifest, r.old); err == nil {
		err = r.commit(manifest)
	}
	if err != nil {
		return nil, r.lost(err)
	}
	r.result.Manifest, r.result.Kept, r.result.Bad = manifest, len(r.kept), r.plan.BadInputs
	r.result.Nothing = !r.touched
	return &r.result, nil
}

// others adopts the units that other processes have finished since, as shares of the same plan.
func (r *Prepared) others() error {
	todo := r.Todo()
	if len(todo) == 0 {
		return nil
	}
	r.joined = true
	if err := r.take(todo, true); err != nil {
		return err
	}
	if todo = r.Todo(); len(todo) > 0 {
		return r.missing(todo)
	}
	return nil
}

// syncFolders syncs every folder between a tree's root and the parts of m, each once: a run that was killed may have
// made or filled it without syncing. Folders whose parts all stand in the manifest but are left out: the commit of that
// manifest synced them.
func (r *Prepared) syncFolders(m, but *Manifest) error {
	synced, committed := map[string]bool{}, pathsOf(but)
	for p := range m.all {
		if committed[tree(p.Private)][p.Path] {
			continue
		}
		for dir := path.Dir(p.Path); ; dir = path.Dir(dir) {
			name := filepath.Join(r.out.root(p.Private), dir)
			if !synced[name] {
				synced[name] = true
				if err := r.fs.SyncDir(name); err != nil && !errors.Is(err, fs.ErrNotExist) { // somebody has removed it
					return err
				}
			}
			if dir == "." {
				break
			}
		}
	}
	return nil
}

// sum makes the manifest of the whole run.
func (r *Prepared) sum() (*Manifest, error) {
	m := &Manifest{
		Schema: manifestSchema, Config: r.of.Config, Model: r.of.Model,
		Key: r.of.Key, LastStep: r.o.LastStep, Units: []UnitRecord{}, BadInputs: r.plan.BadInputs, Files: []PartRecord{},
	}
	planned := int64(0)
	for i, record := range r.records {
		if record.Rows != r.plan.Units[i].Rows {
			return nil, &durable.IntegrityError{Cause: fmt.Sprintf("unit %s has %d notes, planned were %d", record.Name, record.Rows,
				r.plan.Units[i].Rows)}
		}
		mine := *record
		mine.Run = ""
		m.Units = append(m.Units, mine)
		planned += r.plan.Units[i].Rows
	}
	for i := range r.kept {
		planned += r.kept[i].Rows
	}
	r.merge(m)
	for i := range m.Units {
		m.Counts.Add(m.Units[i].Counts)
	}
	return m, errors.Join(m.conserved(planned, planned), m.distinct())
}

// finish lets the last step (UnitOptions.Finish) write its files, unless those of the last commit still hold.
func (r *Prepared) finish(ctx context.Context, m *Manifest) error {
	if r.o.Finish == nil {
		return nil
	}
	same, err := r.sameUnits(m)
	if err != nil {
		return err
	}
	if same {
		m.Files = r.old.Files
		return nil
	}
	if err := r.begin(); err != nil {
		return err
	}
	var before []PartRecord
	if r.old != nil && !r.o.Fresh {
		before = r.old.Files
	}
	f := &Final{Manifest: m, Before: before, parts: Parts{run: r, stem: "final"}}
	if err := pipeline.Try(func() error { return r.o.Finish(ctx, f) }); err != nil {
		// Damaged data in this step was written by velum itself and cannot be fetched again, so it is not quarantined.
		if damage, ok := errors.AsType[*DamageError](err); ok && f.disk.Err() == nil {
			err = &durable.IntegrityError{Path: damage.Path, Cause: damage.where()}
		}
		return errors.Join(fmt.Errorf("last step: %w", f.disk.Joined(err)), f.parts.discard())
	}
	if m.Files, err = f.parts.commit(); err != nil {
		return errors.Join(err, f.parts.discard())
	}
	m.Files = append(m.Files, f.kept...)
	slices.SortFunc(m.Files, func(a, b PartRecord) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(tree(a.Private), tree(b.Private)))
	})
	return nil
}

// state returns how a part of the last commit differs from its record; the options decide whether its bytes are read.
func (r *Prepared) state(p PartRecord) (string, error) {
	return partState(r.fs, r.out.root(p.Private), p, r.o.ByLength)
}

// sameUnits reports whether the last commit had exactly these units and the files of its last step are still whole.
func (r *Prepared) sameUnits(m *Manifest) (bool, error) {
	old := r.old
	if old == nil || r.o.Fresh {
		return false, nil
	}
	was := *old
	was.Files = m.Files
	a, err1 := m.MarshalFile()
	b, err2 := was.MarshalFile()
	if err := errors.Join(err1, err2); err != nil || !bytes.Equal(a, b) {
		return false, err
	}
	for _, p := range old.Files {
		kind, err := r.state(p)
		if err != nil || kind != "" {
			return false, err
		}
	}
	return true, nil
}

// commit replaces the manifests, removes what they do not know any more, and
// writes _SUCCESS last.
func (r *Prepared) commit(m *Manifest) error {
	public, err := m.public().MarshalFile()
	if err != nil {
		return err
	}
	whole := *m
	whole.Public = digest(public)
	private, err := whole.MarshalFile()
	if err != nil {
		return err
	}
	if err := r.pending(m, public); err != nil {
		return err
	}
	if err := r.place(true, manifestName, private); err != nil {
		return err
	}
	if err := r.place(false, manifestName, public); err != nil {
		return err
	}
	if err := r.sweepOld(m); err != nil {
		return err
	}
	if err := r.placeInputs(m); err != nil {
		return err
	}
	if m.Rows > 0 { // a run that read nothing did not succeed
		err = errors.Join(r.place(true, successName, success(private)), r.place(false, successName, success(public)))
		if err != nil {
			return err
		}
	}
	for i, root := range r.roots() {
		if err := r.turns[i].Remove(runsName, durable.RemoveAll); err != nil {
			return err
		}
		if err := r.fs.SyncDir(root); err != nil { // there may have been no run
			return err
		}
	}
	r.ended = true
	return nil
}

// pending makes ready what belongs to the manifests: the places of the inputs,
// those of the last commit among them, and, where a manifest changes, the folder of
// the run, by which rollForward knows that this commit has not ended.
func (r *Prepared) pending(m *Manifest, public []byte) error {
	err := r.placeInputs(m, r.listed[0], r.listed[1])
	if err == nil && r.touched { // a start that was killed may have placed them without a sync
		err = r.fs.SyncDir(r.out.Private)
	}
	if err != nil {
		return err
	}
	have, err := durable.ReadFile(r.fs, filepath.Join(r.out.Dir, manifestName))
	if err == nil && bytes.Equal(have, public) {
		return nil
	}
	return r.folders()
}

// placeInputs writes the file that says where the inputs of some manifests lie.
func (r *Prepared) placeInputs(manifests ...*Manifest) error {
	at, err := durable.Line(r.growth.places().listed(manifests...))
	if err != nil {
		return err
	}
	return r.place(true, placesName, at)
}

// replace puts a file in place by way of a temporary one.
func (r *Prepared) replace(private bool, to string, data []byte) error {
	return durable.WriteBy(r.fs, filepath.Join(r.scratch(private), filepath.Base(to)), to, data)
}

// place replaces a file of a tree, unless it is so already.
func (r *Prepared) place(private bool, name string, data []byte) error {
	to := filepath.Join(r.out.root(private), name)
	if have, err := durable.ReadFile(r.fs, to); err == nil && bytes.Equal(have, data) {
		return nil
	}
	if name == manifestName {
		if err := r.touch(); err != nil {
			return err
		}
	}
	r.touched = r.touched || name == successName
	return r.replace(private, to, data)
}

// sweepOld removes the parts that manifests of earlier commits list and this one does not.
func (r *Prepared) sweepOld(m *Manifest) error {
	keep := pathsOf(m)
	for _, old := range r.listed {
		for p := range old.all {
			if !keep[tree(p.Private)][p.Path] {
				if err := r.remove(p.Private, p.Path); err != nil {
					return err
				}
			}
		}
	}
	for i, private := range both {
		if _, err := r.sweepDir(private, "", keep[i]); err != nil {
			return err
		}
	}
	return nil
}
