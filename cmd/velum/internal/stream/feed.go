package stream

import (
	"io"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/paced"
	"github.com/velum-health/velum/stages/write"
)

// feed is what the doors of text have in common: the input, of which rows are cut, and the output.
type feed struct {
	*shape
	in    *paced.Reader
	buf   []byte // what was read and is in no batch yet
	from  int    // where the next row begins
	ended bool
	late  *time.Timer
	rows  int64 // in the batches before
	err   error // what cut the input short

	out   io.Writer
	lines []byte // of a batch that goes out
}

func newFeed(s *shape, in *paced.Reader, head []byte, out io.Writer) feed {
	return feed{shape: s, in: in, buf: head, late: time.NewTimer(time.Hour), out: out}
}

func (f *feed) times() []pipeline.Column { return nil }

func (f *feed) broken() error { return f.err }

func (f *feed) close() error { return nil }

// row returns the number of the row that comes next into a batch.
func (f *feed) row(b *pipeline.Batch) int64 { return f.rows + int64(b.Len()) + 1 }

// batch puts rows into a batch that has begun, up to most: take takes what is next in the input, a row or nothing, and is
// false if the input pauses or has ended. A batch that has a note waits no longer than flush for the others.
func (f *feed) batch(b *pipeline.Batch, most int, take func(due time.Time) (ok bool, err error)) error {
	var due time.Time
	for b.Len() < most && !f.fill.Full(b) {
		if b.Len() > 0 && due.IsZero() {
			due = time.Now().Add(flush)
		}
		if ok, err := take(due); err != nil {
			return err
		} else if !ok {
			break
		}
	}
	if b.Len() == 0 {
		return io.EOF
	}
	f.fill.End(b)
	f.rows += int64(b.Len())
	return nil
}

// more reads more input behind what is in no batch yet, or detects its end; it returns false if the input pauses, if
// nothing arrives before due (zero: never), or if the row that has begun is too long.
func (f *feed) more(due time.Time, row int64) (ok bool, err error) {
	f.buf, f.from = f.buf[:copy(f.buf, f.buf[f.from:])], 0
	if len(f.buf) > maxLine {
		f.err = exit.Misconfiguredf("leave it out: it is no note; the rows before it went out", where+": row %d has more than 128 MiB", row)
		f.buf, f.ended = nil, true
		return false, nil
	}
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

// send writes the rows of a batch at once.
func (f *feed) send(lines []byte) error {
	f.lines = lines
	_, err := f.out.Write(lines)
	return err
}

// appendOrNull appends a text in JSON, or null.
func appendOrNull(dst, text []byte, ok bool) []byte {
	if !ok {
		return append(dst, "null"...)
	}
	return write.AppendString(dst, text)
}
