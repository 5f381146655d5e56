package anonymize

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/write/table"
	"github.com/velum-health/velum/stages/write/unit"
)

// kept are the columns of the rows of these tests.
var kept = []pipeline.Column{{Name: "age", Kind: pipeline.Int64Column}, {Name: "center", Kind: pipeline.BytesColumn}, {Name: "date", Kind: pipeline.BytesColumn}}

// rowSource makes rows of a unit without notes: who has a row is one of a sixth as many people as there are rows in all, each
// with an age and a centre, and the day is one of two years.
type rowSource struct {
	rng       *rand.Rand
	unit      int64
	row, rows int64
	people    int64
}

func (s *rowSource) Next(b *pipeline.Batch) error {
	if s.row == s.rows {
		return io.EOF
	}
	if b.First = s.row; len(b.Extra) == 0 {
		b.Extra = append(append(b.Extra, kept...), pipeline.Column{Name: input.PatientColumn, Kind: pipeline.BytesColumn})
	}
	for n := 0; n < 4096 && s.row < s.rows; n++ {
		person := s.rng.Int64N(s.people)
		b.ID.Append(strconv.AppendInt(nil, s.unit*10_000_000+s.row, 10))
		b.Text.End()
		b.Tokens.End()
		b.Spans.End()
		b.Masked.End()
		b.Places.End()
		b.Reason = append(b.Reason, pipeline.Sound)
		b.Extra[0].Fixed = append(b.Extra[0].Fixed, uint64(person*7919%100))
		b.Extra[1].Bytes.Append(fmt.Appendf(nil, "center %d", person%40*person%40))
		b.Extra[2].Bytes.Append(time.Date(2024, 1, 1+s.rng.IntN(730), 0, 0, 0, 0, time.UTC).AppendFormat(nil, time.DateOnly))
		b.Extra[3].Bytes.Append(strconv.AppendInt(nil, person, 10))
		for k := range b.Extra {
			b.Extra[k].Valid = append(b.Extra[k].Valid, true)
		}
		b.Seal(b.Len() - 1)
		s.row++
	}
	return nil
}

// processor is the processor time of the process so far.
func processor() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// finished makes the units of so many rows and the tables of them; took is the processor time of the last step and the commit.
func finished(t testing.TB, dir string, units, rows int64, configure func(c *option.Config)) (took time.Duration, result *commit.Result) {
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Anonymity.K, cfg.Anonymity.Columns = 5, map[string]string{"age": "number", "center": "value", "date": "date"}
	cfg.Read.Columns.Patient = "patient_id"
	configure(cfg)
	quasi, err := Columns(cfg, kept)
	if err != nil {
		t.Fatal(err)
	}
	plan := &commit.Plan{}
	for k := range units {
		plan.Units = append(plan.Units, commit.Unit{Input: "in.parquet", From: k, To: k + 1, Rows: rows})
	}
	var began time.Duration
	result, err = commit.RunUnits(t.Context(), plan, commit.Output{Dir: dir, FS: durable.OS}, func(_ int, u *commit.Unit, parts *commit.Parts) (commit.Line, error) {
		sink, err := unit.New(parts, unit.Options{Model: "none", Quasi: quasi, Patients: input.PatientColumn})
		return commit.Line{Source: &rowSource{rng: rand.New(rand.NewPCG(3, uint64(u.From))), unit: u.From, rows: rows, people: units * rows / 6}, Sink: sink}, err
	}, commit.UnitOptions{Verify: table.Verify, ByLength: true, Finish: func(ctx context.Context, f *commit.Final) error {
		runtime.GC()
		began = processor()
		_, err := Finish(ctx, cfg, f)
		return err
	}})
	if err != nil {
		t.Fatal(err)
	}
	return processor() - began, result
}

// BenchmarkFinish is the last step of VELUM_ROWS rows in units of 262,144 (one million without it).
func BenchmarkFinish(b *testing.B) {
	rows, err := strconv.ParseInt(os.Getenv("VELUM_ROWS"), 10, 64)
	if err != nil {
		rows = 1 << 20
	}
	for b.Loop() {
		took, _ := finished(b, filepath.Join(b.TempDir(), "out"), (rows+1<<18-1)>>18, 1<<18, func(*option.Config) {})
		b.ReportMetric(took.Seconds(), "s/finish")
		b.ReportMetric(took.Seconds()/float64(rows)*1e9, "ns/row")
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapSys)/(1<<20), "MiB")
	}
}

// TestFinishWorkers wants the same bytes whatever the number of workers, and as many rows as there are notes.
func TestFinishWorkers(t *testing.T) {
	const units, rows = 5, 3000
	files := func(workers int) []commit.PartRecord {
		_, result := finished(t, filepath.Join(t.TempDir(), "out"), units, rows, func(c *option.Config) { c.Run.Workers = workers })
		return result.Manifest.Files
	}
	one, three := files(1), files(3)
	if !slices.Equal(one, three) {
		t.Errorf("%v\n%v", one, three)
	}
	sum := int64(0)
	for _, p := range one {
		if p.Kind == "quasi" {
			sum += p.Rows
		}
	}
	if sum != units*rows {
		t.Errorf("%d rows", sum)
	}
}
