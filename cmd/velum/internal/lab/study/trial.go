package study

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/score"
)

// trial is the unit of a study: an arm learns from some notes and tags others.
type trial struct {
	arm     *arm
	without []string // groups of features that are taken out of the template
	train   []int    // notes, sorted
	test    []int
	rank    bool // rank the features at the test notes instead of scoring them

	key     string
	outcome *outcome
}

// outcome records a trial as it is kept: counts and numbers of notes in the
// order of reading, no text and no weight.
type outcome struct {
	Key        string        `json:"key"`
	Notes      []int         `json:"notes"` // in the trial's test notes, counted from 0
	Confidence []float32     `json:"confidence"`
	Scores     *score.Scorer `json:"scores"`
	Weights    int           `json:"weights,omitempty"`
	Ranking    []Ranked      `json:"ranking,omitempty"`
}

// name sets the key of a trial: a digest of everything that its outcome is a function of.
func (s *study) name(t *trial) {
	h := sha256.New()
	fmt.Fprintf(h, "%s %s %q %t\n", s.code, t.arm.digest, t.without, t.rank)
	learned := t.train
	if !t.arm.learns {
		learned = nil
	}
	for _, notes := range [][]int{learned, t.test} {
		fmt.Fprintf(h, "%d\n", len(notes))
		for _, i := range notes {
			h.Write(s.corpus.notes[i].digest[:])
		}
	}
	t.key = hex.EncodeToString(h.Sum(nil)[:16])
}

// codeDigest is that of this program: another one may come to other counts.
func codeDigest(version string) string {
	self, err := os.Executable()
	if err == nil {
		var f turns.File
		if f, err = turns.FileOf(self); err == nil {
			return f.SHA256
		}
	}
	return version
}

// run does the trials that were not done before, each once. What is done is kept, so
// that a start after a kill goes on.
func (s *study) run(ctx context.Context, trials ...*trial) error {
	var left []*trial
	for _, t := range trials {
		s.name(t)
		s.done[t.key] = true
		if s.kept(t) {
			s.progress.Skip(1)
		} else {
			left = append(left, t)
		}
	}
	for n, t := range left {
		if s.kept(t) { // two points may share a trial
			s.progress.Skip(1)
			continue
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		s.progress.Say("%s, %d notes", t.arm.name, len(t.train))
		if err := s.do(ctx, t); err != nil {
			return fmt.Errorf("%s, trial %d of %d: %w", t.arm.name, len(trials)-len(left)+n+1, len(trials), err)
		}
		data, err := json.Marshal(t.outcome)
		if err != nil {
			return err
		}
		if err := durable.WriteFile(nil, s.file(t), append(data, '\n')); err != nil {
			return err
		}
		s.progress.Add(1)
	}
	return nil
}

func (s *study) file(t *trial) string { return filepath.Join(s.dir, trialsFolder, t.key+".json") }

// kept reads the outcome of a trial that was done before. One that cannot be read is
// done again.
func (s *study) kept(t *trial) bool {
	data, err := os.ReadFile(s.file(t))
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			s.Log.Warn("a trial cannot be read; it is done again", "cause", err)
		}
		return false
	}
	var o outcome
	if json.Unmarshal(data, &o) != nil || o.Key != t.key || o.Scores == nil {
		s.Log.Warn("a trial is damaged; it is done again", "file", s.file(t))
		return false
	}
	t.outcome = &o
	return true
}

// do trains and scores.
func (s *study) do(ctx context.Context, t *trial) error {
	m, err := s.model(ctx, t)
	if err != nil {
		return err
	}
	m.Label = flow.LabelOptions(t.arm.cfg)
	m.Label.SpanProbs = true
	t.outcome = &outcome{Key: t.key, Scores: score.New(score.Options{Draws: -1, Map: s.into})}
	if sized, ok := m.Model.(tagger.Sized); ok {
		_, t.outcome.Weights = sized.Size()
	}
	place := make(map[string]int, len(t.test))
	for k, i := range t.test {
		place[s.corpus.notes[i].id] = k
	}
	// Of a note that a stage could not vouch for nothing is let out: nothing is found in it.
	var sink pipeline.Sink = pipeline.SinkFunc(func(b *pipeline.Batch) error {
		for i := range b.Len() {
			spans, conf := b.Spans.At(i), b.Conf[i]
			if b.Reason[i] != pipeline.Sound {
				spans, conf = nil, 0
			}
			t.outcome.Scores.Add(b.Text.At(i), b.Tokens.At(i), b.Gold.At(i), spans)
			t.outcome.Notes = append(t.outcome.Notes, place[string(b.ID.At(i))])
			t.outcome.Confidence = append(t.outcome.Confidence, conf)
		}
		return nil
	})
	if t.rank {
		if sink, err = s.newRanking(m, t.outcome); err != nil {
			return err
		}
	}
	err = s.corpus.labelled(t.test).Tag(ctx, flow.With(t.arm.cfg, m), sink)
	if r, ok := sink.(*ranking); ok {
		r.end()
	}
	return err
}

// model trains the model of a trial, or opens that of an arm that learns nothing. What
// it trains is never written: it holds words of notes.
func (s *study) model(ctx context.Context, t *trial) (*flow.Model, error) {
	if !t.arm.learns {
		return flow.OpenModel(t.arm.kind, t.arm.cfg)
	}
	w, err := s.training(t.arm, t.without)
	if err != nil {
		return nil, err
	}
	if err := w.Teach(ctx, s.corpus.labelled(t.train)); err != nil {
		return nil, err
	}
	return w.Fit(ctx)
}

// training is that of an arm, which has no notes yet. It tells nobody how far it is.
func (s *study) training(a *arm, without []string) (*train.Training, error) {
	silent := &console.Console{Out: io.Discard, Errs: io.Discard, Env: s.Env, Version: s.Version, Quiet: true,
		Log: slog.New(slog.DiscardHandler)}
	w := train.New(silent, a.cfg, &train.Options{Kind: a.kind, Labels: s.labels, Out: "study.velum", Lookups: train.Lookups{Without: without}})
	return w, w.Prepare()
}
