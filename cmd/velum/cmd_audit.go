package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/pipeline"
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
	inside := filepath.Join(path, filepath.FromSlash(pipeline.AuditName))
	beside := filepath.Join(filepath.Clean(path)+".private", filepath.FromSlash(pipeline.AuditName))
	if _, err := os.Stat(inside); err != nil {
		if _, err := os.Stat(beside); err == nil {
			return beside
		}
	}
	return inside
}

func verifyAudit(name, head string) (*pipeline.AuditReport, error) {
	f, err := pipeline.OpenAudit(name)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, exit(exitConfig, err, "name an audit log, or the tree of a run")
		}
		return nil, err
	}
	r, err := pipeline.VerifyAudit(f, head)
	return r, errors.Join(err, f.Close())
}

func (a *app) printAudit(r *pipeline.AuditReport) error {
	if err := a.printAuditReport(r); err != nil {
		return err
	}
	if len(r.Findings) > 0 {
		return exitf(exitIntegrity, "ask who could write to it, and compare with the heads noted elsewhere", "the audit log is not as it was written: %d findings", len(r.Findings))
	}
	return nil
}

func (a *app) printAuditReport(r *pipeline.AuditReport) error {
	if a.json {
		return json.NewEncoder(a.out).Encode(struct {
			Kind string `json:"message_type"`
			*pipeline.AuditReport
		}{"audit", r})
	}
	for _, f := range r.Findings {
		if _, err := fmt.Fprintln(a.out, f); err != nil {
			return err
		}
	}
	for _, line := range r.Recovered {
		if _, err := fmt.Fprintf(a.out, "line %d: recovered: records that a run was killed while it wrote the line before\n", line); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(a.out, "%d lines; head %s\n", r.Lines, cmp.Or(r.Head, "none"))
	return err
}
