// Package guard isolates a bad note from its batch: a note on which a stage panics or takes too long goes to
// quarantine, and the other notes continue.
package guard

import (
	"runtime"
	"time"
)

// Note calls do for one note and reports whether it panicked. Stages use it so that a bad note goes to quarantine and
// its batch continues.
func Note(do func()) (caught bool) {
	defer func() { caught = recover() != nil }()
	do()
	return false
}

// A Clock detects notes that take a stage too much processor time. It cannot stop a stage. All stages are linear in the
// length of the text, so a note over the limit indicates a bug and is not trusted. Short notes are not timed.
//
// It measures the processor time of the thread and not wall-clock time, because a slow disk, a busy machine or a
// suspended process is no fault of the note. While a note is timed, its goroutine is locked to its thread.
type Clock struct {
	Limit  time.Duration // 0: none
	timing bool
	begin  time.Duration
}

// timedBytes is the length from which the time for a note is measured. Reading the clock takes about 0.3 µs, a
// thousandth of the time for tagging such a note.
const timedBytes = 16 << 10

// Timed reports whether a note of that many bytes is timed.
func Timed(bytes int) bool { return bytes >= timedBytes }

// Start begins timing a note of that many bytes.
func (c *Clock) Start(bytes int) {
	c.end() // of a note whose stage panicked
	if c.Limit > 0 && Timed(bytes) {
		runtime.LockOSThread()
		c.timing, c.begin = true, threadTime()
	}
}

// Over ends timing the note and reports whether it exceeded the limit.
func (c *Clock) Over() bool {
	if !c.timing {
		return false
	}
	took := threadTime() - c.begin
	c.end()
	return took > c.Limit
}

func (c *Clock) end() {
	if c.timing {
		c.timing = false
		runtime.UnlockOSThread()
	}
}
