package console

import (
	"bytes"
	"strings"
	"testing"
)

// TestTell: the text is made of the JSON, numbers stay whole, columns are aligned, and no name moves the cursor.
func TestTell(t *testing.T) {
	v := map[string]any{"file": "a\x1b[2Jb\n", "rows": 1234567, "share": .25, "all": []any{"x", map[string]any{"n": 2}}, "big": uint64(1) << 63}
	for _, c := range []struct{ text, want string }{
		{"{{.file}}|", "a [2Jb |"}, {"{{.rows}}", "1234567"}, {`{{printf "%5d" .rows}}`, "1234567"}, {`{{figure "%.1f" .rows}}`, "1234567.0"},
		{`{{figure "%.2f" .share}}`, "0.25"}, {`{{times 100 .share | figure "%.4g"}}`, "25"}, {`{{figure "%g" .missing}}`, "0"}, {`{{or .missing "-"}}`, "-"},
		{`{{range $i, $x := .all}}{{next $i}}{{end}}`, "12"}, {`{{(index .all 1).n}}`, "2"}, {`{{figure "%.3g" .big}}`, "9.22e+18"},
		{"a\tbb\tc\naaa\tb\tc\n", "a    bb  c\naaa  b   c\n"}, {`{{paint 31 "x"}}`, "x"},
		{`{{rate .5}} {{rate .75}} {{rate .4}} {{rate .3}} {{rate .0101}}`, "5 in 10 notes 7.5 in 10 notes 1 note in 2 1 note in 3 1 note in 99"},
	} {
		var out bytes.Buffer
		if err := (&Console{Out: &out}).Tell(v, c.text); err != nil || out.String() != c.want {
			t.Errorf("%s: %q, %v, want %q", c.text, &out, err, c.want)
		}
	}
	var out bytes.Buffer
	if err := (&Console{Out: &out, JSON: true}).Tell(v, "text"); err != nil || !strings.HasPrefix(out.String(), `{"all":["x",{"n":2}],"big":9223372036854775808,"file":`) {
		t.Errorf("%s, %v", &out, err)
	}
	for _, wrong := range []string{"{{", "{{.rows.x}}", "{{nothing}}"} {
		if err := (&Console{Out: &out}).Tell(v, wrong); err == nil {
			t.Errorf("%q is taken", wrong)
		}
	}
	if err := (&Console{Out: &out}).Tell(func() {}, ""); err == nil {
		t.Error("a function is taken")
	}
}
