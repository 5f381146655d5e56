package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/models/word/gazetteer"
)

func newGazetteerCommand(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "gazetteer",
		Short: "Compile lists of names, places and words into one file; look into such a file",
		Example: `  velum teach gazetteer build --out names.velum hombres.csv,mujeres.csv apellidos.csv --words es_50k.txt
  velum teach gazetteer show names.velum Rosa "María Carmen"`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newGazetteerBuildCommand(a), newGazetteerShowCommand(a))
	return c
}

func newGazetteerBuildCommand(a *app) *cobra.Command {
	var f look.ListOptions
	c := &cobra.Command{
		Use:   "build --out FILE [CLASS=]LIST[,LIST...][?form=COLUMN&count=COLUMN+COLUMN]...",
		Short: "Compile lists into one file",
		Long: `Compile lists into one file: CSV or TSV (compressed with gzip or not), words with counts,
the lists of INE and wordfreq, plain lines. Class and columns are told from the
header where they can be; otherwise say them:

  GivenName=staff.csv?form=name          the column "name" holds given names
  Surname=list.tsv?form=1&count=3+4      columns by number, two counts added
  Drug=drugs.txt                         one entry a line
  own.csv?form=word&separator=;          the column "class" names classes

Counts of one form are added within an argument (men and women, say) and the largest counts
between arguments, which may be editions of one census. A place's official name gives all
its names: "Pobla de Massaluca, La", "Alicante/Alacant". Rows that cannot be used are left
out, counted and named by their place. --words gives the frequency of common words, against
which names are held: a word is ambiguous where its ratio is small.

Classes: ` + strings.Join(gazetteer.ClassNames(), ", ") + `.`,
		Example: `  velum teach gazetteer build --out names.velum hombres.csv,mujeres.csv apellidos.csv --words es_50k.txt
  velum teach gazetteer build --out staff.velum 'GivenName=staff.csv?form=first' 'Surname=staff.csv?form=last'`,
		RunE: func(_ *cobra.Command, args []string) error { return look.BuildList(a.Console, &f, args) },
	}
	flags := c.Flags()
	flags.StringVar(&f.Out, "out", "", "`FILE` to write")
	flags.StringVar(&f.Name, "name", "", "name of the lists (default: that of the file)")
	flags.StringSliceVar(&f.Words, "words", nil, "`LISTS` of common words with their counts")
	flags.Float64Var(&f.MaxBad, "max-bad", look.MaxBad, "share of a list's rows that may be left out")
	return c
}

func newGazetteerShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE [WORD...]",
		Short: "Print what a file holds, or what it knows of words and phrases",
		Example: `  velum teach gazetteer show names.velum
  velum teach gazetteer show names.velum Rosa garcía "María Carmen"`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Errorf(exit.Config, "see `velum teach gazetteer show --help`", "velum teach gazetteer show: name a file")
			}
			return look.List(a.Console, args[0], args[1:])
		},
	}
}
