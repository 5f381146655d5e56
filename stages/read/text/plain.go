package text

import (
	"bytes"
	"io"
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
	p.start(b)
	for !p.full(b) {
		line, err := p.in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		id := strconv.AppendInt(nil, int64(p.in.line), 10)
		if err := p.add(b, id, line, nil, p.o.Unit); err != nil {
			return err
		}
	}
	if b.Len() == 0 {
		return io.EOF
	}
	return nil
}
