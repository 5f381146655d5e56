package view

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/models/word/cut"
)

func TestPicture(t *testing.T) {
	for r, want := range map[rune]bool{
		'a': false, 0x1EFFF: false, 0x1F000: true, 0x1F600: true, 0x1FAFF: true, 0x1FB00: false, 0x25FF: false, 0x2600: true, 0x27BF: true, 0x27C0: false, 0x2AFF: false, 0x2B00: true, 0x2BFF: true, 0x2C00: false,
	} {
		if picture(r) != want {
			t.Errorf("U+%X is a picture: %t", r, !want)
		}
	}
}

// TestScripted has raised and lowered digits: three in one value are a number, and one is a power.
func TestScripted(t *testing.T) {
	for text, want := range map[string]bool{
		"⁶": false, "10⁹": false, "⁶⁰⁰": true, "⁶⁰": false, "x⁶ ⁰-⁰": true, "₆/₀.₀": true, "⁶⁰,⁰": false, "⁶⁰ñ⁰": false, "¹²³": true, "²³": false,
		"⁶" + strings.Repeat(" ", 60) + "⁰⁰": false, "⁶a⁰b⁰": true,
	} {
		at := strings.IndexFunc(text, func(r rune) bool { return scriptDigit(r) >= 0 })
		if got := scripted([]byte(text), at, len(string([]rune(text[at:])[0]))); got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
		last := strings.LastIndexFunc(text, func(r rune) bool { return scriptDigit(r) >= 0 })
		if got := scripted([]byte(text), last, len(string([]rune(text[last:])[0]))); got != want {
			t.Errorf("%q, from its last digit: %t, want %t", text, got, want)
		}
	}
	for r, want := range map[rune]rune{'⁰': 0, '⁴': 4, '⁹': 9, '₀': 0, '₉': 9, '¹': 1, '²': 2, '³': 3, '5': -1, 'a': -1, '⁺': -1, '´': -1} {
		if got := scriptDigit(r); got != want {
			t.Errorf("%c: %d, want %d", r, got, want)
		}
	}
}

// TestSides asks what stands on both sides of the bar.
func TestSides(t *testing.T) {
	for marked, want := range map[string]string{"a|b": "lLw", "1|2": "w", "|": "", "é|é": "lLw", ".|,": "", "z|-": "lw", "/|:": "", ":|a": "L", "9|": "w", "0|": "w"} {
		text := strings.Replace(marked, "|", "", 1)
		i, got := strings.IndexByte(marked, '|'), ""
		for _, q := range []struct {
			yes  bool
			mark string
		}{{cut.InWord(cut.Text(text).At(i - 1)), "l"}, {cut.InWord(cut.Text(text).At(i)), "L"}, {wordBefore([]byte(text), i), "w"}} {
			if q.yes {
				got += q.mark
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", marked, got, want)
		}
	}
}

func TestDecomposed(t *testing.T) {
	for r, want := range map[rune]string{'ａ': "a", '１': "1", 'ﬁ': "fi", 'é': "é", '①': "1", '™': "™", 'a': "a"} {
		one, more := decomposed(r)
		got := more
		if more == "" {
			got = string(one)
		}
		if got != want {
			t.Errorf("%c: %q, want %q", r, got, want)
		}
	}
}
