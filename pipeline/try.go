package pipeline

import (
	"fmt"
	"runtime"
)

// A panicError is a panic that was caught. It names the place in the code and
// the type of the panic's value; the value itself is not kept, since it may
// hold text of a note (an index error holds numbers only, but a library's
// panic may quote its input).
type panicError struct {
	Place string // file:line of the innermost frame that is ours or a library's
	Kind  string // Go type of the value
}

func (e *panicError) Error() string { return fmt.Sprintf("panic (%s) at %s", e.Kind, e.Place) }

// Try calls do and turns a panic into a panicError.
func Try(do func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &panicError{Place: panicPlace(), Kind: fmt.Sprintf("%T", v)}
		}
	}()
	return do()
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
