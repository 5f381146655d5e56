package fence

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
)

// frameOf makes a batch frame.
func frameOf(t testing.TB, texts ...string) (payload []byte) {
	var b pipeline.Batch
	ids := make([]pipeline.Bytes, 1)
	b.Extra = testColumns()
	for i, text := range texts {
		input.AppendText(&b, []byte(text), 100)
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

// The last words of Go programs that had no memory left, and of others.
func TestWantOfMemory(t *testing.T) {
	for words, want := range map[string]bool{
		"fatal error: runtime: out of memory\n":                                  true,
		"fatal error: runtime: cannot allocate memory\n":                         true,
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable\n": true,
		"runtime: failed to create new OS thread (have 7 already; errno=11)\n":   true,
		"fatal error: runtime: cannot map pages in arena address space\n":        true,
		"fatal error: failed to reserve page summary memory\n":                   true,
		"SIGSEGV: segmentation violation\nPC=0x43921d m=3 sigcode=1 addr=0x0\n\ngoroutine 0 gp=0x3c540a7ed0e0 m=3 mp=0x3c540a83d008 [idle]:\nruntime.(*spanQueue).tryDrain(0x7f64, 0x44)\n": true,
		"SIGSEGV: segmentation violation\nPC=0x43921d m=3 sigcode=1 addr=0x0\n\ngoroutine 7 [running]:\nmain.main()\n":                                                                      false,
		"panic: runtime error: index out of range [3] with length 2\n":                                                                                                                      false,
		"fatal error: all goroutines are asleep - deadlock!\n":                                                                                                                              false,
		"": false,
	} {
		if got := wantOfMemory(words); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}

// TestFailures: an error is the same on both sides of the fence.
func TestFailures(t *testing.T) {
	for _, err := range []error{
		&commit.DamageError{Path: "a", RowGroup: 2, Column: "c", Cause: "a cause"},
		&commit.DamageError{Path: "a", RowGroup: -1, Cause: "cannot be read", Unread: true},
		&input.SchemaError{Path: "a", Column: "c", Cause: "a cause", Remedy: "a remedy"},
	} {
		if far := failureOf(err).error("a"); !reflect.DeepEqual(far, err) {
			t.Errorf("%#v became %#v", err, far)
		}
	}
}
