package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/night"
)

func newNightCommand(a *app) *cobra.Command {
	var o night.Options
	c := &cobra.Command{
		Use:   "night --in ARCHIVE --out DIR",
		Short: "Mask what is new, as a timer does: silent when all is well",
		Long: `Mask what is new of an archive, as velum run does with the same options. Nothing is said while all is
well, and nothing to do is exit code 0. Where somebody has to look, because the run failed or the light of
its report is red, a mail's worth of text says what, what to do and where; the exit code is that of the run,
or 15. A key that the configuration names and that is not there yet is made at the first night.

With --timer, what starts it every night is written into this folder, with these paths: units of systemd, a
line for cron, a CronJob of Kubernetes. With --every it stays and looks at the archive again and again.`,
		Example: `  velum night --config velum.yaml --in export.csv --out masked/
  velum night --config velum.yaml --in export.csv --out masked/ --timer systemd
  velum night --config velum.yaml --in export.csv --out masked/ --timer cron`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Spoil, o.Disk, o.Config = a.spoil, a.disk, a.options.File
			return night.Run(c.Context(), a.Console, a.config, &o)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&o.In, "in", nil, "`ARCHIVE`: file or folder, may be repeated")
	flags.StringVar(&o.Out, "out", "", "`DIR` that grows")
	flags.StringVar(&o.Private, "private", "", "`DIR` for what holds words of notes (default: --out with .private)")
	flags.StringVar(&o.Timer, "timer", "", "write what starts it every night: systemd, cron or kubernetes")
	flags.DurationVar(&o.Every, "every", 0, "stay, and look at the archive again after this `TIME`, as 24h")
	a.recordFlags(c, &o.Options)
	return c
}
