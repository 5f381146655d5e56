package pages

import (
	"encoding/binary"
	"math/bits"
	"testing"

	"pgregory.net/rapid"
)

// TestCountLevels: what the format's run-length form says is counted, and
// nothing less or more.
func TestCountLevels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		most := rapid.IntRange(1, 9).Draw(rt, "most")
		width := bits.Len(uint(most))
		var runs []byte
		var want levelCount
		n := 0
		for range rapid.IntRange(1, 5).Draw(rt, "runs") {
			if rapid.Bool().Draw(rt, "packed") {
				word := uint64(0)
				for k := range 8 {
					level := rapid.IntRange(0, most).Draw(rt, "level")
					word |= uint64(level) << (k * width)
					want.add(level, most, 1)
				}
				runs, n = append(runs, 1<<1|1), n+8
				runs = append(runs, binary.LittleEndian.AppendUint64(nil, word)[:width]...)
				continue
			}
			k, level := rapid.IntRange(1, 60).Draw(rt, "times"), rapid.IntRange(0, most).Draw(rt, "level")
			runs, n = append(runs, byte(k<<1), byte(level)), n+k
			want.add(level, most, k)
		}
		if got, ok := countLevels(runs, n, most); !ok || got != want {
			rt.Fatalf("%+v, want %+v, %t", got, want, ok)
		}
		if _, ok := countLevels(runs, n+1, most); ok {
			rt.Fatal("one more than there are")
		}
		if _, ok := countLevels(append(runs, 2, 0), n, most); ok {
			rt.Fatal("bytes left")
		}
		if _, ok := countLevels(runs[:len(runs)-1], n, most); ok {
			rt.Fatal("bytes cut off")
		}
		if _, ok := countLevels([]byte{2, byte(most + 1)}, 1, most); ok {
			rt.Fatal("a level that is too high")
		}
	})
}
