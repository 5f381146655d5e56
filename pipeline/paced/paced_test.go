package paced

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// fed reads what a test sends, a piece at a time.
type fed struct {
	pieces chan string
	asked  chan struct{}
}

func (f *fed) Read(b []byte) (int, error) {
	f.asked <- struct{}{}
	s, ok := <-f.pieces
	if !ok {
		return 0, io.EOF
	}
	return copy(b, s), nil
}

func TestReader(t *testing.T) {
	long := strings.Repeat("0123456789", 50_000) // seven chunks and a piece
	for name, from := range map[string]io.Reader{
		"whole": strings.NewReader(long), "bytes": iotest.OneByteReader(strings.NewReader(long[:3000])), "end with the last bytes": iotest.DataErrReader(strings.NewReader(long)),
	} {
		got, err := io.ReadAll(NewReader(t.Context(), from))
		if err != nil || string(got) != long[:len(got)] || len(got) < 3000 || name != "bytes" && len(got) != len(long) {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}

// TestReady has bytes that are late, and says so without losing them.
func TestReady(t *testing.T) {
	f := &fed{make(chan string), make(chan struct{}, 9)}
	r := NewReader(t.Context(), f)
	now := make(chan time.Time)
	close(now)
	if ok, err := r.Ready(now); ok || err != nil {
		t.Fatalf("before the first byte: %v, %v", ok, err)
	}
	f.pieces <- ""
	f.pieces <- "note"
	if ok, err := r.Ready(nil); !ok || err != nil {
		t.Fatalf("with a note: %v, %v", ok, err)
	}
	b := make([]byte, 3)
	if n, err := r.Read(b); n != 3 || err != nil || string(b) != "not" {
		t.Fatalf("%q, %v", b[:n], err)
	}
	if ok, err := r.Ready(now); !ok || err != nil {
		t.Fatalf("a byte is left: %v, %v", ok, err)
	}
	if n, err := r.Read(b); n != 1 || err != nil || b[0] != 'e' {
		t.Fatalf("%q, %v", b[:n], err)
	}
	if ok, _ := r.Ready(now); ok {
		t.Fatal("nothing is left")
	}
	close(f.pieces)
	for range 2 {
		if ok, err := r.Ready(nil); ok || err != io.EOF {
			t.Fatalf("at the end: %v, %v", ok, err)
		}
	}
}

// TestError has bytes before an error: they come first, and the error stays.
func TestError(t *testing.T) {
	wrong := errors.New("the disk is gone")
	r := NewReader(t.Context(), io.MultiReader(strings.NewReader("note"), iotest.ErrReader(wrong)))
	if got, err := io.ReadAll(r); string(got) != "note" || err != wrong {
		t.Errorf("%q, %v", got, err)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err != wrong {
		t.Errorf("once more: %d, %v", n, err)
	}
}

// TestCancelled wants the cause of the context's end while the source blocks.
func TestCancelled(t *testing.T) {
	why := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := NewReader(ctx, &fed{make(chan string), make(chan struct{}, 1)})
	cancel(why)
	if ok, err := r.Ready(nil); ok || err != why {
		t.Errorf("%v, %v", ok, err)
	}
}

// TestAhead wants four chunks read ahead of who takes, and no fifth.
func TestAhead(t *testing.T) {
	f := &fed{make(chan string, 9), make(chan struct{}, 9)}
	for range 6 {
		f.pieces <- strings.Repeat("x", bytes)
	}
	r := NewReader(t.Context(), f)
	for range chunks {
		<-f.asked
	}
	select {
	case <-f.asked:
		t.Error("a fifth chunk is read")
	default:
	}
	if _, err := r.Read(make([]byte, bytes)); err != nil {
		t.Fatal(err)
	}
	if ok, err := r.Ready(nil); !ok || err != nil { // gives the first chunk back
		t.Fatal(ok, err)
	}
	<-f.asked
}
