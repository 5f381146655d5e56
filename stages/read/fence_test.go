package read

import (
	"bytes"
	"encoding/binary"
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
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == WorkerArgument {
		plant = plantedFault
		os.Exit(Work(os.Stdin, os.Stdout))
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

func testFence(t testing.TB, o FenceOptions) *Fence {
	f := NewFence(o)
	t.Cleanup(func() { f.Close() })
	return f
}

// fenceArchive writes good files and one of every name.
func fenceArchive(t testing.TB, names ...string) string {
	dir := t.TempDir()
	for i, name := range append(names, "good") {
		data := sampleFile(t, parquet.KeyValueMetadata("file", fmt.Sprint(i)))
		if err := os.WriteFile(filepath.Join(dir, name+".parquet"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
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
				f := testFence(t, FenceOptions{Timeout: 2 * time.Second, Memory: workerMemory})
				a, err := Scan(t.Context(), []string{fenceArchive(t, name)}, ParquetOptions{}, f)
				if err != nil {
					t.Fatal(err)
				}
				causes := map[string]string{}
				for _, b := range a.Bad {
					causes[b.Input] = b.Cause
				}
				for i := range a.Units {
					u := &a.Units[i]
					notes, err := openAll(a, u)
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
				dir := fenceArchive(t, step+"-"+fault)
				o := FenceOptions{Timeout: 500 * time.Millisecond, Patience: time.Minute}
				if fault == "stop" {
					o.Patience = time.Second
				}
				f := testFence(t, o)
				a, err := Scan(t.Context(), []string{dir}, ParquetOptions{BatchNotes: 40}, f)
				if err != nil || len(a.Units) != 2 {
					t.Fatal(a, err)
				}
				worker := f.idle[0]
				var notes []note
				if fault == "stoponce" { // goes on long after the timeout
					at := time.AfterFunc(2*time.Second, func() { _ = syscall.Kill(worker.cmd.Process.Pid, syscall.SIGCONT) })
					defer at.Stop()
				}
				for i := range a.Units {
					if a.Units[i].Source == "good.parquet" {
						continue
					}
					notes, err = openAll(a, &a.Units[i])
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
	f := testFence(t, FenceOptions{Ended: ended})
	a, err := Scan(t.Context(), []string{fenceArchive(t, "batch-stop")}, ParquetOptions{}, f)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(300*time.Millisecond, func() { close(ended) })
	begin := time.Now()
	if _, err := openAll(a, &a.Units[0]); err == nil || time.Since(begin) > 20*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

func openAll(a *Archive, u *commit.Unit) ([]note, error) {
	src, err := a.Open(u)
	if err != nil {
		return nil, err
	}
	notes, err := notesOf(src)
	return notes, errors.Join(err, src.Close())
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
	writeTestFile(t, path, []testColumn{
		{"note_id", parquet.Optional(parquet.Int(64)), ids}, {"text", parquet.Optional(parquet.String()), texts},
		{"date", parquet.Date(), dates}, {"word", parquet.Optional(parquet.String()), words},
	}, 1500, parquet.Compression(&parquet.Zstd), parquet.PageBufferSize(4096))
	f := testFence(t, FenceOptions{})
	for _, o := range []ParquetOptions{
		{},
		{Pass: []string{"date", "word"}, BatchNotes: 33, UnitNotes: 1500},
		{ID: []string{"word", "note_id"}, NullIDs: NumberNullIDs, MaxText: 100, BatchBytes: 1000},
		{IDs: DropIDs, BatchBytes: 1, Pass: []string{"note_id"}},
	} {
		var got [2][]note
		for k, fence := range []*Fence{nil, f} {
			a, err := Scan(t.Context(), []string{path}, o, fence)
			if err != nil {
				t.Fatal(err)
			}
			for i := range a.Units {
				notes, err := openAll(a, &a.Units[i])
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
	f := testFence(t, FenceOptions{})
	a, err := Scan(t.Context(), []string{fenceArchive(t)}, ParquetOptions{BatchNotes: 1}, f)
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
	if notes, err := openAll(a, &a.Units[0]); err != nil || int64(len(notes)) != a.Units[0].Rows {
		t.Errorf("%d notes, %v", len(notes), err)
	}
	if _, err := f.open(&commit.Unit{Input: a.Units[0].Input, To: a.Units[0].To, Rows: 1}, &a.o, nil, a.files[a.Units[0].Input].stillOpen); !isDamage(err) {
		t.Errorf("another number of rows than planned: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Open(&a.Units[0]); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a fence that is closed: %v", err)
	}
}

func isDamage(err error) bool {
	_, ok := errors.AsType[*commit.DamageError](err)
	return ok
}

// TestFenceErrors: what is wrong with a file is said in the same words.
func TestFenceErrors(t *testing.T) {
	dir := fenceArchive(t)
	f := testFence(t, FenceOptions{})
	for _, o := range []ParquetOptions{{Text: "txet"}, {ID: []string{"nowhere"}}, {Pass: []string{"nowhere"}}} {
		_, plain := Scan(t.Context(), []string{dir}, o, nil)
		_, fenced := Scan(t.Context(), []string{dir}, o, f)
		if plain == nil || fenced == nil || plain.Error() != fenced.Error() {
			t.Errorf("without: %v; with: %v", plain, fenced)
		}
		if _, ok := errors.AsType[*SchemaError](fenced); !ok {
			t.Errorf("%T", fenced)
		}
	}
	none := filepath.Join(dir, "none.parquet")
	_, err := f.inspect(none, &ParquetOptions{})
	if gone, ok := errors.AsType[*commit.DamageError](err); !ok || !gone.Unread || gone.Cause != "does not exist" {
		t.Errorf("no file: %v, want one that is unread and tried again", err)
	}
}

// frameOf makes a batch frame.
func frameOf(t testing.TB, texts ...string) (payload []byte) {
	var b pipeline.Batch
	ids := make([]pipeline.Bytes, 1)
	b.Extra = testColumns()
	for i, text := range texts {
		appendText(&b, []byte(text), 100)
		ids[0].Append(fmt.Append(nil, i))
		b.Extra[0].Valid, b.Extra[0].Fixed = append(b.Extra[0].Valid, true), append(b.Extra[0].Fixed, uint64(i))
		b.Extra[1].Valid = append(b.Extra[1].Valid, i%2 == 0)
		b.Extra[1].Bytes.Append([]byte("x"))
		l := &b.Extra[2].Leaves[0] // null, [], [1], [2, null], ...
		for k := range max(i-1, 1) {
			l.Rep, l.Def = append(l.Rep, byte(min(k, 1))), append(l.Def, byte(min(i, 3-k%2)))
			if l.Def[len(l.Def)-1] == l.Full {
				l.Values.Append([]byte{byte(i), 0, 0, byte(k)})
			}
		}
		l.End()
	}
	frame := sealFrame(appendBatch(beginFrame(nil), &b, ids), batchFrame)
	_, payload, _, err := readFrame(bytes.NewReader(frame), nil)
	if err != nil {
		t.Fatal(err)
	}
	return payload
}

// testColumns are what a batch passes through in tests: a number, a string, a
// list of numbers.
func testColumns() []pipeline.Column {
	return []pipeline.Column{{Name: "n", Kind: pipeline.Int32Column}, {Name: "s"}, {Name: "l", Kind: pipeline.NestedColumn, Leaves: []pipeline.Leaf{{Full: 3, Width: 4}}}}
}

var testLimits = batchLimits{notes: 10, bytes: 1000, text: 100}

func parseTest(payload []byte) (*pipeline.Batch, []pipeline.Bytes, error) {
	b := &pipeline.Batch{Extra: testColumns()}
	ids := make([]pipeline.Bytes, 1)
	return b, ids, parseBatch(payload, b, ids, testLimits)
}

// TestFrames: a frame that was changed is refused, and nothing is lost on the
// way.
func TestFrames(t *testing.T) {
	payload := frameOf(t, "uno", "", "tres é", "bad \xff", strings.Repeat("larga", 30))
	b, ids, err := parseTest(payload)
	if err != nil || b.Len() != 5 || string(b.Text.At(2)) != "tres é" || b.Reason[3] != pipeline.BadEncoding ||
		b.Reason[4] != pipeline.TooLong || string(ids[0].At(4)) != "4" || b.Extra[2].Leaves[0].Values.Len() != 3 || b.Extra[2].Leaves[0].Starts[5] != 3 || b.Extra[0].Fixed[3] != 3 || b.Extra[1].Valid[1] {
		t.Fatalf("%v", err)
	}
	if !bytes.Equal(appendBatch(nil, b, ids), payload) {
		t.Error("parsed and written again it is another")
	}
	for i := range len(payload) {
		if _, _, err := parseTest(payload[:i]); err == nil {
			t.Errorf("cut at %d: no error", i)
		}
	}
	frame := sealFrame(append(beginFrame(nil), payload...), batchFrame)
	for i := range frame {
		bad := bytes.Clone(frame)
		bad[i] ^= 1 << (i % 8)
		if _, _, _, err := readFrame(bytes.NewReader(bad), nil); err == nil {
			t.Errorf("byte %d changed: no error", i)
		}
	}
	for what, change := range map[string]func(p []byte){
		"no notes":             func(p []byte) { binary.LittleEndian.PutUint32(p, 0) },
		"too many notes":       func(p []byte) { binary.LittleEndian.PutUint32(p, 1<<31) },
		"first offset":         func(p []byte) { p[4] = 1 },
		"offsets go back":      func(p []byte) { p[12] = 2 },
		"offset beyond":        func(p []byte) { p[4+4*5+3] = 0x7f },
		"a row of no levels":   func(p []byte) { p[len(p)-leafBytes(p)+4] = 0 },
		"bad text called good": func(p []byte) { p[bytes.IndexByte(p, 0xff)+1+3] = 0 },
	} {
		bad := bytes.Clone(payload)
		change(bad)
		if _, _, err := parseTest(bad); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// leafBytes returns how many bytes at the end of a payload of five notes are
// the nested column's levels and values.
func leafBytes(p []byte) int {
	b, _, err := parseTest(p)
	if err != nil {
		return 0
	}
	return len(appendLeaves(nil, b.Extra[2].Leaves))
}

// FuzzFrame gives the owner whatever bytes: an error, or a batch whose parts
// agree; never a panic.
func FuzzFrame(f *testing.F) {
	payload := frameOf(f, "uno", "", "tres é")
	f.Add(payload, false)
	f.Add(sealFrame(append(beginFrame(nil), payload...), batchFrame), true)
	f.Add(sealFrame(append(beginFrame(nil), `{"Groups":[{"Rows":3,"Bytes":-1}]}`...), layoutFrame), true)
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		if whole {
			_, payload, _, err := readFrame(bytes.NewReader(data), nil)
			if err != nil {
				return
			}
			data = payload
		}
		_ = parseFailure(data).error("x")
		b, ids, err := parseTest(data)
		if err != nil {
			return
		}
		if b.Len() == 0 || len(b.Reason) != b.Len() || ids[0].Len() != b.Len() || len(b.Extra[0].Fixed) != b.Len() || b.Extra[1].Bytes.Len() != b.Len() {
			t.Fatal("columns of different lengths")
		}
		for i := range b.Len() {
			_, _, _ = b.Text.At(i), ids[0].At(i), b.Extra[1].Bytes.At(i)
			l := &b.Extra[2].Leaves[0]
			_ = l.Def[l.Rows[i]:l.Rows[i+1]]
			for k := l.Starts[i]; k < l.Starts[i+1]; k++ {
				if len(l.Values.At(int(k))) != 4 {
					t.Fatal("a value of another width")
				}
			}
		}
		if !bytes.Equal(appendBatch(nil, b, ids), data) {
			t.Fatal("parsed and written again it is another")
		}
	})
}

// BenchmarkFence is BenchmarkParquet behind a fence.
func BenchmarkFence(b *testing.B) {
	path, rows, size := benchmarkFile(b)
	a, err := Scan(b.Context(), []string{path}, ParquetOptions{Pass: []string{"date"}}, testFence(b, FenceOptions{}))
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

// The last words of Go programs that had no memory left, and of others.
func TestWantOfMemory(t *testing.T) {
	for words, want := range map[string]bool{
		"fatal error: runtime: out of memory\n":                                  true,
		"fatal error: runtime: cannot allocate memory\n":                         true,
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\n": true,
		"runtime: failed to create new OS thread (have 7 already; errno=11)\n":   true,
		"fatal error: runtime: cannot map pages in arena address space\n":        true,
		"fatal error: failed to reserve page summary memory\n":                   true,
		"panic: runtime error: index out of range [3] with length 2\n":           false,
		"fatal error: all goroutines are asleep - deadlock!\n":                   false,
		"": false,
	} {
		if got := wantOfMemory(words); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}
