package main

import (
	"cmp"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	evenings "github.com/velum-health/velum/cmd/velum/internal/lab/start" // start is what main calls
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

func newStartCommand(a *app) *cobra.Command {
	o := evenings.Options{Typed: os.Args[1:]}
	c := &cobra.Command{
		Use:   "start --in ARCHIVE --out DIR",
		Short: "Begin with an archive and no labels: one command an evening, which says the next one",
		Long: `Begin with an archive of which nothing is labelled. The first start looks how the archive is read,
masks it with the model of the binary, and asks: the notes of which the model is least sure, for each
category some in which it found most, some at random. A person answers as many as they like on the page
of velum review. The same command goes on with what was answered: it learns, judges, masks again with
the model in use, says what the answers cost and brought, and asks again, until that brings nothing any
more.

DIR holds words of notes and is for its owner alone, but for masked/masked. A start that was killed goes
on where it was.`,
		Example: `  velum start --in archive/ --out start/
  velum start --in archive/ --out start/ --ask 50                  # no more questions an evening than that
  velum start --in archive/ --out start/ --gazetteer names.velum   # first model: lists and how often the archive has their words`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			o.Own = a.options.File != "" || slices.ContainsFunc(a.Env, func(e string) bool { return strings.HasPrefix(e, "VELUM_CONFIG=") && e != "VELUM_CONFIG=" })
			o.Load = func(file string) (*option.Config, error) {
				sources := a.options
				sources.File = cmp.Or(sources.File, file)
				return option.Load(sources)
			}
			return evenings.Run(c.Context(), a.Console, &o)
		},
	}
	flags := c.Flags()
	flags.StringVar(&o.In, "in", "", "`ARCHIVE`: file or folder")
	flags.StringVar(&o.Out, "out", "", "`DIR` that grows, private")
	flags.IntVar(&o.Ask, "ask", 100, "most questions an evening: `N`")
	flags.BoolVar(&o.More, "more", false, "ask also where two turns in a row changed next to nothing")
	flags.StringSliceVar(&o.Lists, "gazetteer", nil, "`FILES` of names, as velum teach gazetteer build takes or makes them: the first model is made of them, in place of that of the binary, which finds more in Spanish and Catalan")
	a.optionFlags(c, "from=read.format", "encoding=read.encoding", "delimiter=read.delimiter", "id-column=read.columns.id", "text-column=read.columns.text",
		"model=tag.model", "policy=mask.policy", "kind=learn.kind", "lang=report.lang", "workers=run.workers", "memory-limit=run.memory_limit")
	return c
}
