package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/synth"
	"github.com/velum-health/velum/stages/write"
)

type synthFlags struct {
	synth.Options
	split   string
	in      string // language
	out, to string
	months  int
}

func newSynthCommand(a *app) *cobra.Command {
	f := synthFlags{Options: synth.Options{Notes: 3000, Seed: 1, Columns: true}}
	c := &cobra.Command{
		Use:   "synth --notes N --seed S --out DIR",
		Short: "Generate notes with gold spans, all invented",
		Long: `Generate short primary-care notes in Spanish, Catalan and both, and reports, all
invented, with gold spans: for training, for tests, for trying velum out. The
same seed gives the same notes. Templates and names of --split train and
--split test are disjoint.

An archive for ` + "`velum run`" + ` is written with --to archive: a folder of months in
Parquet without the gold, and the gold beside it in DIR.gold.`,
		Example: `  velum synth --notes 3000 --seed 1 --out sample --to archive
  velum synth --notes 50000 --seed 2 --split train --density 3 --out train.jsonl`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.synth(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.Int64Var(&f.Notes, "notes", f.Notes, "how many")
	flags.Uint64Var(&f.Seed, "seed", f.Seed, "seed")
	flags.StringVar(&f.split, "split", "test", "which templates and names: train or test")
	flags.StringVar(&f.in, "language", "", "notes in one language only: es, ca or mixed (default: 0.50, 0.39 and 0.11 of each)")
	flags.Float64Var(&f.Density, "density", 1, "PHI in multiples of a primary-care archive's (PERSON 0.28 % of tokens, LOCATION 1.12 %)")
	flags.Float64Var(&f.Reports, "reports", 0, "share of notes that are reports of some 3 kB")
	flags.StringVar(&f.out, "out", "", "`PATH` to write")
	flags.StringVar(&f.to, "to", "", "`FORMAT`: archive, or one of `velum convert`; told from the name if left out")
	flags.IntVar(&f.months, "months", 2, "months of --to archive")
	return c
}

func (a *app) synth(ctx context.Context, f *synthFlags) error {
	switch f.split {
	case synth.Train.String():
		f.Options.Split = synth.Train
	case synth.Test.String():
		f.Options.Split = synth.Test
	default:
		return exit.Errorf(exit.Config, "known: train, test", "--split: unknown split %q", f.split)
	}
	switch f.in {
	case "":
	case "es":
		f.Spanish = 1
	case "ca":
		f.Catalan = 1
	case "mixed":
		f.Mixed = 1
	default:
		return exit.Errorf(exit.Config, "known: es, ca, mixed", "--language: unknown language %q", f.in)
	}
	if f.out == "" || f.Notes <= 0 || f.months < 1 || f.months > 12 {
		return exit.Errorf(exit.Config, "see `velum synth --help`", "--out, --notes of at least 1 and --months of 1 to 12 are needed")
	}
	dst, err := f.sink()
	if err != nil {
		return err
	}
	n := &flow.Counted{Text: dst, Progress: a.NewProgress("synth", "notes", f.Notes), Gold: true}
	err = pipeline.Run(ctx, synth.New(f.Options), flow.ConvertSteps(f.to), n, nil)
	return a.ended(n, err, f.out)
}

func (f *synthFlags) sink() (dst write.Text, err error) {
	if f.to == "archive" {
		return newArchive(f.out, f.Notes, f.months)
	}
	dst, f.to, err = flow.CreateNotes("to", f.to, f.out, write.TextOptions{Gold: true, Offsets: true})
	return dst, err
}

// archive writes months of Parquet as `velum run` reads them, and all gold
// spans in one file beside them.
type archive struct {
	dir    string
	notes  int64 // in all
	months int
	month  int // number of the open one, from 1
	put    int64
	file   *write.Archive
	gold   write.Text
}

func newArchive(dir string, notes int64, months int) (*archive, error) {
	if _, err := os.Stat(dir); err == nil {
		return nil, exit.Errorf(exit.Config, "remove it or name another", "%s is there already", dir)
	}
	gold, err := write.Create("parquet", dir+".gold", write.TextOptions{Gold: true})
	if err != nil {
		return nil, err
	}
	return &archive{dir: dir, notes: notes, months: months, gold: gold}, nil
}

// Put writes the batch into the month that its first note belongs to.
func (w *archive) Put(b *pipeline.Batch) error {
	month := 1 + int(w.put*int64(w.months)/max(w.notes, 1))
	if month != w.month {
		if err := w.open(month); err != nil {
			return err
		}
	}
	w.put += int64(b.Len())
	return errors.Join(w.file.Put(b), w.gold.Put(b))
}

func (w *archive) open(month int) error {
	if w.file != nil {
		if err := w.file.Close(); err != nil {
			return err
		}
	}
	dir := filepath.Join(w.dir, "year=2026", fmt.Sprintf("month=%02d", month))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	w.month, w.file = month, write.NewArchive(filepath.Join(dir, "notes.parquet"), 0, write.TextOptions{})
	return nil
}

// Skipped returns how many notes the gold file could not hold.
func (w *archive) Skipped() int { return w.gold.Skipped() }

// Close ends the open month and the gold.
func (w *archive) Close() error {
	if w.file == nil {
		return w.gold.Close()
	}
	return errors.Join(w.file.Close(), w.gold.Close())
}

// Abort removes what is unfinished.
func (w *archive) Abort() {
	if w.file != nil {
		w.file.Abort()
	}
	w.gold.Abort()
}
