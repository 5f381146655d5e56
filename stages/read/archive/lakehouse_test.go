package archive

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
	"github.com/velum-health/velum/stages/read/readtest"
)

// TestPeriods: folders that say which notes they hold are kept in the names of files.
func TestPeriods(t *testing.T) {
	for dir, want := range map[string]string{
		"/a/in": "", "/a/in/2026-01": "2026-01", "/a/in/2026/01": "2026/01", "/a/in/01": "", "/a/20260131": "20260131", "/a/year=2026/month=01": "year=2026/month=01",
		"/a/2026_01_31": "2026_01_31", "/a/2026-13": "", "/a/ward7": "", "/a/enero": "enero", "/a/ene-2026": "ene-2026", "/a/2026 febrer": "2026 febrer", "/a/01-enero": "01-enero",
		"/a/marzos": "", "/a/2026-01/in": "", "/a/3026-01": "", "/a/x=": "x=",
	} {
		if got := periods(dir); got != want {
			t.Errorf("%s: %q, want %q", dir, got, want)
		}
	}
}

// dayOf is how much a day is in the unit of a column.
func dayOf(c pipeline.Column) int64 {
	day, _ := parquet.TimeOf(c)
	return day
}

// rowsOf reads what a table says at a version: ids with the columns that are kept. Every
// unit must have as many notes as it was planned with, numbered one after the other.
func rowsAt(t *testing.T, dir, version string, keep ...string) (string, error) {
	t.Helper()
	a, err := Scan(t.Context(), []string{dir}, input.Options{Version: version, Pass: keep}, nil)
	if err != nil {
		return "", err
	}
	for _, b := range a.Bad {
		return "", fmt.Errorf("bad input %s: %s", b.Input, b.Cause)
	}
	var all []string
	for i := range a.Units {
		u := &a.Units[i]
		notes, err := readtest.UnitNotes(a.Open(u))
		if err != nil {
			return "", err
		}
		if int64(len(notes)) != u.Rows {
			t.Errorf("%s: %d notes in a unit of %d", u.Source, len(notes), u.Rows)
		}
		for k, n := range notes {
			if n.Row != u.First+int64(k) {
				t.Errorf("%s: row %d, want %d", u.Source, n.Row, u.First+int64(k))
			}
			if n.Text != "Control de "+n.ID {
				t.Errorf("%s: another text than that of %s", u.Source, n.ID)
			}
			all = append(all, strings.TrimSpace(n.ID+" "+n.Extra))
		}
	}
	slices.Sort(all)
	return strings.Join(all, ", "), nil
}

// wantRows checks what a table says at some versions.
func wantRows(t *testing.T, dir string, keep []string, want map[string]string) {
	t.Helper()
	for version, want := range want {
		if got, err := rowsAt(t, dir, version, keep...); err != nil || got != want {
			t.Errorf("version %q: %v\n got %s\nwant %s", version, err, got, want)
		}
	}
}

type jo = readtest.J

var plainFields = []jo{readtest.DeltaField("note_id", "string", "", 0), readtest.DeltaField("text", "string", "", 0)}

// TestDelta: each version of a table of Delta Lake has the rows that its log says,
// whatever lies in the folder, with the log whole or from a checkpoint.
func TestDelta(t *testing.T) {
	l := readtest.NewLake(t)
	a := l.Notes("part-a.parquet", "note_id", "text", "a0", "a1", "a2", "a3", "a4")
	b := l.Notes("deep/part%20b.parquet", "note_id", "text", "b0", "b1", "b2")
	c := l.Notes("part-c.parquet", "note_id", "text", "a0", "c1")
	l.Notes("part-orphan.parquet", "note_id", "text", "x0") // of a commit that failed
	vector := readtest.Vector(1, 3)
	l.Put("ab/deletion_vector_00010203-0405-0607-0809-0a0b0c0d0e0f.bin", append([]byte{1}, vector...))
	one := jo{"storageType": "u", "pathOrInlineDv": "ab" + z85([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}), "offset": 1, "sizeInBytes": len(vector) - 8, "cardinality": 2}
	inline := readtest.Vector(0, 2)
	two := jo{"storageType": "i", "pathOrInlineDv": z85(padded(inline[4 : len(inline)-4])), "sizeInBytes": len(inline) - 8, "cardinality": 2}
	at := func(ms int) jo { return jo{"commitInfo": jo{"inCommitTimestamp": ms}} }
	const day = 24 * 60 * 60 * 1000
	l.Commit(0, at(day), readtest.Protocol(3, "deletionVectors"), readtest.MetaData(jo{}, nil, plainFields...), readtest.Add("part-a.parquet", a, jo{"stats": `{"numRecords":5}`}))
	l.Commit(1, at(2*day), readtest.Add("deep/part%2520b.parquet", b, nil))
	l.Commit(2, at(3*day), readtest.Add("part-a.parquet", a, jo{"deletionVector": one}), readtest.Remove("part-a.parquet", nil)) // in any order
	l.Commit(3, at(4*day), readtest.Remove("deep/part%2520b.parquet", nil), readtest.Add("deep/part%2520b.parquet", b, jo{"deletionVector": two}))
	l.Commit(4, at(5*day), readtest.Remove("part-a.parquet", one), readtest.Remove("deep/part%2520b.parquet", two), readtest.Add("part-c.parquet", c, nil))
	l.JSON("_delta_log/00000000000000000004.crc", jo{"numFiles": 1, "tableSizeBytes": c})
	l.Commit(5, at(6*day), readtest.Remove("part-c.parquet", nil))
	versions := map[string]string{
		"0": "a0, a1, a2, a3, a4", "1": "a0, a1, a2, a3, a4, b0, b1, b2", "2": "a0, a2, a4, b0, b1, b2", "3": "a0, a2, a4, b1", "4": "a0, c1", "5": "", "": "",
		"1970-01-02": "a0, a1, a2, a3, a4", "1970-01-04T00:00:00Z": "a0, a2, a4, b0, b1, b2", "1970-01-05 23:59": "a0, a2, a4, b1", "2026-01-01": "",
	}
	wantRows(t, l.Dir, nil, versions)
	sidecar := l.Dir + "/_delta_log/00000000000000000003.checkpoint.01234567-0123-0123-0123-0123456789ab.json"
	l.JSON(filepath.Join("_delta_log", filepath.Base(sidecar)), readtest.Protocol(3, "deletionVectors", "v2Checkpoint"), readtest.MetaData(jo{}, nil, plainFields...),
		readtest.Add("part-a.parquet", a, jo{"deletionVector": one}), jo{"sidecar": jo{"path": "side.json"}})
	l.JSON("_delta_log/_sidecars/side.json", readtest.Add("deep/part%2520b.parquet", b, jo{"deletionVector": two}))
	for n := range 4 {
		if err := os.Remove(filepath.Join(l.Dir, fmt.Sprintf("_delta_log/%020d.json", n))); err != nil {
			t.Fatal(err)
		}
	}
	wantRows(t, l.Dir, nil, map[string]string{"3": versions["3"], "4": versions["4"], "": ""})
	if _, err := rowsAt(t, l.Dir, "2"); err == nil || !strings.Contains(err.Error(), "00000000000000000000.json: is missing from the log") {
		t.Errorf("a version whose log is gone: %v", err)
	}
}

// z85 encodes groups of four bytes.
func z85(data []byte) string {
	const digits = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
	var text []byte
	for ; len(data) >= 4; data = data[4:] {
		n := uint32(data[0])<<24 | uint32(data[1])<<16 | uint32(data[2])<<8 | uint32(data[3])
		for _, by := range []uint32{85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1} {
			text = append(text, digits[n/by%85])
		}
	}
	return string(text)
}

func padded(data []byte) []byte {
	return append(slices.Clone(data), make([]byte, (4-len(data)%4)%4)...)
}

// checkpointRow is a row of a checkpoint, as Spark calls what is in it.
type checkpointRow struct {
	Add *struct {
		Path            string            `parquet:"path"`
		Size            int64             `parquet:"size"`
		PartitionValues map[string]string `parquet:"partitionValues"`
		DeletionVector  *struct {
			StorageType    string `parquet:"storageType"`
			PathOrInlineDv string `parquet:"pathOrInlineDv"`
			Offset         *int32 `parquet:"offset,optional"`
			SizeInBytes    int32  `parquet:"sizeInBytes"`
			Cardinality    int64  `parquet:"cardinality"`
		} `parquet:"deletionVector,optional"`
	} `parquet:"add,optional"`
	Remove *struct {
		Path string `parquet:"path"`
	} `parquet:"remove,optional"`
	Protocol *struct {
		MinReaderVersion int32    `parquet:"minReaderVersion"`
		ReaderFeatures   []string `parquet:"readerFeatures,list"`
	} `parquet:"protocol,optional"`
	MetaData *struct {
		SchemaString     string            `parquet:"schemaString"`
		PartitionColumns []string          `parquet:"partitionColumns,list"`
		Configuration    map[string]string `parquet:"configuration"`
	} `parquet:"metaData,optional"`
}

// TestDeltaCheckpoint: a checkpoint of Parquet, in several parts, says what the log did;
// one that is not whole is passed over.
func TestDeltaCheckpoint(t *testing.T) {
	l := readtest.NewLake(t)
	a := l.Notes("w=x%20y/a.parquet", "note_id", "text", "a0", "a1")
	b := l.Notes("w=__HIVE_DEFAULT_PARTITION__/b.parquet", "note_id", "text", "b0")
	l.Put("deletion_vector_00010203-0405-0607-0809-0a0b0c0d0e0f.bin", append([]byte{1}, readtest.Vector(1)...))
	rows := make([]checkpointRow, 5)
	fill := func(i int, line string) {
		if err := json.Unmarshal([]byte(line), &rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	fill(0, `{"Protocol":{"MinReaderVersion":3,"ReaderFeatures":["deletionVectors","columnMapping"]}}`)
	fill(1, `{"MetaData":{"SchemaString":"{\"fields\":[{\"name\":\"note_id\",\"type\":\"string\"},{\"name\":\"text\",\"type\":\"string\"},{\"name\":\"w\",\"type\":\"string\"}]}","PartitionColumns":["w"],"Configuration":{"a":"b"}}}`)
	fill(2, fmt.Sprintf(`{"Add":{"Path":"w=x%%2520y/a.parquet","Size":%d,"PartitionValues":{"w":"x y"},"DeletionVector":{"StorageType":"u","PathOrInlineDv":"%s","Offset":1,"SizeInBytes":%d,"Cardinality":1}}}`,
		a, z85([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}), len(readtest.Vector(1))-8))
	fill(3, fmt.Sprintf(`{"Add":{"Path":"w=__HIVE_DEFAULT_PARTITION__/b.parquet","Size":%d}}`, b))
	fill(4, `{"Remove":{"Path":"gone.parquet"}}`)
	part := func(name string, rows []checkpointRow) {
		l.Put("_delta_log/"+name, nil)
		if err := pq.WriteFile(filepath.Join(l.Dir, "_delta_log", name), rows); err != nil {
			t.Fatal(err)
		}
	}
	part("00000000000000000007.checkpoint.0000000001.0000000002.parquet", rows[:3])
	part("00000000000000000007.checkpoint.0000000002.0000000002.parquet", rows[3:])
	part("00000000000000000008.checkpoint.0000000001.0000000002.parquet", rows[:1]) // a writer that died
	l.Commit(8)
	wantRows(t, l.Dir, []string{"w"}, map[string]string{"": "a0 w=x y, b0 w=null", "7": "a0 w=x y, b0 w=null"})
	if err := os.Remove(filepath.Join(l.Dir, "_delta_log/00000000000000000007.checkpoint.0000000002.0000000002.parquet")); err != nil {
		t.Fatal(err)
	}
	if got, err := rowsAt(t, l.Dir, ""); err == nil {
		t.Errorf("half a checkpoint gives %q", got)
	}
}

// TestDeltaColumns: columns are found by what the log calls them, in files that call them
// otherwise, and partition columns have the types of the table.
func TestDeltaColumns(t *testing.T) {
	for _, mode := range []string{"name", "id"} {
		l := readtest.NewLake(t)
		string1, string2, string3 := pq.FieldID(pq.String(), 1), pq.FieldID(pq.String(), 2), pq.FieldID(pq.String(), 3)
		size := l.Columns("a.parquet", readtest.Column{"col-1", string1, []any{"a0", "a1"}}, readtest.Column{"col-2", string2, []any{"Control de a0", "Control de a1"}},
			readtest.Column{"col-3", string3, []any{"no", "no"}}) // dropped, and its name given to another
		if mode == "id" { // a file that calls them otherwise again
			size = l.Columns("a.parquet", readtest.Column{"x", string1, []any{"a0", "a1"}}, readtest.Column{"y", string2, []any{"Control de a0", "Control de a1"}}, readtest.Column{"ward", string3, []any{"no", "no"}})
		}
		l.Commit(0, readtest.Protocol(2), readtest.MetaData(jo{"delta.columnMapping.mode": mode}, []string{"n", "day", "big", "ok"},
			readtest.DeltaField("note_id", "string", "col-1", 1), readtest.DeltaField("text", "string", "col-2", 2), readtest.DeltaField("ward", "string", "col-9", 9),
			readtest.DeltaField("n", "string", "col-4", 4), readtest.DeltaField("day", "date", "col-5", 5), readtest.DeltaField("big", "long", "col-6", 6), readtest.DeltaField("ok", "boolean", "col-7", 7)),
			readtest.Add("a.parquet", size, jo{"partitionValues": jo{"col-4": "007", "col-5": "1970-01-03", "col-6": "9007199254740993", "col-7": "true"}}))
		b := l.Columns("b.parquet", readtest.Column{"col-1", string1, []any{"b0"}}, readtest.Column{"col-2", string2, []any{"Control de b0"}}, readtest.Column{"col-9", pq.FieldID(pq.String(), 9), []any{"uci"}})
		l.Commit(1, readtest.Add("b.parquet", b, jo{"partitionValues": jo{"col-4": "", "col-5": nil}}))
		wantRows(t, l.Dir, []string{"n", "day", "big", "ok", "ward"}, map[string]string{
			"": "a0 ward=null n=007 day=2 big=9007199254740993 ok=1, a1 ward=null n=007 day=2 big=9007199254740993 ok=1, b0 ward=uci n=null day=null big=null ok=null"})
	}
}

// TestDeltaRefused: what a log asks for and is not done, and what is broken, is refused
// with its name and what to do.
func TestDeltaRefused(t *testing.T) {
	metadata := func(configuration jo) jo { return readtest.MetaData(configuration, nil, plainFields...) }
	for _, tt := range []struct {
		name, want string
		change     func(l *readtest.Lake, size int)
	}{
		{"feature", `with "rowMagic"`, func(l *readtest.Lake, size int) { l.Commit(1, readtest.Protocol(3, "rowMagic")) }},
		{"protocol", "for readers of version 4", func(l *readtest.Lake, size int) { l.Commit(1, readtest.Protocol(4)) }},
		{"mapping", `mapped by "soul"`, func(l *readtest.Lake, size int) { l.Commit(1, metadata(jo{"delta.columnMapping.mode": "soul"})) }},
		{"unmapped", `does not say what "note_id" is called`, func(l *readtest.Lake, size int) { l.Commit(1, metadata(jo{"delta.columnMapping.mode": "name"})) }},
		{"gap", "00000000000000000001.json: is missing from the log", func(l *readtest.Lake, size int) { l.Commit(2) }},
		{"torn", "00000000000000000001.json:2: is no action", func(l *readtest.Lake, size int) {
			l.Put("_delta_log/00000000000000000001.json", []byte("{}\n{\"add\":{\"path\":\"Ada Lovelace"))
		}},
		{"missing", "b.parquet: does not exist, and version 1", func(l *readtest.Lake, size int) { l.Commit(1, readtest.Add("b.parquet", size, nil)) }},
		{"size", "bytes and not", func(l *readtest.Lake, size int) {
			l.Commit(1, readtest.Remove("a.parquet", nil), readtest.Add("a.parquet", size+1, nil))
		}},
		{"outside", "outside its folder", func(l *readtest.Lake, size int) { l.Commit(1, readtest.Add("../b.parquet", size, nil)) }},
		{"clone", "outside its folder", func(l *readtest.Lake, size int) { l.Commit(1, readtest.Add("s3://bucket/b.parquet", size, nil)) }},
		{"checksum", "is not the checksum", func(l *readtest.Lake, size int) { l.JSON("_delta_log/00000000000000000000.crc", jo{"numFiles": 2}) }},
		{"twice", "is listed twice", func(l *readtest.Lake, size int) { l.Commit(1, readtest.Add("./a.parquet", size, nil)) }},
		{"vector", "cannot be decoded", func(l *readtest.Lake, size int) {
			l.Commit(1, readtest.Remove("a.parquet", nil), readtest.Add("a.parquet", size, jo{"deletionVector": jo{"storageType": "i", "pathOrInlineDv": "abcde", "sizeInBytes": 4, "cardinality": 1}}))
		}},
		{"no vector", "its deletion vector does not exist", func(l *readtest.Lake, size int) {
			l.Commit(1, readtest.Remove("a.parquet", nil), readtest.Add("a.parquet", size, jo{"deletionVector": jo{"storageType": "u", "pathOrInlineDv": z85(make([]byte, 16)), "offset": 1, "sizeInBytes": 40, "cardinality": 1}}))
		}},
		{"checksum of a vector", "does not have its checksum", func(l *readtest.Lake, size int) { vectored(l, size, 1, 1, func(data []byte) { data[len(data)-1]++ }) }},
		{"length of a vector", "not as long as the log says", func(l *readtest.Lake, size int) { vectored(l, size, 1, 1, func(data []byte) { data[3]++ }) }},
		{"rows of a vector", "not as many rows as the log says", func(l *readtest.Lake, size int) { vectored(l, size, 1, 2, func(data []byte) {}) }},
		{"row of a vector", "deletes rows that it does not have", func(l *readtest.Lake, size int) { vectored(l, size, 2, 1, func(data []byte) {}) }},
		{"records", "it has 2 rows, its table says 3", func(l *readtest.Lake, size int) {
			l.Commit(1, readtest.Remove("a.parquet", nil), readtest.Add("a.parquet", size, jo{"stats": `{"numRecords":3}`}))
		}},
	} {
		l := readtest.NewLake(t)
		size := l.Notes("a.parquet", "note_id", "text", "a0", "a1")
		l.Commit(0, readtest.Protocol(1), metadata(nil), readtest.Add("a.parquet", size, nil))
		if got, err := rowsAt(t, l.Dir, ""); err != nil || got != "a0, a1" {
			t.Fatalf("%s: %v", got, err)
		}
		tt.change(l, size)
		got, err := rowsAt(t, l.Dir, "")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "Lovelace") {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		if wrong, ok := errors.AsType[*input.Error](err); ok && wrong.Remedy == "" {
			t.Errorf("%s: no remedy", tt.name)
		}
	}
	l := readtest.NewLake(t)
	l.Commit(0, readtest.Protocol(1), metadata(nil), readtest.Add("a.parquet", l.Notes("a.parquet", "note_id", "text", "a0"), nil))
	for version, want := range map[string]string{"1": "has no version 1, the newest is 0", "-1": "has no version", "yesterday": "no number and no time", "1969-01-01": "its log begins later"} {
		if _, err := rowsAt(t, l.Dir, version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("version %s: %v", version, err)
		}
	}
	if _, err := rowsAt(t, filepath.Join(l.Dir, "a.parquet"), ""); err == nil || !strings.Contains(err.Error(), "only its log says which") {
		t.Errorf("a file of a table: %v", err)
	}
	notes := filepath.Join(t.TempDir(), "notes.csv")
	if err := os.WriteFile(notes, []byte("note_id,text\n1,Control de 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := rowsAt(t, notes, "3"); err == nil || !strings.Contains(err.Error(), "there are 0") {
		t.Errorf("a version of no table: %v", err)
	}
}

func vectored(l *readtest.Lake, size int, row uint64, cardinality int, change func([]byte)) {
	l.Commit(1, readtest.Remove("a.parquet", nil), readtest.Add("a.parquet", size, jo{"deletionVector": l.Vectored(row, cardinality, change)}))
}

// TestIceberg: position deletes, equality deletes and deletion vectors count for the
// files that they are for, and no others.
func TestIceberg(t *testing.T) {
	const place = "s3://bucket/ward/notes" // where the table was written
	l := readtest.NewLake(t)
	id, text := pq.FieldID(pq.String(), 1), pq.FieldID(pq.String(), 2)
	file := func(name string, ids ...string) readtest.IcebergFile {
		var all, texts []any
		for _, x := range ids {
			all, texts = append(all, x), append(texts, "Control de "+x)
		}
		return readtest.IcebergFile{Path: name, Rows: len(ids), Size: l.Columns(name, readtest.Column{"id_of_note", id, all}, readtest.Column{"text", text, texts})}
	}
	a, b := file("data/a.parquet", "a0", "a1", "a2", "a3", "a4"), file("data/b.parquet", "b0", "b1", "a4")
	first := l.Snapshot(1, place, readtest.Manifest{Sequence: 1, Files: []readtest.IcebergFile{a}})
	positions := func(name string, rows ...any) readtest.IcebergFile {
		var paths []any
		for range rows {
			paths = append(paths, place+"/data/a.parquet")
		}
		return readtest.IcebergFile{Path: name, Content: 1, Rows: len(rows),
			Size: l.Columns(name, readtest.Column{"file_path", pq.String(), paths}, readtest.Column{"pos", pq.Int(64), rows})}
	}
	equal := func(name string, ids ...any) readtest.IcebergFile {
		return readtest.IcebergFile{Path: name, Content: 2, Rows: len(ids), Equality: []int{1}, Size: l.Columns(name, readtest.Column{"note_id", id, ids})}
	}
	p := positions("data/p.parquet", int64(0), int64(3))
	second := l.Snapshot(2, place, readtest.Manifest{Sequence: 1, Files: []readtest.IcebergFile{a}}, readtest.Manifest{Content: 1, Sequence: 2, Files: []readtest.IcebergFile{p}})
	e := equal("data/e.parquet", "a4", "b1")
	third := l.Snapshot(3, place, readtest.Manifest{Sequence: 1, Files: []readtest.IcebergFile{a}}, readtest.Manifest{Sequence: 3, Files: []readtest.IcebergFile{b}}, // b is as young as e, which does not concern it
		readtest.Manifest{Content: 1, Sequence: 3, Files: []readtest.IcebergFile{{Path: p.Path, Content: 1, Rows: p.Rows, Size: p.Size, Sequence: 2}, e}})
	old := positions("data/q.parquet", int64(1)) // older than a, which it does not concern
	gone := b
	gone.Status = 2
	fourth := l.Snapshot(4, place, readtest.Manifest{Sequence: 1, Files: []readtest.IcebergFile{a, gone}}, readtest.Manifest{Content: 1, Sequence: 0, Files: []readtest.IcebergFile{old}})
	vector := readtest.Vector(2)
	l.Put("data/v.puffin", append([]byte("PFA1"), vector...))
	fifth := l.Snapshot(5, place, readtest.Manifest{Sequence: 1, Files: []readtest.IcebergFile{a}}, readtest.Manifest{Content: 1, Sequence: 5, Files: []readtest.IcebergFile{
		p, {Path: "data/v.puffin", Content: 1, Format: "PUFFIN", Rows: 1, Size: len(vector) + 4, Of: "data/a.parquet", Offset: 4, Length: len(vector)}}})
	l.Metadata("00004-a.metadata.json", place, nil, first)
	l.Metadata("00005-a.metadata.json", place, jo{"format-version": 3, "refs": jo{"audit": jo{"snapshot-id": 2}}}, first, second, third, fourth, fifth)
	wantRows(t, l.Dir, nil, map[string]string{
		"1": "a0, a1, a2, a3, a4", "2": "a1, a2, a4", "audit": "a1, a2, a4", "3": "a1, a2, a4, b0, b1", "4": "a0, a1, a2, a3, a4",
		"5": "a0, a1, a3, a4", "": "a0, a1, a3, a4", "1970-01-01T00:50:00Z": "a1, a2, a4, b0, b1"})
	for version, want := range map[string]string{"6": "has no snapshot 6", "never": "no id of a snapshot", "1969-01-01": "its log begins later"} {
		if _, err := rowsAt(t, l.Dir, version); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("version %s: %v", version, err)
		}
	}
}

// TestIcebergPartitions: equality deletes of a partition leave the others alone.
func TestIcebergPartitions(t *testing.T) {
	const place = "file:///lake/notes"
	l := readtest.NewLake(t)
	id, text := pq.FieldID(pq.Optional(pq.String()), 1), pq.FieldID(pq.String(), 2)
	var files []readtest.IcebergFile
	for _, ward := range []string{"x", "y"} {
		name := "data/ward=" + ward + "/a.parquet"
		size := l.Columns(name, readtest.Column{"note_id", id, []any{"1" + ward, "2" + ward}}, readtest.Column{"text", text, []any{"Control de 1" + ward, "Control de 2" + ward}})
		files = append(files, readtest.IcebergFile{Path: name, Ward: ward, Rows: 2, Size: size})
	}
	e := readtest.IcebergFile{Path: "data/e.parquet", Ward: "y", Content: 2, Rows: 2, Equality: []int{1}, Size: l.Columns("data/e.parquet", readtest.Column{"note_id", id, []any{"1x", "2y"}})}
	l.Metadata("v1.metadata.json", place, nil, l.Snapshot(1, place, readtest.Manifest{Sequence: 1, Files: files}, readtest.Manifest{Content: 1, Sequence: 2, Files: []readtest.IcebergFile{e}}))
	l.Put("metadata/version-hint.text", []byte("1\n"))
	wantRows(t, l.Dir, nil, map[string]string{"": "1x, 1y, 2x"})
	l.Metadata("v2.metadata.json", place, jo{"partition-specs": []any{jo{"spec-id": 0, "fields": []any{jo{"source-id": 3, "transform": "identity"}}}}}, l.Snapshot(2, place, readtest.Manifest{Files: files}))
	if _, err := rowsAt(t, l.Dir, "", "ward"); err == nil { // no file has the column: folders do
		t.Error("a column of folders alone is null")
	}
}

// TestIcebergColumns: files without ids of fields go by the names that the table maps.
func TestIcebergColumns(t *testing.T) {
	const place = "/lake/notes"
	l := readtest.NewLake(t)
	a := readtest.IcebergFile{Path: "a.parquet", Rows: 2, Size: l.Notes("a.parquet", "codigo", "nota", "a0", "a1")}
	s := l.Snapshot(1, place, readtest.Manifest{Files: []readtest.IcebergFile{a}})
	l.Metadata("v1.metadata.json", place, nil, s)
	if _, err := rowsAt(t, l.Dir, ""); err == nil || !strings.Contains(err.Error(), "is missing") {
		t.Errorf("names that nobody maps: %v", err)
	}
	l.Metadata("v2.metadata.json", place, jo{"properties": jo{"schema.name-mapping.default": `[{"field-id":1,"names":["id","codigo"]},{"field-id":2,"names":["nota"]}]`}}, s)
	wantRows(t, l.Dir, nil, map[string]string{"": "a0, a1"})
}

// TestIcebergRefused: what is not done, and what is broken, is refused by name.
func TestIcebergRefused(t *testing.T) {
	const place = "/lake/notes"
	for name, tt := range map[string]struct {
		want   string
		change func(l *readtest.Lake, f readtest.IcebergFile, s jo)
	}{
		"version": {"format version 4", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			l.Metadata("v2.metadata.json", place, jo{"format-version": 4}, s)
		}},
		"two": {"two files of metadata with the number 1", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			l.Metadata("00001-x.metadata.json", place, nil, s)
		}},
		"keys": {"is encrypted", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			l.Metadata("v2.metadata.json", place, jo{"encryption-keys": []any{jo{}}}, s)
		}},
		"torn": {"v2.metadata.json: is no metadata", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			l.Put("metadata/v2.metadata.json", []byte(`{"loc`))
		}},
		"elsewhere": {"outside its folder", func(l *readtest.Lake, f readtest.IcebergFile, s jo) { l.Metadata("v2.metadata.json", "/other", nil, s) }},
		"default": {`column "text" has a default`, func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			l.Metadata("v2.metadata.json", place, jo{"schemas": []any{jo{"schema-id": 0, "fields": []any{jo{"id": 2, "name": "text", "initial-default": "none"}}}}}, s)
		}},
		"schema": {"has no schema 7", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			l.Metadata("v2.metadata.json", place, jo{"current-schema-id": 7}, s)
		}},
		"orc": {"files of ORC", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			f.Format = "orc"
			l.Metadata("v2.metadata.json", place, nil, l.Snapshot(2, place, readtest.Manifest{Files: []readtest.IcebergFile{f}}))
		}},
		"file key": {"is encrypted", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			f.Key = []byte("k")
			l.Metadata("v2.metadata.json", place, nil, l.Snapshot(2, place, readtest.Manifest{Files: []readtest.IcebergFile{f}}))
		}},
		"missing": {"gone.parquet: does not exist, and snapshot 2", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			f.Path = "gone.parquet"
			l.Metadata("v2.metadata.json", place, nil, l.Snapshot(2, place, readtest.Manifest{Files: []readtest.IcebergFile{f}}))
		}},
		"rows": {"it has 2 rows, its table says 5", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			f.Rows = 5
			l.Metadata("v2.metadata.json", place, nil, l.Snapshot(2, place, readtest.Manifest{Files: []readtest.IcebergFile{f}}))
		}},
		"manifest": {"m0.avro: cannot be decoded as Avro", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			l.Put("metadata/1-m0.avro", []byte("Obj\x01Ada Lovelace"))
		}},
		"no list": {"snap-1.avro: does not exist", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			os.Remove(filepath.Join(l.Dir, "metadata/snap-1.avro"))
		}},
		"equality": {"equality deletes of no column", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			f.Content, f.Path = 2, "e.parquet"
			f.Size = l.Notes("e.parquet", "note_id", "text", "a0")
			l.Metadata("v2.metadata.json", place, nil, l.Snapshot(2, place, readtest.Manifest{Content: 1, Sequence: 2, Files: []readtest.IcebergFile{f}}))
		}},
		"positions": {"cannot be decoded as Parquet", func(l *readtest.Lake, f readtest.IcebergFile, s jo) {
			f.Content, f.Path = 1, "p.parquet"
			f.Size = l.Put("p.parquet", []byte("PAR1 Ada Lovelace PAR1"))
			l.Metadata("v2.metadata.json", place, nil, l.Snapshot(2, place, readtest.Manifest{Content: 1, Sequence: 2, Files: []readtest.IcebergFile{f}}))
		}},
	} {
		l := readtest.NewLake(t)
		id, text := pq.FieldID(pq.String(), 1), pq.FieldID(pq.String(), 2)
		f := readtest.IcebergFile{Path: "a.parquet", Rows: 2, Size: l.Columns("a.parquet", readtest.Column{"note_id", id, []any{"a0", "a1"}}, readtest.Column{"text", text, []any{"Control de a0", "Control de a1"}})}
		s := l.Snapshot(1, place, readtest.Manifest{Files: []readtest.IcebergFile{f}})
		l.Metadata("v1.metadata.json", place, nil, s)
		if got, err := rowsAt(t, l.Dir, ""); err != nil || got != "a0, a1" {
			t.Fatalf("%s: %v", got, err)
		}
		tt.change(l, f, s)
		got, err := rowsAt(t, l.Dir, "")
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "Lovelace") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

// TestVersionsOfUnits: deleted rows make another unit of a file, and nothing else does.
func TestVersionsOfUnits(t *testing.T) {
	l := readtest.NewLake(t)
	size := l.Notes("a.parquet", "note_id", "text", "a0", "a1", "a2")
	l.Commit(0, readtest.Protocol(3, "deletionVectors"), readtest.MetaData(nil, nil, plainFields...), readtest.Add("a.parquet", size, nil))
	l.Commit(1)
	l.Commit(2, readtest.Remove("a.parquet", nil), readtest.Add("a.parquet", size, jo{"deletionVector": l.Vectored(1, 1, func([]byte) {})}))
	without := func(version string) string {
		a, err := Scan(t.Context(), []string{l.Dir}, input.Options{Version: version}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if a.Units[0].Without != a.Without(&a.Units[0]) {
			t.Error("the archive forgets what is deleted")
		}
		return a.Units[0].Without
	}
	if without("0") != "" || without("1") != "" || without("2") == "" {
		t.Errorf("%q, %q, %q", without("0"), without("1"), without("2"))
	}
}
