package text

import (
	"bytes"
	"strconv"

	"github.com/velum-health/velum/pipeline"
)

// Plain reads plain text, compressed or not: every line with a word is a note, and its id is the line number from 1. It
// has no labels, and is for training word vectors.
type Plain struct {
	intake
	in *stream
}

// NewPlain opens a file.
func NewPlain(path string, o Options) (*Plain, error) {
	r := &Plain{intake: newIntake(path, o)}
	in, err := r.openFile()
	if err != nil {
		return nil, err
	}
	r.in = in
	return r, nil
}

// Close closes the file.
func (p *Plain) Close() error { return p.in.Close() }

// Next implements pipeline.Source.
func (p *Plain) Next(b *pipeline.Batch) error {
	return p.fill(b, func() error {
		line, err := p.in.next()
		if line = bytes.TrimSpace(line); err != nil || len(line) == 0 {
			return err
		}
		return p.add(b, strconv.AppendInt(nil, int64(p.in.line), 10), line, nil, p.o.Unit)
	})
}
