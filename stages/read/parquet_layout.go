package read

import (
	"math"
	"os"
	"unicode"
	"unicode/utf8"

	"github.com/velum-health/velum/pipeline"
)

// layout is what planning needs of a file's footer.
type layout struct {
	Groups  []groupSize
	Columns []columnType  // of the top level
	Extra   []extraColumn // that the options name
}

type groupSize struct{ Rows, Bytes int64 }

type columnType struct{ Name, Type string } // Type in the words of describe

type extraColumn struct {
	Name    string // in the file
	Kind    pipeline.ColumnKind
	Missing bool   // the file does not have it
	Remedy  string // then
}

// inspect reads the footer of a file and checks that it has the columns that
// the options name. Errors are those of NewParquet.
func inspect(path string, o *ParquetOptions) (*layout, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	var l layout
	return &l, fence(path, func() error {
		pf, err := openFooter(path, f)
		if err != nil {
			return err
		}
		all := *o
		all.kinds = map[string]pipeline.ColumnKind{}
		for _, x := range all.extras() {
			all.kinds[x.name] = pipeline.BytesColumn // a file may lack it, if another has it
		}
		_, _, extra, err := bind(path, pf.Schema(), &all)
		if err != nil {
			return err
		}
		for _, x := range extra {
			c := extraColumn{Name: x.name, Kind: x.kind}
			if x.leaf < 0 {
				c.Missing, c.Remedy = true, missingRemedy(pf.Schema(), x.name)
			}
			l.Extra = append(l.Extra, c)
		}
		for _, field := range pf.Schema().Fields() {
			l.Columns = append(l.Columns, columnType{field.Name(), describe(field)})
		}
		for _, g := range pf.Metadata().RowGroups {
			l.Groups = append(l.Groups, groupSize{g.NumRows, g.TotalByteSize})
		}
		return nil
	})
}

// check tells whether a layout can be worked with. It may come from a worker
// that a damaged file has broken.
func (l *layout) check(path string, o *ParquetOptions) error {
	rows := int64(0)
	for g, group := range l.Groups {
		if group.Rows < 0 || group.Rows > math.MaxInt64>>8-rows {
			return &pipeline.DamageError{Path: path, RowGroup: g, Cause: "the footer says a number of rows that cannot be"}
		}
		rows += group.Rows
		if group.Bytes < 0 || group.Bytes > math.MaxInt64>>8 {
			return &pipeline.DamageError{Path: path, RowGroup: g, Cause: "the footer says a size that cannot be"}
		}
	}
	for _, c := range l.Columns {
		if !plainName(c.Name, maxColumnName) || !plainName(c.Type, 1000) {
			// It may be anything of the file, and names of columns are logged.
			return &pipeline.DamageError{Path: path, RowGroup: -1, Cause: "the footer has a column whose name is no plain text"}
		}
	}
	extras := o.extras()
	if len(l.Extra) != len(extras) {
		return &pipeline.DamageError{Path: path, RowGroup: -1, Cause: "the footer has other columns than were asked for"}
	}
	for i, x := range l.Extra {
		if x.Name != extras[i].name || x.Kind > pipeline.TimestampColumn || !plainName(x.Remedy, 100_000) {
			return &pipeline.DamageError{Path: path, RowGroup: -1, Cause: "the footer has a column of no known kind"}
		}
	}
	return nil
}

// maxColumnName is the most bytes of the name of a column.
const maxColumnName = 256

// plainName tells whether a string may stand in a log line.
func plainName(s string, most int) bool {
	if len(s) > most || !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if unicode.IsControl(r) {
			return false
		}
	}
	return true
}
