package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// logOf writes a log of n lines and returns its file and its lines.
func logOf(t *testing.T, n int) (name string, lines []string) {
	t.Helper()
	name = filepath.Join(t.TempDir(), "logs", "audit.jsonl")
	for i := range n {
		mustAppend(t, name, Entry{Event: "unit", Run: "r", Unit: fmt.Sprint("u", i), Counts: &commit.Counts{Rows: int64(i), Masked: int64(i)}})
	}
	return name, linesOf(t, name)
}

func mustAppend(t *testing.T, name string, entries ...Entry) string {
	t.Helper()
	head, err := Append(name, entries...)
	if err != nil {
		t.Fatal(err)
	}
	return head
}

func linesOf(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Collect(strings.Lines(string(data)))
}

func verifyLines(t interface{ Fatal(...any) }, head string, lines ...string) *Report {
	r, err := Verify(strings.NewReader(strings.Join(lines, "")), head)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAuditChain(t *testing.T) {
	name, _ := logOf(t, 3)
	exit := 3
	head := mustAppend(t, name, Entry{Event: "unit", Unit: "x"}, Entry{Event: "end", Exit: &exit})
	lines := linesOf(t, name)
	if len(lines) != 5 {
		t.Fatalf("%d lines, want 5", len(lines))
	}
	r := verifyLines(t, "", lines...)
	if len(r.Findings) > 0 || r.Lines != 5 || r.Head != head {
		t.Errorf("a sound log gives %+v; head %s", r, head)
	}
	// what sha256sum prints is the link
	sum := sha256.Sum256([]byte(lines[3]))
	if !strings.Contains(lines[4], `"prev":"`+hex.EncodeToString(sum[:])+`"`) {
		t.Errorf("line 5 does not hold the hash of line 4: %s", lines[4])
	}
	for _, want := range []string{`"n":5,`, `"event":"end"`, `"exit":3`, fmt.Sprintf(`"uid":%d`, os.Getuid())} {
		if !strings.Contains(lines[4], want) {
			t.Errorf("line 5 lacks %s: %s", want, lines[4])
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
}

// TestAuditTampered wants every change named.
// TestDue: whether bytes are read again hangs on the times of the log alone.
func TestDue(t *testing.T) {
	defer func() { now = time.Now }()
	day := func(n int) { now = func() time.Time { return time.Date(2026, 1, 1+n, 0, 0, 0, 0, time.UTC) } }
	name := filepath.Join(t.TempDir(), "audit.jsonl")
	due := func(after time.Duration) bool {
		t.Helper()
		past, err := ReadPast(name)
		if err != nil {
			t.Fatal(err)
		}
		return past.Due(after)
	}
	const month = 30 * 24 * time.Hour
	if !due(month) || due(-1) {
		t.Error("a log that is not there says that all was read")
	}
	for _, tt := range []struct {
		day     int
		checked bool
		want    bool // at the start of that day
	}{
		{0, true, true}, {0, false, false}, {29, false, false}, {30, false, true}, {40, true, true}, {69, false, false}, {70, true, true},
		{20, false, true}, // the clock was set back
		{71, false, false},
	} {
		day(tt.day)
		mustAppend(t, name, Entry{Event: "start", Unit: fmt.Sprint(tt.day)})
		if got := due(month); got != tt.want {
			t.Errorf("day %d: due %t", tt.day, got)
		}
		if !due(0) || due(-1) {
			t.Errorf("day %d: 0 is not each run, or less than 0 not never", tt.day)
		}
		mustAppend(t, name, Entry{Event: "end", Check: tt.checked})
	}
	if past, err := ReadPast(name); err != nil || len(past.Units) != 8 || !past.Units["69"] {
		t.Errorf("%+v, %v", past, err)
	}
}

// TestAuditClock: a clock that is set back or far ahead between two starts breaks
// nothing.
func TestAuditClock(t *testing.T) {
	defer func() { now = time.Now }()
	name := filepath.Join(t.TempDir(), "audit.jsonl")
	code := 0
	for i, year := range []int{2026, 1970, 2099, 1999} {
		now = func() time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }
		mustAppend(t, name, Entry{Event: "unit", Run: "r", Unit: fmt.Sprint("u", i)}, Entry{Event: "end", Exit: &code})
	}
	if r := verifyLines(t, "", linesOf(t, name)...); len(r.Findings) > 0 || r.Lines != 8 {
		t.Errorf("%+v", r)
	}
}

func TestAuditTampered(t *testing.T) {
	_, l := logOf(t, 8)
	_, o := logOf(t, 8)
	reseal := func(line, from, to string) string {
		body := strings.Replace(line[:len(line)-sumLength]+"}", from, to, 1)
		return fmt.Sprintf("%s%s%x\"}\n", body[:len(body)-1], sumOpens, sha256.Sum256([]byte(body)))
	}
	// a forged line that takes the place of line 5 behind line 4
	forged := reseal(l[4], `"unit":"u4"`, `"unit":"zz"`)
	cases := []struct {
		name  string
		lines []string
		want  []string // line and kind
	}{
		{"sound", l, nil},
		{"empty", nil, nil},
		{"last lines cut", l[:5], nil}, // the head tells, see below
		{"a byte", with(l, 3, strings.Replace(l[3], `"masked":3`, `"masked":4`, 1)), []string{"4 changed"}},
		{"a byte of the last", with(l, 7, strings.Replace(l[7], `"masked":7`, `"masked":8`, 1)), []string{"8 changed"}},
		{"a byte of the first", with(l, 0, strings.Replace(l[0], `"u0"`, `"u9"`, 1)), []string{"1 changed"}},
		{"new sum too", with(l, 3, reseal(l[3], `"masked":3`, `"masked":4`)), []string{"4 changed"}},
		{"two lines", with(with(l, 2, "{}\n"), 5, "nonsense\n"), []string{"3 changed", "6 changed"}},
		{"first removed", l[1:], []string{"1 removed"}},
		{"one removed", slices.Delete(slices.Clone(l), 3, 4), []string{"4 removed"}},
		{"three removed", slices.Delete(slices.Clone(l), 3, 6), []string{"4 removed"}},
		{"neighbours swapped", []string{l[0], l[1], l[3], l[2], l[4], l[5], l[6], l[7]}, []string{"3 removed", "4 inserted"}},
		{"moved back", []string{l[0], l[2], l[3], l[1], l[4], l[5], l[6], l[7]}, []string{"2 removed", "4 inserted"}},
		{"moved ahead", []string{l[0], l[5], l[1], l[2], l[3], l[4], l[6], l[7]}, []string{"2 removed", "3 inserted", "4 inserted", "5 inserted", "6 inserted"}},
		{"a copy", slices.Insert(slices.Clone(l), 5, l[2]), []string{"6 inserted"}},
		{"a forged line", slices.Insert(slices.Clone(l), 4, forged), []string{"5 changed", "6 inserted"}},
		{"a line of another log", slices.Insert(slices.Clone(l), 4, reseal(o[2], `"u2"`, `"o2"`)), []string{"5 inserted"}},
		{"text between", slices.Insert(slices.Clone(l), 4, "# a remark\n"), []string{"5 changed"}},
		{"changed and removed", append(slices.Clone(l[:2]), strings.Replace(l[2], `"u2"`, `"u9"`, 1), l[5], l[6], l[7]), []string{"3 changed", "4 removed"}},
		{"torn, not recorded yet", with(l, 7, l[7][:40]), []string{"8 torn"}},
		{"newline cut off", with(l, 7, strings.TrimSuffix(l[7], "\n")), []string{"8 torn"}},
	}
	for _, c := range cases {
		r := verifyLines(t, "", c.lines...)
		var got []string
		for _, f := range r.Findings {
			got = append(got, fmt.Sprint(f.Line, " ", f.Kind))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: found %q (%v), want %q", c.name, got, r.Findings, c.want)
		}
	}
}

func with(lines []string, i int, line string) []string {
	lines = slices.Clone(lines)
	lines[i] = line
	return lines
}

// TestAuditHead wants a log that lost its end, or was written anew, to be told
// from the one whose head was noted.
func TestAuditHead(t *testing.T) {
	name, _ := logOf(t, 4)
	head := mustAppend(t, name, Entry{Event: "end"})
	mustAppend(t, name, Entry{Event: "start"})
	lines := linesOf(t, name)
	if r := verifyLines(t, head, lines...); len(r.Findings) > 0 || r.Behind != 1 {
		t.Errorf("noted head of line 5: %+v", r)
	}
	_, anew := logOf(t, 9)
	for what, lines := range map[string][]string{"cut": lines[:4], "anew": anew, "empty": nil} {
		r := verifyLines(t, head, lines...)
		if len(r.Findings) != 1 || r.Findings[0].Kind != "removed" || r.Findings[0].Line != len(lines)+1 {
			t.Errorf("%s: %+v", what, r.Findings)
		}
	}
	if r := verifyLines(t, "no hash", lines...); len(r.Findings) != 1 {
		t.Errorf("a head that is none: %+v", r.Findings)
	}
}

// TestAuditAnyChange: whatever single change is made to the bytes in front of
// the last line, the check sees it.
func TestAuditAnyChange(t *testing.T) {
	_, lines := logOf(t, 6)
	whole := []byte(strings.Join(lines, ""))
	rapid.Check(t, func(rt *rapid.T) {
		data := bytes.Clone(whole)
		inner := len(data) - len(lines[5])
		from := rapid.IntRange(0, inner-1).Draw(rt, "from")
		to := rapid.IntRange(from, min(from+400, inner)).Draw(rt, "to")
		with := rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(rt, "with")
		if bytes.Equal(data[from:to], with) {
			rt.Skip("no change")
		}
		data = slices.Replace(data, from, to, with...)
		r, err := Verify(bytes.NewReader(data), "")
		if err != nil {
			rt.Fatal(err)
		}
		if len(r.Findings) == 0 {
			rt.Fatalf("bytes [%d,%d) replaced by %d others: nothing found", from, to, len(with))
		}
	})
}

// TestAuditTorn lets a crash leave any part of a write, twice in a row, and
// wants every whole line kept, the torn ones recorded, and nothing cut.
func TestAuditTorn(t *testing.T) {
	_, lines := logOf(t, 3)
	whole := []byte(strings.Join(lines, ""))
	start := len(whole) - len(lines[2])
	add := func(rt *rapid.T, data []byte, event string) []byte {
		tail, cause := parseAuditTail(data)
		more, err := tail.lines([]Entry{{Event: event}})
		if cause != "" || err != nil {
			rt.Fatal(cause, err)
		}
		return slices.Concat(data, more)
	}
	rapid.Check(t, func(rt *rapid.T) {
		start := start * rapid.IntRange(0, 1).Draw(rt, "lines before")
		data := bytes.Clone(whole[:rapid.IntRange(start, len(whole)).Draw(rt, "kept")])
		if rapid.Bool().Draw(rt, "zeros") {
			data = append(data, make([]byte, len(whole)-len(data))...)
		}
		first := add(rt, data, "start")
		again := first[:rapid.IntRange(len(data), len(first)).Draw(rt, "kept of the second")]
		r := verifyLines(rt, "", string(add(rt, again, "end")))
		if len(r.Findings) > 0 {
			rt.Fatalf("%+v", r)
		}
		tail, _ := parseAuditTail(data)
		if torn := len(tail.torn) > 0; torn != (len(r.Recovered) > 0) && len(again) == len(first) {
			rt.Fatalf("torn %t, recorded by lines %v", torn, r.Recovered)
		}
	})
}

// TestAuditRecovered is the same through a file.
func TestAuditRecovered(t *testing.T) {
	name, lines := logOf(t, 2)
	write(t, name, lines[0]+lines[1][:50])
	head := mustAppend(t, name, Entry{Event: "start"})
	after := linesOf(t, name)
	if len(after) != 4 || after[1] != lines[1][:50]+"\n" || !strings.Contains(after[2], `"event":"recovered","torn":{"bytes":51,`) {
		t.Errorf("lines %q", after)
	}
	r := verifyLines(t, head, after...)
	if len(r.Findings) > 0 || !slices.Equal(r.Recovered, []int{3}) {
		t.Errorf("%+v", r)
	}
	after[1] = strings.Replace(after[1], "e", "f", 1)
	if r := verifyLines(t, head, after...); len(r.Findings) == 0 {
		t.Error("a torn line was changed: nothing found")
	}
	if r := verifyLines(t, head, slices.Delete(after, 1, 2)...); len(r.Findings) == 0 {
		t.Error("a torn line was removed: nothing found")
	}
}

func write(t interface{ Fatal(...any) }, name, data string) {
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestAuditRefuses: nothing is added to a log whose end was changed, nor to
// another file.
func TestAuditRefuses(t *testing.T) {
	name, lines := logOf(t, 3)
	for what, data := range map[string]string{
		"changed":      lines[0] + lines[1] + strings.Replace(lines[2], `"u2"`, `"u9"`, 1),
		"another file": "note_id,text\n",
		"large file":   strings.Repeat("x", 9*maxAuditLine),
	} {
		write(t, name, data)
		_, err := Append(name, Entry{Event: "start"})
		if _, ok := errors.AsType[*durable.IntegrityError](err); !ok {
			t.Errorf("%s: %v, want an IntegrityError", what, err)
		}
		if have, _ := os.ReadFile(name); string(have) != data {
			t.Errorf("%s: the file was changed", what)
		}
	}
	if _, err := Append(name+"/below/audit.jsonl", Entry{}); err == nil {
		t.Error("a log below a file was made")
	}
}

// TestAuditTogether has several writers add to one log.
func TestAuditTogether(t *testing.T) {
	name := filepath.Join(t.TempDir(), "audit.jsonl")
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := range 10 {
				if _, err := Append(name, Entry{Event: "unit", Unit: fmt.Sprint(w, i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	f, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if r, err := Verify(f, ""); err != nil || r.Lines != 40 || len(r.Findings) > 0 {
		t.Errorf("%+v, %v; want 40 sound lines", r, err)
	}
}

// TestCheckAudit wants Check to know the log of a tree, and to see when it was
// changed.
func TestCheckAudit(t *testing.T) {
	dir := t.TempDir()
	out := commit.Output{Dir: filepath.Join(dir, "out"), Private: filepath.Join(dir, "private")}
	if _, err := commit.RunUnits(t.Context(), new(commit.Plan), out, nil, commit.UnitOptions{}); err != nil {
		t.Fatal(err)
	}
	dir = out.Private
	name := filepath.Join(dir, Name)
	mustAppend(t, name, Entry{Event: "start"}, Entry{Event: "end"})
	// A run that read no note has no _SUCCESS, and none is missing.
	wants := func(what string, wrong ...string) {
		t.Helper()
		diffs, err := commit.Check(t.Context(), dir, InTree...)
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, d := range diffs {
			all = append(all, d.String())
		}
		if !slices.Equal(all, wrong) {
			t.Errorf("%s: %q, want %q", what, all, wrong)
		}
	}
	wants("sound log")
	lines := linesOf(t, name)
	write(t, name, lines[1])
	wants("log without its first line", "changed: "+Name)
	write(t, filepath.Join(dir, "_audit", "more"), "")
	page := filepath.Join(dir, filepath.FromSlash(PageName))
	write(t, page, string(SealPage([]byte("<html></html>\n"))))
	wants("sound page", "changed: "+Name, "unknown: _audit/more")
	for what, text := range map[string]string{
		"a letter more": "<html>x</html>\n" + string(SealPage([]byte("<html></html>\n")))[len("<html></html>\n"):],
		"cut off":       "<html></html>\n", "nothing": "", "another seal": string(SealPage([]byte("y"))) + " ",
	} {
		write(t, page, text)
		wants(what, "changed: "+Name, "unknown: _audit/more", "changed: "+PageName)
	}
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	wants("another file beside the log", "changed: "+Name, "unknown: _audit/more")
}

func FuzzVerifyAudit(f *testing.F) {
	name := filepath.Join(f.TempDir(), "audit.jsonl")
	for range 3 {
		if _, err := Append(name, Entry{Event: "unit"}); err != nil {
			f.Fatal(err)
		}
	}
	sound, err := os.ReadFile(name)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sound)
	f.Add(sound[:len(sound)-9])
	f.Add([]byte("{}\n\n\x00\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Verify(bytes.NewReader(data), "")
		if err != nil {
			t.Fatal(err)
		}
		if lines := slices.Collect(bytes.Lines(data)); len(lines) > r.Lines {
			t.Errorf("%d lines, %d seen", len(lines), r.Lines)
		}
		if tail, _ := parseAuditTail(data); tail.n == 0 && len(tail.torn) != len(data) {
			t.Errorf("no whole line, %d of %d bytes torn", len(tail.torn), len(data))
		}
	})
}
