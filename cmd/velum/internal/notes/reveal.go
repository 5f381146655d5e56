package notes

import (
	"context"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/mask"
)

// Reveal decrypts the values that the operator encrypt has put into masked notes, with their key.
func Reveal(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) error {
	r, w, err := f.text(cfg)
	if err != nil {
		return err
	}
	if cfg.Key.File == "" {
		return exit.Errorf(exit.Key, "name its file with key.file", "values are opened under their key")
	}
	key, err := secret.Load(cfg.Key.File)
	if err != nil {
		return err
	}
	src, err := flow.OpenNotes("from", f.From, f.In, r)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, err := flow.CreateNotes("to", f.To, f.Out, w)
	if err != nil {
		return err
	}
	opener := &opener{sealer: mask.NewSealer(key, cfg.Mask.Purpose)}
	n := &Counted{Text: dst, Progress: c.NewProgress("reveal", "notes", 0)}
	step := pipeline.Step{Name: "reveal", New: func() func(*pipeline.Batch) error { return opener.do }}
	err = flow.InputError(pipeline.Run(ctx, src, []pipeline.Step{step}, n, nil))
	if err == nil && opener.opened == 0 && opener.shut > 0 { // before anything is written
		err = exit.Errorf(exit.Key, "use the key and mask.purpose of the extract", "the key opens none of %d values", opener.shut)
	}
	if err = ended(c, n, err, f.Out); err == nil {
		c.Log.Info("values", "opened", opener.opened, "shut", opener.shut)
	}
	return err
}

// opener opens the sealed values of notes.
type opener struct {
	sealer       *mask.Sealer
	opened, shut int
}

func (o *opener) do(b *pipeline.Batch) error {
	var texts pipeline.Bytes
	for i := range b.Len() {
		var opened, shut int
		texts.Data, opened, shut = o.sealer.Reveal(texts.Data, b.Text.At(i))
		texts.End()
		o.opened, o.shut = o.opened+opened, o.shut+shut
	}
	b.Text = texts
	b.Spans.Reset()
	for range b.Len() {
		b.Spans.End()
	}
	return nil
}
