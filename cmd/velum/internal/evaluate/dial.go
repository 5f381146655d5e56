package evaluate

import (
	"context"
	"encoding/json"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/inverse"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// positions of the dial that are measured.
var positions = []float64{0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1}

// A Position is what a setting of inverse.dial does to labelled notes. Words
// are tokens with a letter or a digit; category is ignored.
type Position struct {
	Dial     float64 `json:"dial"`
	Entities int64   `json:"entities"`
	Masked   int64   `json:"entities_masked"` // whole
	Gold     int64   `json:"words_gold"`
	Found    int64   `json:"words_found"` // gold and masked
	System   int64   `json:"words_masked"`
	Safe     int64   `json:"words_safe"` // not gold

	EntityRecall  float64 `json:"masked_entities_recall"`
	WordRecall    float64 `json:"word_recall"`
	WordPrecision float64 `json:"word_precision"`
	Lost          float64 `json:"safe_words_lost"` // share of the safe words that are masked
}

// dial measures all positions of the dial on the gold notes.
func (f *Options) dial(ctx context.Context, c *console.Console, cfg *option.Config) error {
	var all []Position
	for _, d := range positions {
		own := *cfg
		own.Inverse.Dial = d
		p, err := f.position(ctx, c, &own)
		if err != nil {
			return err
		}
		all = append(all, *p)
	}
	if all[0].Entities == 0 {
		return exit.Errorf(exit.Nothing, "look at --gold and --from", "%s: no gold spans", f.Gold)
	}
	if c.JSON {
		return json.NewEncoder(c.Out).Encode(map[string]any{"positions": all})
	}
	if _, err := c.Printf("%5s %15s %11s %14s %15s\n", "dial", "entities masked", "word recall", "word precision", "safe words lost"); err != nil {
		return err
	}
	for _, p := range all {
		if _, err := c.Printf("%5.2f %15.4f %11.4f %14.4f %15.4f\n", p.Dial, p.EntityRecall, p.WordRecall, p.WordPrecision, p.Lost); err != nil {
			return err
		}
	}
	return nil
}

// position tags the gold notes with the configuration.
func (f *Options) position(ctx context.Context, c *console.Console, cfg *option.Config) (*Position, error) {
	p, err := flow.New(cfg)
	if err != nil {
		return nil, err
	}
	if _, own := p.Model.Model.(*inverse.Model); !own && cfg.Inverse.Model == "" {
		return nil, exit.Errorf(exit.Config, "name one with inverse.model or --model", "--dial: there is no inverse model")
	}
	steps, err := p.TagSteps()
	if err != nil {
		return nil, err
	}
	notes, err := flow.TextOptions(cfg)
	if err != nil {
		return nil, err
	}
	gold, err := flow.OpenNotes("from", f.GoldFrom, f.Gold, notes)
	if err != nil {
		return nil, err
	}
	defer gold.Close()
	to := &counting{Scorer: score.New(score.Options{Draws: -1})}
	progress := c.NewProgress("dial", "notes", 0)
	defer progress.End()
	if err := flow.InputError(pipeline.Run(ctx, gold, steps, flow.Watched{Sink: to, Progress: progress}, nil)); err != nil {
		return nil, err
	}
	at := &to.at
	m, _ := to.Report().Measure(score.MaskedEntities)
	at.Dial, at.Entities, at.Masked, at.EntityRecall = cfg.Inverse.Dial, m.Gold, m.Found, m.Recall
	at.WordRecall, at.WordPrecision, at.Lost = share(at.Found, at.Gold), share(at.Found, at.System), share(at.System-at.Found, at.Safe)
	return at, nil
}

func share(part, whole int64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// counting is a sink that counts words beside what a scorer counts.
type counting struct {
	*score.Scorer
	at Position
}

func (s *counting) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if b.Reason[i] != pipeline.Sound {
			continue
		}
		text, gold, system := b.Text.At(i), b.Gold.At(i), b.Spans.At(i)
		for _, t := range b.Tokens.At(i) {
			if !isWord(text[t.Start:t.End]) {
				continue
			}
			in, masked := covered(&gold, t), covered(&system, t)
			switch {
			case in && masked:
				s.at.Found++
				fallthrough
			case in:
				s.at.Gold++
			default:
				s.at.Safe++
			}
			if masked {
				s.at.System++
			}
		}
	}
	return s.Scorer.Put(b)
}

// covered tells whether a span shares a byte with the token, and drops the
// spans that end before it.
func covered(spans *[]pipeline.Span, t pipeline.Token) bool {
	for len(*spans) > 0 && (*spans)[0].End <= t.Start {
		*spans = (*spans)[1:]
	}
	return len(*spans) > 0 && (*spans)[0].Start < t.End
}

func isWord(form []byte) bool {
	for i := 0; i < len(form); {
		r, n := utf8.DecodeRune(form[i:])
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return true
		}
		i += n
	}
	return false
}
