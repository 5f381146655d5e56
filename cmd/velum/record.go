package main

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/pipeline"
)

// maxSample bounds the memory of a sample. Nobody reads a million notes.
const maxSample = 1_000_000

// record is what a run leaves about itself besides its output: lines in the
// audit log, and a file for Prometheus.
//
//	keep ── begin: "start" ── unit: "unit" … ── end of keep: "end", metrics
//
// Both say how the run ended, so they are written around everything else.
// A run that cannot write its audit log does not begin.
type record struct {
	*app
	metrics string // file for Prometheus, "" for none
	log     string // the audit log, "" for that of the private tree
	sample  int    // masked notes to draw for a person to read
	emptyOK bool   // exit code 0 when there is nothing to do

	began   time.Time
	plan    *pipeline.Plan // nil until begin
	policy  string
	stop    context.CancelCauseFunc
	summary runMetrics
	logged  map[string]bool // units that the audit log has a line of

	mu     sync.Mutex
	failed error // why the audit log could not go on
}

func (r *record) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&r.metrics, "metrics", "", "`FILE` for Prometheus' textfile collector; its name must end in .prom")
	c.Flags().BoolVar(&r.emptyOK, "empty-ok", false, "end with exit code 0, not 4, when there is nothing to do; for Kubernetes, which knows no other success")
	c.Flags().IntVar(&r.sample, "audit", 0, "draw `N` masked notes at random for a person to read: their ids and offsets, in audit/ of the private tree")
	c.Flags().StringVar(&r.log, "audit-log", "", "`FILE` of the audit log (default: _audit/audit.jsonl in the private tree)")
}

// lastStep names what finish does: another sample is drawn when it changes.
func (r *record) lastStep() string {
	if r.sample == 0 {
		return ""
	}
	return fmt.Sprintf("audit %d", r.sample)
}

// finish is the last step of the run: it draws the sample.
func (r *record) finish(ctx context.Context, f *pipeline.Final) error {
	if r.sample == 0 {
		return nil
	}
	return auditSample(ctx, f, r.sample)
}

// keep calls do and writes down how it ended.
func (r *record) keep(a *app, do func() error) error {
	r.app, r.began = a, time.Now()
	if r.metrics != "" && filepath.Ext(r.metrics) != ".prom" {
		return exitf(exitConfig, "the collector reads no other", "--metrics: the name must end in .prom")
	}
	if r.sample < 0 || r.sample > maxSample {
		return exitf(exitConfig, "see `velum audit prove --help` for how many", "--audit: want 0 to %d notes", maxSample)
	}
	err := do()
	if r.emptyOK && exitCodeOf(err) == exitNothing {
		a.log.Info(err.Error())
		err = nil
	}
	if r.plan != nil {
		err = r.end(err)
	}
	if r.metrics == "" {
		return err
	}
	m := &r.summary
	m.Exit, m.Began, m.Ended = exitCodeOf(err), r.began, time.Now()
	if bad := m.write(r.metrics); bad != nil {
		r.app.log.Error("no metrics", "file", r.metrics, "cause", bad)
		if err == nil {
			err = bad
		}
	}
	return err
}

// begin writes the first line of a run. The context that it returns ends when
// the audit log cannot go on.
func (r *record) begin(ctx context.Context, plan *pipeline.Plan, out pipeline.Output, policy string) (context.Context, error) {
	if r.log == "" {
		private := out.Private
		if private == "" {
			private = filepath.Clean(out.Dir) + ".private"
		}
		r.log = filepath.Join(private, filepath.FromSlash(pipeline.AuditName))
	}
	// A policy may be a file: its name says enough, its content is in the hash
	// of the configuration.
	r.policy = filepath.Base(policy)
	if err := r.append(plan.Audit("start")); err != nil {
		return nil, err
	}
	r.plan = plan
	var err error
	if r.logged, err = pipeline.AuditUnits(r.log); err != nil {
		return nil, err
	}
	ctx, r.stop = context.WithCancelCause(ctx)
	return ctx, nil
}

func (r *record) append(e pipeline.AuditEntry) error {
	e.Policy = r.policy
	head, err := pipeline.AppendAudit(r.log, e)
	if err != nil {
		return err
	}
	if e.Event == "end" {
		r.app.log.Info("audit log", "file", r.log, "head", head)
	}
	return nil
}

// unit writes the line of a unit that was done. Units found done have theirs
// from the run that did them, unless it was killed in between.
func (r *record) unit(u *pipeline.UnitRecord, reused bool) {
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
	e := r.plan.Audit(event)
	e.Unit, e.Counts = u.Name, &u.Counts
	if r.failed = r.append(e); r.failed != nil {
		r.stop(r.failed)
	}
}

// done takes the counts of a run that was committed.
func (r *record) done(result *pipeline.Result) { r.summary.Counts = &result.Manifest.Counts }

// end writes the last line.
func (r *record) end(err error) error {
	if r.stop != nil {
		r.stop(nil)
	}
	if err == nil {
		err = r.failed
	}
	code := int(exitCodeOf(err))
	e := r.plan.Audit("end")
	e.Exit, e.Counts, e.Units, e.Reused = &code, r.summary.Counts, r.summary.UnitsNow, r.summary.Reused
	if r.failed != nil {
		return err
	}
	// What ended the run goes first: its exit code is what counts.
	if bad := r.append(e); err == nil {
		err = bad
	} else if bad != nil {
		r.app.log.Error("the audit log lacks the end of this run", "cause", bad)
	}
	return err
}
