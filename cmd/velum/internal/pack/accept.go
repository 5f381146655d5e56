package pack

import (
	"context"
	"encoding/json"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/rules"
	"github.com/velum-health/velum/pipeline"
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

// validated scores rules on the validation notes; nil where none are named.
// Notes that were asked about cannot be among them; which they are is kept, so
// that they are not asked about.
func (c *corpus) validated(ctx context.Context, cfg *option.Config, p *rules.Pack, o *CorpusOptions, beside ...pipeline.Category) (*networkScores, error) {
	if o.Validation == "" {
		return nil, nil
	}
	if err := c.ids(ctx, cfg); err != nil {
		return nil, err
	}
	used := map[string]bool{}
	if c.asked != nil {
		for _, n := range c.asked.Notes {
			used[n.ID] = true
		}
	}
	both := 0
	err := eachNote(ctx, cfg, o.Validation, func(b *pipeline.Batch, i int) error {
		id := string(b.ID.At(i))
		if c.known[id] || used[id] {
			both++
		}
		c.held = append(c.held, id)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if both > 0 {
		return nil, exit.Errorf(exit.Config, "take them out of the validation notes, and give --validation to `next` from the first turn on",
			"%s: %d of the notes were asked about", o.Validation, both)
	}
	return scoredOn(ctx, cfg, o.Validation, p, beside...)
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

// Try tells whether new rules are worth it: they must mend more than one error
// on the corpus without lowering F1, and not lower it on the validation notes
// (ATN §2.1, steps 2 to 4).
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
	first, err := at.scored(ctx, before, after.Categories()...)
	if err != nil {
		return err
	}
	second, err := at.scored(ctx, after, before.Categories()...)
	if err != nil {
		return err
	}
	corpus := tried(first, second)
	old, fresh := first.all(), second.all()
	v := onCorpus(&old, &fresh, corpus.Mended)
	var validation *trial
	if v.accepted && o.Validation != "" {
		if validation, v, err = at.tryValidation(ctx, cfg, o, before, after); err != nil {
			return err
		}
	}
	if err := printTrial(c, v, corpus, validation); err != nil || v.accepted {
		return err
	}
	return exit.Errorf(exit.Nothing, v.advice, "the new rules are not accepted")
}

func (c *corpus) tryValidation(ctx context.Context, cfg *option.Config, o *CorpusOptions, before, after *rules.Pack) (*trial, verdict, error) {
	first, err := c.validated(ctx, cfg, before, o, after.Categories()...)
	if err != nil {
		return nil, verdict{}, err
	}
	second, err := scoredOn(ctx, cfg, o.Validation, after, before.Categories()...)
	if err != nil {
		return nil, verdict{}, err
	}
	old, fresh, t := first.all(), second.all(), tried(first, second)
	return &t, onValidation(&old, &fresh), nil
}

func printTrial(c *console.Console, v verdict, corpus trial, validation *trial) error {
	if c.JSON {
		message := map[string]any{"message_type": "corpus", "accepted": v.accepted, "mended": corpus.Mended, "mistaken": corpus.Mistaken, "f1_old": corpus.Old, "f1_new": corpus.New}
		if validation != nil {
			message["validation"] = validation
		}
		return json.NewEncoder(c.Out).Encode(message)
	}
	if _, err := c.Printf("%d errors mended, %d made, F1 %.4f -> %.4f\n", corpus.Mended, corpus.Mistaken, corpus.Old, corpus.New); err != nil || validation == nil {
		return err
	}
	_, err := c.Printf("validation: %d errors mended, %d made, F1 %.4f -> %.4f\n", validation.Mended, validation.Mistaken, validation.Old, validation.New)
	return err
}
