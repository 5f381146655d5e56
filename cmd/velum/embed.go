package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/embed"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/teach"
)

type embedFlags struct {
	in              []string
	from, out, name string
	method          string
	normalization   string
	options         embed.Options
	cut             embed.CutOff
	clusters        []int
	subwords        string
	keep            int // MiB
}

func newEmbedCommand(a *app) *cobra.Command {
	var f embedFlags
	c := &cobra.Command{
		Use:   "embed --in PATH --out FILE",
		Short: "Learn vectors and clusters of words from an archive without labels",
		Long: `Learn vectors of words from notes that nobody has labelled, and clusters of them. PATH is
an archive (Parquet, dumps), a file of notes (jsonl, csv, conll; .gz too), a folder of brat
or i2b2 notes, or plain lines (.txt.gz; --from lines for others).

FILE holds forms of the notes: it is private (mode 0600), and --min-notes and
--min-patients say in how many notes or of how many patients a form must occur to get in,
so that rare names do not.

With --workers 1 the same notes, options and seed give the same file. By default all cores
learn in the same vectors without waiting for each other: as good, but different in every
run. GloVe gives the same file with any number of workers.`,
		Example: `  velum embed --in archive/ --out words.velum --min-patients 5
  velum embed --in notes.jsonl.gz --out words.velum --normalization fold --clusters 128,1024
  velum inspect --model words.velum --neighbours hospital`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.embed(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringSliceVar(&f.in, "in", nil, "`PATH` of notes, may be repeated")
	flags.StringVar(&f.from, "from", "", "their `FORMAT`: archive, lines, or one of velum convert; told from the names if left out")
	flags.StringVar(&f.out, "out", "", "`FILE` to write")
	flags.StringVar(&f.name, "name", "", "name of the vectors (default: that of the file)")
	flags.StringVar(&f.method, "method", "skip-gram", "skip-gram, cbow or glove")
	flags.StringVar(&f.normalization, "normalization", "form", "what becomes of a form: form (as it is), lower, fold (lower case without accents)")
	flags.IntVar(&f.options.Dim, "dim", 100, "numbers a vector")
	flags.IntVar(&f.options.Window, "window", 5, "words on each side that count as neighbours")
	flags.IntVar(&f.options.Epochs, "epochs", 0, "times that the notes are learned from (default 5; glove 15)")
	flags.IntVar(&f.options.Negatives, "negatives", 5, "words drawn against each true one")
	flags.Float64Var(&f.options.Sample, "sample", 1e-3, "share of the text above which a word is left out now and then")
	flags.Float64Var(&f.options.Rate, "rate", 0, "first step size (default 0.025; cbow 0.075; glove 0.05)")
	flags.StringVar(&f.subwords, "subwords", "", "also learn n-grams of characters, as `3-6`; gives vectors to words that are not in the file")
	flags.IntVar(&f.options.Buckets, "buckets", 1<<17, "rows that n-grams share")
	flags.Uint64Var(&f.options.Seed, "seed", 1, "of everything that is drawn")
	flags.Uint64Var(&f.cut.Count, "min-count", 5, "least occurrences of a form")
	flags.IntVar(&f.cut.Notes, "min-notes", 2, "least notes that a form occurs in")
	flags.IntVar(&f.cut.Patients, "min-patients", 0, "least patients whose notes a form occurs in; needs read.columns.patient")
	flags.IntSliceVar(&f.clusters, "clusters", []int{128, 1024, 8192}, "numbers of clusters; 0 for none")
	flags.IntVar(&f.keep, "keep", 1024, "`MIB` of memory for the encoded notes, which are read again for every epoch if they need more")
	a.optionFlag(c, "workers", "run.workers")
	a.optionFlag(c, "memory-limit", "run.memory_limit")
	return c
}

// check completes the options and tells what is wrong with them.
func (f *embedFlags) check() (embed.Normalization, error) {
	if len(f.in) == 0 || f.out == "" {
		return 0, exit.Errorf(exit.Config, "see `velum embed --help`", "--in and --out are needed")
	}
	norm, err := embed.ParseNormalization(f.normalization)
	if err != nil {
		return 0, exit.With(exit.Config, fmt.Errorf("--normalization: %w", err), "")
	}
	if !slices.Contains(embed.Methods(), f.method) {
		return 0, exit.Errorf(exit.Config, "known: "+strings.Join(embed.Methods(), ", "), "--method: unknown method %q", f.method)
	}
	f.options.CBOW = f.method == "cbow"
	if f.subwords != "" {
		if n, err := fmt.Sscanf(f.subwords, "%d-%d", &f.options.Subwords[0], &f.options.Subwords[1]); n != 2 || err != nil || f.method == "glove" {
			return 0, exit.Errorf(exit.Config, "write it as 3-6; glove has none", "--subwords %s", f.subwords)
		}
	}
	f.clusters = slices.DeleteFunc(f.clusters, func(k int) bool { return k == 0 })
	for _, k := range f.clusters {
		if k < 1 || k > embed.MaxClusters {
			return 0, exit.Errorf(exit.Config, fmt.Sprintf("between 1 and %d", embed.MaxClusters), "--clusters %d", k)
		}
	}
	if err := f.options.Check(); err != nil {
		return 0, exit.With(exit.Config, err, "see `velum embed --help`")
	}
	return norm, nil
}

// embedding is one run of `velum embed`.
type embedding struct {
	*app
	*option.Config
	flags   *embedFlags
	fence   *read.Fence
	archive *read.Archive // of the inputs that are archives; nil before they are looked at
	sink    teach.Words
}

func (a *app) embed(ctx context.Context, f *embedFlags) error {
	norm, err := f.check()
	if err != nil {
		return err
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	if f.cut.Patients > 0 && cfg.Read.Columns.Patient == "" {
		return exit.Errorf(exit.Config, "name it: --set read.columns.patient=COLUMN", "--min-patients needs the column of the patient")
	}
	a.SetMemory(int64(cfg.Run.MemoryLimit))
	e := &embedding{app: a, Config: cfg, flags: f}
	e.fence = read.NewFence(read.FenceOptions{Memory: int64(cfg.Run.DecodeMemory), Ended: ctx.Done()})
	defer e.fence.Close()
	f.options.Workers = cfg.Workers()

	counter, err := e.count(ctx, norm)
	if err != nil {
		return err
	}
	v := counter.Vocabulary(f.cut)
	if len(v.Words) == 0 {
		return exit.Errorf(exit.Nothing, "see --min-count, --min-notes, --min-patients", "no form reaches the cut-off in %d notes", e.sink.Notes)
	}
	if counter.Forgot() > 0 {
		e.Log.Warn("more distinct forms than memory is kept for: the rarest were forgotten while counting", "count_up_to", counter.Forgot())
	}
	vectors, err := e.learn(ctx, v)
	if err != nil {
		return err
	}
	clusters, err := e.cluster(ctx, vectors)
	if err != nil {
		return err
	}
	return e.save(embed.Contents{
		Header: embed.Header{
			Name: e.name(), Method: f.method, Tokens: counter.Tokens, Notes: e.sink.Notes, CutOff: f.cut, Options: f.options,
		},
		Vectors: vectors, Clusters: clusters,
	})
}

func (e *embedding) name() string {
	if e.flags.name != "" {
		return e.flags.name
	}
	return strings.TrimSuffix(filepath.Base(e.flags.out), filepath.Ext(e.flags.out))
}

// count is the first pass over the notes.
func (e *embedding) count(ctx context.Context, norm embed.Normalization) (*embed.Counter, error) {
	counter := embed.NewCounter(norm, e.flags.cut.Patients, 0)
	progress := e.NewProgress("count", "words", 0)
	defer progress.End()
	err := e.pass(ctx, func(text []byte, tokens []pipeline.Token, patient uint64) error {
		counter.Note(text, tokens, patient)
		progress.Add(int64(len(tokens)))
		return nil
	})
	return counter, err
}

// learn is the passes that follow.
func (e *embedding) learn(ctx context.Context, v *embed.Vocabulary) (*embed.Vectors, error) {
	model := embed.New(e.flags.method, v, e.flags.options)
	progress := e.NewProgress("learn", "words", int64(model.Epochs())*int64(v.Tokens))
	defer progress.End()
	done := uint64(0)
	tell := func() error {
		progress.Add(int64(model.Done() - done))
		done = model.Done()
		return context.Cause(ctx)
	}
	encoder := &embed.Encoder{Vocabulary: v, Size: model.RoundSize(), Keep: e.flags.keep << 20, Do: func(round []int32) error {
		model.Round(round)
		return tell()
	}}
	for epoch := range model.Epochs() {
		if kept, ok := encoder.Kept(); ok && epoch > 0 {
			for _, round := range kept {
				if err := encoder.Do(round); err != nil {
					return nil, err
				}
			}
			continue
		}
		err := e.pass(ctx, func(text []byte, tokens []pipeline.Token, _ uint64) error { return encoder.Note(text, tokens) })
		if err == nil {
			err = encoder.End()
		}
		if err != nil {
			return nil, err
		}
	}
	return model.Vectors(), nil
}

func (e *embedding) cluster(ctx context.Context, x *embed.Vectors) (map[int][]uint16, error) {
	clusters := map[int][]uint16{}
	for _, k := range e.flags.clusters {
		if n := len(x.Vocabulary.Words); k > n {
			e.Log.Warn("fewer words than clusters: left out", "clusters", k, "words", n)
			continue
		}
		progress := e.NewProgress("cluster", "iterations", 0)
		of, err := x.KMeans(embed.KMeansOptions{K: k, Workers: e.flags.options.Workers, Seed: e.flags.options.Seed, Progress: func(_, moved int) error {
			progress.Add(1)
			progress.Say("%d clusters, %d words moved", k, moved)
			return context.Cause(ctx)
		}})
		progress.End()
		if err != nil {
			return nil, err
		}
		clusters[k] = of
	}
	return clusters, nil
}

// pass gives all notes of all inputs to note.
func (e *embedding) pass(ctx context.Context, note func(text []byte, tokens []pipeline.Token, patient uint64) error) error {
	e.sink = teach.Words{Note: note}
	var archives []string
	for _, path := range e.flags.in {
		format, err := e.format(path)
		if err != nil {
			return err
		}
		if format == "archive" {
			archives = append(archives, path)
			continue
		}
		if err := e.notes(ctx, format, path); err != nil {
			return flow.InputError(err)
		}
	}
	if len(archives) > 0 {
		return flow.InputError(e.archives(ctx, archives))
	}
	return nil
}

// format tells what is at a path: everything that is no file of notes in a
// known text format is an archive.
func (e *embedding) format(path string) (string, error) {
	switch {
	case e.flags.from == "archive" || e.flags.from == "lines":
		return e.flags.from, nil
	case e.flags.from != "":
		return flow.FormatOf("from", e.flags.from, path)
	case strings.HasSuffix(path, ".txt.gz"):
		return "lines", nil
	}
	if format, err := flow.FormatOf("from", "", path); err == nil && format != "parquet" {
		return format, nil
	}
	return "archive", nil
}

func (e *embedding) notes(ctx context.Context, format, path string) error {
	o, err := flow.TextOptions(e.Config)
	if err != nil {
		return err
	}
	o.SkipUnknown = true
	if format == "lines" {
		src, err := read.NewPlain(path, o)
		if err != nil {
			return exit.With(exit.Config, err, "")
		}
		defer src.Close()
		return pipeline.Run(ctx, src, flow.TeachSteps(e.Config), &e.sink, nil)
	}
	src, err := flow.OpenNotes("from", format, path, o)
	if err != nil {
		return err
	}
	defer src.Close()
	return pipeline.Run(ctx, src, flow.TeachSteps(e.Config), &e.sink, nil)
}

// archives gives the notes of all units. A file that cannot be read ends it:
// vectors of half an archive are not what was asked for.
func (e *embedding) archives(ctx context.Context, paths []string) error {
	if e.archive == nil {
		o, err := flow.ReadOptions(e.Config)
		if err != nil {
			return err
		}
		o.Fence = e.fence
		if e.archive, err = read.Scan(ctx, paths, o); err != nil {
			return err
		}
		if len(e.archive.Bad) > 0 {
			return flow.BadInputs(e.archive.Bad)
		}
	}
	for i := range e.archive.Units {
		src, err := e.archive.Open(&e.archive.Units[i])
		if err != nil {
			return err
		}
		err = pipeline.Run(ctx, src, flow.TeachSteps(e.Config), &e.sink, nil)
		if closed := src.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *embedding) save(c embed.Contents) error {
	var file bytes.Buffer
	if err := embed.Write(&file, c); err != nil {
		return err
	}
	if err := durable.WriteFile(nil, e.flags.out, file.Bytes()); err != nil {
		return err
	}
	f, err := embed.Open(e.flags.out)
	if err != nil {
		return err
	}
	defer f.Close()
	if e.JSON {
		return json.NewEncoder(e.Out).Encode(map[string]any{
			"message_type": "embedding", "file": e.flags.out, "bytes": file.Len(), "skipped_notes": e.sink.Skipped, "header": f.Header(),
		})
	}
	if _, err := fmt.Fprintf(e.Out, "%s: %.1f MB, ", e.flags.out, float64(file.Len())/1e6); err != nil {
		return err
	}
	return describeVectors(e.Out, f)
}
