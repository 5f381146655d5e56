package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/pipeline/audit"
	"github.com/velum-health/velum/pipeline/commit"
)

// codes are those of the findings of a report.
func codes(r *Report) (all []string) {
	for _, f := range r.Findings {
		all = append(all, f.Code)
	}
	return all
}

// TestNothingRead: of no note nothing is said but that, and of notes that are all in quarantine nothing of what is left in them.
func TestNothingRead(t *testing.T) {
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	r := New(&commit.Manifest{}, &Input{Config: cfg})
	if r.Sentence != "No note was read: there is nothing to judge." || r.Light != amber || !slices.Equal(codes(r), []string{"find empty"}) {
		t.Errorf("%s: %s %v", r.Light, r.Sentence, codes(r))
	}
	held := &commit.Manifest{Counts: commit.Counts{Rows: 1, Quarantined: 1}}
	if r := New(held, &Input{Config: cfg}); !slices.Equal(codes(r), []string{"find quarantine"}) {
		t.Errorf("all held back: %v", codes(r))
	}
	one := &commit.Manifest{Counts: commit.Counts{Rows: 1, Masked: 1}}
	if r := New(one, &Input{Config: cfg}); !slices.Equal(codes(r), []string{"find uncalibrated", "find unread"}) || !strings.Contains(r.Sentence, "1 note read") {
		t.Errorf("one note: %v, %s", codes(r), r.Sentence)
	}
	for again, want := range map[int64]bool{0: false, 1: true} {
		if r := New(one, &Input{Config: cfg, Duplicates: &again}); slices.Contains(codes(r), "find duplicates") != want {
			t.Errorf("%d ids come again: %v", again, codes(r))
		}
	}
}

// TestPublicReading: what may be given away says how many notes were read, and by no name who read them.
func TestPublicReading(t *testing.T) {
	kappa := .5
	r := &Risk{Reading: &Reading{Upper: .1, Reading: audit.Reading{Read: 9, Leaks: 1, By: "Ada", Sample: "s", Readers: []audit.Reader{{By: "Ada"}}, Kappa: &kappa, Strata: []audit.Stratum{{Read: 9}}, Before: []string{"x"}}}}
	p := r.public()
	if x := p.Reading; x.Read != 9 || x.Leaks != 1 || x.Upper != .1 || x.By+x.Sample+x.Output != "" || x.Readers != nil || x.Kappa != nil || x.Strata != nil || x.Before != nil {
		t.Errorf("%+v", x)
	}
	if r.Reading.By != "Ada" || r.Reading.Strata == nil {
		t.Error("the private report has lost it")
	}
	if (&Risk{}).public().Reading != nil {
		t.Error("a reading that nobody made")
	}
}

// TestAboutDamaged: a report that cannot be read makes no page.
func TestAboutDamaged(t *testing.T) {
	if page, err := AboutPage([]byte("{"), "en", &About{}); err == nil || page != nil {
		t.Errorf("%d bytes, %v", len(page), err)
	}
}
