package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"strings"
	"sync"
)

// Output is where a run writes: two trees, since what is masked may be given
// away and what holds the words of notes (quarantine, candidates, selection)
// may not.
type Output struct {
	Dir     string
	Private string // "" means Dir + ".private"
	FS      FS     // nil means OS
}

func (o Output) withDefaults() Output {
	o.Dir = filepath.Clean(o.Dir)
	o.Private = filepath.Clean(cmp.Or(o.Private, o.Dir+".private"))
	if o.FS == nil {
		o.FS = OS
	}
	return o
}

func (o *Output) root(private bool) string {
	if private {
		return o.Private
	}
	return o.Dir
}

// Apart checks that neither tree stands inside the other, inside an input, or
// around one: a run must never read what it writes. Links are followed.
func (o Output) Apart(inputs ...string) error {
	o = o.withDefaults()
	if within(o.Private, o.Dir) || within(o.Dir, o.Private) {
		return fmt.Errorf("output %s and private tree %s must not stand inside each other", o.Dir, o.Private)
	}
	for _, in := range inputs {
		for _, out := range []string{o.Dir, o.Private} {
			if within(out, in) || within(in, out) {
				return fmt.Errorf("output %s and input %s must not stand inside each other", out, in)
			}
		}
	}
	return nil
}

// within tells whether inner is outer or stands below it.
func within(inner, outer string) bool {
	rel, err := filepath.Rel(resolve(outer), resolve(inner))
	return err == nil && filepath.IsLocal(rel)
}

// resolve follows the links of the part of a path that exists.
func resolve(name string) string {
	name, err := filepath.Abs(name)
	if err != nil {
		return name
	}
	if real, err := filepath.EvalSymlinks(name); err == nil {
		return real
	}
	above := filepath.Dir(name)
	if above == name {
		return name
	}
	return filepath.Join(resolve(above), filepath.Base(name))
}

func runDir(root, run string) string { return filepath.Join(root, runsName, run) }
func tmpDir(root, run string) string { return filepath.Join(runDir(root, run), "tmp") }

// Line is what moves the notes of one unit: see Run. If Source is an
// io.Closer, it is closed at the end.
type Line struct {
	Source Source
	Steps  []Step
	Sink   UnitSink
}

func (l *Line) close() error {
	if c, ok := l.Source.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// UnitOptions are the choices of RunUnits. The zero value works.
type UnitOptions struct {
	AtOnce int      // units side by side; 0 means 1
	Fresh  bool     // do everything again, whatever is done already
	Verify Verifier // re-reads every Parquet part; nil: sizes only
	Stats  *Stats   // may be nil

	// Done is called for every unit, done now or found done, one call at a
	// time. May be nil.
	Done func(u *UnitRecord, reused bool)

	// Finish is the last step: when all units are done it may write files of
	// its own before the run is committed. It must be deterministic. An error
	// stops the commit. It is not called when nothing changed. May be nil.
	Finish func(ctx context.Context, f *Final) error

	// LastStep names what Finish does beyond what the plan's configuration
	// says: it is called again when the last commit has another. May be empty.
	LastStep string
}

// Final is what the last step of a run gets.
type Final struct {
	Manifest *Manifest // of both trees, with the counts of the whole run; Files is empty
	out      *Output
	parts    Parts
	disk     Witness
}

// Create makes a file. Its path is below the tree, with slashes.
func (f *Final) Create(kind, path string, private bool) (*Part, error) {
	return f.parts.create(kind, path, private)
}

// Open opens a part that a unit wrote.
func (f *Final) Open(p PartRecord) (File, error) {
	file, err := f.out.FS.OpenFile(filepath.Join(f.out.root(p.Private), filepath.FromSlash(p.Path)), 0, 0)
	if err != nil {
		return nil, err
	}
	return f.disk.Watch(file), nil
}

// Result is what RunUnits did.
type Result struct {
	Manifest *Manifest // of both trees
	Done     int       // units done now
	Reused   int       // units that were done already
	Nothing  bool      // nothing had to be done or mended: the trees are as they were
}

// RunUnits does the units of a plan and commits them as a whole:
//
//	line -> temporary parts -> fsync -> re-read -> rename -> fsync folder -> journal
//	all units -> last step -> private manifest -> manifest (the commit) -> old parts removed -> _SUCCESS
//
// A start after a crash, or after a change of the plan, does only the units
// whose parts are not there yet; the trees end up byte-identical to those of
// an undisturbed run. line is called for every unit that has to be done, in
// slot 0 to AtOnce-1, so that it can keep what is dear to make; calls for one
// slot never overlap.
//
// Errors: *LockedError if another run has the trees, *IntegrityError if notes
// got lost or a part does not read as it was written, DiskFull(err),
// DiskFailed(err), the cause of ctx; the next start goes on from there. A unit
// whose source returns a *DamageError goes to quarantine as one, and the run
// goes on.
func RunUnits(ctx context.Context, plan *Plan, out Output, line func(slot int, u *Unit, parts *Parts) (Line, error), o UnitOptions) (*Result, error) {
	out = out.withDefaults()
	if err := errors.Join(out.Apart(), plan.check()); err != nil {
		return nil, err
	}
	r := &unitRun{plan: plan, out: &out, fs: out.FS, id: plan.run(), line: line, o: o}
	release, err := r.lock()
	if err != nil {
		return nil, err
	}
	result, err := r.run(ctx)
	return result, errors.Join(err, release())
}

type unitRun struct {
	plan *Plan
	out  *Output
	fs   FS
	id   string // run directory
	line func(slot int, u *Unit, parts *Parts) (Line, error)
	o    UnitOptions
	made folders

	listed [2]*Manifest // of each tree, as the last commits left them; nil: none

	batches []batches // a slot's, from one unit to the next

	mu      sync.Mutex // guards Done calls, records, result
	records []*UnitRecord
	result  Result
	touched bool // something on the disk had to be changed
}

func (r *unitRun) roots() [2]string { return [2]string{r.out.Dir, r.out.Private} }

func (r *unitRun) lock() (release func() error, err error) {
	var held []io.Closer
	release = func() error {
		var errs []error
		for i, l := range held {
			// A lock whose name comes back with the power would pass for
			// that of a run that did not end.
			errs = append(errs, l.Close(), r.fs.SyncDir(r.roots()[i]))
		}
		return errors.Join(errs...)
	}
	holder := NewHolder(r.id)
	for _, root := range r.roots() {
		err := mkdirAll(r.fs, root)
		// A start that was killed may have left names that only the kernel
		// knows: nothing is removed on their word before they are durable.
		if err == nil {
			err = r.fs.SyncDir(root)
		}
		var l io.Closer
		if err == nil {
			l, err = r.fs.Lock(filepath.Join(root, lockName), holder)
		}
		if err != nil {
			return nil, errors.Join(err, release())
		}
		held = append(held, l)
	}
	return release, nil
}

func (r *unitRun) run(ctx context.Context) (*Result, error) {
	old, err := r.recover()
	if err != nil {
		return nil, err
	}
	if err := r.units(ctx); err != nil {
		return nil, err
	}
	if ctx.Err() != nil { // Done may have had a reason to stop
		return nil, context.Cause(ctx)
	}
	manifest, err := r.sum()
	if err != nil {
		return nil, err
	}
	if err := r.finish(ctx, manifest, old); err != nil {
		return nil, err
	}
	if err := r.syncFolders(manifest); err != nil {
		return nil, err
	}
	if err := r.commit(manifest); err != nil {
		return nil, err
	}
	r.result.Manifest = manifest
	r.result.Nothing = !r.touched
	return &r.result, nil
}

// syncFolders syncs every folder between a tree's root and its parts, once:
// a start that was killed may have made or filled it without.
func (r *unitRun) syncFolders(m *Manifest) (err error) {
	synced := map[string]bool{}
	m.all(func(p PartRecord) bool {
		root := r.out.root(p.Private)
		for dir := path.Dir(p.Path); err == nil; dir = path.Dir(dir) {
			name := filepath.Join(root, filepath.FromSlash(dir))
			if !synced[name] {
				synced[name] = true
				err = r.fs.SyncDir(name)
			}
			if dir == "." {
				break
			}
		}
		return err == nil
	})
	return err
}

// touch notes that the trees are about to change. From the first change until
// the commit there is no _SUCCESS.
func (r *unitRun) touch() error {
	if r.touched {
		return nil
	}
	r.touched = true
	for _, root := range r.roots() {
		if err := r.remove(filepath.Join(root, successName)); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a file if it is there, durably.
func (r *unitRun) remove(name string) error {
	err := r.fs.Remove(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return r.fs.SyncDir(filepath.Dir(name))
}

// recover finds out what is done already, and removes what an earlier start
// left half done. It returns the manifest of the last commit, or nil.
func (r *unitRun) recover() (old *Manifest, err error) {
	if old, err = r.lastCommit(); err != nil {
		return nil, err
	}
	known, err := r.journalled()
	if err != nil {
		return nil, err
	}
	if old != nil && !r.o.Fresh {
		for i := range old.Units {
			known[old.Units[i].Name] = &old.Units[i]
		}
	}
	r.records = make([]*UnitRecord, len(r.plan.Units))
	for i := range r.plan.Units {
		if err := r.adopt(i, known); err != nil {
			return nil, err
		}
	}
	return old, r.sweep()
}

// lastCommit reads both manifests. With --fresh, one that cannot be read does
// not matter. A start that was killed between the two leaves them of two runs,
// which may have no unit in common: what each lists stays until the commit.
func (r *unitRun) lastCommit() (*Manifest, error) {
	for i, root := range r.roots() {
		m, err := readManifest(r.fs, root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !r.o.Fresh {
			return nil, err
		}
		r.listed[i] = m
	}
	if r.listed[0] == nil || r.listed[1] == nil {
		return nil, nil
	}
	return join(r.listed[0], r.listed[1]), nil
}

// journalled returns what earlier starts finished but did not commit, and
// removes their journals, unless they are of this very run.
func (r *unitRun) journalled() (map[string]*UnitRecord, error) {
	known := map[string]*UnitRecord{}
	runs, err := r.fs.ReadDir(filepath.Join(r.out.Dir, runsName))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range runs {
		name := filepath.Join(r.out.Dir, runsName, e.Name(), "journal")
		data, err := readFile(r.fs, name)
		if errors.Is(err, fs.ErrNotExist) || r.o.Fresh {
			continue
		}
		if err != nil {
			return nil, err
		}
		records, _, err := parseJournal(data)
		if err != nil {
			return nil, &IntegrityError{name, err.Error()}
		}
		for i := range records {
			known[records[i].Name] = &records[i]
		}
	}
	return known, nil
}

// adopt takes over unit i if it is known and all its parts are sound. One that
// the system could not read is tried again; it has no parts that would have to
// give way.
func (r *unitRun) adopt(i int, known map[string]*UnitRecord) error {
	u := &r.plan.Units[i]
	record := known[r.plan.Name(u)]
	if record == nil || record.Unread {
		return nil
	}
	for _, p := range record.Parts {
		kind, err := partState(r.fs, r.out.root(p.Private), p)
		if err != nil {
			return err
		}
		if kind != "" {
			return nil
		}
	}
	mine := *record
	mine.Input = u.source()
	r.records[i] = &mine
	r.result.Reused++
	if r.o.Done != nil {
		r.o.Done(&mine, true)
	}
	return nil
}

// sweep removes temporary files, and parts that no manifest and no record
// knows. Files that velum did not name stay.
func (r *unitRun) sweep() error {
	keep := [2]map[string]bool{{}, {}}
	note := func(p PartRecord) bool {
		keep[tree(p.Private)][p.Path] = true
		return true
	}
	for _, m := range r.listed {
		if m != nil {
			m.all(note)
		}
	}
	for _, record := range r.records {
		if record != nil {
			for _, p := range record.Parts {
				note(p)
			}
		}
	}
	for i, root := range r.roots() {
		if err := r.sweepRuns(root); err != nil {
			return err
		}
		if _, err := r.sweepDir(root, "", keep[i]); err != nil {
			return err
		}
	}
	return nil
}

func tree(private bool) int {
	if private {
		return 1
	}
	return 0
}

// sweepRuns empties the temporary folders and removes the run directories of
// other runs.
func (r *unitRun) sweepRuns(root string) error {
	runs, err := r.fs.ReadDir(filepath.Join(root, runsName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := r.touch(); err != nil {
		return err
	}
	for _, e := range runs {
		dir := tmpDir(root, e.Name())
		if e.Name() != r.id || r.o.Fresh {
			// What it had finished is among the records now, but only this
			// run's journal will say so after the next crash.
			if err := r.carryOver(); err != nil {
				return err
			}
			dir = runDir(root, e.Name())
		}
		if err := removeAll(r.fs, dir); err != nil {
			return err
		}
	}
	return nil
}

// carryOver writes the adopted records into this run's journal.
func (r *unitRun) carryOver() error {
	if r.result.Reused == 0 {
		return nil
	}
	name := filepath.Join(runDir(r.out.Dir, r.id), "journal")
	if err := mkdirAll(r.fs, filepath.Dir(name)); err != nil {
		return err
	}
	j, have, err := openJournal(r.fs, name)
	if err != nil {
		return err
	}
	there := map[string]bool{}
	for i := range have {
		there[have[i].Name] = true
	}
	for _, record := range r.records {
		if record != nil && !there[record.Name] {
			if err := j.add(record); err != nil {
				return errors.Join(err, j.close())
			}
		}
	}
	return j.close()
}

// sweepDir removes stray parts below a folder and tells whether anything is
// left in it.
func (r *unitRun) sweepDir(root, dir string, keep map[string]bool) (left bool, err error) {
	entries, err := r.fs.ReadDir(filepath.Join(root, filepath.FromSlash(dir)))
	if err != nil {
		return true, err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		stays := true
		switch {
		case strings.ContainsAny(e.Name()[:1], "._"): // not ours, or swept by itself
		case e.IsDir():
			stays, err = r.sweepDir(root, name, keep)
		case dir != "" && !keep[name] && strings.HasPrefix(e.Name(), "part-"):
			if err = r.touch(); err == nil {
				err = r.remove(filepath.Join(root, filepath.FromSlash(name)))
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
	return false, r.remove(filepath.Join(root, filepath.FromSlash(dir)))
}

// removeAll removes a folder and all that is in it.
func removeAll(d FS, name string) error {
	entries, err := d.ReadDir(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		inner := filepath.Join(name, e.Name())
		if e.IsDir() {
			err = removeAll(d, inner)
		} else {
			err = removeIfThere(d, inner)
		}
		if err != nil {
			return err
		}
	}
	return removeIfThere(d, name)
}

// units does all units that are not done yet.
func (r *unitRun) units(ctx context.Context) error {
	var todo []int
	for i, record := range r.records {
		if record == nil {
			todo = append(todo, i)
		}
	}
	if len(todo) == 0 {
		return nil
	}
	if err := r.touch(); err != nil {
		return err
	}
	for _, root := range r.roots() {
		if err := mkdirAll(r.fs, tmpDir(root, r.id)); err != nil {
			return err
		}
	}
	data, err := r.plan.json()
	if err != nil {
		return err
	}
	if err := writeFile(r.fs, filepath.Join(tmpDir(r.out.Dir, r.id), "plan.json"), filepath.Join(runDir(r.out.Dir, r.id), "plan.json"), data); err != nil {
		return err
	}
	j, _, err := openJournal(r.fs, filepath.Join(runDir(r.out.Dir, r.id), "journal"))
	if err != nil {
		return err
	}
	return errors.Join(r.work(ctx, todo, j), j.close())
}

// work hands the units out to the slots. While a slot's finished unit is
// synced and re-read, the slot begins the next one.
func (r *unitRun) work(ctx context.Context, todo []int, j *journal) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	next := make(chan int, len(todo))
	for _, i := range todo {
		next <- i
	}
	close(next)
	var slots, commits sync.WaitGroup
	r.batches = make([]batches, min(max(r.o.AtOnce, 1), len(todo)))
	defer func() { r.batches = nil }()
	for slot := range r.batches {
		slots.Go(func() {
			settled := make(chan struct{}, 1) // one unit of the slot settles at a time
			for i := range next {
				done, err := r.unit(ctx, slot, &r.plan.Units[i])
				if err != nil {
					fail(err)
					return
				}
				settled <- struct{}{}
				commits.Go(func() {
					defer func() { <-settled }()
					if err := r.settle(ctx, i, done, j); err != nil {
						fail(err)
					}
				})
			}
		})
	}
	slots.Wait()
	commits.Wait()
	return context.Cause(ctx)
}

// unitDone is a unit whose notes have gone through the line.
type unitDone struct {
	record UnitRecord
	parts  *Parts
}

// unit runs the line of a unit.
func (r *unitRun) unit(ctx context.Context, slot int, u *Unit) (*unitDone, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	name := r.plan.Name(u)
	parts := &Parts{fs: r.fs, out: r.out, made: &r.made, run: r.id, stem: name, at: func(kind, ext string) string {
		return path.Join(kind, filepath.ToSlash(u.Folder), r.plan.file(u, ext))
	}}
	record := UnitRecord{Name: name, Input: u.source(), SHA256: hex.EncodeToString(u.SHA256[:]), From: u.From, To: u.To}
	err := r.pump(ctx, slot, u, parts, &record)
	if damage, ok := errors.AsType[*DamageError](err); ok && ctx.Err() == nil {
		err = parts.discard()
		record.Damage, record.Unread, record.Parts = damage.where(), damage.Unread, []PartRecord{}
		record.Counts = Counts{Rows: u.Rows, Quarantined: u.Rows, Reasons: map[string]int64{BadUnit.String(): u.Rows}}
	}
	if err != nil {
		return nil, errors.Join(err, parts.discard())
	}
	return &unitDone{record, parts}, nil
}

func (r *unitRun) pump(ctx context.Context, slot int, u *Unit, parts *Parts, record *UnitRecord) error {
	var l Line
	err := Try(func() (err error) {
		l, err = r.line(slot, u, parts)
		return err
	})
	if err != nil {
		return errors.Join(err, l.close())
	}
	src := &countedSource{Source: l.Source}
	err = r.batches[slot].run(ctx, src, l.Steps, l.Sink, r.o.Stats)
	if err := errors.Join(err, l.close()); err != nil {
		return err
	}
	err = Try(func() (err error) {
		record.Counts, err = l.Sink.Close()
		return err
	})
	if err != nil {
		return fmt.Errorf("write: %w", err)
	}
	return record.conserved(src.notes, u.Rows)
}

// countedSource counts notes as they come in, apart from who counts them as
// they go out.
type countedSource struct {
	Source
	notes int64
}

func (s *countedSource) Next(b *Batch) error {
	err := s.Source.Next(b)
	s.notes += int64(b.Len())
	return err
}

// settle makes a unit's parts durable and journals it.
func (r *unitRun) settle(ctx context.Context, i int, done *unitDone, j *journal) error {
	if ctx.Err() != nil {
		return errors.Join(context.Cause(ctx), done.parts.discard())
	}
	var err error
	if done.record.Parts, err = done.parts.commit(r.o.Verify); err != nil {
		return errors.Join(err, done.parts.discard())
	}
	if err := j.add(&done.record); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.records[i] = &done.record
	r.result.Done++
	if r.o.Done != nil {
		r.o.Done(&done.record, false)
	}
	return nil
}

// sum makes the manifest of the whole run.
func (r *unitRun) sum() (*Manifest, error) {
	m := &Manifest{
		Schema: manifestSchema, Config: hex.EncodeToString(r.plan.Config[:]), Model: hex.EncodeToString(r.plan.Model[:]),
		Key: r.plan.Key, LastStep: r.o.LastStep, Units: []UnitRecord{}, BadInputs: r.plan.BadInputs, Files: []PartRecord{},
	}
	planned := int64(0)
	for i, record := range r.records {
		m.Units = append(m.Units, *record)
		m.Counts.Add(record.Counts)
		planned += r.plan.Units[i].Rows
	}
	return m, m.conserved(planned, planned)
}

// finish lets the last step write its files, unless the last commit has them.
func (r *unitRun) finish(ctx context.Context, m, old *Manifest) error {
	if r.o.Finish == nil {
		return nil
	}
	same, err := r.sameUnits(m, old)
	if err != nil {
		return err
	}
	if same {
		m.Files = old.Files
		return nil
	}
	if err := r.touch(); err != nil {
		return err
	}
	for _, root := range r.roots() {
		if err := mkdirAll(r.fs, tmpDir(root, r.id)); err != nil {
			return err
		}
	}
	f := &Final{Manifest: m, out: r.out, parts: Parts{fs: r.fs, out: r.out, made: &r.made, run: r.id, stem: "final"}}
	if err := Try(func() error { return r.o.Finish(ctx, f) }); err != nil {
		return errors.Join(fmt.Errorf("last step: %w", f.disk.joined(err)), f.parts.discard())
	}
	if m.Files, err = f.parts.commit(r.o.Verify); err != nil {
		return errors.Join(err, f.parts.discard())
	}
	return nil
}

// sameUnits tells whether the last commit was of the same units, and what its
// last step wrote is still there.
func (r *unitRun) sameUnits(m, old *Manifest) (bool, error) {
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
		kind, err := partState(r.fs, r.out.root(p.Private), p)
		if err != nil || kind != "" {
			return false, err
		}
	}
	return true, nil
}

// commit replaces the manifests, removes what they do not know any more, and
// writes _SUCCESS last.
func (r *unitRun) commit(m *Manifest) error {
	private, err := m.half(true).MarshalFile()
	if err != nil {
		return err
	}
	half := m.half(false)
	half.Private = fmt.Sprintf("%x", sha256.Sum256(private))
	public, err := half.MarshalFile()
	if err != nil {
		return err
	}
	if err := r.place(r.out.Private, manifestName, private); err != nil {
		return err
	}
	if err := r.place(r.out.Dir, manifestName, public); err != nil {
		return err
	}
	if err := r.sweepOld(m); err != nil {
		return err
	}
	if err := r.place(r.out.Private, successName, success(private)); err != nil {
		return err
	}
	if err := r.place(r.out.Dir, successName, success(public)); err != nil {
		return err
	}
	for _, root := range r.roots() {
		if err := removeAll(r.fs, filepath.Join(root, runsName)); err != nil {
			return err
		}
		if err := r.fs.SyncDir(root); err != nil {
			return err
		}
	}
	return nil
}

// place replaces a file of a tree, unless it is so already.
func (r *unitRun) place(root, name string, data []byte) error {
	to := filepath.Join(root, name)
	if have, err := readFile(r.fs, to); err == nil && bytes.Equal(have, data) {
		return nil
	}
	if name == manifestName {
		if err := r.touch(); err != nil {
			return err
		}
	}
	r.touched = true
	if err := mkdirAll(r.fs, tmpDir(root, r.id)); err != nil {
		return err
	}
	return writeFile(r.fs, filepath.Join(tmpDir(root, r.id), name), to, data)
}

// sweepOld removes the parts of the last commits that this one does not have.
func (r *unitRun) sweepOld(m *Manifest) error {
	keep := [2]map[string]bool{{}, {}}
	m.all(func(p PartRecord) bool {
		keep[tree(p.Private)][p.Path] = true
		return true
	})
	var err error
	for _, old := range r.listed {
		if old == nil {
			continue
		}
		old.all(func(p PartRecord) bool {
			if !keep[tree(p.Private)][p.Path] {
				err = r.remove(filepath.Join(r.out.root(p.Private), filepath.FromSlash(p.Path)))
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	for i, root := range r.roots() {
		if _, err := r.sweepDir(root, "", keep[i]); err != nil {
			return err
		}
	}
	return nil
}
