package run

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read/archive"
)

// A run has three steps: it is planned, its units are processed, and it is finished. On one machine Mask does all three.
// On several machines each step is a process of its own, and the person or scheduler that starts these processes has to
// tell each only the number of its share (its shard):
//
//	velum run plan      Mask, with Options.Save: ends when plan.json is written
//	velum run           Shard, once or more often for each share
//	velum run finish    Finish
//
// The plan holds the options and digests that it was made with. A shard refuses to work if it finds others.

// carried holds the data that is stored in a plan beside its units.
type carried struct {
	Options json.RawMessage   `json:"options"` // of option.Portable
	Shaping map[string]string `json:"shaping"` // of option.Shaping
	People  string            `json:"people,omitempty"`
	Tagged  string            `json:"tagged,omitempty"`
	Range   *mask.Range       `json:"range,omitempty"`
	Roots   []string          `json:"roots"`
	Checked bool              `json:"checked,omitempty"` // every byte of earlier runs was read again
	Archive json.RawMessage   `json:"archive"`
}

// carry adds to the plan what the other processes need.
func (m *masking) carry(plan *commit.Plan) error {
	full := func(name string) string {
		if abs, err := filepath.Abs(name); name != "" && err == nil {
			return abs
		}
		return name
	}
	w := carried{Tagged: full(m.options.Tagged), Range: m.Range, Checked: m.record.checks}
	for _, root := range plan.Roots {
		w.Roots = append(w.Roots, full(root))
	}
	var errs [5]error
	w.Options, errs[0] = m.Config.Portable()
	w.Shaping, errs[1] = m.Config.Shaping()
	w.People, errs[2] = m.peopleSum()
	w.Archive, errs[3] = json.Marshal(m.archive)
	plan.With, errs[4] = json.Marshal(w)
	return errors.Join(errs[:]...)
}

// peopleSum returns a digest of the patients who are left out, since they affect units but are no option.
func (m *masking) peopleSum() (string, error) {
	h := sha256.New()
	if name := m.Config.People.Exclude; name != "" {
		f, err := os.Open(name)
		if err != nil {
			return "", exit.Misconfiguredf("correct people.exclude", "people.exclude: %w", err)
		}
		_, err = io.Copy(h, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return "", err
		}
	}
	for _, member := range slices.Concat(m.forgotten.Set.Members(), m.forgotten.Objected.Members()) {
		fmt.Fprintf(h, "\n%v", member)
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

// save makes the plan for other processes and says how they go on.
func (m *masking) save(plan *commit.Plan, out commit.Output, o commit.UnitOptions) error {
	p, err := commit.Prepare(plan, out, o)
	if err != nil {
		return err
	}
	err = p.Save()
	units := p.Todo()
	if err := errors.Join(err, p.Close()); err != nil {
		return err
	}
	notes := int64(0)
	for _, i := range units {
		notes += p.Unit(i).Rows
	}
	file, at := filepath.Join(m.record.private, "plan.json"), out.Dir
	if out.Private != commit.PrivateDir(out.Dir) {
		at = file
	}
	if m.JSON {
		return m.WriteJSON(map[string]any{"message_type": "plan", "plan": file, "units": len(units), "notes": notes,
			"unreadable_files": len(commit.Faults(plan.BadInputs))})
	}
	if m.Quiet {
		return nil
	}
	_, err = m.Printf("%d units with %d notes are to be done: velum run --plan %s --shard 1/N ... N/N, then velum run finish %s\n", len(units),
		notes, at, at)
	return err
}

// A loader loads the configuration over the options of a plan.
type loader = func(plan []byte) (*option.Config, error)

// joined opens an existing plan and runs a function on it.
func joined(c *console.Console, o *Options, load loader, do func(m *masking, p *commit.Planned, out commit.Output) error) error {
	return recorded(c, o, func(m *masking) error {
		out := commit.Output{Dir: filepath.Clean(o.Plan), Private: o.Private, FS: o.Disk}
		p, err := commit.ReadPlan(&out)
		if err != nil {
			return o.finished(out, err)
		}
		var w carried
		if json.Unmarshal(p.With, &w) != nil {
			return exit.Errorf(exit.Integrity, "make it anew with `velum run plan`", "%s: the plan is damaged", o.Plan)
		}
		cfg, err := load(w.Options)
		if m.Flow, err = flow.Open(cfg, err); err != nil {
			return err
		}
		out.Group = cfg.Write.Group
		o.In, o.Out, o.Private, o.Tagged = w.Roots, out.Dir, out.Private, w.Tagged
		m.record.checks = w.Checked
		if err := out.Apart(); err != nil {
			return err
		}
		if err := m.open(context.Background(), out); err != nil {
			return err
		}
		defer m.close()
		if err := m.sameAs(p, &w); err != nil {
			return err
		}
		m.record.place(out, w.Roots)
		return do(m, p, out)
	})
}

// finished tells a plan that was committed from one that never existed.
func (o *Options) finished(out commit.Output, err error) error {
	died, bad := out.Unfinished()
	if _, missing := errors.AsType[*commit.PlanError](err); !missing || bad != nil || died || o.Shard != "" {
		return err
	}
	if _, none := commit.ReadManifest(out.Dir); none != nil {
		return err
	}
	return exit.Errorf(exit.Nothing, "", "%s: nothing to do: the plan was finished", out.Dir)
}

// sameAs restores the archive of a plan and returns an error if anything differs from the plan.
func (m *masking) sameAs(p *commit.Planned, w *carried) error {
	o, err := flow.ReadOptions(m.Config)
	if err != nil {
		return err
	}
	m.key, m.Range = o.Key, w.Range
	if m.archive, err = archive.Planned(w.Archive, o, m.fence); err != nil {
		return err
	}
	if hex.EncodeToString(m.Model.SHA256[:]) != p.Model {
		return exit.Misconfiguredf("give that one, or plan anew", "tag.model: %s is another model than the plan was made with",
			m.Config.Tag.Model)
	}
	if o.Key.ID() != p.Key {
		return exit.Errorf(exit.Key, "give that one, or plan anew", "key.file: another key than the plan was made with (%s, not %s)",
			cmp.Or(o.Key.ID(), "none"), cmp.Or(p.Key, "none"))
	}
	shaping, err := m.Config.Shaping()
	if err != nil {
		return err
	}
	var others []string
	for key, sum := range shaping {
		if w.Shaping[key] != sum {
			others = append(others, key)
		}
	}
	if len(others) > 0 {
		slices.Sort(others)
		return exit.Misconfiguredf("leave them as they were, or plan anew",
			"options, or files that they name, are others than the plan was made with: %s", strings.Join(others, ", "))
	}
	if people, err := m.peopleSum(); err != nil || people != w.People {
		return errors.Join(err, exit.Misconfiguredf("plan anew", "people.exclude: others object, or are forgotten, than when the plan was made"))
	}
	now, err := m.plan(o.Key)
	if err == nil && hex.EncodeToString(now.Config[:]) != p.Config {
		err = exit.Misconfiguredf("use the version that made it, or plan anew", "another version of velum made the plan")
	}
	return err
}

// Shard masks one share of a planned run; o.Shard is I/N. It does not judge the result; Finish does.
func Shard(ctx context.Context, c *console.Console, load loader, o *Options) error {
	var k, n int
	if _, err := fmt.Sscanf(o.Shard+" ", "%d/%d ", &k, &n); err != nil || k < 0 || k > n || n < 1 || n > mostShards {
		return exit.Misconfiguredf("say which share of how many, as --shard 3/12",
			"--shard: want I/N with I from 1 to N, or from 0 to N-1, and N up to %d", mostShards)
	}
	if k == 0 { // whoever counts from 0 does not have N
		k = n
	}
	return joined(c, o, load, func(m *masking, p *commit.Planned, out commit.Output) error {
		ctx, end := m.bounded(ctx)
		defer end()
		m.record.shard(fmt.Sprintf("%s-%dof%d-%s", p.Run, k, n, m.attempt))
		ctx, err := m.record.begin(ctx, p, out, m.Config)
		if err != nil {
			return err
		}
		m.mostFailures = 10_000 // finish judges all shares together
		ctx, o, end := m.stage(ctx, 0)
		defer end()
		plan, err := commit.Join(out, o, p, false)
		if err != nil {
			return err
		}
		notes := int64(0)
		for _, i := range plan.Share(k-1, n) {
			if err := m.archive.Unchanged(plan.Unit(i)); err != nil {
				return exit.With(exit.Integrity, err, "put the file back as it was, or plan anew")
			}
			notes += plan.Unit(i).Rows
		}
		m.progress = m.NewProgress("mask", "notes", notes)
		err = plan.DoShare(ctx, k-1, n, m.nextLine)
		m.progress.End()
		if err != nil || m.Quiet {
			return err
		}
		_, err = m.Printf("shard %d/%d: %d notes, %.1f s\n", k, n, notes, time.Since(m.began).Seconds())
		return err
	})
}

// mostShards is the largest number of shards, as a guard against typing errors.
const mostShards = 100_000

// attemptID returns a random name for this process, so that two processes that do the same share at the same time do
// not write the same files.
func attemptID() string {
	var id [6]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// Finish completes a run whose shards are done: it judges the result, runs the last step and commits.
func Finish(ctx context.Context, c *console.Console, load loader, o *Options) error {
	return joined(c, o, load, func(m *masking, p *commit.Planned, out commit.Output) error {
		ctx, end := m.bounded(ctx)
		defer end()
		var err error
		if m.last, err = newLastStep(m); err != nil {
			return err
		}
		checked := m.record.checks
		if ctx, err = m.record.begin(ctx, p, out, m.Config); err != nil {
			return err
		}
		m.record.checks = checked
		if err := m.record.shards(p.Run); err != nil {
			return err
		}
		ctx, o, end := m.stage(ctx, 0)
		defer end()
		o.ByLength = true
		plan, err := commit.Join(out, o, p, true)
		if err != nil {
			return err
		}
		result, err := plan.Commit(ctx)
		return m.ended(result, out, errors.Join(err, plan.Close()))
	})
}

// shard makes the log that of an attempt at a share.
func (r *record) shard(name string) {
	r.Audit = filepath.Join(r.private, audit.ShardName(name))
	r.part = "shard"
}

// shards writes the heads of the logs of all shards of a plan into the audit log.
func (r *record) shards(run string) error {
	units, entries, err := audit.Shards(r.private, run)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if r.logged[e.Shard] {
			continue
		}
		line := r.line("shard")
		line.Shard, line.Head = e.Shard, e.Head
		if err := r.append(line); err != nil {
			return err
		}
	}
	for _, name := range units {
		r.logged[name] = true
	}
	return nil
}
