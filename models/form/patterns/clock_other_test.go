//go:build !linux

package patterns

import "time"

var began = time.Now()

// clock returns the time since the tests began.
func clock() time.Duration { return time.Since(began) }
