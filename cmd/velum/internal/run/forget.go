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
	return recorded(c, o, func(m *masking) error {
		cfg, err := load()
		if err != nil {
			return err
		}
		if m.Flow, err = flow.New(cfg); err != nil {
			return err
		}
		if o.TakeBack {
			return m.takeBack(o.output())
		}
		return m.mask(ctx)
	})
}

// nothingNew returns the plan of a run that is given no file: what is in the output stays, without the files that are
// forgotten.
func (m *masking) nothingNew(ctx context.Context, out commit.Output) (*commit.Plan, error) {
	ro, err := flow.ReadOptions(m.Config)
	if err != nil {
		return nil, err
	}
	if mo, err := m.MaskOptions(); err != nil {
		return nil, err
	} else if len(mo.Shuffled()) > 0 {
		return nil,
			exit.Misconfiguredf("take them out of the archive, and deal the others anew: velum mask --tagged DIR --in ARCHIVE --out "+out.Dir+" --set run.vanished=remove, with the same options",
				"%s: the policy shuffles, so values of these files stand in notes of others", out.Dir)
	}
	m.archive = new(archive.Archive)
	if err := m.trims(ctx); err != nil {
		return nil, err
	}
	plan, err := m.plan(ro.Key)
	if err != nil {
		return nil, err
	}
	return plan, m.sameOptions(plan)
}

// forgets implements commit.UnitOptions.Forget, and remembers which units are removed.
func (m *masking) forgets(u *commit.UnitRecord, at string) bool {
	names := m.options.Files
	if !matches(names, u.Input, at) && !marked(names, u) {
		return false
	}
	if u.Name != "" {
		m.gone[u.Name] = u
	}
	return true
}

// mayForget returns an error if nothing in the output was made of the files that are to be forgotten.
func (m *masking) mayForget(out commit.Output) error {
	if len(m.options.Files) == 0 || slices.ContainsFunc(m.changes, func(c commit.Change) bool { return c.Fate == "removed" }) {
		return nil
	}
	// A process that was killed may have taken units out of the manifests while their parts are still in the trees. In
	// that case this run completes its work.
	if died, err := out.Unfinished(); err != nil || !died || m.options.Dry {
		return errors.Join(err, exit.Errorf(exit.Nothing, "the private manifest lists the inputs",
			"nothing in the output was made of these files"))
	}
	return nil
}

// logForgotten writes a line of the audit log for each input that was forgotten.
func (m *masking) logForgotten() error {
	for _, name := range slices.Sorted(maps.Keys(m.gone)) {
		e := m.record.line("forget")
		e.Unit, e.Counts = name, &m.gone[name].Counts
		if err := m.record.append(e); err != nil {
			return err
		}
	}
	return nil
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
		if under(input, path.Clean(name)) {
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
