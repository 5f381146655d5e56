package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/proof"
	"github.com/velum-health/velum/cmd/velum/internal/review"
	"github.com/velum-health/velum/pipeline/audit"
)

func newSampleCommand(a *app) *cobra.Command {
	var p proof.Leaks
	var readings []string
	c := &cobra.Command{
		Use:   "sample [DIR --reading FILE | --read N --leaks L]",
		Short: "Say what L leaks in N notes read prove about all notes",
		Long: `Somebody has read N notes of a random sample (velum run --audit N) and found L that
still held something to mask. Print the highest rate of such notes that this leaves
possible, at 95 % confidence: the exact upper bound of Clopper and Pearson, one-sided.

It holds if the sample is random and if the reader sees every leak. A reader who
misses some needs more notes: have a share of them read twice.

With DIR, the output that the sample was drawn from, and --reading, what velum review
--ask audit wrote, the reading goes into the audit log of DIR: who read, when, how long,
and for which masked notes it holds. Numbers that are typed go nowhere. Of two readers
each has a journal; a note leaks if one of them says so. The report of the next start of
the same run takes the reading up: only by it the light can be green. When the output
changes it holds no longer. Of several readings of one output the worst stands (velum
prove adjudicate). Where key.file names the key of the house, journals are signed with
it, for each reader; of an output that was made with a key they must be. A journal shows
what was written, by whom who has that key and in which order, and not that eyes read. Of a sample by strata (velum run --audit 0.5%) the bound takes
their sizes into account, and what was found in each.`,
		Example: `  velum prove sample --read 3000 --leaks 0                    # at most 1 note in 1,002
  velum prove sample --read 3000 --leaks 2 --notes 32900000   # and of a whole year
  velum prove sample --rate 0.0001                            # how many notes to read
  velum prove sample masked/ --reading read.jsonl`,
		Args: mostArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			typed := c.Flags().Changed("read") || c.Flags().Changed("leaks")
			if (len(args) == 1) != (len(readings) > 0) || len(args) == 1 && typed {
				return exit.Errorf(exit.Config, "velum prove sample DIR --reading FILE; numbers alone go without DIR", "a reading of an output comes from the journal of velum review --ask audit")
			}
			if len(args) == 0 {
				if err := p.Solve(c.Flags().Changed("read")); err != nil {
					return err
				}
			} else if err := recordReading(a, &p, args[0], readings); err != nil {
				return err
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
	f.StringSliceVar(&readings, "reading", nil, "`FILE` that velum review --ask audit wrote; a second one is another reader's")
	f.Float64Var(&p.Confidence, "confidence", 0.95, "how sure the bound is")
	f.Float64Var(&p.Rate, "rate", 0, "highest `RATE` to prove: print how many notes to read, if none leaks")
	return c
}

// recordReading takes what journals say into the audit log of an output.
func recordReading(a *app, p *proof.Leaks, dir string, readings []string) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	key, err := review.HouseKey(cfg)
	if err != nil {
		return err
	}
	read, sums, err := review.Reading(readings, key)
	if err != nil {
		return err
	}
	p.Read, p.Leaks = read.Read, read.Leaks
	if err := p.Solve(true); err != nil {
		return err
	}
	return p.Record(dir, read, sums)
}

func newAdjudicateCommand(a *app) *cobra.Command {
	var j audit.Judgement
	c := &cobra.Command{
		Use:   "adjudicate DIR [--line N --name NAME --why TEXT]",
		Short: "Decide by name which of several readings of an output stands",
		Long: `Print the readings that the audit log of DIR has, with their lines. No later reading overrules an
earlier one: of several readings of one output the worst stands. With --line, who is named lets the
reading of that line stand, and sets aside all others that are there. That is a line of the log too,
and the dossier names it.`,
		Example: `  velum prove adjudicate masked/
  velum prove adjudicate masked/ --line 41 --name "M. Soler, DPO" --why "line 37 took the wards for names"`,
		Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if c.Flags().NFlag() == 0 || j == (audit.Judgement{}) {
				return proof.Readings(a.Console, args[0])
			}
			return proof.Adjudicate(a.Console, args[0], j)
		},
	}
	c.Flags().Int64Var(&j.Line, "line", 0, "`N` of the line with the reading that stands")
	c.Flags().StringVar(&j.By, "name", "", "`NAME` of who decides")
	c.Flags().StringVar(&j.Why, "why", "", "`TEXT`: the reason, without a word of a note")
	return c
}
