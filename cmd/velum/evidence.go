package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/evidence"
	"github.com/velum-health/velum/cmd/velum/internal/lab/attack"
	"github.com/velum-health/velum/cmd/velum/internal/look"
)

func newEvidenceCommand(a *app) *cobra.Command {
	var o evidence.Options
	c := &cobra.Command{
		Use:   "evidence DIR | --facts-template",
		Short: "The dossier of a release, which a data-protection officer reads, signs and keeps",
		Long: `Put together what is known of the output DIR, for whoever has to answer for it: a page and a
record in DIR.private/_evidence, from purpose and key to risk, sample, attacks, objections and
incidents, and which clauses of ISO/IEC 27559, EDPB, CJEU, ICO, EHDS, AEPD, NIST and HIPAA that
answers. What nobody has answered says so. It holds counts and digests, no text and no id of a note.

What no program knows is in --facts; --interview asks for it on the terminal, once for the house. --sign and --signature sign the newest dossier; --verify looks
at record, page, signature, audit log and every byte of the output: exit code 13 if something was
changed, 15 if the output has changed since. See velum help dossier.`,
		Example: `  velum evidence --facts-template > house.yaml
  velum evidence study/ --facts house.yaml --attacks attacks.json --language ca
  velum evidence study/ --sign key.pem --name "A. Soler, DPO" --limits "one year, institute A alone"
  velum evidence study/ --verify --public-key public.pem`,
		Args: mostArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			o.Known, o.Build, o.Config = attack.Names(), look.NewBuild(version, revision), a.config
			return evidence.Run(c.Context(), a.Console, &o, args)
		},
	}
	flags := c.Flags()
	for _, f := range o.Flags() {
		flags.StringVar(f.At, f.Name, "", f.Help)
	}
	flags.BoolVar(&o.Template, "facts-template", false, "print an empty file for --facts")
	flags.BoolVar(&o.Interview, "interview", false, "ask on the terminal what no program knows, once for the house")
	flags.BoolVar(&o.Verify, "verify", false, "look whether the newest dossier still stands")
	flags.StringSliceVar(&o.In, "in", nil, "`ARCHIVE` that was masked, to look up who objects (--exclude)")
	a.optionFlag(c, "exclude", "people.exclude")
	return c
}
