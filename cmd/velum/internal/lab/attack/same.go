package attack

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/text"
)

// check refuses options that would mask differently from the extract, since an attack would then say nothing about it.
// A few options may differ, such as the table of known people.
func (p *planter) check(ctx context.Context, dir string) error {
	e, err := p.natural(ctx)
	if err != nil {
		return err
	}
	here := map[string]uint64{}
	for i := range e.Notes {
		here[string(p.Notes.ID.At(e.Notes[i].Row))] = xxh3.Hash(e.Notes[i].Text)
	}
	same, all := 0, 0
	err = eachRow(ctx, dir, "masked", func(id string, row map[string]string) error {
		if h, ok := here[id]; ok {
			if all++; h == xxh3.HashString(row["text"]) {
				same++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if 20*(all-same) > all {
		return exit.Misconfiguredf("give the configuration that it was made with, and the key",
			"%s was made with other options: %d of %d notes would be others", dir, all-same, all)
	}
	return nil
}

// eachRow hands out the rows of an extract's parts of one kind: the cells by the name of their column, in a map that is used
// again. A row without an id has the name of its part and its number for one, so that only its text joins it with others.
func eachRow(ctx context.Context, dir, kind string, do func(id string, row map[string]string) error) error {
	m, err := commit.ReadManifest(dir)
	if err != nil {
		return err
	}
	row := map[string]string{}
	for _, part := range m.Here() {
		if part.Kind != kind || path.Ext(part.Path) != ".parquet" {
			continue
		}
		var names []string
		err := read.EachRow(filepath.Join(dir, part.Path), text.Options{}, func(all []string) error {
			names = all
			return ctx.Err()
		}, func(n int64, cells []parquet.Cell) error {
			for _, name := range names {
				row[name] = ""
			}
			for _, c := range cells {
				row[names[c.Column]] = c.Text
			}
			return do(cmp.Or(row["note_id"], fmt.Sprintf("%s %d", path.Base(part.Path), n)), row)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// quasiOf leaves of a row of quasi/ the columns that are about people.
func quasiOf(row map[string]string) map[string]string {
	for _, name := range []string{"note_id", "row", "part"} {
		delete(row, name)
	}
	return row
}
