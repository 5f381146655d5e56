package run

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/selection"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// RecordOptions says which records a run writes beside its output: metrics, audit log, sample.
type RecordOptions struct {
	Metrics string // file for Prometheus, "" for none
	Audit   string // the audit log, "" for that of the private tree
	Sample  string // number of masked notes to draw for a reader, or the share to prove, as 0.5%; "": none
	EmptyOK bool   // exit code 0 when there is nothing to do
}

// record writes what happens in a run to two files beside its output: lines of the audit log, and metrics for Prometheus.
//
//	keep ── begin: "start" ── unit: "unit" … ── end of keep: "end", metrics
//
// Both files say how the run ended, so keep calls everything else that the run does. A run that cannot write its audit
// log does not begin.
type record struct {
	*console.Console
	RecordOptions

	roots   []string // that were looked through
	began   time.Time
	begun   bool
	part    string       // of a run that this process does, plan or shard; "": all, or its end
	of      audit.Entry  // what all lines of the run say: the plan's name is a hash of all units
	about   report.About // of the page beside the audit log
	lang    string
	private string // tree that report.json is in
	draw    selection.Sample
	stop    context.CancelCauseFunc
	summary report.Metrics
	logged  map[string]bool // units that the audit log has a line of
	checks  bool            // every byte of earlier runs is read again

	log    *audit.Writer // nil before the first line
	mu     sync.Mutex
	failed error // why the audit log could not go on
}

// lastStep names the settings of the sample. If they change, the last step runs again and draws another sample.
func (r *record) lastStep() string {
	if !r.draw.Wanted() {
		return ""
	}
	return "audit " + r.draw.String()
}

// keep calls do between the first and the last line of the record, and records how it ended.
func (r *record) keep(do func() error) error {
	r.began = time.Now()
	if r.Metrics != "" && filepath.Ext(r.Metrics) != ".prom" {
		return exit.Misconfiguredf("the collector reads no other", "--metrics: the name must end in .prom")
	}
	var err error
	if r.draw, err = selection.ParseSample(r.Sample); err != nil {
		return err
	}
	err = do()
	if r.EmptyOK && exit.CodeOf(err) == exit.Nothing {
		r.Log.Info(err.Error())
		err = nil
	}
	if r.begun {
		err = r.end(err)
	}
	m := &r.summary
	m.Version, m.Exit, m.Began, m.Ended = r.Version, exit.CodeOf(err), r.began, time.Now()
	return r.metrics(err)
}

// metrics writes the file for Prometheus if one is wanted. It returns err if there is one, and otherwise the error of
// writing.
func (r *record) metrics(err error) error {
	if r.Metrics == "" {
		return err
	}
	bad := r.summary.Write(r.Metrics)
	if bad != nil {
		r.Log.Error("no metrics", "file", r.Metrics, "cause", bad)
	}
	if err == nil {
		err = bad
	}
	return err
}

// place sets where the private tree and the audit log of an output are.
func (r *record) place(out commit.Output, roots []string) {
	r.roots = roots
	r.private = out.Private
	r.Audit = cmp.Or(r.Audit, audit.LogIn(r.private))
}

// readings returns the log with the readings: that of the tree, even if the run logs elsewhere.
func (r *record) readings() string { return audit.LogIn(r.private) }

// begin writes the first line of a run. The context that it returns ends when
// the audit log cannot go on.
func (r *record) begin(ctx context.Context, plan *commit.Planned, out commit.Output, c *option.Config) (context.Context, error) {
	r.about.Inputs, r.about.Output, r.lang = r.roots, out.Dir, c.Report.Lang
	// A policy may be a file. The audit log gets only its name: the hash of the configuration covers its content.
	r.of = audit.Of(plan, "")
	r.of.Policy, r.about.Run = filepath.Base(c.Mask.Policy), r.of.Run
	event := "start"
	if r.part == "plan" {
		event = r.part
	}
	if err := r.append(r.line(event)); err != nil {
		return nil, err
	}
	r.begun = true
	past, err := audit.ReadPast(r.Audit)
	if err != nil {
		return nil, err
	}
	r.logged, r.checks = past.Units, past.Due(c.Recheck())
	ctx, r.stop = context.WithCancelCause(ctx)
	return ctx, nil
}

// line begins a line of the audit log.
func (r *record) line(event string) audit.Entry {
	e := r.of
	e.Event = event
	return e
}

func (r *record) append(entries ...audit.Entry) error {
	if r.log == nil {
		r.log = audit.NewWriter(r.Audit)
	}
	head, err := r.log.Append(entries...)
	if err != nil {
		return err
	}
	if entries[len(entries)-1].Event == "end" {
		r.about.Head = head
		r.Log.Info("audit log", "file", r.Audit, "head", head)
	}
	return nil
}

// unit writes the line of a unit that was done. Units found done have theirs
// from the run that did them, unless it was killed in between.
func (r *record) unit(u *commit.UnitRecord, reused bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	event := "unit"
	if reused {
		event = "found"
		r.summary.Reused++
	} else {
		r.summary.UnitsNow++
		r.summary.NotesNow += u.Rows
	}
	if r.failed != nil || reused && r.logged[u.Name] {
		return
	}
	e := r.line(event)
	e.Unit, e.Counts = u.Name, &u.Counts
	if r.failed = r.append(e); r.failed != nil {
		r.stop(r.failed)
	}
}

// done takes over the counts of a run that was committed.
func (r *record) done(result *commit.Result) { r.summary.Counts = &result.Manifest.Counts }

// end writes the last line.
func (r *record) end(err error) error {
	if r.stop != nil {
		r.stop(nil)
	}
	if err == nil {
		err = r.failed
	}
	if r.part == "plan" && err == nil {
		return nil // whoever finishes the plan ends it
	}
	code := int(exit.CodeOf(err))
	e := r.line("end")
	e.Exit, e.Counts, e.Units, e.Reused = &code, r.summary.Counts, r.summary.UnitsNow, r.summary.Reused
	e.Check = r.checks && r.summary.Counts != nil
	if r.failed != nil {
		return err
	}
	// An error that ended the run is returned before one of the audit log, because it decides the exit code.
	if bad := r.append(e); err == nil {
		err = bad
	} else if bad != nil {
		r.Log.Error("the audit log lacks the end of this run", "cause", bad)
	}
	if r.part != "" {
		return err
	}
	if bad := r.page(err); bad != nil {
		r.Log.Error("no page of this run", "cause", bad)
	}
	return err
}

// page writes the page of this run.
func (r *record) page(err error) error {
	a := &r.about
	a.Exit, a.Date = int(exit.CodeOf(err)), r.began.Format("2006-01-02 15:04:05 -07:00")
	if err != nil && r.summary.Counts == nil {
		a.Stop = err.Error()
	}
	data, bad := os.ReadFile(filepath.Join(r.private, "report.json"))
	if bad != nil && !errors.Is(bad, fs.ErrNotExist) {
		return bad
	}
	page, bad := report.AboutPage(data, r.lang, a)
	if bad != nil {
		return bad
	}
	name := filepath.Join(r.private, audit.PageName)
	if bad := durable.WriteFile(nil, name, audit.SealPage(page)); bad != nil {
		return bad
	}
	r.Log.Info("report", "file", name)
	return nil
}
