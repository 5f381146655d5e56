package pages

import (
	"bytes"
	"hash/crc32"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"github.com/pierrec/lz4/v4"
)

// page makes a page of version 2 with three bytes of levels and a body, packed or not.
func page(t testing.TB, body []byte, packed bool, change func(*format.PageHeader)) []byte {
	t.Helper()
	levels, block := []byte{9, 8, 7}, bytes.Clone(body)
	if packed {
		block = make([]byte, lz4.CompressBlockBound(len(body)))
		n, err := lz4.CompressBlock(body, block, nil)
		if err != nil {
			t.Fatal(err)
		}
		block = block[:n]
	}
	data := append(levels, block...)
	h := format.PageHeader{Type: format.DataPageV2, UncompressedPageSize: int32(3 + len(body)), CompressedPageSize: int32(len(data)), CRC: int32(crc32.ChecksumIEEE(data))}
	v := &h.DataPageHeaderV2.V
	h.DataPageHeaderV2.Valid = true
	v.NumValues, v.RepetitionLevelsByteLength, v.DefinitionLevelsByteLength = 5, 1, 2
	v.IsCompressed = thrift.New(packed)
	if change != nil {
		change(&h)
	}
	head, err := thrift.Marshal(new(thrift.CompactProtocol), h)
	if err != nil {
		t.Fatal(err)
	}
	return append(head, data...)
}

// chunk is the metadata of a chunk of so many bytes and values at the beginning of a file.
func chunk(size, values int) *format.ColumnMetaData {
	return &format.ColumnMetaData{Codec: format.Lz4Raw, NumValues: int64(values), TotalCompressedSize: int64(size)}
}

func TestUnpack(t *testing.T) {
	body := bytes.Repeat([]byte("abcd"), 50)
	for _, packed := range []bool{true, false} {
		file := page(t, body, packed, nil)
		file = append(file, page(t, body, true, nil)...)
		c := chunk(len(file), 10)
		got, err := Unpack(bytes.NewReader(file), c, 100)
		if err != nil || bytes.Count(got, append([]byte{9, 8, 7}, body...)) != 2 || c.Codec != format.Uncompressed || c.DataPageOffset != 100 || c.DictionaryPageOffset != 0 || c.TotalCompressedSize != int64(len(got)) || c.TotalUncompressedSize != int64(len(got)) {
			t.Errorf("packed %t: %d bytes, %+v, %v", packed, len(got), c, err)
		}
		again, err := Unpack(bytes.NewReader(got), chunk(len(got), 10), 0) // what is unpacked says so
		if err != nil || !bytes.Equal(again, got) {
			t.Errorf("packed %t, unpacked twice: %v", packed, err)
		}
	}
	for name, change := range map[string]func(*format.PageHeader){
		"the sum is another one": func(h *format.PageHeader) { h.CRC++ },
		"more levels than bytes": func(h *format.PageHeader) { h.DataPageHeaderV2.V.DefinitionLevelsByteLength = 1 << 20 },
		"fewer levels than none": func(h *format.PageHeader) { h.DataPageHeaderV2.V.DefinitionLevelsByteLength = -9 },
		"fewer bytes":            func(h *format.PageHeader) { h.UncompressedPageSize-- },
		"more bytes":             func(h *format.PageHeader) { h.UncompressedPageSize++ },
		"less than nothing":      func(h *format.PageHeader) { h.UncompressedPageSize = 2 },
		"a size below 0":         func(h *format.PageHeader) { h.CompressedPageSize = -1 },
		"a size behind the end":  func(h *format.PageHeader) { h.CompressedPageSize++ },
	} {
		file := page(t, body, true, change)
		if _, err := Unpack(bytes.NewReader(file), chunk(len(file), 5), 0); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, size := range map[string]int32{"a body of nothing": 10, "two gigabytes of nothing": 1<<31 - 1} {
		file := page(t, nil, false, func(h *format.PageHeader) {
			h.UncompressedPageSize, h.DataPageHeaderV2.V.IsCompressed = size, thrift.New(true)
		})
		if _, err := Unpack(bytes.NewReader(file), chunk(len(file), 5), 0); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	levels := page(t, nil, false, nil) // a page of nulls alone has levels and no body
	if got, err := Unpack(bytes.NewReader(levels), chunk(len(levels), 5), 0); err != nil || !bytes.HasSuffix(got, []byte{9, 8, 7}) {
		t.Errorf("levels alone: %v", err)
	}
}

func FuzzUnpack(f *testing.F) {
	f.Add(page(f, bytes.Repeat([]byte("abcd"), 50), true, nil))
	f.Add(page(f, nil, false, nil))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<12 {
			return
		}
		c := chunk(len(data), 5)
		if got, err := Unpack(bytes.NewReader(data), c, 0); err == nil && c.TotalCompressedSize != int64(len(got)) {
			t.Fatalf("%d bytes, %d said", len(got), c.TotalCompressedSize)
		}
	})
}
