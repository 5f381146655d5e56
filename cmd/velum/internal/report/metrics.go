package report

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/pipeline/tally"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// Metrics is the file of a run for Prometheus, which the textfile
// collector of node_exporter reads: a run ends before anybody could scrape it.
// There are counts and times and nothing else: no ids, no paths, no months.
//
// What everybody may read has what the public tree says: spans by category,
// notes by what became of them. Reasons, sources and languages are functions of
// the hidden words, and stand in the file of its own that only its owner reads.
type Metrics struct {
	Version  string // of velum
	Exit     exit.Code
	Began    time.Time
	Ended    time.Time
	Counts   *commit.Counts // of the whole output; nil if the run did not get so far
	NotesNow int64          // notes of units done now
	UnitsNow int
	Reused   int // units found done
}

const (
	lastSuccess = "velum_run_last_success_timestamp_seconds"

	// maxMetrics bounds what is read of an old file.
	maxMetrics = 1 << 20
)

// succeeded tells whether the run counts as a success for the time of the last
// one. Exit code 3 does not, though its output is whole: somebody has to look.
func (m *Metrics) succeeded() bool { return m.Exit == exit.Done || m.Exit == exit.Nothing }

// Write replaces the file by one rename, so that no reader sees half of it.
// The time of the last success stays if this run was none. Everybody may read
// the file, since the collector runs as another user, unless it is private: then
// it has all counts.
func (m *Metrics) Write(path string, private bool) error {
	success, err := readLastSuccess(path)
	if err != nil {
		return err
	}
	if m.succeeded() {
		success = unixSeconds(m.Ended)
	}
	// The collector reads names that end in .prom: this one does not.
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(m.text(success, private))
	mode := fs.FileMode(0o644)
	if private {
		mode = 0o600
	}
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return durable.OS.SyncDir(filepath.Dir(path))
}

// readLastSuccess returns the time of the last success as an older run wrote
// it, "" if there was none.
func readLastSuccess(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxMetrics))
	if err := errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	for line := range bytes.Lines(data) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		if x, err := strconv.ParseFloat(value, 64); name == lastSuccess && err == nil && x > 0 && !math.IsInf(x, 0) {
			return value, nil
		}
	}
	return "", nil
}

// unixSeconds writes a time as Prometheus wants it.
func unixSeconds(t time.Time) string { return decimal(float64(t.UnixMilli()) / 1000) }

func decimal(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }

// text returns the file. success is the time of the last success, "" if there
// was none.
func (m *Metrics) text(success string, private bool) []byte {
	var w metricWriter
	seconds := max(0, m.Ended.Sub(m.Began).Seconds())
	w.gauge("velum_build_info", "Version of velum that ran last.", sample{1, []string{"version", m.Version}})
	w.gauge("velum_run_exit_code", "Exit code of the last run: 0 done, 3 more in quarantine than allowed, 4 nothing to do, others failed.", sample{value: float64(m.Exit)})
	w.gauge("velum_run_end_timestamp_seconds", "When the last run ended.", sample{value: float64(m.Ended.UnixMilli()) / 1000})
	if success != "" {
		w.help(lastSuccess, "When the last run ended that was done or had nothing to do.")
		fmt.Fprintf(&w, "%s %s\n", lastSuccess, success)
	}
	w.gauge("velum_run_seconds", "How long the last run took.", sample{value: math.Round(seconds*1000) / 1000})
	w.gauge("velum_run_notes_per_second", "Notes that the last run masked a second, those found done left out.", sample{value: math.Round(float64(m.NotesNow) / max(seconds, 0.001))})
	w.gauge("velum_run_units", "Units of work of the last run.", sample{float64(m.UnitsNow), []string{"state", "done"}}, sample{float64(m.Reused), []string{"state", "reused"}})
	if m.Counts != nil {
		w.outcomes(m.Counts)
		if private {
			w.reasons(m.Counts)
		}
		w.tallies(m.Counts, private)
	}
	return w.Bytes()
}

// metricWriter writes the text format of Prometheus, version 0.0.4.
type metricWriter struct{ bytes.Buffer }

// sample is a value with pairs of a label and its value.
type sample struct {
	value  float64
	labels []string
}

func (w *metricWriter) help(name, help string) {
	fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s gauge\n", name, help, name)
}

func (w *metricWriter) gauge(name, help string, samples ...sample) {
	w.help(name, help)
	for _, s := range samples {
		var labels []string
		for pair := range slices.Chunk(s.labels, 2) {
			labels = append(labels, fmt.Sprintf("%s=%q", pair[0], labelValue(pair[1])))
		}
		at := ""
		if len(labels) > 0 {
			at = "{" + strings.Join(labels, ",") + "}"
		}
		fmt.Fprintf(w, "%s%s %s\n", name, at, decimal(s.value))
	}
}

// labelValue keeps what our own label values are made of, so that quoting them
// as Go does is quoting them as Prometheus does.
func labelValue(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
}

// outcomes writes what became of the notes.
func (w *metricWriter) outcomes(c *commit.Counts) {
	w.gauge("velum_run_notes_read", "Notes of the output of the last run before they were masked.", sample{value: float64(c.Rows)})
	w.gauge("velum_run_notes", "Notes of the output of the last run, by what became of them.",
		sample{float64(c.Masked), []string{"outcome", "masked"}}, sample{float64(c.Quarantined), []string{"outcome", "quarantined"}})
}

// reasons writes why notes are in quarantine. Every reason is there, zero too: a
// series that comes and goes cannot be alerted on.
func (w *metricWriter) reasons(c *commit.Counts) {
	var reasons []sample
	for r := range pipeline.Reasons() {
		if name := pipeline.Reason(r).String(); pipeline.Reason(r) != pipeline.Sound {
			reasons = append(reasons, sample{float64(c.Reasons[name]), []string{"reason", name}})
		}
	}
	w.gauge("velum_run_quarantined_notes", "Notes of the output of the last run that are in quarantine, by reason.", reasons...)
}

// tallies writes what else is counted of the notes.
func (w *metricWriter) tallies(c *commit.Counts, private bool) {
	for _, g := range []struct {
		of         tally.Of
		public     bool
		name, help string
	}{
		{tally.Category, true, "velum_run_spans", "Spans masked in the output of the last run, by category."},
		{tally.Source, false, "velum_run_spans_by_source", "Spans masked in the output of the last run, by who found them."},
		{tally.Language, false, "velum_run_notes_by_language", "Notes masked in the output of the last run, by language."},
	} {
		var samples []sample
		counts := c.Tally.By(g.of)
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			samples = append(samples, sample{float64(counts[name]), []string{string(g.of), cmp.Or(name, "unknown")}})
		}
		if len(samples) > 0 && (private || g.public) {
			w.gauge(g.name, g.help, samples...)
		}
	}
}
