package report

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// Metrics is the file of a run for Prometheus, which the textfile
// collector of node_exporter reads: a run ends before anybody could scrape it.
// There are counts and times and nothing else: no ids, no paths, no months.
//
// Everybody may read it, so it has what the public tree says: spans by category, notes by what became of them. Reasons,
// sources and languages are functions of the hidden words: report.json of the private tree has them.
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
// The time of the last success stays if this run was none. Everybody may read the file, since the collector runs as another user.
func (m *Metrics) Write(path string) error {
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
	_, err = f.Write(m.text(success))
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
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

// metricsText is the text format of Prometheus, version 0.0.4.
//
//go:embed metrics.prom
var metricsText string

var metricsTemplate = template.Must(template.New("metrics").Funcs(template.FuncMap{
	"unix": unixSeconds, "decimal": decimal, "label": func(s string) string { return fmt.Sprintf("%q", labelValue(cmp.Or(s, "unknown"))) },
}).Parse(metricsText))

// text returns the file. success is the time of the last success, "" if there was none.
func (m *Metrics) text(success string) []byte {
	seconds := max(0, m.Ended.Sub(m.Began).Seconds())
	var text bytes.Buffer
	if err := metricsTemplate.Execute(&text, struct {
		*Metrics
		Success        string
		Seconds, Speed float64
	}{m, success, math.Round(seconds*1000) / 1000, math.Round(float64(m.NotesNow) / max(seconds, 0.001))}); err != nil {
		panic(err) // the template is ours, and a buffer takes all
	}
	return text.Bytes()
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
