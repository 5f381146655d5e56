package parquet

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline/column"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/guard"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/pages"
)

// Footer holds the metadata at the end of a Parquet file.
//
// The Parquet library is given a reduced footer with only the columns to read and their physical types. So other
// columns, such as one that is always null, two with one name or an unknown type, cause no errors. (With the library's
// own schema, a column of type Null made the file unreadable.)
type Footer struct {
	path    string
	file    io.ReaderAt
	Meta    format.FileMetaData
	Columns []column.Column // of the top level
	end     int64           // where pages end and the footer begins
}

// ReadFooter reads the footer of a file of size bytes and checks its consistency. Errors are *commit.DamageError, and
// those of r for its first bytes.
func ReadFooter(path string, r io.ReaderAt, size int64) (*Footer, error) {
	bad := func(cause string) error { return input.Damage(path, cause) }
	var head [4]byte
	var tail [8]byte // length of the footer, magic
	switch {
	case size == 0:
		return nil, bad("the file is empty")
	case size < 12:
		return nil, bad("is no Parquet file")
	default:
		if _, err := r.ReadAt(head[:], 0); err != nil {
			return nil, err
		}
		if _, err := r.ReadAt(tail[:], size-8); err != nil {
			return nil, err
		}
	}
	length := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case string(head[:]) == "PARE" || string(tail[4:]) == "PARE":
		return nil, bad("is an encrypted Parquet file; decrypt it first")
	case string(head[:]) != "PAR1":
		return nil, bad("is no Parquet file")
	case string(tail[4:]) != "PAR1":
		return nil, bad("is truncated: it begins as a Parquet file and does not end as one")
	case length > size-12:
		return nil, bad("its footer is longer than the file") // before there is memory for it
	}
	f := &Footer{path: path, file: r, end: size - 8 - length}
	if err := f.parse(length); err != nil {
		return nil, bad("its footer cannot be read")
	}
	schema := f.Meta.Schema
	ok := len(schema) > 0
	if ok {
		f.Columns, ok = column.Of(schema[1:])
	}
	if !ok || len(f.Columns) != column.Children(&schema[0]) {
		return nil, bad("its footer has a schema that cannot be")
	}
	rows := int64(0)
	for g := range f.Meta.RowGroups {
		rows += f.Meta.RowGroups[g].NumRows
	}
	if rows != f.Meta.NumRows {
		return nil, bad(fmt.Sprintf("its footer says %d rows, its row groups %d", f.Meta.NumRows, rows))
	}
	return f, f.check()
}

// signature is the length of the signature behind the footer of a file with encrypted columns.
const signature = 28

func (f *Footer) parse(length int64) error {
	data := make([]byte, length)
	if _, err := f.file.ReadAt(data, f.end); err != nil {
		return err
	}
	r := new(thrift.CompactProtocol).NewReaderFromBytes(data)
	if err := thrift.NewDecoder(r).Decode(&f.Meta); err != nil {
		return err
	}
	if left := len(data) - r.BytesRead(); left != 0 && (left != signature || f.Meta.EncryptionAlgorithm.Value == nil) {
		return errors.New("bytes left")
	}
	return nil
}

// rename gives columns the names that the options use, and drops those that the options do not name; nil: names stay.
func (f *Footer) rename(names map[string]string) {
	if names == nil {
		return
	}
	for i := range f.Columns {
		f.Columns[i].Name = names[f.Columns[i].Name]
	}
	f.Columns = slices.DeleteFunc(f.Columns, func(c column.Column) bool { return c.Name == "" })
}

// Lookup returns the value for a key of the file's metadata.
func (f *Footer) Lookup(key string) (string, bool) {
	for _, kv := range f.Meta.KeyValueMetadata {
		if kv.Key == key {
			return kv.Value, true
		}
	}
	return "", false
}

// Named returns the indexes of the columns with that name.
func (f *Footer) Named(name string) (numbers []int) {
	for i := range f.Columns {
		if f.Columns[i].Name == name {
			numbers = append(numbers, i)
		}
	}
	return numbers
}

// openedFile is a file as the Parquet library sees it, with some of its columns only.
type openedFile struct {
	groups []parquet.RowGroup
	leaf   map[int]int // number of a column's first leaf in groups, by the column's number in the file
}

// Open opens the columns with these indexes.
func (f *Footer) Open(columns []int) (*openedFile, error) {
	columns = slices.Compact(slices.Sorted(slices.Values(columns)))
	o := &openedFile{leaf: map[int]int{}}
	m := format.FileMetaData{Version: f.Meta.Version, NumRows: f.Meta.NumRows,
		Schema: []format.SchemaElement{{Name: "schema", NumChildren: thrift.New(int32(len(columns)))}}}
	leaves := 0
	for _, k := range columns {
		c := &f.Columns[k]
		o.leaf[k] = leaves
		leaves += len(c.Leaves)
		for _, e := range c.Elements {
			m.Schema = append(m.Schema, format.SchemaElement{Type: e.Type, TypeLength: e.TypeLength, RepetitionType: e.RepetitionType, Name: e.Name,
				NumChildren: e.NumChildren})
		}
	}
	for g := range f.Meta.RowGroups {
		group := &f.Meta.RowGroups[g]
		bare := format.RowGroup{NumRows: group.NumRows, TotalByteSize: group.TotalByteSize, Columns: make([]format.ColumnChunk, 0, leaves)}
		for _, k := range columns {
			c := &f.Columns[k]
			for i := range c.Leaves {
				bare.Columns = append(bare.Columns, bareChunk(&group.Columns[c.First+i].MetaData))
			}
		}
		m.RowGroups = append(m.RowGroups, bare)
	}
	data, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	if err != nil {
		return nil, input.Damage(f.path, "its footer cannot be read")
	}
	data = binary.LittleEndian.AppendUint32(data, uint32(len(data)))
	file := &otherEnd{f.file, f.end, append(data, "PAR1"...)}
	size := f.end + int64(len(file.tail))
	pf, err := parquet.OpenFile(file, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(int(min(size, 1<<20))))
	if err != nil {
		return nil, input.Damage(f.path, "its footer cannot be read")
	}
	o.groups = pf.RowGroups()
	return o, nil
}

// bareChunk returns only those metadata of a column chunk that are needed for reading its pages.
func bareChunk(c *format.ColumnMetaData) format.ColumnChunk {
	return format.ColumnChunk{MetaData: format.ColumnMetaData{
		Type: c.Type, Encoding: c.Encoding, PathInSchema: c.PathInSchema, Codec: c.Codec, NumValues: c.NumValues,
		TotalUncompressedSize: c.TotalUncompressedSize, TotalCompressedSize: c.TotalCompressedSize,
		DataPageOffset: c.DataPageOffset, DictionaryPageOffset: c.DictionaryPageOffset,
	}}
}

// otherEnd reads a file as if it had another footer.
type otherEnd struct {
	file io.ReaderAt
	end  int64 // of what is the file's own
	tail []byte
}

// ReadAt implements io.ReaderAt.
func (o *otherEnd) ReadAt(p []byte, at int64) (n int, err error) {
	if at < o.end {
		own := p[:min(int64(len(p)), o.end-at)]
		if n, err = o.file.ReadAt(own, at); n < len(own) {
			return n, cmp.Or(err, io.ErrUnexpectedEOF)
		}
	}
	if n == len(p) {
		return n, nil
	}
	if at = at + int64(n) - o.end; at >= int64(len(o.tail)) {
		return n, io.EOF
	}
	more := copy(p[n:], o.tail[at:])
	if n += more; n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// check compares what the footer says about the columns with its schema, and checks that chunks do not overlap.
func (f *Footer) check() error {
	type place struct {
		at, end int64
		group   int
		column  string
	}
	var places []place
	leaves := 0
	for k := range f.Columns {
		leaves += len(f.Columns[k].Leaves)
	}
	for g := range f.Meta.RowGroups {
		group := &f.Meta.RowGroups[g]
		if len(group.Columns) != leaves {
			return &commit.DamageError{Path: f.path, RowGroup: g, Cause: "has not as many columns as the schema"}
		}
		for k := range f.Columns {
			column := &f.Columns[k]
			for i := range column.Leaves {
				chunk := &group.Columns[column.First+i]
				if chunk.CryptoMetadata.Value != nil {
					continue // who names it is told
				}
				if cause := f.checkPlace(chunk, &column.Leaves[i]); cause != "" {
					return &commit.DamageError{Path: f.path, RowGroup: g, Column: column.Name, Cause: cause}
				}
				if c := &chunk.MetaData; c.TotalCompressedSize != 0 && c.NumValues != 0 { // or it holds nothing: some writers say it stands at 0
					at := pages.ChunkStart(c)
					places = append(places, place{at, at + c.TotalCompressedSize, g, column.Name})
				}
			}
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.end, b.end)) })
	for i := range max(len(places)-1, 0) {
		if a, b := places[i], places[i+1]; a.end > b.at {
			return &commit.DamageError{Path: f.path, RowGroup: b.group, Column: b.column,
				Cause: "the footer says that it stands where another column does"}
		}
	}
	return nil
}

// checkPlace checks the place of one chunk; "" means that it is valid.
func (f *Footer) checkPlace(chunk *format.ColumnChunk, leaf *column.Leaf) string {
	c := &chunk.MetaData
	switch {
	case chunk.FilePath != "":
		return "stands in another file"
	case !slices.Equal(c.PathInSchema, leaf.Path):
		return "has another name in its row group than in the schema"
	case leaf.Element.Type.V != c.Type:
		return "has another type in its row group than in the schema"
	case c.TotalCompressedSize == 0 || c.NumValues == 0:
		return ""
	}
	if at := pages.ChunkStart(c); at < 4 || c.TotalCompressedSize < 0 || at > f.end || c.TotalCompressedSize > f.end-at {
		return "the footer says that it stands outside the file"
	}
	return ""
}

// CheckChunks checks the footer's data for the columns to read in the row groups [from, to), and all their page
// headers.
func (f *Footer) CheckChunks(from, to int, columns []int) error {
	for g := from; g < to; g++ {
		for _, k := range columns {
			if k < 0 {
				continue
			}
			c := &f.Columns[k]
			for i := range c.Leaves {
				if cause := f.checkChunk(g, c.First+i, &c.Leaves[i]); cause != "" {
					return &commit.DamageError{Path: f.path, RowGroup: g, Column: c.Name, Cause: cause}
				}
			}
		}
	}
	return nil
}

func (f *Footer) checkChunk(g, number int, leaf *column.Leaf) string {
	group := &f.Meta.RowGroups[g]
	chunk := &group.Columns[number]
	meta := &chunk.MetaData
	if chunk.CryptoMetadata.Value != nil {
		return "is encrypted; decrypt it first"
	}
	if !readable(meta.Codec) {
		return fmt.Sprintf("is compressed with %s, which is not supported; write it with ZSTD, SNAPPY, GZIP or none", meta.Codec)
	}
	if meta.NumValues != group.NumRows && !(leaf.MaxRep > 0 && meta.NumValues > group.NumRows) {
		return fmt.Sprintf("the footer says %d values in %d rows", meta.NumValues, group.NumRows)
	}
	if meta.DataPageOffset < 0 || meta.TotalCompressedSize < 0 || meta.DataPageOffset > f.end || meta.TotalCompressedSize > f.end {
		return "the footer says that it stands outside the file"
	}
	return pages.Check(f.file, meta, leaf.MaxRep, leaf.MaxDef)
}

func readable(c format.CompressionCodec) bool {
	switch c {
	case format.Uncompressed, format.Snappy, format.Gzip, format.Zstd, format.Brotli:
		return true
	}
	return false
}

// sums reports whether the first page of each column has a checksum: writers add them to all pages or to none.
func (f *Footer) sums(columns []int) bool {
	for g := range f.Meta.RowGroups {
		for _, k := range columns {
			if k < 0 {
				continue
			}
			c := &f.Columns[k]
			for i := range c.Leaves {
				if meta := &f.Meta.RowGroups[g].Columns[c.First+i].MetaData; meta.NumValues > 0 && !f.summed(pages.ChunkStart(meta)) {
					return false
				}
			}
		}
	}
	return true
}

// summed tells whether the page at a place has a checksum. One of 0 counts as
// none, as with the library.
func (f *Footer) summed(at int64) bool {
	from := bufio.NewReaderSize(io.NewSectionReader(f.file, at, f.end-at), 1<<10)
	var h format.PageHeader
	err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(from)).Decode(&h)
	return err == nil && h.CRC != 0
}

// Guard calls do and turns a panic into a *commit.DamageError: Parquet readers panic on about one damaged file in a
// hundred.
func Guard(path string, do func() error) error {
	var err error
	if guard.Note(func() { err = do() }) {
		err = input.Damage("", "the Parquet library panicked on it")
	}
	if damage, ok := errors.AsType[*commit.DamageError](err); ok && damage.Path == "" {
		damage.Path = path
	}
	return err
}

// ownWords describes an error of the Parquet library without its message, which may quote the content of the file.
func ownWords(err error) string {
	switch {
	case strings.Contains(err.Error(), "crc32 checksum mismatch"):
		return "a page does not have the checksum in its header"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return "a page ends too early"
	}
	return "a page cannot be decoded"
}

// converted are the logical types that old writers gave in other words, as the library has them.
var converted = func() map[deprecated.ConvertedType]format.LogicalTypeValue {
	all := map[deprecated.ConvertedType]format.LogicalTypeValue{deprecated.Map: &format.MapType{}, deprecated.List: &format.ListType{}}
	for _, n := range []parquet.Node{
		parquet.String(), parquet.Enum(), parquet.JSON(), parquet.BSON(), parquet.Date(),
		parquet.Time(parquet.Millisecond), parquet.Time(parquet.Microsecond), parquet.Timestamp(parquet.Millisecond), parquet.Timestamp(parquet.Microsecond),
		parquet.Int(8), parquet.Int(16), parquet.Int(32), parquet.Int(64), parquet.Uint(8), parquet.Uint(16), parquet.Uint(32), parquet.Uint(64),
	} {
		t := n.Type()
		all[*t.ConvertedType()] = t.LogicalType().Value
	}
	return all
}()

// logical returns what the values of an element mean; nil if it does not say.
func logical(e *format.SchemaElement) format.LogicalTypeValue {
	switch {
	case e.LogicalType.Value != nil:
		return e.LogicalType.Value
	case !e.ConvertedType.Valid:
		return nil
	case e.ConvertedType.V == deprecated.Decimal:
		return &format.DecimalType{Scale: e.Scale.V, Precision: e.Precision.V}
	}
	return converted[e.ConvertedType.V]
}
