package archive_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"
	"golang.org/x/sys/unix"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/write/table"
	"github.com/velum-health/velum/stages/write/unit"
)

// otherWriters are files of invented notes that scripts/interop/interop.py wrote with
// pyarrow, pandas, Polars and DuckDB: every type that they have, with nulls,
// beside the text.
func otherWriters(t testing.TB) []string {
	names, err := filepath.Glob(filepath.Join("testdata", "writers", "*.parquet"))
	if err != nil || len(names) == 0 {
		t.Fatalf("%d files, %v", len(names), err)
	}
	return names
}

// keep masks nothing: it writes a file as `velum run` does, with all columns
// that it has, and returns the path of the masked part.
func keep(t testing.TB, path string, behind *fence.Fence, columns ...string) (string, error) {
	a, err := archive.Scan(t.Context(), []string{path}, input.Options{Pass: columns}, behind)
	if err != nil {
		return "", err
	}
	if len(a.Bad) > 0 {
		return "", errors.New(a.Bad[0].Cause)
	}
	out := filepath.Join(t.TempDir(), "out")
	plan := &commit.Plan{Units: a.Units}
	line := func(_ int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		src, err := a.Open(u)
		if err != nil {
			return commit.Line{}, err
		}
		sink, err := unit.New(parts, unit.Options{Model: "none", Pass: a.Extra})
		return commit.Line{Source: src, Steps: []pipeline.Step{{Name: "copy", New: copies}}, Sink: sink}, err
	}
	result, err := commit.RunUnits(t.Context(), plan, commit.Output{Dir: out}, line, commit.UnitOptions{Verify: table.Verify})
	if err != nil {
		return "", err
	}
	if u := result.Manifest.Units[0]; u.Damage != "" {
		return "", errors.New(u.Damage)
	}
	return filepath.Join(out, filepath.FromSlash(result.Manifest.Units[0].Parts[0].Path)), nil
}

func copies() func(b *pipeline.Batch) error {
	return func(b *pipeline.Batch) error {
		for i := range b.Len() {
			b.Masked.Append(b.Text.At(i))
			b.Spans.End()
			b.Places.End()
			b.Seal(i)
		}
		return nil
	}
}

// raw is a file without what its columns mean: the schema, and the levels and
// values of every leaf.
type raw struct {
	schema []format.SchemaElement // without the root
	leaves map[string][]string
}

func readRaw(t testing.TB, path string) *raw {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r := &raw{leaves: map[string][]string{}}
	var m format.FileMetaData
	data = patchedFooter(t, data, func(meta *format.FileMetaData) {
		if m, err = clone(*meta); err != nil {
			t.Fatal(err)
		}
		r.schema = m.Schema[1:]
		for i := range meta.Schema { // what the library does not know it need not
			e := &meta.Schema[i]
			meta.Schema[i] = format.SchemaElement{Type: e.Type, TypeLength: e.TypeLength, RepetitionType: e.RepetitionType, Name: e.Name, NumChildren: e.NumChildren}
		}
	})
	f, err := parquet.OpenFile(strings.NewReader(string(data)), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	for k, leaf := range f.Schema().Columns() {
		name := strings.Join(leaf, ".")
		for _, g := range f.RowGroups() {
			r.leaves[name] = append(r.leaves[name], values(t, g.ColumnChunks()[k].Pages())...)
		}
	}
	return r
}

func values(t testing.TB, pages parquet.Pages) (all []string) {
	defer pages.Close()
	for {
		page, err := pages.ReadPage()
		if err == io.EOF {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		buf := make([]parquet.Value, page.NumValues())
		n, err := page.Values().ReadValues(buf)
		if n != len(buf) || err != nil && err != io.EOF {
			t.Fatal(n, err)
		}
		for _, v := range buf {
			all = append(all, fmt.Sprintf("%d %d %d %x", v.RepetitionLevel(), v.DefinitionLevel(), v.Kind(), v.Bytes()))
		}
	}
}

func clone(m format.FileMetaData) (out format.FileMetaData, err error) {
	data, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	if err != nil {
		return out, err
	}
	return out, thrift.Unmarshal(new(thrift.CompactProtocol), data, &out)
}

// column returns the elements of a column of the top level.
func (r *raw) column(name string) []format.SchemaElement {
	for at := 0; at < len(r.schema); {
		end := at + 1
		for open := r.schema[at].NumChildren.V; open > 0; end++ {
			open += r.schema[end].NumChildren.V - 1
		}
		if r.schema[at].Name == name {
			all := slices.Clone(r.schema[at:end])
			all[0].RepetitionType = thrift.New(format.Optional) // another file may lack it
			for i := range all {
				all[i].FieldID = 0
			}
			return all
		}
		at = end
	}
	return nil
}

// TestKeptBitForBit: every column of every writer comes out as it went in:
// schema, levels, values; with and without a fence. No column stops a run that
// does not name it.
func TestKeptBitForBit(t *testing.T) {
	behind := fence.New(fence.Options{})
	defer behind.Close()
	for _, path := range otherWriters(t) {
		in := readRaw(t, path)
		if _, err := keep(t, path, behind); err != nil {
			t.Errorf("%s: none kept: %v", path, err)
		}
		var names []string
		for at := 0; at < len(in.schema); at += len(in.column(in.schema[at].Name)) {
			if name := in.schema[at].Name; name != "note_id" && name != "text" {
				names = append(names, name)
			}
		}
		part, err := keep(t, path, behind, names...)
		if err != nil {
			t.Errorf("%s: all kept: %v", path, err)
			continue
		}
		out := readRaw(t, part)
		for _, name := range names {
			if got, want := fmt.Sprintf("%+v", out.column(name)), fmt.Sprintf("%+v", in.column(name)); got != want {
				t.Errorf("%s: column %s is\n%s, was\n%s", path, name, got, want)
			}
		}
		compared := 0
		for leaf, want := range in.leaves {
			name, _, _ := strings.Cut(leaf, ".")
			if !slices.Contains(names, name) {
				continue
			}
			compared++
			if got := out.leaves[leaf]; !slices.Equal(lifted(in, name, want), got) {
				t.Errorf("%s: leaf %s:\n%q, was\n%q", path, leaf, got, want)
			}
		}
		if compared < len(names) {
			t.Errorf("%s: %d leaves of %d columns", path, compared, len(names))
		}
	}
}

// lifted returns the values of a column as they stand in one that may be null.
func lifted(in *raw, name string, values []string) []string {
	if in.element(name).RepetitionType.V != format.Required {
		return values
	}
	out := slices.Clone(values)
	for i, v := range out {
		var rep, def int
		if _, err := fmt.Sscanf(v, "%d %d", &rep, &def); err == nil {
			out[i] = fmt.Sprintf("%d %d %s", rep, def+1, strings.SplitN(v, " ", 3)[2])
		}
	}
	return out
}

// element returns the first element of a column of the top level.
func (r *raw) element(name string) format.SchemaElement {
	for at := 0; at < len(r.schema); at += len(r.column(r.schema[at].Name)) {
		if r.schema[at].Name == name {
			return r.schema[at]
		}
	}
	return format.SchemaElement{}
}

// patchedFooter changes the footer of a file.
func patchedFooter(t testing.TB, data []byte, change func(m *format.FileMetaData)) []byte {
	t.Helper()
	size := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	var m format.FileMetaData
	if err := thrift.Unmarshal(new(thrift.CompactProtocol), data[len(data)-8-size:len(data)-8], &m); err != nil {
		t.Fatal(err)
	}
	change(&m)
	footer, err := thrift.Marshal(new(thrift.CompactProtocol), m)
	if err != nil {
		t.Fatal(err)
	}
	data = append(data[:len(data)-8-size:len(data)-8-size], footer...)
	return append(binary.LittleEndian.AppendUint32(data, uint32(len(footer))), "PAR1"...)
}

// TestStrangeFiles: what is no file, or cannot be read, is skipped and named,
// and folders may be called as the system lets them: all others are read and
// committed.
func TestStrangeFiles(t *testing.T) {
	dir, elsewhere := filepath.Join(t.TempDir(), "in"), t.TempDir()
	data, err := os.ReadFile(filepath.Join("testdata", "writers", "polars.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("carpeta larga ", 18)
	var errs []error
	for _, folder := range []string{"plain", "no\xffutf8", "bell\a\n", filepath.Join(long, long, long)} {
		errs = append(errs, os.MkdirAll(filepath.Join(dir, folder), 0o700), os.WriteFile(filepath.Join(dir, folder, "x.parquet"), data, 0o600))
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	socket, err := net.Listen("unix", at("s.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	errs = append(errs,
		unix.Mkfifo(at("pipe.parquet"), 0o600), os.Symlink("/dev/null", at("device.parquet")), os.Symlink("nowhere", at("dangling.parquet")),
		os.Symlink(elsewhere, at("month=03")), os.Symlink(at("plain"), at("latest")), os.Mkdir(at("folder.parquet"), 0o700),
		os.WriteFile(at("closed.parquet"), data, 0), os.Mkdir(at("locked"), 0))
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"pipe.parquet": "is a pipe", "s.parquet": "is a socket", "device.parquet": "is a device", "dangling.parquet": "is a link to nothing",
		"month=03": "is a link to a folder", "closed.parquet": "may not be read", "locked": "may not be read",
	}
	files := 4
	if os.Getuid() == 0 { // may read everything
		delete(want, "closed.parquet")
		delete(want, "locked")
		files++
	}
	a, err := archive.Scan(t.Context(), []string{dir}, input.Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(a.Files) != files || len(a.Bad) != len(want) {
		t.Errorf("%d files, bad: %+v", len(a.Files), a.Bad)
	}
	for _, b := range a.Bad {
		if cause := want[b.Input]; cause == "" || !strings.Contains(b.Cause, cause) {
			t.Errorf("%s: %s", b.Input, b.Cause)
		}
	}
	out := filepath.Join(t.TempDir(), "out")
	line := func(_ int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		src, err := a.Open(u)
		if err != nil {
			return commit.Line{}, err
		}
		sink, err := unit.New(parts, unit.Options{Model: "none"})
		return commit.Line{Source: src, Steps: []pipeline.Step{{Name: "copy", New: copies}}, Sink: sink}, err
	}
	result, err := commit.RunUnits(t.Context(), &commit.Plan{Units: a.Units, BadInputs: a.Bad}, commit.Output{Dir: out}, line, commit.UnitOptions{Verify: table.Verify})
	if err != nil {
		t.Fatal(err)
	}
	m, err := commit.ReadManifest(out)
	if err != nil || result.Manifest.Counts.Masked != int64(7*files) {
		t.Fatalf("%d notes, %v", result.Manifest.Counts.Masked, err)
	}
	for _, u := range m.Units {
		for _, p := range u.Parts {
			if _, err := os.Stat(filepath.Join(out, filepath.FromSlash(p.Path))); err != nil {
				t.Errorf("the manifest names a part that is not there: %q", p.Path)
			}
		}
	}
}

// TestPartitions: what folders say is kept as a column would be.
func TestPartitions(t *testing.T) {
	dir := t.TempDir()
	data, err := os.ReadFile(filepath.Join("testdata", "writers", "polars.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"year=2024/month=03/center=A%2FB", "year=2025/month=11/center=__HIVE_DEFAULT_PARTITION__", "."} {
		folder = filepath.Join(dir, filepath.FromSlash(folder))
		if err := errors.Join(os.MkdirAll(folder, 0o700), os.WriteFile(filepath.Join(folder, "x.parquet"), data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	behind := fence.New(fence.Options{})
	defer behind.Close()
	for _, f := range []*fence.Fence{nil, behind} {
		a, err := archive.Scan(t.Context(), []string{dir}, input.Options{Pass: []string{"month", "dec", "center", "year"}, BatchNotes: 3}, f)
		if err != nil {
			t.Fatal(err)
		}
		names := ""
		for _, c := range a.Kept {
			names += fmt.Sprint(c.Name, c.Kind, " ")
		}
		if names != "month1 dec2 center0 year1 " {
			t.Errorf("kept: %s", names)
		}
		got := map[string]int{}
		var b pipeline.Batch
		for i := range a.Units {
			src, err := a.Open(&a.Units[i])
			for err == nil {
				b.Reset()
				if err = src.Next(&b); err != nil {
					break
				}
				row := ""
				for _, c := range b.Extra {
					if c.Name == "dec" {
						continue
					}
					if row += " " + c.Name + "="; !c.Valid[b.Len()-1] {
						row += "null"
					} else if c.Kind == pipeline.BytesColumn {
						row += string(c.Bytes.At(b.Len() - 1))
					} else {
						row += fmt.Sprint(c.Fixed[b.Len()-1])
					}
				}
				got[row] += b.Len()
			}
			if err != io.EOF {
				t.Fatal(err)
			}
			src.Close()
		}
		want := map[string]int{" month=3 center=A/B year=2024": 7, " month=11 center=null year=2025": 7, " month=null center=null year=null": 7}
		if !maps.Equal(got, want) {
			t.Errorf("%v", got)
		}
	}
}
