package pages

import (
	"bufio"
	"bytes"
	"errors"
	"hash/crc32"
	"io"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// Pages in LZ4 are unpacked here, and the library is given them as if nobody
// had packed them. It decodes a block into a buffer of its own when three
// times the block are more than the page, and then hands out the buffer that
// it did not decode into: other values, and no error (parquet-go 0.32,
// Column.decompress; found by scripts/interop/interop.py).

var ErrLZ4 = errors.New("a page cannot be decompressed")

// unpackedChunk returns the pages of a chunk as they would stand in a file that is
// not compressed, and says so in its metadata. at is where they will stand.
func Unpack(file io.ReaderAt, c *format.ColumnMetaData, at int64) ([]byte, error) {
	var out bytes.Buffer
	from := ChunkStart(c)
	end, values := from+c.TotalCompressedSize, int64(0)
	data, dictionary := int64(0), int64(0)
	for buf := bufio.NewReaderSize(nil, 1<<12); values < c.NumValues && from < end; {
		section := io.NewSectionReader(file, from, end-from)
		buf.Reset(section)
		var h format.PageHeader
		if err := thrift.NewDecoder(new(thrift.CompactProtocol).NewReader(buf)).Decode(&h); err != nil {
			return nil, ErrLZ4
		}
		read, err := section.Seek(0, io.SeekCurrent)
		if err != nil {
			return nil, err
		}
		from += read - int64(buf.Buffered())
		here := at + int64(out.Len())
		if h.Type == format.DictionaryPage {
			dictionary = here
		} else if data == 0 {
			data = here
		}
		size := int64(h.CompressedPageSize)
		if size < 0 || size > end-from {
			return nil, ErrLZ4
		}
		if err := unpackPage(&out, file, &h, from); err != nil {
			return nil, err
		}
		from += size
		switch h.Type {
		case format.DataPage:
			values += int64(h.DataPageHeader.V.NumValues)
		case format.DataPageV2:
			values += int64(h.DataPageHeaderV2.V.NumValues)
		}
	}
	c.Codec, c.DataPageOffset, c.DictionaryPageOffset = format.Uncompressed, data, dictionary
	c.TotalCompressedSize, c.TotalUncompressedSize = int64(out.Len()), int64(out.Len())
	return out.Bytes(), nil
}

// unpackPage appends a page, whose body stands at a place of the file.
func unpackPage(out *bytes.Buffer, file io.ReaderAt, h *format.PageHeader, at int64) error {
	body := make([]byte, h.CompressedPageSize)
	if _, err := file.ReadAt(body, at); err != nil {
		return err
	}
	if h.CRC != 0 && uint32(h.CRC) != crc32.ChecksumIEEE(body) {
		return ErrSum
	}
	levels, size := int32(0), h.UncompressedPageSize // levels of version 2 are never packed
	if v := &h.DataPageHeaderV2.V; h.Type == format.DataPageV2 {
		levels = v.RepetitionLevelsByteLength + v.DefinitionLevelsByteLength
		size -= levels
		if v.IsCompressed.Valid && !v.IsCompressed.V {
			size = 0
			levels = h.CompressedPageSize
		}
		v.IsCompressed = thrift.New(false)
	}
	if levels < 0 || levels > h.CompressedPageSize || size < 0 || int(size) > 256*len(body) { // a block of LZ4 holds at most 255 bytes for each of its own
		return ErrLZ4
	}
	plain := make([]byte, size)
	if block := body[levels:]; len(block)+len(plain) > 0 {
		if n, err := lz4.UncompressBlock(block, plain); err != nil || n != len(plain) {
			return ErrLZ4
		}
	}
	body = append(body[:levels:levels], plain...)
	h.CRC, h.CompressedPageSize, h.UncompressedPageSize = 0, int32(len(body)), int32(len(body))
	head, err := thrift.Marshal(new(thrift.CompactProtocol), *h)
	if err != nil {
		return ErrLZ4
	}
	out.Write(head)
	out.Write(body)
	return nil
}
