package cloud

import (
	"context"
	"errors"
	"fmt"
	"syscall"
)

// Exit codes are those of velum.
const (
	Failed      = 1
	Quarantined = 3
	Nothing     = 4
	Config      = 10
	Locked      = 11
	Integrity   = 13
	DiskFull    = 14
)

// An Error is a reason to end, and what to do about it.
type Error struct {
	Code   int
	Cause  string
	Remedy string // may be empty
}

func (e *Error) Error() string {
	if e.Remedy == "" {
		return e.Cause
	}
	return e.Cause + "; " + e.Remedy
}

func wrong(remedy, format string, args ...any) error {
	return &Error{Config, fmt.Sprintf(format, args...), remedy}
}

func broken(remedy, format string, args ...any) error {
	return &Error{Integrity, fmt.Sprintf(format, args...), remedy}
}

// ExitCode is what the process returns for an error.
func ExitCode(err error) int {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return DiskFull
	case errors.Is(err, context.Canceled):
		return 143
	}
	return Failed
}
