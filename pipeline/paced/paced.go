// Package paced reads ahead from a stream that may pause for a long time, so that its reader can wait with a limit.
package paced

import (
	"context"
	"io"
	"time"
)

const (
	chunks = 4
	bytes  = 1 << 16 // of a chunk
)

// A Reader reads ahead at most four chunks. If its source blocks for ever, one goroutine remains until the process
// ends.
type Reader struct {
	ctx        context.Context
	full, free chan []byte
	chunk      []byte // the current chunk
	left       []byte // of it
	err        error  // why there are no more; set before full is closed
}

// NewReader starts reading. Reads return when ctx ends.
func NewReader(ctx context.Context, from io.Reader) *Reader {
	r := &Reader{ctx: ctx, full: make(chan []byte, chunks), free: make(chan []byte, chunks)}
	for range chunks {
		r.free <- make([]byte, bytes)
	}
	go r.ahead(from)
	return r
}

func (r *Reader) ahead(from io.Reader) {
	defer close(r.full)
	for chunk := range r.free {
		n, err := 0, error(nil)
		for n == 0 && err == nil {
			n, err = from.Read(chunk[:cap(chunk)])
		}
		if n > 0 {
			r.full <- chunk[:n] // has room for every chunk
		}
		if err != nil {
			r.err = err
			return
		}
	}
}

// Ready waits until there is data to Read, and returns false when late fires first; nil waits for ever. The error is
// that of the source, io.EOF after the last byte, or the cause of the context's end.
func (r *Reader) Ready(late <-chan time.Time) (bool, error) {
	if len(r.left) > 0 {
		return true, nil
	}
	if r.chunk != nil {
		r.free <- r.chunk
		r.chunk = nil
	}
	select {
	case <-r.ctx.Done():
		return false, context.Cause(r.ctx)
	case <-late:
		return false, nil
	case chunk, ok := <-r.full:
		if !ok {
			return false, r.err
		}
		r.chunk, r.left = chunk, chunk
		return true, nil
	}
}

// Read implements io.Reader.
func (r *Reader) Read(b []byte) (int, error) {
	if _, err := r.Ready(nil); err != nil {
		return 0, err
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}
