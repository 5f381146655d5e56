package cut

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// at finds the bar in a text, which stands where a test asks, and takes it out.
func at(marked string) (Text, int) {
	i := strings.IndexByte(marked, '|')
	return Text(marked[:i] + marked[i+1:]), i
}

// TestWidths asks for the blanks and dashes on both sides of the bar.
func TestWidths(t *testing.T) {
	for _, c := range []struct {
		text                                    string
		space, spaces, before, bothBefore, dash int // widths; spaces: how far two blanks reach
	}{
		{"a|b", 0, 0, 0, 0, 0},
		{"a |b", 0, 0, 1, 1, 0},
		{"a| b", 1, 1, 0, 0, 0},
		{"a\t |\t b", 1, 2, 1, 2, 0},
		{"a   |   b", 1, 2, 1, 2, 0},
		{"a\u00a0|\u00a0b", 2, 2, 2, 2, 0},
		{"a \u00a0| \u00a0b", 1, 3, 2, 3, 0},
		{"a\u00a0\u00a0|\u00a0\u00a0b", 2, 4, 2, 4, 0},
		{"a\n|\nb", 0, 0, 0, 0, 0},
		{"à|\u00c3", 0, 0, 0, 0, 0}, // à ends in 0xA0, and is no blank
		{"|", 0, 0, 0, 0, 0},
		{"a|-", 0, 0, 0, 0, 1},
		{"a|\u2010", 0, 0, 0, 0, 3},
		{"a|\u2013", 0, 0, 0, 0, 3},
		{"a|\u2015", 0, 0, 0, 0, 3},
		{"a|\u200f", 0, 0, 0, 0, 0},
		{"a|\u2016", 0, 0, 0, 0, 0},
		{"a|\u2193", 0, 0, 0, 0, 0},
		{"a|_", 0, 0, 0, 0, 0},
	} {
		text, i := at(c.text)
		if a, b, d, e, f := text.Space(i), text.Spaces(i)-i, text.SpaceBefore(i), i-text.SpacesBefore(i), text.Dash(i); a != c.space || b != c.spaces || d != c.before || e != c.bothBefore || f != c.dash {
			t.Errorf("%q: %d %d %d %d %d", c.text, a, b, d, e, f)
		}
	}
}

// TestClasses asks which characters stand at the bar and before it.
func TestClasses(t *testing.T) {
	for _, c := range []struct{ text, want string }{ // l L: a letter behind, before; a A: a letter or digit; s: a small one before
		{"a|b", "lLaAs"}, {"1|2", "aA"}, {"é|ñ", "lLaA"}, {"A|Z", "lLaA"}, {"º|º", "s"}, {"ª|ª", "s"}, {".|,", ""}, {"|", ""}, {"z|z", "lLaAs"},
		{"Σ|Σ", "lLaA"}, {"»|«", ""}, {"ê|", "LA"}, {"`|{", ""}, {"@|[", ""}, {"/|:", ""}, {"0|9", "aA"},
	} {
		text, i := at(c.text)
		got := ""
		for _, q := range []struct {
			yes  bool
			mark string
		}{{text.LetterAt(i), "l"}, {text.LetterBefore(i), "L"}, {text.AlnumAt(i), "a"}, {text.AlnumBefore(i), "A"}, {text.SmallBefore(i), "s"}} {
			if q.yes {
				got += q.mark
			}
		}
		if got != c.want {
			t.Errorf("%q: %s, want %s", c.text, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	text := Text("ab0123.9")
	if text.Digits(2) != 6 || text.Digits(0) != 0 || text.Digits(7) != 8 || text.Value(2, 6) != 123 || text.Value(7, 8) != 9 || text.Value(2, 2) != 0 {
		t.Errorf("%d %d %d, %d", text.Digits(2), text.Digits(0), text.Digits(7), text.Value(2, 6))
	}
	if text.At(-1) != 0 || text.At(8) != 0 || text.At(0) != 'a' || text.At(7) != '9' || text.Blank(0) || !Text(" ").Blank(0) || text.Alnum(6) || !text.Alnum(7) || !text.Alnum(0) {
		t.Error("bytes at places")
	}
}

// TestWords has the words that end and begin at the bar, from their first to their last byte.
func TestWords(t *testing.T) {
	long := strings.Repeat("a", 60)
	for _, c := range []struct {
		text, before, behind string
		plainBefore, plain   bool
	}{
		{"el |metge ve", "", "metge", true, true},
		{"el metge| ve", "metge", "", true, true},
		{"cigüe|ña", "cigüe", "ña", false, false},
		{"col·|legi", "col·", "legi", false, true},
		{"|col·legi", "", "col·legi", true, false},
		{"col|·legi", "col", "·legi", true, false}, // the dot stands inside a word
		{"col|· legi", "col", "", true, false},
		{"l·|2", "l·", "", false, true},
		{"Nº|12", "Nº", "", false, true},
		{"NºCol|12", "Col", "", true, true},
		{"D.N.I|.", "D.N.I", "", false, true},
		{"D.N.I.|x", "", "x", false, true},
		{"fin.N|x", "N", "x", false, true}, // fin is no single letter
		{"doctorX|y", "X", "y", true, true},
		{"cafe\u0301|s", "cafe\u0301", "s", false, true},
		{"|cafe\u0301s", "", "cafe\u0301s", true, false},
		{"a1|b2", "", "b", true, true},
		{long + "|" + long, long[:48], long[:48], true, true},
		{"«|»", "", "", false, false},
	} {
		text, i := at(c.text)
		start, plainBefore := text.WordStart(i)
		end, plain := text.WordEnd(i)
		if string(text[start:i]) != c.before || string(text[i:end]) != c.behind || plainBefore != c.plainBefore || plain != c.plain {
			t.Errorf("%q: %q %t, %q %t", c.text, text[start:i], plainBefore, text[i:end], plain)
		}
	}
}

func TestSet(t *testing.T) {
	s := SetOf("a-")
	for b := range len(s) {
		if s[b] != (b == 'a' || b == '-') {
			t.Errorf("%d", b)
		}
	}
}

// TestStarts compares the places with those of a loop that branches.
func TestStarts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s Starts
	for range 2000 {
		text := make(Text, rng.IntN(40))
		for i := range text {
			text[i] = "ab Z09.:@,\n\xc3\xa9"[rng.IntN(13)]
		}
		var want []int
		for i, b := range text {
			word := InWord(b) && !(i > 0 && InWord(text[i-1]))
			if number := text.Digit(i) && !text.Digit(i-1); word || number || strings.IndexByte(".:@", b) >= 0 {
				want = append(want, i)
			}
		}
		s = s.Of(text)
		rest, got := s, []int(nil)
		for i := -1; rest.Behind(i) < len(text); {
			i = rest.Behind(i)
			got = append(got, i)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%q: places %d, want %d", text, got, want)
		}
	}
}
