package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/selection"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/choose"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/tagged"
	"github.com/velum-health/velum/stages/write/table"
	"github.com/velum-health/velum/stages/write/unit"
)

// canary stands in every note that a test of the last step makes.
const canary = "Quintanilla"

// taggedSource makes notes of a unit: one to three spans of three classes
// among other words, with a confidence.
type taggedSource struct {
	set    *pipeline.TagSet
	rng    *rand.Rand
	unit   int64
	row    int64
	rows   int64
	batch  int
	failAt int64 // row at which the disk breaks; 0: never
}

var errBroken = errors.New("broken on purpose")

func (s *taggedSource) Next(b *pipeline.Batch) error {
	if s.row == s.rows {
		return io.EOF
	}
	b.First, b.TagSet = s.row, s.set
	for n := 0; n < s.batch && s.row < s.rows; n++ {
		if s.failAt > 0 && s.row == s.failAt {
			return errBroken
		}
		s.note(b)
		s.row++
	}
	return nil
}

func (s *taggedSource) note(b *pipeline.Batch) {
	start := len(b.Text.Data)
	word := func(text string, tag pipeline.Tag) {
		flags := pipeline.TokenFlags(0)
		if len(b.Text.Data) > start {
			b.Text.Data = append(b.Text.Data, ' ')
		} else {
			flags = pipeline.LineStart | pipeline.SentenceStart
		}
		from := int32(len(b.Text.Data) - start)
		b.Text.Data = append(b.Text.Data, text...)
		b.Tokens.Items = append(b.Tokens.Items, pipeline.Token{Start: from, End: int32(len(b.Text.Data) - start), Flags: flags})
		b.Tags = append(b.Tags, tag)
	}
	var spans []pipeline.Span
	word("visto", pipeline.O)
	for range s.rng.IntN(4) {
		class := min(s.rng.IntN(6), 2) // the third class is four times as frequent
		from := int32(len(b.Text.Data) - start + 1)
		word(canary, pipeline.Tag(1+2*class))
		if s.rng.IntN(2) == 0 {
			word(canary, pipeline.Tag(2+2*class))
		}
		spans = append(spans, pipeline.Span{Start: from, End: int32(len(b.Text.Data) - start), Category: s.set.Categories[class], Score: 1})
		word("y", pipeline.O)
	}
	b.Text.End()
	b.Tokens.End()
	b.ID.Append(fmt.Appendf(nil, "%d|%d", s.unit, s.row/2)) // every id twice
	b.Spans.Append(spans...)
	b.Masked.Append([]byte("masked"))
	b.Places.End()
	b.Language = append(b.Language, pipeline.Spanish)
	b.Conf = append(b.Conf, float32(math.Sqrt(s.rng.Float64())))
	b.Reason = append(b.Reason, pipeline.Sound)
	if s.rng.IntN(50) == 0 {
		b.Quarantine(b.Len()-1, pipeline.StrictFinding)
	}
	b.Seal(b.Len() - 1)
}

// tiny is a model that only says what it is.
type tiny struct {
	tagger.Model
	set    *pipeline.TagSet
	header tagger.Header
}

func (m tiny) Header() tagger.Header    { return m.header }
func (m tiny) TagSet() *pipeline.TagSet { return m.set }

// lastStepRun is a run over units of such notes.
type lastStepRun struct {
	units, rows, batch, workers int
	failUnit                    int64 // unit that breaks on its way; 0: none
	config                      *option.Config
	training                    tagger.Training
	last                        *lastStep
	disk                        *opened // nil: not looked at
}

func newLastStepRun(t *testing.T) *lastStepRun {
	t.Helper()
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Choose.K, cfg.Choose.Review = 600, 30
	return &lastStepRun{units: 4, rows: 2500, batch: 300, workers: 2, config: cfg}
}

func (r *lastStepRun) do(ctx context.Context, t *testing.T, dir string) (*commit.Result, error) {
	t.Helper()
	set, err := pipeline.ParseTagSet("BIO PERSON DATE LOCATION")
	if err != nil {
		t.Fatal(err)
	}
	cfg := *r.config
	cfg.Run.Workers = r.workers
	p := &flow.Flow{Config: &cfg, Model: &flow.Model{Model: tiny{set: set, header: tagger.Header{Name: "tiny", Kind: "crf", Training: r.training}}}}
	last, err := newLastStep(&masking{Console: &console.Console{Version: "test"}, Flow: p, archive: &archive.Archive{}, record: &record{private: t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	r.last = last
	units := &commit.Plan{}
	for k := range int64(r.units) {
		units.Units = append(units.Units, commit.Unit{Input: "in.parquet", Source: fmt.Sprintf("month=%d/%d.parquet", k/2, k), Folder: fmt.Sprintf("month=%d", k/2), From: k, To: k + 1, Rows: int64(r.rows)})
	}
	h, out := &r.config.Choose, commit.Output{Dir: dir}
	if r.disk != nil {
		out.FS = r.disk
	}
	return commit.RunUnits(ctx, units, out, func(_ int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		src := &taggedSource{set: set, rng: rand.New(rand.NewPCG(7, uint64(u.From))), unit: u.From, rows: u.Rows, batch: r.batch}
		if r.failUnit > 0 && u.From == r.failUnit {
			src.failAt = u.Rows / 2
		}
		sink, err := unit.New(parts, unit.Options{Model: "tiny", Categories: set.Categories, IDs: true, Candidates: selection.Shortlist(&cfg)})
		step := choose.New(choose.Options{MinConfidence: h.MinConfidence, ReviewBelow: choose.ReviewBelow})
		return commit.Line{Source: src, Steps: []pipeline.Step{step}, Sink: sink}, err
	}, commit.UnitOptions{Verify: table.Verify, AtOnce: 2, ByLength: true, Finish: last.finish, LastStep: last.String()})
}

// chosenNotes reads the part of a kind that the last step wrote.
func chosenNotes(t *testing.T, dir, kind string) (notes []string, b *pipeline.Batch) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir+".private", kind, "*.parquet"))
	if err != nil || len(found) != 1 {
		t.Fatalf("%d parts of %s, %v", len(found), kind, err)
	}
	info, err := os.Stat(found[0])
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%s: mode %v, %v", kind, info.Mode(), err)
	}
	f, err := os.Open(found[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := tagged.New(f, info.Size(), found[0], tagged.Options{BatchNotes: 1 << 20, BatchBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	b = new(pipeline.Batch)
	if err := r.Next(b); err != nil {
		t.Fatal(err)
	}
	for i := range b.Len() {
		notes = append(notes, fmt.Sprintf("%s row %d %.4f", b.ID.At(i), selection.NoteRow(b, i), b.Conf[i]))
	}
	return notes, b
}

// bytesOfTree returns every file of both trees.
func bytesOfTree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	for _, root := range []string{dir, dir + ".private"} {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || e.Name() == "_inputs" { // where they lay
				return err
			}
			data, err := os.ReadFile(name)
			rel, _ := filepath.Rel(filepath.Dir(dir), name)
			all[strings.TrimPrefix(rel, filepath.Base(dir))] = data
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func sameTrees(t *testing.T, what string, a, b map[string][]byte) {
	t.Helper()
	for name, data := range a {
		if !bytes.Equal(data, b[name]) {
			t.Errorf("%s: %s differs", what, name)
		}
	}
	if len(a) != len(b) {
		t.Errorf("%s: %d files and %d", what, len(a), len(b))
	}
}

// TestSelection wants the shares of the target, nothing below C_min, the
// least certain notes for a curator, and no words in the report.
func TestSelection(t *testing.T) {
	r := newLastStepRun(t)
	r.config.Choose.Classes = map[string]float64{"PERSON": 0.4, "DATE": 0.35, "LOCATION": 0.25}
	dir := filepath.Join(t.TempDir(), "out")
	result, err := r.do(t.Context(), t, dir)
	if err != nil {
		t.Fatal(err)
	}
	notes, b := chosenNotes(t, dir, "selected")
	if len(notes) != 600 {
		t.Errorf("%d notes", len(notes))
	}
	spans := map[string]int{}
	for i := range b.Len() {
		if b.Conf[i] < 0.85-0.00005 || b.Chosen[i] != pipeline.Candidate {
			t.Errorf("note %d: confidence %v, %v", i, b.Conf[i], b.Chosen[i])
		}
		for _, s := range b.Gold.At(i) {
			spans[s.Category.String()]++
			if word, _, _ := bytes.Cut(b.Text.At(i)[s.Start:s.End], []byte(" ")); string(word) != canary {
				t.Errorf("note %d: the span is not where it was", i)
			}
		}
	}
	total := float64(spans["PERSON"] + spans["DATE"] + spans["LOCATION"])
	for name, want := range r.config.Choose.Classes {
		if got := float64(spans[name]) / total; math.Abs(got-want) > 0.02 {
			t.Errorf("share of %s: %.3f, want %.2f", name, got, want)
		}
	}
	if !slices.IsSortedFunc(notes, func(a, b string) int { return strings.Compare(a[:1], b[:1]) }) {
		t.Error("notes are not in the order of their units")
	}
	review, b := chosenNotes(t, dir, "review")
	if len(review) != 30 || slices.Max(b.Conf) > 0.2 || b.Chosen[0] != pipeline.ToReview {
		t.Errorf("%d notes for a curator, up to %v", len(review), slices.Max(b.Conf))
	}
	if n := r.last.duplicates; n == nil || *n != 5000 {
		t.Errorf("duplicates: %v", n)
	}
	for _, name := range []string{"report.json", "report.html"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || bytes.Contains(data, []byte(canary)) || bytes.Contains(data, []byte("3|7")) || bytes.Contains(data, []byte(dir)) {
			t.Errorf("%s is not there, or holds what it must not: %v", name, err)
		}
	}
	if d, err := commit.Check(t.Context(), dir+".private", audit.InTree...); err != nil || len(d) > 0 {
		t.Error(d, err)
	}
	if again, err := r.do(t.Context(), t, dir); err != nil || !again.Nothing {
		t.Error("the same run finds something to do", err)
	}
	r.config.Choose.K = 100
	again, err := r.do(t.Context(), t, dir)
	if err != nil || again.Reused != result.Done {
		t.Error("another k does units again", err)
	}
	if notes, _ = chosenNotes(t, dir, "selected"); len(notes) != 100 {
		t.Errorf("%d notes after k = 100", len(notes))
	}
}

// opened is a disk that knows what was opened on it.
type opened struct {
	durable.FS
	mu    sync.Mutex
	kinds map[string]int // of parts
}

func (o *opened) OpenFile(name string, flag int, perm fs.FileMode) (durable.File, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if kind := filepath.Base(filepath.Dir(filepath.Dir(name))); flag == os.O_RDONLY && strings.HasPrefix(filepath.Base(name), "part-") {
		o.kinds[kind]++
	}
	return o.FS.OpenFile(name, flag, perm)
}

// TestNight: when a unit is added, of those before it the summaries are read, and of candidates those parts in which others are
// chosen now. What was set aside of them stands in rows.csv of before. The trees are those of one run.
func TestNight(t *testing.T) {
	tmp := t.TempDir()
	night, whole := newLastStepRun(t), newLastStepRun(t)
	night.units = 3
	if _, err := night.do(t.Context(), t, filepath.Join(tmp, "night")); err != nil {
		t.Fatal(err)
	}
	night.units = 4
	night.disk = &opened{FS: durable.OS, kinds: map[string]int{}}
	if result, err := night.do(t.Context(), t, filepath.Join(tmp, "night")); err != nil || result.Done != 1 || result.Reused != 3 {
		t.Fatal(result, err)
	}
	if _, err := whole.do(t.Context(), t, filepath.Join(tmp, "whole")); err != nil {
		t.Fatal(err)
	}
	sameTrees(t, "a unit more", bytesOfTree(t, filepath.Join(tmp, "whole")), bytesOfTree(t, filepath.Join(tmp, "night")))
	for _, kind := range []string{"masked", "notes", "original"} {
		if n := night.disk.kinds[kind]; n > 0 {
			t.Errorf("%d parts of %s were opened", n, kind)
		}
	}
	if n := night.disk.kinds["summary"]; n != 4 {
		t.Errorf("%d summaries were read", n)
	}
	if n := night.disk.kinds["quarantine"]; n != 1 {
		t.Errorf("%d parts of quarantine were opened, not that of the new unit", n)
	}

	night.config.Report.Lang = "ca" // the last step is done again, with the same choice
	night.disk.kinds = map[string]int{}
	if _, err := night.do(t.Context(), t, filepath.Join(tmp, "night")); err != nil {
		t.Fatal(err)
	}
	if n := night.disk.kinds["candidates"] + night.disk.kinds["quarantine"]; n > 0 {
		t.Errorf("%d parts of candidates and quarantine were opened for the same choice", n)
	}
	selected, err := filepath.Glob(filepath.Join(tmp, "night.private", "selected", "*"))
	if err != nil || len(selected) != 1 {
		t.Fatal(selected, err)
	}
	chosen, _ := chosenNotes(t, filepath.Join(tmp, "night"), "selected")
	data, err := os.ReadFile(selected[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/2] ^= 1
	if err := os.WriteFile(selected[0], data, 0o600); err != nil { // the selection of before is of no use
		t.Fatal(err)
	}
	night.config.Report.Lang = "es"
	if _, err := night.do(t.Context(), t, filepath.Join(tmp, "night")); err != nil {
		t.Fatal(err)
	}
	if again, _ := chosenNotes(t, filepath.Join(tmp, "night"), "selected"); !slices.Equal(again, chosen) {
		t.Error("a selection that was damaged changes the next one")
	}
}

// TestLastStepIsDeterministic: batches, workers and a stop on the way do not
// show.
func TestLastStepIsDeterministic(t *testing.T) {
	tmp := t.TempDir()
	want := filepath.Join(tmp, "want")
	if _, err := newLastStepRun(t).do(t.Context(), t, want); err != nil {
		t.Fatal(err)
	}
	tree := bytesOfTree(t, want)
	other := newLastStepRun(t)
	other.workers, other.batch = 5, 77
	if _, err := other.do(t.Context(), t, filepath.Join(tmp, "other")); err != nil {
		t.Fatal(err)
	}
	sameTrees(t, "workers", tree, bytesOfTree(t, filepath.Join(tmp, "other")))

	stopped := newLastStepRun(t)
	stopped.failUnit = 2
	if _, err := stopped.do(t.Context(), t, filepath.Join(tmp, "stopped")); !errors.Is(err, errBroken) {
		t.Fatal(err)
	}
	stopped.failUnit = 0
	result, err := stopped.do(t.Context(), t, filepath.Join(tmp, "stopped"))
	if err != nil || result.Reused == 0 {
		t.Fatal("nothing was reused", err)
	}
	sameTrees(t, "stop", tree, bytesOfTree(t, filepath.Join(tmp, "stopped")))
}

// TestSelectionTargets: what the configuration leaves open is the training
// set's.
func TestSelectionTargets(t *testing.T) {
	set, err := pipeline.ParseTagSet("BIO PERSON DATE")
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	training := tagger.Training{Spans: map[string]int{"PERSON": 30, "DATE": 10}, SpanTokens: map[string]int{"PERSON": 60, "DATE": 10}}
	s, err := selection.NewSelector(cfg, set, training, 1)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([][]float64{{0.75, 0.25}, {2, 1}}, [][]float64{s.Target.Shares, s.Target.Lengths}); d != "" {
		t.Error(d)
	}
	if s, err = selection.NewSelector(cfg, set, tagger.Training{}, 1); err != nil || s.Target.Shares != nil || s.Target.Lengths != nil {
		t.Errorf("a target of nothing: %+v, %v", s.Target, err)
	}
	cfg.Choose.Classes = map[string]float64{"DATE": 1}
	if s, err = selection.NewSelector(cfg, set, training, 1); err != nil || s.Target.Shares[1] != 1 {
		t.Errorf("not what the configuration says: %+v, %v", s.Target, err)
	}
	cfg.Choose.Classes = map[string]float64{"EMAIL": 1}
	if _, err = selection.NewSelector(cfg, set, training, 1); exit.CodeOf(err) != exit.Config {
		t.Error(err)
	}
}

// TestSelectionOff writes both reports, twice each, and the ledger of rows, and nothing else.
func TestSelectionOff(t *testing.T) {
	r := newLastStepRun(t)
	r.config.Choose.Use, r.config.Read.IDs = false, "drop"
	dir := filepath.Join(t.TempDir(), "out")
	result, err := r.do(t.Context(), t, dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Manifest.Files) != 5 || r.last.duplicates != nil {
		t.Errorf("%+v", result.Manifest.Files)
	}
}

// TestSelectionCancel stops with the cause.
func TestSelectionCancel(t *testing.T) {
	r := newLastStepRun(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(exit.ErrInterrupted)
	if _, err := r.do(ctx, t, filepath.Join(t.TempDir(), "out")); !errors.Is(err, exit.ErrInterrupted) {
		t.Error(err)
	}
}
