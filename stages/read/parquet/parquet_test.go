package parquet

import (
	"bytes"
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

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
	"github.com/parquet-go/parquet-go/compress/uncompressed"
	"github.com/parquet-go/parquet-go/encoding"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
)

func readFile(t testing.TB, path string, o input.Options) []readtest.Note {
	t.Helper()
	p, err := New(path, 0, -1, o)
	if err != nil {
		t.Fatal(err)
	}
	notes, err := readtest.NotesOf(p)
	if err := errors.Join(err, p.Close()); err != nil {
		t.Fatal(err)
	}
	return notes
}

var codecs = map[string]compress.Codec{
	"none": &parquet.Uncompressed, "snappy": &parquet.Snappy, "gzip": &parquet.Gzip, "zstd": &parquet.Zstd, "brotli": &parquet.Brotli,
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
					readtest.WriteFile(t, path, []readtest.Column{
						{"note_id", wrap(parquet.Int(64)), ids},
						{"text", wrap(parquet.Encoded(parquet.String(), enc)), want},
						{"n", wrap(parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked)), numbers},
					}, 190, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(700))
					notes := readFile(t, path, input.Options{Pass: []string{"n"}, BatchNotes: 77})
					if len(notes) != len(want) {
						t.Fatalf("%s: %d notes", name, len(notes))
					}
					for i, n := range notes {
						wanted := readtest.Note{Row: int64(i), ID: fmt.Sprint(ids[i]), Reason: pipeline.NullText, Extra: fmt.Sprintf("n=%d ", -i)}
						if want[i] != nil {
							wanted.Text, wanted.Reason = want[i].(string), pipeline.Sound
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
		readtest.WriteFile(t, path, []readtest.Column{
			{"note_id", parquet.Optional(parquet.Encoded(parquet.String(), rapid.SampledFrom([]encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary}).Draw(rt, "id encoding"))), ids},
			{"text", parquet.Optional(parquet.Encoded(parquet.String(), rapid.SampledFrom([]encoding.Encoding{&parquet.Plain, &parquet.RLEDictionary}).Draw(rt, "text encoding"))), texts},
			{"x", parquet.Optional(parquet.Int(64)), extras},
		}, perGroup, parquet.PageBufferSize(rapid.IntRange(32, 300).Draw(rt, "page")))
		groups := (rows + perGroup - 1) / perGroup
		from := rapid.IntRange(0, groups).Draw(rt, "from")
		to := rapid.IntRange(from, groups).Draw(rt, "to")
		p, err := New(path, from, to, input.Options{
			Pass: []string{"x"}, BatchNotes: rapid.IntRange(1, 30).Draw(rt, "notes"), BatchBytes: rapid.IntRange(1, 200).Draw(rt, "bytes"),
		})
		if err != nil {
			rt.Fatal(err)
		}
		defer p.Close()
		notes, err := readtest.NotesOf(p)
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

func expected(row int64, id, text, extra any) readtest.Note {
	n := readtest.Note{Row: row, Extra: "x=null "}
	if extra != nil {
		n.Extra = fmt.Sprintf("x=%d ", extra)
	}
	if id == nil {
		n.Reason = pipeline.NullID
	} else {
		n.ID = id.(string)
	}
	if text == nil {
		n.Reason = pipeline.NullText
	} else if n.Text = text.(string); strings.Contains(n.Text, "\x00") {
		n.Reason = pipeline.ControlText
	}
	return n
}

func TestReasons(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	readtest.WriteFile(t, path, []readtest.Column{
		{"note_id", parquet.Optional(parquet.String()), []any{"a", "b", "c", "d", "e", nil, "", "line\nbreak", strings.Repeat("x", 201), "\xff", "k"}},
		{"text", parquet.Optional(parquet.String()), []any{"sound", nil, "", "bad \xff", "long enough", "x", "x", "x", "x", "x", "a\x00b"}},
	}, 100)
	notes := readFile(t, path, input.Options{MaxText: 10})
	want := []readtest.Note{
		readtest.NewNote(0, "a", "sound", pipeline.Sound),
		readtest.NewNote(1, "b", "", pipeline.NullText),
		readtest.NewNote(2, "c", "", pipeline.Sound),
		readtest.NewNote(3, "d", "bad \xff", pipeline.BadEncoding),
		readtest.NewNote(4, "e", "", pipeline.TooLong),
		readtest.NewNote(5, "", "x", pipeline.NullID),
		readtest.NewNote(6, "", "x", pipeline.NullID),
		readtest.NewNote(7, "", "x", pipeline.NullID),
		readtest.NewNote(8, "", "x", pipeline.NullID),
		readtest.NewNote(9, "", "x", pipeline.NullID),
		readtest.NewNote(10, "k", "a\x00b", pipeline.ControlText),
	}
	if !slices.Equal(notes, want) {
		t.Errorf("got  %+v\nwant %+v", notes, want)
	}
	for i, n := range readFile(t, path, input.Options{NullIDs: input.NumberNullIDs}) {
		if n.Reason == pipeline.NullID || n.ID == "" || i >= 5 && i < 10 && n.ID != fmt.Sprint(i) {
			t.Errorf("note %d has id %q, reason %v", i, n.ID, n.Reason)
		}
	}
}

func TestIDs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.parquet")
	readtest.WriteFile(t, path, []readtest.Column{
		{"a", parquet.Int(32), []any{int32(-1), int32(7), int32(7)}},
		{"b", parquet.Uint(64), []any{uint64(1) << 63, uint64(2), uint64(2)}},
		{"c", parquet.String(), []any{"x", "y", "y"}},
		{"text", parquet.String(), []any{"1", "2", "3"}},
	}, 2)
	key := readtest.Key(t)
	ids := func(o input.Options) (all []string) {
		o.ID = []string{"a", "b", "c"}
		for _, n := range readFile(t, path, o) {
			all = append(all, n.ID)
		}
		return all
	}
	if got := ids(input.Options{}); !slices.Equal(got, []string{"-1|9223372036854775808|x", "7|2|y", "7|2|y"}) {
		t.Errorf("kept: %q", got)
	}
	if got := ids(input.Options{IDs: input.DropIDs}); !slices.Equal(got, []string{"0", "1", "2"}) {
		t.Errorf("dropped: %q", got)
	}
	keyed := ids(input.Options{IDs: input.KeyIDs, Key: key})
	if len(keyed[0]) != 32 || keyed[0] == keyed[1] || keyed[1] != keyed[2] || strings.Contains(strings.Join(keyed, ""), "|") {
		t.Errorf("keyed: %q", keyed)
	}
	if _, err := New(path, 0, -1, input.Options{ID: []string{"a"}, IDs: input.KeyIDs}); err == nil {
		t.Error("keyed ids without a key")
	}
}

func TestExtraKinds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	readtest.WriteFile(t, path, []readtest.Column{
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
		o    input.Options
		want [2]string
	}{
		{input.Options{PatientID: "patient", Date: "date", Pass: []string{"bool", "ms", "us", "ns", "u32", "float", "double"}}, [2]string{ // kept: as they are
			"patient_id=P date=-3 bool=1 ms=5 us=5 ns=5001 u32=-2147483648 float=1065353216 double=0 ",
			"patient_id=null date=20000 bool=null ms=-5 us=-5 ns=-5001 u32=2 float=0 double=4607182418800017408 ",
		}},
		{input.Options{PatientID: "u32", Date: "ms", Center: "ns"}, [2]string{ // used: in one unit
			"patient_id==2147483648 date=5000 center=5 ", "patient_id==2 date=-5000 center=-6 ",
		}},
	} {
		for i, n := range readFile(t, path, tt.o) {
			if n.Extra != tt.want[i] {
				t.Errorf("note %d:\n%s\n%s", i, n.Extra, tt.want[i])
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
	id := readtest.Column{"note_id", parquet.Int(64), []any{int64(1)}}
	text := readtest.Column{"text", parquet.String(), []any{"a"}}
	nested := parquet.Group{"value": parquet.String()}
	for _, tt := range []struct {
		name    string
		columns []readtest.Column
		o       input.Options
		want    []string
	}{
		{"missing text", []readtest.Column{id, {"texto", parquet.String(), []any{"a"}}}, input.Options{}, []string{`column "text" is missing`, `did you mean "texto"`}},
		{"missing, nothing near", []readtest.Column{id, {"observaciones", parquet.String(), []any{"a"}}}, input.Options{}, []string{`column "text" is missing`, `note_id, observaciones`}},
		{"missing id", []readtest.Column{text, {"NoteID", parquet.Int(64), []any{int64(1)}}}, input.Options{}, []string{`column "note_id" is missing`, `"NoteID"`}},
		{"text is a number", []readtest.Column{id, {"text", parquet.Int(32), []any{int32(1)}}}, input.Options{}, []string{`column "text" is INT32`, "not text"}},
		{"text is a list", []readtest.Column{id, {"text", parquet.List(parquet.String()), nil}}, input.Options{}, []string{`column "text" is nested (LIST)`}},
		{"text is a struct", []readtest.Column{id, {"text", nested, nil}}, input.Options{}, []string{`column "text" is nested (a struct)`}},
		{"text is a map", []readtest.Column{id, {"text", parquet.Map(parquet.String(), parquet.String()), nil}}, input.Options{}, []string{`column "text" is nested (MAP)`}},
		{"text is repeated", []readtest.Column{id, {"text", parquet.Repeated(parquet.String()), nil}}, input.Options{}, []string{`column "text" is a list`}},
		{"text is a decimal of bytes", []readtest.Column{id, {"text", parquet.Decimal(2, 9, parquet.ByteArrayType), nil}}, input.Options{}, []string{`column "text" is BYTE_ARRAY DECIMAL`}},
		{"id is a date", []readtest.Column{text, {"note_id", parquet.Date(), []any{int32(1)}}}, input.Options{}, []string{`column "note_id" is INT32 DATE`, "not an id"}},
		{"id is a float", []readtest.Column{text, {"note_id", parquet.Leaf(parquet.DoubleType), []any{1.0}}}, input.Options{}, []string{`column "note_id" is DOUBLE`}},
		{"extra is missing", []readtest.Column{id, text}, input.Options{Pass: []string{"center"}}, []string{`column "center" is missing`}},
		{"extra is nested", []readtest.Column{id, text, {"center", nested, nil}}, input.Options{Center: "center"}, []string{`column "center" is nested`}},
		{"extra is a uuid", []readtest.Column{id, text, {"center", parquet.UUID(), nil}}, input.Options{Center: "center"}, []string{`column "center" is FIXED_LEN_BYTE_ARRAY UUID`}},
	} {
		readtest.WriteFile(t, path, tt.columns, 10)
		_, err := New(path, 0, -1, tt.o)
		wrong, ok := errors.AsType[*input.SchemaError](err)
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

// TestDamage: each error names the file and the cause, and no note is made up.
func TestDamage(t *testing.T) {
	sound := readtest.Sample(t)
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
		{"footer over the head", append(binary.LittleEndian.AppendUint32(slices.Clone(sound[:len(sound)-8]), uint32(len(sound)-11)), "PAR1"...), "its footer is longer than the file"},
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
		p, err := New(path, 0, -1, input.Options{})
		var notes []readtest.Note
		if err == nil {
			notes, err = readtest.NotesOf(p)
			p.Close()
		}
		damage, ok := errors.AsType[*commit.DamageError](err)
		if !ok || damage.Path != path || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: after %d notes: %v", tt.name, len(notes), err)
		}
		for i, n := range notes {
			if n.Text != fmt.Sprintf("note number %d, dolor lumbar", i) {
				t.Errorf("%s: note %d is another", tt.name, i)
			}
		}
		if err != nil && strings.Contains(err.Error(), "lumbar") {
			t.Errorf("%s: the error quotes the file", tt.name)
		}
	}
}

func TestUnsupportedCodec(t *testing.T) {
	for _, id := range []format.CompressionCodec{format.LZO, format.Lz4, format.Lz4Raw, 99} {
		path := filepath.Join(t.TempDir(), "x.parquet")
		if err := os.WriteFile(path, readtest.Sample(t, parquet.Compression(&fakeCodec{id: id})), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := New(path, 0, -1, input.Options{})
		if err == nil || !strings.Contains(err.Error(), "is compressed with") || !strings.Contains(err.Error(), "write it with ZSTD") {
			t.Errorf("codec %d: %v", id, err)
		}
	}
}

// TestFlips flips bits all over a file with page checksums: either there is an
// error, or the notes are right.
func TestFlips(t *testing.T) {
	sound := readtest.Sample(t, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("test", "1", "1"))
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
		p, err := New(path, 0, -1, input.Options{})
		if err != nil {
			continue
		}
		notes, err := readtest.NotesOf(p)
		p.Close()
		for i, n := range notes {
			if n.Text != fmt.Sprintf("note number %d, dolor lumbar", i) || n.ID != fmt.Sprint(i) {
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
	readtest.WriteFile(t, path, []readtest.Column{
		{"note_id", parquet.Int(64), []any{int64(1), int64(2), int64(3)}},
		{"text", parquet.String(), []any{"before", strings.Repeat("palabra ", 100<<20/8), "behind"}},
	}, 10, parquet.Compression(&parquet.Zstd), parquet.SkipPageBounds("text"), parquet.SkipPageStatistics("text"))
	notes := readFile(t, path, input.Options{})
	want := []readtest.Note{readtest.NewNote(0, "1", "before", pipeline.Sound), readtest.NewNote(1, "2", "", pipeline.TooLong), readtest.NewNote(2, "3", "behind", pipeline.Sound)}
	if !slices.Equal(notes, want) {
		t.Errorf("%d notes, not as wanted", len(notes))
	}
	runtime.GC()
}

// FuzzParquet reads whatever bytes: an error or notes, never a panic.
func FuzzParquet(f *testing.F) {
	sound := readtest.Sample(f, parquet.Compression(&parquet.Zstd))
	f.Add(sound)
	f.Add(sound[:len(sound)/2])
	f.Add([]byte("PAR1PAR1PAR1"))
	path := filepath.Join(f.TempDir(), "x.parquet")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		p, err := New(path, 0, -1, input.Options{})
		if err != nil {
			return
		}
		defer p.Close()
		notes, err := readtest.NotesOf(p)
		if err == nil && int64(len(notes)) != p.rows {
			t.Fatalf("%d notes of %d and no error", len(notes), p.rows)
		}
	})
}

// large writes notes of 140 bytes; ids and an extra column.
func large(b *testing.B) (path string, rows int, size int64) {
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
	readtest.WriteFile(b, path, []readtest.Column{{"note_id", parquet.Int(64), ids}, {"text", parquet.String(), texts}, {"date", parquet.Date(), dates}},
		rows, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(1<<20), parquet.SkipPageBounds("text"))
	return path, rows, size
}

// BenchmarkParquet reads that file.
func BenchmarkParquet(b *testing.B) {
	path, rows, size := large(b)
	b.SetBytes(size)
	b.ReportAllocs()
	var batch pipeline.Batch
	for b.Loop() {
		p, err := New(path, 0, -1, input.Options{Pass: []string{"date"}})
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

// TestLies: changes of the footer that leave every page and its checksum as
// they are, and that the library reads without an error.
func TestLies(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	for _, version := range []int{1, 2} {
		for _, node := range []parquet.Node{parquet.String(), parquet.Optional(parquet.String())} {
			var ids, texts []any
			for i := range 300 {
				ids, texts = append(ids, fmt.Sprint("id ", i)), append(texts, fmt.Sprint("note number ", i))
			}
			readtest.WriteFile(t, path, []readtest.Column{{"note_id", parquet.String(), ids}, {"text", node, texts}}, 150,
				parquet.DataPageVersion(version), parquet.PageBufferSize(1000))
			sound, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(readFile(t, path, input.Options{})); got != 300 {
				t.Fatalf("%d notes", got)
			}
			for what, lie := range map[string]func(m *format.FileMetaData){
				"optional or not": func(m *format.FileMetaData) {
					e := &m.Schema[2]
					e.RepetitionType = thrift.New(1 - e.RepetitionType.V)
				},
				"two columns in one place": func(m *format.FileMetaData) {
					c := m.RowGroups[0].Columns
					c[1].MetaData.DataPageOffset = c[0].MetaData.DataPageOffset
				},
				"a group twice":     func(m *format.FileMetaData) { m.RowGroups[1] = m.RowGroups[0] },
				"columns exchanged": func(m *format.FileMetaData) { c := m.RowGroups[0].Columns; c[0], c[1] = c[1], c[0] },
				"names exchanged":   func(m *format.FileMetaData) { s := m.Schema; s[1].Name, s[2].Name = s[2].Name, s[1].Name },
				"an encoding unnamed": func(m *format.FileMetaData) {
					m.RowGroups[1].Columns[1].MetaData.Encoding = []format.Encoding{format.RLE}
				},
				"another file": func(m *format.FileMetaData) { m.RowGroups[1].Columns[1].FilePath = "y.parquet" },
				"another type": func(m *format.FileMetaData) { m.RowGroups[0].Columns[0].MetaData.Type = format.Int64 },
			} {
				if err := os.WriteFile(path, patchFooter(t, sound, lie), 0o600); err != nil {
					t.Fatal(err)
				}
				p, err := New(path, 0, -1, input.Options{})
				if err == nil {
					_, err = readtest.NotesOf(p)
					p.Close()
				}
				if !readtest.IsDamage(err) {
					t.Errorf("version %d, %s: %v", version, what, err)
				}
			}
		}
	}
}
