package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/lab/attack"
)

func newAttackCommand(a *app) *cobra.Command {
	var o attack.Options
	c := &cobra.Command{
		Use:   "attack DIR",
		Short: "Try what an output gives away, as somebody would who has all that is public",
		Long: `Attack velum's own output DIR, with its private tree beside it, and say in figures what
could be found out: all attacks that apply, and why the others do not.

names: in a sample of whole patients the archive is masked again and again with a share of the names
left as they were (--misses); what was missed anyway is known where people marked notes of the archive
(--gold). An attacker, who has velum and archives of their own, has learned what gives a name away,
that it comes again in several notes of a patient, or that surrogates are seldom it and people are
(--people), and points at as many as were left.

candidates goes by surrogates alone: the patients of the sample are a list of people, and the attacker,
who has learned how surrogates go by names, ranks it for each patient.

range and order go by dates that were moved: within the range of the archive, and in rows that are
sorted by date.

two compares DIR with another extract of the archive, or an earlier release (--with): a name that was
missed reads the same in both, and surrogates do not. Classes of the columns are joined by the ids.

linkage joins quasi/ of DIR with a --table of people who are known: whoever matches fewer notes than
--k is found.

passed: no more than --most times what guessing does; failed: more; no power: too little was left
to tell, and how much is needed. Ends with exit code 15 unless all that were tried passed. What
--json prints is for gate.attacks: the private report shows it and is green only if all passed.`,
		Example: `  velum prove attack study/ --config study.yaml
  velum prove attack study/ --config study.yaml --only names --misses 0.001,0.01,0.05 --json
  velum prove attack study/ --config study.yaml --only linkage --table people.csv --k 5`,
		Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Dir = args[0]
			return attack.Run(c.Context(), a.Console, a.config, &o)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&o.Only, "only", nil, "`ATTACKS` that are tried: "+strings.Join(attack.Names(), ", ")+" (default: all that apply)")
	flags.StringSliceVar(&o.In, "in", nil, "`ARCHIVE` of the extract: file or folder, may be repeated (default: where it lay)")
	flags.StringSliceVar(&o.Gold, "gold", nil, "labelled `NOTES` of the archive with their ids there")
	flags.Float64SliceVar(&o.Misses, "misses", []float64{0.01}, "`SHARES` of names that are left as they are")
	flags.Float64Var(&o.Most, "most", 2, "`TIMES` what guessing finds that an attack may find")
	flags.IntVar(&o.Notes, "notes", 20_000, "`N` notes of the archive that are looked at, of whole patients")
	flags.StringVar(&o.People, "people", "", "`FILE` of names and how many people bear them, CSV")
	flags.StringVar(&o.With, "with", "", "`DIR` of another extract of the archive, or of an earlier release")
	flags.Uint64Var(&o.Seed, "seed", 1, "`SEED` of everything that is drawn")
	flags.IntVar(&o.Link.AtLeast, "k", 0, "`N` notes that a person must match, if any (0: anonymity.k, or 2)")
	flags.StringVar(&o.Link.Table, "table", "", "`FILE` of people with columns as the extract has them, Parquet or CSV")
	a.optionFlags(c, "model=tag.model", "recall=tag.recall", "policy=mask.policy", "workers=run.workers")
	return c
}
