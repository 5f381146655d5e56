package table

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/column"
)

// TestVerifyTellsRowsApart: a digest of other rows is another digest.
func TestVerifyTellsRowsApart(t *testing.T) {
	digests := map[string]int{}
	for i, texts := range [][]string{{"a", "b"}, {"b", "a"}, {"ab", ""}, {"", "ab"}, {"a"}, {"a", "b", ""}, {}} {
		var buf bytes.Buffer
		w := New(&buf, []column.Column{column.Text("text")}, 0)
		for _, s := range texts {
			w.Columns[0].Bytes([]byte(s))
		}
		if err := w.flush(len(texts)); err != nil {
			t.Fatal(err)
		}
		_, digest, err := w.Close()
		if err != nil {
			t.Fatal(err)
		}
		if before, twice := digests[digest]; twice {
			t.Errorf("%q has the digest of number %d", texts, before)
		}
		digests[digest] = i
		rows, again, err := Verify("masked", bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err != nil || rows != int64(len(texts)) || again != digest {
			t.Errorf("%q: re-read %d rows, digest %s, wrote %s: %v", texts, rows, again, digest, err)
		}
	}
}

// TestPageRoom: pages end where the rows say, never where the library's room ends,
// whatever is missing.
func TestPageRoom(t *testing.T) {
	t.Parallel()
	var columns []column.Column
	for _, c := range []pipeline.Column{{Name: "n", Kind: pipeline.Int64Column}, {Name: "s"}, {Name: "none", Kind: pipeline.Int32Column}} {
		passed, err := column.Passed(&c)
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, passed)
	}
	columns = append(columns, column.Text("text"))
	var buf bytes.Buffer
	w := New(&buf, columns, 0)
	value, text := []byte("seis66"), []byte(strings.Repeat("x", 60)) // 16 rows a kB
	for i := range RowGroupRows {
		w.Columns[0].Int64(int64(i))
		w.Columns[1].Bytes(value)
		w.Columns[2].Null()
		w.Columns[3].Bytes(text)
		if n := w.Pending(); n == w.Room() {
			if err := w.flush(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{1, 1, 1, 1 + RowGroupRows*64/pageBytes} {
		pages, n := f.RowGroups()[0].ColumnChunks()[i].Pages(), 0
		for ; ; n++ {
			if _, err := pages.ReadPage(); err != nil {
				break
			}
		}
		pages.Close()
		if n != want {
			t.Errorf("column %s has %d pages, want %d", columns[i].Name, n, want)
		}
	}
	if room := pageRoom(columns[3:], RowGroupRows); room > 2*pageBytes {
		t.Errorf("%d bytes for each column of numbers", room)
	}
}

// TestDigestOfValues has what a digest sums up of each kind of value: its bytes as in a page, lengths of byte strings alone, and
// levels only where there are some.
func TestDigestOfValues(t *testing.T) {
	for _, c := range []struct {
		value                    parquet.Value
		payload, lengths, levels string
	}{
		{parquet.Int32Value(-2).Level(0, 1, 0), "feffffff", "", "01"},
		{parquet.Int64Value(3).Level(1, 2, 0), "0300000000000000", "", "12"},
		{parquet.BooleanValue(true), "01", "", "00"},
		{parquet.FloatValue(1), "0000803f", "", "00"},
		{parquet.DoubleValue(1), "000000000000f03f", "", "00"},
		{parquet.ByteArrayValue([]byte("ab")).Level(0, 1, 0), "6162", "02000000", "01"},
		{parquet.ByteArrayValue(nil).Level(0, 1, 0), "", "00000000", "01"},
		{parquet.FixedLenByteArrayValue([]byte("abc")), "616263", "03000000", "00"},
		{parquet.Int96Value(deprecated.Int96{1, 2, 3}), "010000000200000003000000", "0c000000", "00"},
		{parquet.NullValue(), "", "", "00"},
	} {
		for _, leveled := range []bool{false, true} {
			d := NewDigest(leveled)
			d.Values([]parquet.Value{c.value})
			levels := c.levels
			if !leveled {
				levels = ""
			}
			if got := fmt.Sprintf("%x %x %x", d.payload, d.lengths, d.levels); got != c.payload+" "+c.lengths+" "+levels {
				t.Errorf("%v: %s", c.value.Kind(), got)
			}
		}
	}
}
