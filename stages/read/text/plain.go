package text

import (
	"bytes"
	"strconv"

	"github.com/velum-health/velum/pipeline"
)

// Plain reads plain text, compressed or not, for training word vectors. Every line that is not blank is a note without
// labels, and its id is the number of the line, from 1.
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
