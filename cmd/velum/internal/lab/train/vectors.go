package train

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/look"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/learn/embedtrain"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/teach"
)

// VectorMethods returns the possible values of VectorOptions.Method.
func VectorMethods() []string { return embedtrain.Methods() }

// VectorOptions says by which method to learn word vectors, and from which notes.
type VectorOptions struct {
	In              []string // paths of notes
	From, Out, Name string
	Method          string
	Normalization   string
	Embed           embed.Options
	Cut             embed.CutOff
	Clusters        []int // numbers of clusters
	Keep            int   // MiB of memory for the encoded notes
}

// check completes the options and tells what is wrong with them.
func (v *VectorOptions) check() (embed.Normalization, error) {
	norm, err := embed.ParseNormalization(v.Normalization)
	if err != nil {
		return 0, exit.Misconfigured(fmt.Errorf("--normalization: %w", err), "")
	}
	v.Clusters = slices.DeleteFunc(v.Clusters, func(k int) bool { return k == 0 })
	for _, k := range v.Clusters {
		if k < 1 || k > embed.MaxClusters {
			return 0, exit.Misconfiguredf(fmt.Sprintf("between 1 and %d", embed.MaxClusters), "--clusters %d", k)
		}
	}
	if err := embedtrain.Check(v.Embed); err != nil {
		return 0, exit.Misconfigured(err, "see `velum teach embed --help`")
	}
	return norm, nil
}

// embedding is one run of `velum teach embed`.
type embedding struct {
	*console.Console
	*option.Config
	flags   *VectorOptions
	archive *archive.Archive // of the inputs that are archives; nil before they are looked at
	sink    teach.Words
}

// LearnVectors learns word vectors and writes their file.
func LearnVectors(ctx context.Context, c *console.Console, cfg *option.Config, f *VectorOptions) error {
	norm, err := f.check()
	if err != nil {
		return err
	}
	if f.Cut.Patients > 0 && cfg.Read.Columns.Patient == "" {
		return exit.Misconfiguredf("name it: --set read.columns.patient=COLUMN", "--min-patients needs the column of the patient")
	}
	c.SetMemory(int64(cfg.Run.MemoryLimit))
	e := &embedding{Console: c, Config: cfg, flags: f}
	defer func() { _ = e.archive.Close() }()
	f.Embed.Workers = cfg.Workers()

	counter, err := e.count(ctx, norm)
	if err != nil {
		return err
	}
	v := counter.Vocabulary(f.Cut)
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
	return e.save(embedtrain.Contents{
		Header: embed.Header{
			Name: nameOf(f.Name, f.Out), Method: f.Method, Tokens: counter.Tokens, Notes: e.sink.Notes, CutOff: f.Cut, Options: f.Embed,
		},
		Vectors: vectors, Clusters: clusters,
	})
}

// count is the first pass over the notes.
func (e *embedding) count(ctx context.Context, norm embed.Normalization) (*embedtrain.Counter, error) {
	counter := embedtrain.NewCounter(norm, e.flags.Cut.Patients, 0)
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
func (e *embedding) learn(ctx context.Context, v *embedtrain.Vocabulary) (*embedtrain.Vectors, error) {
	model := embedtrain.New(e.flags.Method, v, e.flags.Embed)
	progress := e.NewProgress("learn", "words", int64(model.Epochs())*int64(v.Tokens))
	defer progress.End()
	done := uint64(0)
	tell := func() error {
		progress.Add(int64(model.Done() - done))
		done = model.Done()
		return context.Cause(ctx)
	}
	encoder := &embedtrain.Encoder{Vocabulary: v, Size: model.RoundSize(), Keep: e.flags.Keep << 20, Do: func(round []int32) error {
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

func (e *embedding) cluster(ctx context.Context, x *embedtrain.Vectors) (map[int][]uint16, error) {
	clusters := map[int][]uint16{}
	for _, k := range e.flags.Clusters {
		if n := len(x.Vocabulary.Words); k > n {
			e.Log.Warn("fewer words than clusters: each word is one by itself", "clusters", k, "words", n)
		}
		progress := e.NewProgress("cluster", "iterations", 0)
		of, err := x.KMeans(embedtrain.KMeansOptions{K: k, Workers: e.flags.Embed.Workers, Seed: e.flags.Embed.Seed,
			Progress: func(moved int) error {
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
	for _, path := range e.flags.In {
		format, err := e.format(path)
		if err != nil {
			return err
		}
		if format == "archive" {
			archives = append(archives, path)
			continue
		}
		if err := readNotes(ctx, e.Config, format, path, &e.sink); err != nil {
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
	case e.flags.From == "archive" || e.flags.From == "lines":
		return e.flags.From, nil
	case e.flags.From != "":
		return flow.FormatOf("from", e.flags.From, path)
	case strings.HasSuffix(path, ".txt.gz"):
		return "lines", nil
	}
	if format, err := flow.FormatOf("from", "", path); err == nil && format != "parquet" {
		return format, nil
	}
	return "archive", nil
}

// archives gives the notes of all units. A file that cannot be read ends it:
// vectors of half an archive are not what was asked for.
func (e *embedding) archives(ctx context.Context, paths []string) (err error) {
	if e.archive == nil {
		if e.archive, err = flow.Archive(ctx, e.Config, paths, nil); err != nil {
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

func (e *embedding) save(c embedtrain.Contents) error {
	var file bytes.Buffer
	if err := embedtrain.Write(&file, c); err != nil {
		return err
	}
	if err := durable.WriteFile(nil, e.flags.Out, file.Bytes()); err != nil {
		return err
	}
	f, err := embed.Open(e.flags.Out)
	if err != nil {
		return err
	}
	defer f.Close()
	return e.Tell(map[string]any{
		"message_type": "embedding", "file": e.flags.Out, "bytes": file.Len(), "skipped_notes": e.sink.Skipped, "header": f.Header(),
		"clusters": look.SizesOf(f),
	}, `{{.file}}: {{times 1e-6 .bytes | figure "%.1f"}} MB, `+look.VectorsText)
}
