package offset_test

import (
	"slices"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline/offset"
)

// borders returns the byte offsets of all characters of text and of its end,
// and the same places counted in unit, one character after the other.
func borders(text string, unit offset.Unit) (bytes, units []int) {
	n := 0
	for i, r := range text {
		bytes, units = append(bytes, i), append(units, n)
		switch unit {
		case offset.Bytes:
			n += utf8.RuneLen(r)
		case offset.UTF16:
			n += utf16.RuneLen(r)
		default:
			n++
		}
	}
	return append(bytes, len(text)), append(units, n)
}

func checkOffsets(t interface{ Fatalf(string, ...any) }, text string, unit offset.Unit) {
	var x offset.Index
	x.Reset([]byte(text), unit)
	bytes, units := borders(text, unit)
	if x.Len() != units[len(units)-1] {
		t.Fatalf("%v: length %d, want %d", unit, x.Len(), units[len(units)-1])
	}
	for b := -1; b <= len(text)+1; b++ {
		got, ok := x.FromByte(b)
		k, want := slices.BinarySearch(bytes, b)
		if ok != want || ok && got != units[k] {
			t.Fatalf("%v: FromByte(%d) = %d, %v", unit, b, got, ok)
		}
	}
	for u := -1; u <= units[len(units)-1]+1; u++ {
		got, ok := x.ToByte(u)
		k, want := slices.BinarySearch(units, u)
		if ok != want || ok && got != bytes[k] {
			t.Fatalf("%v: ToByte(%d) = %d, %v", unit, u, got, ok)
		}
	}
}

func TestOffsetsAgreeWithCounting(t *testing.T) {
	letters := rapid.SampledFrom([]rune("aé ŀ·\u0301\u00a0€\r\n\t😀🏥\ufeff"))
	rapid.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOfN(letters, 0, 300).Draw(t, "text"))
		unit := rapid.SampledFrom([]offset.Unit{offset.CodePoints, offset.Bytes, offset.UTF16}).Draw(t, "unit")
		checkOffsets(t, text, unit)
	})
}

func FuzzOffsets(f *testing.F) {
	for _, s := range []string{"", "a", "ŀ😀", "e\u0301", "\r\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) || len(text) > 4096 {
			return
		}
		for u := range offset.Unit(3) {
			checkOffsets(t, text, u)
		}
	})
}

func TestParseOffsetUnit(t *testing.T) {
	for u := range offset.Unit(3) {
		if got, err := offset.ParseUnit(u.String()); err != nil || got != u {
			t.Errorf("ParseOffsetUnit(%q) = %v, %v", u, got, err)
		}
	}
	if _, err := offset.ParseUnit("words"); err == nil {
		t.Error("an unknown unit is accepted")
	}
}

func BenchmarkOffsets(b *testing.B) {
	text := make([]byte, 0, 1<<16)
	for len(text) < 1<<16-20 {
		text = append(text, "pacient d'urgències "...)
	}
	var x offset.Index
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		x.Reset(text, offset.CodePoints)
		for at := 0; at < x.Len(); at += 1000 {
			x.ToByte(at)
		}
	}
}
