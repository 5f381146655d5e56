package run

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/archive"
)

// Forget removes files or a patient from an output: it deletes the parts made from them and repeats the last step for
// the rest, with the options of the last run and no new input. Files are named by path as given to the run or as in the
// private manifest, by a path.Match pattern of the latter, or by their value in column part.
func Forget(ctx context.Context, c *console.Console, load func() (*option.Config, error), o *Options) error {
	seeHelp := "see `velum run forget --help`"
	if (len(o.Files) == 0) == (len(o.Patients) == 0) || o.TakeBack && len(o.Files) > 0 {
		return exit.Misconfiguredf(seeHelp, "name the files to forget, or --patient, and not both")
	}
	if len(o.Files) > 0 && (len(o.In) > 0 || o.Save) {
		return exit.Misconfiguredf(seeHelp, "--in and --plan go with --patient")
	}
	r := &record{Console: c, RecordOptions: o.Record}
	do := func() error {
		cfg, err := load()
		if err != nil {
			return err
		}
		m := newMasking(c, o, r)
		if m.Flow, err = flow.New(cfg); err != nil {
			return err
		}
		switch {
		case o.TakeBack:
			return m.takeBack(commit.Output{Dir: o.Out, Private: o.Private, FS: o.Disk})
		case len(o.Patients) > 0:
			return m.mask(ctx)
		}
		return m.forget(ctx, o.Files)
	}
	if o.Dry {
		return do()
	}
	return r.keep(do)
}

func (m *masking) forget(ctx context.Context, names []string) (err error) {
	cfg := m.Config
	cfg.Choose.Use = cfg.Choose.Use && m.options.Tagged == "" // as in mask
	out := commit.Output{Dir: m.options.Out, Private: m.options.Private, FS: m.options.Disk, Group: cfg.Write.Group}
	if err := out.Apart(); err != nil {
		return err
	}
	ro, err := flow.ReadOptions(cfg)
	if err != nil {
		return err
	}
	if mo, err := m.MaskOptions(); err != nil {
		return err
	} else if len(mo.Shuffled()) > 0 {
		return exit.Misconfiguredf("take them out of the archive, and deal the others anew: velum mask --tagged DIR --in ARCHIVE --out "+out.Dir+" --set run.vanished=remove, with the same options",
			"%s: the policy shuffles, so values of these files stand in notes of others", out.Dir)
	}
	m.archive = new(archive.Archive)
	if err := m.openTagged(); err != nil {
		return err
	}
	if err := m.trims(ctx); err != nil {
		return err
	}
	plan, err := m.plan(ro.Key)
	if err != nil {
		return err
	}
	if err := m.sameOptions(plan); err != nil {
		return err
	}
	gone := map[string]*commit.UnitRecord{}
	o := m.unitOptions()
	o.Grow, o.Forget = true, func(u *commit.UnitRecord, at string) bool {
		return matches(names, u.Input, at) || marked(names, u)
	}
	if m.changes, err = commit.Changes(plan, out, o); err != nil {
		return err
	}
	if counts := countFates(m.changes); len(counts) == 0 || counts[len(counts)-1].Fate != "removed" {
		// What a start that was killed took out of the manifests may still
		// stand in the trees: this one ends it.
		if died, err := out.Unfinished(); err != nil || !died || m.options.Dry {
			return errors.Join(err, exit.Errorf(exit.Nothing, "the private manifest lists the inputs", "nothing in the output was made of these files"))
		}
	}
	if m.options.Dry {
		return m.printChanges()
	}
	m.logChanges()
	m.record.place(out, plan.Roots)
	if m.last, err = newLastStep(m.Flow, m.tagged, m.archive, m.Version, m.record.readings()); err != nil {
		return err
	}
	if ctx, err = m.record.begin(ctx, plan.Planned(), out, cfg); err != nil {
		return err
	}
	forget := o.Forget
	o.Forget = func(u *commit.UnitRecord, at string) bool {
		if !forget(u, at) {
			return false
		}
		if u.Name != "" {
			gone[u.Name] = u
		}
		return true
	}
	o.ByLength, o.Done, o.Finish, o.LastStep = !m.record.checks, m.record.unit, m.finish, strings.TrimSpace(m.last.String()+" "+m.record.lastStep())
	result, err := commit.RunUnits(ctx, plan, out, nil, o)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(gone)) {
		u := gone[name]
		e := m.record.line("forget")
		e.Unit, e.Counts = u.Name, &u.Counts
		if err := m.record.append(e); err != nil {
			return err
		}
	}
	m.record.done(result)
	return m.printResult(result, out)
}

// sameOptions checks that the output was made with the present options, because the last step is repeated with them.
func (m *masking) sameOptions(plan *commit.Plan) error {
	old, err := commit.ReadManifest(m.options.Out)
	if errors.Is(err, fs.ErrNotExist) {
		return exit.Misconfiguredf("name the DIR of a run", "%s is no output of velum", m.options.Out)
	}
	if err != nil {
		return err
	}
	if old.Config != hex.EncodeToString(plan.Config[:]) || old.Model != hex.EncodeToString(plan.Model[:]) || old.Key != plan.Key {
		remedy := "give the configuration of its last run"
		if len(m.options.Patients) > 0 {
			remedy += "; if that names no read.columns.patient, start the run once with it, and then forget"
		}
		return exit.Misconfiguredf(remedy, "%s was made with other options, another model or another key", m.options.Out)
	}
	return nil
}

// marked tells whether one of the names is what the column part says of the file, or,
// of one that shares its unit, that and a row of it: 1f2e3d4c-5b6a7988:17.
func marked(names []string, u *commit.UnitRecord) bool {
	part, _, _ := strings.Cut(u.Mark, ":")
	return part != "" && slices.ContainsFunc(names, func(name string) bool {
		if !u.Shares {
			return name == part
		}
		number, is := strings.CutPrefix(name, part+":")
		row, err := strconv.ParseInt(number, 10, 64)
		return is && err == nil && row >= u.First && row < u.First+u.Rows
	})
}

// matches tells whether an input is one of the names: input is what the private
// manifest calls it, at where it lay.
func matches(names []string, input, at string) bool {
	for _, name := range names {
		if under(input, path.Clean(filepath.ToSlash(name))) {
			return true
		}
		if ok, err := path.Match(name, input); ok && err == nil {
			return true
		}
		if full, err := filepath.Abs(name); err == nil && at != "" {
			if real, err := filepath.EvalSymlinks(full); err == nil {
				full = real
			}
			if under(at, full) {
				return true
			}
		}
	}
	return false
}

// under tells whether a path is a folder or file, or lies below it.
func under(name, folder string) bool { return name == folder || strings.HasPrefix(name, folder+"/") }
