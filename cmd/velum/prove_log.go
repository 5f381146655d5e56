package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/proof"
)

func newReleasesCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "releases FILE",
		Short: "List the extracts that were made of an archive: for what, for whom, with which key and policy",
		Long: `Print the ledger of releases: one line for each commit of an extract that may be given away. FILE is the
ledger, or a tree whose audit log it is: that which --tagged names, or an output of its own. It is private.
Notes that were released before with other texts are refused (mask.again).`,
		Example: `  velum prove releases masked/
  velum prove releases releases.jsonl --json`,
		Args: exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return proof.Releases(a.Console, args[0]) },
	}
}

func newLogCommand(a *app) *cobra.Command {
	head := ""
	c := &cobra.Command{
		Use:   "log FILE",
		Short: "Find every line of an audit log that was changed, removed, inserted or moved",
		Long: `Follow the chain of an audit log: every line holds the SHA-256 of the line before it.
FILE is the log, or an output tree of which it is the log. What is printed last is the
head, the hash of the last line. Note it elsewhere: given back with --head it shows that
no lines were cut off and that the log was not written anew, which the chain alone
cannot show.`,
		Example: `  velum prove log masked.private/_audit/audit.jsonl
  velum prove log masked/ --json
  tail -n 1 masked.private/_audit/audit.jsonl | sha256sum     # the head, without velum`,
		Args: exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error { return proof.Log(a.Console, args[0], head) },
	}
	c.Flags().StringVar(&head, "head", "", "`SHA256` of a line, as noted after an earlier run")
	return c
}
