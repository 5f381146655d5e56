// Package table writes one file of Parquet, column by column: values of rows in, pages and the digest of the rows out.
// The bytes are a function of the rows alone. Verify reads a file again with another library and computes the digest anew.
package table

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
)

// How parts are written. Level 1 of zstd: higher levels take twice the time
// and save a tenth. Text is plain: a dictionary of notes costs hashing and
// memory and never pays.
//
// Pages and row groups end where the rows say, not where batches do, so that
// the bytes of a part are a function of its rows alone.
const (
	pageBytes    = 1 << 20 // values after which a page ends
	RowGroupRows = 100_000 // in a row group unless options say otherwise
	chunkRows    = 512     // rows that are handed to a column at once
	StagedRows   = 4096    // in a row group of a staged part, of which package rewrite holds one in memory for each part that it merges
)

// Table writes the rows of one part, column by column.
type Table struct {
	w       *parquet.GenericWriter[any]
	out     *untailed
	Columns []Values
	group   int // rows of the row group so far
	most    int // rows of a full one
	rows    int64
}

// OffsetsKey is the metadata key for the unit of offsets in a file.
const OffsetsKey = "velum.offsets"

// offsetsSaid returns what it says of these columns; "" without offsets.
func offsetsSaid(columns []column.Column) string {
	has := func(name string) bool {
		return slices.ContainsFunc(columns, func(c column.Column) bool { return c.Name == name })
	}
	switch {
	case has("start_char"):
		return "start, end: bytes of UTF-8; start_char, end_char: Unicode code points; from 0, end exclusive"
	case has("start"):
		return "start, end: bytes of UTF-8; from 0, end exclusive"
	}
	return ""
}

// Values gathers the values of some rows and their digest.
type Values struct {
	column column.Column
	w      *parquet.ColumnWriter
	stored parquet.Kind
	leaf   int
	def    int // definition level of a value of a column of one value a row
	values []parquet.Value
	rows   int // put since the last flush
	page   int // bytes of values in the page so far
	err    error
	digest Digest
	bits   [8]byte // of a number that is copied
}

// widths are the bytes of numbers in pages, and of booleans about.
var widths = [...]int{parquet.Boolean: 1, parquet.Int32: 4, parquet.Int64: 8, parquet.Float: 4, parquet.Double: 8}

var zstdFastest = &zstd.Codec{Level: zstd.SpeedFastest}

// New begins a part. Nothing of what is written says when, where or by
// which build. No statistics, bounds or filters are written for any column:
// those of a text column would hold the text of notes in the clear, and
// nobody looks for a note by the range of its id.
func New(out io.Writer, columns []column.Column, rowGroup int, metadata ...string) *Table {
	u := &untailed{w: out, columns: columns}
	t := &Table{out: u, most: cmp.Or(rowGroup, RowGroupRows)}
	schema := newSchema(columns)
	options := []parquet.WriterOption{
		schema,
		parquet.Compression(zstdFastest),
		parquet.PageBufferSize(pageRoom(columns, t.most)),
		parquet.DataPageStatistics(false),
		parquet.CreatedBy("velum", "1", "0"),
	}
	for _, path := range schema.Columns() {
		options = append(options, parquet.SkipPageBounds(path...), parquet.SkipPageStatistics(path...))
	}
	metadata = append(metadata, OffsetsKey, offsetsSaid(columns))
	for i := 0; i+1 < len(metadata); i += 2 {
		if metadata[i+1] != "" {
			options = append(options, parquet.KeyValueMetadata(metadata[i], metadata[i+1]))
		}
	}
	t.w = parquet.NewGenericWriter[any](u, options...)
	for _, c := range columns {
		for _, leaf := range c.Leaves {
			n := len(t.Columns)
			t.Columns = append(t.Columns, Values{
				column: c, w: t.w.ColumnWriters()[n], stored: parquet.Kind(leaf.Element.Type.V), leaf: n, def: leaf.MaxDef, digest: NewDigest(leaf.MaxDef > 0),
			})
		}
	}
	return t
}

// pageRoom returns after how many bytes the library ends a page by itself. No page of
// ours gets there, or by its last value alone. For each column of numbers that are never
// missing the library makes so much room at once: at 4 MiB, that was 120 MB a unit.
// Beside a value that may be missing it keeps five bytes.
func pageRoom(columns []column.Column, rows int) int {
	room := pageBytes + pageBytes/4
	for _, c := range columns {
		switch {
		case c.Elements[0].RepetitionType.V == format.Required:
		case c.Flat():
			room = min(pageBytes+pageBytes/4+5*rows, 4*pageBytes)
		default:
			return 4 * pageBytes
		}
	}
	return room
}

// Room returns how many rows may be put before the next flush.
func (t *Table) Room() int { return min(chunkRows, t.most-t.group) }

// Pending returns how many rows have been put since the last flush.
func (t *Table) Pending() int { return t.Columns[0].rows }

// Each calls put for every picked note, which puts a row, and flushes them.
func (t *Table) Each(pick []int, put func(i int)) error {
	for _, i := range pick {
		put(i)
		if err := t.Full(); err != nil {
			return err
		}
	}
	return t.Rest()
}

// flush writes the n rows that have been put into every column.
func (t *Table) flush(n int) error {
	full := t.group+n == t.most
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Fills() {
			c.fill(n)
		}
		c.write()
		if c.rows != n {
			return fmt.Errorf("column %s has %d of %d rows", c.column.Name, c.rows, n)
		}
		c.rows = 0
		if full {
			c.page = 0
		}
		if c.err != nil {
			return fmt.Errorf("column %s: %w", c.column.Name, c.err)
		}
	}
	t.rows += int64(n)
	t.group += n
	if !full {
		return nil
	}
	t.group = 0
	return t.w.Flush()
}

// Full flushes if as many rows wait as the table has room for.
func (t *Table) Full() error {
	if t.Pending() < t.Room() {
		return nil
	}
	return t.Rest()
}

// Rest flushes all rows that wait. It is called at the end of each batch, since their values point into it.
func (t *Table) Rest() error {
	if n := t.Pending(); n > 0 {
		return t.flush(n)
	}
	return nil
}

// Fills reports whether the table itself fills the column, which has one value.
func (c *Values) Fills() bool { return c.column.Constant != nil }

// fill puts the value of a constant column n times.
func (c *Values) fill(n int) {
	for range n {
		c.Bytes(c.column.Constant)
	}
}

// write hands the values over to the library, which copies them.
func (c *Values) write() {
	_, err := c.w.WriteRowValues(c.values)
	c.err = cmp.Or(c.err, err)
	c.digest.Values(c.values)
	c.digest.Flush()
	clear(c.values) // they point into the batch
	c.values = c.values[:0]
}

// row begins a row, and a page if the last one is full.
func (c *Values) row() {
	if c.page >= pageBytes {
		c.write()
		c.err = cmp.Or(c.err, c.w.Flush())
		c.page = 0
	}
	c.rows++
}

// push appends a value of so many bytes that has its levels.
func (c *Values) push(v parquet.Value, size int) {
	if v.RepetitionLevel() == 0 {
		c.row()
	}
	c.page += size
	c.values = append(c.values, v)
}

// take appends a value that was read, with its levels.
func (c *Values) take(v parquet.Value) {
	size := 8
	if v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray {
		size = 4 + len(v.ByteArray())
	}
	c.push(v, size)
}

// Close writes the rows that wait, ends the file and returns the number of its rows and the digest that Verify computes.
func (t *Table) Close() (rows int64, digest string, err error) {
	if err := errors.Join(t.Rest(), t.w.Flush()); err != nil {
		return 0, "", err
	}
	t.out.hold = true
	if err := t.w.Close(); err != nil {
		return 0, "", err
	}
	if err := t.out.end(); err != nil {
		return 0, "", err
	}
	h := sha256.New()
	for i := range t.Columns {
		t.Columns[i].digest.Sum(h, t.Columns[i].column.Name)
	}
	return t.rows, hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// untailed writes a Parquet file without its page index. The library cannot omit the index, and for columns without
// bounds it writes there that all values lie between "" and "", or 0 and 0: engines that use it (Spark, DataFusion)
// would then find no rows.
type untailed struct {
	w       io.Writer
	columns []column.Column
	hold    bool   // keep what comes
	at      int64  // bytes passed on
	tail    []byte // what was held: the end of the data, the index, the footer
}

func (u *untailed) Write(data []byte) (int, error) {
	if u.hold {
		u.tail = append(u.tail, data...)
		return len(data), nil
	}
	n, err := u.w.Write(data)
	u.at += int64(n)
	return n, err
}

// end writes the end of the data and a footer that does not name an index, and
// in which kept columns are what they were.
func (u *untailed) end() error {
	size := int(binary.LittleEndian.Uint32(u.tail[len(u.tail)-8:]))
	protocol := new(thrift.CompactProtocol)
	var m format.FileMetaData
	if err := thrift.Unmarshal(protocol, u.tail[len(u.tail)-8-size:len(u.tail)-8], &m); err != nil {
		return errors.New("the library wrote a footer that does not parse")
	}
	dataEnd := int64(len("PAR1"))
	for g := range m.RowGroups {
		for i := range m.RowGroups[g].Columns {
			c := &m.RowGroups[g].Columns[i]
			c.ColumnIndexOffset, c.ColumnIndexLength, c.OffsetIndexOffset, c.OffsetIndexLength = 0, 0, 0, 0
			start := c.MetaData.DataPageOffset
			if d := c.MetaData.DictionaryPageOffset; d != 0 {
				start = min(start, d)
			}
			dataEnd = max(dataEnd, start+c.MetaData.TotalCompressedSize)
		}
	}
	restore(&m, u.columns)
	footer, err := thrift.Marshal(protocol, m)
	if err != nil {
		return err
	}
	out := append(u.tail[:dataEnd-u.at:dataEnd-u.at], footer...)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(footer)))
	_, err = u.w.Write(append(out, "PAR1"...))
	return err
}

// put appends a row of one value of so many bytes. A column without levels asks for none: that was a tenth of writing.
func (c *Values) put(v parquet.Value, size int) {
	if c.def > 0 {
		v = v.Level(0, c.def, c.leaf)
	}
	c.row()
	c.page += size
	c.values = append(c.values, v)
}

func (c *Values) Null()           { c.push(parquet.NullValue().Level(0, 0, c.leaf), 1) }
func (c *Values) Bytes(v []byte)  { c.put(parquet.ByteArrayValue(v), 4+len(v)) }
func (c *Values) Int32(v int32)   { c.put(parquet.Int32Value(v), 4) }
func (c *Values) Int64(v int64)   { c.put(parquet.Int64Value(v), 8) }
func (c *Values) Float(v float32) { c.put(parquet.FloatValue(v), 4) }

// Copy appends value i of a column of batches; null, or zero where nothing may be null, if there is none.
func (c *Values) Copy(from *pipeline.Column, i int) {
	switch {
	case (from == nil || !from.Valid[i]) && c.def == 0:
		c.take(parquet.ZeroValue(c.stored))
	case from == nil || !from.Valid[i]:
		c.Null()
	case from.Kind == pipeline.BytesColumn:
		v := from.Bytes.At(i)
		c.put(c.stored.Value(v), 4+len(v))
	default:
		binary.LittleEndian.PutUint64(c.bits[:], from.Fixed[i])
		width := widths[c.stored]
		c.put(c.stored.Value(c.bits[:width]), width)
	}
}

// CopyLeaf appends row i of a leaf.
func (c *Values) CopyLeaf(from *pipeline.Leaf, i int) {
	value := int(from.Starts[i])
	for k := from.Rows[i]; k < from.Rows[i+1]; k++ {
		v, size := parquet.NullValue(), 1
		if from.Def[k] == from.Full {
			bytes := from.Values.At(value)
			v, size = c.stored.Value(bytes), 4+len(bytes)
			value++
		}
		c.push(v.Level(int(from.Rep[k]), int(from.Def[k]), c.leaf), size)
	}
}

// Digest sums up the values of a column, whatever their encoding: their
// bytes, the lengths of byte strings, and the levels that say where nulls and
// lists are. Two libraries that read the same rows get the same digest. It
// guards against mistakes of the libraries; the SHA-256 of the file guards
// against everybody else.
type Digest struct {
	leveled                       bool // there may be nulls or lists
	bytesSum, lengthSum, levelSum *xxh3.Hasher
	scratch
}

// scratch holds the bytes that a digest has not summed up yet.
type scratch struct{ payload, lengths, levels []byte }

func NewDigest(leveled bool) Digest {
	return Digest{leveled: leveled, bytesSum: xxh3.New(), lengthSum: xxh3.New(), levelSum: xxh3.New()}
}

// Values adds values of any type, which have their levels.
func (d *Digest) Values(all []parquet.Value) {
	for i := range all {
		v := &all[i]
		if d.leveled {
			d.level(v.RepetitionLevel(), v.DefinitionLevel())
		}
		switch v.Kind() {
		case parquet.ByteArray, parquet.FixedLenByteArray, parquet.Int96:
			d.Bytes(v.ByteArray())
		case parquet.Int32, parquet.Float:
			d.payload = binary.LittleEndian.AppendUint32(d.payload, v.Uint32())
		default:
			d.payload = v.AppendBytes(d.payload)
		}
	}
}

// Bytes adds a byte string.
func (d *Digest) Bytes(v []byte) {
	d.payload = append(d.payload, v...)
	d.lengths = binary.LittleEndian.AppendUint32(d.lengths, uint32(len(v)))
}

func (d *Digest) level(rep, def int) { d.levels = append(d.levels, byte(rep<<4|def)) }

func (d *Digest) Flush() {
	d.bytesSum.Write(d.payload)
	d.lengthSum.Write(d.lengths)
	d.levelSum.Write(d.levels)
	d.payload, d.lengths, d.levels = d.payload[:0], d.lengths[:0], d.levels[:0]
}

func (d *Digest) Sum(to io.Writer, name string) {
	d.Flush()
	fmt.Fprintf(to, "%q %x %x %x\n", name, d.bytesSum.Sum64(), d.lengthSum.Sum64(), d.levelSum.Sum64())
}
