package read

import (
	"bytes"
	"io"
	"strconv"

	"github.com/velum-health/velum/pipeline"
)

// Plain reads plain text, packed or not: every line with a word in it is a
// note, named by its number from 1. It has no labels and is for training
// vectors of words.
type Plain struct {
	intake
	in *stream
}

// NewPlain opens a file.
func NewPlain(path string, o TextOptions) (*Plain, error) {
	r := &Plain{intake: newIntake(path, o)}
	in, err := r.openFile()
	if err != nil {
		return nil, err
	}
	r.in = in
	return r, nil
}

// Close closes the file.
func (r *Plain) Close() error { return r.in.Close() }

// Next implements pipeline.Source.
func (r *Plain) Next(b *pipeline.Batch) error {
	r.start(b)
	for !r.full(b) {
		line, err := r.in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		id := strconv.AppendInt(nil, int64(r.in.line), 10)
		if err := r.add(b, id, line, nil, r.o.Unit); err != nil {
			return err
		}
	}
	if b.Len() == 0 {
		return io.EOF
	}
	return nil
}
