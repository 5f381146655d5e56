// Package guard keeps one bad note from its batch: a note whose stage panicked
// or took too long goes to quarantine, and the others go on.
package guard

import (
	"runtime"
	"time"
)

// Note calls do for one note and tells whether it panicked. Stages use
// it so that a bad note goes to quarantine and its batch goes on.
func Note(do func()) (caught bool) {
	defer func() { caught = recover() != nil }()
	do()
	return false
}

// A Clock finds notes that take a stage too much processor time. It cannot
// stop one: all stages are linear in the text, so that what is over the limit
// is a fault, and its note is not to be trusted. Short notes are not timed.
//
// It is the time of the thread that counts, not that of the wall: a disk that
// stalls, a machine that has too much to do or a process that was stopped for
// a while are no faults of a note. A note that is timed keeps its thread.
type Clock struct {
	Limit  time.Duration // 0: none
	timing bool
	begin  time.Duration
}

// timedBytes is the length from which notes are timed. Reading the clock
// costs some 0.3 us, a thousandth of what tagging so long a note does.
const timedBytes = 16 << 10

// Timed tells whether a note of so many bytes is timed.
func Timed(bytes int) bool { return bytes >= timedBytes }

// Start begins a note of so many bytes.
func (c *Clock) Start(bytes int) {
	c.end() // of a note whose stage panicked
	if c.Limit > 0 && Timed(bytes) {
		runtime.LockOSThread()
		c.timing, c.begin = true, threadTime()
	}
}

// Over ends the note and tells whether it has taken more than the limit.
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
