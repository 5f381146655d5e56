// Package paced reads ahead of who takes from it: bytes of a stream that may not go on
// for an hour.
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

// A Reader holds four chunks at the most. One whose source blocks for ever costs a
// goroutine until the process ends.
type Reader struct {
	ctx        context.Context
	full, free chan []byte
	chunk      []byte // at hand
	left       []byte // of it
	err        error  // why there are no more; set before full is closed
}

// NewReader begins to read. Who waits for bytes waits no longer than ctx.
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

// Ready waits until there are bytes to Read, and no longer than late: false. nil is
// for ever. The error is that of the reader, io.EOF behind the last byte, or the cause
// of the context's end.
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
