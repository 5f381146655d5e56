package learn

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/tally"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/cmd/velum/internal/selection"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/choose"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/tagged"
	"github.com/velum-health/velum/stages/write/unit"
)

// choose tags the next slice with the model of the turn before and takes the
// notes that the training set grows by.
//
//	slice ─> tokenize ─> tag ─> resolve ─> teacher ─> choose ─> candidates, records
//	records ─> choose.Final ─> keys
//	candidates ─> notes of those keys ─> selected.parquet
func (w *turning) choose(ctx context.Context) error {
	w.record.Groups = slices.Clone(w.of.last().Groups)
	var taken map[string]bool
	if w.of.cfg.Learn.Again { // what earlier turns took comes again
		var err error
		if taken, err = w.of.learnedFrom(); err != nil {
			return err
		}
	}
	w.record.Slice.From, w.record.Slice.To = w.of.nextSlice()
	src := archive.NewSlice(w.of.archive, w.record.Slice.From, w.record.Slice.To)
	pool := &pool{turning: w, taken: taken, senses: choose.Senses{}}
	progress := w.of.console.NewProgress(fmt.Sprintf("turn %d", w.record.Number), "notes", w.record.Slice.To-w.record.Slice.From)
	err := w.candidates(ctx, input.NewKeep(src, pool.fresh), candidatesName, pool, progress) // what is sure enough is known when all was seen
	progress.End()
	if err := errors.Join(err, src.Close()); err != nil {
		return err
	}
	w.record.Slice.Damaged = src.Damaged()
	w.record.Slice.Notes, w.record.Slice.Unsound, w.record.Slice.Known, w.record.Slice.Confidence = pool.notes, pool.unsound, pool.left, pool.confidence()
	if err := w.take(ctx, pool); err != nil {
		return err
	}
	if err := w.draft.Remove(candidatesName); err != nil {
		return err
	}
	w.bound()
	return nil
}

const candidatesName = "candidates.parquet"

// nextSlice returns the slice of the next turn. It is empty if the archive has been read and the turn is only for new
// answers.
func (l *learning) nextSlice() (from, to int64) {
	rows := l.archive.Rows()
	from = l.last().Slice.To
	if from >= rows && l.cfg.Learn.Again {
		from = 0
	}
	return from, min(from+int64(l.cfg.Learn.Slice), rows)
}

// startMinConfidence is C_min if the model of learn.start tagged the notes: that of BOOT for frequency divergence.
const startMinConfidence = 0.5

// minConfidence is C_min for the current model.
func (w *turning) minConfidence() float64 {
	if w.record.Number == 1 && w.of.cfg.Learn.Start != "" {
		return startMinConfidence
	}
	return w.of.cfg.Choose.MinConfidence
}

// poolSteps are the stages of what the archive gives.
func (w *turning) poolSteps() ([]pipeline.Step, error) {
	steps, err := w.of.taughtSteps(w.of.model)
	if err != nil {
		return nil, err
	}
	return append(steps, choose.New(choose.Options{WithoutSpans: true, Workers: w.of.cfg.Workers()})), nil
}

// taughtSteps returns the stages from notes to training tags, which include the whole pipeline. With the tags of the
// model alone, everything that patterns, rules and lists find would be tagged as no name.
func (l *learning) taughtSteps(m *flow.Model) ([]pipeline.Step, error) {
	p := flow.With(l.cfg, m)
	steps := []pipeline.Step{flow.Tokenized(l.cfg), p.Tagged()}
	taught, err := p.Taught(l.tagSet, l.toSet)
	return append(steps, taught...), err
}

// pool is the sink of a slice: it keeps candidates in a file and their records
// in memory.
type pool struct {
	turning *turning
	taken   map[string]bool // ids that earlier turns took
	left    int64

	recorder       choose.Recorder
	records        []choose.Record
	senses         choose.Senses
	notes, unsound int64
	histogram      [tally.Bins]int64
	file           *unit.Tagged
	pick           []int
}

// fresh counts what is left out.
func (p *pool) fresh(id []byte) bool {
	fresh := p.turning.of.fresh(id, p.taken)
	if !fresh {
		p.left++
	}
	return fresh
}

// Put implements pipeline.Sink.
func (p *pool) Put(b *pipeline.Batch) error {
	p.pick = p.pick[:0]
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			p.unsound++
			continue
		}
		p.notes++
		if holdsSpan(b.TagsOf(i)) {
			p.histogram[tally.Bin(b.Conf[i])]++
		}
		if b.Chosen[i] != pipeline.Candidate {
			continue
		}
		r, err := p.recorder.Record(b, i, 0)
		if err != nil {
			return err
		}
		if b.Spans.Len() == b.Len() {
			r.Sure(b, i, p.turning.of.toSet)
		}
		p.records = append(p.records, r)
		p.pick = append(p.pick, i)
		p.senses.Add(b.Text.At(i), b.Tokens.At(i), b.TagsOf(i))
	}
	return p.file.PutNotes(b, p.pick)
}

func (p *pool) confidence() []report.Bin {
	return report.Bins(func(k int) int64 { return p.histogram[k] })
}

// candidates tags a source and writes the notes with at least the minimal confidence.
func (w *turning) candidates(ctx context.Context, src pipeline.Source, name string, p *pool, progress *console.Progress) error {
	file, err := w.draft.Create(name)
	if err != nil {
		return err
	}
	steps, err := w.poolSteps()
	if err != nil {
		return errors.Join(err, file.Close())
	}
	p.file = unit.NewTagged(file, w.of.tagSet, w.of.cfg.Write.RowGroupRows)
	err = pipeline.Run(ctx, src, steps, flow.Watched{Sink: p, Progress: progress}, &w.of.stats)
	_, _, closed := p.file.Close()
	return errors.Join(flow.InputError(err), closed, file.Close())
}

// take chooses among the candidates and writes them.
func (w *turning) take(ctx context.Context, p *pool) error {
	s, err := w.selector(p.records)
	if err != nil {
		return err
	}
	sound, err := w.sound(ctx, p)
	if err != nil {
		return err
	}
	result, err := choose.Final(slices.Values(sound), s.Target)
	if err != nil {
		return err
	}
	w.record.Selection = s.Report(&result, 0)
	if len(result.Keys) == 0 {
		return nil
	}
	to, err := w.draft.Create(selectedName)
	if err == nil {
		err = w.copyChosen(ctx, p, result.Keys, to)
	}
	if err != nil {
		return err
	}
	w.record.Groups = append(w.record.Groups, turns.Group{Turn: w.record.Number, File: filepath.ToSlash(filepath.Join(w.record.Name(), selectedName)), Notes: len(result.Keys)})
	return nil
}

// sound drops notes with a word outside of spans that is mostly in spans elsewhere in the slice: it was probably
// missed.
func (w *turning) sound(ctx context.Context, p *pool) (sound []choose.Record, err error) {
	k := 0
	err = w.eachTagged(ctx, candidatesName, func(b *pipeline.Batch) error {
		for i := range b.Len() {
			if p.senses.Missed(b.Text.At(i), b.Tokens.At(i), b.TagsOf(i)) {
				w.record.Slice.Missed++
			} else {
				sound = append(sound, p.records[k])
			}
			k++
		}
		return nil
	})
	return sound, err
}

// leftOut is the share of the least confident spans of each category, and of notes without spans, that is dropped where
// choose.min_confidence would drop more. A single threshold selects only the easy categories.
const leftOut = 0.25

// selector chooses among the records of a slice. The selected notes have the proportions of all spans found in the
// slice: of classes, of their lengths, and of notes without spans.
func (w *turning) selector(records []choose.Record) (*selection.Selector, error) {
	c, set := *w.of.cfg, w.of.tagSet
	c.Choose.MinConfidence = w.minConfidence()
	target, without := selection.Proportions(records, set)
	without = min(without, mostWithout)
	c.Choose.K = int(float64(c.Choose.K) / (1 - without)) // k counts notes with spans
	s, err := selection.NewSelector(&c, set, target, 1)
	if err == nil {
		s.Target.WithoutSpans = without
		s.Target.Floors = choose.NewFloors(slices.Values(records), c.Choose.MinConfidence, leftOut)
	}
	return s, err
}

// mostWithout is the largest share of notes without spans that is taken.
const mostWithout = 0.99

// copyChosen copies the candidates of some rows, which rise.
func (w *turning) copyChosen(ctx context.Context, p *pool, keys []choose.Key, to durable.File) error {
	out := unit.NewTagged(to, w.of.tagSet, w.of.cfg.Write.RowGroupRows)
	err := w.eachTagged(ctx, candidatesName, func(b *pipeline.Batch) error {
		p.pick = p.pick[:0]
		for i := range b.Len() {
			if len(keys) > 0 && selection.NoteRow(b, i) == keys[0].Row {
				keys, p.pick = keys[1:], append(p.pick, i)
			}
		}
		return out.PutNotes(b, p.pick)
	})
	if err == nil && len(keys) > 0 {
		err = &durable.IntegrityError{Cause: fmt.Sprintf("%d notes were chosen and not found", len(keys))}
	}
	_, _, closed := out.Close()
	return errors.Join(err, closed, to.Close())
}

// eachTagged reads a file of the draft batch by batch.
func (w *turning) eachTagged(ctx context.Context, name string, do func(*pipeline.Batch) error) error {
	r, err := tagged.Open(w.draft.Path(name), tagged.Options{})
	if err != nil {
		return err
	}
	err = pipeline.Run(ctx, r, nil, pipeline.SinkFunc(do), nil)
	return errors.Join(err, r.Close())
}

// mostNotes is how many notes of the archive the training set holds: so many short notes train within 2 GiB.
const mostNotes = 100_000

// bound drops the earliest groups while the training set is too large.
func (w *turning) bound() {
	n := 0
	for _, g := range w.record.Groups {
		n += g.Notes
	}
	for len(w.record.Groups) > 1 && n > mostNotes {
		n -= w.record.Groups[0].Notes
		w.record.Dropped = append(w.record.Dropped, w.record.Groups[0].Turn)
		w.record.Groups = w.record.Groups[1:]
	}
}
