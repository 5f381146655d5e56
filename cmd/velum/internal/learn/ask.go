package learn

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/run"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/choose"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/write"
)

// questions is asked.json: which notes a person was asked about, and why. It
// has no word of the notes.
type questions struct {
	Schema string     `json:"schema"`
	Turn   int        `json:"turn"` // whose model was unsure
	From   int64      `json:"from"` // the slice of the archive
	To     int64      `json:"to"`
	Path   string     `json:"path,omitempty"` // where the notes went, if it is elsewhere
	Notes  []question `json:"notes"`
}

type question struct {
	ID         string  `json:"id"`
	Confidence float64 `json:"confidence"`
	Why        string  `json:"why"`
	Category   string  `json:"category,omitempty"`
}

const (
	askedName     = "asked.json"
	answersName   = "answers.jsonl"
	questionsName = "questions.jsonl"
	askedSchema   = "velum.asked/1"
)

// unsure picks the notes of a slice that a person should correct: as whole
// notes, whatever the unit of learning.
func (l *learning) unsure(ctx context.Context, n int, from, to int64) (*questions, error) {
	defer l.spent.on("ask")()
	src := read.NewSlice(l.archive, from, to)
	keep := func(id []byte) bool { return !l.known[string(id)] && !l.asked[string(id)] }
	steps, err := l.taughtSteps(l.model, nil)
	if err != nil {
		return nil, errors.Join(err, src.Close())
	}
	var all askable
	err = pipeline.Run(ctx, read.NewKeep(src, keep), steps, &all, &l.stats)
	if err := errors.Join(flow.InputError(err), src.Close()); err != nil {
		return nil, err
	}
	target := l.target
	if l.cfg.Learn.Proportions == "archive" {
		records := make([]choose.Record, len(all.questions))
		for i := range records {
			records[i] = all.questions[i].Record
		}
		target, _ = run.Proportions(records, l.taughtSet())
	}
	s, err := run.NewSelector(l.cfg, l.taughtSet(), target, 1)
	if err != nil {
		return nil, err
	}
	picked := choose.Ask(all.questions, choose.Asking{N: n, Random: l.cfg.Learn.AskRandom, Seed: uint64(l.cfg.Learn.Seed), Classes: s.Target.Shares})
	q := &questions{Schema: askedSchema, Turn: l.last().Number, From: from, To: to, Notes: []question{}}
	for _, a := range picked {
		one := question{ID: all.ids[a.Row], Confidence: a.Confidence.Float(), Why: a.Why.String()}
		if a.Why == choose.AskedForClass {
			one.Category = l.taughtSet().Categories[a.Class].String()
		}
		q.Notes = append(q.Notes, one)
	}
	return q, nil
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
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound || len(b.TagsOf(i)) == 0 {
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

func (q *questions) ids() map[string]bool {
	ids := map[string]bool{}
	for _, n := range q.Notes {
		ids[n.ID] = true
	}
	return ids
}

func (q *questions) json() ([]byte, error) {
	data, err := json.MarshalIndent(q, "", " ")
	return append(data, '\n'), err
}

// writeQuestions writes the notes with the model's spans, for a person to
// correct.
func (l *learning) writeQuestions(ctx context.Context, q *questions, format, path string) error {
	ids := q.ids()
	src := read.NewSlice(l.archive, q.From, q.To)
	p := flow.With(l.cfg, l.model)
	steps, err := p.TagSteps()
	if err != nil {
		return err
	}
	dst, _, err := flow.CreateNotes("to", format, path, write.TextOptions{Offsets: true})
	if err != nil {
		return err
	}
	err = pipeline.Run(ctx, read.NewKeep(src, func(id []byte) bool { return ids[string(id)] }), steps, dst, &l.stats)
	if err := errors.Join(flow.InputError(err), src.Close()); err != nil {
		dst.Abort()
		return err
	}
	return dst.Close()
}

// ask is --ask: it writes the notes of the next slice that a person should
// correct, beside the record of which they are.
func (l *learning) ask(ctx context.Context, f *Options) error {
	if len(l.turns) == 0 {
		if err := l.turn(ctx); err != nil {
			return err
		}
	}
	from, to := l.nextSlice()
	q, err := l.unsure(ctx, f.Ask, from, to)
	if err != nil {
		return err
	}
	if len(q.Notes) == 0 {
		return exit.Errorf(exit.Nothing, "all its notes are labelled or asked about", "no notes to ask about in the next slice")
	}
	folder := filepath.Join(l.out, fmt.Sprintf("ask-%02d", len(l.folders("ask"))+1))
	draft, err := durable.NewDraft(nil, folder)
	if err != nil {
		return err
	}
	path, at := f.Questions, f.Questions
	if at == "" {
		name := "notes"
		if f.To != "brat" && f.To != "i2b2" && f.To != "parquet" {
			name += "." + f.To
		}
		path, at = filepath.Join(folder, name), draft.Path(name)
	} else {
		q.Path = f.Questions
	}
	if err := l.writeQuestions(ctx, q, f.To, at); err != nil {
		return errors.Join(err, draft.Discard())
	}
	data, err := q.json()
	if err == nil {
		err = draft.Write(askedName, data)
	}
	if err == nil {
		err = draft.Commit()
	}
	if err != nil {
		return errors.Join(err, draft.Discard())
	}
	if l.console.JSON {
		return json.NewEncoder(l.console.Out).Encode(map[string]any{"message_type": "asked", "notes": len(q.Notes), "path": path})
	}
	_, err = fmt.Fprintf(l.console.Out, "%d notes to correct in %s; give them back with --answers\n", len(q.Notes), path)
	return err
}

// folders lists the folders of a kind, ask-01 and so on, in their order.
func (l *learning) folders(kind string) (all []string) {
	for n := 1; ; n++ {
		folder := filepath.Join(l.out, fmt.Sprintf("%s-%02d", kind, n))
		if _, err := os.Stat(folder); err != nil {
			return all
		}
		all = append(all, folder)
	}
}

// answer is --answers: it takes corrected notes in. Only notes that were asked
// about count.
func (l *learning) answer(ctx context.Context, paths []string) error {
	draft, err := durable.NewDraft(nil, filepath.Join(l.out, fmt.Sprintf("answers-%02d", len(l.folders("answers"))+1)))
	if err != nil {
		return err
	}
	given := flow.Labelled{Paths: paths, Config: l.cfg}
	taken, err := l.writeAnswers(ctx, &given, l.asked, draft.Path(answersName))
	if err == nil && taken == 0 {
		err = exit.Errorf(exit.Config, "give the notes that --ask wrote, corrected", "%s: none of the notes was asked about", paths[0])
	}
	if err == nil {
		err = draft.Commit()
	}
	if err != nil {
		return errors.Join(err, draft.Discard())
	}
	return nil
}

// writeAnswers copies those labelled notes that are wanted. The first of notes
// with one id counts.
func (l *learning) writeAnswers(ctx context.Context, from *flow.Labelled, wanted map[string]bool, path string) (int, error) {
	dst, err := write.Create("jsonl", path, write.TextOptions{Gold: true})
	if err != nil {
		return 0, err
	}
	n := &flow.Counted{Text: dst, Gold: true}
	had, others := map[string]bool{}, 0
	err = from.Each(func(src pipeline.Source) error {
		keep := read.NewKeep(src, func(id []byte) bool {
			fresh := wanted[string(id)] && !had[string(id)]
			if fresh {
				had[string(id)] = true
			} else {
				others++
			}
			return fresh
		})
		return pipeline.Run(ctx, keep, nil, n, nil)
	})
	if err != nil {
		dst.Abort()
		return 0, err
	}
	l.console.Log.Info("answers taken", "notes", n.Notes, "spans", n.Spans, "others", others)
	return int(n.Notes), dst.Close()
}

// loadAnswers finds the corrected notes, and all that was asked. Of two
// answers to one note, the later one counts.
func (l *learning) loadAnswers() error {
	l.asked, l.answers = map[string]bool{}, nil
	asked := l.folders("ask")
	for _, t := range l.turns {
		asked = append(asked, filepath.Join(l.out, t.name()))
		if t.Asked > 0 && len(l.oracle.Paths) > 0 {
			l.answers = append(l.answers, flow.Labelled{Paths: []string{filepath.Join(l.out, t.name(), answersName)}})
		}
	}
	for _, folder := range asked {
		q, err := readQuestions(filepath.Join(folder, askedName))
		if err != nil {
			return err
		}
		for _, n := range q.Notes {
			l.asked[n.ID] = true
		}
	}
	for _, folder := range l.folders("answers") {
		l.answers = append(l.answers, flow.Labelled{Paths: []string{filepath.Join(folder, answersName)}})
	}
	had := map[string]bool{}
	for i := range slices.Backward(l.answers) {
		if err := l.newest(&l.answers[i], had); err != nil {
			return err
		}
	}
	return nil
}

// newest keeps of a file of answers those to notes that no later one has.
func (l *learning) newest(a *flow.Labelled, had map[string]bool) error {
	ids, err := a.IDs()
	if err != nil {
		return err
	}
	keep := map[string]bool{}
	for _, id := range ids {
		if !had[id] {
			had[id], keep[id] = true, true
		}
	}
	a.Keep = keep
	return nil
}

func readQuestions(path string) (*questions, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return &questions{}, nil // a turn that asked nothing
	}
	if err != nil {
		return nil, err
	}
	q := new(questions)
	if json.Unmarshal(data, q) != nil || q.Schema != askedSchema {
		return nil, &durable.IntegrityError{Path: path, Cause: "is not a record of questions by this version of velum"}
	}
	return q, nil
}

// question is learn.ask: the turn asks about notes of its slice. With an
// oracle they are answered at once.
func (w *turning) question(ctx context.Context) error {
	if w.of.cfg.Learn.Ask == 0 {
		return nil
	}
	q, err := w.of.unsure(ctx, w.of.cfg.Learn.Ask, w.record.Slice.From, w.record.Slice.To)
	if err != nil {
		return err
	}
	data, err := q.json()
	if err == nil {
		err = w.draft.Write(askedName, data)
	}
	if err != nil {
		return err
	}
	w.record.Asked = len(q.Notes)
	for id := range q.ids() {
		w.of.asked[id] = true
	}
	if len(w.of.oracle.Paths) == 0 {
		return w.of.writeQuestions(ctx, q, "jsonl", w.draft.Path(questionsName))
	}
	path := w.draft.Path(answersName)
	if _, err := w.of.writeAnswers(ctx, &w.of.oracle, q.ids(), path); err != nil {
		return err
	}
	w.of.answers = append(w.of.answers, flow.Labelled{Paths: []string{path}})
	return nil
}
