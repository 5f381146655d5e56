package table

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

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

// drawn is a column of batches that may be any of a schema, with values.
func drawn(t *rapid.T, name string, rows int) pipeline.Column {
	element := func(e format.SchemaElement, leaf bool) format.SchemaElement {
		e.RepetitionType = thrift.New(format.FieldRepetitionType(rapid.IntRange(0, 2).Draw(t, "repetition")))
		if leaf {
			e.Type = thrift.New(format.Type(rapid.IntRange(int(format.Boolean), int(format.FixedLenByteArray)).Draw(t, "type")))
		}
		if e.Type.Valid && e.Type.V == format.FixedLenByteArray {
			e.TypeLength = thrift.New(int32(rapid.IntRange(1, 20).Draw(t, "length")))
		}
		return e
	}
	var elements []format.SchemaElement
	var grow func(name string, depth int)
	grow = func(name string, depth int) {
		children := 0
		if depth < 3 {
			children = rapid.IntRange(0, 2).Draw(t, "children")
		}
		e := element(format.SchemaElement{Name: name}, children == 0)
		if children > 0 {
			e.NumChildren = thrift.New(int32(children))
		}
		elements = append(elements, e)
		for k := range children {
			grow(string(rune('z'-k)), depth+1) // not in the order in which names are sorted
		}
	}
	grow(name, 0)
	c := pipeline.Column{Name: name, Kind: pipeline.NestedColumn, Type: string(column.Type(elements))}
	all, ok := column.Of(elements)
	if !ok {
		t.Fatal("no schema")
	}
	for _, l := range all[0].Leaves {
		leaf := pipeline.Leaf{Full: byte(l.MaxDef), Width: widthOf(l.Element)}
		c.Leaves = append(c.Leaves, leaf)
	}
	for range rows {
		for k, l := range all[0].Leaves {
			draw(t, &c.Leaves[k], l)
		}
	}
	return c
}

// widthOf is how many bytes a value has; 0: any number.
func widthOf(e *format.SchemaElement) int {
	if e.Type.V == format.FixedLenByteArray {
		return int(e.TypeLength.V)
	}
	return [...]int{format.Boolean: 1, format.Int32: 4, format.Int64: 8, format.Int96: 12, format.Float: 4, format.Double: 8, format.ByteArray: 0}[e.Type.V]
}

// draw appends a row: leaves are drawn one by one, which is no tree, and is no matter of who writes columns.
func draw(t *rapid.T, to *pipeline.Leaf, l column.Leaf) {
	first := true
	for first || l.MaxRep > 0 && rapid.Bool().Draw(t, "more") {
		rep := 0
		if !first {
			rep = rapid.IntRange(1, l.MaxRep).Draw(t, "rep")
		}
		def := rapid.IntRange(0, l.MaxDef).Draw(t, "def")
		to.Rep, to.Def = append(to.Rep, byte(rep)), append(to.Def, byte(def))
		if def == l.MaxDef {
			size := to.Width
			if size == 0 {
				size = rapid.IntRange(0, 9).Draw(t, "size")
			}
			value := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "value")
			if l.Element.Type.V == format.Boolean {
				value[0] &= 1
			}
			to.Values.Append(value)
		}
		first = false
	}
	to.End()
}

// TestAnyColumn: columns of any type have the elements and values that they were read with, and the digest that Arrow's
// reader finds.
func TestAnyColumn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.IntRange(0, 12).Draw(t, "rows")
		var given []pipeline.Column
		var columns []column.Column
		for k := range rapid.IntRange(1, 3).Draw(t, "columns") {
			c := drawn(t, fmt.Sprintf("%c", 'c'-k), rows)
			to, err := column.Passed(&c)
			if err != nil {
				t.Fatal(err)
			}
			given, columns = append(given, c), append(columns, to)
		}
		var buf bytes.Buffer
		w := New(&buf, columns, 5)
		all := make([]int, rows)
		for i := range all {
			all[i] = i
		}
		if err := w.Each(all, func(i int) {
			at := 0
			for k := range given {
				for l := range given[k].Leaves {
					w.Columns[at].CopyLeaf(&given[k].Leaves[l], i)
					at++
				}
			}
		}); err != nil {
			t.Fatal(err)
		}
		n, digest, err := w.Close()
		if err != nil || n != int64(rows) {
			t.Fatalf("%d rows of %d, %v", n, rows, err)
		}
		if again, same, err := Verify("", bytes.NewReader(buf.Bytes()), int64(buf.Len())); err != nil || again != n || same != digest {
			t.Fatalf("read again: %d rows, %s for %s, %v", again, same, digest, err)
		}
		f, err := parquet.OpenFile(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err != nil {
			t.Fatal(err)
		}
		var elements []format.SchemaElement
		for _, c := range columns {
			elements = append(elements, c.Elements...)
		}
		if !bytes.Equal(column.Type(f.Metadata().Schema[1:]), column.Type(elements)) {
			t.Fatalf("elements %+v, want %+v", f.Metadata().Schema[1:], elements)
		}
		for _, g := range f.Metadata().RowGroups {
			at := 0
			for _, c := range columns {
				for _, l := range c.Leaves {
					if got := g.Columns[at].MetaData.PathInSchema; !slices.Equal(got, l.Path) {
						t.Fatalf("path %q, want %q", got, l.Path)
					}
					at++
				}
			}
		}
		if groups := len(f.RowGroups()); groups != (rows+4)/5 {
			t.Fatalf("%d row groups", groups)
		}
	})
}

// TestCopy copies a column of each kind that no file gave a type: values, nulls, and zeros where there is no null.
func TestCopy(t *testing.T) {
	given := []pipeline.Column{
		{Name: "bytes", Valid: []bool{true, false, true}, Bytes: pipeline.Bytes{Offsets: []int32{0, 2, 2, 2}, Data: []byte("ab")}},
		{Name: "int32", Kind: pipeline.Int32Column, Fixed: []uint64{uint64(math.MaxUint32), 0, 7}},
		{Name: "int64", Kind: pipeline.Int64Column, Fixed: []uint64{1 << 40, 0, 7}},
		{Name: "float", Kind: pipeline.FloatColumn, Fixed: []uint64{uint64(math.Float32bits(-1.5)), 0, 0}},
		{Name: "double", Kind: pipeline.DoubleColumn, Fixed: []uint64{math.Float64bits(2.25), 0, 0}},
		{Name: "bool", Kind: pipeline.BoolColumn, Fixed: []uint64{1, 0, 0}},
		{Name: "date", Kind: pipeline.DateColumn, Fixed: []uint64{3, 0, 0}},
		{Name: "time", Kind: pipeline.TimestampColumn, Fixed: []uint64{4, 0, 0}},
	}
	var columns []column.Column
	for i := range given {
		given[i].Valid = []bool{true, false, true}
		c, err := column.Passed(&given[i])
		if err != nil {
			t.Fatal(err)
		}
		columns = append(columns, c)
	}
	columns = append(columns, column.Text("text"), column.Int64("number"), column.Part("p")[0])
	var buf bytes.Buffer
	w := New(&buf, columns, 0)
	if err := w.Each([]int{0, 1, 2}, func(i int) {
		for k := range given {
			w.Columns[k].Copy(&given[k], i)
		}
		w.Columns[8].Copy(nil, i)
		w.Columns[9].Copy(nil, i)
	}); err != nil {
		t.Fatal(err)
	}
	_, digest, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	if _, same, err := Verify("", bytes.NewReader(buf.Bytes()), int64(buf.Len())); err != nil || same != digest {
		t.Errorf("read again: %s for %s, %v", same, digest, err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	rows := make([]parquet.Row, 3)
	r := f.RowGroups()[0].Rows()
	defer r.Close()
	if n, err := r.ReadRows(rows); n != 3 || err != nil && err != io.EOF {
		t.Fatal(n, err)
	}
	for i, want := range []string{
		"[ab -1 1099511627776 -1.5 2.25 true 3 4  0 p]", "[<null> <null> <null> <null> <null> <null> <null> <null>  0 p]", "[ 7 7 0 0 false 0 0  0 p]",
	} {
		if got := fmt.Sprint(rows[i]); got != want {
			t.Errorf("row %d: %s, want %s", i, got, want)
		}
	}
}

// TestRowGroups: pages are counted anew in each row group, and a column with too few values is an error.
func TestRowGroups(t *testing.T) {
	var buf bytes.Buffer
	const group, most = 20_000, (pageBytes-1)/75 + 1 // rows whose values, with a length each, are one byte less than a page, and one row
	w := New(&buf, []column.Column{column.Text("text")}, group)
	text := []byte(strings.Repeat("x", 71))
	for range 2 * group {
		w.Columns[0].Bytes(text)
		if err := w.Full(); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range f.RowGroups() {
		pages := g.ColumnChunks()[0].Pages()
		page, err := pages.ReadPage()
		if err != nil || page.NumValues() != most {
			t.Errorf("row group %d: a page of %d values, want %d: %v", i, page.NumValues(), most, err)
		}
		pages.Close()
	}
	w = New(io.Discard, []column.Column{column.Text("a"), column.Text("b")}, 0)
	w.Columns[0].Bytes(nil)
	if err := w.Rest(); err == nil || !strings.Contains(err.Error(), "column b has 0 of 1 rows") {
		t.Errorf("a column without its value: %v", err)
	}
}
