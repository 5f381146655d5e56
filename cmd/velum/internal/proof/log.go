package proof

import (
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

// Verified verifies the hash chain of a log, which must contain the line with the hash head; "": any.
func Verified(name, head string) (*audit.Report, error) {
	f, err := audit.Open(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, exit.Misconfigured(err, "name an audit log, or the tree of a run that keeps it there (no --audit-log)")
	}
	if err != nil {
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
	r, err := Verified(logOf(o.File), o.Head)
	if err != nil {
		return err
	}
	if err := c.Tell(checkedLog{"audit", r}, logText); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		return exit.Errorf(exit.Integrity, "ask who could write to it, and compare with the heads noted elsewhere",
			"the audit log is not as it was written: %d findings", len(r.Findings))
	}
	return nil
}

// checkedLog is the result of verifying a log, as Log prints it.
type checkedLog struct {
	Kind string `json:"message_type"`
	*audit.Report
}

const logText = `{{range .findings}}line {{.line}}: {{.kind}}: {{.cause}}
{{end}}{{range .recovered}}line {{.}}: recovered: records that a run was killed while it wrote the line before
{{end}}{{.lines}} lines; head {{or .head "none"}}
`
