package read

import (
	"math"
	"os"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// layout is what planning needs of a file's footer.
type layout struct {
	Groups  []groupSize
	Columns []columnType  // of the top level
	Extra   []extraColumn // that the options name
	Sums    bool          // pages have checksums
}

type groupSize struct{ Rows, Bytes int64 }

type columnType struct{ Name, Type string } // Type in the words of describe

type extraColumn struct {
	Name string // in the file
	shape
	Null    bool   // it is null throughout, so that its type says nothing
	Missing bool   // the file does not have it
	Remedy  string // then
}

// inspect reads the footer of a file and checks that it has the columns that
// the options name. Errors are those of NewParquet.
func inspect(path string, o *ParquetOptions) (*layout, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() // only read
	var l *layout
	err = fence(path, func() error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		f, err := readFooter(path, file, info.Size())
		if err != nil {
			return err
		}
		l, err = f.layout(o)
		return err
	})
	return l, err
}

func (f *footer) layout(o *ParquetOptions) (*layout, error) {
	l := new(layout)
	all := *o
	all.PatientID, all.Date, all.Center, all.Pass = "", "", "", nil
	b, err := f.bind(&all)
	if err != nil {
		return nil, err
	}
	for _, want := range o.extras() {
		c := extraColumn{Name: want.name}
		if len(f.named(want.name)) == 0 { // another may have it
			c.Missing, c.Remedy = true, f.missingRemedy(want.name, orderOf(want.kept))
		} else {
			x, err := f.bindExtra(want, nil)
			if err != nil {
				return nil, err
			}
			c.shape, c.Null = x.shape, f.columns[x.column].null()
			b.extra = append(b.extra, x)
		}
		l.Extra = append(l.Extra, c)
	}
	l.Sums = f.sums(b.columns())
	for i := range f.columns {
		l.Columns = append(l.Columns, columnType{plainColumn(f.columns[i].name), f.columns[i].describe()})
	}
	for _, g := range f.meta.RowGroups {
		l.Groups = append(l.Groups, groupSize{g.NumRows, g.TotalByteSize})
	}
	return l, nil
}

// check tells whether a layout can be worked with. It may come from a worker
// that a damaged file has broken.
func (l *layout) check(path string, o *ParquetOptions) error {
	rows := int64(0)
	for g, group := range l.Groups {
		if group.Rows < 0 || group.Rows > math.MaxInt64>>8-rows {
			return &commit.DamageError{Path: path, RowGroup: g, Cause: "the footer says a number of rows that cannot be"}
		}
		rows += group.Rows
		if group.Bytes < 0 || group.Bytes > math.MaxInt64>>8 {
			return &commit.DamageError{Path: path, RowGroup: g, Cause: "the footer says a size that cannot be"}
		}
	}
	for _, c := range l.Columns {
		if !plainName(c.Name, maxColumnName) || !plainName(c.Type, 1000) {
			// It may be anything of the file, and names of columns are logged.
			return &commit.DamageError{Path: path, RowGroup: -1, Cause: "the footer has a column whose name is no plain text"}
		}
	}
	extras := o.extras()
	if len(l.Extra) != len(extras) {
		return &commit.DamageError{Path: path, RowGroup: -1, Cause: "the footer has other columns than were asked for"}
	}
	for i, x := range l.Extra {
		if x.Name != extras[i].name || !plainName(x.Remedy, 100_000) || !x.sound(extras[i].kept) {
			return &commit.DamageError{Path: path, RowGroup: -1, Cause: "the footer has a column of no known kind"}
		}
	}
	return nil
}

// sound tells whether the column is of a kind that there is.
func (x *extraColumn) sound(kept bool) bool {
	if x.Missing || !kept {
		return x.Kind < pipeline.NestedColumn && len(x.Type) == 0
	}
	_, err := columnOf(x.shape)
	return err == nil
}
