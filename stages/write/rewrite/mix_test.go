package rewrite_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/tagged"
	"github.com/velum-health/velum/stages/write/rewrite"
	"github.com/velum-health/velum/stages/write/table"
	"github.com/velum-health/velum/stages/write/unit"
)

// numberOf is what stands for the key. In files that are called "twin" it knows eight numbers.
func numberOf(file string, row int64) int64 {
	number := int64(xxh3.HashString(fmt.Sprint(file, " ", row)) >> 1)
	if strings.HasPrefix(file, "twin") {
		number &= 7 << 60
	}
	return number
}

var mixWorkers = 2

var mixedPerson, _ = pipeline.ParseCategory("PERSON")

// mixedSource gives out the notes of a file in the order of their numbers. Every tenth goes to quarantine.
type mixedSource struct {
	file string
	rows []int64
	at   int
	pass []pipeline.Column
}

func newMixedSource(file string, rows int64, pass []pipeline.Column) *mixedSource {
	s := &mixedSource{file: file, pass: pass}
	for row := range rows {
		s.rows = append(s.rows, row)
	}
	slices.SortFunc(s.rows, func(a, b int64) int {
		return cmp.Or(cmp.Compare(numberOf(file, a), numberOf(file, b)), cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	return s
}

func (s *mixedSource) Next(b *pipeline.Batch) error {
	if s.at == len(s.rows) {
		return io.EOF
	}
	if len(b.Extra) == 0 {
		b.Extra = append(b.Extra, s.pass...)
	}
	b.First = int64(s.at)
	for n := 0; n < 50 && s.at < len(s.rows); n++ {
		row := s.rows[s.at]
		s.at++
		b.Rows, b.Keyed = append(b.Rows, row), append(b.Keyed, numberOf(s.file, row))
		b.ID.Append(fmt.Appendf(nil, "%s-%d", s.file, row))
		b.Text.Append([]byte("note"))
		b.Tokens.End()
		b.Spans.Append(pipeline.Span{Start: 0, End: 2, Category: mixedPerson}, pipeline.Span{Start: 2, End: 4, Category: mixedPerson})
		b.Places.Append(pipeline.Span{Start: 0, End: 2, Category: mixedPerson}, pipeline.Span{Start: 2, End: 4, Category: mixedPerson})
		b.Masked.Append(fmt.Appendf(nil, "text %d of %s: %x %x", row, s.file, xxh3.Hash([]byte(fmt.Sprint(row))), xxh3.Hash([]byte(s.file))))
		b.Reason = append(b.Reason, pipeline.Sound)
		for k := range b.Extra {
			b.Extra[k].Fixed, b.Extra[k].Valid = append(b.Extra[k].Fixed, uint64(row)), append(b.Extra[k].Valid, row%3 > 0)
		}
		b.Seal(b.Len() - 1)
		if row%10 == 0 {
			b.Quarantine(b.Len()-1, pipeline.NullID)
		}
	}
	return nil
}

// mixedRun masks files of so many rows each into dir and mixes them. columns are those that go along with a file.
func mixedRun(t testing.TB, dir string, files map[string]int64, order []string, atOnce int, columns func(file string) []pipeline.Column) (*commit.Manifest, int, error) {
	t.Helper()
	plan, groups := &commit.Plan{}, 0
	for _, file := range order {
		plan.Units = append(plan.Units, commit.Unit{Input: file + ".parquet", SHA256: [32]byte([]byte(fmt.Sprintf("%32s", file))), To: 1, Rows: files[file]})
	}
	result, err := commit.RunUnits(t.Context(), plan, commit.Output{Dir: dir, FS: durable.OS}, func(_ int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		file := strings.TrimSuffix(u.Input, ".parquet")
		sink, err := unit.New(parts, unit.Options{Model: "none", Part: "mark of " + file, Pass: columns(file), Mixed: true})
		return commit.Line{Source: newMixedSource(file, u.Rows, columns(file)), Sink: sink}, err
	}, commit.UnitOptions{AtOnce: atOnce, Grow: true, ByLength: true, Verify: table.Verify, Finish: func(ctx context.Context, f *commit.Final) (err error) {
		return measured(func() error {
			for _, kind := range []string{"masked", "spans"} {
				if groups, err = rewrite.Mix(ctx, f, kind, kind, 0, mixWorkers); err != nil {
					return err
				}
			}
			return nil
		})
	}})
	if err != nil {
		return nil, 0, err
	}
	return result.Manifest, groups, nil
}

func visits(string) []pipeline.Column {
	return []pipeline.Column{{Name: "visits", Kind: pipeline.Int64Column}}
}

// publicRows are the rows of the public parts of a kind, in their order, each with the name of its part.
func publicRows(t *testing.T, dir string, m *commit.Manifest, kind string, do func(part string, row []tagged.PartValue)) {
	t.Helper()
	for _, p := range m.Files {
		if p.Kind != kind || p.Private {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, p.Path))
		if err == nil {
			err = tagged.EachOf(p.Path, strings.NewReader(string(data)), []string{"note_id", "row", "part"}, func(row []tagged.PartValue) error {
				do(p.Path, row)
				return nil
			})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMix: every row that is masked comes out once, in the order of the numbers over all files, whatever the order and number of
// the units that were done side by side, also where there are more units than are merged at once. A part tells no file.
func TestMix(t *testing.T) {
	defer rewrite.SetMixedRows(1000)()
	files, order := map[string]int64{"January": 1200, "February": 1200, "March": 1200}, []string{"January", "February", "March"}
	for k := range 70 {
		name := fmt.Sprint("small ", k)
		files[name], order = 3, append(order, name)
	}
	dir := filepath.Join(t.TempDir(), "out")
	m, groups, err := mixedRun(t, dir, files, order, 1, visits)
	if err != nil || groups != 1 {
		t.Fatalf("%d groups, %v", groups, err)
	}
	for kind, times := range map[string]int{"masked": 1, "spans": 2} {
		seen, last, by := map[string]int{}, int64(-1), map[string]map[string]int{}
		publicRows(t, dir, m, kind, func(part string, row []tagged.PartValue) {
			file, at, _ := strings.Cut(string(row[0].Bytes), "-")
			var in int64
			_, _ = fmt.Sscan(at, &in)
			if number := int64(row[1].Bits); number < last || number != numberOf(file, in) || in%10 == 0 {
				t.Fatalf("%s: row %d of %s is called %d, behind %d", kind, in, file, number, last)
			} else {
				last = number
			}
			if string(row[2].Bytes) != "mixed" {
				t.Fatalf("%s: a row says that it is of %q", kind, row[2].Bytes)
			}
			seen[string(row[0].Bytes)]++
			if by[part] == nil {
				by[part] = map[string]int{}
			}
			by[part][file]++
		})
		if len(seen) != 3*1080+70*2 || slices.ContainsFunc(slices.Collect(maps.Values(seen)), func(n int) bool { return n != times }) {
			t.Errorf("%s: %d notes", kind, len(seen))
		}
		// 1,080 notes a month over 4 parts: 270 each with a standard deviation of 14.2.
		if len(by) != 4 {
			t.Errorf("%s: %d parts", kind, len(by))
		}
		for part, months := range by {
			for _, month := range order[:3] {
				if n := months[month] / times; n < 270-57 || n > 270+57 {
					t.Errorf("%s: %d notes of %s", part, n, month)
				}
			}
		}
	}
	for _, u := range m.Units {
		for _, p := range u.Parts {
			if !p.Private {
				t.Errorf("%s is public and of one file", p.Path)
			}
		}
	}
	other := filepath.Join(t.TempDir(), "out")
	slices.Reverse(order)
	defer func() { mixWorkers = 2 }()
	mixWorkers = 5
	again, _, err := mixedRun(t, other, files, order, 3, visits)
	if err != nil || !slices.Equal(m.Files, again.Files) {
		t.Errorf("in another order: %v", err)
	}
	left, err := filepath.Glob(filepath.Join(dir+".private", "passing*"))
	if err != nil || len(left) > 0 {
		t.Errorf("%q are left, %v", left, err)
	}
}

// TestMixApart: rows of other columns stay in parts of their own, and the caller hears of it.
func TestMixApart(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m, groups, err := mixedRun(t, dir, map[string]int64{"a": 20, "b": 30, "c": 20}, []string{"a", "b", "c"}, 1, func(file string) []pipeline.Column {
		if file == "b" {
			return nil
		}
		return visits(file)
	})
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]int{}
	publicRows(t, dir, m, "masked", func(part string, row []tagged.PartValue) {
		file, _, _ := strings.Cut(string(row[0].Bytes), "-")
		by[part[:len("masked/part-00000")]+" "+file]++
	})
	if want := map[string]int{"masked/part-00000 a": 18, "masked/part-00000 c": 18, "masked/part-00001 b": 27}; !maps.Equal(by, want) {
		t.Errorf("%v", by)
	}
	if groups != 1 { // of the spans, which have the same columns
		t.Errorf("%d groups", groups)
	}
}

// TestMixTwins: where the key calls many notes by one number, none is lost, and the spans of each stay together, whatever the order
// of the units.
func TestMixTwins(t *testing.T) {
	defer rewrite.SetMixedRows(40)()
	files, order := map[string]int64{}, []string(nil)
	for k := range 70 {
		order = append(order, fmt.Sprint("twin ", k))
		files[order[k]] = 7
	}
	dir := filepath.Join(t.TempDir(), "out")
	m, _, err := mixedRun(t, dir, files, order, 1, visits)
	if err != nil {
		t.Fatal(err)
	}
	for kind, times := range map[string]int{"masked": 1, "spans": 2} {
		seen, last := map[string]int{}, ""
		publicRows(t, dir, m, kind, func(_ string, row []tagged.PartValue) {
			key := fmt.Sprintf("%016x %s", row[1].Bits, row[0].Bytes)
			if key < last {
				t.Fatalf("%s: %s behind %s", kind, key, last)
			}
			last = key
			seen[key]++
		})
		if len(seen) != 70*6 || slices.ContainsFunc(slices.Collect(maps.Values(seen)), func(n int) bool { return n != times }) {
			t.Errorf("%s: %d notes", kind, len(seen))
		}
	}
	slices.Reverse(order)
	again, _, err := mixedRun(t, filepath.Join(t.TempDir(), "out"), files, order, 3, visits)
	if err != nil || !slices.Equal(m.Files, again.Files) {
		t.Errorf("in another order: %v", err)
	}
}

// TestMixChanged: a staged part that is not as it was written is never made public.
func TestMixChanged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	m, _, err := mixedRun(t, dir, map[string]int64{"a": 300}, []string{"a"}, 1, visits)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir+".private", m.Units[0].Parts[slices.IndexFunc(m.Units[0].Parts, func(p commit.PartRecord) bool { return p.Kind == "masked" })].Path)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	public, err := os.ReadFile(filepath.Join(dir, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for at := 4; at < len(data); at += 397 {
		data[at] ^= 0x10
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := mixedRun(t, dir, map[string]int64{"b": 40}, []string{"b"}, 1, visits)
		if _, changed := errors.AsType[*durable.IntegrityError](err); !changed {
			t.Fatalf("byte %d is another: %v", at, err)
		}
		if now, err := os.ReadFile(filepath.Join(dir, "manifest.json")); err != nil || string(now) != string(public) {
			t.Fatalf("byte %d is another, and something was committed: %v", at, err)
		}
		data[at] ^= 0x10
	}
}

// BenchmarkMix is the last step of VELUM_UNITS units of VELUM_ROWS rows by VELUM_WORKERS workers (10, 100,000 and 2 without them):
// processor time and the most memory.
func BenchmarkMix(b *testing.B) {
	size := func(name string, otherwise int64) int64 {
		if n, err := strconv.ParseInt(os.Getenv(name), 10, 64); err == nil {
			return n
		}
		return otherwise
	}
	units, rows := size("VELUM_UNITS", 10), size("VELUM_ROWS", 100_000)
	mixWorkers = int(size("VELUM_WORKERS", 2))
	files, order := map[string]int64{}, []string(nil)
	for k := range units {
		order = append(order, fmt.Sprint("file ", k))
		files[order[k]] = rows
	}
	for b.Loop() {
		if _, _, err := mixedRun(b, filepath.Join(b.TempDir(), "out"), files, order, 1, visits); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(mixTook.Nanoseconds())/float64(units*rows), "ns/row")
		b.ReportMetric(mixMost, "MiB")
	}
}

var (
	mixTook time.Duration // processor time of the last mixing
	mixMost float64       // MiB of memory that it took at the most
)

// measured runs a last step and sets mixTook and mixMost.
func measured(do func() error) error {
	used := func() time.Duration {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	debug.FreeOSMemory()
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak begins anew
	began := used()
	err := do()
	mixTook = used() - began
	status, _ := os.ReadFile("/proc/self/status")
	if _, peak, there := strings.Cut(string(status), "VmHWM:"); there {
		_, _ = fmt.Sscan(peak, &mixMost)
		mixMost /= 1024
	}
	return err
}
