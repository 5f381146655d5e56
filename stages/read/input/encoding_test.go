package input

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// What is valid UTF-8 is never taken for anything else, wherever the pieces
// of detect end.
func TestDetectUTF8(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("aeñ€ 日\n")), 0, 200, -1).Draw(t, "text")
		pad := strings.Repeat("ñ", rapid.IntRange(0, 3).Draw(t, "pad")) + strings.Repeat("x", 1<<16-rapid.IntRange(0, 8).Draw(t, "at"))
		if e, err := Detect(strings.NewReader(pad + text)); err != nil || e != UTF8 {
			t.Fatalf("%v %v", e, err)
		}
	})
}
