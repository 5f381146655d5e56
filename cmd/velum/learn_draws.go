package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// draws learns with several seeds, each in a folder of its own, and reports
// their mean and spread.
func (a *app) draws(ctx context.Context, cfg *Config, f *learnFlags) error {
	if f.ask > 0 || len(f.answers) > 0 || f.backTo >= 0 {
		return exitf(exitConfig, "give the folder of one seed as --out, and no --draws", "--ask, --answers and --back-to are for one run of learning")
	}
	var all []*learnReport
	var seeds []int
	for n := range cfg.Learn.Draws {
		c := *cfg
		c.Learn.Seed, c.Learn.Draws = cfg.Learn.Seed+n, 1
		l, err := a.learnOnce(ctx, &c, &learnFlags{out: filepath.Join(f.out, fmt.Sprintf("seed-%d", c.Learn.Seed)), backTo: -1})
		if err != nil {
			return fmt.Errorf("seed %d: %w", c.Learn.Seed, err)
		}
		all, seeds = append(all, l.learned()), append(seeds, c.Learn.Seed)
	}
	r := drawn(all, seeds)
	if err := r.write(f.out); err != nil {
		return err
	}
	if a.json {
		return json.NewEncoder(a.out).Encode(map[string]any{"message_type": "summary", "draws": r.Draws, "mean": r.Mean})
	}
	_, err := fmt.Fprintln(a.out, r.Sentence)
	return err
}
