package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/write"
)

// tags of the models, as they stand in the table.
var tags = map[string]string{"names": ", 9", "primary-care": ", 19", "meddocan": ", 45"}

// model returns what --model takes. names is a tagger of PER, LOC, ORG and
// MISC that is trained here, once.
func (o options) model(name string) (string, error) {
	if name != "names" {
		return name, nil
	}
	file := filepath.Join(o.work, "names.velum")
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	notes := filepath.Join(o.work, "names.jsonl")
	for _, args := range [][]string{
		{"synth", "--quiet", "--notes", "6000", "--seed", "1", "--split", "train", "--density", "3", "--out", notes},
		{"train", "--quiet", "--kind", "crf", "--labels", "names", "--iterations", "60", "--train", notes, "--out", file},
	} {
		if _, err := run(append([]string{o.velum}, args...)); err != nil {
			return "", err
		}
	}
	return file, nil
}

// starts measures how long the program takes to begin: medians of processes.
func (o options) starts() (string, error) {
	archive, out := filepath.Join(o.work, "one", "one.parquet"), filepath.Join(o.work, "one.out")
	if err := oneNote(archive); err != nil {
		return "", err
	}
	text := "| start | ms, median of 9 | of them CPU ms |\n|---|---|---|\n"
	for _, args := range [][]string{
		{"version"},
		{"run", "--quiet", "--in", archive, "--out", out, "--model", "primary-care"},
		{"run", "--quiet", "--in", archive, "--out", out, "--model", "meddocan"},
	} {
		var wall, cpu []time.Duration
		for range 9 {
			if err := errors.Join(os.RemoveAll(out), os.RemoveAll(out+".private")); err != nil {
				return "", err
			}
			m, err := run(append([]string{o.velum}, args...))
			if err != nil {
				return "", err
			}
			wall, cpu = append(wall, m.wall), append(cpu, m.cpu)
		}
		slices.Sort(wall)
		slices.Sort(cpu)
		name := "`velum " + args[0] + "`"
		if args[0] == "run" {
			name += " of one note, " + args[len(args)-1]
		}
		text += fmt.Sprintf("| %s | %d | %d |\n", name, wall[4].Milliseconds(), cpu[4].Milliseconds())
	}
	return text, nil
}

// oneNote writes an archive of one note.
func oneNote(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	w := write.NewArchive(path, 0, write.TextOptions{})
	var b pipeline.Batch
	b.ID.Append([]byte("1|1|1"))
	b.Text.Append([]byte("Visto por el Dr. Rivas el 3/4/2026, control en 3 meses."))
	b.Reason = append(b.Reason, pipeline.Sound)
	if err := w.Put(&b); err != nil {
		w.Abort()
		return err
	}
	return w.Close()
}
