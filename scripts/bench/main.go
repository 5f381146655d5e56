// Command bench measures velum and writes what it found into BENCHMARKS.md,
// between the lines <!-- bench:begin --> and <!-- bench:end -->.
//
//	bench --archive out/archive --velum bin/velum
//
// Whole runs are given in notes and words a second, CPU and peak memory, each
// also as a multiple of a pass-through run of the same archive measured beside
// it: read, copy, write, with the same units, syncs and re-reads. The machine's
// mood moves both alike. The model of 9 tags is made here, of generated notes:
// it is there for its speed, not for what it finds. Micro-benchmarks are
// `go test -bench` of the stages and models.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

type options struct {
	archive, velum, out, work string
	micro                     bool
	cores                     string
	models                    string
}

func main() {
	if len(os.Args) == 4 && os.Args[1] == "passthrough" {
		fail(passthrough(context.Background(), os.Args[2], os.Args[3]))
		return
	}
	var o options
	flag.StringVar(&o.archive, "archive", "out/archive", "archive to run on, see scripts/data/archive")
	flag.StringVar(&o.velum, "velum", "bin/velum", "the binary")
	flag.StringVar(&o.out, "out", "BENCHMARKS.md", "file to write into")
	flag.StringVar(&o.work, "work", "out/bench", "folder for outputs, removed afterwards")
	flag.StringVar(&o.cores, "cores", "1,2", "numbers of cores")
	flag.StringVar(&o.models, "models", "names,primary-care,meddocan", "models; names is made if it is not there")
	flag.BoolVar(&o.micro, "micro", true, "run the micro-benchmarks too")
	flag.Parse()
	fail(o.run())
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (o options) run() error {
	words, notes, bytes, err := census(o.archive)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.work, 0o700); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "`make bench`, %s, %s. Archive: %d notes, %d words, %d MB of text.\n\n", machine(), time.Now().UTC().Format(time.DateOnly), notes, words, bytes>>20)
	b.WriteString("| run, tags | cores | seconds | notes/s | words/s | MB/s | CPU s | CPU, pass-through = 1 | peak RSS MiB |\n|---|---|---|---|---|---|---|---|---|\n")
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
	if o.micro {
		table, err := micro()
		if err != nil {
			return err
		}
		b.WriteString("\n" + table)
	}
	fmt.Print(b.String())
	return insert(o.out, b.String())
}

// measure runs one thing on so many cores in a fresh folder.
func (o options) measure(cores, name string) (measured, error) {
	out := filepath.Join(o.work, "run")
	for _, dir := range []string{out, out + ".private"} {
		if err := os.RemoveAll(dir); err != nil {
			return measured{}, err
		}
	}
	model, err := o.model(name)
	if err != nil {
		return measured{}, err
	}
	args := []string{o.velum, "run", "--in", o.archive, "--out", out, "--model", model, "--set", "tag.note_cache=0", "--quiet"}
	if name == "pass-through" {
		self, err := os.Executable()
		if err != nil {
			return measured{}, err
		}
		args = []string{self, "passthrough", o.archive, out}
	}
	m, err := run(args, "GOMAXPROCS="+cores)
	m.name = name + tags[name]
	return m, err
}

const begin, end = "<!-- bench:begin -->", "<!-- bench:end -->"

// insert replaces what stands between the two marks in a file.
func insert(path, text string) error {
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, ok := strings.Cut(string(old), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		return fmt.Errorf("%s has no lines %s and %s", path, begin, end)
	}
	return os.WriteFile(path, []byte(head+begin+"\n"+text+end+tail), 0o644)
}
