package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// counted is a Source of max batches of one note, numbered in First.
type counted struct {
	max   int
	n     int
	slow  time.Duration
	fails int   // number of the batch at which it fails; 0: none
	err   error // how; nil is a panic
}

func (s *counted) Next(b *Batch) error {
	time.Sleep(s.slow)
	if s.n == s.max {
		return io.EOF
	}
	s.n++
	if s.n == s.fails {
		return failure(s.err)
	}
	b.First = int64(s.n)
	b.ID.Append(nil)
	b.Text.Append(fmt.Appendf(nil, "%d", s.n))
	b.Reason = append(b.Reason, Sound)
	return nil
}

// failure returns err, or panics with the words of a note if there is none.
func failure(err error) error {
	if err == nil {
		panic("words of a note")
	}
	return err
}

// collected is a Sink that notes what arrives.
type collected struct {
	rows  []int64
	slow  time.Duration
	fails int
	err   error
}

func (s *collected) Put(b *Batch) error {
	time.Sleep(s.slow)
	s.rows = append(s.rows, b.First)
	if len(s.rows) == s.fails {
		return failure(s.err)
	}
	return nil
}

// step does nothing to a batch, for some time.
func step(name string, workers int, do func(b *Batch) error) Step {
	return Step{Name: name, Workers: workers, New: func() func(*Batch) error { return do }}
}

func pass(*Batch) error { return nil }

func inOrder(t *testing.T, rows []int64, n int) {
	t.Helper()
	if n >= 0 && len(rows) != n {
		t.Errorf("%d batches arrived of %d", len(rows), n)
	}
	for i, row := range rows {
		if row != int64(i+1) {
			t.Fatalf("batch %d arrived as number %d", row, i+1)
		}
	}
}

// TestRunKeepsOrder: whatever the workers and however long they take. In a
// bubble of synctest a goroutine that stays behind fails the test.
func TestRunKeepsOrder(t *testing.T) {
	for _, workers := range []int{0, 1, 2, 3, 7} {
		synctest.Test(t, func(t *testing.T) {
			var stats Stats
			dst := &collected{}
			slow := func(b *Batch) error {
				time.Sleep(time.Duration(b.First*7919%13) * time.Millisecond)
				return nil
			}
			err := Run(t.Context(), &counted{max: 50}, []Step{step("a", workers, slow), step("b", 1, pass), step("c", workers, slow)}, dst, &stats)
			if err != nil {
				t.Fatal(err)
			}
			inOrder(t, dst.rows, 50)
			for _, s := range stats.Steps() {
				if s.Batches != 50 || s.Notes != 50 {
					t.Errorf("%s: %d batches, %d notes", s.Name, s.Batches, s.Notes)
				}
			}
			if len(stats.Steps()) != 5 {
				t.Errorf("%d steps counted", len(stats.Steps()))
			}
		})
	}
}

func TestRunNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dst := &collected{}
		if err := Run(t.Context(), &counted{}, nil, dst, nil); err != nil || len(dst.rows) > 0 {
			t.Errorf("%d batches, %v", len(dst.rows), err)
		}
	})
}

// TestRunErrors: an error or a panic at any place, at any batch, stops the
// line; it is named once, with its stage, and nothing is out of order.
func TestRunErrors(t *testing.T) {
	cause := errors.New("cause")
	for _, place := range []string{"read", "first", "last", "write"} {
		for _, at := range []int{1, 2, 20, 100} {
			for _, workers := range []int{1, 3} {
				for _, err := range []error{cause, nil} {
					synctest.Test(t, func(t *testing.T) {
						breaks := func(name string) func(*Batch) error {
							if name != place {
								return pass
							}
							return func(b *Batch) error {
								if b.First == int64(at) {
									return failure(err)
								}
								return nil
							}
						}
						src, dst := &counted{max: 100}, &collected{}
						switch place {
						case "read":
							src.fails, src.err = at, err
						case "write":
							dst.fails, dst.err = at, err
						}
						got := Run(t.Context(), src, []Step{step("first", workers, breaks("first")), step("middle", workers, pass), step("last", workers, breaks("last"))}, dst, nil)
						if got == nil {
							t.Fatalf("%s, batch %d: no error", place, at)
						}
						if err != nil && !errors.Is(got, cause) || !strings.HasPrefix(got.Error(), place+": ") {
							t.Errorf("%s, batch %d: %v", place, at, got)
						}
						if err == nil {
							checkPanic(t, got)
						}
						if len(dst.rows) > at {
							t.Errorf("%s, batch %d: %d batches were written", place, at, len(dst.rows))
						}
						inOrder(t, dst.rows, -1)
					})
				}
			}
		}
	}
}

// TestRunNewPanics: a worker that cannot be made stops the line too.
func TestRunNewPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Step{Name: "s", Workers: 3, New: func() func(*Batch) error { panic("words of a note") }}
		err := Run(t.Context(), &counted{max: 9}, []Step{step("a", 1, pass), s, step("b", 2, pass)}, &collected{}, nil)
		if err == nil || !strings.HasPrefix(err.Error(), "s: ") {
			t.Fatalf("error %v", err)
		}
		checkPanic(t, err)
	})
}

func checkPanic(t *testing.T, err error) {
	t.Helper()
	p, ok := errors.AsType[*panicError](err)
	if !ok || !strings.Contains(p.Place, "run_test.go:") || p.Kind != "string" {
		t.Errorf("panic became %v", err)
	}
	if strings.Contains(err.Error(), "words") {
		t.Error("the error holds the panic's value")
	}
}

// TestRunTwoErrors: the first counts.
func TestRunTwoErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second := errors.New("first"), errors.New("second")
		late := func(b *Batch) error {
			if b.First == 1 {
				time.Sleep(time.Second)
				return second
			}
			return nil
		}
		early := func(b *Batch) error {
			if b.First == 2 {
				return first
			}
			return nil
		}
		err := Run(t.Context(), &counted{max: 9}, []Step{step("early", 1, early), step("late", 1, late)}, &collected{}, nil)
		if !errors.Is(err, first) || errors.Is(err, second) {
			t.Errorf("error %v", err)
		}
	})
}

func TestRunCancel(t *testing.T) {
	stop := errors.New("stop")
	for _, after := range []time.Duration{0, 1, 50, 950, 5000} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			time.AfterFunc(after*time.Millisecond, func() { cancel(stop) })
			slow := func(*Batch) error { time.Sleep(100 * time.Millisecond); return nil }
			dst := &collected{slow: 30 * time.Millisecond}
			begin := time.Now()
			err := Run(ctx, &counted{max: 1000, slow: 10 * time.Millisecond}, []Step{step("a", 2, slow), step("b", 3, slow)}, dst, nil)
			if !errors.Is(err, stop) {
				t.Errorf("after %v: %v", after, err)
			}
			if late := time.Since(begin) - after*time.Millisecond; late > 200*time.Millisecond {
				t.Errorf("after %v: it took %v to stop", after, late)
			}
			inOrder(t, dst.rows, -1)
		})
	}
}

// TestRunBackPressure: a slow sink holds the source back, and no more batches
// are made than Run says.
func TestRunBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10500*time.Millisecond)
		defer cancel()
		src := &counted{max: 1000}
		made := map[*Batch]bool{}
		watch := step("watch", 1, func(b *Batch) error { made[b] = true; return nil })
		err := Run(ctx, src, []Step{watch, step("wide", 4, pass)}, &collected{slow: time.Second}, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		const most = 2 + 2 + 5 // two, and for each step one and its workers
		if len(made) > most {
			t.Errorf("%d batches exist", len(made))
		}
		if src.n > 11+most {
			t.Errorf("%d batches read while 11 were written", src.n)
		}
	})
}

// TestRunScratch: every worker has its own, and works on one batch at a time.
func TestRunScratch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var made atomic.Int64
		s := Step{Name: "s", Workers: 5, New: func() func(*Batch) error {
			made.Add(1)
			busy := false // a data race, and wrong, if two batches share it
			return func(*Batch) error {
				if busy {
					return errors.New("two batches at once")
				}
				busy = true
				time.Sleep(time.Millisecond)
				busy = false
				return nil
			}
		}}
		if err := Run(t.Context(), &counted{max: 60}, []Step{s}, &collected{}, nil); err != nil {
			t.Error(err)
		}
		if made.Load() != 5 {
			t.Errorf("%d workers", made.Load())
		}
	})
}

// TestRunParallel: five workers of a step do their work at the same time.
func TestRunParallel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := step("slow", 5, func(*Batch) error { time.Sleep(time.Second); return nil })
		begin := time.Now()
		if err := Run(t.Context(), &counted{max: 50}, []Step{slow}, &collected{}, nil); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 12*time.Second {
			t.Errorf("50 seconds of work took %v", took)
		}
	})
}

// TestRunBatchesAreEmpty: what a stage left in a batch does not reach the
// next notes.
func TestRunBatchesAreEmpty(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fill := step("fill", 1, func(b *Batch) error {
			if b.Tokens.Len()+b.Spans.Len()+b.Masked.Len()+len(b.Tags)+len(b.Conf)+len(b.Chosen)+len(b.Language)+b.Matches.Len()+b.Gold.Len() > 0 || b.TagSet != nil || b.Text.Len() != 1 {
				return errors.New("the batch is not empty")
			}
			b.Tokens.Append(Token{})
			b.Spans.Append(Span{})
			b.Matches.Append(Match{})
			b.Gold.Append(Span{})
			b.Masked.Append([]byte("x"))
			b.Tags, b.Conf, b.Chosen, b.Language = append(b.Tags, 1), append(b.Conf, 1), append(b.Chosen, 1), append(b.Language, 1)
			b.TagSet = &TagSet{}
			return nil
		})
		if err := Run(t.Context(), &counted{max: 30}, []Step{fill}, &collected{}, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestTry(t *testing.T) {
	err := Try(func() error {
		var none []int
		return fmt.Errorf("%d", none[len(none)])
	})
	if p, ok := errors.AsType[*panicError](err); !ok || !strings.Contains(p.Place, "run_test.go:") {
		t.Errorf("error %v", err)
	}
}

func TestNilStats(t *testing.T) {
	var s *Stats
	s.add("x", 1, 1)
	if s.Steps() != nil {
		t.Error("steps of nothing")
	}
}

func TestColumns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOf(rapid.SliceOf(rapid.Byte())).Draw(t, "values")
		var c Bytes
		var l List[byte]
		for range 2 { // again, in the same memory
			c.Reset()
			l.Reset()
			for i, v := range values {
				if c.Len() != i || l.Len() != i {
					t.Fatalf("%d and %d values of %d", c.Len(), l.Len(), i)
				}
				c.Append(v)
				l.Append(v...)
			}
			for i, v := range values {
				if string(c.At(i)) != string(v) || string(l.At(i)) != string(v) {
					t.Fatalf("value %d is another", i)
				}
				if cap(c.At(i)) != len(v) || cap(l.At(i)) != len(v) {
					t.Fatalf("value %d reaches into the next", i)
				}
			}
		}
	})
}

// BenchmarkRun is what a hand-off between stages costs.
func BenchmarkRun(b *testing.B) {
	b.ReportAllocs()
	src := &counted{max: b.N}
	steps := []Step{step("a", 1, pass), step("b", 2, pass), step("c", 1, pass)}
	if err := Run(b.Context(), src, steps, &collected{}, nil); err != nil {
		b.Fatal(err)
	}
}

// TestKeptBatches wants the batches of one run in the next, empty, but none
// that a long note has made large and none of a run that failed.
func TestKeptBatches(t *testing.T) {
	var p Pump
	run := func(src Source, steps ...Step) error {
		return p.Run(t.Context(), src, steps, &collected{}, nil)
	}
	if err := run(&counted{max: 5}); err != nil || len(p.kept) != 2 {
		t.Fatalf("%d batches, %v", len(p.kept), err)
	}
	first := map[*Batch]bool{p.kept[0]: true, p.kept[1]: true}
	dirty := 0
	look := Step{Name: "look", New: func() func(*Batch) error {
		return func(b *Batch) error {
			if b.Len() != 1 || b.ID.Len() != 1 || len(b.Reason) != 1 {
				dirty++
			}
			if first[b] {
				b.Text.Data = append(b.Text.Data, make([]byte, keptBytes)...)
			}
			return nil
		}
	}}
	if err := run(&counted{max: 50}, look); err != nil || dirty > 0 {
		t.Errorf("%d batches not empty, %v", dirty, err)
	}
	for _, b := range p.kept {
		if first[b] {
			t.Error("a large batch was kept")
		}
	}
	if len(p.kept) != 2 { // of four
		t.Errorf("%d batches kept", len(p.kept))
	}
	if err := run(&counted{max: 5, fails: 2, err: io.ErrUnexpectedEOF}); err == nil || len(p.kept) != 0 {
		t.Errorf("%d batches kept of a run that failed with %v", len(p.kept), err)
	}
}

// TestWholeNumbers has the numbers and days of columns, those before 1970 too.
func TestWholeNumbers(t *testing.T) {
	for _, c := range []struct {
		kind          ColumnKind
		bits          uint64
		day           int64
		n, days, gone int64
	}{
		{Int32Column, 0xffffffff, 1, -1, -1, 0}, {DateColumn, 0xffffffff, 1, -1, -1, 0}, {Int64Column, 0xffffffff, 1 << 32, 0xffffffff, 0, 0xffffffff},
		{TimestampColumn, 100, 100, 100, 1, 0}, {TimestampColumn, 99, 100, 99, 0, 99}, {TimestampColumn, ^uint64(0), 100, -1, -1, 99}, {TimestampColumn, ^uint64(99), 100, -100, -1, 0}, {TimestampColumn, 0, 100, 0, 0, 0},
	} {
		column := Column{Kind: c.kind, Fixed: []uint64{c.bits}}
		days, gone := column.Day(0, c.day)
		if n := column.Int(0); n != c.n || days != c.days || gone != c.gone {
			t.Errorf("%v %x: %d, day %d and %d", c.kind, c.bits, n, days, gone)
		}
	}
}

// TestQuarantine: the first reason of a note stays, and a note with one is no longer among the sound ones.
func TestQuarantine(t *testing.T) {
	b := &Batch{Reason: []Reason{Sound, Sound, NullText, Sound}}
	b.Quarantine(1, TooLong)
	b.Quarantine(1, NullText)
	b.Quarantine(2, TooLong)
	if want := []Reason{Sound, TooLong, NullText, Sound}; !slices.Equal(b.Reason, want) {
		t.Errorf("reasons %v, want %v", b.Reason, want)
	}
	if got := slices.Collect(b.Sound()); !slices.Equal(got, []int{0, 3}) {
		t.Errorf("sound are %v", got)
	}
}

// TestNestedColumn takes the lists [a b], null and [c] over in another order, and a null behind them.
func TestNestedColumn(t *testing.T) {
	from := Column{Kind: NestedColumn, Leaves: []Leaf{{Full: 2, Rows: []int32{0, 2, 3, 4}, Starts: []int32{0, 2, 2, 3}, Rep: []byte{0, 1, 0, 0}, Def: []byte{2, 2, 0, 2}}}}
	for _, v := range []string{"a", "b", "c"} {
		from.Leaves[0].Values.Append([]byte(v))
	}
	to := Column{Kind: NestedColumn, Leaves: []Leaf{{Full: 2}}}
	for _, i := range []int{2, 0, 1} {
		to.Append(&from, i)
	}
	to.AppendNull()
	l := &to.Leaves[0]
	if want := []int32{0, 1, 3, 4, 5}; !slices.Equal(l.Rows, want) {
		t.Errorf("rows %v, want %v", l.Rows, want)
	}
	if want := []int32{0, 1, 3, 3, 3}; !slices.Equal(l.Starts, want) {
		t.Errorf("starts %v, want %v", l.Starts, want)
	}
	if want := []byte{0, 0, 1, 0, 0}; !slices.Equal(l.Rep, want) {
		t.Errorf("repetition %v, want %v", l.Rep, want)
	}
	if want := []byte{2, 2, 2, 0, 0}; !slices.Equal(l.Def, want) {
		t.Errorf("definition %v, want %v", l.Def, want)
	}
	if got := string(l.Values.Data); got != "cab" || l.Values.Len() != 3 {
		t.Errorf("%d values %q", l.Values.Len(), got)
	}
}
