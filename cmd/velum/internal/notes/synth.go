package notes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/synth"
	"github.com/velum-health/velum/stages/write"
)

// SynthOptions says which notes to generate, and where to write them.
type SynthOptions struct {
	Notes    synth.Options
	Split    string // train or test
	Language string // es, ca, mixed; "" for all
	Out, To  string
	Months   int // of an archive
}

// Synth generates invented notes with gold spans.
func Synth(ctx context.Context, c *console.Console, f *SynthOptions) error {
	f.Notes.Columns, f.Notes.Split = true, synth.Test
	if f.Split == synth.Train.String() {
		f.Notes.Split = synth.Train
	}
	switch f.Language {
	case "es":
		f.Notes.Spanish = 1
	case "ca":
		f.Notes.Catalan = 1
	case "mixed":
		f.Notes.Mixed = 1
	}
	if f.Notes.Notes <= 0 || f.Months < 1 || f.Months > 12 {
		return exit.Misconfiguredf("see `velum teach synth --help`", "--notes of at least 1 and --months of 1 to 12 are needed")
	}
	dst, err := create(f.To, f.Out, f.Notes.Notes, f.Months, write.TextOptions{Gold: true})
	if err != nil {
		return err
	}
	n := &Counted{Text: dst, Progress: c.NewProgress("synth", "notes", f.Notes.Notes), Gold: true}
	err = pipeline.Run(ctx, synth.New(f.Notes), nil, n, nil)
	return ended(c, n, err, f.Out)
}

// create makes a file of notes, or an archive of so many notes in months.
func create(to, out string, notes int64, months int, o write.TextOptions) (write.Text, error) {
	if to == "archive" {
		return newArchive(out, notes, months)
	}
	return flow.CreateNotes("to", to, out, o)
}

// archive writes months of Parquet as `velum run` reads them, and all gold
// spans in one file beside them. It has its name when it is whole.
type archive struct {
	draft  *durable.Draft
	notes  int64 // in all
	months int
	month  int // number of the open one, from 1
	put    int64
	file   *write.Notes
	gold   write.Text
}

func newArchive(dir string, notes int64, months int) (*archive, error) {
	dir = filepath.Clean(dir) // of "month/" the gold is month.gold, too
	if _, err := os.Stat(dir); err == nil {
		return nil, exit.Misconfiguredf("remove it or name another", "%s is there already", dir)
	}
	draft, err := durable.NewDraft(nil, dir)
	if err != nil {
		return nil, err
	}
	gold, err := write.Create("parquet", dir+".gold", write.TextOptions{Gold: true})
	if err != nil {
		return nil, errors.Join(err, draft.Discard())
	}
	return &archive{draft: draft, notes: notes, months: months, gold: gold}, nil
}

// Put writes the batch into the file of the month of its first note.
func (a *archive) Put(b *pipeline.Batch) error {
	month := 1 + int(a.put*int64(a.months)/max(a.notes, 1))
	if month != a.month {
		if err := a.open(month); err != nil {
			return err
		}
	}
	a.put += int64(b.Len())
	return errors.Join(a.file.Put(b), a.gold.Put(b))
}

func (a *archive) open(month int) error {
	if a.file != nil {
		if err := a.file.Close(); err != nil {
			return err
		}
	}
	dir := a.draft.Path(filepath.Join("year=2026", fmt.Sprintf("month=%02d", month)))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	a.month, a.file = month, write.NewArchive(filepath.Join(dir, "notes.parquet"), 0, write.TextOptions{})
	return nil
}

// Skipped returns the number of notes that the format of the gold file could not represent.
func (a *archive) Skipped() int { return a.gold.Skipped() }

// Close finishes the file of the month and the gold file, and renames the draft folder to its final name.
func (a *archive) Close() error {
	var err error
	if a.file != nil {
		err = a.file.Close()
	}
	if err := errors.Join(err, a.gold.Close()); err != nil {
		return errors.Join(err, a.draft.Discard())
	}
	return a.draft.Commit()
}

// Abort removes the unfinished files.
func (a *archive) Abort() {
	if a.file != nil {
		a.file.Abort()
	}
	a.gold.Abort()
	_ = a.draft.Discard() // the next start does it again
}
