package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/stages/mask"
)

func newConfigCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Print, check and describe the configuration",
		Example: `  velum config print                      # every value and where it came from
  velum config print --profile meddocan   # a starting point for a file of your own
  velum config check night.yaml           # all mistakes at once
  velum config schema > velum.schema.json # completion and checks in an editor`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newConfigPrintCommand(a), newConfigCheckCommand(a), newConfigSchemaCommand(a), newConfigOperatorsCommand(a))
	return c
}

func newConfigOperatorsCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "operators",
		Short: "List the operators of policies with their options and defaults",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			lines := mask.Describe()
			if a.JSON {
				return json.NewEncoder(a.Out).Encode(lines)
			}
			for _, l := range lines {
				if _, err := a.Printf("%s\n    %s\n", l[0], l[1]); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func newConfigPrintCommand(a *app) *cobra.Command {
	reasons := false
	c := &cobra.Command{
		Use:   "print",
		Short: "Print the effective configuration with the origin of each value",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			cfg, err := a.config()
			if err != nil {
				return err
			}
			if a.JSON {
				return cfg.PrintJSON(a.Out)
			}
			return cfg.Print(a.Out, reasons)
		},
	}
	c.Flags().BoolVar(&reasons, "reasons", false, "print what each option does and why its default is what it is")
	return c
}

func newConfigCheckCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE",
		Short: "Check a configuration file, open what it names, list every mistake",
		Args:  exactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			a.options.File = args[0]
			cfg, err := a.config()
			if err := flow.Check(cfg, err); err != nil {
				return err
			}
			hash, err := cfg.Hash()
			if err != nil {
				return err
			}
			if a.JSON {
				return json.NewEncoder(a.Out).Encode(map[string]string{"file": args[0], "hash": hash})
			}
			_, err = a.Printf("%s: no mistakes (options that shape the output: %s)\n", args[0], hash[:16])
			return err
		},
	}
}

func newConfigSchemaCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of the configuration",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := a.Out.Write(option.Schema())
			return err
		},
	}
}
