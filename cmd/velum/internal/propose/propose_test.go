package propose

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/velum-health/velum/stages/read/archive"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/readtest"
	"github.com/velum-health/velum/stages/read/text"
)

// TestSettle: which column is what, by its name and its values. Row i has I for i, and 1 for what all have.
func TestSettle(t *testing.T) {
	const note = "Acude por tos y fiebre desde ayer I"
	for _, tt := range []struct{ header, row, want string }{
		{"COD_EVOL;NHC;FEC_NOTA;TXT_EVOL", "A-I;70011;0I/02/2026;" + note, "TXT_EVOL COD_EVOL NHC FEC_NOTA"},
		{"id;nota", "I;" + note, "nota id - -"},
		{"Municipi;Participant;CURS", "Reus I x;8001I;" + note, "CURS Participant - -"}, // cip stands in both
		{"FEC_NAC;texto;idNota", "0I/02/1950;" + note + ";900I", "texto idNota - -"},    // a day of birth is no date of a note
		{"cip;data visita;Evolució", "ABCD19001;2026-01-0I 10:15;" + note, "Evolució - cip data visita"},
		{"CIP;curs", "ABCDI;" + note, "curs - CIP -"},                                // a patient's id names no note, unique or not
		{"episodi;nota", "77;" + note, "nota - - -"},                                 // an id that is nearly always the same
		{"id;descripcion", "I;Hipertensión arterial esencial", "descripcion id - -"}, // a name of a note, though codes have it
		{"id;a;b", "I;1;2", ""},
	} {
		var b strings.Builder
		b.WriteString(tt.header + "\n")
		for i := range 8 {
			b.WriteString(strings.ReplaceAll(tt.row, "I", fmt.Sprint(i+1)) + "\n")
		}
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := archive.Find([]string{path}, input.Options{})
		if err != nil {
			t.Fatal(err)
		}
		table, err := lookAt(a.Files, "", text.Options{}, mostKept)
		if err != nil {
			t.Fatal(err)
		}
		r := table.settle(roles{}, func(roles) bool { return true })
		got := ""
		if r.text != nil {
			for _, c := range []*column{r.text, r.id, r.patient, r.date} {
				if c == nil {
					c = &column{name: "-"}
				}
				got += " " + c.name
			}
		}
		if strings.TrimSpace(got) != tt.want {
			t.Errorf("%s: %q, want %q", tt.header, strings.TrimSpace(got), tt.want)
		}
	}
}

func TestIsDate(t *testing.T) {
	for value, want := range map[string]bool{
		"2026-01-31": true, "31/1/2026": true, "31.01.26": true, "20260131": true, "2026-01-31T10:15:00Z": true, "03/02/2026 10:15": true,
		"": false, "12345678": false, "600 123 456": false, "1.2.3.4": false, "12/2026": false, "a/b/c": false, "20261350": false, "93-412-11-22": false,
	} {
		if isDate(value) != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
}

// TestShapeOf: what is shown of a value does not say it.
func TestShapeOf(t *testing.T) {
	for value, want := range map[string]string{"ROVI-0750101": "AAAA-9999999", "núm. 7|3": "aaa. 9|9", strings.Repeat("x", 41): "text"} {
		if got := shapeOf(value); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestMixedTypes: columns whose type is not the same in all files are named before a run.
func TestMixedTypes(t *testing.T) {
	dir := t.TempDir()
	for name, when := range map[string]readtest.Column{
		"a": {"when", parquet.Date(), []any{int32(19794)}}, "b": {"when", parquet.Timestamp(parquet.Nanosecond), []any{int64(7)}},
	} {
		readtest.WriteFile(t, filepath.Join(dir, name+".parquet"), []readtest.Column{
			{"note_id", parquet.Int(64), []any{int64(1)}}, {"text", parquet.String(), []any{"Acude por tos"}}, when}, 1)
	}
	a, err := archive.Find([]string{dir}, input.Options{})
	if err != nil {
		t.Fatal(err)
	}
	table, err := lookAt(a.Files, "", text.Options{}, 10)
	if err != nil || !slices.Equal(table.differ, []string{"when"}) {
		t.Errorf("%q, %v", table.differ, err)
	}
}
