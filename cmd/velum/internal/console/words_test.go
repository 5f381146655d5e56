package console

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestProgressWords: digits of the speed below ten a second, no time left at the end, no speed without time, no total where there is none.
func TestProgressWords(t *testing.T) {
	for _, c := range []struct {
		total, ahead, done int64
		seconds            time.Duration
		said, want         string
	}{
		{4000, 0, 0, 0, "", "0 of 4000 notes"},
		{4000, 0, 100, 0, "", "100 of 4000 notes"},
		{4000, 0, 19, 2, "", "19 of 4000 notes, 9.50/s, 6m59s left"}, // 3981 / 9.5 = 419.05
		{4000, 0, 20, 2, "", "20 of 4000 notes, 10/s, 6m38s left"},
		{4000, 0, 3990, 100, "F1 .9", "3990 of 4000 notes, 40/s, 0s left, F1 .9"},
		{4000, 0, 4000, 10, "", "4000 of 4000 notes, 400/s"},
		{4000, 3000, 3500, 5, "", "3500 of 4000 notes, 100/s, 5s left"},
		{0, 0, 7, 1, "", "7 notes, 7.00/s"},
		{6, 0, 7, 1, "", "7 notes, 7.00/s"},
	} {
		p, _, tick := clocked(false)
		p.total, p.ahead, p.done, p.said = c.total, c.ahead, c.done, c.said
		tick(c.seconds * time.Second)
		if got := p.words(); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// TestDue: a line is due ten seconds after the last, of Say as of Add; End always tells.
func TestDue(t *testing.T) {
	p, out, tick := clocked(false)
	lines := func() int { return bytes.Count(out.Bytes(), []byte("\n")) }
	for i, step := range []struct {
		after time.Duration
		do    func()
		lines int
	}{
		{every - 1, func() { p.Add(1) }, 0}, {1, func() { p.Say("x") }, 1}, {every - 1, func() { p.Say("y") }, 1}, {1, func() { p.Add(1) }, 2},
		{every, func() { p.Skip(1) }, 3}, {0, p.End, 4},
	} {
		tick(step.after)
		if step.do(); lines() != step.lines {
			t.Errorf("step %d: %d lines, want %d", i, lines(), step.lines)
		}
	}
}

// TestNoTerminal: what is no terminal is not painted, shows no bar and asks nobody.
func TestNoTerminal(t *testing.T) {
	var out strings.Builder
	c := &Console{In: strings.NewReader(""), Out: &out, Errs: &out, Env: []string{"TERM=xterm", "A=1=2"}}
	if c.Asks() || c.Paint(&out, 31, "x") != "x" || c.NewProgress("mask", "notes", 1).bar != nil || wide(&out) {
		t.Error("a buffer is taken for a terminal")
	}
	if c.getenv("A") != "1=2" || c.getenv("B") != "" || c.getenv("TERM") != "xterm" {
		t.Error("the environment is read wrongly")
	}
}

// TestTable: two columns in, two between, the last one wrapped below itself; names of columns that take more than half of the width put
// the rest of a row below.
func TestTable(t *testing.T) {
	words := strings.TrimSpace(strings.Repeat("abc ", 30))
	for _, c := range []struct {
		name string
		rows [][]string
		want []string
	}{
		{"short", [][]string{{"a", "bb"}, {"ccc ", "d"}}, []string{"  a    bb", "  ccc  d"}},
		{"wrapped", [][]string{{"ñ", words}}, []string{"  ñ  " + words[:75] + "\n     " + words[76:]}},
		{"38 wide", [][]string{{strings.Repeat("x", 36), "y"}}, []string{"  " + strings.Repeat("x", 36) + "  y"}},
		{"39 wide", [][]string{{strings.Repeat("x", 37), "y", " "}}, []string{"  " + strings.Repeat("x", 37) + "\n      y"}},
		{"a row that is shorter", [][]string{{"a", "b", "c"}, {"dd", "e"}}, []string{"  a   b  c", "  dd  e"}},
	} {
		if got := table(c.rows); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
