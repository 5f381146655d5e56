package archive

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/lake"
	"github.com/velum-health/velum/stages/read/parquet"
)

// A folder may be a table of a lakehouse: its log says which of its files, and which of
// their rows, still count. Read as files they would bring back patients who were
// deleted, and rewritten notes twice. So what the log lists are the files of the
// archive, and its deleted rows are left out where they are read: nobody behind this
// package sees them. A unit's name has a digest of them, so that one with more deleted
// rows is another one.

// Table is a table of a lakehouse that the archive has.
type Table struct {
	*lake.Table
	Name string // below the archive
	Root string // where it lies, links followed
}

// ofTable is what a table says of a file of its.
type ofTable struct {
	*lake.File
	table  *lake.Table
	digest string             // of the rows that are deleted; "": none are
	whole  map[int64][2]int64 // First and Rows of units with the deleted rows, by From
}

// plannedTable is ofTable for another process.
type plannedTable struct {
	Names   input.ColumnNames
	Columns []lake.Column      `json:",omitempty"`
	Values  map[string]*string `json:",omitempty"`
	Deleted []byte             `json:",omitempty"`
	Digest  string             `json:",omitempty"`
	Whole   map[int64][2]int64 `json:",omitempty"`
}

func (t *ofTable) planned() *plannedTable {
	p := &plannedTable{Names: t.table.Names, Columns: t.table.Values, Values: t.Values, Digest: t.digest, Whole: t.whole}
	if t.digest != "" {
		p.Deleted, _ = t.Deleted.ToBytes() // into memory; without it no row could be told from a deleted one, and of refuses it
	}
	return p
}

// of is the inverse of planned.
func (p *plannedTable) of() (*ofTable, error) {
	t := &ofTable{File: &lake.File{Values: p.Values}, table: &lake.Table{Names: p.Names, Values: p.Columns}, digest: p.Digest, whole: p.Whole}
	if p.Digest == "" {
		return t, nil
	}
	t.Deleted = roaring64.New()
	if err := t.Deleted.UnmarshalBinary(p.Deleted); err != nil || digestOf(t.File) != p.Digest {
		return nil, errPlan
	}
	return t, nil
}

// InsideTable refuses what is a table or lies in one: only a run reads tables, and all
// of them.
func InsideTable(in string) error { return inTable(in, true) }

func inTable(in string, itself bool) error {
	full, err := filepath.Abs(in)
	if real, bad := filepath.EvalSymlinks(full); bad == nil {
		full = real
	}
	for dir := full; err == nil; dir = filepath.Dir(dir) {
		format := lake.FormatOf(dir)
		switch {
		case format == "" || dir == full && !itself:
		case dir == full:
			return &input.Error{Path: dir, Cause: "is a table of " + format + ": its files hold rows that were deleted or rewritten since",
				Remedy: "velum run --in reads tables of Delta Lake and Iceberg; here, write what the table says into a file of Parquet and give that"}
		default:
			return &input.Error{Path: dir, Cause: "is a table of " + format + ": its files hold rows that were deleted or rewritten since, and only its log says which",
				Remedy: "give the folder of the table itself, or write what it says into a file of Parquet"}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return nil
}

// table adds the files of a table.
func (a *Archive) table(root, dir string) error {
	open := lake.Open
	if a.fence != nil {
		open = a.fence.Table
	}
	t, err := open(dir, a.o.Version)
	if err != nil {
		return err
	}
	name := filepath.Base(spelled(dir))
	if rel, err := filepath.Rel(root, dir); err == nil && rel != "." {
		name = rel
	}
	real, err := filepath.EvalSymlinks(spelled(dir))
	if err != nil {
		return &input.Error{Path: dir, Cause: input.Cause(err), Remedy: "check its permissions"}
	}
	a.Tables = append(a.Tables, Table{t, input.PlainPath(filepath.ToSlash(name)), real})
	for i := range t.Files {
		f := &t.Files[i]
		path := filepath.Join(dir, f.Path)
		if real, err := filepath.EvalSymlinks(path); a.o.Only != nil && (err != nil || !a.o.Only[real]) {
			continue
		}
		folder, raw, err := below(root, path)
		if err != nil {
			return err
		}
		a.Files = append(a.Files, File{Path: path, Folder: folder, raw: raw, Bytes: f.Bytes, form: parquetForm, of: &ofTable{File: f, table: t, digest: digestOf(f)}})
	}
	return nil
}

// versioned checks that there is one table if a version is asked for.
func (a *Archive) versioned(inputs []string) error {
	if n := len(a.Tables); a.o.Version != "" && n != 1 {
		return &input.Error{Path: strings.Join(inputs, ", "), Cause: fmt.Sprintf("read.version names the version of one table, and there are %d", n), Remedy: "give --in the folder of one table, or leave read.version out"}
	}
	return nil
}

// digestOf is a digest of the rows of a file that are deleted.
func digestOf(f *lake.File) string {
	if f.Deleted == nil || f.Deleted.IsEmpty() {
		return ""
	}
	h := sha256.New()
	var row []byte
	for i := f.Deleted.Iterator(); i.HasNext(); {
		row = binary.AppendUvarint(row[:0], i.Next())
		h.Write(row)
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8])
}

// names are what a file calls its columns.
func (a *Archive) names(f *File) (n input.ColumnNames) {
	if f.of != nil {
		return f.of.table.Names
	}
	return a.o.Names
}

// fits tells why a file cannot be what its table says; "" if it can.
func (t *ofTable) fits(l *parquet.Layout) string {
	rows := rowsOf(l.Groups)
	if t.Rows >= 0 && rows != t.Rows {
		return fmt.Sprintf("it has %d rows, its table says %d", rows, t.Rows)
	}
	if t.digest != "" && t.Deleted.Maximum() >= uint64(rows) {
		return "its table deletes rows that it does not have"
	}
	for _, x := range l.Extra {
		if x.Missing && slices.Contains(t.table.Apart, x.Name) {
			return fmt.Sprintf("column %q has its values in the log of the table alone, which is not read; rewrite the file with its table", x.Name)
		}
	}
	return ""
}

// leaveOut takes the deleted rows out of the units of a file.
func (t *ofTable) leaveOut(units []commit.Unit) (rows int64) {
	if t.digest == "" {
		return 0
	}
	t.whole = map[int64][2]int64{}
	for i := range units {
		u := &units[i]
		t.whole[u.From] = [2]int64{u.First, u.Rows}
		n := t.DeletedIn(u.First, u.First+u.Rows)
		u.Rows, u.First, u.Without = u.Rows-n, u.First-t.DeletedIn(0, u.First), t.digest
		rows += n
	}
	return rows
}

// whole is a unit with the rows that are deleted, as the file has it.
func (f *File) whole(u *commit.Unit) *commit.Unit {
	if f.of == nil || f.of.digest == "" {
		return u
	}
	whole, of := *u, f.of.whole[u.From]
	whole.First, whole.Rows = of[0], of[1]
	return &whole
}

// Without is the digest of the rows of a unit that its table has deleted; "": none are.
func (a *Archive) Without(u *commit.Unit) string {
	if f := a.files[u.Input]; f != nil && f.of != nil {
		return f.of.digest
	}
	return ""
}

// living hands out the notes of a unit that are not deleted, numbered as if the others
// had never been. It is a pipeline.Source.
type living struct {
	UnitSource
	of    *ofTable
	batch pipeline.Batch
	row   int64 // of the next note
}

func (f *File) living(src UnitSource, u *commit.Unit, extra []pipeline.Column) UnitSource {
	if f.of == nil || f.of.digest == "" {
		return src
	}
	l := &living{UnitSource: src, of: f.of, row: u.First}
	input.ReadyColumns(&l.batch, extra)
	return l
}

// Next implements pipeline.Source.
func (l *living) Next(b *pipeline.Batch) error {
	for b.Len() == 0 {
		l.batch.Reset()
		if err := l.UnitSource.Next(&l.batch); err != nil {
			return err
		}
		b.First = l.row
		input.ReadyColumns(b, l.batch.Extra)
		for i := range l.batch.Len() {
			if !l.of.Deleted.Contains(uint64(l.batch.First) + uint64(i)) {
				appendNote(b, &l.batch, i)
			}
		}
		l.row += int64(b.Len())
	}
	return nil
}
