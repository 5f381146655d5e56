package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/write"
)

// passthrough reads an archive and writes its texts as they are, through the
// units of a real run.
func passthrough(ctx context.Context, in, out string) error {
	archive, err := read.Scan(ctx, []string{in}, read.ParquetOptions{})
	if err != nil {
		return err
	}
	plan := &commit.Plan{Units: archive.Units, Config: sha256.Sum256([]byte("pass-through"))}
	_, err = commit.RunUnits(ctx, plan, commit.Output{Dir: out}, func(_ int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		src, err := archive.Open(u)
		if err != nil {
			return commit.Line{}, err
		}
		sink, err := write.NewUnit(parts, write.UnitOptions{Model: "none", NoCandidates: true})
		if err != nil {
			return commit.Line{}, errors.Join(err, src.Close())
		}
		return commit.Line{Source: src, Steps: []pipeline.Step{{Name: "copy", New: copyText}}, Sink: sink}, nil
	}, commit.UnitOptions{Verify: write.Verify})
	return err
}

func copyText() func(*pipeline.Batch) error {
	return func(b *pipeline.Batch) error {
		for i := range b.Len() {
			b.Masked.Append(b.Text.At(i))
			b.Spans.End()
			b.Seal(i) // in place of verify
		}
		return nil
	}
}

// census counts the notes, words and bytes of an archive.
func census(in string) (words, notes, size int64, err error) {
	archive, err := read.Scan(context.Background(), []string{in}, read.ParquetOptions{})
	if err != nil {
		return 0, 0, 0, err
	}
	b := new(pipeline.Batch)
	for i := range archive.Units {
		src, err := archive.Open(&archive.Units[i])
		if err != nil {
			return 0, 0, 0, err
		}
		for {
			b.Reset()
			if err := src.Next(b); err == io.EOF {
				break
			} else if err != nil {
				return 0, 0, 0, errors.Join(err, src.Close())
			}
			notes += int64(b.Len())
			size += int64(len(b.Text.Data))
			for i := range b.Len() {
				for range bytes.FieldsSeq(b.Text.At(i)) {
					words++
				}
			}
		}
		if err := src.Close(); err != nil {
			return 0, 0, 0, err
		}
	}
	return words, notes, size, nil
}
