package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// origins asks scripts/bench/origins whether nine in ten names of every origin
// are masked at the default dial, and whether an origin lies further than five points
// under Spanish (primary-care). One draw of 96 names says by chance which origins
// pass: four are taken together. meddocan learned from reports, and not yet from
// names that were drawn anew: its figure is shown and not judged.
func (t *torture) origins() (string, error) {
	asks := t.path("origins")
	if text, err := exec.Command("go", "build", "-o", asks, "github.com/velum-health/velum/scripts/bench/origins").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build origins: %w: %s", err, text)
	}
	const draws = 4
	figures := fmt.Sprintf("%d names of each origin masked:", draws*96)
	for _, of := range []struct{ profile, behind string }{{"primary-care", "0.05"}, {"meddocan", "1"}} {
		said, err := exec.Command(asks, "-velum", t.velum, "-model", of.profile, "-profile", of.profile, "-seed", fmt.Sprint(t.seed), "-draws", fmt.Sprint(draws), "-behind", of.behind).CombinedOutput()
		lines := strings.Split(strings.TrimSpace(string(said)), "\n")
		for _, line := range lines {
			if share, ok := strings.CutPrefix(line, "all "); ok {
				figures += " " + strings.TrimSpace(share) + " " + of.profile
			}
		}
		if err != nil && of.profile != "meddocan" {
			return figures, fmt.Errorf("%s: %w: %s", of.profile, err, lines[len(lines)-1])
		}
	}
	return figures, nil
}
