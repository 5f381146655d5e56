package pack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/tag/rules"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/durable"
)

// mistake is an error of rules on a labelled note: where it is, and no words.
type mistake struct {
	ID       string `json:"id"`
	Category string `json:"category"`
	Kind     string `json:"kind"`
	Start    int32  `json:"start"` // bytes
	End      int32  `json:"end"`
}

// Kinds of mistakes.
const (
	missed = "missed"
	inVain = "in vain"
)

// gone returns the mistakes of was that are none of now.
func gone(was, now []mistake) (all []mistake) {
	still := map[mistake]bool{}
	for _, m := range now {
		still[m] = true
	}
	for _, m := range was {
		if !still[m] {
			all = append(all, m)
		}
	}
	return all
}

// validated scores rules on the validation notes; nil where there are none. It
// remembers where they lie: turns that name none have those of the turn before.
func (c *corpus) validated(ctx context.Context, cfg *option.Config, p *rules.Pack, o *CorpusOptions) (*networkScores, error) {
	if err := c.hold(ctx, cfg, o); err != nil || c.validation == "" {
		return nil, err
	}
	if err := c.remember(); err != nil {
		return nil, err
	}
	return scoredOn(ctx, cfg, c.validation, p)
}

// hold reads which notes are held for validation: they are not asked about, and
// notes that were asked about cannot be among them.
func (c *corpus) hold(ctx context.Context, cfg *option.Config, o *CorpusOptions) error {
	if o.Validation != "" {
		path, err := filepath.Abs(o.Validation)
		if err != nil {
			return err
		}
		c.validation = path
	}
	if c.validation == "" {
		return nil
	}
	if err := c.ids(ctx, cfg); err != nil {
		return err
	}
	used := map[string]bool{}
	if c.asked != nil {
		for _, n := range c.asked.Notes {
			used[n.ID] = true
		}
	}
	both := 0
	err := eachNote(ctx, cfg, c.validation, func(b *pipeline.Batch, i int) error {
		id := string(b.ID.At(i))
		if c.known[id] || used[id] {
			both++
		}
		c.held = append(c.held, id)
		return nil
	})
	if err != nil {
		return err
	}
	if both > 0 {
		return exit.Errorf(exit.Config, "take them out of the validation notes, and give --validation to `next` from the first turn on",
			"%s: %d of the notes were asked about", c.validation, both)
	}
	return nil
}

// heldNotes is validation.json: where the validation notes lie.
type heldNotes struct {
	Schema string `json:"schema"`
	Path   string `json:"path"`
}

const (
	heldSchema = "velum.corpus.validation/1"
	heldFile   = "validation.json"
)

func (c *corpus) remember() error {
	data, err := json.MarshalIndent(heldNotes{heldSchema, c.validation}, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	return durable.WriteFile(nil, filepath.Join(c.dir, heldFile), append(data, '\n'))
}

// recall reads what remember wrote.
func (c *corpus) recall() error {
	data, err := os.ReadFile(filepath.Join(c.dir, heldFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var h heldNotes
	if err == nil && (json.Unmarshal(data, &h) != nil || h.Schema != heldSchema) {
		err = &durable.IntegrityError{Path: heldFile, Cause: "does not say where validation notes lie"}
	}
	if err != nil {
		return exit.With(exit.Integrity, err, "take the file away and name the notes with --validation")
	}
	c.validation = h.Path
	return nil
}

// verdict is what the rules of ATN §2.1 say of new rules.
type verdict struct {
	accepted bool
	advice   string
}

// onCorpus is step 2: rules are kept that cover more than one error without
// lowering F1.
func onCorpus(old, fresh *right, mended int) verdict {
	if mended > 1 && fresh.f1() >= old.f1() {
		return verdict{accepted: true}
	}
	return verdict{advice: "a rule is kept if it mends more than one error and F1 does not fall"}
}

// onValidation is step 4: where F1 falls and recall has not risen the new rules
// go; where it falls with precision, one of the rules is to be tightened.
func onValidation(old, fresh *right) verdict {
	switch {
	case fresh.f1() >= old.f1():
		return verdict{accepted: true}
	case fresh.recall() <= old.recall():
		return verdict{advice: "F1 fell on the validation notes and recall did not rise: take the new rules back"}
	}
	return verdict{advice: "F1 and precision fell on the validation notes: tighten a rule, so that precision rises"}
}

// trial is what two sets of rules come to on the same notes.
type trial struct {
	Old      float64 `json:"f1_old"`
	New      float64 `json:"f1_new"`
	Mended   int     `json:"mended"`
	Mistaken int     `json:"mistaken"` // errors that were none
}

func tried(before, after *networkScores) trial {
	old, fresh := before.all(), after.all()
	return trial{old.f1(), fresh.f1(), len(gone(before.mistakes, after.mistakes)), len(gone(after.mistakes, before.mistakes))}
}

func (t trial) String() string {
	return fmt.Sprintf("%d errors mended, %d made, F1 %.4f -> %.4f", t.Mended, t.Mistaken, t.Old, t.New)
}

// judgement is what changed rules come to: all of them, or a network alone.
type judgement struct {
	Rule       string `json:"rule,omitempty"`
	How        string `json:"how,omitempty"` // new, changed, gone
	Accepted   bool   `json:"accepted"`
	Advice     string `json:"advice,omitempty"`
	Corpus     trial  `json:"corpus"`
	Validation *trial `json:"validation,omitempty"`
}

// Try tells which of the rules that are not as they were are worth it: each must
// mend more than one error on the corpus without lowering F1, and not lower it on
// the validation notes (ATN §2.1, steps 2 to 4). They are tried in the order of
// the file, each beside those that are as they were and those that were accepted.
func Try(ctx context.Context, c *console.Console, cfg *option.Config, o *CorpusOptions) error {
	at, err := openCorpus(o.Out)
	if err != nil {
		return err
	}
	if len(at.data) == 0 || o.Old == "" {
		return exit.Errorf(exit.Config, "name the old rules with --with; the corpus is made by next and take", "velum corpus try: a corpus and two files of rules are needed")
	}
	before, err := open(cfg, o.Old)
	if err != nil {
		return err
	}
	after, err := open(cfg, o.Rules)
	if err != nil {
		return err
	}
	if err := at.hold(ctx, cfg, o); err != nil {
		return err
	}
	b := newBench(before, after)
	if b.corpus, err = b.read(ctx, nil, at.path()); err != nil {
		return err
	}
	if at.validation != "" {
		if b.validation, err = b.read(ctx, cfg, at.validation); err != nil {
			return err
		}
	}
	all, each := b.judge()
	if err := printTrial(c, all, each); err != nil {
		return err
	}
	return refused(each)
}

// refused is the error where some rules are not accepted.
func refused(each []judgement) error {
	var kept, not []string
	for _, j := range each {
		if j.Accepted {
			kept = append(kept, j.Rule)
		} else {
			not = append(not, j.Rule+": "+j.Advice)
		}
	}
	switch {
	case len(each) == 0:
		return exit.Errorf(exit.Nothing, "write a rule for errors of scores.json", "no rule finds anything else than it did")
	case len(not) == 0:
		return nil
	}
	return exit.Errorf(exit.Nothing, strings.Join(not, "; "), "%d of %d changed rules are accepted", len(kept), len(each))
}

func printTrial(c *console.Console, all judgement, each []judgement) error {
	if c.JSON {
		return json.NewEncoder(c.Out).Encode(map[string]any{
			"message_type": "corpus", "accepted": refused(each) == nil, "mended": all.Corpus.Mended, "mistaken": all.Corpus.Mistaken,
			"f1_old": all.Corpus.Old, "f1_new": all.Corpus.New, "validation": all.Validation, "rules": each,
		})
	}
	lines := all.Corpus.String() + "\n"
	if all.Validation != nil {
		lines += "validation: " + all.Validation.String() + "\n"
	}
	for _, j := range each {
		verdict := "accepted"
		if !j.Accepted {
			verdict = "left out"
		}
		lines += fmt.Sprintf("%s, %s: %s: %s\n", j.Rule, j.How, j.Corpus, verdict)
	}
	_, err := io.WriteString(c.Out, lines) // names of networks are letters and digits
	return err
}
