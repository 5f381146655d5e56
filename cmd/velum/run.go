package main

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/velum-health/velum/models/patterns"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/resolve"
	"github.com/velum-health/velum/stages/write"
)

type runFlags struct {
	in           []string
	out, private string
	fresh, dry   bool
	record       record
}

func newRunCommand(a *app) *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run --in ARCHIVE --out DIR",
		Short: "Mask an archive: months of Parquet in, masked Parquet out",
		Long: `Mask every note of an archive. The archive is a Parquet file, a dump of a|b|c ids
and text, or a folder of them. DIR gets masked/, spans/, report.html, report.json and
manifest.json; what holds words of notes (candidates, the selection set, quarantine)
goes to a tree of its own, DIR.private.

A run that was stopped goes on where it stopped when the same command is given again.`,
		Example: `  velum run --in archive/ --out masked/
  velum run --in 2026-01.parquet --out masked/ --model meddocan --recall 0.995
  velum run --in archive/ --out masked/ --dry-run     # what would be done, and how long it takes`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if f.dry {
				return a.mask(c.Context(), &f)
			}
			return f.record.keep(a, func() error { return a.mask(c.Context(), &f) })
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.in, "in", nil, "`ARCHIVE`: file or folder, may be repeated")
	flags.StringVar(&f.out, "out", "", "`DIR` to write")
	flags.StringVar(&f.private, "private", "", "`DIR` for what holds words of notes (default: --out with .private)")
	flags.BoolVar(&f.fresh, "fresh", false, "do everything again, whatever is done already")
	flags.BoolVar(&f.dry, "dry-run", false, "print the plan with counts and a time estimate, write nothing")
	f.record.addFlags(c)
	a.optionFlag(c, "model", "tag.model")
	a.optionFlag(c, "recall", "tag.recall")
	a.optionFlag(c, "policy", "mask.policy")
	a.optionFlag(c, "workers", "run.workers")
	a.optionFlag(c, "units", "run.units")
	a.optionFlag(c, "memory-limit", "run.memory_limit")
	a.optionFlag(c, "deadline", "run.deadline")
	return c
}

// masking is one run of `velum run`.
type masking struct {
	*app
	*plan
	flags   *runFlags
	archive *read.Archive
	last    *lastStep
	fence   *read.Fence
	slots   []*slot
	stats   pipeline.Stats
	began   time.Time
	settled int64 // notes of units that were done since memory was given back
}

func (a *app) mask(ctx context.Context, f *runFlags) error {
	if len(f.in) == 0 || f.out == "" {
		return exitf(exitConfig, "see `velum run --help`", "--in and --out are needed")
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	a.setMemory(cfg.Run.MemoryLimit)
	if cfg.Run.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, cfg.Run.Deadline, errDeadline)
		defer cancel()
		defer a.endHard(ctx)()
	}
	out := pipeline.Output{Dir: f.out, Private: f.private, FS: a.disk}
	if err := out.Apart(f.in...); err != nil {
		return exit(exitConfig, err, "name an output outside the archive")
	}
	p, err := newPlan(cfg)
	if err != nil {
		return err
	}
	m := &masking{app: a, plan: p, flags: f, began: time.Now(), fence: read.NewFence(read.FenceOptions{Memory: int64(cfg.Run.DecodeMemory)})}
	defer m.fence.Close()
	units, err := m.scan(ctx)
	if err != nil {
		return err
	}
	if f.dry {
		return m.printPlan(units)
	}
	if m.last, err = newLastStep(p, m.archive); err != nil {
		return err
	}
	if ctx, err = f.record.begin(ctx, units, out, cfg.Mask.Policy); err != nil {
		return err
	}
	return m.units(ctx, units, out)
}

// scan finds the units of the archive.
func (m *masking) scan(ctx context.Context) (*pipeline.Plan, error) {
	o, err := m.readOptions()
	if err != nil {
		return nil, err
	}
	o.Fence = m.fence
	m.archive, err = read.Scan(ctx, m.flags.in, o)
	if err != nil {
		return nil, inputError(err)
	}
	for _, d := range m.archive.Drift {
		m.log.Warn("files of the archive differ", "path", d.Path, "column", d.Column, "change", d.Change)
	}
	for _, b := range m.archive.Bad {
		m.log.Warn("file cannot be read; the others go on", "path", b.Input, "cause", b.Cause)
	}
	if len(m.archive.Units) == 0 && len(m.archive.Bad) == 0 {
		return nil, exitf(exitNothing, "look at --in", "no notes in the archive")
	}
	plan := &pipeline.Plan{Units: m.archive.Units, Model: m.model.sha256, BadInputs: m.archive.Bad}
	if o.Key != nil {
		plan.Key = o.Key.ID()
	}
	sum, err := m.hash()
	plan.Config = sha256.Sum256([]byte(outputVersion + sum))
	return plan, err
}

// units does the units and prints what came out.
func (m *masking) units(ctx context.Context, units *pipeline.Plan, out pipeline.Output) error {
	progress := m.newProgress("mask", "notes", m.archive.Rows())
	ctx, gate := newGate(ctx, m.Run.MaxFailures)
	defer gate.stop(nil)
	m.slots = make([]*slot, m.unitsAtOnce())
	m.steadyMemory()
	result, err := pipeline.RunUnits(ctx, units, out, func(at int, u *pipeline.Unit, parts *pipeline.Parts) (pipeline.Line, error) {
		if m.slots[at] == nil {
			var err error
			if m.slots[at], err = m.newSlot(); err != nil {
				return pipeline.Line{}, err
			}
		}
		return m.line(m.slots[at], u, parts, progress)
	}, pipeline.UnitOptions{
		AtOnce: m.unitsAtOnce(), Fresh: m.flags.fresh, Verify: write.Verify, Stats: &m.stats,
		Done: func(u *pipeline.UnitRecord, reused bool) {
			m.flags.record.unit(u, reused)
			gate.unit(&u.Counts)
			if reused {
				progress.Add(u.Rows)
			} else {
				m.giveBack(u.Rows)
			}
			if u.Damage != "" {
				m.log.Warn("unit cannot be decoded and is in quarantine", "path", u.Input, "unit", u.Name, "cause", u.Damage, "rows", u.Rows)
			}
		},
		Finish: m.finish, LastStep: strings.TrimSpace(m.last.String() + " " + m.flags.record.lastStep()),
	})
	progress.End()
	if err != nil {
		return err
	}
	for _, s := range m.stats.Steps() { // what ARCHITECTURE.md reckons with
		m.log.Debug("step", "name", s.Name, "notes", s.Notes, "batches", s.Batches, "us_a_note", float64(s.Busy.Nanoseconds())/1e3/float64(max(s.Notes, 1)))
	}
	m.flags.record.done(result)
	if err := m.printResult(result, out); err != nil {
		return err
	}
	return m.verdict(result)
}

// giveBackNotes is after how many notes memory that is free goes back to the
// system: some three seconds of work, so that the collection it takes, 20 ms,
// does not count.
const giveBackNotes = 250_000

// giveBack gives free memory back to the system now and then. Buffers of a
// unit's columns grow in steps, and the holes that they leave are too small for
// the next step: without it 3 M notes took 400 MiB where the first 300 k took
// 340, and each million a little more.
func (m *masking) giveBack(notes int64) {
	if m.settled += notes; m.settled >= giveBackNotes {
		m.settled = 0
		debug.FreeOSMemory()
	}
}

// finish is what is left to do when all units are done.
func (m *masking) finish(ctx context.Context, f *pipeline.Final) error {
	m.slots = nil // their caches are more memory than the last step takes
	if err := m.flags.record.finish(ctx, f); err != nil {
		return err
	}
	return m.last.finish(ctx, f)
}

// slot is what a slot keeps from one unit to the next: the workers of all
// steps, with the scores of forms that they have cached, which a new unit
// would have to compute again.
type slot struct {
	steps []pipeline.Step
	made  [][]func(*pipeline.Batch) error // workers of each step
	found *resolve.Counts                 // of the unit at hand
}

func (m *masking) newSlot() (*slot, error) {
	s := &slot{found: new(resolve.Counts)}
	var err error
	if s.steps, err = m.runSteps(s.found); err != nil {
		return nil, err
	}
	s.made = make([][]func(*pipeline.Batch) error, len(s.steps))
	return s, nil
}

// begin returns the steps for the next unit: their workers are those of the
// units before.
func (s *slot) begin() []pipeline.Step {
	s.found.Take() // what a unit that was given up has counted
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

// line is what moves the notes of one unit.
func (m *masking) line(s *slot, u *pipeline.Unit, parts *pipeline.Parts, progress *progress) (pipeline.Line, error) {
	src, err := m.archive.Open(u)
	if err != nil {
		return pipeline.Line{}, err
	}
	steps, found := s.begin(), s.found
	sink, err := write.NewUnit(parts, m.writeOptions())
	if err != nil {
		return pipeline.Line{}, errors.Join(err, src.Close())
	}
	l := pipeline.Line{Source: src, Steps: steps, Sink: ticking{tallied{sink, found}, progress}}
	if m.spoil != nil {
		m.spoil(&l)
	}
	return l, nil
}

// ticking tells the progress what a unit's sink has taken.
type ticking struct {
	pipeline.UnitSink
	*progress
}

func (t ticking) Put(b *pipeline.Batch) error {
	t.progress.Add(int64(b.Len()))
	return t.UnitSink.Put(b)
}

// unitsAtOnce: one unit keeps four cores busy, and seven at the most, since its
// writer is one goroutine: see ARCHITECTURE.md.
func (m *masking) unitsAtOnce() int {
	if m.Run.Units > 0 {
		return m.Run.Units
	}
	return 1 + (m.workers-1)/4
}

var errDeadline = errors.New("stopped at run.deadline")

// verdict turns what happened into an exit code.
func (m *masking) verdict(r *pipeline.Result) error {
	c := r.Manifest.Counts
	if c.Rows > 0 && float64(c.Quarantined) > m.Write.MaxQuarantined*float64(c.Rows) {
		return exitf(exitQuarantined, "look at the reasons in report.json; write.max_quarantined sets the limit",
			"%d of %d notes are in quarantine, more than %.4g %%", c.Quarantined, c.Rows, 100*m.Write.MaxQuarantined)
	}
	if len(r.Manifest.BadInputs) > 0 {
		return badInputs(r.Manifest.BadInputs)
	}
	if r.Nothing {
		return exitf(exitNothing, "", "nothing to do: the output is up to date")
	}
	return nil
}

// badInputs names the first of the files that could not be read; the log and
// the private manifest name all.
func badInputs(bad []pipeline.BadInput) error {
	remedy, others := "ask for it again", ""
	if len(bad) > 1 {
		remedy, others = "ask for them again; the private manifest has all causes", fmt.Sprintf("; %d other files could not be read", len(bad)-1)
	}
	return exitf(exitQuarantined, remedy, "%s: %s%s", bad[0].Input, bad[0].Cause, others)
}

// summary is what `velum run --json` prints.
type summary struct {
	Kind string `json:"message_type"`
	pipeline.Counts
	Units      int     `json:"units"`
	Reused     int     `json:"units_reused"`
	Duplicates *int64  `json:"duplicate_ids,omitempty"` // when they were counted
	Seconds    float64 `json:"seconds"`
	PerSecond  float64 `json:"notes_per_second"`
	Out        string  `json:"out"`
	Private    string  `json:"private"`
}

func (m *masking) printResult(r *pipeline.Result, out pipeline.Output) error {
	private := out.Private
	if private == "" {
		private = out.Dir + ".private"
	}
	s := summary{Kind: "summary", Counts: r.Manifest.Counts, Units: r.Done + r.Reused, Reused: r.Reused,
		Duplicates: m.last.duplicates, Seconds: time.Since(m.began).Seconds(), Out: out.Dir, Private: private}
	s.PerSecond = float64(s.Rows) / s.Seconds
	if m.json {
		return json.NewEncoder(m.out).Encode(s)
	}
	return s.table(m.out)
}

func (s *summary) table(w io.Writer) error {
	_, err := fmt.Fprintf(w, "%d notes: %d masked, %d in quarantine; %d units (%d done before), %.1f s, %.0f notes/s\n",
		s.Rows, s.Masked, s.Quarantined, s.Units, s.Reused, s.Seconds, s.PerSecond)
	return err
}

// readOptions is what the configuration says of the input.
func (c *Config) readOptions() (o read.ParquetOptions, err error) {
	r := &c.Read
	o = read.ParquetOptions{
		ID: r.Columns.ID, Text: r.Columns.Text, PatientID: r.Columns.Patient, Date: r.Columns.Date, Center: r.Columns.Center,
		Pass: r.Keep, MaxText: int(r.MaxNoteBytes), BatchBytes: int(r.BatchBytes), BatchNotes: r.BatchNotes,
		UnitNotes: int64(r.UnitNotes), Opaque: r.Opaque, Checksums: r.SHA256,
	}
	switch r.IDs {
	case "keyed":
		o.IDs = read.KeyIDs
	case "drop":
		o.IDs = read.DropIDs
	}
	if r.NullIDs == "number" {
		o.NullIDs = read.NumberNullIDs
	}
	if c.Key.File != "" {
		o.Key, err = pipeline.LoadKey(c.Key.File)
	} else if o.IDs == read.KeyIDs || o.Opaque {
		err = exitf(exitKey, "name its file with key.file", "keyed ids and opaque folders need a key")
	}
	return o, err
}

// writeOptions is what the configuration says of the output. Columns that
// later stages need are read, but only those that are kept are written.
func (m *masking) writeOptions() write.UnitOptions {
	var pass []pipeline.Column
	for _, c := range m.archive.Extra {
		if slices.Contains(m.Read.Keep, c.Name) {
			pass = append(pass, pipeline.Column{Name: c.Name, Kind: c.Kind})
		}
	}
	return write.UnitOptions{
		Model: m.model.header.Name, Categories: m.model.tagSet.Categories, Pass: pass, NoSpans: !m.Write.Spans,
		NoCandidates: !m.Choose.Use, QuarantineText: m.Write.QuarantineText, RowGroup: m.Write.RowGroupRows,
	}
}

// printPlan prints what a run would do. The time is that of a machine like the
// one of BENCHMARKS.md.
func (m *masking) printPlan(units *pipeline.Plan) error {
	rows := m.archive.Rows()
	seconds := float64(rows) / notesPerSecondAndCore / float64(m.workers)
	if m.json {
		return json.NewEncoder(m.out).Encode(map[string]any{
			"files": len(m.archive.Files), "units": len(units.Units), "notes": rows, "unreadable_files": len(units.BadInputs),
			"workers": m.workers, "estimated_seconds": seconds,
		})
	}
	for _, f := range m.archive.Files {
		if _, err := fmt.Fprintf(m.out, "%s: %d notes, %.1f MB\n", f.Path, f.Rows, float64(f.Bytes)/1e6); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(m.out, "%d files, %d units, %d notes with %d workers: about %v; nothing was written\n",
		len(m.archive.Files), len(units.Units), rows, m.workers, time.Duration(seconds*float64(time.Second)).Round(time.Second))
	return err
}

// outputVersion changes whenever the same input, options and model give other
// bytes, so that a new velum does not take an old one's units for its own.
const outputVersion = "velum output 2 patterns " + patterns.Version + " "

// notesPerSecondAndCore is the measured speed on short notes, BENCHMARKS.md.
const notesPerSecondAndCore = 43_000
