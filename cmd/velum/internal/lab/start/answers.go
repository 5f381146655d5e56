package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/learn"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/review"
	"github.com/velum-health/velum/stages/score"
)

// evening records the questions of one evening and their outcome.
type evening struct {
	Asked   int     `json:"asked"`
	Taken   string  `json:"taken,omitempty"`  // SHA-256 of the answers that were learned from
	Into    string  `json:"into,omitempty"`   // and what they became in the folder of learning
	Read    int     `json:"read"`             // notes that are decided
	Seconds int64   `json:"seconds"`          // that this took, on the page
	Before  *scores `json:"before,omitempty"` // the spans that were asked, against the answers
	Random  *scores `json:"random,omitempty"` // the same of the notes that were drawn at random
}

// scores holds the quality of a model on notes that it was not trained on: the answers are compared with the spans that
// it had shown with the questions.
type scores struct {
	Notes    int     `json:"notes"`
	Gold     int64   `json:"identifiers"`
	Masked   int64   `json:"masked"`
	StrictF1 float64 `json:"strict_f1"`
}

// questions is where the questions of evening k stand, and answers where a person's answers go.
func (m *month) questions(k int) string {
	return m.at(learnedName, fmt.Sprintf("ask-%02d", k+1), "notes.jsonl")
}

func (m *month) answers(k int) string { return m.at(fmt.Sprintf("answers-%02d.jsonl", k+1)) }

// take reads the answers since the last start, for questions of any evening, and runs a turn with them. Learning is
// always called, because it also completes what a kill interrupted. The folder of the answers is recorded before the
// turn, so that a start after a kill sees whether they were copied.
func (m *month) take(ctx context.Context) error {
	into := filepath.Base(turns.Next(m.at(learnedName), "answers"))
	var fresh []string
	for k := range m.state.Evenings {
		e := &m.state.Evenings[k]
		sum, err := m.exported(ctx, k)
		if err != nil {
			return err
		}
		if sum == "" || sum == e.Taken && m.have(e.Into) {
			continue
		}
		if err := m.compare(ctx, k); err != nil {
			return err
		}
		e.Taken, e.Into = sum, into
		fresh = append(fresh, m.answers(k))
	}
	if err := m.save(); err != nil {
		return err
	}
	m.said.Learned = len(fresh) > 0
	return m.learn(ctx, &learn.Options{Answers: fresh})
}

// have tells whether answers got into the folder of learning.
func (m *month) have(into string) bool {
	_, err := os.Stat(m.at(learnedName, into))
	return err == nil
}

// exported writes what is decided of an evening's questions, and returns the digest of it; "" if nothing is.
func (m *month) exported(ctx context.Context, k int) (string, error) {
	if _, err := os.Stat(m.answers(k) + ".journal"); err == nil {
		o := &review.Options{In: m.questions(k), Out: m.answers(k), To: "jsonl", Export: true}
		if err := review.Run(ctx, m.quiet(), m.cfg, o); err != nil {
			return "", err
		}
	}
	answers, err := turns.FileOf(m.answers(k))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return answers.SHA256, err
}

// compare scores the spans shown with an evening's questions against the answers.
func (m *month) compare(ctx context.Context, k int) (err error) {
	e := &m.state.Evenings[k]
	random, err := m.random(k)
	if err != nil {
		return err
	}
	all, err := m.scored(ctx, k, nil)
	if err != nil {
		return err
	}
	e.Before, e.Read = all, all.Notes
	if e.Random, err = m.scored(ctx, k, random); err != nil {
		return err
	}
	e.Seconds, err = review.Spent(m.answers(k))
	return err
}

// random returns the ids of an evening's notes that were drawn at random.
func (m *month) random(k int) (map[string]bool, error) {
	asked, err := turns.ReadQuestions(filepath.Join(filepath.Dir(m.questions(k)), turns.AskedName))
	if err != nil {
		return nil, err
	}
	ids := map[string]bool{}
	for _, n := range asked.Notes {
		if n.Why == "random" {
			ids[n.ID] = true
		}
	}
	return ids, nil
}

// scored compares the questions of an evening with its answers, some of them or all.
func (m *month) scored(ctx context.Context, k int, keep map[string]bool) (*scores, error) {
	said, err := (&flow.Labelled{Format: "jsonl", Paths: []string{m.questions(k)}}).Given()
	if err != nil {
		return nil, err
	}
	s := score.New(score.Options{})
	answers := flow.Labelled{Paths: []string{m.answers(k)}, Keep: keep}
	err = answers.Run(ctx, flow.GivenSteps(said), s)
	r := s.Report()
	strict, _ := r.Measure(score.Strict)
	masked, _ := r.Measure(score.MaskedEntities)
	return &scores{Notes: r.Notes, Gold: masked.Gold, Masked: masked.Found, StrictF1: strict.F1}, err
}

// asked writes down the questions that learning asked, of this start or of one that was killed.
func (m *month) asked() error {
	for k := len(m.state.Evenings); k < len(turns.Folders(m.at(learnedName), "ask", 1)); k++ {
		ids, err := (&flow.Labelled{Paths: []string{m.questions(k)}}).IDs()
		if err != nil {
			return err
		}
		m.state.Evenings = append(m.state.Evenings, evening{Asked: len(ids)})
	}
	return m.save()
}

// waiting tells whether the last questions wait for their first answer.
func (m *month) waiting() bool {
	n := len(m.state.Evenings)
	return n > 0 && m.state.Evenings[n-1].Read == 0
}
