package sheet

import (
	"testing"

	"pgregory.net/rapid"
)

func TestGuarded(t *testing.T) {
	for _, tt := range []struct{ cell, want string }{
		{"", ""},
		{"Acude sola", "Acude sola"},
		{`=HYPERLINK("http://x";"y")`, `'=HYPERLINK("http://x";"y")`},
		{"+34 600", "'+34 600"},
		{"-5", "'-5"},
		{"@SUM(1)", "'@SUM(1)"},
		{"\t=1", "'\t=1"},
		{"\r=1", "'\r=1"},
		{"\n=1", "'\n=1"},
		{"＝1", "'＝1"},
		{"'=1", "''=1"},
		{"'tis", "'tis"},
		{"'", "'"},
		{"a=1", "a=1"},
	} {
		got, shift := Guarded(nil, []byte(tt.cell))
		if string(got) != tt.want || shift != len(tt.want)-len(tt.cell) {
			t.Errorf("%q: %q (%d), want %q", tt.cell, got, shift, tt.want)
		}
	}
}

func TestGuardedComesBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cell := rapid.StringOf(rapid.SampledFrom([]rune("'=+-@\t\r\n＝a "))).Draw(t, "cell")
		out, shift := Guarded(nil, []byte(cell))
		back, by := Bare(out)
		if string(back) != cell || by != shift {
			t.Fatalf("%q: %q: %q", cell, out, back)
		}
	})
}
