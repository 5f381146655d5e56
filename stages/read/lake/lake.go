// Package lake reads what a table of a lakehouse (Delta Lake, Apache Iceberg) says at
// one of its versions: which files hold its rows, which rows of these are deleted, what
// the columns are called in them, and which values stand in no file.
//
// In: the folder of a table on this machine, and a version. Out: a [Table]. The notes
// themselves are read by package parquet, as those of any other file.
//
// What a table asks of its readers and this package does not do is refused by name:
// half of what a table says brings back patients who were deleted. Sources: the Delta
// Transaction Log Protocol; the Apache Iceberg Table Spec, versions 1 to 3.
package lake

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/velum-health/velum/pipeline/guard"
	"github.com/velum-health/velum/stages/read/input"
)

// A Table is a table at one of its versions.
type Table struct {
	Dir     string // as it was given
	Format  string
	Version string // the number of Delta Lake, the snapshot's id of Iceberg
	Time    time.Time
	Files   []File            // in the order of their paths
	Names   input.ColumnNames // what columns of the files are called
	Values  []Column          // partition columns, which no file has
	Apart   []string          // columns that a file may lack though they have values, since folders have them
}

// fileOf is a File as it goes from one process to another.
type fileOf struct {
	Path    []byte // may be no UTF-8
	Bytes   int64
	Rows    int64
	Values  map[string]*string `json:",omitempty"`
	Deleted []byte             `json:",omitempty"`
}

// MarshalJSON implements json.Marshaler.
func (f File) MarshalJSON() (_ []byte, err error) {
	said := fileOf{[]byte(f.Path), f.Bytes, f.Rows, f.Values, nil}
	if f.Deleted != nil {
		said.Deleted, err = f.Deleted.ToBytes()
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(said)
}

// UnmarshalJSON implements json.Unmarshaler. Who sent it is not trusted.
func (f *File) UnmarshalJSON(data []byte) error {
	var said fileOf
	if json.Unmarshal(data, &said) != nil {
		return errFile
	}
	path, ok := inside(string(said.Path))
	if !ok || path != string(said.Path) {
		return errFile
	}
	*f = File{path, said.Bytes, said.Rows, said.Values, nil}
	if said.Deleted == nil {
		return nil
	}
	rows, err := parseBitmap(said.Deleted)
	f.Deleted = rows
	return err
}

var errFile = errors.New("is no file of a table")

// A File is a file of rows.
type File struct {
	Path    string // below the folder of the table, as the system calls it
	Bytes   int64  // by the table; -1: it does not say
	Rows    int64  // the same, deleted ones counted
	Values  map[string]*string
	Deleted *roaring64.Bitmap // rows, from 0; nil: none
}

// Column is a column of a table.
type Column struct {
	Name string
	Type string // of the table format: string, integer, long, date...
}

// The formats.
const (
	DeltaLake = "Delta Lake"
	Iceberg   = "Iceberg"
	Hudi      = "Hudi"
)

// FormatOf names the table format of a folder; "" if it is none.
func FormatOf(dir string) string {
	for log, name := range map[string]string{logFolder: DeltaLake, ".hoodie": Hudi} {
		if info, err := os.Stat(filepath.Join(dir, log)); err == nil && info.IsDir() {
			return name
		}
	}
	entries, err := os.ReadDir(filepath.Join(dir, metadataFolder))
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if _, is := metadataNumber(e.Name()); is || e.Name() == versionHint {
			return Iceberg
		}
	}
	return ""
}

// Open reads what the table in a folder says. version is empty for the newest, the
// version or id of a snapshot, a branch or tag of Iceberg, or a time. Errors are
// *input.Error; they quote nothing of a file but names.
func Open(dir, version string) (t *Table, err error) {
	format := FormatOf(dir)
	if guard.Note(func() {
		switch format {
		case DeltaLake:
			t, err = openDelta(dir, version)
		case Iceberg:
			t, err = openIceberg(dir, version)
		default:
			err = &input.Error{Path: dir, Cause: "is a table of " + format + ", which is not read", Remedy: "write what the table says now into a file of Parquet and give that"}
		}
	}) {
		err = &input.Error{Path: dir, Cause: "its log cannot be decoded", Remedy: Restore}
	}
	if err != nil {
		return nil, err
	}
	t.Dir, t.Format = dir, format
	slices.SortFunc(t.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for i := 1; i < len(t.Files); i++ {
		if t.Files[i].Path == t.Files[i-1].Path {
			return nil, t.broken(t.Files[i].Path, "is listed twice")
		}
	}
	return t, t.check()
}

// Restore is what may be done about a table that is not sound.
const Restore = "restore the table, or write what it says into a file of Parquet with the program that wrote it, and give that"

// broken is an error about a file of the table.
func (t *Table) broken(path, cause string) error {
	return &input.Error{Path: filepath.Join(t.Dir, path), Cause: fmt.Sprintf("%s of the %s table says otherwise: the file %s", t.at(), t.Format, cause), Remedy: Restore}
}

// at names the version.
func (t *Table) at() string {
	if t.Format == Iceberg {
		return "snapshot " + t.Version
	}
	return "version " + t.Version
}

// String names the version and its time.
func (t *Table) String() string {
	return fmt.Sprintf("%s, %s of %s", t.Format, t.at(), t.Time.UTC().Format("2006-01-02 15:04:05"))
}

// check looks whether the files are there, as long as the table says.
func (t *Table) check() error {
	for i := range t.Files {
		f := &t.Files[i]
		info, err := os.Stat(filepath.Join(t.Dir, f.Path))
		switch {
		case err != nil:
			return &input.Error{Path: filepath.Join(t.Dir, f.Path), Cause: fmt.Sprintf("%s, and %s of the %s table has rows in it", input.Cause(err), t.at(), t.Format),
				Remedy: "restore the file; if it was vacuumed or its snapshot expired, read a newer version"}
		case !info.Mode().IsRegular():
			return t.broken(f.Path, "is no file")
		case f.Bytes >= 0 && info.Size() != f.Bytes:
			return t.broken(f.Path, fmt.Sprintf("has %d bytes and not %d", info.Size(), f.Bytes))
		}
	}
	return nil
}

// DeletedRows counts the rows of its files that are deleted.
func (t *Table) DeletedRows() (n int64) {
	for i := range t.Files {
		if d := t.Files[i].Deleted; d != nil {
			n += int64(d.GetCardinality())
		}
	}
	return n
}

// DeletedIn counts the deleted rows of the range [from, to).
func (f *File) DeletedIn(from, to int64) int64 {
	if f.Deleted == nil || to <= from {
		return 0
	}
	n := f.Deleted.Rank(uint64(to - 1))
	if from > 0 {
		n -= f.Deleted.Rank(uint64(from - 1))
	}
	return int64(n)
}

// layouts are how times may be written; without a zone they are UTC.
var layouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04", "2006-01-02T15:04"}

// asOf reads a time. A day is meant to its end.
func asOf(version string) (t time.Time, ok bool) {
	if day, err := time.Parse(time.DateOnly, version); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Nanosecond), true
	}
	for _, layout := range layouts {
		if t, err := time.Parse(layout, version); err == nil {
			return t, true
		}
	}
	return t, false
}

// inside returns the path below the folder of a table; ok: it is one.
func inside(name string) (path string, ok bool) {
	path = filepath.Clean(filepath.FromSlash(name))
	return path, filepath.IsLocal(path) && path != "." && !strings.Contains(name, "://")
}

// Unescaped undoes the %2F of URIs and of names of folders, if that gives text.
func Unescaped(s string) string {
	var b strings.Builder
	for at := 0; at < len(s); at++ {
		if s[at] == '%' && at+2 < len(s) {
			if c, err := strconv.ParseUint(s[at+1:at+3], 16, 8); err == nil {
				b.WriteByte(byte(c))
				at += 2
				continue
			}
		}
		b.WriteByte(s[at])
	}
	if !utf8.ValidString(b.String()) {
		return s
	}
	return b.String()
}

// withoutScheme takes file: off a path of this machine.
func withoutScheme(name string) string {
	if rest, is := strings.CutPrefix(name, "file:"); is {
		return "/" + strings.TrimLeft(rest, "/")
	}
	return name
}
