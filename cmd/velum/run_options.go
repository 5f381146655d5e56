package main

import (
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/stages/mask"
)

func newOperatorsCommand(a *app) *cobra.Command {
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

func newOptionsCommand(a *app) *cobra.Command {
	reasons, schema := false, false
	c := &cobra.Command{
		Use:   "options",
		Short: "Print all options: the value of each and where it comes from",
		Example: `  velum run options                          # every value and where it came from
  velum run options --profile meddocan       # a starting point for a file of your own
  velum run options --schema > velum.schema.json # completion and checks in an editor`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error {
			if schema {
				_, err := a.Out.Write(option.Schema())
				return err
			}
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
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of a configuration file")
	return c
}

// checkConfig lists every mistake of a configuration file.
func checkConfig(a *app, file string) error {
	a.options.File = file
	cfg, err := a.config()
	if err := flow.Check(cfg, err); err != nil {
		return err
	}
	hash, err := cfg.Hash()
	if err != nil {
		return err
	}
	if a.JSON {
		return json.NewEncoder(a.Out).Encode(map[string]string{"file": file, "hash": hash})
	}
	_, err = a.Printf("%s: no mistakes (options that shape the output: %s)\n", file, hash[:16])
	return err
}
