package lake

import (
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline/guard"
	"github.com/velum-health/velum/stages/read/input"
)

// leaf is a column of a Parquet file that has values.
type leaf struct {
	path    []string
	id      int32 // of its field; 0: none
	element format.SchemaElement
}

// parquetFile is a small file of Parquet that belongs to a table and is no file of notes.
type parquetFile struct {
	file   *os.File
	groups []parquet.RowGroup
	leaves []leaf
}

func undecoded(path string) error {
	return &input.Error{Path: path, Cause: "cannot be decoded as Parquet", Remedy: Restore}
}

// withParquet opens a file for do, and takes a panic of the library for damage.
func withParquet(path string, do func(*parquetFile) error) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return &input.Error{Path: path, Cause: input.Cause(err), Remedy: Restore}
	}
	defer file.Close() // only read
	err = undecoded(path)
	guard.Note(func() {
		info, bad := file.Stat()
		if bad != nil {
			return
		}
		p, bad := parquet.OpenFile(file, info.Size(), parquet.SkipBloomFilters(true))
		if bad != nil {
			return
		}
		f := &parquetFile{file: file, groups: p.RowGroups()}
		for _, e := range p.Metadata().Schema {
			if e.Type.Valid {
				f.leaves = append(f.leaves, leaf{id: e.FieldID, element: e})
			}
		}
		columns := p.Schema().Columns()
		if len(columns) != len(f.leaves) {
			return
		}
		for i := range columns {
			f.leaves[i].path = columns[i]
		}
		err = do(f)
	})
	return err
}

// rows calls do for every row. It is valid until the next.
func (f *parquetFile) rows(do func(parquet.Row) error) error {
	buffer := make([]parquet.Row, 256)
	for _, group := range f.groups {
		rows := group.Rows()
		for {
			n, err := rows.ReadRows(buffer)
			for _, row := range buffer[:n] {
				if err := do(row); err != nil {
					rows.Close()
					return err
				}
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				rows.Close()
				return undecoded(f.file.Name())
			}
		}
		if rows.Close() != nil {
			return undecoded(f.file.Name())
		}
	}
	return nil
}

// checkpoint takes over what a checkpoint says: files, protocol and schema, in Parquet
// or (of version 2) in JSON, and in side-cars of it.
func (d *deltaLog) checkpoint(path string) error {
	var sidecars []string
	take := func(a *action) error {
		d.settings(a)
		if a.Add != nil {
			d.add(a.Add)
		}
		if a.Sidecar != nil {
			sidecars = append(sidecars, Unescaped(a.Sidecar.Path))
		}
		return nil
	}
	err := eachCheckpointed(path, take)
	for _, name := range sidecars {
		if err == nil {
			err = eachCheckpointed(filepath.Join(filepath.Dir(path), "_sidecars", filepath.Base(name)), take)
		}
	}
	return err
}

func eachCheckpointed(path string, take func(*action) error) error {
	if strings.HasSuffix(path, ".json") {
		return eachAction(path, take)
	}
	return withParquet(path, func(f *parquetFile) error {
		names := make([]string, len(f.leaves))
		for i, l := range f.leaves {
			names[i] = cellName(l.path)
		}
		return f.rows(func(row parquet.Row) error {
			c := cells{}
			for _, v := range row {
				if name := names[v.Column()]; name != "" {
					c.add(name, v)
				}
			}
			return take(c.action())
		})
	})
}

// cells are the values of a row of a checkpoint; nil: null.
type cells map[string][]*string

// wantedCells are the columns of a checkpoint that say what a table is, and whether
// they have others below them.
var wantedCells = map[string]bool{
	"add.path": false, "add.size": false, "add.stats": false, "add.partitionValues": true, "add.deletionVector": true,
	"protocol.minReaderVersion": false, "protocol.readerFeatures": false,
	"metaData.schemaString": false, "metaData.partitionColumns": false, "metaData.configuration": true, "metaData.format": true, "sidecar.path": false,
}

// cellName is how a column is called in cells; "" if nobody wants it. What stands in
// the middle of its path is called as its writer likes: key_value, map, list, bag.
func cellName(path []string) string {
	if len(path) < 2 {
		return ""
	}
	name := path[0] + "." + path[1]
	deep, wanted := wantedCells[name]
	switch {
	case !wanted:
		return ""
	case deep:
		return name + "." + path[len(path)-1]
	}
	return name
}

func (c cells) add(name string, v parquet.Value) {
	var text *string
	if !v.IsNull() {
		s := strings.Clone(v.String())
		text = &s
	}
	c[name] = append(c[name], text)
}

// text is a value that stands alone; "" for null.
func (c cells) text(name string) string {
	if all := c[name]; len(all) > 0 && all[0] != nil {
		return *all[0]
	}
	return ""
}

func (c cells) number(name string) int64 {
	n, _ := strconv.ParseInt(c.text(name), 10, 64) // of a column of numbers
	return n
}

func (c cells) list(name string) (all []string) {
	for _, v := range c[name] {
		if v != nil {
			all = append(all, *v)
		}
	}
	return all
}

func (c cells) pairs(name string) map[string]*string {
	all, values := map[string]*string{}, c[name+".value"]
	for i, key := range c[name+".key"] {
		if key != nil && i < len(values) {
			all[*key] = values[i]
		}
	}
	return all
}

// action is what the row says.
func (c cells) action() *action {
	a := new(action)
	if path := c.text("add.path"); path != "" {
		a.Add = &addFile{Path: path, Size: c.number("add.size"), Stats: c.text("add.stats"), PartitionValues: c.pairs("add.partitionValues")}
		if kind := c.text("add.deletionVector.storageType"); kind != "" {
			v := &deletionVector{StorageType: kind, PathOrInlineDv: c.text("add.deletionVector.pathOrInlineDv"),
				SizeInBytes: c.number("add.deletionVector.sizeInBytes"), Cardinality: c.number("add.deletionVector.cardinality")}
			if c.text("add.deletionVector.offset") != "" {
				at := c.number("add.deletionVector.offset")
				v.Offset = &at
			}
			a.Add.DeletionVector = v
		}
	}
	if c.text("protocol.minReaderVersion") != "" {
		a.Protocol = &protocol{MinReaderVersion: int(c.number("protocol.minReaderVersion")), ReaderFeatures: c.list("protocol.readerFeatures")}
	}
	if schema := c.text("metaData.schemaString"); schema != "" {
		a.MetaData = &metaData{SchemaString: schema, PartitionColumns: c.list("metaData.partitionColumns"), Configuration: map[string]string{}}
		a.MetaData.Format.Provider = c.text("metaData.format.provider")
		for key, value := range c.pairs("metaData.configuration") {
			if value != nil {
				a.MetaData.Configuration[key] = *value
			}
		}
	}
	if path := c.text("sidecar.path"); path != "" {
		a.Sidecar = &sidecar{path}
	}
	return a
}
