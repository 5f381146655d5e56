package read

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"pgregory.net/rapid"
)

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
			writeTestFile(t, path, []testColumn{{"note_id", parquet.String(), ids}, {"text", node, texts}}, 150,
				parquet.DataPageVersion(version), parquet.PageBufferSize(1000))
			sound, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(readFile(t, path, ParquetOptions{})); got != 300 {
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
				p, err := NewParquet(path, 0, -1, ParquetOptions{})
				if err == nil {
					_, err = notesOf(p)
					p.Close()
				}
				if !isDamage(err) {
					t.Errorf("version %d, %s: %v", version, what, err)
				}
			}
		}
	}
}

// TestCountLevels: what the format's run-length form says is counted, and
// nothing less or more.
func TestCountLevels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 9).Draw(rt, "most")
		width := bits.Len(uint(most))
		var runs []byte
		var want levelCount
		n := 0
		for range rapid.IntRange(1, 5).Draw(rt, "runs") {
			if rapid.Bool().Draw(rt, "packed") {
				word := uint64(0)
				for k := range 8 {
					level := rapid.IntRange(0, most).Draw(rt, "level")
					word |= uint64(level) << (k * width)
					want.add(level, most, 1)
				}
				runs, n = append(runs, 1<<1|1), n+8
				runs = append(runs, binary.LittleEndian.AppendUint64(nil, word)[:width]...)
				continue
			}
			k, level := rapid.IntRange(1, 60).Draw(rt, "times"), rapid.IntRange(0, most).Draw(rt, "level")
			runs, n = append(runs, byte(k<<1), byte(level)), n+k
			want.add(level, most, k)
		}
		if got, ok := countLevels(runs, n, most); !ok || got != want {
			rt.Fatalf("%+v, want %+v, %t", got, want, ok)
		}
		if _, ok := countLevels(runs, n+1, most); ok {
			rt.Fatal("one more than there are")
		}
		if _, ok := countLevels(append(runs, 2, 0), n, most); ok {
			rt.Fatal("bytes left")
		}
		if _, ok := countLevels(runs[:len(runs)-1], n, most); ok {
			rt.Fatal("bytes cut off")
		}
		if _, ok := countLevels([]byte{2, byte(most + 1)}, 1, most); ok {
			rt.Fatal("a level that is too high")
		}
	})
}

// TestStrange: one file without the columns goes to the bad ones; if no file
// has them, it is the options.
func TestStrange(t *testing.T) {
	dir := fenceArchive(t)
	path := filepath.Join(dir, "a.parquet") // the first of all
	writeTestFile(t, path, []testColumn{{"note_id", parquet.Int(64), []any{int64(1)}}, {"tezt", parquet.String(), []any{"x"}}}, 1)
	for _, f := range []*Fence{nil, testFence(t, FenceOptions{})} {
		a, err := Scan(t.Context(), []string{dir}, ParquetOptions{}, f)
		if err != nil || len(a.Bad) != 1 || a.Bad[0].Input != "a.parquet" || !strings.HasPrefix(a.Bad[0].Cause, `column "text" is missing`) || a.Rows() == 0 {
			t.Errorf("%+v, %v", a, err)
		}
		if _, err := Scan(t.Context(), []string{path}, ParquetOptions{}, f); err == nil || isDamage(err) {
			t.Errorf("alone: %v", err)
		}
	}
}
