package report

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/commit"
)

var midnight = time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)

func nightMetrics() *Metrics {
	return &Metrics{
		Version: "dev",
		Began:   midnight, Ended: midnight.Add(300*time.Second + 250*time.Millisecond), NotesNow: 30_000_000, UnitsNow: 120, Reused: 3,
		Counts: &commit.Counts{
			Rows: 32_900_000, Masked: 32_899_990, Quarantined: 10, Reasons: map[string]int64{"too_long": 7, "bad_encoding": 3},
			Tally: map[string]int64{"category/PERSON": 41, "category/DATE": 7, "source/model": 48, "language/es": 9, "language/": 1, "with_spans": 5},
		},
	}
}

func TestMetricsGolden(t *testing.T) {
	got := nightMetrics().text("1767312300.25")
	name := filepath.Join("testdata", "metrics.prom")
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("metrics are\n%s\nwant those of %s", got, name)
	}
}

// TestTimeless: two runs of the same notes say the same but for when they were.
func TestTimeless(t *testing.T) {
	later := nightMetrics()
	later.Began, later.Ended = later.Began.Add(time.Hour), later.Ended.Add(2*time.Hour)
	a, b := nightMetrics().text("1"), later.text("2")
	if bytes.Equal(a, b) || !bytes.Equal(timeless(a), timeless(b)) {
		t.Errorf("%s\nand\n%s", timeless(a), timeless(b))
	}
	if later.Counts.Tally["category/PERSON"]++; bytes.Equal(timeless(a), timeless(later.text("2"))) {
		t.Error("a count is missing")
	}
}

// metricLine is the text format, version 0.0.4, of a sample.
var metricLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*"(?:,[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\["\\n])*")*\})? ([^ ]+)$`)

// lintMetrics is what `promtool check metrics` looks at: every name once, with
// help and type in front, samples of one name together and different, numbers
// as values, no name that says counter and is none.
func lintMetrics(t interface{ Errorf(string, ...any) }, text string) {
	if !strings.HasSuffix(text, "\n") {
		t.Errorf("the last line has no end")
	}
	helped, typed, sampled := map[string]bool{}, map[string]bool{}, map[string]bool{}
	last := ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		fields := strings.SplitN(line, " ", 4)
		switch {
		case strings.HasPrefix(line, "# HELP ") && len(fields) == 4 && fields[3] != "":
			if helped[fields[2]] {
				t.Errorf("%s has help twice", fields[2])
			}
			helped[fields[2]], last = true, fields[2]
		case strings.HasPrefix(line, "# TYPE "):
			if fields[2] != last || len(fields) != 4 || fields[3] != "gauge" || strings.HasSuffix(last, "_total") {
				t.Errorf("type %q behind help of %s", line, last)
			}
			typed[last] = true
		default:
			m := metricLine.FindStringSubmatch(line)
			if m == nil || m[1] != last || !typed[last] || sampled[m[1]+m[2]] {
				t.Errorf("sample %q behind %s", line, last)
				continue
			}
			sampled[m[1]+m[2]] = true
			if x, err := strconv.ParseFloat(m[3], 64); err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
				t.Errorf("value of %q", line)
			}
		}
	}
}

func TestMetricsLint(t *testing.T) {
	lintMetrics(t, string(nightMetrics().text("1")))
	lintMetrics(t, string((&Metrics{Version: "dev", Exit: exit.DiskFull}).text("")))
	rapid.Check(t, func(t *rapid.T) {
		m := nightMetrics()
		m.Exit = rapid.SampledFrom(exit.Codes).Draw(t, "code")
		m.Ended = m.Began.Add(time.Duration(rapid.Int64().Draw(t, "time")))
		m.Counts.Tally = rapid.MapOf(rapid.StringMatching(`(category|source|language)/[\x00-\x{7ff}]{0,5}`), rapid.Int64()).Draw(t, "tally")
		text := string(m.text("1.5"))
		names := map[string]bool{} // tallies that differ in unprintable characters only become one name
		for line := range strings.Lines(text) {
			if strings.Contains(line, "?") && names[line[:strings.LastIndexByte(line, ' ')]] {
				t.Skip("names that no category has")
			}
			if i := strings.LastIndexByte(line, ' '); i > 0 {
				names[line[:i]] = true
			}
		}
		lintMetrics(t, text)
	})
}

// TestMetricsSuccess: a run that failed keeps the time of the last success.
func TestMetricsSuccess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "velum.prom")
	put := func(code exit.Code, end time.Time) string {
		t.Helper()
		if err := (&Metrics{Version: "dev", Exit: code, Began: midnight, Ended: end}).Write(path); err != nil {
			t.Fatal(err)
		}
		got, err := readLastSuccess(path)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	day := func(n int) time.Time { return midnight.AddDate(0, 0, n) }
	if got := put(exit.Failed, day(0)); got != "" {
		t.Errorf("first run failed: last success %q, want none", got)
	}
	first := put(exit.Done, day(1))
	if first != unixSeconds(day(1)) {
		t.Errorf("last success %q, want %q", first, unixSeconds(day(1)))
	}
	for i, code := range []exit.Code{exit.Failed, exit.Quarantined, exit.Config, exit.Locked, exit.DiskFull, exit.Privacy, exit.Terminated} {
		if got := put(code, day(2+i)); got != first {
			t.Errorf("after exit code %d: last success %q, want %q", code, got, first)
		}
	}
	if got := put(exit.Nothing, day(10)); got != unixSeconds(day(10)) {
		t.Errorf("nothing to do: last success %q, want %q", got, unixSeconds(day(10)))
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("mode %v, %v; the collector is another user", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	// a file that somebody broke is replaced
	for _, text := range []string{"", "\x00\x01", lastSuccess + " NaN\n", lastSuccess + " yesterday\n", lastSuccess} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := put(exit.Failed, day(11)); got != "" {
			t.Errorf("old file %q: last success %q", text, got)
		}
	}
	if err := (&Metrics{}).Write(filepath.Join(path, "below")); err == nil {
		t.Error("a file below a file was written")
	}
}

// timed are the metrics that say when a run was and how fast.
var timed = []string{"velum_run_end_timestamp_seconds", lastSuccess, "velum_run_seconds", "velum_run_notes_per_second"}

// timeless returns a file of metrics without the values that are another in
// every run.
func timeless(file []byte) (rest []byte) {
	for line := range bytes.Lines(file) {
		name, _, _ := strings.Cut(string(line), " ")
		if !slices.Contains(timed, name) {
			rest = append(rest, line...)
		}
	}
	return rest
}
