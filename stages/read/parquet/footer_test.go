package parquet

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
)

// patchFooter changes the footer of a file.
func patchFooter(t testing.TB, data []byte, change func(m *format.FileMetaData)) []byte {
	t.Helper()
	size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	body, footer := data[:len(data)-8-size], data[len(data)-8-size:len(data)-8]
	var m format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), footer, &m); err != nil {
		t.Fatal(err)
	}
	change(&m)
	out, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	if err != nil {
		t.Fatal(err)
	}
	all := append(slices.Clone(body), out...)
	all = binary.LittleEndian.AppendUint32(all, uint32(len(out)))
	return append(all, "PAR1"...)
}
