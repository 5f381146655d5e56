package lake

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/stages/read/readtest"
)

// TestVector: a vector has its rows, and none with a byte that is another.
func TestVector(t *testing.T) {
	for _, rows := range [][]uint64{{0}, {1, 3}, {5, 6, 7, 8, 9, 10, 70_000, 1 << 33}, nil} {
		data := readtest.Vector(rows...)
		got, err := framedVector(data, int64(len(data)-8))
		if err != nil || !slices.Equal(got.ToArray(), rows) {
			t.Errorf("%v: %v", rows, err)
		}
		for i := range data {
			bad := slices.Clone(data)
			bad[i] ^= 1
			if got, err := framedVector(bad, int64(len(data)-8)); err == nil {
				t.Errorf("%v with another byte at %d gives %v", rows, i, got.ToArray())
			}
		}
	}
}

// TestZ85 has the example of RFC 32.
func TestZ85(t *testing.T) {
	if got, err := decodeZ85("HelloWorld"); err != nil || string(got) != "\x86\x4f\xd2\x6f\xb5\x59\xf7\x5b" {
		t.Errorf("%x, %v", got, err)
	}
	for _, bad := range []string{"Hell", "Hello\x00orld", "#####", "Hello World"} {
		if got, err := decodeZ85(bad); err == nil {
			t.Errorf("%q gives %x", bad, got)
		}
	}
}

func TestAsOf(t *testing.T) {
	for text, want := range map[string]string{
		"2026-01-31": "2026-01-31 23:59:59.999999999", "2026-01-31T12:00:00Z": "2026-01-31 12:00:00", "2026-01-31T12:00:00+01:00": "2026-01-31 11:00:00",
		"2026-01-31 12:00": "2026-01-31 12:00:00", "2026-01-31T12:00:00.5": "2026-01-31 12:00:00.5", "31/1/2026": "", "": "",
	} {
		at, ok := asOf(text)
		if got := at.UTC().Format("2006-01-02 15:04:05.999999999"); ok != (want != "") || ok && got != want {
			t.Errorf("%q: %s, want %q", text, got, want)
		}
	}
}

func TestMetadataNumber(t *testing.T) {
	for name, want := range map[string]int64{
		"v3.metadata.json": 3, "00012-2f-1.metadata.json": 12, "v1.gz.metadata.json": 1, "00002-a.metadata.json.gz": 2, "v3.metadata.json.tmp": -1, "snap-1.avro": -1, ".metadata.json": -1,
	} {
		if n, ok := metadataNumber(name); ok != (want >= 0) || ok && n != want {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
}

// TestNumbers: a name in the log may have any number, and a search by time still ends.
func TestNumbers(t *testing.T) {
	l := readtest.NewLake(t)
	l.Commit(0, readtest.Protocol(1), readtest.MetaData(nil, nil, readtest.DeltaField("id", "string", "", 0)))
	l.Put("_delta_log/99999999999999999999.json", nil)
	if table, err := Open(l.Dir, ""); err != nil || table.Version != "0" {
		t.Error(table, err)
	}
	l.Put("_delta_log/01000000000000000000.json", nil)
	if table, err := Open(l.Dir, "1969-01-01"); err == nil {
		t.Error(table)
	}
}

// TestSent: what one process says of a file another one takes only if it is one.
func TestSent(t *testing.T) {
	for text, want := range map[string]bool{
		`{"Path":"` + base64.StdEncoding.EncodeToString([]byte("a/\xff.parquet")) + `","Bytes":1,"Rows":2}`: true,
		`{"Path":"` + base64.StdEncoding.EncodeToString([]byte("../a")) + `"}`:                              false,
		`{"Path":"` + base64.StdEncoding.EncodeToString([]byte("/etc/a")) + `"}`:                            false,
		`{"Path":"YQ==","Deleted":"////////////"}`:                                                          false,
		`{}`: false,
	} {
		var f File
		if err := json.Unmarshal([]byte(text), &f); (err == nil) != want || want && (f.Path != "a/\xff.parquet" || f.Rows != 2) {
			t.Errorf("%s: %+v, %v", text, f, err)
		}
	}
}

// FuzzVector: whatever stands where a vector should be is one or an error.
func FuzzVector(f *testing.F) {
	for _, rows := range [][]uint64{nil, {1, 2, 3}, {1 << 40}} {
		data := readtest.Vector(rows...)
		f.Add(data[4 : len(data)-4])
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if rows, err := parseVector(data); err == nil {
			rows.Contains(7)
			if n := rows.GetCardinality(); n > 0 && rows.Maximum()+1 < n {
				t.Errorf("%d rows up to %d", n, rows.Maximum())
			}
		}
	})
}

// FuzzAction: whatever stands in a line of a log is an action or an error without a word
// of it.
func FuzzAction(f *testing.F) {
	for _, line := range []string{"", `{"add":{"path":"a%20b","size":1,"partitionValues":{"w":null},"deletionVector":{"storageType":"i","offset":1}}}`,
		`{"protocol":{"minReaderVersion":3,"readerFeatures":["deletionVectors"]}}`, `{"metaData":{"schemaString":"{}","configuration":{"a":"b"}}}`, `{"add":"Lovelace"}`} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		a, err := parseAction([]byte(line))
		if err != nil {
			if err != errAction {
				t.Errorf("an error of somebody else's: %T", err)
			}
			return
		}
		d := &deltaLog{dir: "/x", files: map[logicalFile]*addFile{}}
		d.settings(a)
		if a.Add != nil {
			d.add(a.Add)
			if file, err := d.file(a.Add, nil, nil); err == nil && (strings.HasPrefix(file.Path, "/") || strings.HasPrefix(file.Path, "../")) {
				t.Error("a file outside the table")
			}
		}
		if d.metaData != nil {
			_, _ = d.columns(new(Table)) // an error is one, too
		}
	})
}

// FuzzUnescaped: paths of logs stay below their table.
func FuzzUnescaped(f *testing.F) {
	f.Add("w=a%2520b/part.parquet")
	f.Add("%2e%2e/x")
	f.Fuzz(func(t *testing.T, name string) {
		if path, ok := inside(Unescaped(name)); ok && (strings.HasPrefix(path, "/") || path == ".." || strings.HasPrefix(path, "../")) {
			t.Errorf("%q is outside", path)
		}
	})
}

func TestUnescaped(t *testing.T) {
	for in, want := range map[string]string{"A%2FB": "A/B", "100%": "100%", "%zz%4": "%zz%4", "a%FFb": "a%FFb", "ma%C3%B1ana": "mañana"} {
		if got := Unescaped(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
