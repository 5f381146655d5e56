package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

func newModelListCommand(a *app) *cobra.Command {
	dir := ""
	c := &cobra.Command{
		Use:   "list",
		Short: "List the models in the binary, or those of a folder with the one that is in use",
		Long: `List the models in the binary, and those of a folder with the one that is in use.

A folder of models has a pointer that says which one is in use. promote copies a model
there and sets the pointer, rollback sets it back; each is one rename, so a run finds a
whole model at any time. ` + "velum run --model DIR/" + ` uses the one in use.`,
		Example: `  velum model list
  velum model promote night.velum --models models/
  velum run --in archive/ --out masked/ --model models/
  velum model rollback --models models/`,
		Args: noArgs,
		RunE: func(*cobra.Command, []string) error { return look.Models(a.Console, dir) },
	}
	modelsFlag(c, &dir)
	return c
}

func modelsFlag(c *cobra.Command, dir *string) {
	c.Flags().StringVar(dir, "models", "", "`DIR` of promoted models")
}

func newPromoteCommand(a *app) *cobra.Command {
	dir, force := "", false
	c := &cobra.Command{
		Use:   "promote FILE",
		Short: "Put a model into use",
		Long: `Copy a model, a file or one of the binary's, to the folder and put it into use. A model
that this velum cannot load is refused; so is one whose masking recall, as it was
measured when it was trained, is lower than that of the one in use: exit code 15.`,
		Example: `  velum model promote night.velum --models models/`,
		Args:    exactArgs(1),
		RunE: heeds(a, func(_ context.Context, cfg *option.Config, args []string) error {
			return look.Promote(a.Console, cfg, args[0], dir, force)
		}),
	}
	modelsFlag(c, &dir)
	c.Flags().BoolVar(&force, "force", false, "promote it even if its masking recall is lower")
	return c
}

func newRollbackCommand(a *app) *cobra.Command {
	dir := ""
	c := &cobra.Command{
		Use:     "rollback",
		Short:   "Put the model before into use again",
		Example: `  velum model rollback --models models/`,
		Args:    noArgs,
		RunE:    func(*cobra.Command, []string) error { return look.Rollback(a.Console, dir) },
	}
	modelsFlag(c, &dir)
	return c
}

func newMeasureCommand(a *app) *cobra.Command {
	var o train.Options
	c := &cobra.Command{
		Use:   "measure --model MODEL [--gold PATH] [--held MODEL=PATH] --out FILE",
		Short: "Score a model on labelled notes and keep that in its file",
		Long: `Score a model on labelled notes that it has not seen, set its recall dial by them, and
write the model with both; it tags as before. With --real the notes count as real ones.
--scores takes scores and dial of another model that was made in the same way without
the notes that it was scored on.

--held calibrates the model: which confidence leaves how many notes with something to
read, and how far writers lie apart. By it a report says how many notes of a run are
expected to keep something. MODEL is the model, or one that was made in the same way,
and has not seen the notes of PATH: leave out writers or wards, train, and hand in each
such model with what it has not seen. The more writers, the narrower the interval.`,
		Example: `  velum model measure --model night.velum --gold gold.jsonl --real "our ward" \
    --out mine.velum
  velum model measure --model all.velum --held without-a.velum=a.jsonl \
    --held without-b.velum=b.jsonl --sources '^([a-z]+)-' --out calibrated.velum`,
		Args: noArgs,
		RunE: call(a, train.Measure, &o),
	}
	flags := c.Flags()
	flags.StringSliceVar(&o.Dev, "gold", nil, "`PATHS` of labelled notes")
	flags.StringVar(&o.Real, "real", "", "they are real notes, not generated ones, and called `NAME`")
	flags.StringVar(&o.Scores, "scores", "", "`MODEL` whose scores and recall dial to take")
	flags.StringArrayVar(&o.Held, "held", nil, "`MODEL=PATHS` of labelled notes that MODEL, made as this one, has not seen; may be repeated")
	flags.StringVar(&o.Source, "sources", "", "`REGEX` whose groups find the writer or ward in a note's id; a file is one without")
	flags.StringVar(&o.Out, "out", "", "model `FILE` to write")
	a.optionFlag(c, "model", "tag.model")
	a.noteFlags(c)
	return c
}
