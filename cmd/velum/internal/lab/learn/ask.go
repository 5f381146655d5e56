package learn

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/notes"
	"github.com/velum-health/velum/cmd/velum/internal/selection"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/choose"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/write"
)

const answersName = "answers.jsonl"

// unsure chooses the notes of a slice that a person should correct.
func (l *learning) unsure(ctx context.Context, n int, from, to int64) (*turns.Questions, error) {
	src := archive.NewSlice(l.archive, from, to)
	taken, err := l.learnedFrom()
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	keep := func(id []byte) bool { return l.fresh(id, taken) }
	steps, err := l.taughtSteps(l.model)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	var all askable
	err = pipeline.Run(ctx, input.NewKeep(src, keep), steps, &all, &l.stats)
	if err := errors.Join(flow.InputError(err), src.Close()); err != nil {
		return nil, err
	}
	records := make([]choose.Record, len(all.questions))
	for i := range records {
		records[i] = all.questions[i].Record
	}
	target, _ := selection.Proportions(records, l.tagSet)
	s, err := selection.NewSelector(l.cfg, l.tagSet, target, 1)
	if err != nil {
		return nil, err
	}
	picked := choose.Ask(all.questions, choose.Asking{N: n, Random: askRandom, Seed: seed, Classes: s.Target.Shares})
	q := &turns.Questions{Schema: turns.AskedSchema, Turn: l.last().Number, From: from, To: to, Notes: []turns.Question{}}
	for _, a := range picked {
		one := turns.Question{ID: all.ids[a.Row], Confidence: a.Confidence.Float(), Why: a.Why.String()}
		if a.Why == choose.AskedForClass {
			one.Category = l.tagSet.Categories[a.Class].String()
		}
		q.Notes = append(q.Notes, one)
	}
	return q, nil
}

// askRandom is the share of notes to correct that is drawn at random: without them, errors of which the model is sure
// would never be seen.
const askRandom = 0.1

// fresh reports whether nobody has labelled a note or was asked about it, and no turn has taken it.
func (l *learning) fresh(id []byte, taken map[string]bool) bool {
	_, asked := l.asked[string(id)]
	return !asked && !l.known[string(id)] && !taken[string(id)]
}

// learnedFrom returns the ids of archive notes in the training set. They are not asked about, because an answer would
// contradict the model's own tags there.
func (l *learning) learnedFrom() (map[string]bool, error) {
	taken := map[string]bool{}
	for _, g := range l.last().Groups {
		all := flow.Labelled{Paths: []string{filepath.Join(l.out, g.File)}}
		ids, err := all.IDs()
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			taken[id] = true
		}
	}
	return taken, nil
}

// askable is a sink that makes questions. Rows count the notes that may be
// asked about.
type askable struct {
	choose.Questioner
	questions []choose.Question
	ids       map[int64]string
}

// Put implements pipeline.Sink.
func (a *askable) Put(b *pipeline.Batch) error {
	if a.ids == nil {
		a.ids = map[int64]string{}
	}
	for i := range b.Sound() {
		if len(b.TagsOf(i)) == 0 {
			continue
		}
		q, err := a.Question(b, i, 0)
		if err != nil {
			return err
		}
		a.questions = append(a.questions, q)
		a.ids[q.Row] = string(b.ID.At(i))
	}
	return nil
}

// writeQuestions writes the notes with the model's spans, for a person to
// correct.
func (l *learning) writeQuestions(ctx context.Context, q *turns.Questions, format, path string) error {
	ids := q.IDs()
	src := archive.NewSlice(l.archive, q.From, q.To)
	p := flow.With(l.cfg, l.model)
	steps, err := p.TagSteps()
	if err != nil {
		return err
	}
	dst, err := flow.CreateNotes("to", format, path, write.TextOptions{})
	if err != nil {
		return err
	}
	said := map[string]string{} // digest of the spans by id
	put := pipeline.SinkFunc(func(b *pipeline.Batch) error {
		for i := range b.Len() {
			said[string(b.ID.At(i))] = digestOf(b.Spans.At(i))
		}
		return dst.Put(b)
	})
	err = pipeline.Run(ctx, input.NewKeep(src, func(id []byte) bool { return ids[string(id)] }), steps, put, &l.stats)
	if err := errors.Join(flow.InputError(err), src.Close()); err != nil {
		dst.Abort()
		return err
	}
	for i := range q.Notes {
		q.Notes[i].Said = said[q.Notes[i].ID]
	}
	return dst.Close()
}

// digestOf names places and labels of spans.
func digestOf(spans []pipeline.Span) string {
	h := xxh3.New()
	for _, s := range spans {
		fmt.Fprintln(h, s.Start, s.End, s.Category)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// ask is --ask: it writes the notes of the next slice that a person should
// correct, beside the record of which they are.
func (l *learning) ask(ctx context.Context, f *Options) error {
	if len(l.turns) == 0 {
		if err := l.turn(ctx); err != nil {
			return err
		}
	}
	q, err := l.unsureOfAny(ctx, f.Ask)
	if err != nil {
		return err
	}
	folder := turns.Next(l.out, "ask")
	path := f.Questions
	err = filled(folder, func(draft *durable.Draft) error {
		at := path
		if q.Path = path; path == "" {
			name := "notes"
			if f.To != "brat" && f.To != "parquet" {
				name += "." + f.To
			}
			path, at = filepath.Join(folder, name), draft.Path(name)
		}
		if err := l.writeQuestions(ctx, q, f.To, at); err != nil {
			return err
		}
		return writeRecord(draft, turns.AskedName, q)
	})
	if err != nil {
		return err
	}
	return l.console.Tell(map[string]any{"message_type": "asked", "notes": len(q.Notes), "path": path},
		"{{.notes}} notes to correct in {{.path}}; give them back with --answers\n")
}

// unsureOfAny looks for notes to ask about in the next slice. Where the archive
// was read to its end, as one of fewer notes than learn.slice is after the first
// turn, it begins again at the front, and goes from slice to slice until there
// are some.
func (l *learning) unsureOfAny(ctx context.Context, n int) (*turns.Questions, error) {
	rows, size := l.archive.Rows(), int64(l.cfg.Learn.Slice)
	first, _ := l.nextSlice()
	if first >= rows {
		first = 0
	}
	for at := range (rows + size - 1) / size {
		from := first + at*size
		if from >= rows {
			from = (from - rows) / size * size // before where it began
		}
		q, err := l.unsure(ctx, n, from, min(from+size, rows))
		if err != nil || len(q.Notes) > 0 {
			return q, err
		}
	}
	return nil,
		exit.Errorf(exit.Nothing, "give more notes with --in",
			"no notes to ask about: the %d notes of the archive are labelled, asked about or learned from, or have no words", rows)
}

// answer implements --answers: it adds corrected notes. Only answers to questions count.
func (l *learning) answer(ctx context.Context, paths []string) error {
	folder := turns.Next(l.out, "answers")
	return filled(folder, func(draft *durable.Draft) error {
		taken, err := l.writeAnswers(ctx, &flow.Labelled{Paths: paths, Config: l.cfg}, draft.Path(answersName))
		switch {
		case err != nil:
			return err
		case taken.Notes == 0:
			return exit.Misconfiguredf("give the notes that --ask wrote, corrected", "%s: none of the notes was asked about", paths[0])
		case taken.Unchanged == taken.Notes:
			l.console.Log.Warn("all answers came back as they were asked: is this the corrected copy?", "notes", taken.Notes)
		}
		return writeRecord(draft, turns.AnswersName, taken)
	})
}

// filled makes a folder that is there whole or not at all.
func filled(folder string, fill func(*durable.Draft) error) error {
	draft, err := durable.NewDraft(nil, folder)
	if err != nil {
		return err
	}
	if err = fill(draft); err == nil {
		err = draft.Commit()
	}
	if err != nil {
		return errors.Join(err, draft.Discard())
	}
	return nil
}

// writeRecord writes a record into a folder that is being made.
func writeRecord(draft *durable.Draft, name string, record any) error {
	data, err := turns.Encode(record)
	if err == nil {
		err = draft.Write(name, data)
	}
	return err
}

// writeAnswers copies those labelled notes that are wanted. The first of notes
// with one id counts.
func (l *learning) writeAnswers(ctx context.Context, from *flow.Labelled, path string) (r turns.Answers, err error) {
	dst, err := write.Create("jsonl", path, write.TextOptions{Gold: true})
	if err != nil {
		return r, err
	}
	n := &answering{Counted: notes.Counted{Text: dst, Gold: true}, asked: l.asked}
	had := map[string]bool{}
	err = from.Each(func(src pipeline.Source) error {
		keep := input.NewKeep(src, func(id []byte) bool {
			_, wanted := l.asked[string(id)]
			fresh := wanted && !had[string(id)]
			if fresh {
				had[string(id)] = true
			} else {
				r.Others++
			}
			return fresh
		})
		return pipeline.Run(ctx, keep, nil, n, nil)
	})
	if err != nil {
		dst.Abort()
		return r, err
	}
	r.Schema, r.Notes, r.Unchanged = turns.AnswersSchema, int(n.Notes), n.unchanged
	l.console.Log.Info("answers taken", "notes", r.Notes, "unchanged", r.Unchanged, "spans", n.Spans, "others", r.Others)
	return r, dst.Close()
}

// answering is a sink that counts answers, and those that have what was asked.
type answering struct {
	notes.Counted
	asked     map[string]string
	unchanged int
}

// Put implements pipeline.Sink.
func (a *answering) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if a.asked[string(b.ID.At(i))] == digestOf(b.Gold.At(i)) {
			a.unchanged++
		}
	}
	return a.Counted.Put(b)
}

// loadAnswers finds the corrected notes, and all that was asked. Of two
// answers to one note, the later one counts.
func (l *learning) loadAnswers() error {
	l.asked, l.answers, l.answered = map[string]string{}, nil, turns.Answers{}
	for _, folder := range turns.Folders(l.out, "ask", 1) {
		q, err := turns.ReadQuestions(filepath.Join(folder, turns.AskedName))
		if err != nil {
			return err
		}
		for _, n := range q.Notes {
			l.asked[n.ID] = n.Said
		}
	}
	for _, folder := range turns.Folders(l.out, "answers", 1) {
		if err := l.answered.Add(filepath.Join(folder, turns.AnswersName)); err != nil {
			return err
		}
		l.answers = append(l.answers, flow.Labelled{Paths: []string{filepath.Join(folder, answersName)}})
	}
	had := map[string]bool{}
	for i := range slices.Backward(l.answers) {
		if err := l.newest(&l.answers[i], had); err != nil {
			return err
		}
	}
	l.divide()
	return nil
}

// newest keeps those answers of a file to which there is no later answer.
func (l *learning) newest(a *flow.Labelled, had map[string]bool) error {
	ids, err := a.IDs()
	if err != nil {
		return err
	}
	l.deal(ids) // an earlier set has the last word: a note stays in its fold
	keep := map[string]bool{}
	for _, id := range ids {
		if !had[id] {
			had[id], keep[id] = true, true
		}
	}
	a.Keep = keep
	return nil
}
