package read

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
)

// Checksums cover the bodies of pages, not the footer and not the headers. A
// bit there can turn rows into others without an error of the library: a
// column that is no longer optional takes its levels for a note; an offset
// leads to another column's pages. So what is said twice in a file is compared
// here, and what levels there are is looked at before they are believed.

// checkFooter compares what the footer says of the columns with its schema,
// and wants every chunk in a place of its own. pageEnd is where the footer
// begins.
func checkFooter(path string, pf *parquet.File, pageEnd int64) error {
	type place struct {
		at, end int64
		group   int
		column  string
	}
	var places []place
	leaves := pf.Schema().Columns()
	for g := range pf.Metadata().RowGroups {
		group := &pf.Metadata().RowGroups[g]
		damage := func(column, cause string) error {
			return &pipeline.DamageError{Path: path, RowGroup: g, Column: column, Cause: cause}
		}
		if len(group.Columns) != len(leaves) {
			return damage("", "has not as many columns as the schema")
		}
		for k := range group.Columns {
			c, column := &group.Columns[k].MetaData, leaves[k][0]
			if group.Columns[k].FilePath != "" {
				return damage(column, "stands in another file")
			}
			if !slices.Equal(c.PathInSchema, leaves[k]) {
				return damage(column, "has another name in its row group than in the schema")
			}
			if leaf, ok := pf.Schema().Lookup(leaves[k]...); !ok || leaf.Node.Type().Kind() != parquet.Kind(c.Type) {
				return damage(column, "has another type in its row group than in the schema")
			}
			at := chunkStart(c)
			if c.TotalCompressedSize == 0 || c.NumValues == 0 {
				continue // holds nothing: some writers say it stands at 0
			}
			if at < 4 || c.TotalCompressedSize < 0 || at > pageEnd || c.TotalCompressedSize > pageEnd-at {
				return damage(column, "the footer says that it stands outside the file")
			}
			places = append(places, place{at, at + c.TotalCompressedSize, g, column})
		}
	}
	slices.SortFunc(places, func(a, b place) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.end, b.end)) })
	for i := range max(len(places)-1, 0) {
		if a, b := places[i], places[i+1]; a.end > b.at {
			return &pipeline.DamageError{Path: path, RowGroup: b.group, Column: b.column, Cause: "the footer says that it stands where another column does"}
		}
	}
	return nil
}

func chunkStart(c *format.ColumnMetaData) int64 {
	if c.DictionaryPageOffset > 0 {
		return min(c.DictionaryPageOffset, c.DataPageOffset)
	}
	return c.DataPageOffset
}

// pageWalk reads the page headers of a flat column's chunk.
type pageWalk struct {
	file     io.ReaderAt
	chunk    *format.ColumnMetaData
	optional bool
	buf      *bufio.Reader
	values   int64
	bodies   int // data pages with values
}

// checkPages wants the pages of a chunk to be as the footer and the schema
// say. It returns what is wrong, or "".
func checkPages(file io.ReaderAt, c *format.ColumnMetaData, optional bool) string {
	w := pageWalk{file: file, chunk: c, optional: optional, buf: bufio.NewReaderSize(nil, 1<<12)}
	at := chunkStart(c)
	// A chunk ends where its values do: old writers give sizes that are a bit
	// too small or too large.
	for end := at + c.TotalCompressedSize; w.values < c.NumValues; {
		if at >= end {
			return fmt.Sprintf("its pages hold %d values, the footer says %d", w.values, c.NumValues)
		}
		section := io.NewSectionReader(file, at, end-at)
		w.buf.Reset(section)
		var h format.PageHeader
		if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(w.buf)).Decode(&h); err != nil {
			return "a page header cannot be decoded"
		}
		read, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return "a page header cannot be decoded"
		}
		at += read - int64(w.buf.Buffered())
		size := int64(h.CompressedPageSize)
		if size < 0 || size > end-at || h.UncompressedPageSize < 0 {
			return "a page header says a size that cannot be"
		}
		if cause := w.page(&h, at); cause != "" {
			return cause
		}
		at += size
	}
	if w.values != c.NumValues {
		return fmt.Sprintf("its pages hold %d values, more than the footer says", w.values)
	}
	return ""
}

// page checks one page, whose body stands at.
func (w *pageWalk) page(h *format.PageHeader, at int64) string {
	var n int32
	var e format.Encoding
	switch {
	case h.Type == format.DataPage && h.DataPageHeader.Valid:
		n, e = h.DataPageHeader.V.NumValues, h.DataPageHeader.V.Encoding
	case h.Type == format.DataPageV2 && h.DataPageHeaderV2.Valid:
		n, e = h.DataPageHeaderV2.V.NumValues, h.DataPageHeaderV2.V.Encoding
	case h.Type == format.DictionaryPage && h.DictionaryPageHeader.Valid:
		if e := h.DictionaryPageHeader.V.Encoding; e != format.Plain && e != format.PlainDictionary || w.values > 0 {
			return "has a dictionary that cannot be"
		}
		return ""
	default:
		return "has a page of an unknown type"
	}
	if n < 0 {
		return "a page header says a number of values that cannot be"
	}
	if !slices.Contains(w.chunk.Encoding, e) {
		return "has a page in an encoding that the footer does not name"
	}
	w.values += int64(n)
	if n == 0 {
		return ""
	}
	w.bodies++
	sound := true
	if h.Type == format.DataPageV2 {
		sound = w.levels2(h, at)
	} else if w.optional && h.DataPageHeader.V.DefinitionLevelEncoding != format.RLE {
		sound = false // the library takes levels in any other form for something else, without an error
	} else if w.bodies == 1 { // the same for all: the schema may be wrong, bodies have checksums
		sound = w.levels1(h, at)
	}
	if !sound {
		return "has a page whose levels are not those of the schema"
	}
	return ""
}

// levels2 checks the levels of a page of version 2, which stand before its
// values.
func (w *pageWalk) levels2(h *format.PageHeader, at int64) bool {
	v := &h.DataPageHeaderV2.V
	size := v.DefinitionLevelsByteLength
	if v.RepetitionLevelsByteLength != 0 || size < 0 || size > h.CompressedPageSize || (size > 0) != w.optional {
		return false
	}
	if !w.optional {
		return true
	}
	levels := make([]byte, size)
	if _, err := w.file.ReadAt(levels, at); err != nil {
		return false
	}
	values, ok := countLevels(levels, int(v.NumValues))
	return ok && (v.NumNulls < 0 || values == int(v.NumValues-v.NumNulls))
}

// levels1 checks the levels of a page of version 1, which are packed together
// with its values: they are there if the column is optional, and else they
// are not.
func (w *pageWalk) levels1(h *format.PageHeader, at int64) bool {
	body := make([]byte, h.CompressedPageSize)
	if _, err := w.file.ReadAt(body, at); err != nil {
		return false
	}
	if w.chunk.Codec != format.Uncompressed {
		var err error
		if body, err = parquet.LookupCompressionCodec(w.chunk.Codec).Decode(nil, body); err != nil {
			return false
		}
	}
	there := false
	if len(body) >= 4 {
		size := int64(binary.LittleEndian.Uint32(body))
		if size <= int64(len(body)-4) {
			_, there = countLevels(body[4:4+size], int(h.DataPageHeader.V.NumValues))
		}
	}
	return there == w.optional
}

// countLevels reads n levels of one bit in the run-length form and returns
// how many are 1. They must fill the bytes.
func countLevels(runs []byte, n int) (ones int, ok bool) {
	have := 0
	for len(runs) > 0 {
		if have >= n {
			return 0, false
		}
		head, size := binary.Uvarint(runs)
		if size <= 0 || head>>1 == 0 || head>>1 > uint64(n) {
			return 0, false
		}
		runs = runs[size:]
		count := int(head >> 1)
		if head&1 == 0 { // one level, count times
			if len(runs) < 1 || runs[0] > 1 || count > n-have {
				return 0, false
			}
			have += count
			ones += count * int(runs[0])
			runs = runs[1:]
			continue
		}
		if len(runs) < count { // count bytes of eight levels; the last may have some too many
			return 0, false
		}
		for _, b := range runs[:count] {
			for bit := 0; bit < 8 && have < n; bit++ {
				ones += int(b >> bit & 1)
				have++
			}
		}
		runs = runs[count:]
	}
	return ones, have == n
}
