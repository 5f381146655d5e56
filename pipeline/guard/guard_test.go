package guard

import (
	"crypto/sha256"
	"testing"
	"time"
)

// TestClock: work counts, waiting does not, and short notes are not timed.
func TestClock(t *testing.T) {
	work := func() { sha256.Sum256(make([]byte, 64<<20)) } // some 50 ms
	for _, tt := range []struct {
		name  string
		limit time.Duration
		bytes int
		do    func()
		over  bool
	}{
		{"work", 5 * time.Millisecond, timedBytes, work, true},
		{"enough time", time.Hour, timedBytes, work, false},
		{"a short note", 5 * time.Millisecond, timedBytes - 1, work, false},
		{"no limit", 0, timedBytes, work, false},
		{"a stall", 50 * time.Millisecond, timedBytes, func() { time.Sleep(300 * time.Millisecond) }, false},
	} {
		c := Clock{Limit: tt.limit}
		c.Start(tt.bytes)
		c.Start(tt.bytes) // as after a panic
		tt.do()
		if got := c.Over(); got != tt.over {
			t.Errorf("%s: over %t", tt.name, got)
		}
		if c.Over() {
			t.Errorf("%s: over twice", tt.name)
		}
	}
}

func TestNote(t *testing.T) {
	if Note(func() {}) {
		t.Error("caught nothing")
	}
	if !Note(func() { panic("x") }) {
		t.Error("did not catch")
	}
}
