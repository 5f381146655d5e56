package secret

import (
	"crypto/sha256"
	"testing"
)

// TestNumbers: numbers stay in their range, no two become one, and another purpose gives others.
func TestNumbers(t *testing.T) {
	key := &Key{master: []byte("a key that only this test has, 1")}
	n, other := key.Numbers("a"), key.Numbers("b")
	for _, from := range []uint64{0, 1<<31 - 5000, 1 << 31, 1<<62 - 5000} {
		seen, same := map[uint64]bool{}, 0
		for v := from; v < from+5000; v++ {
			got, ok := n.Of(v)
			if !ok || seen[got] || (got < 1<<31) != (v < 1<<31) || got >= 1<<62 {
				t.Fatalf("%d becomes %d, %v", v, got, ok)
			}
			seen[got] = true
			if o, _ := other.Of(v); o == got {
				same++
			}
		}
		if same > 1 {
			t.Errorf("from %d on %d numbers are the same for another purpose", from, same)
		}
	}
	if _, ok := n.Of(1 << 62); ok {
		t.Error("a number of 63 bits has one of 62")
	}
	again, _ := key.Numbers("a").Of(11)
	if first, _ := n.Of(11); first != again {
		t.Error("a number is not the same again")
	}
}

// TestNumbersArePermuted: every number of a small range comes out once.
func TestNumbersArePermuted(t *testing.T) {
	for half := uint(2); half <= 6; half++ {
		sum := sha256.Sum256([]byte{byte(half)})
		n := (&Key{master: sum[:]}).Numbers("small")
		for _, span := range [][2]uint64{{0, 1 << (2*half - 1)}, {5, 1 << (2 * half)}, {3, 11}} {
			seen := map[uint64]bool{}
			for v := span[0]; v < span[1]; v++ {
				got := n.within(v, half, span[0], span[1])
				if got < span[0] || got >= span[1] || seen[got] {
					t.Fatalf("half %d, %v: %d becomes %d", half, span, v, got)
				}
				seen[got] = true
			}
		}
	}
}

func BenchmarkNumbers(b *testing.B) {
	n := (&Key{master: make([]byte, 32)}).Numbers("speed")
	b.ReportAllocs()
	v := uint64(0)
	for b.Loop() {
		n.Of(v)
		v++
	}
}
