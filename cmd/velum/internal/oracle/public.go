package oracle

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/cmd/velum/internal/report"
	"github.com/velum-health/velum/pipeline"
)

// publicRows returns a digest of the public rows of each note of an output of
// one input file: of every kind of part, every column but those that number the
// notes. The one of a note that is in no public part is zero.
func publicRows(out string, notes int64) ([]xxh3.Uint128, error) {
	parts, err := partsOf(out)
	if err != nil {
		return nil, err
	}
	seen := make([]xxh3.Uint128, notes)
	for _, p := range parts {
		if filepath.Ext(p.Path) == ".parquet" {
			if err := addRows(seen, filepath.Join(out, filepath.FromSlash(p.Path)), p.Kind); err != nil {
				return nil, err
			}
		}
	}
	return seen, nil
}

// hiddenSpans returns the spans of each note of an output of one input file, in
// order, as its private tree has them.
func hiddenSpans(private string, notes int64) ([][]pipeline.Span, error) {
	parts, err := partsOf(private)
	if err != nil {
		return nil, err
	}
	found := make([][]pipeline.Span, notes)
	for _, p := range parts {
		if p.Kind != "original" {
			continue
		}
		rows, err := parquet.ReadFile[originalRow](filepath.Join(private, filepath.FromSlash(p.Path)))
		if err != nil {
			return nil, errors.New("a part of kind original cannot be read")
		}
		for _, r := range rows {
			c, err := pipeline.ParseCategory(r.Category)
			if err != nil || r.Row < 0 || r.Row >= notes {
				return nil, errors.New("a part of kind original has a row of no note or category")
			}
			found[r.Row] = append(found[r.Row], pipeline.Span{Start: r.Start, End: r.End, Category: c})
		}
	}
	return found, nil
}

// originalRow is what is needed of a row of the private table of spans.
type originalRow struct {
	Row      int64  `parquet:"row"`
	Start    int32  `parquet:"start"`
	End      int32  `parquet:"end"`
	Category string `parquet:"category"`
}

// addRows adds the rows of one part to the digests of their notes.
func addRows(seen []xxh3.Uint128, path, kind string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := parquet.NewReader(f)
	defer r.Close()
	names := r.Schema().Columns()
	at, id := column(names, "row"), column(names, "note_id")
	if at < 0 || id < 0 {
		return fmt.Errorf("a part of kind %s has no rows of notes", kind)
	}
	rows := make([]parquet.Row, 256)
	var line []byte
	for {
		n, err := r.ReadRows(rows)
		for _, row := range rows[:n] {
			note := int64(-1)
			line = append(line[:0], kind...)
			for _, v := range row {
				switch v.Column() {
				case at:
					note = v.Int64()
				case id:
				default:
					line = append(line, byte(v.Column()), byte(v.RepetitionLevel()), byte(v.DefinitionLevel()))
					line = fmt.Appendf(line, "%d:", len(v.Bytes()))
					line = append(line, v.Bytes()...)
				}
			}
			if note < 0 || note >= int64(len(seen)) {
				return fmt.Errorf("a part of kind %s has a row of no note", kind)
			}
			before := seen[note].Bytes()
			seen[note] = xxh3.Hash128(append(line, before[:]...))
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("a part of kind %s cannot be read", kind)
		}
	}
}

func column(names [][]string, name string) int {
	return slices.IndexFunc(names, func(c []string) bool { return len(c) == 1 && c[0] == name })
}

// publicTree is what is public of a run, by path: mode, size and digest of the
// content.
type publicTree map[string]string

// readPublicTree reads all files of a public tree, whatever the manifest says,
// and the metrics without what says when and how fast.
func readPublicTree(out, metrics string) (publicTree, error) {
	t := publicTree{}
	err := filepath.WalkDir(out, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		below, err := filepath.Rel(out, name)
		if err != nil || e.IsDir() {
			t[below] = info.Mode().String()
			return err
		}
		data, err := os.ReadFile(name)
		t[below] = fmt.Sprintf("%v %d %x", info.Mode(), len(data), xxh3.Hash128(data))
		return err
	})
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(metrics)
	t["velum.prom"] = string(report.Timeless(data))
	return t, err
}

// differs names the files in which two trees are not the same, those of other
// names by their folder.
func (t publicTree) differs(u publicTree) []string {
	var files []string
	for name, is := range t {
		if u[name] != is {
			files = append(files, cmp.Or(kindOfFile(name), name))
		}
	}
	for name := range u {
		if _, ok := t[name]; !ok {
			files = append(files, cmp.Or(kindOfFile(name), name))
		}
	}
	slices.Sort(files)
	return slices.Compact(files)
}

// kindOfFile is the folder of a part, whose own name differs with its content.
func kindOfFile(name string) string {
	kind, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	if kind == name {
		return ""
	}
	return kind + "/"
}
