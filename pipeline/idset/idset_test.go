package idset

import (
	"encoding/binary"
	"errors"
	"fmt"
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
		for _, set := range sets {
			if err := c.Add(pass, set); err != nil {
				t.Fatal(err)
			}
		}
	}
	return c.Again()
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
		if err := NewCounter(500).Add(0, bad); !errors.Is(err, ErrSet) {
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
