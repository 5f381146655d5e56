package report

import (
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/tally"
)

// monthly is a unit of a month in which per 1,000 notes have so many persons, unknown
// words of 10,000 and notes in quarantine.
func monthly(input string, notes, persons, unknown, aside int64) commit.UnitRecord {
	u := commit.UnitRecord{Input: input, Counts: commit.Counts{Rows: notes + aside, Masked: notes, Quarantined: aside}}
	u.Tally.Note(tally.Category, "PERSON", persons*notes/1000)
	u.Tally.Note(tally.Words, "", 10*notes)
	u.Tally.Note(tally.Unknown, "", unknown*notes/1000)
	u.Tally.Note(tally.Doubt, "0.45", notes)
	return u
}

func TestTrend(t *testing.T) {
	for _, tt := range []struct {
		name, last string
		newest     commit.UnitRecord
		drifted    string
	}{
		{"as before", "2026-03", monthly("2026-03.parquet", 1000, 410, 800, 5), ""},
		{"half the persons", "2026-03", monthly("a/2026-03/notes.parquet", 1000, 190, 800, 5), "PERSON"},
		{"twice the persons", "2026-03", monthly("year=2026/month=3/x.parquet", 1000, 900, 800, 5), "PERSON"},
		{"a third more is in the habit of wards", "2026-03", monthly("2026_03.csv", 1000, 560, 800, 5), ""},
		{"words that nobody knows", "2026-03", monthly("2026-03.parquet", 1000, 410, 4000, 5), "words"},
		{"quarantine", "2026-03", monthly("2026-03.parquet", 1000, 410, 800, 200), "quarantine"},
		{"few notes say nothing", "2026-03", monthly("2026-03.parquet", 40, 0, 9000, 0), ""},
		{"chance", "2026-03", monthly("2026-03.parquet", 60, 250, 800, 0), ""},
	} {
		m := &commit.Manifest{Units: []commit.UnitRecord{
			monthly("2026-01.parquet", 1000, 400, 800, 4), monthly("2026-02/a.parquet", 500, 430, 850, 2), monthly("2026-02/b.parquet", 500, 430, 850, 3), tt.newest,
		}}
		for _, u := range m.Units {
			m.Counts.Masked += u.Masked
			m.Counts.Tally.Add(u.Tally)
		}
		trend := trendOf(m)
		if trend == nil || len(trend.Months) != 3 || trend.Months[2] != tt.last || trend.Notes[1] != 1000 {
			t.Fatalf("%s: %+v", tt.name, trend)
		}
		if got := strings.Join(trend.Drifted(), ", "); got != tt.drifted {
			t.Errorf("%s: drifted %q, want %q", tt.name, got, tt.drifted)
		}
	}
	one := &commit.Manifest{Units: []commit.UnitRecord{monthly("2026-01.parquet", 1000, 400, 800, 4), monthly("notes.parquet", 1000, 0, 0, 0)}}
	if trend := trendOf(one); trend != nil {
		t.Errorf("one month: %+v", trend)
	}
	for input, want := range map[string]string{
		"2026-1.csv": "2026-01", "dump20260115.parquet": "", "dump202601.parquet": "2026-01", "2026/13/x": "", "notes-2026.12.csv": "2026-12", "year=1999/month=02/p": "1999-02", "n12026-01": "",
	} {
		if got := monthOf(&commit.UnitRecord{Input: input}); got != want {
			t.Errorf("month of %s: %q, want %q", input, got, want)
		}
	}
}
