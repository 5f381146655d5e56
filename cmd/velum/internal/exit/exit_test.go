package exit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/read/input"
)

func TestExitCodes(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want Code
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{With(Quarantined, errors.New("x"), ""), 3},
		{fmt.Errorf("run: %w", With(Nothing, errors.New("x"), "")), 4},
		{(&ConfigError{Mistakes: []Mistake{{}}}).OrNil(), 10},
		{Errorf(Locked, "", "x"), 11},
		{&os.PathError{Op: "write", Path: "p", Err: syscall.ENOSPC}, 14},
		{fmt.Errorf("write: %w", syscall.EDQUOT), 14},
		{&os.PathError{Op: "open", Path: "/dev/full", Err: syscall.ENOTDIR}, 10},
		{&os.PathError{Op: "mkdir", Path: "p", Err: syscall.EACCES}, 1},
		{fmt.Errorf("tag: %w", ErrInterrupted), 130},
		{errors.Join(errors.New("x"), ErrTerminated), 143},
		{context.DeadlineExceeded, 1},
		{fmt.Errorf("run: %w", &durable.LockedError{Path: "out"}), 11},
		{&secret.Error{Path: "k"}, 12},
		{&durable.IntegrityError{}, 13},
		{fmt.Errorf("model m: %w", modelfile.ErrDamaged), 13},
		{fmt.Errorf("model m: %w", modelfile.ErrNotAModel), 10},
		{&input.SchemaError{Path: "p"}, 10},
		{With(Integrity, syscall.ENOSPC, ""), 13}, // what the verb says goes before the cause
	} {
		if got := CodeOf(tt.err); got != tt.want {
			t.Errorf("%v: %d, want %d", tt.err, got, tt.want)
		}
	}
	for _, c := range Codes {
		if c.String() == "" {
			t.Errorf("%d has no name", c)
		}
	}
	if len(Codes) != len(names) {
		t.Error("exitCodes and exitNames differ")
	}
}

// Whoever stops a command that begins anew is not told that it goes on.
func TestGoesOn(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fmt.Errorf("tag: %w", ErrInterrupted), "the same command goes on where this one stopped"},
		{ErrTerminated, "the same command goes on where this one stopped"},
		{ErrHungUp, "the same command goes on where this one stopped; nohup or systemd-run keep it going without a terminal"},
		{syscall.ENOSPC, "free some space, then start again"},
		{errors.New("x"), ""},
	} {
		if _, got := Explain(GoesOn(c.err)); got != c.want {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
		if _, got := Explain(c.err); strings.Contains(got, "goes on") {
			t.Errorf("%v: %q of a command that begins anew", c.err, got)
		}
	}
}

func TestPrintExit(t *testing.T) {
	print := func(err error, asJSON bool) string {
		var b bytes.Buffer
		Print(&b, err, asJSON)
		return b.String()
	}
	if got := print(nil, true); got != "" {
		t.Errorf("no error prints %q", got)
	}
	broken := Errorf(DiskFull, "free some space", "write out/part\n1\x1b[31m: no space")
	if got, want := print(broken, false), "velum: write out/part 1 [31m: no space; free some space\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var got struct {
		Kind     string `json:"message_type"`
		Code     int
		Name     string
		Error    string
		Remedy   string
		Mistakes []Mistake
	}
	wrong := (&ConfigError{Mistakes: []Mistake{{File: "b", Line: 2, Message: "m"}, {File: "b", Line: 1, Message: "<"}}}).OrNil()
	line := print(wrong, true)
	if err := json.Unmarshal([]byte(line), &got); err != nil || strings.Count(line, "\n") != 1 {
		t.Fatalf("%v in %q", err, line)
	}
	if got.Kind != "exit_error" || got.Code != 10 || got.Name != "configuration" || len(got.Mistakes) != 2 || got.Mistakes[0].Line != 1 {
		t.Errorf("got %+v", got)
	}
}
