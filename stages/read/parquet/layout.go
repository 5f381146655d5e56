package parquet

import (
	"math"
	"os"
	"slices"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
)

// Layout holds the part of a footer that planning needs.
type Layout struct {
	Groups  []GroupSize
	Columns []ColumnType  // that the options name
	Extra   []extraColumn // that the options name
	Sums    bool          // pages have checksums
}

type GroupSize struct{ Rows, Bytes int64 }

type ColumnType struct{ Name, Type string } // Type in the words of describe

type extraColumn struct {
	Name string // in the file
	input.Shape
	Null    bool   // it is null throughout, so that its type says nothing
	Missing bool   // the file does not have it
	Remedy  string // then
}

// Inspect reads the footer of a file and checks that it has the columns in the options. Errors are those of New.
func Inspect(path string, o *input.Options) (l *Layout, err error) {
	err = readFooterOf(path, func(f *Footer) error {
		f.rename(o.Names)
		l, err = f.layout(o)
		return err
	})
	return l, err
}

func (f *Footer) layout(o *input.Options) (*Layout, error) {
	l := new(Layout)
	all := *o
	all.PatientID, all.Date, all.Center, all.Pass = "", "", "", nil
	b, err := f.bind(&all)
	if err != nil {
		return nil, err
	}
	for _, want := range o.Extras() {
		c := extraColumn{Name: want.Name}
		if len(f.Named(want.Name)) == 0 { // another may have it
			c.Missing, c.Remedy = true, f.missingRemedy(want.Name, input.OrderOf(want.Kept))
		} else {
			x, err := f.bindExtra(want, nil)
			if err != nil {
				return nil, err
			}
			c.Shape, c.Null = x.Shape, null(&f.Columns[x.column])
			b.extra = append(b.extra, x)
		}
		l.Extra = append(l.Extra, c)
	}
	l.Sums = f.sums(b.columns())
	wanted := o.Fields()
	for _, c := range f.types() {
		if slices.Contains(wanted, c.Name) {
			l.Columns = append(l.Columns, c)
		}
	}
	for _, g := range f.Meta.RowGroups {
		l.Groups = append(l.Groups, GroupSize{g.NumRows, g.TotalByteSize})
	}
	return l, nil
}

// types are the columns of the top level.
func (f *Footer) types() (all []ColumnType) {
	for i := range f.Columns {
		all = append(all, ColumnType{input.PlainColumn(f.Columns[i].Name), describe(&f.Columns[i])})
	}
	return all
}

// Types returns the top-level columns of a file. Errors are those of New.
func Types(path string) (all []ColumnType, err error) {
	err = readFooterOf(path, func(f *Footer) error {
		all = f.types()
		return nil
	})
	return all, err
}

// Says tells whether the footer of a file says something under a key. One that cannot be read says nothing.
func Says(path, key string) (says bool) {
	err := readFooterOf(path, func(f *Footer) error {
		_, says = f.Lookup(key)
		return nil
	})
	return err == nil && says
}

func readFooterOf(path string, do func(*Footer) error) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() // only read
	return Guard(path, func() error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		f, err := ReadFooter(path, file, info.Size())
		if err != nil {
			return err
		}
		return do(f)
	})
}

// Check checks the consistency of a layout, which may come from a worker corrupted by a damaged file.
func (l *Layout) Check(path string, o *input.Options) error {
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
		if !input.PlainName(c.Name, input.MaxColumnName) || !input.PlainName(c.Type, 1000) {
			// It may be anything of the file, and names of columns are logged.
			return input.Damage(path, "the footer has a column whose name is no plain text")
		}
	}
	extras := o.Extras()
	if len(l.Extra) != len(extras) {
		return input.Damage(path, "the footer has other columns than were asked for")
	}
	for i, x := range l.Extra {
		if x.Name != extras[i].Name || !input.PlainName(x.Remedy, 100_000) || !x.sound(extras[i].Kept) {
			return input.Damage(path, "the footer has a column of no known kind")
		}
	}
	return nil
}

// sound tells whether the column is of a kind that there is.
func (e *extraColumn) sound(kept bool) bool {
	if e.Missing || !kept {
		return e.Kind < pipeline.NestedColumn && len(e.Type) == 0
	}
	_, err := columnOf(e.Shape)
	return err == nil
}
