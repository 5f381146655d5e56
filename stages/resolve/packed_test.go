package resolve

import (
	"strings"
	"testing"
)

// TestPacked packs the same word wherever it stands: in small letters, eight from the lowest byte on and those behind them.
func TestPacked(t *testing.T) {
	value := func(letters string) (v uint64) {
		for k := range letters {
			v |= uint64(letters[k]) << (8 * k)
		}
		return v
	}
	for _, word := range []string{"a", "Ana", "abcdefg", "Abcdefgh", "abcdefghi", "ABCDEFGHIJKLMNO", "abcdefghijklmnop"} {
		small := strings.ToLower(word)
		first, rest := value(small[:min(8, len(small))]), uint64(0)
		if len(small) > 8 {
			rest = value(small[8:])
		}
		for _, c := range []struct{ before, behind string }{{"", strings.Repeat(" ", 20)}, {strings.Repeat(" ", 20), ""}, {strings.Repeat("X", 20), strings.Repeat("X", 20)}, {"  ", " . "}, {"", strings.Repeat(" ", 16-len(word))}, {strings.Repeat(" ", 8), ""}} {
			text := []byte(c.before + word + c.behind)
			a, b := packed(text, len(c.before), len(c.before)+len(word))
			if a == 0 && b == 0 && len(word) < 8 { // too little before and behind
				continue
			}
			if a != first || b != rest {
				t.Errorf("%q behind %d and before %d bytes: %x %x, want %x %x", word, len(c.before), len(c.behind), a, b, first, rest)
			}
		}
	}
	if a, b := packed([]byte("abcdefghijklmnopq               "), 0, 17); a != 0 || b != 0 {
		t.Errorf("17 letters: %x %x", a, b)
	}
	for _, c := range []struct {
		text       string
		start, end int
		none       bool
	}{{"Ana", 0, 3, true}, {"Ana     ", 0, 3, false}, {"     Ana", 5, 8, false}, {"Ana    ", 0, 3, true}} {
		if a, _ := packed([]byte(c.text), c.start, c.end); (a == 0) != c.none {
			t.Errorf("%q: %x", c.text, a)
		}
	}
}
