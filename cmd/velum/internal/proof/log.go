package proof

import (
	"cmp"
	"context"
	"errors"
	"os"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// logOf finds the log of a tree: path is the log itself, the private tree
// that it stands in, or the public tree beside that.
func logOf(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path
	}
	inside := audit.LogIn(path)
	beside := audit.LogIn(commit.PrivateDir(path))
	if _, err := os.Stat(inside); err != nil {
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return inside
}

func verifyLog(name, head string) (*audit.Report, error) {
	f, err := audit.Open(name)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, exit.Misconfigured(err, "name an audit log, or the tree of a run")
		}
		return nil, err
	}
	r, err := audit.Verify(f, head)
	return r, errors.Join(err, f.Close())
}

// LogOptions names an audit log, or the tree that holds one.
type LogOptions struct {
	File   string
	Head   string          // hash of a line that it must still hold; "" for none
	Judged audit.Judgement // of a reading
}

// Log verifies the hash chain of an audit log and prints the findings.
func Log(_ context.Context, c *console.Console, o *LogOptions) error {
	r, err := verifyLog(logOf(o.File), o.Head)
	if err != nil {
		return err
	}
	if err := printLog(c, r); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		return exit.Errorf(exit.Integrity, "ask who could write to it, and compare with the heads noted elsewhere", "the audit log is not as it was written: %d findings", len(r.Findings))
	}
	return nil
}

func printLog(c *console.Console, r *audit.Report) error {
	var w console.Words
	for _, f := range r.Findings {
		w.Say("%v\n", f)
	}
	for _, line := range r.Recovered {
		w.Say("line %d: recovered: records that a run was killed while it wrote the line before\n", line)
	}
	w.Say("%d lines; head %s\n", r.Lines, cmp.Or(r.Head, "none"))
	return c.Answer(struct {
		Kind string `json:"message_type"`
		*audit.Report
	}{"audit", r}, "%s", w)
}
