package embedtrain

import (
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/word/embed"
)

// TestCheck has the bounds of each option.
func TestCheck(t *testing.T) {
	for _, c := range []struct {
		o    embed.Options
		good bool
	}{
		{embed.Options{}, true}, {embed.Options{Dim: -1}, false}, {embed.Options{Dim: 4096}, true}, {embed.Options{Dim: 4097}, false},
		{embed.Options{Window: -1}, false}, {embed.Options{Window: 100}, true}, {embed.Options{Window: 101}, false},
		{embed.Options{Epochs: -1}, false}, {embed.Options{Negatives: -1}, false}, {embed.Options{Rate: -.1}, false}, {embed.Options{Sample: -.1}, false},
	} {
		if err := Check(c.o); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.o, err)
		}
	}
	if o := withDefaults(embed.Options{Window: 3}, 15, .5); o != (embed.Options{Dim: 100, Window: 3, Epochs: 15, Negatives: 5, Workers: 1, Sample: 1e-3, Rate: .5}) {
		t.Errorf("%+v", o)
	}
}

// TestLongestForm: a form of 64 bytes is a word, one of 65 is none.
func TestLongestForm(t *testing.T) {
	text := strings.Repeat("x", embed.MaxForm) + " " + strings.Repeat("y", embed.MaxForm+1) + " z"
	v := counted(embed.AsIs, embed.CutOff{}, text)
	v.index[strings.Repeat("y", embed.MaxForm+1)] = 0 // were it a word
	var got []int32
	e := Encoder{Vocabulary: v, Size: 100, Keep: 1 << 20, Do: func(r []int32) error { got = append(got, r...); return nil }}
	if err := e.Note([]byte(text), cut(text)); err != nil {
		t.Fatal(err)
	}
	if err := e.End(); err != nil {
		t.Fatal(err)
	}
	x, z := v.index[strings.Repeat("x", embed.MaxForm)], v.index["z"]
	if n := slices.DeleteFunc(got, func(i int32) bool { return i < 0 }); !slices.Equal(n, []int32{x, z}) || x == z {
		t.Errorf("words %v, want %d and %d", n, x, z)
	}
}
