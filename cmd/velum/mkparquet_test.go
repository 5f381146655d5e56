package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/rogpeppe/go-internal/testscript"
)

// row is a note as a hospital exports it.
type row struct {
	ID   string  `parquet:"note_id"`
	Text *string `parquet:"text,optional"`
}

func rowOf(i int, text string) row { return row{strconv.Itoa(i), &text} }

// soundNotes are invented notes; one in three names a person.
func soundNotes(n int) (rows []row) {
	texts := []string{
		"Control de TA 130/80, refiere tos desde hace 3 días.",
		"Acude con su hija Dolors Ferrer Puig, tel 612345678.",
		"Pendent d'analítica, tornarà la setmana vinent.",
	}
	for i := range n {
		rows = append(rows, rowOf(i, texts[i%len(texts)]))
	}
	return rows
}

// parquetFiles are the files that `mkparquet KIND FILE` makes.
var parquetFiles = map[string]func(name string) error{
	"good":  func(name string) error { return parquet.WriteFile(name, soundNotes(6)) },
	"many":  func(name string) error { return writeGroups(name, soundNotes(30_000), 10_000) },
	"none":  func(name string) error { return parquet.WriteFile(name, []row{}) },
	"empty": func(name string) error { return os.WriteFile(name, nil, 0o600) },
	"missing": func(name string) error {
		return parquet.WriteFile(name, []struct {
			ID   string `parquet:"note_id"`
			Text string `parquet:"texto"`
		}{{"1", "tos"}})
	},
	"noid": func(name string) error {
		return parquet.WriteFile(name, []struct {
			ID   string `parquet:"noteid"`
			Text string `parquet:"text"`
		}{{"1", "tos"}})
	},
	"type": func(name string) error {
		return parquet.WriteFile(name, []struct {
			ID   string `parquet:"note_id"`
			Text int64  `parquet:"text"`
		}{{"1", 2}})
	},
	"nested": func(name string) error {
		type body struct {
			Value string `parquet:"value"`
		}
		return parquet.WriteFile(name, []struct {
			ID   string `parquet:"note_id"`
			Text body   `parquet:"text"`
		}{{"1", body{"tos"}}})
	},
	"list": func(name string) error {
		return parquet.WriteFile(name, []struct {
			ID   string   `parquet:"note_id"`
			Text []string `parquet:"text"`
		}{{"1", []string{"tos"}}})
	},
	"nulls": func(name string) error {
		rows := soundNotes(4)
		rows[1].Text = nil
		rows[2] = rowOf(2, "")
		return parquet.WriteFile(name, rows)
	},
	"encoding": func(name string) error {
		rows := soundNotes(4)
		rows[1] = rowOf(1, "caf\xe9 con Dolors Ferrer") // Latin-1
		rows[2] = rowOf(2, "tos \xed\xa0\x80")          // a lone surrogate
		return parquet.WriteFile(name, rows)
	},
	"huge": func(name string) error {
		rows := soundNotes(4)
		rows[2] = rowOf(2, strings.Repeat("acude con Dolors Ferrer ", 100_000_000/24))
		return parquet.WriteFile(name, rows, parquet.SkipPageBounds("text"), parquet.Compression(&parquet.Zstd))
	},
	"truncated": func(name string) error {
		if err := parquet.WriteFile(name, soundNotes(2000)); err != nil {
			return err
		}
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		return os.Truncate(name, info.Size()/2)
	},
	// the pages of the second of three row groups are overwritten
	"damaged": func(name string) error {
		if err := writeGroups(name, soundNotes(30_000), 10_000); err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		second := len(data) / 3
		for i := range 2000 {
			data[second+i] ^= 0x5A
		}
		return os.WriteFile(name, data, 0o600)
	},
}

// writeGroups writes row groups of so many rows, each with its own content.
func writeGroups(name string, rows []row, group int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	w := parquet.NewGenericWriter[row](f, parquet.MaxRowsPerRowGroup(int64(group)))
	for i := range rows {
		text := fmt.Sprintf("%s (%d)", *rows[i].Text, i/group*7919+i)
		rows[i].Text = &text
	}
	if _, err := w.Write(rows); err != nil {
		return err
	}
	return w.Close()
}

func mkparquet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || parquetFiles[args[0]] == nil {
		ts.Fatalf("usage: mkparquet KIND FILE")
	}
	ts.Check(parquetFiles[args[0]](ts.MkAbs(args[1])))
}

// noteCount checks what the manifests of a tree say: rows, masked, quarantined.
func noteCount(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: counts DIR ROWS MASKED QUARANTINED")
	}
	t, err := readTree(ts.MkAbs(args[0]))
	ts.Check(err)
	if got, want := fmt.Sprint(t.rows, t.masked, t.quarantined), strings.Join(args[1:], " "); got != want {
		ts.Fatalf("manifest counts %s, want %s", got, want)
	}
	if t.maskedRows != t.masked {
		ts.Fatalf("%d rows in masked/, the manifest says %d", t.maskedRows, t.masked)
	}
}

func TestMkparquet(t *testing.T) {
	for kind, do := range parquetFiles {
		if kind == "huge" {
			continue
		}
		if err := do(t.TempDir() + "/x.parquet"); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// rowKey is what every row of both trees has.
type rowKey struct {
	Part string `parquet:"part"`
	Row  int64  `parquet:"row"`
}

// quarantined compares the quarantine of an output with a file of lines: row, reason, line,
// byte and cause.
func quarantined(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: quarantined DIR FILE")
	}
	parts, err := filepath.Glob(filepath.Join(ts.MkAbs(args[0])+".private", "quarantine", "*.parquet"))
	ts.Check(err)
	got := ""
	for _, name := range parts {
		rows, err := parquet.ReadFile[struct {
			Row    int64  `parquet:"row"`
			Reason string `parquet:"reason"`
			Line   int64  `parquet:"line"`
			Byte   int64  `parquet:"byte"`
			Cause  string `parquet:"cause"`
		}](name)
		ts.Check(err)
		for _, r := range rows {
			got += fmt.Sprintln(r.Row, r.Reason, r.Line, r.Byte, r.Cause)
		}
	}
	if want := ts.ReadFile(args[1]); got != want {
		ts.Fatalf("the quarantine has\n%swant\n%s", got, want)
	}
}

// distinctRows checks that the masked notes of an output are so many, that part and
// row tell them apart, and that the rows of all other parts can be joined by them.
func distinctRows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: distinct DIR NOTES")
	}
	kinds := map[string][]rowKey{}
	for _, tree := range []string{"", ".private"} {
		root := ts.MkAbs(args[0]) + tree
		ts.Check(filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(name) != ".parquet" {
				return err
			}
			rows, err := parquet.ReadFile[rowKey](name)
			rel, _ := filepath.Rel(root, name)
			kind, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
			kinds[kind] = append(kinds[kind], rows...)
			return err
		}))
	}
	known := map[rowKey]bool{}
	for _, kind := range []string{"masked", "quarantine"} {
		for _, k := range kinds[kind] {
			if known[k] || k.Part == "" {
				ts.Fatalf("part %q, row %d comes twice", k.Part, k.Row)
			}
			known[k] = true
		}
	}
	if got := fmt.Sprint(len(kinds["masked"])); got != args[1] {
		ts.Fatalf("%s masked notes, want %s", got, args[1])
	}
	for kind, rows := range kinds {
		for _, k := range rows {
			if !known[k] {
				ts.Fatalf("%s: part %q, row %d is of no note", kind, k.Part, k.Row)
			}
		}
	}
}
