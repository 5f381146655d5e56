package text

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzObject: an object is what the library says it is, and its strings are those that the library reads,
// but for what is no text.
func FuzzObject(f *testing.F) {
	for _, s := range []string{
		`{"id":"1","text":"Dolor de 3 días\nTel. 6\u0031"}`, ` { "a" : 1.5e3 , "b":[{"c":"]"},null], "a":true } `, `{}`, `{"a":"\ud83d\ude00"}`,
		`{"a":"\ud83d"}`, `{"a":"\ude00\ud83d"}`, `{"\u0061":1}`, `{"a":01}`, `{"a":"\q"}`, `{"a":"x`, `{"a":[}]}`, `{"a":1}x`, `{"a":1,}`, `{,}`, `null`, `[]`,
		"{\"a\":\"\xff\"}", "{\"a\":\"\t\"}", "{\"\xff\":1}", "{\"a\":1\t}", `{"a":"\u00g0"}`, `{"a":"1""2"}`, `{"a":1"2"}`, `{"a":}`, `{"a"}`, `{1:2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var want map[string]json.RawMessage
		wrong := json.Unmarshal(data, &want)
		var got object
		if err := got.parse(data); (err == nil) != (wrong == nil) {
			t.Fatalf("%v, the library says %v", err, wrong)
		}
		if wrong != nil {
			return
		}
		names := map[string]bool{}
		for _, m := range got.members {
			names[string(m.name)] = true
		}
		if len(names) != len(want) {
			t.Fatalf("%d names, want %d", len(names), len(want))
		}
		for name, value := range want {
			raw := got.get(name)
			if string(raw) != string(value) {
				t.Fatalf("a value is %d bytes, want %d", len(raw), len(value))
			}
			var text string
			if raw[0] != '"' || json.Unmarshal(raw, &text) != nil {
				continue
			}
			if read := appendUnquoted(nil, raw); string(read) != text && utf8.Valid(read) {
				t.Fatalf("a string of %d bytes is read as %d", len(text), len(read))
			}
		}
	})
}

// TestAppendUnquoted: what is no text stays none.
func TestAppendUnquoted(t *testing.T) {
	for raw, want := range map[string]string{
		`""`: "", `"a\"\\\/\b\f\n\r\té"`: "a\"\\/\b\f\n\r\té", `"\u00e9\uD83D\uDE00."`: "é😀.", `"\ufffd"`: "\ufffd",
		`"a\ud83d"`: "\xff", `"\ude00"`: "\xff", `"\ud83d\n"`: "\xff", `"\ud83d\u0041"`: "\xff", "\"a\xe9\"": "\xff",
	} {
		if got := string(appendUnquoted([]byte("x"), json.RawMessage(raw))); got != "x"+want {
			t.Errorf("%s: %q, want %q", raw, got, "x"+want)
		}
	}
}
