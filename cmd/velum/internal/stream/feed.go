package stream

import (
	"io"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/paced"
)

// feed buffers the input of the text formats.
type feed struct {
	in    *paced.Reader
	buf   []byte // what was read and is in no batch yet
	from  int    // where the next row begins
	ended bool
	late  *time.Timer
}

func newFeed(in *paced.Reader, head []byte) feed {
	return feed{in: in, buf: head, late: time.NewTimer(time.Hour)}
}

// compact takes what is in batches out of the buffer and returns the length of the rest.
func (f *feed) compact() int {
	if f.from > 0 {
		f.buf = f.buf[:copy(f.buf, f.buf[f.from:])]
		f.from = 0
	}
	return len(f.buf)
}

// more reads more input, or detects its end; it returns false if the input pauses, or if nothing arrives before due
// (zero: never).
func (f *feed) more(due time.Time) (ok bool, err error) {
	var late <-chan time.Time
	if !due.IsZero() {
		f.late.Reset(min(pause, time.Until(due)))
		late = f.late.C
	}
	ready, err := f.in.Ready(late)
	if err == io.EOF {
		f.ended = true
		return true, nil
	}
	if err != nil || !ready {
		return false, err
	}
	if cap(f.buf)-len(f.buf) < 1<<16 {
		f.buf = append(make([]byte, 0, 2*cap(f.buf)+1<<16), f.buf...)
	}
	n, err := f.in.Read(f.buf[len(f.buf):cap(f.buf)])
	f.buf = f.buf[:len(f.buf)+max(n, 0)]
	return err == nil, err
}

// tooLong returns the error for a row that is too long.
func tooLong(row int64) error {
	return exit.Misconfiguredf("leave it out: it is no note; the rows before it went out", where+": row %d has more than 128 MiB", row)
}
