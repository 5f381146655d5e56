package attack

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/read/input"
)

// sample is notes of whole patients with what is known of them: what velum found,
// and what people marked.
type sample struct {
	Notes  pipeline.Batch // ID, Text, Extra, Language, Reason; Spans: what was found; Gold: of notes that are judged
	gold   []bool         // by note: people marked it
	Judged int            // notes of gold
	Owner  []string       // by note; a note without a patient is its own

	from, to int32 // of the days of all notes of the archive, those that are held back among them
}

// keep takes note i of a batch in, with its spans.
func (s *sample) keep(b *pipeline.Batch, i int, patient []byte, gold []pipeline.Span, marked bool) {
	s.Notes.AppendRead(b, i)
	s.Notes.Spans.Append(b.Spans.At(i)...)
	s.Notes.Gold.Append(gold...)
	s.Notes.Language = append(s.Notes.Language, b.Language[i])
	s.Owner = append(s.Owner, cmp.Or(string(patient), fmt.Sprintf("note %d", len(s.Owner))))
	s.gold = append(s.gold, marked)
	if marked {
		s.Judged++
	}
}

// sampler keeps the notes of some patients.
type sampler struct {
	*sample
	share float64 // of the patients
	seed  uint64
	marks map[string][]pipeline.Span // of labelled notes, by id
	id    []byte
}

// Put implements pipeline.Sink.
func (s *sampler) Put(b *pipeline.Batch) error {
	patients, days := b.ExtraNamed(input.PatientColumn), b.ExtraNamed(input.DateColumn)
	for i := range b.Len() {
		if days != nil && days.Valid[i] {
			if day, ok := mask.DayOf(days, i); ok {
				s.from, s.to = min(s.from, day), max(s.to, day)
			}
		}
		if b.Reason[i] != pipeline.Sound || b.Spans.Len() != b.Len() {
			continue
		}
		s.id = patients.AppendText(s.id[:0], i)
		gold, marked := s.marks[string(b.ID.At(i))]
		drawn := float64(xxh3.HashSeed(s.id, s.seed)) <= s.share*math.MaxUint64
		if len(s.id) == 0 {
			drawn = float64(xxh3.HashSeed(b.ID.At(i), s.seed)) <= s.share*math.MaxUint64
		}
		if drawn || marked {
			s.keep(b, i, s.id, gold, marked)
		}
	}
	return nil
}

// read reads the notes that the attacks need: of the archive that the extract was made of, with the spans that its
// private tree has, and the spans of labelled notes.
func (a *attacker) read(ctx context.Context) (*sample, error) {
	stages, err := flow.New(a.config)
	if err != nil {
		return nil, err
	}
	s := &sampler{sample: &sample{from: math.MaxInt32, to: math.MinInt32}, seed: a.Seed}
	gold, err := (&flow.Labelled{Paths: a.Gold, Config: a.config}).Given()
	if err == nil {
		s.marks = gold.Spans
		err = a.readArchive(ctx, stages, s)
	}
	switch {
	case err != nil:
		return nil, err
	case len(s.marks) > 0 && s.Judged == 0:
		return nil, exit.Misconfiguredf("give labelled notes of the archive, with the ids that they have there",
			"none of the %d labelled notes is in the extract", len(s.marks))
	case s.Notes.Len() == 0:
		return nil, exit.Errorf(exit.Nothing, "give notes", "no notes to attack")
	}
	return s.sample, nil
}

// readArchive reads the archive of the extract.
func (a *attacker) readArchive(ctx context.Context, stages *flow.Flow, s *sampler) error {
	t, err := files.OpenTagged(a.Dir, stages.Model.SHA256)
	if err != nil {
		return err
	}
	roots, only, err := a.inputs()
	if err != nil {
		return err
	}
	all, err := flow.Archive(ctx, a.config, roots, only)
	if err != nil {
		return err
	}
	defer all.Close()
	if err := t.Check(all.Units); err != nil {
		return err
	}
	s.share = float64(a.Notes) / float64(max(all.Rows(), 1))
	given := new(files.TaggedUnit)
	steps, err := stages.GivenSpans(given, nil)
	if err != nil {
		return err
	}
	for i := range all.Units {
		u := &all.Units[i]
		if err := t.Load(u, given); err != nil {
			return err
		}
		src, err := all.OpenMixed(u)
		if err != nil {
			return err
		}
		if err := errors.Join(pipeline.Run(ctx, src, steps, s, nil), src.Close()); err != nil {
			return err
		}
	}
	return nil
}

// inputs are where the archive lies, and which of its files the extract has.
func (a *attacker) inputs() (roots []string, only map[string]bool, err error) {
	if len(a.Options.In) > 0 {
		return a.Options.In, nil, nil
	}
	all, err := commit.Inputs(commit.Output{Dir: a.Dir})
	if err != nil {
		return nil, nil, exit.Misconfigured(err, "name the output of velum run or velum mask, with its private tree beside it")
	}
	only = map[string]bool{}
	for _, in := range all {
		if _, err := os.Lstat(in.Path); err != nil || in.Root == "" {
			return nil, nil, exit.Misconfiguredf("say with --in where the archive lies now", "%s is not where it lay when %s was made", in.Input,
				filepath.Base(a.Dir))
		}
		only[in.Path] = true
		if !slices.Contains(roots, in.Root) {
			roots = append(roots, in.Root)
		}
	}
	return roots, only, nil
}

// trim takes white space and punctuation off the ends of a piece of a text.
func trim(text []byte, s pipeline.Span) pipeline.Span {
	const cut = " \t\r\n.,;:()[]-/\"'"
	left := bytes.TrimLeft(text[s.Start:s.End], cut)
	s.Start = s.End - int32(len(left))
	s.End = s.Start + int32(len(bytes.TrimRight(left, cut)))
	return s
}
