// Package run implements `velum run`, which masks an archive: the units, the last step after all units (last.go), the
// limit of quarantined notes above which a run fails, and the audit record of the run.
package run

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/anonymize"
	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/release"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/selection"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/form/patterns"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/choose"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/write/rewrite"
	"github.com/velum-health/velum/stages/write/table"
	"github.com/velum-health/velum/stages/write/unit"
)

// Options holds the arguments of `velum run` beside the configuration.
type Options struct {
	In           []string
	Out, Private string
	Tagged       string // output of an earlier run whose spans are taken; "": the notes are tagged
	Fresh, Dry   bool
	Replace      bool     // the output gets what In has, and nothing else
	Again        bool     // notes are meant to be masked anew: no warning
	Patients     []string // ids of a patient whose notes are removed; none: nobody
	Files        []string // files of the archive that are forgotten
	TakeBack     bool     // Patients may be in later runs again
	Record       RecordOptions

	Save  bool   // only the plan is written
	Plan  string // an output with a plan, or the plan itself: see Shard, Finish
	Shard string // I/N

	Spoil func(*commit.Line) // tests put faults into the line here
	Disk  durable.FS         // and below the output here; nil: the machine's
}

// Mask masks an archive and records how the run ended. load loads the configuration; a mistake in it is recorded as one
// of the ways in which a run can end.
func Mask(ctx context.Context, c *console.Console, load func() (*option.Config, error), o *Options) error {
	return recorded(c, o, func(m *masking) error {
		cfg, err := load()
		if err == nil && o.Tagged != "" && cfg.DropPolicy("tag") {
			c.Log.Warn("the notes stay as they were tagged: what the policy wants of tagging counts for velum run --policy alone", "policy",
				cfg.Mask.Policy)
		}
		if m.Flow, err = flow.Open(cfg, err); err != nil {
			return err
		}
		return m.mask(ctx)
	})
}

// output returns the output that is named.
func (o *Options) output() commit.Output {
	o.Private = cmp.Or(o.Private, commit.PrivateDir(o.Out))
	return commit.Output{Dir: o.Out, Private: o.Private, FS: o.Disk}
}

// recorded calls do with a new run and records how it ended, unless nothing is to be written.
func recorded(c *console.Console, o *Options, do func(m *masking) error) error {
	o.Disk = cmp.Or(o.Disk, durable.OS)
	m := &masking{
		Console: c, options: o, record: &record{Console: c, RecordOptions: o.Record}, began: time.Now(), attempt: attemptID(),
		mostFailures: mostFailures,
		gone:         map[string]*commit.UnitRecord{},
	}
	if o.Dry {
		return do(m)
	}
	return m.record.keep(func() error { return do(m) })
}

// masking is one run of `velum run`.
type masking struct {
	*console.Console
	*flow.Flow
	options      *Options
	record       *record
	mostFailures float64 // in 10,000 notes
	archive      *archive.Archive
	tagged       *files.Tagged // nil: the model tags
	dealt        *dealt        // nil: the policy shuffles nothing
	last         *lastStep
	only         map[string]bool // files that are read; nil: all of the inputs
	key          *secret.Key
	forgotten    *audit.Forgotten // in this output
	marks        []audit.Entry    // of patients who are being forgotten, object, or take that back
	fence        *fence.Fence
	slots        []*slot
	progress     *console.Progress
	stats        pipeline.Stats
	began        time.Time
	attempt      string                        // what tells this process from others that do the same
	changes      []commit.Change               // what becomes of inputs, those of earlier runs among them
	gone         map[string]*commit.UnitRecord // inputs that are forgotten, by name
	overlap      map[[2]string]commit.Overlap
	made         struct { // notes of a shared unit of the output
		part  string
		notes []madeNote
	}
	grows   bool  // the output has a range from before
	settled int64 // notes of units that were done since memory was given back
}

func (m *masking) mask(ctx context.Context) error {
	o, cfg := m.options, m.Config
	ctx, end := m.bounded(ctx)
	defer end()
	out := o.output()
	out.Group = cfg.Write.Group
	others := o.In
	if o.Tagged != "" {
		others = append(slices.Clone(o.In), o.Tagged, commit.PrivateDir(o.Tagged))
	}
	if err := out.Apart(others...); err != nil {
		return err
	}
	if err := m.open(ctx, out); err != nil {
		return err
	}
	defer m.close()
	units, err := m.planned(ctx, out)
	if err != nil {
		return err
	}
	if m.changes, err = commit.Changes(units, out, m.unitOptions()); err != nil {
		return err
	}
	if err := m.mayForget(out); err != nil {
		return err
	}
	if o.Dry {
		return m.printPlan(units)
	}
	m.logChanges()
	m.logKept()
	if m.grows && slices.ContainsFunc(m.changes, func(c commit.Change) bool { return c.Fate == "added" }) {
		m.Log.Warn("notes that are added to an output are not held back at its edges: who has it before and after knows when they were written, and by how much dates were moved")
		m.Range.Stretches = true
	}
	m.record.place(out, units.Roots)
	if o.Save {
		m.record.part = "plan"
	}
	if m.last, err = newLastStep(m); err != nil {
		return err
	}
	if m.last.ledger.Alone() {
		m.Log.Warn("extracts of these notes in other folders are not known to this one, and whoever has two of them finds what was missed: name one ledger for all (mask.ledger), or make an empty file of this name beside the key", "ledger", release.HouseName(m.last.ledger.Key()))
	}
	if err := m.last.ledger.MayFiles(units.Units); err != nil {
		return err
	}
	if err := m.deal(ctx, units); err != nil {
		return err
	}
	defer m.dealt.close()
	if ctx, err = m.record.begin(ctx, units.Planned(), out, cfg); err != nil {
		return err
	}
	m.remember()
	err = m.units(ctx, units, out)
	if n := m.People.Unmet(); n > 0 {
		m.Log.Warn("notes of resolve.spans were not among those that were read now", "notes", n)
	}
	return err
}

// bounded sets the limits of memory and time of the process for a run.
func (m *masking) bounded(ctx context.Context) (context.Context, func()) {
	m.SetMemory(int64(m.Config.Run.MemoryLimit))
	if m.Config.Run.Deadline <= 0 {
		return ctx, func() {}
	}
	ctx, cancel := context.WithTimeoutCause(ctx, m.Config.Run.Deadline, exit.ErrDeadline)
	stop := m.EndHard(ctx)
	return ctx, func() { stop(); cancel() }
}

// planned returns the plan of what the output is to hold.
func (m *masking) planned(ctx context.Context, out commit.Output) (*commit.Plan, error) {
	if len(m.options.Files) > 0 {
		return m.nothingNew(ctx, out)
	}
	if err := m.inputsOf(out); err != nil {
		return nil, err
	}
	units, err := m.scan(ctx)
	if err == nil && len(m.options.Patients) > 0 {
		units, err = m.forgetPatient(ctx, units, out)
	}
	return units, err
}

// open opens everything that reading and masking the notes needs, except the archive.
func (m *masking) open(ctx context.Context, out commit.Output) (err error) {
	cfg := m.Config
	cfg.Choose.Use = cfg.Choose.Use && m.options.Tagged == "" // candidates were chosen when the notes were tagged
	if len(m.options.Files) == 0 {                            // else no note is read
		if m.People, err = flow.OpenPeople(cfg, m.options.Out, m.options.In...); err != nil {
			return err
		}
		m.logPeople()
	}
	m.fence = fence.New(fence.Options{Ended: ctx.Done()})
	err = errors.Join(m.openTagged(), m.known(out))
	if err != nil {
		m.close()
	}
	return err
}

func (m *masking) close() {
	m.fence.Close()
	m.People.Close()
}

// openTagged opens the output whose spans are taken, if there is one.
func (m *masking) openTagged() (err error) {
	if m.options.Tagged != "" {
		m.tagged, err = files.OpenTagged(m.options.Tagged, m.Model.SHA256)
	}
	return err
}

// logPeople logs how many patients and staff the table of people holds, and what of the table is not used.
func (m *masking) logPeople() {
	p := m.People
	if p == nil {
		return
	}
	if p.Table != nil {
		m.Log.Info("people are known", "of_patients", p.Table.Rows(), "staff", p.Table.Staff())
	}
	if len(p.Passed) > 0 {
		m.Log.Warn("columns of the table of people are passed over; people.columns says what they hold", "columns", p.Passed)
	}
	if p.Empty > 0 {
		m.Log.Warn("rows of the table of people have nothing that could be found in a note", "rows", p.Empty)
	}
}

// scan finds the units of the archive.
func (m *masking) scan(ctx context.Context) (*commit.Plan, error) {
	o, err := flow.ReadOptions(m.Config)
	if err != nil {
		return nil, err
	}
	o.Only, m.key = m.only, o.Key
	m.archive, err = archive.Scan(ctx, m.options.In, o, m.fence)
	if err != nil {
		return nil, flow.InputError(err)
	}
	m.Documents = m.archive.HasDocuments()
	m.logDrift()
	if n := len(m.archive.Passed); n > 0 {
		m.Log.Warn("files are not read, since they hold no notes, begin with a dot or an underscore, or read.format says what the archive is made of", "files", n, "first", m.archive.Passed[0].Input)
	}
	if n, first := m.archive.Unvouched(); n > 0 {
		m.Log.Warn("files have no page checksums: damage to them may change notes unseen; give read.sha256", "files", n, "first", first)
	}
	for i, b := range m.archive.Bad {
		if i == mostNamed {
			m.Log.Warn("more files are not read; the private manifest names them", "more_files", len(m.archive.Bad)-i)
			break
		}
		m.Log.Warn("file is not read; the others go on", "path", cmp.Or(b.Path, b.Input), "cause", b.Cause)
	}
	if len(m.archive.Units)+len(m.archive.Bad) == 0 {
		return nil, exit.Errorf(exit.Nothing, "look at --in", "no notes in the archive")
	}
	if err := flow.Vet(ctx, m.Config, m.archive); err != nil {
		return nil, err
	}
	if err := m.leaveOut(ctx); err != nil {
		return nil, err
	}
	if err := m.trims(ctx); err != nil {
		return nil, err
	}
	return m.plan(o.Key)
}

// logDrift logs in which columns files differ from the first file. It logs each column and kind of change once, with
// the number of files, because each of hundreds of monthly files may have it.
func (m *masking) logDrift() {
	type change struct{ column, change string }
	files, order := map[change][]string{}, []change(nil)
	for _, d := range m.archive.Drift {
		c := change{d.Column, d.Change}
		if files[c] == nil {
			order = append(order, c)
		}
		files[c] = append(files[c], d.Path)
	}
	for _, c := range order {
		m.Log.Warn("files of the archive differ from the first", "column", c.column, "change", c.change, "files", len(files[c]), "first",
			files[c][0])
	}
}

// plan returns the plan of the archive under the configuration.
func (m *masking) plan(key *secret.Key) (*commit.Plan, error) {
	plan := &commit.Plan{Units: m.archive.Units, Model: m.Model.SHA256, BadInputs: slices.Concat(m.archive.Bad, m.archive.Passed),
		Roots: m.options.In, Key: key.ID()}
	plan.Mark = m.archive.Mark
	sum, err := m.Hash()
	if !m.Write.Spans {
		sum += " private spans"
	}
	if m.Range != nil {
		sum += fmt.Sprint(" range ", m.Range.From, m.Range.To, m.Range.Patients)
	}
	if m.Choose.Use {
		sum += fmt.Sprint(" listed ", fmt.Sprint(choose.ShortlistSizes(m.Choose.K, m.Choose.Review)))
	}
	if m.Anonymity.K > 0 {
		sum += " k-anonymity" // columns and values go elsewhere, whatever k is
	}
	if m.tagged != nil && err == nil {
		err = m.tagged.Check(m.archive.Units)
		sum += " tagged " + m.tagged.Digest
	}
	if err == nil {
		sum, err = m.withShuffled(sum)
	}
	plan.Config = sha256.Sum256([]byte(OutputVersion + sum))
	return plan, err
}

// unitOptions returns the options that decide about units that are done already.
func (m *masking) unitOptions() commit.UnitOptions {
	return commit.UnitOptions{Fresh: m.options.Fresh, Grow: !m.options.Replace, Forget: m.forgets, Vanished: m.Run.Vanished,
		Changed: m.Run.Changed, Compare: m.compare, Rest: rest, Verify: table.Verify}
}

// stands implements commit.UnitOptions.Stands: a unit whose masked parts belong to a sample, read or not, must not be
// rewritten, because a reading is valid for exact bytes.
func (m *masking) stands() func(u *commit.UnitRecord) bool {
	extents := []audit.Extent{selection.Drawn(m.record.private)}
	for _, r := range m.last.readings {
		extents = append(extents, r.Extent)
	}
	return func(u *commit.UnitRecord) bool {
		return slices.ContainsFunc(u.Parts, func(p commit.PartRecord) bool {
			return p.Kind == "masked" && slices.ContainsFunc(extents, func(e audit.Extent) bool { return e.Has(p.SHA256) })
		})
	}
}

// rest is commit.UnitOptions.Rest.
func rest(parts *commit.Parts, of *commit.UnitRecord, open func(commit.PartRecord) (durable.File, error),
	stays func(row int64) bool) (commit.Counts, error) {
	return rewrite.Rest(parts, of, open, stays, choose.Remaining)
}

// units does the units and prints what came out.
func (m *masking) units(ctx context.Context, units *commit.Plan, out commit.Output) error {
	ctx, o, end := m.stage(ctx, m.archive.Rows())
	defer end()
	o.Locked = func() error { return m.writeMarks(units.Planned()) }
	if m.options.Save {
		return errors.Join(m.carry(units), m.save(units, out, o))
	}
	result, err := commit.RunUnits(ctx, units, out, m.nextLine, o)
	return m.ended(result, out, err)
}

// fewNotes are so few that their garbage needs no collecting: 2 kB a note, and some of the largest notes fit into memory.
const fewNotes = 20

// stage prepares the slots in which units are processed, and their counters.
func (m *masking) stage(ctx context.Context, notes int64) (context.Context, commit.UnitOptions, func()) {
	m.progress = m.NewProgress("mask", "notes", notes)
	ctx, gate := newGate(ctx, m.mostFailures)
	m.slots = make([]*slot, m.unitsAtOnce())
	if m.options.Tagged == "" && (notes == 0 || notes > fewNotes) { // 0: of a share that another process planned
		m.SteadyMemory()
	} // else little lives, and to collect what a start leaves took a tenth of a run of one note
	o := m.unitOptions()
	o.AtOnce, o.Stats, o.ByLength, o.Attempt = m.unitsAtOnce(), &m.stats, !m.record.checks, m.attempt
	if m.last != nil {
		o.Finish, o.LastStep = m.finish, strings.TrimSpace(m.last.String()+" "+m.record.lastStep())
		o.Stands = m.stands()
	}
	o.Done = func(u *commit.UnitRecord, reused bool) {
		m.record.unit(u, reused)
		gate.unit(&u.Counts)
		if reused {
			m.progress.Add(u.Rows)
		} else {
			m.giveBack(u.Rows)
		}
		for _, f := range u.Files() {
			if f.Damage != "" {
				m.Log.Warn("unit cannot be decoded and is in quarantine", "path", f.Input, "unit", u.Name, "cause", f.Damage, "rows", f.Rows)
			}
		}
	}
	return ctx, o, func() { gate.stop(nil) }
}

// nextLine makes the line of a unit in a slot.
func (m *masking) nextLine(at int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
	if m.slots[at] == nil {
		var err error
		if m.slots[at], err = m.newSlot(); err != nil {
			return commit.Line{}, err
		}
	}
	return m.line(m.slots[at], u, parts, m.progress)
}

// ended prints the result of a run, and judges it.
func (m *masking) ended(result *commit.Result, out commit.Output, err error) error {
	m.progress.End()
	if err != nil {
		return err
	}
	for _, s := range m.stats.Steps() { // what ARCHITECTURE.md reckons with
		m.Log.Debug("step", "name", s.Name, "notes", s.Notes, "batches", s.Batches, "us_a_note",
			float64(s.Busy.Nanoseconds())/1e3/float64(max(s.Notes, 1)))
	}
	if err := m.logForgotten(); err != nil {
		return err
	}
	m.record.done(result)
	if err := m.printResult(result, out); err != nil || len(m.options.Files) > 0 {
		return err
	}
	return m.verdict(result)
}

// giveBackNotes is the number of notes after which free memory is returned to the system: some three seconds of work,
// so that the collection of 20 ms does not matter.
const giveBackNotes = 250_000

// giveBack returns free memory to the system now and then. Buffers of columns grow in steps, and the gaps that they
// leave are too small for the next step: without it, three million notes took 400 MiB, the first 300,000 took 340.
func (m *masking) giveBack(notes int64) {
	if m.settled += notes; m.settled >= giveBackNotes {
		m.settled = 0
		debug.FreeOSMemory()
	}
}

// finish does the rest of the work when all units are done.
func (m *masking) finish(ctx context.Context, f *commit.Final) error {
	m.slots = nil // their caches are more memory than the last step takes
	if err := m.record.draw.Draw(ctx, f, m.Model.Header().Risk, m.last.readings); err != nil {
		return err
	}
	return m.last.finish(ctx, f)
}

// slot keeps the workers of all steps from one unit to the next, with their cached scores of forms, which each unit
// would have to compute again.
type slot struct {
	steps []pipeline.Step
	made  [][]func(*pipeline.Batch) error // workers of each step
	found *flow.Found                     // of the current unit
	given *files.TaggedUnit               // of the current unit, if its notes were tagged before
	hand  *unitDealt                      // of the current unit; nil: nothing is shuffled
}

func (m *masking) newSlot() (*slot, error) {
	s := &slot{found: new(flow.Found), given: new(files.TaggedUnit)}
	var err error
	if m.tagged != nil {
		var values mask.Dealt
		if m.dealt != nil {
			s.hand = &unitDealt{dealt: m.dealt}
			values = s.hand
		}
		s.steps, err = m.TaggedSteps(s.given, values, m.archive.Kept, s.found)
	} else {
		s.steps, err = m.RunSteps(m.archive.Kept, s.found)
	}
	if err != nil {
		return nil, err
	}
	s.made = make([][]func(*pipeline.Batch) error, len(s.steps))
	return s, nil
}

// begin returns the steps for the next unit: their workers are those of the
// units before.
func (s *slot) begin() []pipeline.Step {
	s.found.Resolve.Take() // what a unit that was given up has counted
	s.found.Mask.Take()
	s.found.Calendar.Take()
	steps := slices.Clone(s.steps)
	for i := range steps {
		next := 0
		steps[i].New = func() func(*pipeline.Batch) error {
			if next == len(s.made[i]) {
				s.made[i] = append(s.made[i], s.steps[i].New())
			}
			next++
			return s.made[i][next-1]
		}
	}
	return steps
}

// line returns the line that moves the notes of one unit.
func (m *masking) line(s *slot, u *commit.Unit, parts *commit.Parts, progress *console.Progress) (commit.Line, error) {
	if m.tagged != nil {
		if err := m.tagged.Load(u, s.given); err != nil {
			return commit.Line{}, err
		}
	}
	if s.hand != nil {
		s.hand.begin(u)
	}
	src, err := m.archive.OpenMixed(u)
	if err != nil {
		return commit.Line{}, err
	}
	steps, found := s.begin(), s.found
	o, err := m.writeOptions()
	o.Part, o.Mixed = m.archive.Mark(u), m.archive.Mixes(u)
	if m.Choose.Use {
		o.Candidates = selection.Shortlist(m.Config)
	}
	if err != nil {
		return commit.Line{}, errors.Join(err, src.Close())
	}
	var sink commit.UnitSink
	if sink, err = unit.New(parts, o); err == nil {
		sink, err = m.Beside(sink, parts, m.archive.Kept, exit.Printable(u.Input), m.Version)
	}
	if err != nil {
		return commit.Line{}, errors.Join(err, src.Close())
	}
	l := commit.Line{Damaged: archive.Damaged(src), Source: src, Steps: steps, Sink: ticking{tallied{sink, found}, progress}}
	if m.options.Spoil != nil {
		m.options.Spoil(&l)
	}
	return l, nil
}

// ticking reports the notes that a unit's sink has taken to the progress bar.
type ticking struct {
	commit.UnitSink
	*console.Progress
}

// Put implements pipeline.Sink.
func (t ticking) Put(b *pipeline.Batch) error {
	t.Progress.Add(int64(b.Len()))
	return t.UnitSink.Put(b)
}

// unitsAtOnce returns the number of units processed at once: one per four cores, because a unit keeps four to seven
// cores busy, limited by its single writer (see ARCHITECTURE.md).
func (m *masking) unitsAtOnce() int {
	if m.Run.Units > 0 {
		return m.Run.Units
	}
	return 1 + (m.Workers()-1)/4
}

// verdict returns the error, with its exit code, for the result of the run.
func (m *masking) verdict(r *commit.Result) error {
	c := r.Manifest.Counts
	c.Quarantined -= report.LeftOut(&c)
	if c.Rows > 0 && float64(c.Quarantined) > m.Write.MaxQuarantined*float64(c.Rows) {
		return exit.Errorf(exit.Quarantined, "look at the reasons in report.json; write.max_quarantined sets the limit",
			"%d of %d notes are in quarantine, more than %.4g %%%s", c.Quarantined, c.Rows, 100*m.Write.MaxQuarantined, damaged(r.Manifest))
	}
	if bad := commit.Faults(r.Bad); len(bad) > 0 { // those of earlier runs were said then
		return flow.BadInputs(bad)
	}
	if c.Rows == 0 && len(r.Manifest.Units) > 0 { // as velum check says of such an output
		return exit.Errorf(exit.Quarantined, "export the archive again, and start the same run", "%s: no row in any file: no note was read",
			r.Manifest.Units[0].Input)
	}
	if r.Nothing {
		return exit.Errorf(exit.Nothing, "", "nothing to do: the output is up to date")
	}
	return nil
}

// damaged names the first file of which a part could not be decoded; "" if there
// is none.
func damaged(m *commit.Manifest) string {
	for _, u := range m.Inputs() {
		if u.Damage != "" {
			return fmt.Sprintf(", %d of them since %s cannot be decoded (%s)", u.Rows, u.Input, u.Damage)
		}
	}
	return ""
}

// runSummary is the output of `velum run --json`.
type runSummary struct {
	Kind string `json:"message_type"`
	commit.Counts
	Units      int      `json:"units"`
	Reused     int      `json:"units_reused"`
	Kept       int      `json:"units_kept"`              // of earlier runs, whose inputs are not given
	Duplicates *int64   `json:"duplicate_ids,omitempty"` // when they were counted
	Seconds    float64  `json:"seconds"`
	PerSecond  float64  `json:"notes_per_second"`
	Out        string   `json:"out"`
	Private    string   `json:"private"`
	Light      string   `json:"light"`
	Sentence   string   `json:"sentence"`          // of report.json in the private tree
	Reasons    []string `json:"reasons,omitempty"` // why the light is red
}

func (m *masking) printResult(r *commit.Result, out commit.Output) error {
	light, sentence, reasons, err := report.Said(m.options.Disk, m.record.private)
	if err != nil {
		return err
	}
	s := runSummary{Kind: "summary", Counts: r.Manifest.Counts, Units: r.Done + r.Reused, Reused: r.Reused, Kept: r.Kept,
		Duplicates: m.last.duplicates, Seconds: time.Since(m.began).Seconds(), Out: out.Dir, Private: m.record.private, Light: light,
		Sentence: sentence, Reasons: reasons}
	s.PerSecond = float64(s.Rows) / s.Seconds
	if m.Quiet && !m.JSON {
		return nil
	}
	return m.Tell(s, summaryText)
}

const summaryText = `{{.rows}} notes: {{.masked}} masked{{with .tally.empty}} ({{.}} of them empty){{end}}, {{.quarantined}} in quarantine; {{.units}} units ({{.units_reused}} done before)
{{- with .units_kept}} and {{.}} of earlier runs{{end}}, {{figure "%.1f" .seconds}} s, {{figure "%.0f" .notes_per_second}} notes/s
{{.light}}: {{.sentence}}
{{range .reasons}}  {{.}}
{{end}}`

// writeOptions returns the options of the configuration for the output. Columns that
// later stages need are read, but only those that are kept are written.
func (m *masking) writeOptions() (unit.Options, error) {
	moved, err1 := m.Dates()
	imitated, err3 := m.Imitated()
	quasi, err2 := anonymize.Columns(m.Config, m.archive.Kept)
	patients := ""
	if m.Read.Columns.Patient != "" {
		patients = input.PatientColumn
	}
	return unit.Options{
		Places: [3]string(input.PlaceColumns), Dates: moved, Heard: m.Model.Header().Heard(), Quasi: quasi, Patients: patients,
		Imitated: imitated,
		Model:    m.Model.Header().Name, Categories: m.Model.TagSet().Categories, Pass: m.Passing(anonymize.Without(m.archive.Kept, quasi)),
		NoSpans: !m.Write.Spans,
		IDs:     m.Read.IDs != "drop", Centers: m.Read.Columns.Center != "", RowGroup: m.Write.RowGroupRows,
	}, errors.Join(err1, err2, err3)
}

// OutputVersion changes whenever the same input, options and model give different bytes, so that a new velum does not
// reuse units of an older one.
const OutputVersion = "velum output 18 patterns " + patterns.Version + " " + configs.PackVersion + " "

// notesPerSecondAndCore is the measured speed on short notes, BENCHMARKS.md.
const notesPerSecondAndCore = 43_000
