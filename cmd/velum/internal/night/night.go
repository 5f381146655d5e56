// Package night implements `velum night`, a run that a timer starts. It prints nothing if all is well, and the text of
// an e-mail if somebody has to act. It also creates the key that the configuration names, and writes the files that
// start it: systemd units, a crontab line or a Kubernetes CronJob.
package night

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/release"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/secret"
)

// Options holds the arguments of `velum night` beside the configuration.
type Options struct {
	run.Options
	Every  time.Duration // it stays, and looks at the archive again after so long; 0: once
	Timer  string        // what starts it is written, and nothing done: one of Timers
	Config string        // file of the configuration, for Timer
}

// Run masks the new notes of the archive and returns the error of the run. Having nothing to do is no error; a report
// with a red verdict is one.
func Run(ctx context.Context, c *console.Console, load func() (*option.Config, error), o *Options) error {
	if o.Timer != "" {
		return o.write(c)
	}
	for {
		if err := o.once(ctx, c, load); err != nil && (o.Every == 0 || ctx.Err() != nil || exit.CodeOf(err) == exit.Config) {
			return err
		}
		if o.Every == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(o.Every):
		}
	}
}

// once runs one night.
func (o *Options) once(ctx context.Context, c *console.Console, load func() (*option.Config, error)) error {
	if o.Private == "" {
		o.Private = commit.PrivateDir(o.Out)
	}
	cfg, err := load()
	if err == nil {
		err = o.makeKey(c, cfg)
	}
	if err != nil {
		return err
	}
	var said bytes.Buffer
	quiet := &console.Console{Out: &said, Errs: &said, Env: c.Env, Version: c.Version, Quiet: true}
	quiet.StartLog()
	err = run.Mask(ctx, quiet, load, &o.Options)
	code := exit.CodeOf(err)
	if code == exit.Nothing || ctx.Err() != nil {
		c.Log.Debug("nothing new", "in", strings.Join(o.In, ", "))
		return context.Cause(ctx)
	}
	light, sentence, reasons, unread := report.Said(durable.OS, o.Private)
	switch {
	case err == nil && unread != nil:
		return unread
	case err == nil && light != "red":
		return nil
	case err == nil:
		err = exit.Errorf(exit.Privacy, "look at what is red in "+filepath.Join(o.Private, "report.html")+" before the output is used",
			"the light of the report is red")
	}
	return errors.Join(o.mail(c, err, append([]string{sentence}, reasons...), &said), err)
}

// makeKey creates the key file that the configuration names, and the institution's ledger beside it, unless an output
// exists that was made with another key.
func (o *Options) makeKey(c *console.Console, cfg *option.Config) error {
	path := cfg.Key.File
	if path == "" {
		return nil
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // whoever reads it says what is wrong with it
	}
	if _, err := os.Lstat(filepath.Join(o.Out, "manifest.json")); err == nil {
		return exit.Errorf(exit.Key, "put the key back: a new one would give the same people other names",
			"%s is not there, and %s was made with it", path, o.Out)
	}
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	c.Log.Info("a key was made: keep a copy where the archive is kept", "file", path)
	if err := durable.WriteFile(nil, path, key); err != nil {
		return err
	}
	loaded, err := secret.Load(path)
	if err != nil {
		return err
	}
	return durable.WriteFile(nil, filepath.Join(filepath.Dir(path), release.HouseName(loaded.ID())), nil)
}

// mail prints what a person who was absent has to know, in this order: what happened, since when, what to do, where. It
// begins with the sentence of the report and the reasons for a red verdict.
func (o *Options) mail(c *console.Console, err error, red []string, said *bytes.Buffer) error {
	code, remedy := exit.Explain(err)
	host, _ := os.Hostname() // "" says less
	text := fmt.Sprintf("velum: the night of %s needs somebody (%s, exit code %d)\n\n%s\n", strings.Join(o.In, ", "),
		strings.ReplaceAll(code.String(), "_", " "), code, exit.OneLine(err.Error()))
	if remedy != "" {
		text += "What to do: " + exit.OneLine(remedy) + ".\n"
	}
	if code == exit.Quarantined || code == exit.Privacy {
		text += "\n" + strings.Join(red, "\n  red: ") + "\n"
	}
	text += fmt.Sprintf("\nMachine %s. Output %s, private tree %s: report.html has the counts, _audit/audit.jsonl every run.\n", host, o.Out,
		o.Private)
	if code == exit.Failed || code == exit.DiskFull {
		text += "The next night goes on where this one stopped.\n"
	}
	for line := range strings.Lines(said.String()) {
		if strings.Contains(line, "level=WARN") && !strings.Contains(line, "page checksums") {
			text += exit.OneLine(line) + "\n"
		}
	}
	_, wrong := c.Printf("%s", []byte(text))
	return wrong
}
