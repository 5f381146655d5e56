// Package learn implements self-learning (BOOT §3.2.1): tag a slice of the archive, select the notes with the highest
// confidence in given proportions, train again and measure. Each such turn is a folder, and an interrupted command
// continues with the turn that it had not finished.
package learn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/lab/train"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/archive"
)

// Options holds the arguments of `velum teach learn` beside the configuration.
type Options struct {
	Out       string   // folder to learn in
	BackTo    int      // forget the turns after this one; negative: none
	Ask       int      // notes to write for a person, and stop
	To        string   // their format
	Questions string   // and their place; "": in the folder
	Answers   []string // paths of corrected notes
}

// Learn runs turns of self-learning on an archive, in the folder of the options.
func Learn(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) error {
	c.SetMemory(int64(cfg.Run.MemoryLimit))
	return files.Held(f.Out, "velum teach learn", own.MatchString, func() error { return learnLocked(ctx, c, cfg, f) })
}

// seed seeds all random draws: folds, questions, and the bootstrap of the gate. Slices follow the order of the archive.
const seed = 1

// folds is the number of folds for cross-fitting if no validation notes are given: each fold is judged by models, and
// teachers, that were trained on the others only; the model in use is trained on all.
const folds = 5

// own matches the names that learning creates first in its folder, finished or not.
var own = regexp.MustCompile(`^(_LOCK|\.?(turn|ask|answers|fold)-[0-9]+(\.tmp)?)$`)

func learnLocked(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) error {
	l, err := learnOnce(ctx, c, cfg, f)
	if err != nil || f.Ask > 0 {
		return err
	}
	return l.print()
}

// learnOnce learns in one folder, or asks there.
func learnOnce(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) (*learning, error) {
	l, err := newLearning(ctx, c, cfg, f.Out)
	if err != nil {
		return nil, err
	}
	defer l.archive.Close()
	if err := l.resume(f.BackTo); err != nil {
		return nil, err
	}
	if len(f.Answers) > 0 {
		if err := errors.Join(l.answer(ctx, f.Answers), l.loadAnswers()); err != nil {
			return nil, err
		}
	}
	if f.Ask > 0 {
		return l, l.ask(ctx, f)
	}
	for ctx.Err() == nil && !l.finished() {
		if err := l.turn(ctx); err != nil {
			return nil, err
		}
	}
	return l, context.Cause(ctx)
}

// learning is self-learning (BOOT §3.2.1) in one folder:
//
//	train ─> model ─> slice of the archive ─> choose ─> train with what was chosen ─> score ─> turn-01/ ...
//
// What a turn does is a function of the options, of its input and of the turn
// before, and a turn is there whole or not at all: a start after a kill does
// the turn that is missing and comes to the same bytes.
type learning struct {
	console *console.Console
	cfg     *option.Config
	out     string
	labels  string // label set
	tagSet  *pipeline.TagSet
	toSet   func(pipeline.Category) pipeline.Category
	archive *archive.Archive

	gold, dev flow.Labelled
	goldIDs   []string          // of the notes of gold that are learned from
	known     map[string]bool   // ids of labelled notes, which are not learned from again
	options   string            // digest of what shapes a turn
	asked     map[string]string // ids that a person was asked about, and what was asked (digestOf)
	answers   []flow.Labelled   // corrected notes, in the order in which they came
	answered  turns.Answers     // of people, all together

	folds  []*learning     // that judge; none where validation notes are named, or nothing is labelled
	foldOf map[string]int  // of the ids of labelled notes and answers
	parent *learning       // whose fold this is; nil
	fold   int             // its number
	judged []flow.Labelled // notes that a judge's models are scored on

	turns []*turns.Turn
	model *flow.Model // of the last turn
	stats pipeline.Stats
}

func newLearning(ctx context.Context, c *console.Console, cfg *option.Config, out string) (*learning, error) {
	l := &learning{console: c, cfg: cfg, out: out, labels: cmp.Or(cfg.Learn.Labels, cfg.Profile), foldOf: map[string]int{}}
	var err error
	if l.tagSet, l.toSet, err = train.Tags(cfg, l.labels); err != nil {
		return nil, err
	}
	if err := l.need(); err != nil {
		return nil, err
	}
	if err := l.splitGold(); err != nil {
		return nil, err
	}
	if err := l.scan(ctx); err != nil {
		return nil, errors.Join(err, l.archive.Close())
	}
	l.options, err = l.digest()
	return l, err
}

// need says what is missing.
func (l *learning) need() error {
	for n := range l.cfg.Learn.Kind {
		for _, name := range flow.Together(l.kind(n)) {
			if kind, known := flow.KindNamed(name); !known || !kind.Learns {
				return exit.Misconfiguredf("kinds that learn from labelled notes: "+flow.KindsThat(func(k *flow.Kind) bool { return k.Learns }),
					"learn.kind: %q", name)
			}
		}
	}
	switch g := &l.cfg.Learn; {
	case len(g.In) == 0:
		return exit.Misconfiguredf("name the archive with --in", "nothing to learn from")
	case l.cfg.People.Exclude != "": // a slice of the archive has no patients: the notes of who objects would teach
		return exit.Misconfiguredf("learn from an archive without their notes, and --set people.exclude=",
			"people.exclude: learning leaves nobody out")
	case len(g.Gold) == 0 && g.Start == "":
		return exit.Misconfiguredf("name labelled notes with --gold, or a model with --start", "nothing to begin with")
	}
	return nil
}

// scan finds the units of the archive.
func (l *learning) scan(ctx context.Context) (err error) {
	if l.archive, err = flow.Archive(ctx, l.cfg, l.cfg.Learn.In, nil); err != nil {
		return err
	}
	for _, b := range l.archive.Bad {
		l.console.Log.Warn("file cannot be read; the others go on", "path", b.Input, "cause", b.Cause)
	}
	if l.archive.Rows() == 0 {
		return exit.Errorf(exit.Nothing, "look at --in", "no notes in the archive")
	}
	return nil
}

// patience is the number of turns without a higher F1 that ends learning, counted from the first trained turn: a CRF
// drops below its supervised score in the first turn and recovers (BOOT).
const patience = 3

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
	case last.Number >= l.cfg.Learn.Turns:
		return true
	case l.unmeasuredEnd():
		return true
	case last.Number == 0:
		return false
	case l.measured() && last.Number-l.best(l.since()).Number >= patience:
		return true
	}
	return !l.cfg.Learn.Again && last.Slice.To >= l.archive.Rows()
}

// since returns the turn from which patience counts: the first trained one, or the one with the latest answers.
func (l *learning) since() int {
	n := l.last().Number
	for n > 1 && l.turns[n-1].Answers == l.last().Answers {
		n--
	}
	return n
}

func (l *learning) last() *turns.Turn { return l.turns[len(l.turns)-1] }

// measured reports whether there are notes to judge on.
func (l *learning) measured() bool { return len(l.dev.Paths) > 0 || len(l.folds) > 0 }

// comparable returns the first turn whose scores are on the same notes as those of the last one, because new answers
// are added to the judging notes.
func (l *learning) comparable() int {
	n := len(l.turns) - 1
	for n > 0 && (len(l.dev.Paths) > 0 || l.turns[n-1].Answers == l.last().Answers && l.turns[n-1].Validation.Notes > 0) {
		n--
	}
	return n
}

// unmeasuredTurns is the number of turns without any labelled note: two took a dictionary from .834 to .893 strict F1
// (BENCHMARKS.md); a third was not measured.
const unmeasuredTurns = 2

// unmeasuredEnd tells whether learning from itself ends because nothing measures it. A model that learned from labelled notes
// knows more than the archive teaches it of itself: it waits for answers.
func (l *learning) unmeasuredEnd() bool {
	if l.measured() || len(l.cfg.Learn.Gold) > 0 || l.last().Answers > 0 {
		return false
	}
	kind, known := flow.KindNamed(l.model.Header().Kind)
	return l.last().Number >= unmeasuredTurns || l.last().Number == 0 && known && kind.Learns
}

// best returns the turn with the highest F1 on the judging notes, from a given turn on, the first of equals; the last
// turn if there are no such notes.
func (l *learning) best(from int) *turns.Turn {
	if !l.measured() {
		return l.last()
	}
	best := l.turns[from]
	for _, t := range l.turns[from:] {
		if t.F1() > best.F1() {
			best = t
		}
	}
	return best
}

// print says what came out.
func (l *learning) print() error {
	said := l.learned()
	best := l.turns[said.BestTurn]
	ships := l.inUse().Ships()
	inUse := filepath.Join(l.out, l.inUse().Name(), ships.File)
	return l.console.Tell(map[string]any{
		"message_type": "summary", "turns": l.last().Number, "best_turn": best.Number, "best_f1": best.F1(),
		"supervised_f1": said.Supervised.Strict.F1,
		"measured":      l.measured(),
		"answers":       l.answered.Notes, "answers_unchanged": l.answered.Unchanged, "better": best.Better,
		"models": l.models(), "in_use": inUse, "in_use_answers": ships.Training.Answers,
		"gain": best.F1() - said.Supervised.Strict.F1, "model": filepath.Join(l.out, best.Name(), modelName),
		"report": filepath.Join(l.out, "report.html"),
		"on":     said.On(), "next": append(said.Remarks, l.commands()...),
	}, `{{.turns}} turn{{if ne .turns 1}}s{{end}}{{if .measured -}}
: strict F1 {{figure "%.4f" .supervised_f1}} -> {{figure "%.4f" .best_f1}} (turn {{.best_turn}}) on {{.on}}{{else}}, not measured: no validation notes{{end}}; model {{.in_use}}
{{range .next}}{{.}}
{{end}}`)
}

// commands are those that use what was learned: the model in use, and, where people have answered and the gate kept that of
// the turn out, the turn's.
func (l *learning) commands() []string {
	use := "velum run --in ARCHIVE --out DIR --model "
	in, it := l.inUse(), "to use it:    "
	if in.Number != l.best(l.comparable()).Number && in.Base == nil { // the gate kept the best turn out
		it = fmt.Sprintf("turn %d is in use: ", in.Number)
	}
	lines := []string{it + use + l.models()}
	if in.Base != nil && !in.Promoted {
		lines = append(lines, fmt.Sprintf("to use turn %d: %s%s", in.Number, use, filepath.Join(l.out, in.Name(), modelName)))
	}
	return lines
}

// inUse returns the turn whose model is in use.
func (l *learning) inUse() *turns.Turn { return l.inUseBefore(len(l.turns)) }

// inUseBefore returns the turn whose model was in use before turn n.
func (l *learning) inUseBefore(n int) *turns.Turn {
	in := l.turns[0]
	for _, t := range l.turns[:n] {
		if t.InUse() {
			in = t
		}
	}
	return in
}
