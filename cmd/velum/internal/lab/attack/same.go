package attack

import (
	"context"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// check refuses options that would write other notes than the extract has: an attack on
// those would say nothing of it. A few may differ, since nobody knows who is known.
func (p *planter) check(ctx context.Context, dir string) error {
	m, err := commit.ReadManifest(dir)
	if err != nil {
		return err
	}
	e, err := p.natural(ctx)
	if err != nil {
		return err
	}
	here := map[string]uint64{}
	for i := range e.Notes {
		here[string(p.Notes.ID.At(e.Notes[i].Row))] = xxh3.Hash(e.Notes[i].Text)
	}
	same, all := 0, 0
	for _, part := range m.Here() {
		if part.Kind != "masked" || filepath.Ext(part.Path) != ".parquet" {
			continue
		}
		id, words := -1, -1
		err := read.EachRow(filepath.Join(dir, filepath.FromSlash(part.Path)), text.Options{}, func(names []string) error {
			for k, name := range names {
				switch name {
				case "note_id":
					id = k
				case "text":
					words = k
				}
			}
			return nil
		}, func(_ int64, cells []parquet.Cell) error {
			key, note := "", ""
			for _, c := range cells {
				switch c.Column {
				case id:
					key = c.Text
				case words:
					note = c.Text
				}
			}
			if h, ok := here[key]; ok && key != "" {
				if all++; h == xxh3.HashString(note) {
					same++
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if 20*(all-same) > all {
		return exit.Misconfiguredf("give the configuration that it was made with, and the key",
			"%s was made with other options: %d of %d notes would be others", dir, all-same, all)
	}
	return nil
}
