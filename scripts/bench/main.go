// Command bench measures velum and writes what it found into a file of results
// (scripts/bench/page); the micro-benchmarks it prints alone.
//
//	bench --archive out/archive --velum bin/velum
//
// Whole runs are given in notes and words a second, CPU and peak memory, each
// also as a multiple of a pass-through run of the same archive measured beside
// it: read, copy, write, with the same units, syncs and re-reads. The machine's
// mood moves both alike. Micro-benchmarks are `go test -bench` of the stages and models.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
)

type options struct {
	archive, velum, out, work string
	micro                     bool
	cores                     string
	models                    string
}

func main() {
	var o options
	flag.StringVar(&o.archive, "archive", "out/archive", "archive to run on, see scripts/data/archive")
	flag.StringVar(&o.velum, "velum", "bin/velum", "the binary")
	flag.StringVar(&o.out, "out", "scripts/bench/results/22-runs.md", "file of results to write")
	flag.StringVar(&o.work, "work", "out/bench", "folder for outputs, removed afterwards")
	flag.StringVar(&o.cores, "cores", "1,2", "numbers of cores")
	flag.StringVar(&o.models, "models", "primary-care,cascade,meddocan", "models, divided by commas")
	flag.BoolVar(&o.micro, "micro", true, "run the micro-benchmarks too")
	flag.Parse()
	if err := o.run(); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (o options) run() error {
	words, notes, bytes, err := census(o.archive)
	if err != nil {
		return err
	}
	if err := o.build(); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "title: Whole runs of %d notes, %d words, %d MB of text, beside a pass-through run\ncommand: `make bench`\nmachine: %s\ndate: %s\n\n",
		notes, words, bytes>>20, machine(), time.Now().UTC().Format(time.DateOnly))
	b.WriteString("| run | cores | seconds | notes/s | words/s | MB/s | CPU s | CPU, pass-through = 1 | peak RSS MiB |\n|---|---|---|---|---|---|---|---|---|\n")
	for cores := range strings.SplitSeq(o.cores, ",") {
		base, err := o.measure(cores, "pass-through")
		if err != nil {
			return err
		}
		rows := []measured{base}
		for model := range strings.SplitSeq(o.models, ",") {
			m, err := o.measure(cores, model)
			if err != nil {
				return err
			}
			rows = append(rows, m)
		}
		for _, m := range rows {
			s := m.wall.Seconds()
			fmt.Fprintf(&b, "| %s | %s | %.1f | %.0f | %.0f | %.0f | %.1f | %.2f | %d |\n", m.name, cores, s,
				float64(notes)/s, float64(words)/s, float64(bytes)/s/1e6, m.cpu.Seconds(), m.cpu.Seconds()/base.cpu.Seconds(), m.rss>>20)
		}
	}
	starts, err := o.starts()
	if err != nil {
		return err
	}
	b.WriteString("\n" + starts)
	fmt.Print(b.String())
	if o.micro {
		table, err := micro()
		if err != nil {
			return err
		}
		fmt.Print("\n" + table)
	}
	return os.WriteFile(o.out, []byte(b.String()), 0o644)
}

// measure runs one thing on so many cores in a fresh folder.
func (o options) measure(cores, name string) (measured, error) {
	out := filepath.Join(o.work, "run")
	for _, dir := range []string{out, out + ".private"} {
		if err := os.RemoveAll(dir); err != nil {
			return measured{}, err
		}
	}
	args := []string{o.velum, "run", "--in", o.archive, "--out", out, "--model", name, "--quiet"}
	if name == "pass-through" {
		args = []string{o.passthrough(), "-in", o.archive, "-out", out}
	}
	m, err := run(args, "GOMAXPROCS="+cores)
	m.name = name
	return m, err
}

func (o options) passthrough() string { return filepath.Join(o.work, "passthrough") }

// build makes the folder of outputs and the program of the pass-through runs in it.
func (o options) build() error {
	if err := os.MkdirAll(o.work, 0o700); err != nil {
		return err
	}
	if text, err := exec.Command("go", "build", "-o", o.passthrough(), "./scripts/bench/passthrough").CombinedOutput(); err != nil {
		return fmt.Errorf("go build ./scripts/bench/passthrough: %w: %s", err, text)
	}
	return nil
}

// census counts the notes, words and bytes of an archive.
func census(in string) (words, notes, size int64, err error) {
	archive, err := archive.Scan(context.Background(), []string{in}, input.Options{}, nil)
	if err != nil {
		return 0, 0, 0, err
	}
	for i := range archive.Units {
		src, err := archive.Open(&archive.Units[i])
		if err != nil {
			return 0, 0, 0, err
		}
		err = pipeline.Run(context.Background(), src, nil, sink(func(b *pipeline.Batch) {
			notes += int64(b.Len())
			size += int64(len(b.Text.Data))
			for i := range b.Len() {
				words += int64(len(bytes.Fields(b.Text.At(i))))
			}
		}), nil)
		if err := errors.Join(err, src.Close()); err != nil {
			return 0, 0, 0, err
		}
	}
	return words, notes, size, nil
}

type sink func(*pipeline.Batch)

func (s sink) Put(b *pipeline.Batch) error { s(b); return nil }

// starts measures how long the program takes to begin: medians of processes.
func (o options) starts() (string, error) {
	note, tagged := filepath.Join(o.work, "note.jsonl"), filepath.Join(o.work, "tagged.jsonl")
	if err := os.WriteFile(note, []byte(`{"id": "1", "text": "Visto por el Dr. Rivas el 3/4/2026, control en 3 meses."}`), 0o600); err != nil {
		return "", err
	}
	text := "| start | ms, median of 9 | of them CPU ms |\n|---|---|---|\n"
	for _, args := range [][]string{
		{"version"},
		{"tag", "--quiet", "--in", note, "--out", tagged, "--model", "primary-care"},
		{"tag", "--quiet", "--in", note, "--out", tagged, "--model", "meddocan"},
	} {
		var wall, cpu []time.Duration
		for range 9 {
			m, err := run(append([]string{o.velum}, args...))
			if err != nil {
				return "", err
			}
			wall, cpu = append(wall, m.wall), append(cpu, m.cpu)
		}
		slices.Sort(wall)
		slices.Sort(cpu)
		text += fmt.Sprintf("| `velum %s` %s | %d | %d |\n", args[0], args[len(args)-1], wall[4].Milliseconds(), cpu[4].Milliseconds())
	}
	return text, nil
}
