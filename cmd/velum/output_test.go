package main

import (
	"errors"
	"io/fs"

	"github.com/velum-health/velum/cmd/velum/internal/files"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/tagged"
)

// maskedRow is a row of masked/ as tests read it.
type maskedRow struct {
	ID   string `parquet:"note_id"`
	Row  int64  `parquet:"row"`
	Text string `parquet:"text"`
}

type reasonRow struct {
	Row    int64  `parquet:"row"`
	ID     string `parquet:"note_id"`
	Reason string `parquet:"reason"`
}

// writtenTree is what a run wrote, as found in the parts themselves.
type writtenTree struct {
	rows, masked, quarantined int64 // by the manifest
	maskedRows                int64
	text                      map[string]string // masked text by id
	reason                    map[string]string // of quarantined notes by id
	spans                     map[string][]pipeline.Span
}

func readTree(dir string) (*writtenTree, error) {
	t := &writtenTree{text: map[string]string{}, reason: map[string]string{}}
	m, err := commit.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	t.rows, t.masked, t.quarantined = m.Counts.Rows, m.Counts.Masked, m.Counts.Quarantined
	err = tagged.Rows(m, dir, "masked", func(r maskedRow) error {
		t.maskedRows++
		t.text[r.ID] = r.Text
		return nil
	})
	if err != nil {
		return nil, err
	}
	g, err := files.LoadTree(dir)
	if err != nil {
		return nil, err
	}
	t.spans = g.Spans
	m, err = commit.ReadManifest(dir + ".private")
	if errors.Is(err, fs.ErrNotExist) {
		return t, nil
	}
	if err != nil {
		return nil, err
	}
	return t, tagged.Rows(m, dir+".private", "quarantine", func(r reasonRow) error {
		t.reason[r.ID] = r.Reason
		return nil
	})
}
