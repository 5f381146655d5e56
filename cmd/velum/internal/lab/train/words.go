package train

import (
	"context"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/learn/inversetrain"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/patientid"
	"github.com/velum-health/velum/stages/read/input"
)

// trainWords counts the common words of an archive: what is safe by rule for an
// inverse model.
func trainWords(ctx context.Context, c *console.Console, cfg *option.Config, o *Options) error {
	if len(o.Dictionary.Notes) == 0 {
		return exit.Misconfiguredf("see `velum teach train --help`", "--archive is needed")
	}
	counter := inversetrain.NewWordCounter()
	t := &dictionaryTraining{Console: c, cfg: cfg, options: o}
	for _, path := range o.Dictionary.Notes {
		if err := t.read(ctx, path, countingWords{counter}); err != nil {
			return err
		}
	}
	words, err := counter.Words(o.modelName(), o.MinCount, o.MinPatients)
	if err != nil {
		return err
	}
	if err := durable.WriteFile(nil, o.Out, words.Data()); err != nil {
		return err
	}
	h := words.Header()
	return c.Answer(map[string]any{"model": o.Out, "bytes": len(words.Data()), "header": h}, "%s: %.1f MB, %d common words of %d, in the notes of %d patients\n", o.Out, float64(len(words.Data()))/1e6, h.Words, h.Tokens, h.Patients)
}

// countingWords is a sink that counts words by patient; by note, where nobody
// says whose it is.
type countingWords struct{ *inversetrain.WordCounter }

func (c countingWords) Put(b *pipeline.Batch) error {
	patients := b.ExtraNamed(input.PatientColumn)
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			continue
		}
		who := b.ID.At(i)
		if patients != nil {
			who = patientid.Key(patients.AppendText(nil, i))
		}
		c.Add(xxh3.Hash(who), b.Text.At(i), b.Tokens.At(i))
	}
	return nil
}
