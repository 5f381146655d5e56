// Package pages reads the page headers of a Parquet column chunk and checks them against the footer.
package pages

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// Checksums cover the bodies of pages, not the footer and not the headers. A
// bit there can turn rows into others without an error of the library: a
// column that is no longer optional takes its levels for a note; an offset
// leads to another column's pages. So what is said twice in a file is compared
// here, and what levels there are is looked at before they are believed.

// pageWalk reads the page headers of a column chunk.
type pageWalk struct {
	file   io.ReaderAt
	chunk  *format.ColumnMetaData
	maxRep int // of the column's levels
	maxDef int
	buf    *bufio.Reader
	values int64
	bodies int // data pages with values
}

// Check checks that the pages of a chunk agree with the footer and the schema, whose levels are at most maxRep and
// maxDef. It returns what is wrong, or "".
func Check(file io.ReaderAt, c *format.ColumnMetaData, maxRep, maxDef int) string {
	w := pageWalk{file: file, chunk: c, maxRep: maxRep, maxDef: maxDef, buf: bufio.NewReaderSize(nil, 1<<12)}
	at := ChunkStart(c)
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
		//lint:ignore SA1019 writers of version 1 files still write it
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
	if !w.levels(h, at) {
		return "has a page whose levels are not those of the schema"
	}
	return ""
}

// levels tells whether the levels of a page are those that the schema wants.
func (w *pageWalk) levels(h *format.PageHeader, at int64) bool {
	if h.Type == format.DataPageV2 {
		return w.levels2(h, at)
	}
	v := &h.DataPageHeader.V
	if w.maxDef > 0 && v.DefinitionLevelEncoding != format.RLE || w.maxRep > 0 && v.RepetitionLevelEncoding != format.RLE {
		return false // the library takes levels in any other form for something else, without an error
	}
	// The same for all: the schema may be wrong, bodies have checksums.
	return w.bodies > 1 || w.levels1(h, at)
}

// levels2 checks the levels of a page of version 2, which stand before its
// values.
func (w *pageWalk) levels2(h *format.PageHeader, at int64) bool {
	v := &h.DataPageHeaderV2.V
	reps, defs := v.RepetitionLevelsByteLength, v.DefinitionLevelsByteLength
	if reps < 0 || defs < 0 || int64(reps)+int64(defs) > int64(h.CompressedPageSize) {
		return false
	}
	if (reps > 0) != (w.maxRep > 0) || (defs > 0) != (w.maxDef > 0) {
		return false
	}
	levels := make([]byte, reps+defs)
	if _, err := w.file.ReadAt(levels, at); err != nil {
		return false
	}
	if reps > 0 {
		c, ok := countLevels(levels[:reps], int(v.NumValues), w.maxRep)
		if !ok || v.NumRows >= 0 && c.zeros != int(v.NumRows) {
			return false
		}
	}
	if defs == 0 {
		return true
	}
	c, ok := countLevels(levels[reps:], int(v.NumValues), w.maxDef)
	return ok && (v.NumNulls < 0 || c.full == int(v.NumValues-v.NumNulls))
}

// levels1 checks the levels of a page of version 1, which are packed together
// with its values: they are there if the schema says so, and else they are
// not.
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
	n := int(h.DataPageHeader.V.NumValues)
	if w.maxRep > 0 {
		var there bool
		if body, there = cutLevels(body, n, w.maxRep); !there {
			return false
		}
	}
	_, there := cutLevels(body, n, max(w.maxDef, 1))
	return there == (w.maxDef > 0)
}

// cutLevels cuts n levels from the front of a page and tells whether they are
// there.
func cutLevels(body []byte, n, most int) (rest []byte, there bool) {
	if len(body) < 4 {
		return nil, false
	}
	size := int64(binary.LittleEndian.Uint32(body))
	if size > int64(len(body)-4) {
		return nil, false
	}
	_, there = countLevels(body[4:4+size], n, most)
	return body[4+size:], there
}

// levelCount is how many levels are the highest and how many are 0.
type levelCount struct{ full, zeros int }

func (c *levelCount) add(level, most, times int) {
	switch level {
	case most:
		c.full += times
	case 0:
		c.zeros += times
	}
}

// countLevels reads n levels up to most, in the run-length form. They must
// fill the bytes.
func countLevels(runs []byte, n, most int) (c levelCount, ok bool) {
	width := bits.Len(uint(most))
	have := 0
	for len(runs) > 0 {
		if have >= n {
			return c, false
		}
		head, size := binary.Uvarint(runs)
		if size <= 0 || head>>1 == 0 || head>>1 > uint64(max(n, len(runs))) {
			return c, false
		}
		runs = runs[size:]
		count := int(head >> 1)
		if head&1 == 0 { // one level, count times
			if len(runs) < 1 || int(runs[0]) > most || count > n-have {
				return c, false
			}
			have += count
			c.add(int(runs[0]), most, count)
			runs = runs[1:]
			continue
		}
		if len(runs) < count*width { // count groups of eight levels, more than there are: DuckDB fills up with zeros
			return c, false
		}
		for i := 0; i < 8*count && have < n; i++ {
			if width == 1 && i%8 == 0 && have+8 <= n {
				ones := bits.OnesCount8(runs[i/8])
				c.full, c.zeros, have, i = c.full+ones, c.zeros+8-ones, have+8, i+7
				continue
			}
			level := unpack(runs, i*width, width)
			if level > most {
				return c, false
			}
			c.add(level, most, 1)
			have++
		}
		runs = runs[count*width:]
	}
	return c, have == n
}

// unpack returns the number of so many bits, at most 8, that begins at a bit.
func unpack(data []byte, bit, width int) int {
	word := uint(data[bit/8])
	if bit/8+1 < len(data) {
		word |= uint(data[bit/8+1]) << 8
	}
	return int(word >> (bit % 8) & (1<<width - 1))
}

func ChunkStart(c *format.ColumnMetaData) int64 {
	if c.DictionaryPageOffset > 0 {
		return min(c.DictionaryPageOffset, c.DataPageOffset)
	}
	return c.DataPageOffset
}
