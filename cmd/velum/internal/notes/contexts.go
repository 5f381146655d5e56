package notes

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/synth"
	"github.com/velum-health/velum/stages/write"
)

// contextNotes is the file of the folder that `velum synth --contexts` makes.
const contextNotes = "notes.jsonl"

// Contexts writes notes with the sentences of an archive. They are real but for
// the values: the folder is its owner's alone.
func Contexts(ctx context.Context, c *console.Console, cfg *option.Config, f *SynthOptions) error {
	if f.To != "" || f.Out == "" || f.Notes.Notes <= 0 {
		return exit.Errorf(exit.Config, "--out names a new folder; its notes are JSONL", "--contexts needs --out and --notes of at least 1, and takes no --to")
	}
	o, err := flow.TextOptions(cfg)
	if err != nil {
		return err
	}
	o.SkipUnknown = true // spans in the archive do not count here
	steps, err := contextSteps(cfg)
	if err != nil {
		return err
	}
	src, err := flow.OpenNotes("from", f.From, f.Contexts, o)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := os.Mkdir(f.Out, 0o700); errors.Is(err, fs.ErrExist) {
		return exit.Errorf(exit.Config, "remove it or name another", "%s is there already", f.Out)
	} else if err != nil {
		return err
	}
	contexts := synth.NewContexts(synth.ContextOptions{Notes: f.Notes.Notes, Seed: f.Notes.Seed})
	read := flow.Watched{Sink: contexts, Progress: c.NewProgress("read", "notes", 0)}
	if err := pipeline.Run(ctx, src, steps, read, nil); err != nil {
		return flow.InputError(err)
	}
	path := filepath.Join(f.Out, contextNotes)
	dst, err := write.Create("jsonl", path, write.TextOptions{Gold: true, Mode: 0o600})
	if err != nil {
		return err
	}
	n := &Counted{Text: dst, Progress: c.NewProgress("synth", "notes", f.Notes.Notes), Gold: true}
	err = pipeline.Run(ctx, contexts.Source(), nil, n, nil)
	return ended(c, n, err, path)
}
