package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/explain"
)

func newExplainCommand(a *app) *cobra.Command {
	f := explain.Options{At: -1}
	c := &cobra.Command{
		Use:   "explain [NOTE | - | --in PATH --id ID] [--word WORD | --at BYTE]",
		Short: "Say of one note why a word is masked, and why another is not",
		Long: `Put one note through the stages of a run and say what each made of it: the tagger and
its members with their probabilities, what spoke loudest, lists, patterns, rules, the
policy and the last look. Of a word that is not masked it says why not. What it prints holds words of the note, on standard output only.

The odds of a tag are the sum of what is printed below them: log P(tag)/P(rival).
Places count bytes of the note.`,
		Example: `  velum model explain "Acude con Rosa Puig, hija de la paciente"
  velum model explain --in notes.jsonl --id 7 --word Puig
  velum model explain --in notes.jsonl --id 7 --json`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return exit.Errorf(exit.Config, "write it in quotation marks", "explain takes one note")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.Text = args[0]
			}
			return call(a, explain.Run, &f)(c, nil)
		},
	}
	flags := c.Flags()
	flags.StringVar(&f.In, "in", "", "`PATH` of notes")
	flags.StringVar(&f.From, "from", "", "their `FORMAT`; told from the files if left out")
	flags.StringVar(&f.ID, "id", "", "`ID` of one of them")
	flags.StringVar(&f.Word, "word", "", "explain this `WORD` alone, or several with blanks between them")
	flags.IntVar(&f.At, "at", -1, "explain the word at this `BYTE` alone")
	a.optionFlags(c, "model=tag.model", "recall=tag.recall", "fast=tag.fast", "policy=mask.policy")
	a.noteFlags(c)
	return c
}
