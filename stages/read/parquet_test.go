package read

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/secret"
)

// testColumn is a column of a test file: nil is null.
type testColumn struct {
	name   string
	node   parquet.Node
	values []any
}

// writeTestFile writes columns, perGroup rows a row group.
func writeTestFile(t testing.TB, path string, columns []testColumn, perGroup int, options ...parquet.WriterOption) {
	t.Helper()
	group := parquet.Group{}
	for _, c := range columns {
		group[c.name] = c.node
	}
	schema := parquet.NewSchema("test", group)
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[any](&buf, append(options, schema)...)
	rows := len(columns[0].values)
	for from := 0; from < rows; from += perGroup {
		for _, c := range columns {
			leaf, ok := schema.Lookup(c.name)
			if !ok {
				continue // nested: written by others
			}
			for _, v := range c.values[min(from, len(c.values)):min(from+perGroup, len(c.values))] {
				value := parquet.NullValue().Level(0, 0, leaf.ColumnIndex)
				if v != nil {
					value = parquet.ValueOf(v).Level(0, leaf.MaxDefinitionLevel, leaf.ColumnIndex)
				}
				if _, err := w.ColumnWriters()[leaf.ColumnIndex].WriteRowValues([]parquet.Value{value}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// note is what is read of a row.
type note struct {
	row    int64
	id     string
	text   string
	reason pipeline.Reason
	extra  string
}

// notesOf reads a source to its end.
func notesOf(src pipeline.Source) ([]note, error) {
	var notes []note
	var b pipeline.Batch
	for {
		b.Reset()
		err := src.Next(&b)
		if err == io.EOF {
			return notes, nil
		}
		if err != nil {
			return notes, err
		}
		if b.Len() == 0 || len(b.Reason) != b.Len() || b.ID.Len() != b.Len() {
			return notes, fmt.Errorf("batch of %d notes, %d ids, %d reasons", b.Len(), b.ID.Len(), len(b.Reason))
		}
		for i := range b.Len() {
			n := note{b.First + int64(i), string(b.ID.At(i)), string(b.Text.At(i)), b.Reason[i], ""}
			for k := range b.Extra {
				c := &b.Extra[k]
				switch {
				case !c.Valid[i]:
					n.extra += c.Name + "=null "
				case c.Kind == pipeline.BytesColumn:
					n.extra += fmt.Sprintf("%s=%s ", c.Name, c.Bytes.At(i))
				case c.Kind == pipeline.Int32Column, c.Kind == pipeline.DateColumn:
					n.extra += fmt.Sprintf("%s=%d ", c.Name, int32(c.Fixed[i]))
				default:
					n.extra += fmt.Sprintf("%s=%d ", c.Name, int64(c.Fixed[i]))
				}
			}
			notes = append(notes, n)
		}
	}
}

func readFile(t testing.TB, path string, o ParquetOptions) []note {
	t.Helper()
	p, err := NewParquet(path, 0, -1, o)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := notesOf(p)
	if err := errors.Join(err, p.Close()); err != nil {
		t.Fatal(err)
	}
	return notes
}

var codecs = map[string]compress.Codec{
	"none": &parquet.Uncompressed, "lz4": &parquet.Lz4Raw, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "brotli": &parquet.Brotli,
}

var textEncodings = map[string]encoding.Encoding{
	"plain": &parquet.Plain, "dictionary": &parquet.RLEDictionary, "delta length": &parquet.DeltaLengthByteArray, "delta": &parquet.DeltaByteArray,
}

func TestEncodings(t *testing.T) {
	dir := t.TempDir()
	rng := rand.New(rand.NewPCG(1, 2))
	var texts, ids, numbers []any
	for i := range 500 {
		texts = append(texts, strings.Repeat("año ", rng.IntN(40))+fmt.Sprint(rng.IntN(60)))
		ids = append(ids, int64(i*i)-7)
		numbers = append(numbers, int32(-i))
	}
	for codecName, codec := range codecs {
		for encName, enc := range textEncodings {
			for _, version := range []int{1, 2} {
				for _, optional := range []bool{false, true} {
					name := fmt.Sprintf("%s %s v%d optional %v", codecName, encName, version, optional)
					wrap, want := parquet.Required, slices.Clone(texts)
					if optional {
						wrap = parquet.Optional
						for i := 0; i < len(want); i += 7 {
							want[i] = nil
						}
					}
					path := filepath.Join(dir, "x.parquet")
					writeTestFile(t, path, []testColumn{
						{"note_id", wrap(parquet.Int(64)), ids},
						{"text", wrap(parquet.Encoded(parquet.String(), enc)), want},
						{"n", wrap(parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked)), numbers},
					}, 190, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(700))
					notes := readFile(t, path, ParquetOptions{Pass: []string{"n"}, BatchNotes: 77})
					if len(notes) != len(want) {
						t.Fatalf("%s: %d notes", name, len(notes))
					}
					for i, n := range notes {
						wanted := note{int64(i), fmt.Sprint(ids[i]), "", pipeline.NullText, fmt.Sprintf("n=%d ", -i)}
						if want[i] != nil {
							wanted.text, wanted.reason = want[i].(string), pipeline.Sound
						}
						if n != wanted {
							t.Fatalf("%s: note %d is not as it was written", name, i)
						}
					}
				}
			}
		}
	}
}

// TestShapes writes files of random shape and reads random ranges of them.
func TestShapes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.IntRange(0, 60).Draw(rt, "rows")
		var texts, ids, extras []any
		for range rows {
			texts = append(texts, drawNullable(rt, "text", rapid.StringN(0, 20, 60)))
			ids = append(ids, drawNullable(rt, "id", rapid.StringMatching("[a-z0-9]{1,8}")))
			extras = append(extras, drawNullable(rt, "extra", rapid.Int64()))
		}
		perGroup := rapid.IntRange(1, 20).Draw(rt, "rows a group")
		writeTestFile(t, path, []testColumn{
			{"note_id", parquet.Optional(parquet.Encoded(parquet.String(), rapid.SampledFrom([]encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary}).Draw(rt, "id encoding"))), ids},
			{"text", parquet.Optional(parquet.Encoded(parquet.String(), rapid.SampledFrom([]encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary}).Draw(rt, "text encoding"))), texts},
			{"x", parquet.Optional(parquet.Int(64)), extras},
		}, perGroup, parquet.PageBufferSize(rapid.IntRange(32, 300).Draw(rt, "page")))
		groups := (rows + perGroup - 1) / perGroup
		from := rapid.IntRange(0, groups).Draw(rt, "from")
		to := rapid.IntRange(from, groups).Draw(rt, "to")
		p, err := NewParquet(path, from, to, ParquetOptions{
			Pass: []string{"x"}, BatchNotes: rapid.IntRange(1, 30).Draw(rt, "notes"), BatchBytes: rapid.IntRange(1, 200).Draw(rt, "bytes"),
		})
		if err != nil {
			rt.Fatal(err)
		}
		defer p.Close()
		notes, err := notesOf(p)
		if err != nil {
			rt.Fatal(err)
		}
		first := from * perGroup
		if len(notes) != min(to*perGroup, rows)-min(first, rows) {
			rt.Fatalf("%d notes of row groups %d to %d", len(notes), from, to)
		}
		for i, n := range notes {
			if want := expected(int64(first+i), ids[first+i], texts[first+i], extras[first+i]); n != want {
				rt.Fatalf("note %d: %+v, want %+v", i, n, want)
			}
		}
	})
}

func drawNullable[T any](rt *rapid.T, label string, g *rapid.Generator[T]) any {
	if rapid.IntRange(0, 5).Draw(rt, label+" null") == 0 {
		return nil
	}
	return g.Draw(rt, label)
}

func expected(row int64, id, text, extra any) note {
	n := note{row: row, extra: "x=null "}
	if extra != nil {
		n.extra = fmt.Sprintf("x=%d ", extra)
	}
	if id == nil {
		n.reason = pipeline.NullID
	} else {
		n.id = id.(string)
	}
	if text == nil {
		n.reason = pipeline.NullText
	} else if n.text = text.(string); strings.Contains(n.text, "\x00") {
		n.reason = pipeline.ControlText
	}
	return n
}

func TestReasons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	writeTestFile(t, path, []testColumn{
		{"note_id", parquet.Optional(parquet.String()), []any{"a", "b", "c", "d", "e", nil, "", "line\nbreak", strings.Repeat("x", 201), "\xff", "k"}},
		{"text", parquet.Optional(parquet.String()), []any{"sound", nil, "", "bad \xff", "long enough", "x", "x", "x", "x", "x", "a\x00b"}},
	}, 100)
	notes := readFile(t, path, ParquetOptions{MaxText: 10})
	want := []note{
		{0, "a", "sound", pipeline.Sound, ""},
		{1, "b", "", pipeline.NullText, ""},
		{2, "c", "", pipeline.Sound, ""},
		{3, "d", "bad \xff", pipeline.BadEncoding, ""},
		{4, "e", "", pipeline.TooLong, ""},
		{5, "", "x", pipeline.NullID, ""},
		{6, "", "x", pipeline.NullID, ""},
		{7, "", "x", pipeline.NullID, ""},
		{8, "", "x", pipeline.NullID, ""},
		{9, "", "x", pipeline.NullID, ""},
		{10, "k", "a\x00b", pipeline.ControlText, ""},
	}
	if !slices.Equal(notes, want) {
		t.Errorf("got  %+v\nwant %+v", notes, want)
	}
	for i, n := range readFile(t, path, ParquetOptions{NullIDs: NumberNullIDs}) {
		if n.reason == pipeline.NullID || n.id == "" || i >= 5 && i < 10 && n.id != fmt.Sprint(i) {
			t.Errorf("note %d has id %q, reason %v", i, n.id, n.reason)
		}
	}
}

func TestIDs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.parquet")
	writeTestFile(t, path, []testColumn{
		{"a", parquet.Int(32), []any{int32(-1), int32(7), int32(7)}},
		{"b", parquet.Uint(64), []any{uint64(1) << 63, uint64(2), uint64(2)}},
		{"c", parquet.String(), []any{"x", "y", "y"}},
		{"text", parquet.String(), []any{"1", "2", "3"}},
	}, 2)
	key := testKey(t)
	ids := func(o ParquetOptions) (all []string) {
		o.ID = []string{"a", "b", "c"}
		for _, n := range readFile(t, path, o) {
			all = append(all, n.id)
		}
		return all
	}
	if got := ids(ParquetOptions{}); !slices.Equal(got, []string{"-1|9223372036854775808|x", "7|2|y", "7|2|y"}) {
		t.Errorf("kept: %q", got)
	}
	if got := ids(ParquetOptions{IDs: DropIDs}); !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("dropped: %q", got)
	}
	keyed := ids(ParquetOptions{IDs: KeyIDs, Key: key})
	if len(keyed[0]) != 32 || keyed[0] == keyed[1] || keyed[1] != keyed[2] || strings.Contains(strings.Join(keyed, ""), "|") {
		t.Errorf("keyed: %q", keyed)
	}
	if _, err := NewParquet(path, 0, -1, ParquetOptions{ID: []string{"a"}, IDs: KeyIDs}); err == nil {
		t.Error("keyed ids without a key")
	}
}

func testKey(t *testing.T) *secret.Key {
	t.Helper()
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, bytes.Repeat([]byte("kq"), 16), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := secret.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestJoinedIDs: ids of different columns are different ids, bars or not.
func TestJoinedIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[|\\a1]{1,4}`)
		columns, rows := make([]pipeline.Bytes, 2), [2][2]string{}
		for k := range columns {
			for i := range rows {
				rows[i][k] = part.Draw(t, "part")
				columns[k].Append([]byte(rows[i][k]))
			}
		}
		b := &pipeline.Batch{Reason: make([]pipeline.Reason, 2)}
		b.Text.Append(nil)
		b.Text.Append(nil)
		n := newNaming(&ParquetOptions{})
		n.name(b, columns)
		if same := bytes.Equal(b.ID.At(0), b.ID.At(1)); same != (rows[0] == rows[1]) {
			t.Errorf("%q have the ids %q and %q", rows, b.ID.At(0), b.ID.At(1))
		}
	})
}

// TestFileMark: the mark of a file says nothing of its content.
func TestFileMark(t *testing.T) {
	a := commit.Unit{Input: "/a/notes.csv", Source: "notes.csv", SHA256: [32]byte{1}}
	b := a
	b.SHA256[0] = 2
	var open, keyed Archive
	keyed.o.Key = testKey(t)
	if open.Mark(&a) != open.Mark(&b) {
		t.Error("without a key the mark depends on the content")
	}
	if keyed.Mark(&a) == keyed.Mark(&b) || keyed.Mark(&a) == open.Mark(&a) {
		t.Error("with a key it does not")
	}
	if b.Copy++; open.Mark(&a) == open.Mark(&b) {
		t.Error("twins have one mark")
	}
}

func TestExtraKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	writeTestFile(t, path, []testColumn{
		{"note_id", parquet.Int(64), []any{int64(1), int64(2)}},
		{"text", parquet.String(), []any{"a", "b"}},
		{"bool", parquet.Optional(parquet.Leaf(parquet.BooleanType)), []any{true, nil}},
		{"date", parquet.Date(), []any{int32(-3), int32(20000)}},
		{"ms", parquet.Timestamp(parquet.Millisecond), []any{int64(5), int64(-5)}},
		{"us", parquet.Timestamp(parquet.Microsecond), []any{int64(5), int64(-5)}},
		{"ns", parquet.Timestamp(parquet.Nanosecond), []any{int64(5001), int64(-5001)}},
		{"u32", parquet.Uint(32), []any{uint32(1 << 31), uint32(2)}},
		{"float", parquet.Leaf(parquet.FloatType), []any{float32(1), float32(0)}},
		{"double", parquet.Leaf(parquet.DoubleType), []any{float64(0), float64(1)}},
		{"patient", parquet.Optional(parquet.Encoded(parquet.String(), &parquet.RLEDictionary)), []any{"p", nil}},
	}, 9)
	for _, tt := range []struct {
		o    ParquetOptions
		want [2]string
	}{
		{ParquetOptions{PatientID: "patient", Date: "date", Pass: []string{"bool", "ms", "us", "ns", "u32", "float", "double"}}, [2]string{ // kept: as they are
			"patient_id=P date=-3 bool=1 ms=5 us=5 ns=5001 u32=-2147483648 float=1065353216 double=0 ",
			"patient_id=null date=20000 bool=null ms=-5 us=-5 ns=-5001 u32=2 float=0 double=4607182418800017408 ",
		}},
		{ParquetOptions{PatientID: "u32", Date: "ms", Center: "ns"}, [2]string{ // used: in one unit
			"patient_id==2147483648 date=5000 center=5 ", "patient_id==2 date=-5000 center=-6 ",
		}},
	} {
		for i, n := range readFile(t, path, tt.o) {
			if n.extra != tt.want[i] {
				t.Errorf("note %d:\n%s\n%s", i, n.extra, tt.want[i])
			}
		}
	}
}

func TestInt96(t *testing.T) {
	b := make([]byte, 12)
	binary.LittleEndian.PutUint64(b, 3_000_001_500)
	binary.LittleEndian.PutUint32(b[8:], 2440589)
	if got := int96Micros(b); got != 86_400_000_000+3_000_001 {
		t.Errorf("%d microseconds", got)
	}
}

type fakeCodec struct {
	uncompressed.Codec
	id format.CompressionCodec
}

func (c *fakeCodec) CompressionCodec() format.CompressionCodec { return c.id }

// TestBadSchemas: each error names the file, the column, what was found, and
// what to do.
func TestBadSchemas(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	id := testColumn{"note_id", parquet.Int(64), []any{int64(1)}}
	text := testColumn{"text", parquet.String(), []any{"a"}}
	nested := parquet.Group{"value": parquet.String()}
	for _, tt := range []struct {
		name    string
		columns []testColumn
		o       ParquetOptions
		want    []string
	}{
		{"missing text", []testColumn{id, {"texto", parquet.String(), []any{"a"}}}, ParquetOptions{}, []string{`column "text" is missing`, `did you mean "texto"`}},
		{"missing, nothing near", []testColumn{id, {"observaciones", parquet.String(), []any{"a"}}}, ParquetOptions{}, []string{`column "text" is missing`, `note_id, observaciones`}},
		{"missing id", []testColumn{text, {"NoteID", parquet.Int(64), []any{int64(1)}}}, ParquetOptions{}, []string{`column "note_id" is missing`, `"NoteID"`}},
		{"text is a number", []testColumn{id, {"text", parquet.Int(32), []any{int32(1)}}}, ParquetOptions{}, []string{`column "text" is INT32`, "not text"}},
		{"text is a list", []testColumn{id, {"text", parquet.List(parquet.String()), nil}}, ParquetOptions{}, []string{`column "text" is nested (LIST)`}},
		{"text is a struct", []testColumn{id, {"text", nested, nil}}, ParquetOptions{}, []string{`column "text" is nested (a struct)`}},
		{"text is a map", []testColumn{id, {"text", parquet.Map(parquet.String(), parquet.String()), nil}}, ParquetOptions{}, []string{`column "text" is nested (MAP)`}},
		{"text is repeated", []testColumn{id, {"text", parquet.Repeated(parquet.String()), nil}}, ParquetOptions{}, []string{`column "text" is a list`}},
		{"text is a decimal of bytes", []testColumn{id, {"text", parquet.Decimal(2, 9, parquet.ByteArrayType), nil}}, ParquetOptions{}, []string{`column "text" is BYTE_ARRAY DECIMAL`}},
		{"id is a date", []testColumn{text, {"note_id", parquet.Date(), []any{int32(1)}}}, ParquetOptions{}, []string{`column "note_id" is INT32 DATE`, "not an id"}},
		{"id is a float", []testColumn{text, {"note_id", parquet.Leaf(parquet.DoubleType), []any{1.0}}}, ParquetOptions{}, []string{`column "note_id" is DOUBLE`}},
		{"extra is missing", []testColumn{id, text}, ParquetOptions{Pass: []string{"center"}}, []string{`column "center" is missing`}},
		{"extra is nested", []testColumn{id, text, {"center", nested, nil}}, ParquetOptions{Center: "center"}, []string{`column "center" is nested`}},
		{"extra is a uuid", []testColumn{id, text, {"center", parquet.UUID(), nil}}, ParquetOptions{Center: "center"}, []string{`column "center" is FIXED_LEN_BYTE_ARRAY UUID`}},
	} {
		writeTestFile(t, path, tt.columns, 10)
		_, err := NewParquet(path, 0, -1, tt.o)
		wrong, ok := errors.AsType[*SchemaError](err)
		if !ok || wrong.Path != path || wrong.Remedy == "" {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		for _, part := range tt.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: %q is not in: %v", tt.name, part, err)
			}
		}
	}
}

// sampleFile writes a sound file of some pages and returns its bytes.
func sampleFile(t testing.TB, options ...parquet.WriterOption) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.parquet")
	var ids, texts []any
	for i := range 300 {
		ids = append(ids, int64(i))
		texts = append(texts, fmt.Sprintf("note number %d, dolor lumbar", i))
	}
	writeTestFile(t, path, []testColumn{{"note_id", parquet.Int(64), ids}, {"text", parquet.Optional(parquet.String()), texts}},
		150, append([]parquet.WriterOption{parquet.PageBufferSize(1000)}, options...)...)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

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

// TestDamage: each error names the file and the cause, and no note is made up.
func TestDamage(t *testing.T) {
	sound := sampleFile(t)
	path := filepath.Join(t.TempDir(), "x.parquet")
	flipped := slices.Clone(sound)
	at := bytes.Index(flipped, []byte("note number 7")) // the file is not compressed
	flipped[at] ^= 1
	meta := func(change func(m *format.FileMetaData)) []byte { return patchFooter(t, sound, change) }
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "the file is empty"},
		{"short", []byte("PAR1"), "is no Parquet file"},
		{"text", []byte("some text that is no Parquet file"), "is no Parquet file"},
		{"truncated", sound[:len(sound)-100], "is truncated"},
		{"cut in the middle", sound[:len(sound)/2], "is truncated"},
		{"encrypted", append(slices.Clone(sound[:len(sound)-4]), "PARE"...), "encrypted"},
		{"footer length", append(append(slices.Clone(sound[:len(sound)-8]), 0xff, 0xff, 0xff, 0x7f), "PAR1"...), "its footer is longer than the file"},
		{"footer cleared", append(append(make([]byte, 0), sound[:4]...), append(make([]byte, 600), sound[len(sound)-8:]...)...), "footer"},
		{"flipped bit", flipped, "checksum"},
		{"rows of the file", meta(func(m *format.FileMetaData) { m.NumRows++ }), "its footer says 301 rows, its row groups 300"},
		{"rows of a group", meta(func(m *format.FileMetaData) { m.RowGroups[1].NumRows += 5; m.NumRows += 5 }), "values in 155 rows"},
		{"values too", meta(func(m *format.FileMetaData) {
			m.RowGroups[1].NumRows += 5
			m.NumRows += 5
			for i := range m.RowGroups[1].Columns {
				m.RowGroups[1].Columns[i].MetaData.NumValues += 5
			}
		}), "the footer says 155"},
		{"fewer rows", meta(func(m *format.FileMetaData) {
			m.RowGroups[0].NumRows -= 5
			m.NumRows -= 5
			for i := range m.RowGroups[0].Columns {
				m.RowGroups[0].Columns[i].MetaData.NumValues -= 5
			}
		}), "than the footer says"},
		{"negative rows", meta(func(m *format.FileMetaData) { m.RowGroups[1].NumRows = -1 }), "footer"},
		{"outside", meta(func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.DataPageOffset = 1 << 40 }), "outside the file"},
		{"wrong place", meta(func(m *format.FileMetaData) { m.RowGroups[0].Columns[1].MetaData.DataPageOffset += 3 }), ""},
	} {
		if err := os.WriteFile(path, tt.data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := NewParquet(path, 0, -1, ParquetOptions{})
		var notes []note
		if err == nil {
			notes, err = notesOf(p)
			p.Close()
		}
		damage, ok := errors.AsType[*commit.DamageError](err)
		if !ok || damage.Path != path || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: after %d notes: %v", tt.name, len(notes), err)
		}
		for i, n := range notes {
			if n.text != fmt.Sprintf("note number %d, dolor lumbar", i) {
				t.Errorf("%s: note %d is another", tt.name, i)
			}
		}
		if err != nil && strings.Contains(err.Error(), "lumbar") {
			t.Errorf("%s: the error quotes the file", tt.name)
		}
	}
}

func TestUnsupportedCodec(t *testing.T) {
	for _, id := range []format.CompressionCodec{format.LZO, format.Lz4, 99} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, sampleFile(t, parquet.Compression(&fakeCodec{id: id})), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := NewParquet(path, 0, -1, ParquetOptions{})
		if err == nil || !strings.Contains(err.Error(), "is compressed with") || !strings.Contains(err.Error(), "write it with ZSTD") {
			t.Errorf("codec %d: %v", id, err)
		}
	}
}

// TestFlips flips bits all over a file with page checksums: either there is an
// error, or the notes are right.
func TestFlips(t *testing.T) {
	sound := sampleFile(t, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("test", "1", "1"))
	path := filepath.Join(t.TempDir(), "x.parquet")
	rng := rand.New(rand.NewPCG(3, 4))
	footer := len(sound) - 8 - int(binary.LittleEndian.Uint32(sound[len(sound)-8:]))
	harmless := 0
	for range 400 {
		data := slices.Clone(sound)
		bit := rng.IntN(footer * 8)
		data[bit/8] ^= 1 << (bit % 8)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := NewParquet(path, 0, -1, ParquetOptions{})
		if err != nil {
			continue
		}
		notes, err := notesOf(p)
		p.Close()
		for i, n := range notes {
			if n.text != fmt.Sprintf("note number %d, dolor lumbar", i) || n.id != fmt.Sprint(i) {
				t.Fatalf("bit %d: note %d is another and there is no error", bit, i)
			}
		}
		if err == nil {
			harmless++
			if len(notes) != 300 {
				t.Fatalf("bit %d: %d notes and no error", bit, len(notes))
			}
		}
	}
	t.Logf("%d of 400 flips changed nothing that is read", harmless)
}

// TestHugeNote: a note of 100 MB goes to quarantine and takes no more memory
// than its page.
func TestHugeNote(t *testing.T) {
	if testing.Short() {
		t.Skip("writes a large file")
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	writeTestFile(t, path, []testColumn{
		{"note_id", parquet.Int(64), []any{int64(1), int64(2), int64(3)}},
		{"text", parquet.String(), []any{"before", strings.Repeat("palabra ", 100<<20/8), "behind"}},
	}, 10, parquet.Compression(&parquet.Zstd), parquet.SkipPageBounds("text"), parquet.SkipPageStatistics("text"))
	notes := readFile(t, path, ParquetOptions{})
	want := []note{{0, "1", "before", pipeline.Sound, ""}, {1, "2", "", pipeline.TooLong, ""}, {2, "3", "behind", pipeline.Sound, ""}}
	if !slices.Equal(notes, want) {
		t.Errorf("%d notes, not as wanted", len(notes))
	}
	runtime.GC()
}

func TestScan(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, rows int, more ...testColumn) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var ids, texts []any
		for i := range rows {
			ids, texts = append(ids, int64(i)), append(texts, name)
		}
		columns := []testColumn{{"note_id", parquet.Int(64), ids}, {"text", parquet.String(), texts}}
		for k := range more {
			for range rows {
				more[k].values = append(more[k].values, int32(0))
			}
		}
		writeTestFile(t, path, append(columns, more...), 10, parquet.KeyValueMetadata("file", name))
	}
	center := testColumn{name: "center", node: parquet.Int(32)}
	write("in/year=2026/month=02/b.parquet", 25, center)
	write("in/year=2026/month=01/b.parquet", 5, center)
	write("in/year=2026/month=01/a.parquet", 35, center)
	write("in/year=2026/month=03/none.parquet", 0, center)
	write("in/year=2026/month=03/drift.parquet", 7)
	write("in/_temporary/x.parquet", 9)
	write("in/.hidden.parquet", 9)
	if err := os.WriteFile(filepath.Join(dir, "in/year=2026/month=03/broken.parquet"), []byte("PAR1 and no more"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in/README.md"), []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "in/year=2026/month=01/a.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in/year=2026/month=01/copy of a.parquet"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Scan(t.Context(), []string{filepath.Join(dir, "in")}, ParquetOptions{Pass: []string{"center"}, UnitNotes: 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range a.Units {
		u := &a.Units[i]
		got = append(got, fmt.Sprintf("%s/%s groups %d-%d first %d rows %d", u.Folder, filepath.Base(u.Input), u.From, u.To, u.First, u.Rows))
		src, err := a.Open(u)
		if err != nil {
			t.Fatal(err)
		}
		notes, err := notesOf(src)
		if err := errors.Join(err, src.Close()); err != nil {
			t.Fatal(err)
		}
		if int64(len(notes)) != u.Rows {
			t.Errorf("unit %d has %d notes", i, len(notes))
		}
		for k, n := range notes {
			if n.row != u.First+int64(k) || n.id != fmt.Sprint(n.row) || n.extra != "center=0 " && n.extra != "center=null " {
				t.Errorf("unit %d, note %d: row %d, id %s, %s", i, k, n.row, n.id, n.extra)
			}
		}
	}
	want := []string{
		"year=2026/month=01/a.parquet groups 0-2 first 0 rows 20",
		"year=2026/month=01/a.parquet groups 2-4 first 20 rows 15",
		"year=2026/month=01/b.parquet groups 0-1 first 0 rows 5",
		"year=2026/month=01/copy of a.parquet groups 0-2 first 0 rows 20",
		"year=2026/month=01/copy of a.parquet groups 2-4 first 20 rows 15",
		"year=2026/month=02/b.parquet groups 0-2 first 0 rows 20",
		"year=2026/month=02/b.parquet groups 2-3 first 20 rows 5",
		"year=2026/month=03/drift.parquet groups 0-1 first 0 rows 7",
		"year=2026/month=03/none.parquet groups 0-0 first 0 rows 0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("units:\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(a.Bad) != 1 || !strings.HasSuffix(a.Bad[0].Input, "broken.parquet") || !strings.Contains(a.Bad[0].Cause, "truncated") {
		t.Errorf("bad input: %+v", a.Bad)
	}
	if len(a.Drift) != 1 || a.Drift[0].Column != "center" || a.Drift[0].Change != "is missing" {
		t.Errorf("drift: %v", a.Drift)
	}
	if len(a.Extra) != 1 || a.Extra[0].Kind != pipeline.Int32Column {
		t.Errorf("extra: %+v", a.Extra)
	}
	if _, err := Scan(t.Context(), []string{filepath.Join(dir, "in")}, ParquetOptions{Pass: []string{"nowhere"}}, nil); err == nil {
		t.Error("a column that no file has")
	}
}

// TestNobodyAsked: what nobody names makes no file unreadable: two columns of
// one name, names that no log may show, a column that is null throughout, a
// type that nobody knows. Who names it is told.
func TestNobodyAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	values := []any{int32(1), int32(2)}
	columns := []testColumn{{"note_id", parquet.Int(64), []any{int64(1), int64(2)}}, {"text", parquet.String(), []any{"a", "b"}}}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		columns = append(columns, testColumn{name, parquet.Optional(parquet.Int(32)), values})
	}
	writeTestFile(t, path, columns, 2)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"b": "a", "c": "bell\a\x1b[2J\nline", "d": "broken \xff" + strings.Repeat("long", 100)}
	data = patchFooter(t, data, func(m *format.FileMetaData) {
		for i := range m.Schema {
			e := &m.Schema[i]
			if name, ok := names[e.Name]; ok {
				e.Name = name
			}
			if e.Name == "e" {
				e.LogicalType.Value, e.ConvertedType = &format.NullType{}, thrift.Null[deprecated.ConvertedType]{}
			}
		}
		for i := range m.RowGroups[0].Columns {
			c := &m.RowGroups[0].Columns[i].MetaData
			if name, ok := names[c.PathInSchema[0]]; ok {
				c.PathInSchema = []string{name}
			}
		}
	})
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Fence{nil, testFence(t, FenceOptions{})} {
		a, err := Scan(t.Context(), []string{path}, ParquetOptions{Pass: []string{"e"}}, f)
		if err != nil || len(a.Bad) > 0 {
			t.Fatal(err, a)
		}
		notes, err := openAll(a, &a.Units[0])
		if err != nil || len(notes) != 2 || notes[1].text != "b" || notes[1].extra != "e=null " {
			t.Errorf("%v, %v", notes, err)
		}
		_, err = Scan(t.Context(), []string{path}, ParquetOptions{Pass: []string{"a"}}, f)
		if err == nil || !strings.Contains(err.Error(), `column "a" is there 2 times`) {
			t.Errorf("two of one name: %v", err)
		}
		_, err = Scan(t.Context(), []string{path}, ParquetOptions{Pass: []string{"z"}}, f)
		if err == nil || strings.ContainsFunc(err.Error(), unicode.IsControl) {
			t.Errorf("an error names a column that no log may show: %q", err)
		}
	}
}

// TestNullMonth: a column that is null throughout one month takes the type of
// the others, whichever comes first; one of another type makes its file bad.
func TestNullMonth(t *testing.T) {
	for _, first := range []string{"a", "c"} {
		dir := t.TempDir()
		for month, node := range map[string]parquet.Node{"a": nil, "b": parquet.Timestamp(parquet.Nanosecond), "c": nil, "d": parquet.Timestamp(parquet.Millisecond)} {
			column := testColumn{"when", node, []any{int64(7)}}
			if null := month == first; null || node == nil {
				if !null {
					continue
				}
				column = testColumn{"when", parquet.Optional(parquet.Int(32)), []any{nil}}
			}
			path := filepath.Join(dir, month+".parquet")
			writeTestFile(t, path, []testColumn{{"note_id", parquet.Int(64), []any{int64(month[0])}}, {"text", parquet.String(), []any{"x"}}, column}, 1)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if month == first {
				data = patchFooter(t, data, func(m *format.FileMetaData) { m.Schema[3].LogicalType.Value = &format.NullType{} })
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range []*Fence{nil, testFence(t, FenceOptions{})} {
			a, err := Scan(t.Context(), []string{dir}, ParquetOptions{Pass: []string{"when"}, Date: "when"}, f)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i := range a.Units {
				notes, err := openAll(a, &a.Units[i])
				if err != nil {
					t.Fatal(err)
				}
				got += a.Units[i].Source + " " + notes[0].extra
			}
			want := map[string]string{"a": "a.parquet date=null when=null b.parquet date=0 when=7 ", "c": "b.parquet date=0 when=7 c.parquet date=null when=null "}[first]
			if got != want || len(a.Bad) != 1 || a.Bad[0].Input != "d.parquet" || !strings.Contains(a.Bad[0].Cause, "another type") {
				t.Errorf("%s first: %q, want %q; %+v", first, got, want, a.Bad)
			}
			if len(a.Kept) != 1 || !strings.Contains(fmt.Sprint(mustColumn(t, a.Kept[0]).elements[0].LogicalType.Value), "NANOS") {
				t.Errorf("kept: %+v", a.Kept)
			}
		}
	}
}

func mustColumn(t *testing.T, c pipeline.Column) *fileColumn {
	f := shape{c.Kind, []byte(c.Type)}
	column, err := columnOf(f)
	if err != nil {
		t.Fatal(err)
	}
	return column
}

// TestScanOrder: the order and the place of the inputs do not show.
func TestScanOrder(t *testing.T) {
	var got []string
	for range 2 {
		dir := t.TempDir()
		for _, month := range []string{"a", "b"} {
			if err := os.Mkdir(filepath.Join(dir, month), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, month, "x.parquet"), sampleFile(t, parquet.KeyValueMetadata("m", month)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a, b := filepath.Join(dir, "a", "x.parquet"), filepath.Join(dir, "b", "x.parquet")
		for _, in := range [][]string{{a, b}, {b, a, b}, {dir}} {
			archive, err := Scan(t.Context(), in, ParquetOptions{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			line := ""
			for _, u := range archive.Units {
				line += fmt.Sprintf("%s %x ", filepath.Base(u.Source), u.SHA256[:4])
			}
			got = append(got, line)
		}
	}
	for _, line := range got {
		if line != got[0] {
			t.Errorf("%q, first %q", line, got[0])
		}
	}
}

func TestScanNothing(t *testing.T) {
	dir := t.TempDir()
	for _, in := range []string{dir, filepath.Join(dir, "none")} {
		_, err := Scan(t.Context(), []string{in}, ParquetOptions{}, nil)
		if _, ok := errors.AsType[*InputError](err); !ok {
			t.Errorf("%s: %v", in, err)
		}
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0o000); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadDir(closed); err == nil {
		t.Skip("this user may read everything")
	}
	_, err := Scan(t.Context(), []string{dir}, ParquetOptions{}, nil)
	if err == nil || !strings.Contains(err.Error(), "may not be read") {
		t.Errorf("closed folder: %v", err)
	}
}

func TestScanCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, sampleFile(t), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Scan(ctx, []string{path}, ParquetOptions{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.parquet")
	if err := os.WriteFile(good, sampleFile(t), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Scan(t.Context(), []string{good}, ParquetOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	right := fmt.Sprintf("%x", a.Files[0].SHA256)
	wrong := strings.Repeat("0", 64)
	list := filepath.Join(dir, "SHA256SUMS")
	for _, tt := range []struct {
		name, content string
		bad           []string
	}{
		{"right", right + "  good.parquet\n", nil},
		{"binary mark", right + " *good.parquet\r\n", nil},
		{"absolute", right + "  " + good + "\n", nil},
		{"wrong", wrong + "  good.parquet\n", []string{"does not have the SHA-256"}},
		{"not listed", wrong + "  other.md\n", []string{"is not in the list"}},
		{"not delivered", right + "  good.parquet\n" + wrong + "  more.parquet\n", []string{"not in the archive"}},
		{"not below it", right + "  good.parquet\n" + wrong + "  ../more.parquet\n", nil},
	} {
		if err := os.WriteFile(list, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := Scan(t.Context(), []string{dir}, ParquetOptions{Checksums: list}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ok := len(a.Bad) == len(tt.bad)
		for i := range min(len(a.Bad), len(tt.bad)) {
			ok = ok && strings.Contains(a.Bad[i].Cause, tt.bad[i])
		}
		if !ok {
			t.Errorf("%s: %+v", tt.name, a.Bad)
		}
	}
	if err := os.WriteFile(list, []byte("no list\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Scan(t.Context(), []string{good}, ParquetOptions{Checksums: list}, nil); err == nil {
		t.Error("no list of checksums, no error")
	}
}

func TestOpaqueFolders(t *testing.T) {
	dir := t.TempDir()
	month := filepath.Join(dir, "2026-01")
	if err := os.Mkdir(month, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(month, "x.parquet"), sampleFile(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Scan(t.Context(), []string{dir}, ParquetOptions{Opaque: true}, nil); err == nil {
		t.Error("opaque names without a key: a digest that whoever tries all months undoes")
	}
	a, err := Scan(t.Context(), []string{dir}, ParquetOptions{Opaque: true, Key: testKey(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := a.Units[0].Folder; !strings.HasPrefix(f, "batch=") || strings.Contains(f, "2026") {
		t.Errorf("folder %q", f)
	}
}

func TestValid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := []byte(rapid.OneOf(rapid.String(), rapid.StringMatching("[a-zñé ]{0,40}")).Draw(rt, "text"))
		if rapid.Bool().Draw(rt, "break") && len(text) > 0 {
			text[rapid.IntRange(0, len(text)-1).Draw(rt, "at")] ^= byte(rapid.IntRange(1, 255).Draw(rt, "by"))
		}
		if got, want := valid(text), strings.ToValidUTF8(string(text), "?") == string(text); got != want {
			rt.Fatalf("valid says %v", got)
		}
	})
}

// FuzzParquet reads whatever bytes: an error or notes, never a panic.
func FuzzParquet(f *testing.F) {
	sound := sampleFile(f, parquet.Compression(&parquet.Zstd))
	f.Add(sound)
	f.Add(sound[:len(sound)/2])
	f.Add([]byte("PAR1PAR1PAR1"))
	path := filepath.Join(f.TempDir(), "x.parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := NewParquet(path, 0, -1, ParquetOptions{})
		if err != nil {
			return
		}
		defer p.Close()
		notes, err := notesOf(p)
		if err == nil && int64(len(notes)) != p.rows {
			t.Fatalf("%d notes of %d and no error", len(notes), p.rows)
		}
	})
}

// benchmarkFile writes notes of 140 bytes; ids and an extra column.
func benchmarkFile(b *testing.B) (path string, rows int, size int64) {
	path = filepath.Join(b.TempDir(), "x.parquet")
	rng := rand.New(rand.NewPCG(1, 1))
	rows = 50_000
	var ids, texts, dates []any
	for i := range rows {
		var text strings.Builder
		for text.Len() < 60+rng.IntN(160) {
			fmt.Fprintf(&text, "palabra%d ", rng.IntN(3000))
		}
		size += int64(text.Len())
		ids, texts, dates = append(ids, int64(i)), append(texts, text.String()), append(dates, int32(i))
	}
	writeTestFile(b, path, []testColumn{{"note_id", parquet.Int(64), ids}, {"text", parquet.String(), texts}, {"date", parquet.Date(), dates}},
		rows, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(1<<20), parquet.SkipPageBounds("text"))
	return path, rows, size
}

// BenchmarkParquet reads that file.
func BenchmarkParquet(b *testing.B) {
	path, rows, size := benchmarkFile(b)
	b.SetBytes(size)
	b.ReportAllocs()
	var batch pipeline.Batch
	for b.Loop() {
		p, err := NewParquet(path, 0, -1, ParquetOptions{Pass: []string{"date"}})
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			batch.Reset()
			err = p.Next(&batch)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		p.Close()
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "notes/s")
}

// TestNumbersOfAnArchive: where numbers are ids, each is that of one note in
// the whole archive, twins and units of one file among them, and it is the same
// whatever else is in the archive.
func TestNumbersOfAnArchive(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x", "a/y", "b/x"} {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		writeTestFile(t, filepath.Join(dir, name+".parquet"), []testColumn{
			{"note_id", parquet.String(), []any{"1", "2", ""}},
			{"text", parquet.String(), []any{"uno", "dos", "tres"}},
		}, 2)
	}
	ids := func(o ParquetOptions, in string) map[string]string {
		t.Helper()
		o.UnitNotes = 2
		a, err := Scan(t.Context(), []string{filepath.Join(dir, in)}, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		all := map[string]string{}
		for i := range a.Units {
			src, err := a.Open(&a.Units[i])
			if err != nil {
				t.Fatal(err)
			}
			var b pipeline.Batch
			for src.Next(&b) == nil {
				for k := range b.Len() {
					id := string(b.ID.At(k))
					if all[id] != "" && o.IDs == DropIDs {
						t.Errorf("%s stands for two notes", id)
					}
					mark := a.Units[i].Mark()
					all[id] = fmt.Sprintf("%x", mark[:4]) // as in the names of its public parts
				}
				b.Reset()
			}
			if err := src.Close(); err != nil {
				t.Fatal(err)
			}
		}
		return all
	}
	whole := ids(ParquetOptions{IDs: DropIDs}, "")
	if len(whole) != 9 {
		t.Errorf("%d ids of 9 notes: %v", len(whole), whole)
	}
	for id, file := range whole {
		if !strings.HasPrefix(id, file+"-") {
			t.Errorf("%s does not say that it is of file %s", id, file)
		}
	}
	numbered := ids(ParquetOptions{NullIDs: NumberNullIDs}, "")
	if len(numbered) != 2+3 {
		t.Errorf("ids where null ones are numbered: %v", numbered)
	}
}
