package files

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/tagged"
)

// Tree is what a system said of notes, by id.
type Tree struct {
	Spans       map[string][]pipeline.Span
	Quarantined map[string]bool
}

// IsTree tells whether path is an output tree of `velum run`.
func IsTree(path string) bool {
	_, err := os.Stat(filepath.Join(path, "manifest.json"))
	return err == nil
}

// LoadTree reads what an output tree says of its notes: the spans in the notes
// as they were, and which notes are in quarantine. Both stand in the private
// tree beside it.
func LoadTree(dir string) (*Tree, error) {
	g := &Tree{Spans: map[string][]pipeline.Span{}, Quarantined: map[string]bool{}}
	private := commit.PrivateDir(dir)
	m, err := commit.ReadManifest(private)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Errorf(exit.Config, "put the private tree beside the output", "%s: is not there, and it has the spans in the notes as they were", private)
	}
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
