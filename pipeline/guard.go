package pipeline

import (
	"fmt"
	"runtime"
	"time"
)

// A PanicError is a panic that was caught. It names the place in the code and
// the type of the panic's value; the value itself is not kept, since it may
// hold text of a note (an index error holds numbers only, but a library's
// panic may quote its input).
type PanicError struct {
	Place string // file:line of the innermost frame that is ours or a library's
	Kind  string // Go type of the value
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic (%s) at %s", e.Kind, e.Place) }

// Try calls do and turns a panic into a PanicError.
func Try(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Place: panicPlace(), Kind: fmt.Sprintf("%T", v)}
		}
	}()
	return do()
}

// Guard calls do for one note and tells the reason if it panicked. Stages use
// it so that a bad note goes to quarantine and its batch goes on.
func Guard(do func()) (caught bool) {
	defer func() { caught = recover() != nil }()
	do()
	return false
}

// A NoteClock finds notes that take a stage too much processor time. It cannot
// stop one: all stages are linear in the text, so that what is over the limit
// is a fault, and its note is not to be trusted. Short notes are not timed.
//
// It is the time of the thread that counts, not that of the wall: a disk that
// stalls, a machine that has too much to do or a process that was stopped for
// a while are no faults of a note. A note that is timed keeps its thread.
type NoteClock struct {
	Limit  time.Duration // 0: none
	timing bool
	begin  time.Duration
}

// timedBytes is the length from which notes are timed. Reading the clock
// costs some 0.3 us, a thousandth of what tagging so long a note does.
const timedBytes = 16 << 10

// Start begins a note of so many bytes.
func (c *NoteClock) Start(bytes int) {
	c.end() // of a note whose stage panicked
	if c.Limit > 0 && bytes >= timedBytes {
		runtime.LockOSThread()
		c.timing, c.begin = true, threadTime()
	}
}

// Over ends the note and tells whether it has taken more than the limit.
func (c *NoteClock) Over() bool {
	if !c.timing {
		return false
	}
	took := threadTime() - c.begin
	c.end()
	return took > c.Limit
}

func (c *NoteClock) end() {
	if c.timing {
		c.timing = false
		runtime.UnlockOSThread()
	}
}

// panicPlace finds the frame that panicked: the first above the runtime.
func panicPlace() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs[:])])
	for {
		f, more := frames.Next()
		if len(f.Function) < 8 || f.Function[:8] != "runtime." {
			return fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		if !more {
			return "unknown place"
		}
	}
}
