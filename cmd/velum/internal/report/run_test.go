package report_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/cmd/velum/internal/run"
)

var update = flag.Bool("update", false, "write the golden files anew; read the difference before you commit it")

// archive is one of forty invented notes of seven patients.
func archive() string {
	b := []byte("codigo,paciente,fecha,centro,nota\n")
	for i := range 40 {
		note := []string{
			fmt.Sprintf("Acude Ana Puig de Olot por tos desde el 12/03/2014. Tel 600 123 4%02d", i),
			fmt.Sprintf("Paciente de %d años, Juan García López, DNI 12345678Z", 20+i),
			"Control sin cambios. Dr. Pere Mas",
			fmt.Sprintf("Refiere dolor desde hace 3 dias, vive en C/ Mayor %d, Reus", i),
			"Enfermedad de Pompe, es alcaldesa de Olot", "", "Pasa ana.puig@ejemplo.es con CIP PUVI1920704011",
		}[i%7]
		b = fmt.Appendf(b, "n%d,%d,2014-03-%02d,C%d,\"%s\"\n", i, i%5, 1+i%28, i%3, note)
	}
	return string(b)
}

// volatile is what is not the same in every run: sums, names made of them, times and speeds.
var volatile = regexp.MustCompile(`(per_second|timestamp_seconds|_seconds|seconds_total|_bytes|\"seconds\":|us_a_note\":) ?[0-9.e+-]+|[0-9a-f]{12,}|part-[-0-9a-f]+|\d+-\d\d-\d\dT[0-9:.]+Z|20\d\d-\d\d-\d\d( \d\d:\d\d)?|\d+(\.\d+)? ?(s|ms|MB|notes/s)\b|go1\.[0-9.]+|/tmp/[^ "<]*`)

// masked runs an archive of CSV files. The options are set as KEY=VALUE.
func masked(t *testing.T, o run.Options, set ...string) {
	t.Helper()
	c := &console.Console{Out: io.Discard, Errs: io.Discard}
	c.StartLog()
	if err := run.Mask(context.Background(), c, func() (*option.Config, error) {
		return option.Load(option.Sources{}.With(append([]string{"read.columns.id=codigo", "read.columns.text=nota", "read.columns.patient=paciente", "read.columns.date=fecha", "write.max_quarantined=1", "run.workers=1"}, set...)))
	}, &o); exit.CodeOf(err) != exit.Done && exit.CodeOf(err) != exit.Nothing {
		t.Fatal(err)
	}
}

// tree writes the tables, lists and texts below a folder, what is volatile left out.
func tree(t *testing.T, b *bytes.Buffer, dir string, want func(name string) bool) {
	t.Helper()
	var names []string
	if err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && want(filepath.ToSlash(name)) {
			names = append(names, name)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(b, "-- %s\n", volatile.ReplaceAllString(filepath.ToSlash(name), "*"))
		if !strings.HasSuffix(name, ".parquet") {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(data)
			b.WriteByte('\n')
			continue
		}
		rows, err := parquet.ReadFile[any](name)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			fmt.Fprintln(b, row.(map[string]any)["note_id"], row.(map[string]any)["choice"])
		}
	}
}

// golden holds what was written against testdata/NAME.golden.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	got = volatile.ReplaceAll(got, []byte("*"))
	path := filepath.Join(home, "testdata", name+".golden")
	if *update {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		a, b := bytes.Split(got, []byte("\n")), bytes.Split(want, []byte("\n"))
		for i := range min(len(a), len(b)) {
			if !bytes.Equal(a[i], b[i]) {
				t.Fatalf("%s, line %d:\n got %s\nwant %s\nrun with -update and read the difference", path, i+1, a[i], b[i])
			}
		}
		t.Fatalf("%s: %d lines, want %d", path, len(a), len(b))
	}
}

var home, _ = os.Getwd()

// TestPages has the whole reports and pages of runs, in three languages, without what is volatile.
func TestPages(t *testing.T) {
	for name, set := range map[string][]string{
		"en": {"report.lang=en"},
		"es": {"report.lang=es", "choose.use=false", "tag.fast=true"},
		"ca": {"report.lang=ca", "mask.policy=research", "key.file=key", "mask.purpose=test", "anonymity.k=2", "read.keep=centro", "anonymity.columns=centro=value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if err := errors.Join(os.Mkdir("in", 0o700), os.WriteFile("in/a.csv", []byte(archive()), 0o600), os.WriteFile("key", bytes.Repeat([]byte("0123456789abcdef"), 4), 0o600)); err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			masked(t, run.Options{In: []string{"in"}, Out: "out", Record: run.RecordOptions{Metrics: "metrics.prom"}}, set...)
			if err := os.WriteFile("in/b.csv", []byte("codigo,paciente,fecha,centro,nota\nx1,9,2014-05-05,C1,Avisar al 600 123 456\nx1,9,2014-05-05,C1,Tos\nx2,9\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			masked(t, run.Options{In: []string{"in"}, Out: "out", Record: run.RecordOptions{Metrics: "metrics.prom"}}, set...)
			tree(t, &b, ".", func(name string) bool {
				return strings.HasPrefix(name, "out.private/report.") || name == "out/report.json"
			})
			golden(t, name, b.Bytes())
		})
	}
}
