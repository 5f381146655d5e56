package lake

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/big"
	"path/filepath"
	"slices"

	"github.com/RoaringBitmap/roaring/v2/roaring64"
	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// deleting finds out which rows of an Iceberg table's files are deleted:
//
//	deletion vector   of one file: nothing else counts there, but equality
//	position deletes  path and row, of files that are no younger
//	equality deletes  values of columns, of older files in the same partition
//
// All become rows of files, so that nobody else knows of them.
type deleting struct {
	*icebergLog
	rows     []*dataFile
	at       map[string]int // place in rows of a path
	vectored map[int]bool   // have a deletion vector
}

// The ids of the columns of position deletes.
const (
	pathField = 2147483546
	rowField  = 2147483545
)

func (d *deleting) all(deletes []*dataFile) error {
	var equal []*dataFile
	for _, f := range deletes {
		if f.content == positionDeletes && f.offset != nil {
			if err := d.vector(f); err != nil {
				return err
			}
		}
	}
	for _, f := range deletes {
		switch {
		case f.content == equalityDeletes:
			equal = append(equal, f)
		case f.offset == nil:
			if err := d.positions(f); err != nil {
				return err
			}
		}
	}
	return d.equality(equal)
}

// deleted is what is deleted in a file of rows.
func (d *deleting) deleted(i int) *roaring64.Bitmap {
	f := &d.table.Files[i]
	if f.Deleted == nil {
		f.Deleted = roaring64.New()
	}
	return f.Deleted
}

// vector takes a deletion vector of format version 3.
func (d *deleting) vector(f *dataFile) error {
	path := filepath.Join(d.dir, f.path)
	if f.referenced == "" || f.size == nil || *f.size < 12 {
		return d.broken(path, "is a deletion vector of no file")
	}
	of, err := d.local(f.referenced)
	if err != nil {
		return err
	}
	i, there := d.at[of]
	if !there || d.rows[i].sequence > f.sequence {
		return nil
	}
	rows, err := readVector(path, *f.offset, *f.size-8)
	if err == nil && int64(rows.GetCardinality()) != f.rows {
		err = fmt.Errorf("%w: it has not as many rows as the manifest says", errVector)
	}
	if err != nil {
		return d.broken(path, err.Error())
	}
	d.deleted(i).Or(rows)
	d.vectored[i] = true
	return nil
}

// positions takes a file of paths and rows.
func (d *deleting) positions(f *dataFile) error {
	path := filepath.Join(d.dir, f.path)
	return withParquet(path, func(p *parquetFile) error {
		of, row := p.byID(pathField, "file_path"), p.byID(rowField, "pos")
		if of < 0 || row < 0 {
			return d.broken(path, "has no columns of position deletes")
		}
		last, i := "", -1
		return p.rows(func(r parquet.Row) error {
			name, n := "", int64(-1)
			for _, v := range r {
				switch v.Column() {
				case of:
					name = string(v.ByteArray())
				case row:
					n = v.Int64()
				}
			}
			if n < 0 || name == "" {
				return d.broken(path, "has a position that cannot be")
			}
			if name != last {
				local, err := d.local(name)
				if err != nil {
					return err
				}
				last, i = name, -1
				if k, there := d.at[local]; there && !d.vectored[k] && d.rows[k].sequence <= f.sequence {
					i = k
				}
			}
			if i >= 0 {
				d.deleted(i).Add(uint64(n))
			}
			return nil
		})
	})
}

// byID finds a column that is one value a row, by its field or its name; -1: it has none.
func (p *parquetFile) byID(id int32, name string) int {
	return slices.IndexFunc(p.leaves, func(l leaf) bool {
		return l.element.RepetitionType.V != format.Repeated && (l.id == id || l.id == 0 && name != "" && len(l.path) == 1 && l.path[0] == name)
	})
}

// equalRows are the values of equality deletes with the same columns.
type equalRows struct {
	file *dataFile
	keys map[string]bool
}

// equality looks through the files of rows that equality deletes may concern.
func (d *deleting) equality(deletes []*dataFile) error {
	var all []equalRows
	for _, f := range deletes {
		slices.Sort(f.equality)
		keys := map[string]bool{}
		err := d.keys(f, f.equality, func(_ int64, key []byte) { keys[string(key)] = true })
		if err != nil {
			return err
		}
		all = append(all, equalRows{f, keys})
	}
	for i, f := range d.rows {
		var done [][]int32
		for _, e := range all {
			if !d.concerns(e.file, f) || slices.ContainsFunc(done, func(ids []int32) bool { return slices.Equal(ids, e.file.equality) }) {
				continue
			}
			done = append(done, e.file.equality)
			same := slices.DeleteFunc(slices.Clone(all), func(x equalRows) bool {
				return !d.concerns(x.file, f) || !slices.Equal(x.file.equality, e.file.equality)
			})
			err := d.keys(f, e.file.equality, func(row int64, key []byte) {
				if slices.ContainsFunc(same, func(x equalRows) bool { return x.keys[string(key)] }) {
					d.deleted(i).Add(uint64(row))
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// concerns tells whether equality deletes may delete rows of a file. Those of a table
// without partitions concern all.
func (d *deleting) concerns(deletes, rows *dataFile) bool {
	return rows.sequence < deletes.sequence && (deletes.values == 0 || deletes.of == rows.of)
}

// keys calls do for every row of a file with its values of some columns.
func (d *deleting) keys(f *dataFile, ids []int32, do func(row int64, key []byte)) error {
	path := filepath.Join(d.dir, f.path)
	if len(ids) == 0 {
		return d.broken(path, "is equality deletes of no column")
	}
	return withParquet(path, func(p *parquetFile) error {
		columns := make([]int, len(ids))
		for k, id := range ids {
			columns[k] = p.byID(id, d.table.Names.IDs[id])
			if columns[k] < 0 && f.content == equalityDeletes {
				return d.broken(path, fmt.Sprintf("has no column with the id %d, which it deletes by", id))
			}
		}
		first := int64(0)
		for _, group := range p.groups {
			keys := make([][]byte, group.NumRows())
			for _, c := range columns {
				if c < 0 { // the column came later
					for i := range keys {
						keys[i] = append(keys[i], 'n')
					}
				} else if err := appendKeys(keys, group.ColumnChunks()[c], &p.leaves[c].element); err != nil {
					return undecoded(path)
				}
			}
			for i, key := range keys {
				do(first+int64(i), key)
			}
			first += int64(len(keys))
		}
		return nil
	})
}

// appendKeys appends the values of a column to the keys of its rows.
func appendKeys(keys [][]byte, chunk parquet.ColumnChunk, e *format.SchemaElement) error {
	pages := chunk.Pages()
	defer pages.Close() // only read
	at := 0
	var buffer [256]parquet.Value
	for {
		page, err := pages.ReadPage()
		if err == io.EOF && at == len(keys) {
			return nil
		}
		if err != nil {
			return io.ErrUnexpectedEOF
		}
		values := page.Values()
		for {
			n, err := values.ReadValues(buffer[:])
			if at+n > len(keys) {
				return io.ErrUnexpectedEOF
			}
			for _, v := range buffer[:n] {
				keys[at] = appendKey(keys[at], v, e)
				at++
			}
			if err == io.EOF {
				break
			}
			if err != nil {
				return err
			}
		}
		parquet.Release(page)
	}
}

// appendKey appends a value so that two are the same if Iceberg takes them for equal,
// whatever type their files have: ints are promoted to longs, floats to doubles.
func appendKey(dst []byte, v parquet.Value, e *format.SchemaElement) []byte {
	decimal := e.Scale.Valid || isDecimal(e)
	number := func(kind byte, bits uint64) []byte { return binary.BigEndian.AppendUint64(append(dst, kind), bits) }
	text := func(kind byte, s []byte) []byte { return append(number(kind, uint64(len(s))), s...) }
	if v.IsNull() {
		return append(dst, 'n')
	}
	switch kind := v.Kind(); {
	case kind == parquet.Boolean && v.Boolean():
		return append(dst, 't')
	case kind == parquet.Boolean:
		return append(dst, 'f')
	case kind == parquet.Int32 && decimal:
		return text('d', big.NewInt(int64(v.Int32())).Append(nil, 10))
	case kind == parquet.Int64 && decimal:
		return text('d', big.NewInt(v.Int64()).Append(nil, 10))
	case kind == parquet.Int32:
		return number('i', uint64(int64(v.Int32())))
	case kind == parquet.Int64:
		return number('i', uint64(v.Int64()))
	case kind == parquet.Float:
		return number('r', math.Float64bits(float64(v.Float())))
	case kind == parquet.Double:
		return number('r', math.Float64bits(v.Double()))
	case (kind == parquet.ByteArray || kind == parquet.FixedLenByteArray) && decimal:
		n := new(big.Int).SetBytes(v.ByteArray())
		if b := v.ByteArray(); len(b) > 0 && b[0] >= 0x80 {
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(b))))
		}
		return text('d', n.Append(nil, 10))
	case kind == parquet.ByteArray, kind == parquet.FixedLenByteArray:
		return text('s', v.ByteArray())
	}
	return text('o', []byte(v.String()))
}

func isDecimal(e *format.SchemaElement) bool {
	_, is := e.LogicalType.Value.(*format.DecimalType)
	return is
}
