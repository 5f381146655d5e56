package bilstm

import (
	"testing"

	"pgregory.net/rapid"
)

// TestCacheSweeps: of four forms those stay that were asked for a second time, with their numbers, and only once more.
func TestCacheSweeps(t *testing.T) {
	c := newCache(0, 8)
	c.make(4)
	put := func(h uint64) {
		at := c.take(cached{hash: h})
		c.row(at)[0], c.forms[at].scale = int16(10*h), float32(h)
	}
	want := func(rows ...int32) {
		t.Helper()
		for h, row := range rows {
			saw := int32(c.places[c.slot(uint64(h))]) - 1 // all begin at place 0
			if saw != row || row >= 0 && (c.row(row)[0] != int16(10*h) || c.forms[row].scale != float32(h)) {
				t.Errorf("form %d stands in row %d, want %d", h, saw, row)
			}
		}
	}
	for h := range uint64(4) {
		put(h)
	}
	c.find(1)
	c.find(3)
	c.room(1)
	want(-1, 0, -1, 1)
	put(4)
	put(5)
	c.find(3)
	c.room(1)
	want(-1, -1, -1, 0, -1, -1)
	c.find(3)
	c.room(4) // no place for all of them: it goes too, asked for or not
	want(-1, -1, -1, -1)
}

// TestCacheKeeps: whatever is asked for, a form is found in the row where it was put, and there is room for what comes.
func TestCacheKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := newCache(0, 8)
		rows := rapid.IntRange(1, 9).Draw(t, "rows")
		c.make(rows)
		for _, n := range rapid.SliceOfN(rapid.Uint64Range(0, 20), 1, 200).Draw(t, "asked") {
			h := n<<31 | n // two begin at one place
			c.room(1)
			at := c.find(h)
			if at < 0 {
				at = c.take(cached{hash: h})
				c.row(at)[0] = int16(n)
			}
			if c.row(at)[0] != int16(n) || c.forms[at].hash != h || int(at) >= rows {
				t.Fatalf("form %d stands in row %d, which has %d", n, at, c.row(at)[0])
			}
		}
	})
}
