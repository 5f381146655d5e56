package flow

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/omop"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
	"github.com/velum-health/velum/stages/restore"
)

// InputError gives errors of input files the exit code of a wrong configuration.
func InputError(err error) error {
	if _, ok := errors.AsType[*input.Error](err); ok {
		return exit.Misconfigured(err, "")
	}
	return err
}

// Archive lists the units of an archive for a verb that reads only the notes, without the columns that a run passes
// through. only holds the files to read; nil reads all.
func Archive(ctx context.Context, cfg *option.Config, in []string, only map[string]bool) (*archive.Archive, error) {
	o, err := ReadOptions(cfg)
	if err != nil {
		return nil, err
	}
	o.Pass, o.Only = nil, only
	return Scan(ctx, in, o)
}

// Scan finds the units of an archive. Its files are read behind a fence, which Close of the archive ends.
func Scan(ctx context.Context, in []string, o input.Options) (*archive.Archive, error) {
	f := fence.New(fence.Options{Ended: ctx.Done()})
	a, err := archive.Scan(ctx, in, o, f)
	if err != nil {
		return nil, errors.Join(InputError(err), f.Close())
	}
	return a, nil
}

// Watched is a sink that advances a progress bar.
type Watched struct {
	pipeline.Sink
	*console.Progress
}

// Put implements pipeline.Sink.
func (w Watched) Put(b *pipeline.Batch) error {
	w.Progress.Add(int64(b.Len()))
	return w.Sink.Put(b)
}

// IntoLabels returns the function that maps every category to its counterpart in a label set.
func IntoLabels(scheme string) (func(pipeline.Category) pipeline.Category, error) {
	set, err := pipeline.Labels(scheme)
	if err != nil {
		return nil, exit.Misconfigured(err, "name one with --labels")
	}
	to := map[pipeline.Category]pipeline.Category{}
	for _, from := range configs.Schemes() {
		if from == scheme {
			continue
		}
		m, err := configs.CategoryMap(from, scheme)
		if err != nil {
			return nil, exit.Misconfigured(err, "")
		}
		maps.Copy(to, m)
	}
	for _, c := range set.Categories {
		to[c] = c
	}
	return func(c pipeline.Category) pipeline.Category { return to[c] }, nil
}

// Labelled names labelled notes: the files, their format, and which of their notes to use.
type Labelled struct {
	Paths  []string
	Format string          // "": that of each file
	Flag   string          // that gives the format; "": from
	Config *option.Config  // says how they are read; nil for files of velum's own
	Keep   map[string]bool // by id; nil keeps all
	Digest string          // of ids, texts and spans

	SkipUnknown bool        // whatever the configuration says
	SetAside    func(error) // see text.Options
	TextDir     string      // see text.Options

	Unknown int64 // spans of unknown labels that the last call of Each left out
}

// Given reads the spans that a system found, from an output tree of `velum run` or from labelled notes in any
// format.
func (n *Labelled) Given() (*files.Tree, error) {
	if n.Format == "" && len(n.Paths) == 1 && files.IsTree(n.Paths[0]) {
		return files.LoadTree(n.Paths[0])
	}
	g := &files.Tree{Spans: map[string][]pipeline.Span{}}
	return g, n.notes(func(b *pipeline.Batch, i int) {
		if b.Reason[i] != pipeline.BadRow { // it has no id
			g.Spans[string(b.ID.At(i))] = slices.Clone(b.Gold.At(i))
		}
	})
}

// notes calls do for every note.
func (n *Labelled) notes(do func(b *pipeline.Batch, i int)) error {
	return n.Each(func(src pipeline.Source) error {
		err := pipeline.Run(context.Background(), src, nil, pipeline.SinkFunc(func(b *pipeline.Batch) error {
			for i := range b.Len() {
				do(b, i)
			}
			return nil
		}), nil)
		if err != nil {
			err = exit.Misconfigured(err, "")
		}
		return err
	})
}

// Run sends the notes of every file through steps into a sink.
func (n *Labelled) Run(ctx context.Context, steps []pipeline.Step, dst pipeline.Sink) error {
	return n.Each(func(src pipeline.Source) error { return pipeline.Run(ctx, src, steps, dst, nil) })
}

// Tag sends the notes of every file through the stages of `velum model tag` into a sink.
func (n *Labelled) Tag(ctx context.Context, f *Flow, dst pipeline.Sink) error {
	steps, err := f.TagSteps()
	if err != nil {
		return err
	}
	return n.Run(ctx, steps, dst)
}

// Each opens the files one after another and calls do with each.
func (n *Labelled) Each(do func(pipeline.Source) error) error {
	var o text.Options
	if n.Config != nil {
		var err error
		if o, err = TextOptions(n.Config); err != nil {
			return err
		}
	}
	n.Unknown, o.SetAside, o.TextDir = 0, n.SetAside, n.TextDir
	o.SkipUnknown = o.SkipUnknown || n.SkipUnknown
	for _, path := range n.Paths {
		text, err := OpenNotes(cmp.Or(n.Flag, "from"), n.Format, path, o)
		if err != nil {
			return err
		}
		var src pipeline.Source = text
		if n.Keep != nil {
			src = input.NewKeep(text, func(id []byte) bool { return n.Keep[string(id)] })
		}
		if err := errors.Join(InputError(do(src)), text.Close()); err != nil {
			return err
		}
		n.Unknown += text.Warnings().Unknown
	}
	return nil
}

// WarnUnknown logs how many spans read.skip_unknown has dropped because their label is unknown; it logs nothing for 0.
func WarnUnknown(c *console.Console, where string, spans int64) {
	if spans > 0 {
		c.Log.Warn("spans of unknown labels are left out", "notes", where, "spans", spans)
	}
}

// IDs returns the ids of the notes and sets Digest.
func (n *Labelled) IDs() (ids []string, err error) {
	h := sha256.New()
	err = n.notes(func(b *pipeline.Batch, i int) {
		ids = append(ids, string(b.ID.At(i)))
		Digest(h, b, i)
	})
	n.Digest = hex.EncodeToString(h.Sum(nil)[:10])
	return ids, err
}

// Digest writes what tells a labelled note from others: its id, text and spans.
func Digest(w io.Writer, b *pipeline.Batch, i int) {
	fmt.Fprintf(w, "%q %x", b.ID.At(i), sha256.Sum256(b.Text.At(i)))
	for _, s := range b.Gold.At(i) {
		fmt.Fprintf(w, " %d-%d %v", s.Start, s.End, s.Category)
	}
}

// ByHash returns the distinct ids, sorted by their hash under seed.
func ByHash(ids []string, seed int) []string {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b string) int {
		return cmp.Or(cmp.Compare(xxh3.HashStringSeed(a, uint64(seed)), xxh3.HashStringSeed(b, uint64(seed))), cmp.Compare(a, b))
	})
	return slices.Compact(ids)
}

// Folds deals groups out to k folds, and returns the fold of each. groups has the group of each note. The largest group
// comes first and equal ones by their hash under seed, each into the fold with the fewest notes. So sizes differ by one
// group at the most, and where each note is a group of its own, by one note.
func Folds(groups []string, k, seed int) map[string]int {
	size, fold, sizes := map[string]int{}, map[string]int{}, make([]int, k)
	for _, g := range groups {
		size[g]++
	}
	names := ByHash(groups, seed)
	slices.SortStableFunc(names, func(a, b string) int { return size[b] - size[a] })
	for _, g := range names {
		fold[g] = slices.Index(sizes, slices.Min(sizes))
		sizes[fold[g]] += size[g]
	}
	return fold
}

// BadInputs returns an error that names the first input file that could not be read. The log and the private manifest
// name all of them.
func BadInputs(bad []commit.BadInput) error {
	remedy, others := "ask for it again", ""
	if bad[0].Other {
		remedy = "give it as an archive of its own, move it away, or say with read.format what the archive is made of"
	}
	if len(bad) > 1 {
		remedy, others = remedy+"; the private manifest has all causes", fmt.Sprintf("; %d other files were not read", len(bad)-1)
	}
	return exit.Errorf(exit.Quarantined, remedy, "%s: %s%s", cmp.Or(bad[0].Path, bad[0].Input), bad[0].Cause, others)
}

// ReadOptions returns the options of the configuration for the input.
func ReadOptions(c *option.Config) (o input.Options, err error) {
	r := &c.Read
	o = input.Options{
		ID: r.Columns.ID, Text: r.Columns.Text, PatientID: r.Columns.Patient, Date: r.Columns.Date, Center: r.Columns.Center,
		Pass: r.Keep, MaxText: int(r.MaxNoteBytes),
		UnitNotes: int64(r.UnitNotes), Opaque: r.Opaque, Checksums: r.SHA256,
	}
	if o.Documents, err = documentOptions(c); err != nil {
		return o, err
	}
	if c.Profile == configs.OMOPProfile {
		omopColumns(&o)
	}
	moved, err := c.Dates()
	if err != nil {
		return o, err
	}
	// a folder named for the real month, or rows in the order of days, would undo the shift
	o.Opaque, o.Mixed = o.Opaque || moved != "", moved != ""
	o.Format = r.Format
	if o.Encoding, err = input.ParseEncoding(r.Encoding); err != nil {
		return o, exit.Misconfigured(err, "")
	}
	if o.Comma, err = delimiter(r.Delimiter); err != nil {
		return o, err
	}
	switch r.IDs {
	case "keyed":
		o.IDs = input.KeyIDs
	case "drop":
		o.IDs = input.DropIDs
	}
	if c.Key.File != "" {
		o.Key, err = secret.Load(c.Key.File)
	} else if o.IDs == input.KeyIDs || o.Opaque {
		err = exit.Errorf(exit.Key, "name its file with key.file", "keyed ids and opaque folders need a key")
	}
	return o, err
}

// omopColumns sets the column options for a NOTE table: its columns in any spelling, with missing ones left empty.
func omopColumns(o *input.Options) {
	o.Names = omop.Spellings()
	for _, name := range o.Pass {
		o.Names[name] = name
	}
	for _, name := range omop.Kept() {
		if !slices.Contains(o.Pass, name) {
			o.Pass = append(o.Pass, name)
		}
	}
	o.Optional, o.Alone, o.Numbers = true, true, true
}

// Passing returns the columns to write beside the masked notes: kept, or none with profile omop, where the table NOTE
// has them under other ids.
func (f *Flow) Passing(kept []pipeline.Column) []pipeline.Column {
	if f.Profile == configs.OMOPProfile {
		return nil
	}
	return kept
}

// Beside wraps the sink of a unit so that it also writes masked documents and the OMOP tables, if the configuration
// wants them. of names the input file.
func (f *Flow) Beside(unit commit.UnitSink, parts *commit.Parts, kept []pipeline.Column, of, velum string) (commit.UnitSink, error) {
	if f.Documents {
		unit = restore.NewSink(unit, parts, input.DocumentColumn)
	}
	if f.Profile != configs.OMOPProfile {
		return unit, nil
	}
	o, err := f.OMOP(kept, of, velum)
	if err != nil {
		return nil, err
	}
	return omop.NewSink(unit, parts, o)
}

// OMOP returns the options of the OMOP tables for the columns of a file or stream; of names it in errors.
func (f *Flow) OMOP(kept []pipeline.Column, of, velum string) (o omop.Options, err error) {
	if f.Read.IDs == "drop" {
		return o, exit.Misconfiguredf("use keyed or keep", "read.ids: drop leaves nothing that NOTE and NOTE_NLP could be joined by")
	}
	o.Refuse = func(row int64, column string) error {
		return exit.Misconfiguredf("number them in the export (dense_rank() over (order by "+column+")), the same in all tables",
			"%s: row %d: %s is no whole number from 0 to 2^62, as the tables of OMOP want it", of, row+1, column)
	}
	o.System = fmt.Sprintf("velum %s %s", velum, f.Model.Header().Name)
	if f.Read.IDs == "keyed" {
		if o.Key, err = secret.Load(f.Key.File); err != nil {
			return o, err
		}
	}
	o.Times = map[string]int64{}
	for _, c := range kept {
		if day, ok := parquet.TimeOf(c); ok {
			o.Times[c.Name] = day
		}
	}
	moved, err1 := f.Dates()
	imitated, err2 := f.Imitated()
	dates, err3 := documentOptions(f.Config)
	o.Moved, o.Imitated, o.Years = moved != "", imitated, dates.Dates && moved == ""
	return o, errors.Join(err1, err2, err3)
}
