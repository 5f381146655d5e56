package fence_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/fence"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == fence.WorkerArgument {
		fence.Plant(plantedFault)
		os.Exit(fence.Work(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// plantedFault does in a worker what the file is called after: batch-panic.parquet.
func plantedFault(step, path string) {
	name := strings.TrimSuffix(filepath.Base(path), ".parquet")
	at, fault, ok := strings.Cut(name, "-")
	if !ok || at != step {
		return
	}
	switch fault {
	case "panic": // in a goroutine of somebody else, with a text that must not get out
		go func() { panic("sensitive words of a note") }()
		select {}
	case "memory":
		grab(6 << 30)
	case "slowmemory":
		var held [][]byte
		for {
			held = append(held, grab(16<<20))
			runtime.KeepAlive(held)
		}
	case "exit":
		os.Exit(0)
	case "kill":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "killonce":
		if mark, err := os.Stat(path + ".killed"); err != nil || mark == nil {
			_ = syscall.Mkdir(path+".killed", 0o700) // a worker may write no file
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		}
	case "loop":
		//lint:ignore SA5002 this worker spins: its time limit is what is tested
		for {
		}
	case "stop":
		stop()
	case "stoponce":
		if mark, err := os.Stat(path + ".stopped"); err != nil || mark == nil {
			_ = syscall.Mkdir(path+".stopped", 0o700)
			stop()
		}
	case "stall": // as a disk does
		time.Sleep(1500 * time.Millisecond)
	case "garbage":
		_, _ = os.Stdout.Write(bytes.Repeat([]byte("no frame at all "), 1000))
		os.Exit(0)
	case "loud": // more last words than a pipe holds
		panic(strings.Repeat("sensitive words of a note ", 1<<16))
	case "write":
		if os.WriteFile(path+".written", []byte("x"), 0o600) == nil {
			os.Exit(0)
		}
	}
}

// stop does what kill -STOP does. Another thread may be the one to get the
// signal.
func stop() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	time.Sleep(50 * time.Millisecond)
}

func grab(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4096 {
		b[i] = 1
	}
	return b
}

func testFence(t testing.TB, o fence.Options) *fence.Fence {
	f := fence.New(o)
	t.Cleanup(func() { f.Close() })
	return f
}

// TestFenceFaults: whatever a worker does while it decodes, its unit is
// damaged, the others are read, and nothing takes long.
func TestFenceFaults(t *testing.T) {
	for fault, want := range map[string]string{
		"panic": "crashed", "memory": "memory", "slowmemory": "memory", "exit": "exit code 0", "kill": "signal 9",
		"loop": "processor time", "garbage": "not sound", "loud": "crashed", "killonce": "", "write": "",
	} {
		for _, step := range []string{"inspect", "open", "batch"} {
			t.Run(step+" "+fault, func(t *testing.T) {
				t.Parallel()
				if want == "memory" && workerMemory > 1<<30 {
					t.Skip("under the race detector a worker's memory says nothing")
				}
				name := step + "-" + fault
				f := testFence(t, fence.Options{Timeout: 2 * time.Second, Memory: workerMemory})
				a, err := archive.Scan(t.Context(), []string{archiveOf(t, name)}, input.Options{}, f)
				if err != nil {
					t.Fatal(err)
				}
				causes := map[string]string{}
				for _, b := range a.Bad {
					causes[b.Input] = b.Cause
				}
				for i := range a.Units {
					u := &a.Units[i]
					notes, err := readtest.UnitNotes(a.Open(u))
					if damage, ok := errors.AsType[*commit.DamageError](err); ok {
						if damage.Path != u.Input {
							t.Errorf("path %q", damage.Path)
						}
						causes[u.Source] = damage.Cause
						continue
					}
					if err != nil || int64(len(notes)) != u.Rows {
						t.Errorf("%s: %d notes of %d, %v", u.Source, len(notes), u.Rows, err)
					}
				}
				got := causes[name+".parquet"]
				if causes["good.parquet"] != "" || (got == "") != (want == "") || !strings.Contains(got, want) || strings.Contains(got, "sensitive") {
					t.Errorf("causes %q, want %q", causes, want)
				}
				if info, err := os.Stat(a.Files[0].Path + ".written"); err == nil && info.Size() > 0 {
					t.Error("a worker wrote a file")
				}
			})
		}
	}
}

// TestFenceStall: a worker that stands still is waited for, whatever stopped
// it, and nothing is lost; one that never goes on is given up, and so is one
// that only works, and both are to be tried again.
func TestFenceStall(t *testing.T) {
	for fault, want := range map[string]string{"stall": "", "stoponce": "", "stop": "stands still", "loop": "processor time"} {
		for _, step := range []string{"open", "batch"} {
			t.Run(step+" "+fault, func(t *testing.T) {
				t.Parallel()
				dir := archiveOf(t, step+"-"+fault)
				o := fence.Options{Timeout: 500 * time.Millisecond, Patience: time.Minute}
				if fault == "stop" {
					o.Patience = time.Second
				}
				f := testFence(t, o)
				a, err := archive.Scan(t.Context(), []string{dir}, input.Options{BatchNotes: 40}, f)
				if err != nil || len(a.Units) != 2 {
					t.Fatal(a, err)
				}
				worker := f.IdlePID()
				var notes []readtest.Note
				if fault == "stoponce" { // goes on long after the timeout
					at := time.AfterFunc(2*time.Second, func() { _ = syscall.Kill(worker, syscall.SIGCONT) })
					defer at.Stop()
				}
				for i := range a.Units {
					if a.Units[i].Source == "good.parquet" {
						continue
					}
					notes, err = readtest.UnitNotes(a.Open(&a.Units[i]))
				}
				if want == "" {
					if err != nil || len(notes) != 300 {
						t.Fatalf("%d notes, %v", len(notes), err)
					}
					return
				}
				damage, ok := errors.AsType[*commit.DamageError](err)
				if !ok || !damage.Unread || !strings.Contains(damage.Cause, want) {
					t.Errorf("%v", err)
				}
			})
		}
	}
}

// TestFenceEnded: nobody waits when the run is told to end.
func TestFenceEnded(t *testing.T) {
	ended := make(chan struct{})
	f := testFence(t, fence.Options{Ended: ended})
	a, err := archive.Scan(t.Context(), []string{archiveOf(t, "batch-stop")}, input.Options{}, f)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() { close(ended) })
	begin := time.Now()
	if _, err := readtest.UnitNotes(a.Open(&a.Units[0])); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// TestFenceSame: with and without a fence the same notes come out, whatever
// the options.
func TestFenceSame(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.parquet")
	var ids, texts, dates, words []any
	for i := range 5000 {
		ids, dates = append(ids, int64(i-2500)), append(dates, int32(i))
		switch i % 7 {
		case 0:
			texts, words = append(texts, nil), append(words, nil)
		case 1:
			texts, words = append(texts, "no \xff text"), append(words, "")
		case 2:
			texts, words = append(texts, "with \x00"), append(words, "añadido")
		case 3:
			texts, words = append(texts, strings.Repeat("larga ", 40)), append(words, strings.Repeat("x", 300))
		default:
			texts, words = append(texts, fmt.Sprint("acude por tos, día ", i)), append(words, fmt.Sprint(i))
		}
	}
	ids[9] = nil
	readtest.WriteFile(t, path, []readtest.Column{
		{"note_id", parquet.Optional(parquet.Int(64)), ids}, {"text", parquet.Optional(parquet.String()), texts},
		{"date", parquet.Date(), dates}, {"word", parquet.Optional(parquet.String()), words},
	}, 1500, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(4096))
	f := testFence(t, fence.Options{})
	for _, o := range []input.Options{
		{},
		{Pass: []string{"date", "word"}, BatchNotes: 33, UnitNotes: 1500},
		{ID: []string{"word", "note_id"}, NullIDs: input.NumberNullIDs, MaxText: 100, BatchBytes: 1000},
		{IDs: input.DropIDs, BatchBytes: 1, Pass: []string{"note_id"}},
	} {
		var got [2][]readtest.Note
		for k, fence := range []*fence.Fence{nil, f} {
			a, err := archive.Scan(t.Context(), []string{path}, o, fence)
			if err != nil {
				t.Fatal(err)
			}
			for i := range a.Units {
				notes, err := readtest.UnitNotes(a.Open(&a.Units[i]))
				if err != nil {
					t.Fatal(err)
				}
				got[k] = append(got[k], notes...)
			}
		}
		if len(got[0]) != 5000 || !slices.Equal(got[0], got[1]) {
			t.Errorf("%+v: %d notes without, %d with a fence, not the same", o, len(got[0]), len(got[1]))
		}
	}
	if started, died := f.Workers(); started != 1 || died != 0 {
		t.Errorf("%d workers, %d died", started, died)
	}
}

// TestFenceStopped: a source that is closed early leaves nothing behind, and
// the next unit has a worker.
func TestFenceStopped(t *testing.T) {
	f := testFence(t, fence.Options{})
	a, err := archive.Scan(t.Context(), []string{archiveOf(t)}, input.Options{BatchNotes: 1}, f)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		src, err := a.Open(&a.Units[0])
		if err != nil {
			t.Fatal(err)
		}
		var b pipeline.Batch
		if err := src.Next(&b); err != nil {
			t.Fatal(err)
		}
		if err := src.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if notes, err := readtest.UnitNotes(a.Open(&a.Units[0])); err != nil || int64(len(notes)) != a.Units[0].Rows {
		t.Errorf("%d notes, %v", len(notes), err)
	}
	o := input.Options{}.WithDefaults()
	if _, err := f.Open(&commit.Unit{Input: a.Units[0].Input, To: a.Units[0].To, Rows: 1}, &o, nil, func(input.Identity) error { return nil }); !readtest.IsDamage(err) {
		t.Errorf("another number of rows than planned: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open(&a.Units[0]); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a fence that is closed: %v", err)
	}
}

// TestFenceErrors: what is wrong with a file is said in the same words.
func TestFenceErrors(t *testing.T) {
	dir := archiveOf(t)
	f := testFence(t, fence.Options{})
	for _, o := range []input.Options{{Text: "txet"}, {ID: []string{"nowhere"}}, {Pass: []string{"nowhere"}}} {
		_, plain := archive.Scan(t.Context(), []string{dir}, o, nil)
		_, fenced := archive.Scan(t.Context(), []string{dir}, o, f)
		if plain == nil || fenced == nil || plain.Error() != fenced.Error() {
			t.Errorf("without: %v; with: %v", plain, fenced)
		}
		if _, ok := errors.AsType[*input.SchemaError](fenced); !ok {
			t.Errorf("%T", fenced)
		}
	}
	none := filepath.Join(dir, "none.parquet")
	_, err := f.Inspect(none, &input.Options{})
	if gone, ok := errors.AsType[*commit.DamageError](err); !ok || !gone.Unread || gone.Cause != "does not exist" {
		t.Errorf("no file: %v, want one that is unread and tried again", err)
	}
}

// BenchmarkFence reads notes of some 120 bytes behind a fence.
func BenchmarkFence(b *testing.B) {
	const rows = 50_000
	text, size := strings.Repeat("palabra ", 17), int64(rows*136)
	var ids, texts, dates []any
	for i := range rows {
		ids, texts, dates = append(ids, int64(i)), append(texts, fmt.Sprint(text[:100+i%36], i)), append(dates, int32(i))
	}
	path := filepath.Join(b.TempDir(), "x.parquet")
	readtest.WriteFile(b, path, []readtest.Column{{"note_id", parquet.Int(64), ids}, {"text", parquet.String(), texts}, {"date", parquet.Date(), dates}}, rows)
	a, err := archive.Scan(b.Context(), []string{path}, input.Options{Pass: []string{"date"}}, testFence(b, fence.Options{}))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	var batch pipeline.Batch
	for b.Loop() {
		src, err := a.Open(&a.Units[0])
		if err != nil {
			b.Fatal(err)
		}
		for err == nil {
			batch.Reset()
			err = src.Next(&batch)
		}
		if err != io.EOF {
			b.Fatal(err)
		}
		src.Close()
	}
	b.ReportMetric(float64(rows*b.N)/b.Elapsed().Seconds(), "notes/s")
}

// archiveOf writes good files and one of every name.
func archiveOf(t testing.TB, names ...string) string {
	dir := t.TempDir()
	for i, name := range append(names, "good") {
		data := readtest.Sample(t, parquet.KeyValueMetadata("file", fmt.Sprint(i)))
		if err := os.WriteFile(filepath.Join(dir, name+".parquet"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
