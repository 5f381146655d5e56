package score

import (
	"context"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/flow"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/score"
)

// A position is the effect of a setting of inverse.dial on labelled notes. Words are tokens with a letter or digit;
// categories are ignored.
type position struct {
	Dial     float64 `json:"dial"`
	Entities int64   `json:"entities"`
	Masked   int64   `json:"entities_masked"` // whole
	Gold     int64   `json:"words_gold"`
	Found    int64   `json:"words_found"` // gold and masked
	System   int64   `json:"words_masked"`
	Safe     int64   `json:"words_safe"`        // not gold
	HIPAA    int64   `json:"words_hipaa"`       // gold of a category that has a name among HIPAA's 18 identifiers
	Legal    int64   `json:"words_hipaa_found"` // and masked

	EntityRecall  float64 `json:"masked_entities_recall"`
	WordRecall    float64 `json:"word_recall"`
	HIPAARecall   float64 `json:"hipaa_word_recall"` // what INV §5.1 counts: sex, kin and professions are no identifiers there
	WordPrecision float64 `json:"word_precision"`
	Lost          float64 `json:"safe_words_lost"` // share of the safe words that are masked
}

// dial measures what the position of the dial does to the gold notes.
func (f *Options) dial(ctx context.Context, c *console.Console, cfg *option.Config) error {
	p, err := flow.New(cfg)
	if err != nil {
		return err
	}
	hipaa, err := flow.IntoLabels("hipaa")
	if err != nil {
		return err
	}
	gold := f.gold(cfg)
	to := &counting{Scorer: score.New(score.Options{Draws: -1}), hipaa: hipaa}
	progress := c.NewProgress("dial", "notes", 0)
	defer progress.End()
	if err := gold.Tag(ctx, p, flow.Watched{Sink: to, Progress: progress}); err != nil {
		return err
	}
	at := &to.at
	m, _ := to.Report().Measure(score.MaskedEntities)
	at.Dial, at.Entities, at.Masked, at.EntityRecall = cfg.Inverse.Dial, m.Gold, m.Found, m.Recall
	at.WordRecall, at.WordPrecision, at.Lost = share(at.Found, at.Gold), share(at.Found, at.System), share(at.System-at.Found, at.Safe)
	at.HIPAARecall = share(at.Legal, at.HIPAA)
	if at.Entities == 0 {
		return exit.Errorf(exit.Nothing, "look at --gold and --from", "%s: no gold spans", f.Gold)
	}
	return c.Answer(map[string]any{"positions": []*position{at}}, "%5s %15s %11s %12s %14s %15s\n%5.2f %15.4f %11.4f %12.4f %14.4f %15.4f\n", "dial", "entities masked", "word recall", "HIPAA recall", "word precision", "safe words lost",
		at.Dial, at.EntityRecall, at.WordRecall, at.HIPAARecall, at.WordPrecision, at.Lost)
}

// gold are the labelled notes.
func (f *Options) gold(cfg *option.Config) *flow.Labelled {
	return &flow.Labelled{Paths: []string{f.Gold}, Format: f.GoldFrom, Config: cfg}
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
	hipaa func(pipeline.Category) pipeline.Category // None: no identifier of HIPAA's
	at    position
}

func (c *counting) Put(b *pipeline.Batch) error {
	for i := range b.Sound() {
		text, gold, system := b.Text.At(i), b.Gold.At(i), b.Spans.At(i)
		for _, t := range b.Tokens.At(i) {
			if !isWord(text[t.Start:t.End]) {
				continue
			}
			in, masked := covered(&gold, t), covered(&system, t)
			switch {
			case in && masked:
				c.at.Found++
				fallthrough
			case in:
				c.at.Gold++
				if c.hipaa(gold[0].Category) != pipeline.None {
					c.at.HIPAA++
					if masked {
						c.at.Legal++
					}
				}
			default:
				c.at.Safe++
			}
			if masked {
				c.at.System++
			}
		}
	}
	return c.Scorer.Put(b)
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
