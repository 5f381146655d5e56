package proof

import (
	"bytes"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/pipeline/audit"
)

// TestLeakBound compares with bounds computed in exact fractions and with 60
// decimal digits.
func TestLeakBound(t *testing.T) {
	for _, c := range []struct {
		n, leaks int64
		want     float64
	}{
		{10, 0, 0.25886555089306285}, {10, 1, 0.39416330243651565}, {10, 3, 0.6066242161054172}, {10, 5, 0.7775588989918845},
		{20, 2, 0.28261852488587813}, {50, 5, 0.1988330025164382}, {100, 0, 0.029513049607061248}, {100, 1, 0.04655981145356414},
		{3000, 0, 0.0009980790119965876}, {3000, 2, 0.0020970958555324337}, {10000, 7, 0.0013144072195026945},
		{2000, 1500, 0.7658977097602059}, {100000, 30, 0.0004068833250808622},
		{1, 0, 0.95}, {1, 1, 1}, {7, 7, 1},
	} {
		got := audit.UpperShare(c.n, c.leaks, 0.95)
		if math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%d leaks in %d notes: %v, want %v", c.leaks, c.n, got, c.want)
		}
	}
}

// TestLeakBoundOrder: more leaks mean a higher bound, more notes a lower one,
// and the bound lies above what was seen. Without leaks it is below the rule of
// three and near it.
func TestLeakBoundOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(1, 1e6).Draw(t, "n")
		leaks := rapid.Int64Range(0, min(n, 1000)).Draw(t, "leaks")
		b := audit.UpperShare(n, leaks, 0.95)
		if b < float64(leaks)/float64(n) || b > 1 {
			t.Fatalf("bound %v of %d in %d", b, leaks, n)
		}
		if audit.UpperShare(n+1, leaks, 0.95) > b || leaks < n && audit.UpperShare(n, leaks+1, 0.95) < b || audit.UpperShare(n, leaks, 0.99) < b {
			t.Fatalf("bounds around %d in %d are out of order", leaks, n)
		}
		none := audit.UpperShare(n, 0, 0.95)
		if three := 3 / float64(n); none >= three || n > 100 && none < 0.98*three {
			t.Fatalf("no leak in %d: %v, rule of three %v", n, none, three)
		}
	})
}

// TestNotesToRead: as many notes as it says prove the rate, one fewer do not.
func TestNotesToRead(t *testing.T) {
	for rate, want := range map[float64]int64{1e-4: 29956, 1e-3: 2995, 0.5: 5} {
		n := audit.NotesToRead(rate, 0.95)
		if n != want || audit.UpperShare(n, 0, 0.95) > rate || audit.UpperShare(n-1, 0, 0.95) <= rate {
			t.Errorf("rate %v: %d notes, want %d", rate, n, want)
		}
	}
}

func TestProofText(t *testing.T) {
	p := Leaks{Read: 3000, Confidence: 0.95, Notes: 32_900_000}
	if err := p.Solve(); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := (&console.Console{Out: &b}).Tell(p, LeaksText); err != nil {
		t.Fatal(err)
	}
	const want = `3000 notes read, 0 with a leak (0 %)
at 95 % confidence at most 0.09981 % of all notes leak: 1 note in 1001
of 32900000 notes: at most 32837
(exact binomial bound, Clopper and Pearson, one-sided; for a random sample and a reader who sees every leak)
`
	if b.String() != want {
		t.Errorf("printed\n%s\nwant\n%s", b.String(), want)
	}
}
