package embedded_test

import (
	"crypto/sha256"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/tag/tagger"
)

// TestMeasured: the models that ship say on which real notes they were measured,
// or every report of theirs is amber. scripts/data/models.sh does it (--real), and
// `velum model measure` for a model that is there.
func TestMeasured(t *testing.T) {
	for _, name := range []string{"primary-care", "cascade", "meddocan"} {
		f, err := embedded.Open(name)
		if err != nil {
			t.Fatal(name, err)
		}
		var h tagger.Header
		if err := f.Header(&h); err != nil {
			t.Fatal(name, err)
		}
		m := h.Measured
		if m == nil || m.On == "" || m.Notes < 100 || m.Entities < 1000 {
			t.Fatalf("%s: measured on %+v: see scripts/data/models.sh", name, m)
		}
		for _, p := range append(h.RecallDial, m.DialPoint) {
			if !(p.Interval[0] < p.Recall && p.Recall <= p.Interval[1]) {
				t.Errorf("%s: recall %v lies outside of %v", name, p.Recall, p.Interval)
			}
		}
	}
}

// TestNames: each file of the folder is a model of the program.
func TestNames(t *testing.T) {
	files, err := filepath.Glob("*.velum")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for i := range files {
		files[i] = strings.TrimSuffix(files[i], ".velum")
	}
	slices.Sort(files)
	if got := embedded.Names(); !slices.Equal(got, files) {
		t.Errorf("models %v, files %v", got, files)
	}
}

// TestDigests: each model is whole, and is what it is called by. Nothing else looks: a start trusts the program.
func TestDigests(t *testing.T) {
	for _, name := range embedded.Names() {
		f, err := embedded.Open(name)
		if err != nil {
			t.Fatal(name, err)
		}
		alone, err := f.Alone()
		if err != nil {
			t.Fatal(name, err)
		}
		if got, want := sha256.Sum256(alone), embedded.Digest(name); got != want {
			t.Errorf("%s has digest %x, digests.txt says %x: run scripts/data/pack", name, got, want)
		}
	}
}
