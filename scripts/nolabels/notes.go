package main

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/tokenize"
)

// note is a tokenized note, or a line of one.
type note struct {
	text   []byte
	tokens []pipeline.Token
	gold   []pipeline.Span // names of persons
}

var person, _ = pipeline.ParseCategory("PERSON")

// collected is a sink that keeps notes.
type collected struct {
	notes []note
	names map[pipeline.Category]pipeline.Category
}

func (c *collected) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			continue
		}
		n := note{text: slices.Clone(b.Text.At(i)), tokens: slices.Clone(b.Tokens.At(i))}
		for _, g := range b.Gold.At(i) {
			if g.Category = c.names[g.Category]; g.Category == person {
				n.gold = append(n.gold, g)
			}
		}
		c.notes = append(c.notes, n)
	}
	return nil
}

// tokenized reads all notes of a source.
func tokenized(ctx context.Context, src pipeline.Source) ([]note, error) {
	names, err := configs.CategoryMap("meddocan", "primary-care")
	if err != nil {
		return nil, err
	}
	c := &collected{names: names}
	step := tokenize.New(tokenize.Options{MaxBytes: 1 << 30, MaxTokens: 1 << 28, AllowControls: true, Workers: runtime.GOMAXPROCS(0)})
	err = pipeline.Run(ctx, src, []pipeline.Step{step}, c, nil)
	return c.notes, err
}

// meddocan reads a part of MEDDOCAN.
func meddocan(ctx context.Context, dir string) ([]note, error) {
	src, err := read.NewBrat(dir, read.TextOptions{})
	if err != nil {
		return nil, err
	}
	defer src.Close()
	return tokenized(ctx, src)
}

// pool reads the unlabelled texts, but for the bodies of dev documents.
func pool(ctx context.Context, data string) ([]note, error) {
	var all texts
	for _, pattern := range []string{"unlabelled-es-phi/*.jsonl.gz", "unlabelled-es-clinical/*.jsonl.gz"} {
		files, err := filepath.Glob(filepath.Join(data, pattern))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			if err := all.read(file); err != nil {
				return nil, err
			}
		}
	}
	return tokenized(ctx, &all)
}

// texts is a source of texts in memory.
type texts struct {
	all  []string
	next int
}

func (t *texts) read(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return err
	}
	for d := json.NewDecoder(z); ; {
		var record struct{ Text, Meddocan string }
		if err := d.Decode(&record); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if !strings.HasPrefix(record.Meddocan, "dev:") {
			t.all = append(t.all, record.Text)
		}
	}
}

// Next implements pipeline.Source.
func (t *texts) Next(b *pipeline.Batch) error {
	if t.next == len(t.all) {
		return io.EOF
	}
	b.ID.Append(nil)
	b.Text.Append([]byte(t.all[t.next]))
	b.Gold.End()
	b.Reason = append(b.Reason, pipeline.Sound)
	t.next++
	return nil
}

// lines cuts notes at their line starts; unit "note" leaves them whole.
func lines(notes []note, unit string) (all []note) {
	if unit == "note" {
		return notes
	}
	for _, n := range notes {
		for lo := 0; lo < len(n.tokens); {
			hi := lo + 1
			for hi < len(n.tokens) && n.tokens[hi].Flags&pipeline.LineStart == 0 {
				hi++
			}
			all = append(all, note{text: n.text, tokens: n.tokens[lo:hi]})
			lo = hi
		}
	}
	return all
}
