package main

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/velum-health/velum/pipeline"
)

// given is what a system said of notes, by id.
type given struct {
	spans       map[string][]pipeline.Span
	quarantined map[string]bool
}

// isTree tells whether path is an output tree of `velum run`.
func isTree(path string) bool {
	_, err := os.Stat(filepath.Join(path, "manifest.json"))
	return err == nil
}

// loadTree reads the spans of an output tree, and from the private tree, where
// it is beside it, which notes are in quarantine.
func loadTree(dir string) (*given, error) {
	g := &given{spans: map[string][]pipeline.Span{}, quarantined: map[string]bool{}}
	m, err := pipeline.ReadManifest(dir)
	if err != nil {
		return nil, err
	}
	for _, p := range partsOf(m, "spans") {
		if err := eachRow(filepath.Join(dir, p), g.addSpan); err != nil {
			return nil, err
		}
	}
	for _, spans := range g.spans {
		slices.SortFunc(spans, func(a, b pipeline.Span) int { return int(a.Start - b.Start) })
	}
	private := dir + ".private"
	m, err = pipeline.ReadManifest(private)
	if errors.Is(err, fs.ErrNotExist) {
		return g, nil
	}
	if err != nil {
		return nil, err
	}
	for _, p := range partsOf(m, "quarantine") {
		add := func(r quarantineRow) error { g.quarantined[r.ID] = true; return nil }
		if err := eachRow(filepath.Join(private, p), add); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// partsOf lists the paths of the parts of a kind.
func partsOf(m *pipeline.Manifest, kind string) (paths []string) {
	for _, u := range m.Units {
		for _, p := range u.Parts {
			if p.Kind == kind {
				paths = append(paths, filepath.FromSlash(p.Path))
			}
		}
	}
	return paths
}

type spanRow struct {
	ID       string  `parquet:"note_id"`
	Start    int32   `parquet:"start"`
	End      int32   `parquet:"end"`
	Category string  `parquet:"category"`
	Score    float32 `parquet:"score"`
}

type quarantineRow struct {
	ID string `parquet:"note_id"`
}

func (g *given) addSpan(r spanRow) error {
	c, err := pipeline.ParseCategory(r.Category)
	g.spans[r.ID] = append(g.spans[r.ID], pipeline.Span{Start: r.Start, End: r.End, Category: c, Score: r.Score})
	return err
}

// eachRow calls do for every row of a part of ours.
func eachRow[T any](path string, do func(T) error) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := parquet.NewGenericReader[T](f)
	defer r.Close()
	rows := make([]T, 1024)
	for {
		n, err := r.Read(rows)
		for _, row := range rows[:n] {
			if err := do(row); err != nil {
				return err
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return &pipeline.DamageError{Path: path, RowGroup: -1, Cause: "cannot be read"}
		}
	}
}
