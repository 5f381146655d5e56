package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// oracle asks velum about its own output, with both profiles: candidates are
// filled into hidden values and everything public is compared. No value may be
// singled out.
func (t *torture) oracle() (string, error) {
	if err := must(0, exec.Command(t.velum, "synth", "--quiet", "--notes", fmt.Sprint(t.times(3000, 300)), "--seed", fmt.Sprint(t.seed),
		"--split", "train", "--density", "3", "--out", t.path("oracle"), "--to", "archive")); err != nil {
		return "", err
	}
	var figures []string
	var failed error
	for _, profile := range []string{"primary-care", "meddocan"} {
		text, err := t.asked(profile)
		figures, failed = append(figures, profile+" "+text), errors.Join(failed, err)
	}
	return strings.Join(figures, "; "), failed
}

// asked is one attack with the options of a profile.
func (t *torture) asked(profile string) (string, error) {
	c := exec.Command(t.velum, "attack", "--quiet", "--json", "--only", "oracle", "--in", t.path("oracle"), "--work", t.path("oracle.work"), "--model", profile, "--seed", fmt.Sprint(t.seed),
		"--places", fmt.Sprint(t.times(20, 2)), "--candidates", fmt.Sprint(t.times(1600, 100)), "--separate", fmt.Sprint(t.times(10, 1)))
	said, _ := c.Output() // the exit code is looked at
	var found struct {
		Verdict  string `json:"verdict"`
		Sentence string `json:"sentence"`
	}
	if err := json.Unmarshal(said, &found); err != nil {
		return "", fmt.Errorf("%s: exit code %d and no finding", profile, c.ProcessState.ExitCode())
	}
	if found.Verdict != "passed" || c.ProcessState.ExitCode() != 0 {
		return found.Sentence, fmt.Errorf("%s: exit code %d", profile, c.ProcessState.ExitCode())
	}
	return found.Sentence, nil
}
