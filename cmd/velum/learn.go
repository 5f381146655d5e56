package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/velum-health/velum/models/crf"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read"
)

type learnFlags struct {
	out       string
	backTo    int
	ask       int
	to        string
	questions string
	answers   []string
}

func newLearnCommand(a *app) *cobra.Command {
	f := learnFlags{backTo: -1}
	c := &cobra.Command{
		Use:   "learn --in ARCHIVE --gold PATH --out DIR",
		Short: "Learn from the unlabelled archive: tag, take the surest notes, train again",
		Long: `Teach a tagger from few labelled notes and a large archive without labels. Each turn
tags the next slice of the archive, takes the notes that the model is surest of, in the
proportions of the validation notes, trains again with them, and measures the model on
the validation notes. Learning stops when that brings nothing any more.

DIR holds words of notes and is for its owner alone: a folder a turn (model, notes that
were taken and why, scores), report.html, report.json, and models/ with the promoted
model. Learning that was stopped goes on where it stopped when the same command is
given again. --ask writes notes that a person should correct; --answers takes them back.`,
		Example: `  velum learn --in archive/ --gold labelled/ --out learned/
  velum learn --config learn.yaml --out learned/
  velum learn --config learn.yaml --out learned/ --ask 100 --to brat --questions correct/
  velum learn --config learn.yaml --out learned/ --answers correct/
  velum learn --config learn.yaml --out learned/ --back-to 3   # forget what came after turn 3
  velum run --in archive/ --out masked/ --model learned/models`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.learn(c.Context(), &f) },
	}
	flags := c.Flags()
	flags.StringVar(&f.out, "out", "", "`DIR` to learn in, private")
	flags.IntVar(&f.backTo, "back-to", f.backTo, "forget the turns after turn `N`, then go on")
	flags.IntVar(&f.ask, "ask", 0, "write `N` notes for a person to correct, and stop")
	flags.StringVar(&f.to, "to", "jsonl", "`FORMAT` of --ask: brat, jsonl or another of `velum convert`")
	flags.StringVar(&f.questions, "questions", "", "`PATH` for --ask (default: in DIR)")
	flags.StringSliceVar(&f.answers, "answers", nil, "`PATHS` of corrected notes to learn from, in any format")
	for _, o := range []struct{ flag, key string }{
		{"in", "learn.in"}, {"gold", "learn.gold"}, {"dev", "learn.dev"}, {"gate", "learn.gate"}, {"oracle", "learn.oracle"},
		{"labels", "learn.labels"}, {"start", "learn.start"}, {"turns", "learn.turns"}, {"slice", "learn.slice"},
		{"patience", "learn.patience"}, {"unit", "learn.unit"}, {"k", "choose.k"}, {"min-confidence", "choose.min_confidence"},
		{"calibrate", "learn.calibrate"}, {"template", "train.template"}, {"agree", "learn.agree"}, {"labelled", "learn.labelled"},
		{"seed", "learn.seed"}, {"draws", "learn.draws"}, {"workers", "run.workers"}, {"memory-limit", "run.memory_limit"},
	} {
		a.optionFlag(c, o.flag, o.key)
	}
	return c
}

func (a *app) learn(ctx context.Context, f *learnFlags) error {
	if f.out == "" {
		return exitf(exitConfig, "see `velum learn --help`", "--out is needed")
	}
	cfg, err := a.config()
	if err != nil {
		return err
	}
	a.setMemory(cfg.Run.MemoryLimit)
	if err := os.MkdirAll(f.out, 0o700); err != nil {
		return err
	}
	lock, err := pipeline.OS.Lock(filepath.Join(f.out, "_LOCK"), pipeline.NewHolder("learn"))
	if err != nil {
		return err
	}
	return errors.Join(a.learnLocked(ctx, cfg, f), lock.Close())
}

func (a *app) learnLocked(ctx context.Context, cfg *Config, f *learnFlags) error {
	if cfg.Learn.Draws > 1 {
		return a.draws(ctx, cfg, f)
	}
	l, err := a.learnOnce(ctx, cfg, f)
	if err != nil || f.ask > 0 {
		return err
	}
	l.log.Info("time spent, in seconds", l.spent.seconds()...)
	return l.print(a.out)
}

// learnOnce learns in one folder, or asks there.
func (a *app) learnOnce(ctx context.Context, cfg *Config, f *learnFlags) (*learning, error) {
	l, err := a.newLearning(ctx, cfg, f.out)
	if err != nil {
		return nil, err
	}
	defer l.fence.Close()
	if err := l.resume(f.backTo); err != nil {
		return nil, err
	}
	if len(f.answers) > 0 {
		if err := errors.Join(l.answer(ctx, f.answers), l.loadAnswers()); err != nil {
			return nil, err
		}
	}
	if f.ask > 0 {
		return l, l.ask(ctx, f)
	}
	for ctx.Err() == nil && !l.finished() {
		if err := l.turn(ctx); err != nil {
			return nil, err
		}
	}
	return l, context.Cause(ctx)
}

// learning is self-learning (BOOT §3.2.1, METHODS §6) in one folder:
//
//	train ─> model ─> slice of the archive ─> choose ─> train with what was chosen ─> score ─> turn-01/ ...
//
// What a turn does is a function of the options, of its input and of the turn
// before, and a turn is there whole or not at all: a start after a kill does
// the turn that is missing and comes to the same bytes.
type learning struct {
	*app
	*Config
	out     string
	labels  string // label set
	tagSet  *pipeline.TagSet
	toSet   func(pipeline.Category) pipeline.Category
	archive *read.Archive
	fence   *read.Fence

	gold, dev, gate, oracle labelled
	target                  crf.Training    // spans and their tokens of the validation notes
	known                   map[string]bool // ids of labelled notes, which are not learned from again
	options                 string          // digest of what shapes a turn
	asked                   map[string]bool // ids that a person was asked about
	answers                 []labelled      // corrected notes, in the order in which they came

	turns []*turn
	model *model // of the last turn
	other *model // the second one of learn.agree
	stats pipeline.Stats
	spent spent
}

// spent is the time that parts of the work took in this process: for the log,
// never for a file that has to come out the same.
type spent struct {
	names []string
	times map[string]time.Duration
}

// on begins a part; the function that it returns ends it.
func (s *spent) on(name string) (end func()) {
	began := time.Now()
	return func() {
		if s.times == nil {
			s.times = map[string]time.Duration{}
		}
		if _, known := s.times[name]; !known {
			s.names = append(s.names, name)
		}
		s.times[name] += time.Since(began)
	}
}

// seconds returns pairs of a name and a time, for the log.
func (s *spent) seconds() (pairs []any) {
	for _, name := range s.names {
		pairs = append(pairs, name, math.Round(s.times[name].Seconds()*10)/10)
	}
	return pairs
}

func (a *app) newLearning(ctx context.Context, cfg *Config, out string) (*learning, error) {
	l := &learning{app: a, Config: cfg, out: out, labels: cfg.Learn.Labels}
	if l.labels == "" {
		l.labels = cfg.Profile
	}
	set, err := pipeline.Labels(l.labels)
	if err != nil {
		return nil, exit(exitConfig, err, "name one with --labels")
	}
	scheme, err := pipeline.ParseScheme(cfg.Train.Scheme)
	if err != nil {
		return nil, exit(exitConfig, err, "")
	}
	l.tagSet = &pipeline.TagSet{Scheme: scheme, Categories: set.Categories}
	if l.toSet, err = intoScheme(l.labels); err != nil {
		return nil, exit(exitConfig, err, "")
	}
	if err := l.need(); err != nil {
		return nil, err
	}
	if err := l.splitGold(); err != nil {
		return nil, err
	}
	l.fence = read.NewFence(read.FenceOptions{Memory: int64(cfg.Run.DecodeMemory)})
	if err := errors.Join(l.scan(ctx), l.count(ctx)); err != nil {
		l.fence.Close()
		return nil, err
	}
	l.options, err = l.digest()
	return l, err
}

// need says what is missing.
func (l *learning) need() error {
	switch g := &l.Learn; {
	case len(g.In) == 0:
		return exitf(exitConfig, "name the archive with --in", "nothing to learn from")
	case len(g.Gold) == 0 && (g.Start == "" || len(g.Dev) == 0):
		return exitf(exitConfig, "name labelled notes with --gold, or a model with --start and labelled notes for validation with --dev", "nothing to begin with")
	}
	return nil
}

// scan finds the units of the archive.
func (l *learning) scan(ctx context.Context) error {
	m := &masking{plan: &plan{Config: l.Config}}
	o, err := m.readOptions()
	if err != nil {
		return err
	}
	o.Fence, o.Pass = l.fence, nil
	if l.archive, err = read.Scan(ctx, l.Learn.In, o); err != nil {
		return inputError(err)
	}
	for _, b := range l.archive.Bad {
		l.log.Warn("file cannot be read; the others go on", "path", b.Input, "cause", b.Cause)
	}
	if l.archive.Rows() == 0 {
		return exitf(exitNothing, "look at --in", "no notes in the archive")
	}
	return nil
}

// finished tells whether learning is at its end: all turns done, no better for
// some turns, or the archive read.
func (l *learning) finished() bool {
	if len(l.turns) == 0 {
		return false
	}
	last := l.last()
	switch {
	case last.Answers < len(l.answers):
		return false // a person has said something new
	case last.Number >= l.Learn.Turns || l.waiting():
		return true
	case last.Number == 0:
		return false
	case last.Number-l.best(l.since()).Number >= l.Learn.Patience:
		return true
	}
	return !l.Learn.Again && last.Slice.To >= l.archive.Rows()
}

// waiting tells whether the last turn asked what nobody has answered.
func (l *learning) waiting() bool {
	last := l.last()
	return last.Asked > 0 && len(l.oracle.paths) == 0 && last.Answers == len(l.answers)
}

// since returns the turn from which patience counts: the first one that
// learned, or that had the latest answers of a person. A turn that an oracle
// answered is no new beginning.
func (l *learning) since() int {
	n := l.last().Number
	for n > 1 && (l.turns[n-1].Answers == l.last().Answers || len(l.oracle.paths) > 0) {
		n--
	}
	return n
}

func (l *learning) last() *turn { return l.turns[len(l.turns)-1] }

// best returns the turn with the highest F1 on the validation notes, the first
// of equals, among those from a turn on. Patience counts from turn 1: a CRF
// drops at the first turn below its supervised score, and recovers (METHODS
// §6).
func (l *learning) best(from int) *turn {
	best := l.turns[from]
	for _, t := range l.turns[from:] {
		if t.f1() > best.f1() {
			best = t
		}
	}
	return best
}

// print says what came out.
func (l *learning) print(w io.Writer) error {
	best, first := l.best(0), l.turns[0]
	if l.json {
		return json.NewEncoder(w).Encode(map[string]any{
			"message_type": "summary", "turns": l.last().Number, "best_turn": best.Number, "best_f1": best.f1(), "supervised_f1": first.f1(),
			"gain": best.f1() - first.f1(), "model": filepath.Join(l.out, best.name(), modelName), "report": filepath.Join(l.out, "report.html"),
		})
	}
	_, err := fmt.Fprintf(w, "%d turns: strict F1 %.4f -> %.4f (turn %d) on %d validation notes; model %s\n",
		l.last().Number, first.f1(), best.f1(), best.Number, best.Validation.Notes, filepath.Join(l.out, best.name(), modelName))
	return err
}
