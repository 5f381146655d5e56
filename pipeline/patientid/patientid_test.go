package patientid

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"testing"
)

// forms of what is written in another way are the same; ids of others are not.
func TestAppendText(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{"123", "123"}, {"ab12", "AB12"}, {" 123 ", "123"}, {"123.0", "123"}, {"123.00", "123"}, {"123,0", "123"}, {"+123", "123"}, {"-5", "-5"}, {"\u22125", "-5"},
		{`"123"`, "123"}, {"'123", "123"}, {"“123”", "123"}, {`="00123"`, "00123"}, {"123;", "123"}, {"\ufeff123", "123"}, {"\u00ef\u00bb\u00bf123", "123"},
		{"12\x003", "123"}, {"12\u200b3", "123"}, {"12\u00ad3", "123"}, {"１２３", "123"}, {"١٢٣", "123"}, {"१२३", "123"}, {"12\u00a03", "123"}, {"12\u202f3", "123"},
		{"1.23e+02", "123"}, {"1.23E2", "123"}, {"15E2", "15E2"}, {"12E4", "12E4"}, {"1234.000", "1234"}, {"12.000", "12.000"}, {"ａｂ", "AB"}, {"A–1", "A-1"},
		{"00123", "00123"}, {"0", "0"}, {"ñ1", "Ñ1"}, {"n\u03031", "Ñ1"},
		{"", ""}, {"NaN", ""}, {"nan", ""}, {"None", ""}, {"<NA>", ""}, {"NULL", ""}, {"-", ""}, {"\u200b", ""}, {`""`, ""}, {"NaT", ""},
	} {
		got := AppendText([]byte("x"), []byte(c.id))
		if string(got) != "x"+c.want {
			t.Errorf("%q: %q, want %q", c.id, got[1:], c.want)
		}
	}
}

func TestAppendNumber(t *testing.T) {
	for _, c := range []struct{ id, want string }{
		{"123", "=123"}, {"00123", "=123"}, {"123.0", "=123"}, {"12.50", "=12.5"}, {"-5", "=-5"}, {"-005", "=-5"}, {"0", "=0"}, {"000", "=0"}, {"-0", "=0"}, {"NaN", ""}, {"1e+05", "=100000"},
	} {
		if got := AppendNumber(nil, []byte(c.id)); string(got) != c.want {
			t.Errorf("%q: %q, want %q", c.id, got, c.want)
		}
	}
}

// Zeros count where both sides are text, and nowhere else.
func TestSame(t *testing.T) {
	text := func(s string) []byte { return AppendText(nil, []byte(s)) }
	number := func(s string) []byte { return AppendNumber(nil, []byte(s)) }
	for _, c := range []struct {
		a, b []byte
		want bool
	}{
		{text("123"), text("00123"), false}, {text("123"), number("123"), true}, {text("00123"), number("123"), true}, {number("123"), number("123.0"), true},
		{text("123"), text("124"), false}, {number("12"), number("120"), false}, {text("A012"), text("A12"), false}, {text("-007"), number("-7"), true},
	} {
		set := NewSet(fnvOf)
		set.Add(c.a, 7)
		if Same(c.a, c.b) != c.want || Same(c.b, c.a) != c.want || set.Has(c.b) != c.want {
			t.Errorf("%q and %q: want %v", c.a, c.b, c.want)
		}
	}
	if (*Set)(nil).Has([]byte("1")) || NewSet(fnvOf).Has(nil) {
		t.Error("nobody is in no set")
	}
}

func fnvOf(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

func TestNear(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"123", "00123", true}, {"12345678Z", "12.345.678-Z", true}, {"123", "124", true}, {"123", "12", true}, {"123", "132", true}, {"1234", "1243", true},
		{"123", "1", false}, {"123", "312", false}, {"1234", "4321", false}, {"", "1", false},
	} {
		if got := Near([]byte(c.a), []byte(c.b)); got != c.want || Near([]byte(c.b), []byte(c.a)) != c.want {
			t.Errorf("%q, %q: %v", c.a, c.b, got)
		}
	}
}

// A form is its own form, of any bytes, and a key is a piece of it.
func FuzzAppendText(f *testing.F) {
	for _, s := range []string{"123", `="00123"`, "１２３.0", "-0", "1.5e+3", "\xff\x00", "=", "''''"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, id []byte) {
		form := AppendText(nil, id)
		ascii := !bytes.ContainsFunc(id, func(c rune) bool { return c >= 0x80 })
		if again := AppendText(nil, form); ascii && !bytes.Equal(again, form) {
			t.Errorf("form %x of %x has the form %x", form, id, again)
		}
		if bytes.HasPrefix(form, []byte{number}) || !bytes.HasSuffix(form, bytes.TrimPrefix(Key(form), []byte("-"))) {
			t.Errorf("form %x, key %x", form, Key(form))
		}
	})
}

func BenchmarkAppendText(b *testing.B) {
	id, dst := []byte("ab-123456"), make([]byte, 0, 64)
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendText(dst[:0], id)
	}
}

func ExampleSame() {
	fmt.Println(Same([]byte("=123"), []byte("00123")), Same([]byte("123"), []byte("00123")))
	// Output: true false
}

// Ids are alike whose digits are the same but for zeros in front, unless the letters around
// them contradict each other; of several ids of a patient each counts.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		member, id  string
		alike, same bool
	}{
		{"1000", "0001000", true, false}, {"1000", "P1000", true, false}, {"P1000", "0001000", true, false}, {"P-1000", "P0001000", true, false},
		{"12345678", "12345678Z", true, false}, {"A1000", "B1000", false, false}, {"1000A", "1000B", false, false},
		{"1000", "1001", false, false}, {"1000", "10000", false, false}, {"AB", "CD", false, false}, {"P", "P0", false, false},
		{"1000", "77\x1fP1000", true, false}, {"1000", "77\x1f1000", true, true}, {"1000", "\x1f1000", true, true}, {"1000", "", false, false},
	} {
		set := NewSet(fnvOf)
		set.Add([]byte(c.member), 0)
		if set.Alike([]byte(c.id)) != c.alike || set.Has([]byte(c.id)) != c.same || Same([]byte(c.id), []byte(c.member)) != c.same {
			t.Errorf("%q and %q: alike %v, in the set %v; want %v and %v", c.member, c.id, set.Alike([]byte(c.id)), set.Has([]byte(c.id)), c.alike, c.same)
		}
	}
	if got := Key([]byte("0012\x1fB7")); string(got) != "12" {
		t.Errorf("the key of several ids is %q, want that of the first", got)
	}
}
