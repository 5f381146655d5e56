package learn

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/lab/turns"
	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// draws learns with several seeds, each in a folder of its own, and reports
// their mean and spread.
func draws(ctx context.Context, c *console.Console, cfg *option.Config, f *Options) error {
	if f.Ask > 0 || len(f.Answers) > 0 || f.BackTo >= 0 {
		return exit.Errorf(exit.Config, "give the folder of one seed as --out, and no --draws", "--ask, --answers and --back-to are for one run of learning")
	}
	var all []*turns.Report
	var seeds []int
	for n := range cfg.Learn.Draws {
		one := *cfg
		one.Learn.Seed, one.Learn.Draws = cfg.Learn.Seed+n, 1
		l, err := learnOnce(ctx, c, &one, &Options{Out: filepath.Join(f.Out, fmt.Sprintf("seed-%d", one.Learn.Seed)), BackTo: -1})
		if err != nil {
			return fmt.Errorf("seed %d: %w", one.Learn.Seed, err)
		}
		all, seeds = append(all, l.learned()), append(seeds, one.Learn.Seed)
	}
	r := turns.Drawn(all, seeds)
	if err := r.Write(f.Out); err != nil {
		return err
	}
	if c.JSON {
		return json.NewEncoder(c.Out).Encode(map[string]any{"message_type": "summary", "draws": r.Draws, "mean": r.Mean})
	}
	_, err := c.Printf("%s\n", r.Sentence)
	return err
}
