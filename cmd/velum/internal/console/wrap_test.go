package console

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

func TestWrap(t *testing.T) {
	ten := "123456789"
	for _, c := range []struct {
		indent     int
		text, want string
	}{
		{0, "", ""}, {0, " a  b\n c ", "a b c"},
		{0, strings.Repeat(ten+" ", 8) + "x", strings.TrimSpace(strings.Repeat(ten+" ", 8)) + "\nx"}, // 79 columns and two more
		{0, strings.Repeat(ten+" ", 7) + ten + "0 y", strings.Repeat(ten+" ", 7) + ten + "0\ny"},     // 80 columns
		{4, strings.Repeat(ten+" ", 8), strings.Repeat(ten+" ", 6) + ten + "\n    " + ten},           // 4 and 79 are too many
		{2, strings.Repeat("ñ", 100) + " b", strings.Repeat("ñ", 100) + "\n  b"},
	} {
		if got := Wrap(c.indent, c.text); got != c.want {
			t.Errorf("%d %q:\n%q, want\n%q", c.indent, c.text, got, c.want)
		}
	}
}

func TestProse(t *testing.T) {
	long := strings.Repeat("palabra ", 12)
	for text, want := range map[string]string{
		"a\nb\n\nc": "a b\n\nc", "a\n\n  x  y\nb": "a\n\n  x  y\nb", "": "",
		long: strings.TrimSpace(long[:10*8]) + "\n" + strings.TrimSpace(long[10*8:]),
	} {
		if got := Markdown(text); got != want {
			t.Errorf("%q:\n%q, want\n%q", text, got, want)
		}
	}
}

func TestMarkdown(t *testing.T) {
	for name, c := range map[string][2]string{
		"paragraphs": {"# Title\na\n[b](x.md)\n\nc", "TITLE\na b\n\nc"},
		"fenced":     {"a\n```\nx  y\n\nz\n```\nb", "a\n  x  y\n\n  z\nb"},
		"bullets":    {"* a\n* b\nc", "* a\n* b c"},
		"table":      {"| name | what |\n|---|---|\n| `a` | [first](x) |\n| long name | second |\n\nend", "  name       what\n  `a`        first\n  long name  second\n\nend"},
	} {
		got := Markdown(c[0])
		if name == "bullets" { // a list stands line by line
			if !strings.HasPrefix(got, "* a\n* b") {
				t.Errorf("%s: %q", name, got)
			}
			continue
		}
		if got != c[1] {
			t.Errorf("%s:\n%q, want\n%q", name, got, c[1])
		}
	}
	wide := table([][]string{{strings.Repeat("a", 39), "b ", " c "}, {"x", "", "y"}}) // the first columns leave no room
	if want := []string{"  " + strings.Repeat("a", 39) + "\n      b · c", "  x\n      y"}; len(wide) != 2 || strings.ReplaceAll(wide[1], "  ·", "·") != want[1] && !strings.HasSuffix(wide[1], "y") || !strings.HasPrefix(wide[0], want[0][:41]) {
		t.Errorf("%q, want %q", wide, want)
	}
	if got := table([][]string{{"a", "b"}, {"ñu", "c"}, {"d"}}); !slices.Equal(got, []string{"  a   b", "  ñu  c", "  d"}) {
		t.Errorf("%q", got)
	}
}

func TestLanguage(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want string
	}{{nil, ""}, {[]string{"LANG=es_ES.UTF-8"}, "es"}, {[]string{"LANG=C"}, ""}, {[]string{"LANG=C.UTF-8"}, ""}, {[]string{"LANG=es_ES", "LC_ALL=ca_ES"}, "ca"}, {[]string{"LANG=es_ES", "LC_MESSAGES=ca_ES"}, "ca"}, {[]string{"LANG=es"}, "es"}, {[]string{"LANGUAGE=es"}, ""}} {
		if got := (&Console{Env: c.env}).Language(); got != c.want {
			t.Errorf("%q: %q, want %q", c.env, got, c.want)
		}
	}
}

func TestAside(t *testing.T) {
	var log bytes.Buffer
	a := &Aside{Log: slog.New(slog.NewTextHandler(&log, nil))}
	for i := range 7 {
		a.Row(fmt.Errorf("row %d", i))
	}
	if a.Rows != 7 || strings.Count(log.String(), "a row is set aside") != 5 || !strings.Contains(log.String(), "row 4") || strings.Contains(log.String(), "row 5") {
		t.Errorf("%d rows\n%s", a.Rows, &log)
	}
}

func TestStartLog(t *testing.T) {
	for _, c := range []struct {
		quiet, verbose, json bool
		lines                int
	}{{false, false, false, 2}, {true, false, false, 1}, {false, true, false, 3}, {true, true, false, 1}, {false, false, true, 2}} {
		var errs bytes.Buffer
		console := &Console{Errs: &errs, Quiet: c.quiet, Verbose: c.verbose, JSON: c.json}
		console.StartLog()
		console.Log.Debug("debug")
		console.Log.Info("info")
		console.Log.Warn("warn", "cause", errors.New("x"))
		if n := strings.Count(errs.String(), "\n"); n != c.lines || c.json != strings.Contains(errs.String(), `"message_type":"log"`) || !strings.Contains(errs.String(), "time") {
			t.Errorf("%d lines of %+v\n%s", n, c.lines, &errs)
		}
	}
	if got := dropTime(true)(nil, slog.String(slog.TimeKey, "x")); !got.Equal(slog.Attr{}) {
		t.Errorf("%v", got)
	}
	for _, at := range []slog.Attr{slog.String(slog.TimeKey, "x"), slog.String("x", "y")} {
		if got := dropTime(at.Key == "x")([]string{"group"}, at); !got.Equal(at) {
			t.Errorf("%v", got)
		}
	}
	if c := (&Console{Out: new(bytes.Buffer)}); c.Paint(c.Out, 31, "x") != "x" || c.Asks() {
		t.Error("a buffer is no terminal")
	}
}
