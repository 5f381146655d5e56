package main

import (
	"fmt"
	"os/exec"
	"strings"
)

// origins asks scripts/bench/origins whether nine in ten names of every origin
// are masked, at the default dial. One draw of 96 names says by chance which
// origins pass: four are taken together.
func (t *torture) origins() (string, error) {
	asks := t.path("origins")
	if text, err := exec.Command("go", "build", "-o", asks, "github.com/velum-health/velum/scripts/bench/origins").CombinedOutput(); err != nil {
		return "", fmt.Errorf("build origins: %w: %s", err, text)
	}
	const draws = 4
	said, err := exec.Command(asks, "-velum", t.velum, "-seed", fmt.Sprint(t.seed), "-draws", fmt.Sprint(draws), "-behind", "1").CombinedOutput()
	lines := strings.Split(strings.TrimSpace(string(said)), "\n")
	masked := "no figure"
	for _, line := range lines {
		if share, ok := strings.CutPrefix(line, "all "); ok {
			masked = strings.TrimSpace(share)
		}
	}
	if err != nil {
		err = fmt.Errorf("%w: %s", err, lines[len(lines)-1])
	}
	return fmt.Sprintf("%d names of each origin: %s masked", draws*96, masked), err
}
