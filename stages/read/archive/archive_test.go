package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
)

// TestFileMark: the mark of a file says nothing of its content.
func TestFileMark(t *testing.T) {
	a := commit.Unit{Input: "/a/notes.csv", Source: "notes.csv", SHA256: [32]byte{1}}
	b := a
	b.SHA256[0] = 2
	var open, keyed Archive
	keyed.o.Key = readtest.Key(t)
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

func TestScan(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, rows int, more ...readtest.Column) {
		t.Helper()
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var ids, texts []any
		for i := range rows {
			ids, texts = append(ids, int64(i)), append(texts, name)
		}
		columns := []readtest.Column{{"note_id", parquet.Int(64), ids}, {"text", parquet.String(), texts}}
		for k := range more {
			for range rows {
				more[k][2] = append(more[k][2].([]any), int32(0))
			}
		}
		readtest.WriteFile(t, path, append(columns, more...), 10, parquet.KeyValueMetadata("file", name))
	}
	center := readtest.Column{"center", parquet.Int(32), []any(nil)}
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
	a, err := Scan(t.Context(), []string{filepath.Join(dir, "in")}, input.Options{Pass: []string{"center"}, UnitNotes: 20}, nil)
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
		notes, err := readtest.NotesOf(src)
		if err := errors.Join(err, src.Close()); err != nil {
			t.Fatal(err)
		}
		if int64(len(notes)) != u.Rows {
			t.Errorf("unit %d has %d notes", i, len(notes))
		}
		for k, n := range notes {
			if n.Row != u.First+int64(k) || n.ID != fmt.Sprint(n.Row) || n.Extra != "center=0 " && n.Extra != "center=null " {
				t.Errorf("unit %d, note %d: row %d, id %s, %s", i, k, n.Row, n.ID, n.Extra)
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
	if _, err := Scan(t.Context(), []string{filepath.Join(dir, "in")}, input.Options{Pass: []string{"nowhere"}}, nil); err == nil {
		t.Error("a column that no file has")
	}
}

// TestNobodyAsked: what nobody names makes no file unreadable: two columns of
// one name, names that no log may show, a column that is null throughout, a
// type that nobody knows. Who names it is told.
func TestNobodyAsked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	values := []any{int32(1), int32(2)}
	columns := []readtest.Column{{"note_id", parquet.Int(64), []any{int64(1), int64(2)}}, {"text", parquet.String(), []any{"a", "b"}}}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		columns = append(columns, readtest.Column{name, parquet.Optional(parquet.Int(32)), values})
	}
	readtest.WriteFile(t, path, columns, 2)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]string{"b": "a", "c": "bell\a\x1b[2J\nline", "d": "broken \xff" + strings.Repeat("long", 100)}
	data = withFooter(t, data, func(m *format.FileMetaData) {
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
	for _, f := range []*fence.Fence{nil, fenceFor(t, fence.Options{})} {
		a, err := Scan(t.Context(), []string{path}, input.Options{Pass: []string{"e"}}, f)
		if err != nil || len(a.Bad) > 0 {
			t.Fatal(err, a)
		}
		notes, err := readtest.UnitNotes(a.Open(&a.Units[0]))
		if err != nil || len(notes) != 2 || notes[1].Text != "b" || notes[1].Extra != "e=null " {
			t.Errorf("%v, %v", notes, err)
		}
		_, err = Scan(t.Context(), []string{path}, input.Options{Pass: []string{"a"}}, f)
		if err == nil || !strings.Contains(err.Error(), `column "a" is there 2 times`) {
			t.Errorf("two of one name: %v", err)
		}
		_, err = Scan(t.Context(), []string{path}, input.Options{Pass: []string{"z"}}, f)
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
			column := readtest.Column{"when", node, []any{int64(7)}}
			if null := month == first; null || node == nil {
				if !null {
					continue
				}
				column = readtest.Column{"when", parquet.Optional(parquet.Int(32)), []any{nil}}
			}
			path := filepath.Join(dir, month+".parquet")
			readtest.WriteFile(t, path, []readtest.Column{{"note_id", parquet.Int(64), []any{int64(month[0])}}, {"text", parquet.String(), []any{"x"}}, column}, 1)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if month == first {
				data = withFooter(t, data, func(m *format.FileMetaData) { m.Schema[3].LogicalType.Value = &format.NullType{} })
			}
			if err := os.WriteFile(path, data, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for _, f := range []*fence.Fence{nil, fenceFor(t, fence.Options{})} {
			a, err := Scan(t.Context(), []string{dir}, input.Options{Pass: []string{"when"}, Date: "when"}, f)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i := range a.Units {
				notes, err := readtest.UnitNotes(a.Open(&a.Units[i]))
				if err != nil {
					t.Fatal(err)
				}
				got += a.Units[i].Source + " " + notes[0].Extra
			}
			want := map[string]string{"a": "a.parquet date=null when=null b.parquet date=0 when=7 ", "c": "b.parquet date=0 when=7 c.parquet date=null when=null "}[first]
			if got != want || len(a.Bad) != 1 || a.Bad[0].Input != "d.parquet" || !strings.Contains(a.Bad[0].Cause, "another type") {
				t.Errorf("%s first: %q, want %q; %+v", first, got, want, a.Bad)
			}
			if len(a.Kept) != 1 || dayOf(a.Kept[0]) != 24*time.Hour.Nanoseconds() {
				t.Errorf("kept: %+v", a.Kept)
			}
		}
	}
}

// TestMixedTypes: a column that stages use, and that writers give different types, is
// read as one that holds all of them; a column that nobody names may be of any type, and
// is not even mentioned.
func TestMixedTypes(t *testing.T) {
	nodes := []struct {
		name  string
		node  parquet.Node
		value any
	}{
		{"a", parquet.Date(), int32(19794)},
		{"b", parquet.Timestamp(parquet.Nanosecond), int64(1710201600_000_000_000)},
		{"c", parquet.Timestamp(parquet.Millisecond), int64(-1)},
		{"d", parquet.String(), "2024-03-12"},
	}
	for _, tt := range []struct{ files, want string }{
		{"ab", "date=1710201600000000 date=1710201600000000"},
		{"bca", "date=1710201600000000 date=1710201600000000 date=-1000"},
		{"ad", "date=2024-03-12 date=2024-03-12"},
		{"bdc", "date=2024-03-12T00:00:00Z date=1969-12-31T23:59:59Z date=2024-03-12"},
	} {
		dir := t.TempDir()
		for i, c := range tt.files {
			n := nodes[c-'a']
			path := filepath.Join(dir, n.name+".parquet")
			readtest.WriteFile(t, path, []readtest.Column{{"note_id", parquet.Int(64), []any{int64(i)}}, {"text", parquet.String(), []any{"x"}},
				{"when", n.node, []any{n.value}}, {"other", n.node, []any{n.value}}}, 1)
		}
		for _, f := range []*fence.Fence{nil, fenceFor(t, fence.Options{})} {
			a, err := Scan(t.Context(), []string{dir}, input.Options{Date: "when"}, f)
			if err != nil || len(a.Bad) > 0 {
				t.Fatal(err, a.Bad)
			}
			var got []string
			for i := range a.Units {
				notes, err := readtest.UnitNotes(a.Open(&a.Units[i]))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, strings.TrimSpace(notes[0].Extra))
			}
			if strings.Join(got, " ") != tt.want {
				t.Errorf("%s: %q, want %q", tt.files, got, tt.want)
			}
			for _, d := range a.Drift {
				if d.Column != "when" {
					t.Errorf("%s: %v", tt.files, d)
				}
			}
		}
		if a, err := Scan(t.Context(), []string{dir}, input.Options{Pass: []string{"other"}}, nil); err != nil || len(a.Bad) == 0 || !strings.Contains(a.Bad[0].Cause, `column "other" has another type`) {
			t.Errorf("%s: kept: %v", tt.files, err)
		}
	}
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
			if err := os.WriteFile(filepath.Join(dir, month, "x.parquet"), readtest.Sample(t, parquet.KeyValueMetadata("m", month)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		a, b := filepath.Join(dir, "a", "x.parquet"), filepath.Join(dir, "b", "x.parquet")
		for _, in := range [][]string{{a, b}, {b, a, b}, {dir}} {
			archive, err := Scan(t.Context(), in, input.Options{}, nil)
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
		_, err := Scan(t.Context(), []string{in}, input.Options{}, nil)
		if _, ok := errors.AsType[*input.Error](err); !ok {
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
	_, err := Scan(t.Context(), []string{dir}, input.Options{}, nil)
	if err == nil || !strings.Contains(err.Error(), "may not be read") {
		t.Errorf("closed folder: %v", err)
	}
}

func TestScanCancelled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, readtest.Sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Scan(ctx, []string{path}, input.Options{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestChecksums(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good.parquet")
	if err := os.WriteFile(good, readtest.Sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Scan(t.Context(), []string{good}, input.Options{}, nil)
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
		a, err := Scan(t.Context(), []string{dir}, input.Options{Checksums: list}, nil)
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
	if _, err := Scan(t.Context(), []string{good}, input.Options{Checksums: list}, nil); err == nil {
		t.Error("no list of checksums, no error")
	}
}

func TestOpaqueFolders(t *testing.T) {
	dir := t.TempDir()
	month := filepath.Join(dir, "2026-01")
	if err := os.Mkdir(month, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(month, "x.parquet"), readtest.Sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Scan(t.Context(), []string{dir}, input.Options{Opaque: true}, nil); err == nil {
		t.Error("opaque names without a key: a digest that whoever tries all months undoes")
	}
	a, err := Scan(t.Context(), []string{dir}, input.Options{Opaque: true, Key: readtest.Key(t)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if f := a.Units[0].Folder; !strings.HasPrefix(f, "batch=") || strings.Contains(f, "2026") {
		t.Errorf("folder %q", f)
	}
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
		readtest.WriteFile(t, filepath.Join(dir, name+".parquet"), []readtest.Column{
			{"note_id", parquet.String(), []any{"1", "2", ""}},
			{"text", parquet.String(), []any{"uno", "dos", "tres"}},
		}, 2)
	}
	ids := func(o input.Options, in string) map[string]string {
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
					if all[id] != "" && o.IDs == input.DropIDs {
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
	whole := ids(input.Options{IDs: input.DropIDs}, "")
	if len(whole) != 9 {
		t.Errorf("%d ids of 9 notes: %v", len(whole), whole)
	}
	for id, file := range whole {
		if !strings.HasPrefix(id, file+"-") {
			t.Errorf("%s does not say that it is of file %s", id, file)
		}
	}
	numbered := ids(input.Options{NullIDs: input.NumberNullIDs}, "")
	if len(numbered) != 2+3 {
		t.Errorf("ids where null ones are numbered: %v", numbered)
	}
}

// TestStrange: one file without the columns goes to the bad ones; if no file
// has them, it is the options.
func TestStrange(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "good.parquet"), readtest.Sample(t), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "a.parquet") // the first of all
	readtest.WriteFile(t, path, []readtest.Column{{"note_id", parquet.Int(64), []any{int64(1)}}, {"tezt", parquet.String(), []any{"x"}}}, 1)
	for _, f := range []*fence.Fence{nil, fenceFor(t, fence.Options{})} {
		a, err := Scan(t.Context(), []string{dir}, input.Options{}, f)
		if err != nil || len(a.Bad) != 1 || a.Bad[0].Input != "a.parquet" || !strings.HasPrefix(a.Bad[0].Cause, `column "text" is missing`) || a.Rows() == 0 {
			t.Errorf("%+v, %v", a, err)
		}
		if _, err := Scan(t.Context(), []string{path}, input.Options{}, f); err == nil || readtest.IsDamage(err) {
			t.Errorf("alone: %v", err)
		}
	}
}

func fenceFor(t testing.TB, o fence.Options) *fence.Fence {
	f := fence.New(o)
	t.Cleanup(func() { f.Close() })
	return f
}

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == fence.WorkerArgument {
		os.Exit(fence.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}
