package main

import (
	"encoding/json"
	"path/filepath"

	"github.com/velum-health/velum/pipeline"
)

// learnReport is report.json of learning: the turns without lists of files.
type learnReport struct {
	Schema string  `json:"schema"`
	Best   int     `json:"best_turn"`
	Turns  []*turn `json:"turns"`
}

// report writes report.json.
func (l *learning) report() error {
	data, err := json.MarshalIndent(learnReport{"velum.learn/1", l.best(0).Number, l.turns}, "", " ")
	if err != nil {
		return err
	}
	return pipeline.WriteFile(nil, filepath.Join(l.out, "report.json"), append(data, '\n'))
}
