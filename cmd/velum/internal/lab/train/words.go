package train

import (
	"cmp"
	"context"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/learn/inversetrain"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/teach"
)

// trainWords counts the common words of an archive: what is safe by rule for an
// inverse model.
func trainWords(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	if len(o.Dictionary.Notes) == 0 {
		return exit.Misconfiguredf("see `velum teach train --help`", "--archive is needed")
	}
	counter := inversetrain.NewWordCounter()
	count := new(teach.Words)
	count.Note = func(text []byte, tokens []pipeline.Token, patient uint64) error {
		counter.Add(cmp.Or(patient, uint64(count.Notes)), text, tokens) // a note without a patient is its own
		return nil
	}
	for _, path := range o.Dictionary.Notes {
		if err := eachNote(ctx, c, cfg, path, count); err != nil {
			return err
		}
	}
	words, err := counter.Words(o.modelName(), o.MinCount, o.MinPatients)
	if err != nil {
		return err
	}
	return writeModel(c, o.Out, words.Data(), map[string]any{"header": words.Header()},
		", {{.header.words}} common words of {{.header.tokens}}, in the notes of {{.header.patients}} patients\n")
}
