package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/mask"
)

func newRevealCommand(a *app) *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "reveal --in PATH --out PATH",
		Short: "Open values that the operator encrypt has written, under their key",
		Long: `Write notes with the values readable again that the operator encrypt has sealed. key.file and
mask.purpose must be those of the extract. A value that the key does not open stays as it is, and is
counted. The output holds words of notes: its mode is 0600.`,
		Example: `  velum reveal --in extract/masked/part-000.parquet --out open.jsonl --set key.file=study.key`,
		Args:    noArgs,
		RunE:    func(c *cobra.Command, _ []string) error { return a.reveal(c, &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.in, "in", "", "`PATH` of notes to read, such as a masked part")
	flags.StringVar(&f.from, "from", "", "its `FORMAT`: jsonl, csv, parquet and others; told from the file if left out")
	flags.StringVar(&f.out, "out", "", "`PATH` to write")
	flags.StringVar(&f.to, "to", "", "its `FORMAT`; told from the name if left out")
	f.unitIn, f.unitOut, f.scheme = "codepoints", "codepoints", "BIO"
	return c
}

func (a *app) reveal(c *cobra.Command, f *convertFlags) error {
	cfg, err := a.config()
	if err != nil {
		return err
	}
	r, w, err := f.options(cfg)
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
	src, err := flow.OpenNotes("from", f.from, f.in, r)
	if err != nil {
		return err
	}
	defer src.Close()
	dst, _, err := flow.CreateNotes("to", f.to, f.out, w)
	if err != nil {
		return err
	}
	opener := &opener{sealer: mask.NewSealer(key, cfg.Mask.Purpose)}
	n := &flow.Counted{Text: dst, Progress: a.NewProgress("reveal", "notes", 0)}
	step := pipeline.Step{Name: "reveal", New: func() func(*pipeline.Batch) error { return opener.do }}
	if err = a.ended(n, flow.InputError(pipeline.Run(c.Context(), src, []pipeline.Step{step}, n, nil)), f.out); err != nil {
		return err
	}
	a.Log.Info("values", "opened", opener.opened, "shut", opener.shut)
	if opener.opened == 0 && opener.shut > 0 {
		return exit.Errorf(exit.Key, "use the key and mask.purpose of the extract", "the key opens none of %d values", opener.shut)
	}
	return nil
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
