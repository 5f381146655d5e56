package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/proof"
)

func newAuditProveCommand(a *app) *cobra.Command {
	var p proof.Leaks
	by := ""
	c := &cobra.Command{
		Use:   "prove [DIR] --read N --leaks L",
		Short: "Say what L leaks in N notes read prove about all notes",
		Long: `Somebody has read N notes of a random sample (velum run --audit N) and found L that
still held something to mask. Print the highest rate of such notes that this leaves
possible, at 95 % confidence: the exact upper bound of Clopper and Pearson, one-sided.

It holds if the sample is random and if the reader sees every leak. A reader who
misses some needs more notes: have a share of them read twice.

With DIR, the output that the sample was drawn from, the reading goes into the audit log
of DIR, with who read and for which masked notes it holds. The report of the next start
of the same run takes it up: only by it the light can be green. When the output
changes it holds no longer.`,
		Example: `  velum audit prove --read 3000 --leaks 0                    # at most 1 note in 1,002
  velum audit prove --read 3000 --leaks 2 --notes 32900000   # and of a whole year
  velum audit prove --rate 0.0001                            # how many notes to read
  velum audit prove masked/ --read 598 --leaks 0 --reader "A. Soler"`,
		Args: mostArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 && by == "" {
				return exit.Errorf(exit.Config, "say who read with --reader", "--reader is needed")
			}
			if err := p.Solve(c.Flags().Changed("read")); err != nil {
				return err
			}
			if len(args) == 1 {
				if err := p.Record(args[0], by); err != nil {
					return err
				}
			}
			if a.JSON {
				return json.NewEncoder(a.Out).Encode(&p)
			}
			return p.Print(a.Out)
		},
	}
	f := c.Flags()
	f.Int64Var(&p.Read, "read", 0, "`N` notes that somebody has read")
	f.Int64Var(&p.Leaks, "leaks", 0, "`L` of them in which something was left")
	f.Int64Var(&p.Notes, "notes", 0, "`M` notes that the sample was drawn from")
	f.StringVar(&by, "reader", "", "`NAME` of who read the sample of DIR")
	f.Float64Var(&p.Confidence, "confidence", 0.95, "how sure the bound is")
	f.Float64Var(&p.Rate, "rate", 0, "highest `RATE` to prove: print how many notes to read, if none leaks")
	return c
}
