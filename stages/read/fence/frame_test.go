package fence

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
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
	// The payload begins with the offsets and bytes of the texts, and the reasons: 4 + 24, 4 + 15, 4 + 5 bytes.
	for what, change := range map[string]func(p []byte){
		"no notes":             func(p []byte) { binary.LittleEndian.PutUint32(p, 0) },
		"too many notes":       func(p []byte) { binary.LittleEndian.PutUint32(p, 1<<31) },
		"first offset":         func(p []byte) { p[4] = 1 },
		"offsets go back":      func(p []byte) { p[12] = 2 },
		"offset beyond":        func(p []byte) { p[4+4*5+3] = 0x7f },
		"bytes without offset": func(p []byte) { p[4+4*5]-- },
		"one reason less":      func(p []byte) { p[28+19]-- },
		"neither true nor not": func(p []byte) { p[bytes.Index(p, []byte{5, 0, 0, 0, 1, 0, 1, 0, 1})+5] = 2 },
		"a row of no levels":   func(p []byte) { p[leafAt(p)+8] = 0 },
		"a level too high":     func(p []byte) { p[bytes.Index(p[leafAt(p):], []byte{0, 1, 2, 3, 2})+leafAt(p)+4] = 4 },
		"bad text called good": func(p []byte) { p[28+19+4+3] = 0 },
	} {
		bad := bytes.Clone(payload)
		change(bad)
		if _, _, err := parseTest(bad); err == nil {
			t.Errorf("%s: no error", what)
		}
	}
}

// leafAt returns where the levels and values of the nested column of five notes begin in a payload.
func leafAt(p []byte) int {
	b, _, err := parseTest(p)
	if err != nil {
		return 0
	}
	return len(p) - len(appendBatch(nil, &pipeline.Batch{Extra: b.Extra[2:]}, nil)) + len(appendBatch(nil, new(pipeline.Batch), nil))
}

// TestSoundness has the bounds of what an owner takes, column by column.
func TestSoundness(t *testing.T) {
	for _, c := range []struct {
		offsets []int32
		n, size int
		want    bool
	}{
		{nil, 0, 0, true}, {[]int32{0}, 0, 0, false}, {nil, 0, 1, false},
		{[]int32{0, 2}, 1, 2, true}, {[]int32{0, 2}, 1, 3, false}, {[]int32{1, 2}, 1, 2, false}, {[]int32{0, 2}, 2, 2, false},
		{[]int32{0, 2, 2}, 2, 2, true}, {[]int32{0, 3, 2}, 2, 2, false}, {[]int32{0, -1, 2}, 2, 2, false},
	} {
		if got := rises(c.offsets, c.n, c.size); got != c.want {
			t.Errorf("%v of %d values and %d bytes: %v", c.offsets, c.n, c.size, got)
		}
	}
	two := pipeline.Bytes{Offsets: []int32{0, 4, 7}, Data: []byte("abcdefg")}
	for _, c := range []struct {
		n, width int
		valid    []bool
		want     bool
	}{{2, 0, nil, true}, {1, 0, nil, false}, {2, 4, nil, false}, {2, 4, []bool{true, false}, true}, {2, 4, []bool{true, true}, false}} {
		if got := whole(&two, c.n, c.width, c.valid); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	for what, c := range map[string]pipeline.Column{
		"numbers":        {Kind: pipeline.Int64Column, Valid: []bool{true, false}, Fixed: []uint64{1, 0}},
		"a number short": {Kind: pipeline.Int64Column, Valid: []bool{true, false}, Fixed: []uint64{1}},
		"a null short":   {Kind: pipeline.Int64Column, Valid: []bool{true}, Fixed: []uint64{1, 0}},
		"an empty value": {Width: 4, Valid: []bool{true, true}, Bytes: pipeline.Bytes{Offsets: []int32{0, 4, 4}, Data: []byte("abcd")}},
	} {
		if got := passes(&c, 2); got != (what == "numbers") {
			t.Errorf("%s: %v", what, got)
		}
	}
}

// TestRequest: what goes to a worker has no key, and says whether there are columns of ids.
func TestRequest(t *testing.T) {
	o := input.Options{Key: readtest.Key(t), IDs: input.KeyIDs, Opaque: true, Only: map[string]bool{"a": true}, Text: "t"}
	r := newWorkerRequest("p", o)
	if r.Options.Key != nil || r.Options.Opaque || r.Options.Only != nil || r.Options.IDs != input.DropIDs || r.Options.Text != "t" {
		t.Errorf("%+v", r.Options)
	}
	o.ID = []string{"id"}
	if r = newWorkerRequest("p", o); r.Options.IDs != input.KeepIDs || o.Key == nil {
		t.Errorf("%+v", r.Options)
	}
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
		_ = failed(data, "x")
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
		data, _ := json.Marshal(failureOf(err))
		if far := failed(data, "a"); !reflect.DeepEqual(far, err) {
			t.Errorf("%#v became %#v", err, far)
		}
	}
}
