package selection

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/models/tag/calibrate"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// manifestOf makes a manifest of units with so many masked rows.
func manifestOf(seed string, rows ...int64) *commit.Manifest {
	m := &commit.Manifest{Config: seed}
	for i, n := range rows {
		m.Units = append(m.Units, commit.UnitRecord{Name: fmt.Sprint("u", i), Parts: []commit.PartRecord{
			{Kind: "masked", Path: fmt.Sprint("masked/", i), SHA256: fmt.Sprint(i), Rows: n}, {Kind: "spans", Path: fmt.Sprint("spans/", i), Rows: 7 * n},
		}})
	}
	return m
}

// drawn is a plain sample of n notes.
func drawn(t testing.TB, m *commit.Manifest, n int) []*sampledNote {
	all, err := drawSample(&commit.Final{Manifest: m}, new(audit.ExtentOf(m, nil)), []audit.Stratum{{To: calibrate.DoubtBins, Read: int64(n)}})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func places(drawn []*sampledNote) (all []string) {
	for _, d := range drawn {
		all = append(all, fmt.Sprint(d.Unit, "/", d.at))
	}
	return all
}

// TestDrawSample: as many as asked for, none twice, the same again, and the
// first k of a sample are the sample of k.
func TestDrawSample(at *testing.T) {
	rapid.Check(at, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Int64Range(0, 40), 0, 6).Draw(t, "rows")
		total := int64(0)
		for _, n := range rows {
			total += n
		}
		m := manifestOf("c", rows...)
		n := rapid.IntRange(0, 100).Draw(t, "n")
		got := places(drawn(at, m, n))
		if int64(len(got)) != min(int64(n), total) {
			t.Fatalf("%d notes of %d, asked for %d", len(got), total, n)
		}
		if again := places(drawn(at, m, n)); !slices.Equal(got, again) {
			t.Fatalf("%v, then %v", got, again)
		}
		k := rapid.IntRange(0, n).Draw(t, "k")
		if first := places(drawn(at, m, k)); !slices.Equal(first, got[:len(first)]) {
			t.Fatalf("sample of %d is %v, that of %d begins otherwise: %v", k, first, n, got)
		}
		slices.Sort(got)
		if len(slices.Compact(got)) != len(got) {
			t.Fatal("a note was drawn twice")
		}
	})
}

// TestDrawSampleEven: over many seeds every note is drawn as often as any
// other, wherever it stands.
func TestDrawSampleEven(t *testing.T) {
	const seeds, n, notes = 4000, 10, 60
	count := map[string]float64{}
	for s := range seeds {
		for _, p := range places(drawn(t, manifestOf(fmt.Sprint(s), 1, 9, 50), n)) {
			count[p]++
		}
	}
	want := float64(seeds) * n / notes
	chi2 := 0.0
	for _, k := range count {
		chi2 += (k - want) * (k - want) / want
	}
	if len(count) != notes || chi2 > notes+5*math.Sqrt(2*notes) {
		t.Errorf("%d notes drawn, chi-squared %.1f with %d degrees of freedom", len(count), chi2, notes-1)
	}
}

func BenchmarkDrawSample(b *testing.B) {
	m := manifestOf("c", slices.Repeat([]int64{250_000}, 4)...)
	b.ReportAllocs()
	for b.Loop() {
		drawn(b, m, 3000)
	}
	b.ReportMetric(float64(b.N)*1e6/b.Elapsed().Seconds(), "notes/s")
}
