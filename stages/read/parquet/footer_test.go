package parquet

import (
	"encoding/binary"
	"io"
	"slices"
	"strings"
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

// TestOtherEnd reads a file of abcdefgh as if it were abcdxyz.
func TestOtherEnd(t *testing.T) {
	for _, tt := range []struct {
		at   int64
		size int
		want string
		err  error
	}{
		{0, 3, "abc", nil}, {1, 3, "bcd", nil}, {2, 4, "cdxy", nil}, {0, 7, "abcdxyz", nil}, {0, 8, "abcdxyz", io.EOF},
		{4, 3, "xyz", nil}, {5, 2, "yz", nil}, {6, 2, "z", io.EOF}, {7, 1, "", io.EOF}, {8, 1, "", io.EOF}, {99, 5, "", io.EOF},
	} {
		o := otherEnd{strings.NewReader("abcdefgh"), 4, []byte("xyz")}
		p := make([]byte, tt.size)
		n, err := o.ReadAt(p, tt.at)
		if string(p[:n]) != tt.want || err != tt.err {
			t.Errorf("%d bytes at %d: %q, %v, want %q, %v", tt.size, tt.at, p[:n], err, tt.want, tt.err)
		}
	}
	o := otherEnd{strings.NewReader("ab"), 4, []byte("xyz")}
	if n, err := o.ReadAt(make([]byte, 5), 1); n != 1 || err == nil {
		t.Errorf("%d bytes of a file that is shorter than it was, %v", n, err)
	}
}
