package input

import (
	"bytes"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline"
)

// TestJoinedIDs: ids of different columns are different ids, bars or not.
func TestJoinedIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.StringMatching(`[|\\a1]{1,4}`)
		columns, rows := make([]pipeline.Bytes, 2), [2][2]string{}
		for k := range columns {
			for i := range rows {
				rows[i][k] = part.Draw(t, "part")
				columns[k].Append([]byte(rows[i][k]))
			}
		}
		b := &pipeline.Batch{Reason: make([]pipeline.Reason, 2)}
		b.Text.Append(nil)
		b.Text.Append(nil)
		n := NewNaming(&Options{})
		n.Name(b, columns)
		if same := bytes.Equal(b.ID.At(0), b.ID.At(1)); same != (rows[0] == rows[1]) {
			t.Errorf("%q have the ids %q and %q", rows, b.ID.At(0), b.ID.At(1))
		}
	})
}

// TestBoundsOfTexts has the bounds of what a text and an id may be.
func TestBoundsOfTexts(t *testing.T) {
	for text, want := range map[string]pipeline.Reason{
		"": pipeline.Sound, "año 😀": pipeline.Sound, "123456789": pipeline.Sound, "1234567890": pipeline.TooLong, "\xff2345678901": pipeline.TooLong,
		"a\xf1o": pipeline.BadEncoding, "a\xed\xa0\x80": pipeline.BadEncoding, "\x00\xff": pipeline.BadEncoding, "a\x00": pipeline.ControlText, "a\x01": pipeline.Sound,
	} {
		if got := Soundness([]byte(text), 9); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
	for id, want := range map[string]bool{
		"": false, "a": true, " ": true, "\x1f": false, "a\x7f": false, "é\u0080": true, "\xe9": false, strings.Repeat("x", 200): true, strings.Repeat("x", 201): false,
	} {
		if CleanID([]byte(id)) != want {
			t.Errorf("id %q: %v", id, !want)
		}
	}
}

func TestPlainPath(t *testing.T) {
	for in, want := range map[string]string{
		"year=2026/month=01":     "year=2026/month=01",
		"a\xff/b":                "a%FF/b",
		"mañana/\x1b[2J\n":       "mañana/%1B[2J%0A",
		"\xf1o\u0085":            "%F1o%C2%85",
		strings.Repeat("é", 127): strings.Repeat("é", 127),
	} {
		if got := PlainPath(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	long, deep := strings.Repeat("\xff", 255), strings.Repeat("x/", 2000)
	for _, in := range []string{long, deep, long + "/" + deep} {
		got := PlainPath(in)
		if len(got) > maxName || !PlainName(got, maxName) || got != PlainPath(in) || got == PlainPath(in+"y") {
			t.Errorf("%d bytes of %d", len(got), len(in))
		}
		for _, part := range strings.Split(got, "/") {
			if len(part) > maxNamePart {
				t.Errorf("a part of %d bytes", len(part))
			}
		}
	}
}
