// Command passthrough reads an archive and writes it back as it is, through
// units, journal and manifest: what reading, writing and committing cost,
// without what velum is for. Benchmarks and scripts/torture/interop.py use it.
//
// It masks nothing: never run it on notes of patients. With -show it prints
// what it reads as JSON lines instead.
package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/pprof"
	"strings"
	"syscall"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/write"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == read.WorkerArgument {
		os.Exit(read.Work(os.Stdin, os.Stdout))
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "passthrough:", err)
		os.Exit(1)
	}
}

func run() error {
	in := flag.String("in", "", "archive: a file or a folder")
	out := flag.String("out", "", "output folder")
	id := flag.String("id", "note_id", "columns of the id, divided by commas")
	text := flag.String("text", "text", "column of the text")
	pass := flag.String("pass", "", "columns to pass through, divided by commas")
	show := flag.Bool("show", false, "print what is read")
	readOnly := flag.Bool("read", false, "read only")
	noVerify := flag.Bool("noverify", false, "do not re-read the parts")
	noSync := flag.Bool("nosync", false, "do not wait for the disk")
	atOnce := flag.Int("at-once", 1, "units side by side")
	fenced := flag.Bool("fence", false, "decode in worker processes, as velum run does")
	fresh := flag.Bool("fresh", false, "start over")
	cpu := flag.String("cpu", "", "write a CPU profile")
	flag.Parse()
	if *cpu != "" {
		f, err := os.Create(*cpu)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	o := read.ParquetOptions{ID: split(*id), Text: *text, Pass: split(*pass)}
	if *fenced {
		o.Fence = read.NewFence(read.FenceOptions{})
	}
	begin := time.Now()
	archive, err := read.Scan(context.Background(), []string{*in}, o)
	if err != nil {
		return err
	}
	for _, b := range archive.Bad {
		fmt.Fprintf(os.Stderr, "bad input: %s: %s\n", b.Input, b.Cause)
	}
	scanned := time.Since(begin)
	switch {
	case *show:
		return print(archive, os.Stdout)
	case *readOnly:
		err = readAll(archive)
	default:
		verify := write.Verify
		if *noVerify {
			verify = nil
		}
		disk := durable.OS
		if *noSync {
			disk = durable.Unsynced{FS: disk}
		}
		err = copyAll(archive, commit.Output{Dir: *out, FS: disk}, commit.UnitOptions{AtOnce: *atOnce, Fresh: *fresh, Verify: verify, Stats: &pipeline.Stats{}})
	}
	if err != nil {
		return err
	}
	took := time.Since(begin)
	if *fenced {
		o.Fence.Close()
	}
	bytes := int64(0)
	for _, f := range archive.Files {
		bytes += f.Bytes
	}
	var usage, workers syscall.Rusage
	if err := errors.Join(syscall.Getrusage(syscall.RUSAGE_SELF, &usage), syscall.Getrusage(syscall.RUSAGE_CHILDREN, &workers)); err != nil {
		return err
	}
	cpuTime := time.Duration(usage.Utime.Nano() + usage.Stime.Nano() + workers.Utime.Nano() + workers.Stime.Nano())
	fmt.Printf("%d notes, %d bytes of files, scan %.2fs, all %.2fs, %.2f M notes/s, CPU %.2fs = %.2f us a note, peak %d + %d MiB\n",
		archive.Rows(), bytes, scanned.Seconds(), took.Seconds(), float64(archive.Rows())/1e6/took.Seconds(),
		cpuTime.Seconds(), cpuTime.Seconds()*1e6/float64(max(archive.Rows(), 1)), usage.Maxrss>>10, workers.Maxrss>>10)
	return nil
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// each calls do for every batch of the archive.
func each(archive *read.Archive, do func(b *pipeline.Batch) error) error {
	var b pipeline.Batch
	for i := range archive.Units {
		src, err := archive.Open(&archive.Units[i])
		if err != nil {
			return err
		}
		for err == nil {
			b.Reset()
			if err = src.Next(&b); err == nil {
				err = do(&b)
			}
		}
		if err := src.Close(); err != nil {
			return err
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
	}
	return nil
}

func readAll(archive *read.Archive) error {
	return each(archive, func(*pipeline.Batch) error { return nil })
}

// row is what -show prints of a note.
type row struct {
	Row    int64          `json:"row"`
	ID     string         `json:"id"`
	Text   string         `json:"text"`
	Reason string         `json:"reason"`
	Extra  map[string]any `json:"extra,omitempty"`
}

func print(archive *read.Archive, to io.Writer) error {
	w := bufio.NewWriter(to)
	lines := json.NewEncoder(w)
	err := each(archive, func(b *pipeline.Batch) error {
		for i := range b.Len() {
			r := row{Row: b.First + int64(i), ID: string(b.ID.At(i)), Text: string(b.Text.At(i)), Reason: b.Reason[i].String()}
			if b.Reason[i] == pipeline.BadEncoding {
				r.Text = hex.EncodeToString(b.Text.At(i))
			}
			for k := range b.Extra {
				if r.Extra == nil {
					r.Extra = map[string]any{}
				}
				r.Extra[b.Extra[k].Name] = value(&b.Extra[k], i)
			}
			if err := lines.Encode(r); err != nil {
				return err
			}
		}
		return nil
	})
	return errors.Join(err, w.Flush())
}

func value(c *pipeline.Column, i int) any {
	switch {
	case !c.Valid[i]:
		return nil
	case c.Kind == pipeline.BytesColumn:
		return string(c.Bytes.At(i))
	case c.Kind == pipeline.Int32Column, c.Kind == pipeline.DateColumn:
		return int32(c.Fixed[i])
	}
	return int64(c.Fixed[i])
}

func copyAll(archive *read.Archive, out commit.Output, o commit.UnitOptions) error {
	primary, err := pipeline.Labels("primary-care")
	if err != nil {
		return err
	}
	unit := write.UnitOptions{Model: "none", Categories: primary.Categories, Pass: archive.Extra}
	plan := &commit.Plan{Units: archive.Units, BadInputs: archive.Bad}
	result, err := commit.RunUnits(context.Background(), plan, out,
		func(_ int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
			src, err := archive.Open(u)
			if err != nil {
				return commit.Line{}, err
			}
			sink, err := write.NewUnit(parts, unit)
			return commit.Line{Source: src, Steps: []pipeline.Step{{Name: "copy", New: newCopy}}, Sink: sink}, err
		}, o)
	if err != nil {
		return err
	}
	fmt.Printf("%d units done, %d reused, nothing to do: %v\n", result.Done, result.Reused, result.Nothing)
	for _, s := range o.Stats.Steps() {
		fmt.Printf("%-8s %6d batches %9d notes %8.2fs\n", s.Name, s.Batches, s.Notes, s.Busy.Seconds())
	}
	return nil
}

func newCopy() func(b *pipeline.Batch) error {
	return func(b *pipeline.Batch) error {
		b.Masked.Data = append(b.Masked.Data, b.Text.Data...)
		b.Masked.Offsets = append(b.Masked.Offsets, b.Text.Offsets...)
		for i := range b.Len() {
			b.Spans.End()
			b.Places.End()
			b.Seal(i) // in place of verify
		}
		return nil
	}
}
