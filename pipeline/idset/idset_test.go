package idset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"testing"

	"pgregory.net/rapid"
)

// TestAgain compares the count with that of a map, whatever is in which set and in
// however many passes.
func TestAgain(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		units := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 400), 0, 300), 0, 12).Draw(t, "ids")
		seen, want, all := map[int]bool{}, int64(0), int64(0)
		var sets [][]byte
		for _, ids := range units {
			var s Set
			for _, id := range ids {
				if id == 0 { // no id
					s.Add(nil)
					continue
				}
				s.Add(fmt.Append(nil, id))
				if all++; seen[id] {
					want++
				}
				seen[id] = true
			}
			sets = append(sets, s.AppendBinary(nil))
		}
		fit := rapid.Int64Range(1, 2000).Draw(t, "fit")
		if got := again(t, newCounter(all, fit), sets); got != want {
			t.Errorf("%d ids of %d come again, want %d", got, all, want)
		}
	})
}

func again(t rapid.TB, c *Counter, sets [][]byte) int64 {
	for pass := range c.Passes() {
		for k, set := range sets {
			if err := c.Add(pass, k, section(bytes.NewReader(set), set)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c.Again()
}

func section(r io.ReaderAt, set []byte) *io.SectionReader {
	return io.NewSectionReader(r, 0, int64(len(set)))
}

// counted counts the bytes that are read.
type counted struct {
	io.ReaderAt
	n int
}

func (c *counted) ReadAt(p []byte, at int64) (int, error) {
	n, err := c.ReaderAt.ReadAt(p, at)
	c.n += n
	return n, err
}

// TestPassesRead: however many passes there are, each reads what is its own, and a buffer more.
func TestPassesRead(t *testing.T) {
	var s Set
	for i := range 200_000 {
		s.Add(fmt.Append(nil, i))
	}
	set := s.AppendBinary(nil)
	for _, passes := range []int64{1, 5, 20} {
		c, in := newCounter(200_000, 200_000/passes), &counted{ReaderAt: bytes.NewReader(set)}
		for pass := range c.Passes() {
			if err := c.Add(pass, 0, section(in, set)); err != nil {
				t.Fatal(err)
			}
		}
		if most := len(set) + c.Passes()<<16; c.Again() != 0 || in.n > most {
			t.Errorf("%d passes read %d bytes of %d, want at most %d", c.Passes(), in.n, len(set), most)
		}
	}
}

// TestManyShares goes through many shares and passes.
func TestManyShares(t *testing.T) {
	var sets [][]byte
	for unit := range 10 {
		var s Set
		for i := range 9000 {
			s.Add(fmt.Append(nil, 8000*unit+i)) // 1,000 of each come again in the next
		}
		sets = append(sets, s.AppendBinary(nil))
	}
	for _, fit := range []int64{1 << 30, 40_000, 20_001} {
		if got := again(t, newCounter(90_000, fit), sets); got != 9000 {
			t.Errorf("%d come again, want 9000", got)
		}
	}
}

// TestNoSet: what is cut off or out of order is no set. Hashes whose lower bits are
// all the same are one nevertheless.
func TestNoSet(t *testing.T) {
	var same, falling []byte
	for i := range uint64(500) {
		same = binary.LittleEndian.AppendUint64(same, i<<40)
		falling = binary.LittleEndian.AppendUint64(falling, 1000-i)
	}
	for _, bad := range [][]byte{same[:len(same)-3], falling} {
		if err := NewCounter(500).Add(0, 0, section(bytes.NewReader(bad), bad)); !errors.Is(err, ErrSet) {
			t.Errorf("%d bytes: %v", len(bad), err)
		}
	}
	if got := again(t, NewCounter(1000), [][]byte{same, same}); got != 500 {
		t.Errorf("%d come again, want 500", got)
	}
}

func BenchmarkAgain(b *testing.B) {
	var sets [][]byte
	for unit := range 40 {
		var s Set
		for i := range 25_000 {
			s.Add(fmt.Append(nil, unit, i))
		}
		sets = append(sets, s.AppendBinary(nil))
	}
	for b.Loop() {
		again(b, NewCounter(1_000_000), sets)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/1e6/float64(b.N), "ns/id")
}
