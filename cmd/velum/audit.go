package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

func newAuditCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "audit",
		Short: "Verify audit logs; say what reading a sample proves",
		Example: `  velum audit verify masked/                                   # the log of a tree
  velum audit verify /var/log/velum/audit.jsonl --head 5e1c…   # must still hold the noted line
  velum audit prove --read 3000 --leaks 0`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newAuditVerifyCommand(a), newAuditProveCommand(a))
	return c
}

func newAuditVerifyCommand(a *app) *cobra.Command {
	head := ""
	c := &cobra.Command{
		Use:   "verify FILE",
		Short: "Find every line of an audit log that was changed, removed, inserted or moved",
		Long: `Follow the chain of an audit log: every line holds the SHA-256 of the line before it.
FILE is the log, or an output tree of which it is the log. What is printed last is the
head, the hash of the last line. Note it elsewhere: given back with --head it shows that
no lines were cut off and that the log was not written anew, which the chain alone
cannot show.`,
		Example: `  velum audit verify masked.private/_audit/audit.jsonl
  velum audit verify masked/ --json
  tail -n 1 masked.private/_audit/audit.jsonl | sha256sum     # the head, without velum`,
		Args: exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			r, err := verifyAudit(auditFile(args[0]), head)
			if err != nil {
				return err
			}
			return a.printAudit(r)
		},
	}
	c.Flags().StringVar(&head, "head", "", "`SHA256` of a line, as noted after an earlier run")
	return c
}

// auditFile finds the log of a tree: path is the log itself, the private tree
// that it stands in, or the public tree beside that.
func auditFile(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path
	}
	inside := filepath.Join(path, filepath.FromSlash(audit.Name))
	beside := filepath.Join(commit.PrivateDir(path), filepath.FromSlash(audit.Name))
	if _, err := os.Stat(inside); err != nil {
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return inside
}

func verifyAudit(name, head string) (*audit.Report, error) {
	f, err := audit.Open(name)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, exit.With(exit.Config, err, "name an audit log, or the tree of a run")
		}
		return nil, err
	}
	r, err := audit.Verify(f, head)
	return r, errors.Join(err, f.Close())
}

func (a *app) printAudit(r *audit.Report) error {
	if err := a.printAuditReport(r); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		return exit.Errorf(exit.Integrity, "ask who could write to it, and compare with the heads noted elsewhere", "the audit log is not as it was written: %d findings", len(r.Findings))
	}
	return nil
}

func (a *app) printAuditReport(r *audit.Report) error {
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(struct {
			Kind string `json:"message_type"`
			*audit.Report
		}{"audit", r})
	}
	for _, f := range r.Findings {
		if _, err := fmt.Fprintln(a.Out, f); err != nil {
			return err
		}
	}
	for _, line := range r.Recovered {
		if _, err := fmt.Fprintf(a.Out, "line %d: recovered: records that a run was killed while it wrote the line before\n", line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.Out, "%d lines; head %s\n", r.Lines, cmp.Or(r.Head, "none"))
	return err
}
