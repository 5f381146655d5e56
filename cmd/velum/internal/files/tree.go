package files

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/tagged"
)

// Tree holds the spans that a system found in notes, by note id.
type Tree struct {
	Spans       map[string][]pipeline.Span
	Quarantined map[string]bool
}

// IsTree reports whether path is an output tree of `velum run`.
func IsTree(path string) bool {
	_, err := os.Stat(filepath.Join(path, "manifest.json"))
	return err == nil
}

// Private reads the manifest of the private tree beside an output.
func Private(out string) (dir string, m *commit.Manifest, err error) {
	dir = commit.PrivateDir(out)
	if m, err = commit.ReadManifest(dir); errors.Is(err, fs.ErrNotExist) {
		err = exit.Misconfiguredf("name an output of `velum run` with its private tree beside it", "%s has no manifest.json", dir)
	}
	return dir, m, err
}

// Part reads a part of a tree and checks its SHA-256 against the manifest.
func Part(dir string, p *commit.PartRecord) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(dir, p.Path))
	if err != nil {
		return nil, err
	}
	if fmt.Sprintf("%x", sha256.Sum256(data)) != p.SHA256 {
		return nil, &durable.IntegrityError{Path: p.Path, Cause: "is not what the run wrote"}
	}
	return data, nil
}

// Sample returns the audit sample of an output from its manifest, and the masked parts from which it was drawn.
func Sample(private string, m *commit.Manifest) (sample *commit.PartRecord, of *audit.Extent, err error) {
	for i := range m.Files {
		switch f := &m.Files[i]; {
		case f.Kind == "audit" && f.Private:
			sample = f
		case f.Kind == "extent" && f.Private:
			data, err := Part(private, f)
			if of = new(audit.Extent); err == nil && json.Unmarshal(data, of) != nil {
				err = &durable.IntegrityError{Path: f.Path, Cause: "is not what the run wrote"}
			}
			if err != nil {
				return nil, nil, err
			}
		}
	}
	if sample == nil || of == nil {
		return nil, nil, exit.Misconfiguredf("draw one: start the same run with --audit N", "%s has no sample", private)
	}
	return sample, of, nil
}

// LoadTree reads the original spans and the quarantined ids of an output from the private tree beside dir.
func LoadTree(dir string) (*Tree, error) {
	g := &Tree{Spans: map[string][]pipeline.Span{}, Quarantined: map[string]bool{}}
	private, m, err := Private(dir)
	if err != nil {
		return nil, err
	}
	if err := tagged.Rows(m, private, "original", g.addSpan); err != nil {
		return nil, err
	}
	for _, spans := range g.Spans {
		slices.SortFunc(spans, func(a, b pipeline.Span) int { return int(a.Start - b.Start) })
	}
	return g, tagged.Rows(m, private, "quarantine", func(r quarantineRow) error { g.Quarantined[r.ID] = true; return nil })
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

func (t *Tree) addSpan(r spanRow) error {
	c, err := pipeline.ParseCategory(r.Category)
	t.Spans[r.ID] = append(t.Spans[r.ID], pipeline.Span{Start: r.Start, End: r.End, Category: c, Score: r.Score})
	return err
}
