// Command passthrough reads an archive and writes it back as it is, through
// units, journal and manifest: what reading, writing and committing cost,
// without what velum is for. Benchmarks and scripts/interop/interop.py use it.
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
	"strings"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/write"
)

func main() {
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
	flag.Parse()
	archive, err := archive.Scan(context.Background(), []string{*in}, input.Options{ID: split(*id), Text: *text, Pass: split(*pass)}, nil)
	if err != nil {
		return err
	}
	for _, b := range archive.Bad {
		fmt.Fprintf(os.Stderr, "bad input: %s: %s\n", b.Input, b.Cause)
	}
	if *show {
		return print(archive, os.Stdout)
	}
	return copyAll(archive, *out)
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, ",")
}

// each calls do for every batch of the archive.
func each(archive *archive.Archive, do func(b *pipeline.Batch) error) error {
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

// row is a note as -show prints it.
type row struct {
	Row    int64          `json:"row"`
	ID     string         `json:"id"`
	Text   string         `json:"text"`
	Reason string         `json:"reason"`
	Extra  map[string]any `json:"extra,omitempty"`
}

func print(archive *archive.Archive, to io.Writer) error {
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

func copyAll(archive *archive.Archive, dir string) error {
	primary, err := pipeline.Labels("primary-care")
	if err != nil {
		return err
	}
	unit := write.UnitOptions{Model: "none", Categories: primary.Categories, Pass: archive.Extra}
	plan := &commit.Plan{Units: archive.Units, BadInputs: archive.Bad}
	_, err = commit.RunUnits(context.Background(), plan, commit.Output{Dir: dir}, func(_ int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		src, err := archive.Open(u)
		if err != nil {
			return commit.Line{}, err
		}
		sink, err := write.NewUnit(parts, unit)
		return commit.Line{Source: src, Steps: []pipeline.Step{{Name: "copy", New: newCopy}}, Sink: sink}, err
	}, commit.UnitOptions{Verify: write.Verify})
	return err
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
