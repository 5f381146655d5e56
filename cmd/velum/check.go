package main

import (
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/proof"
)

func newCheckCommand(a *app) *cobra.Command {
	private := ""
	var in []string
	c := &cobra.Command{
		Use:   "check DIR | FILE",
		Short: "Check an output, byte by byte; or a configuration file, for every mistake",
		Long: `Compare every byte of an output tree with its manifest, and name what differs: parts
that are missing or changed, files that the manifest does not know, a run that did not
end. The private tree beside it is checked too, if it is there, its audit log included.
Nothing is changed. An output whose run could read no note ends with exit code 3.

A FILE is a configuration: what it names is opened, and every mistake is listed at once.

With --in, the notes of people who object (--exclude), and of those whom DIR remembers as
forgotten or objecting, are looked up in the archive, and it is proven that none of them is in
DIR. Ids that may be theirs in another way of writing, or that stand elsewhere in a masked
document, end it with exit code 15.`,
		Example: `  velum check masked/            # masked/ and masked.private/
  velum check night.yaml         # a configuration: all mistakes at once
  velum check masked/ --json
  velum check masked/ --exclude objections.csv --in archive/ --set read.columns.patient=patient_id --set people.unmatched=warn`,
		Args: exactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if info, err := os.Stat(args[0]); err == nil && !info.IsDir() || strings.HasSuffix(args[0], ".yaml") {
				return checkConfig(a, args[0])
			}
			if err := proof.Trees(c.Context(), a.Console, args[0], private); err != nil || !c.Flags().Changed("exclude") && len(in) == 0 {
				return err
			}
			return proof.Absent(c.Context(), a.Console, a.config, in, args[0], private)
		},
	}
	c.Flags().StringVar(&private, "private", "", "`DIR` of the private tree (default: DIR.private, if it is there)")
	c.Flags().StringSliceVar(&in, "in", nil, "`ARCHIVE` that was masked, to look up who objects")
	a.optionFlag(c, "exclude", "people.exclude")
	return c
}
