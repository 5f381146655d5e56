package main

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/velum-health/velum/pipeline/promote"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// TestPromoteFails: whatever operation fails, once or from then on as in a
// crash, a whole model is in use: the old one, or the new one, and the new one
// if there was no error. The next start does it.
func TestPromoteFails(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("model ", 1000)
	put := func(f *promote.Folder, model string) error {
		_, err := f.Promote([]byte(model), noon)
		return err
	}
	for _, c := range []struct {
		name string
		do   func(f *promote.Folder) error
		want string
	}{
		{"promote", func(f *promote.Folder) error { return put(f, big) }, big},
		{"rollback", func(f *promote.Folder) error { _, err := f.Rollback(); return err }, "one"},
	} {
		for at, ended := 1, false; !ended; at++ {
			for _, lasting := range []bool{false, true} {
				d := newMemoryDisk(1, "/models")
				f := &promote.Folder{Dir: "/models", FS: d}
				if err := errors.Join(put(f, "one"), put(f, "two")); err != nil {
					t.Fatal(err)
				}
				d.Start(diskFault{At: at, Err: syscall.ENOSPC, Lasting: lasting})
				err := c.do(f)
				ended = len(d.Ops()) < at
				d.Start(diskFault{})
				_, data, bad := f.Current()
				switch {
				case bad != nil || string(data) != "two" && string(data) != c.want:
					t.Fatalf("%s, operation %d, lasting %v: %d bytes in use, %v", c.name, at, lasting, len(data), bad)
				case err == nil && string(data) != c.want:
					t.Fatalf("%s, operation %d, lasting %v: no error and nothing done", c.name, at, lasting)
				case string(data) == "two":
					if err := c.do(f); err != nil {
						t.Fatalf("%s again: %v", c.name, err)
					}
				}
				if _, data, err := f.Current(); err != nil || string(data) != c.want {
					t.Fatalf("%s, operation %d, lasting %v, in the end: %d bytes in use, %v", c.name, at, lasting, len(data), err)
				}
			}
		}
	}
}
