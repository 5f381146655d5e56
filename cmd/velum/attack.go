package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/attack"
)

func newAttackCommand(a *app) *cobra.Command {
	var o attack.Options
	c := &cobra.Command{
		Use:   "attack --oracle|--gold|--extract ... --work DIR",
		Short: "Try what an output gives away, as somebody would who has all that is public",
		Long: `Attack velum's own output and say in figures what could be found out.

--oracle asks velum itself: values that are hidden in the first notes of ARCHIVE are
replaced by candidates, 1,600 each, all of them are masked with these options, and everything
public is compared with that of the true note. What counts is how many candidates
stay possible, of those that velum hides whole and under the category of the true value: that
a value was found, and its category, is what an output says. Some are filled into an archive by itself, of which every public byte is
compared: parts, names and sizes of files, manifest, report, metrics.

--gold, labelled notes, tries surrogates (the parrot attack): names are left as a tagger would that misses
some, all others get consistent, random and markov surrogates, and a tagger that was trained on them points at what was left.

--extract and --table link an extract that has quasi/ with a table of people who are known.

What --json prints of these two is for gate.attacks: the report of a run shows it, and gate.max_leak heeds it.

Ends with exit code 15 if more is given away than is allowed. DIR holds words of
notes while the attack lasts, and is removed at the end.`,
		Example: `  velum attack --oracle --in archive/ --work private-attack --places 2 --separate 1
  velum attack --oracle --in archive/ --work tmp --names people.txt --places 2 --separate 1 --json
  velum attack --gold labelled/ --misses 0.01 --work tmp`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			return attack.Run(c.Context(), a.Console, a.config, &o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.Work, "work", "", "`DIR` for what the attack needs on the disk; must not be there yet")
	flags.Uint64Var(&o.Seed, "seed", 1, "`SEED` of everything that is drawn")
	flags.BoolVar(&o.Oracle.Use, "oracle", false, "fill candidates into hidden places, mask them, compare what is public")
	flags.StringSliceVar(&o.Oracle.In, "in", nil, "`ARCHIVE`: file or folder, may be repeated")
	flags.IntVar(&o.Oracle.Notes, "notes", 20_000, "`N` notes of the archive are looked through for hidden values")
	flags.IntVar(&o.Oracle.Places, "places", 20, "`N` hidden values of each category")
	flags.IntVar(&o.Oracle.Candidates, "candidates", 1600, "`N` candidates for each")
	flags.IntVar(&o.Oracle.Separate, "separate", 10, "`N` runs of the hidden values' notes alone with possible candidates, and as many with impossible ones")
	flags.IntVar(&o.Oracle.AtLeast, "at-least", 0, "`N` candidates must stay possible at the 5th percentile of every category (0: an eighth of them)")
	flags.StringVar(&o.Oracle.Names, "names", "", "`FILE` of candidates for names of persons, one a line (default: made from lists)")
	flags.StringSliceVar(&o.Parrot.Gold, "gold", nil, "labelled `NOTES` in any format, to try surrogates on")
	flags.Float64SliceVar(&o.Parrot.Misses, "misses", []float64{0.001, 0.01, 0.05}, "`SHARES` of names that are left as they are")
	flags.IntVar(&o.Parrot.Mention, "mentions", 3, "`N` mentions of names that a note must have to count")
	flags.Float64Var(&o.Parrot.AtMost, "at-most", 0, "`SHARE` of what consistent surrogates give away that markov ones may (0: any)")
	flags.StringVar(&o.Link.Extract, "extract", "", "`DIR` of an extract that was made with anonymity.k")
	flags.IntVar(&o.Link.AtLeast, "k", 0, "`N` notes that a person must match, if any (0: anonymity.k, or 2)")
	flags.StringVar(&o.Link.Table, "table", "", "`FILE` of people with columns as the extract has them, Parquet or CSV")
	a.optionFlag(c, "model", "tag.model")
	a.optionFlag(c, "recall", "tag.recall")
	a.optionFlag(c, "policy", "mask.policy")
	a.optionFlag(c, "workers", "run.workers")
	return c
}
