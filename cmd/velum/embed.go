package main

import (
	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
)

func newEmbedCommand(a *app) *cobra.Command {
	var f train.VectorOptions
	c := &cobra.Command{
		Use:   "embed --in PATH --out FILE",
		Short: "Learn vectors and clusters of words from an archive without labels",
		Long: `Learn vectors of words from notes that nobody has labelled, and clusters of them. PATH is
an archive (Parquet, dumps), a file of notes (jsonl, csv; .gz too), a folder of brat
or i2b2 notes, or plain lines (.txt.gz; --from lines for others).

FILE holds forms of the notes: it is private (mode 0600), and --min-notes and
--min-patients say in how many notes or of how many patients a form must occur to get in,
so that rare names do not.

With --workers 1 the same notes, options and seed give the same file. By default all cores
learn in the same vectors without waiting for each other: as good, but different in every
run. GloVe gives the same file with any number of workers.`,
		Example: `  velum teach embed --in archive/ --out words.velum --min-patients 5 --set read.columns.patient=patient_id
  velum teach embed --in notes.jsonl.gz --out words.velum --normalization fold --clusters 128,1024
  velum model inspect --model words.velum --neighbours hospital`,
		Args: noArgs,
		RunE: call(a, train.LearnVectors, &f),
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.In, "in", nil, "`PATH` of notes, may be repeated")
	flags.StringVar(&f.From, "from", "", "their `FORMAT`: archive, lines, or one of velum teach convert; told from the names if left out")
	flags.StringVar(&f.Out, "out", "", "`FILE` to write")
	flags.StringVar(&f.Name, "name", "", "name of the vectors (default: that of the file)")
	flags.StringVar(&f.Method, "method", "skip-gram", "skip-gram or glove")
	flags.StringVar(&f.Normalization, "normalization", "form", "what becomes of a form: form (as it is), lower, fold (lower case without accents)")
	flags.IntVar(&f.Embed.Dim, "dim", 100, "numbers a vector")
	flags.IntVar(&f.Embed.Window, "window", 5, "words on each side that count as neighbours")
	flags.IntVar(&f.Embed.Epochs, "epochs", 0, "times that the notes are learned from (default 5; glove 15)")
	flags.IntVar(&f.Embed.Negatives, "negatives", 5, "words drawn against each true one")
	flags.Float64Var(&f.Embed.Sample, "sample", 1e-3, "share of the text above which a word is left out now and then")
	flags.Float64Var(&f.Embed.Rate, "rate", 0, "first step size (default 0.025; glove 0.05)")
	flags.Uint64Var(&f.Embed.Seed, "seed", 1, "of everything that is drawn")
	flags.Uint64Var(&f.Cut.Count, "min-count", 5, "least occurrences of a form")
	flags.IntVar(&f.Cut.Notes, "min-notes", 2, "least notes that a form occurs in")
	flags.IntVar(&f.Cut.Patients, "min-patients", 0, "least patients whose notes a form occurs in; needs read.columns.patient")
	flags.IntSliceVar(&f.Clusters, "clusters", []int{128, 1024, 8192}, "numbers of clusters; 0 for none")
	flags.IntVar(&f.Keep, "keep", 1024, "`MIB` of memory for the encoded notes, which are read again for every epoch if they need more")
	a.optionFlag(c, "workers", "run.workers")
	a.optionFlag(c, "memory-limit", "run.memory_limit")
	return c
}
