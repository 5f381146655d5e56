package configs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// TestAddCategories reads files of labels: the first is added, once, and the others say what is wrong.
func TestAddCategories(t *testing.T) {
	add := func(text string) error {
		name := filepath.Join(t.TempDir(), "own.yaml")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return AddCategories(name)
	}
	for text, want := range map[string]string{
		"name: primary-care\nrows: [{primary-care: X}]\n":     "name: the set wants a name",
		"name: kind\nrows: [{kind: NAME}]\n":                  "name: the set wants a name",
		"name: 7up\nrows: [{7up: X}]\n":                       "name: the set wants a name",
		"name: floor\n":                                       "rows: there is none",
		"name: floor\nrows: [{ward: X}]\n":                    "row 1: wants a label of letters",
		"name: floor\nrows: [{floor: A}, {floor: \"B C\"}]\n": "row 2: wants a label of letters",
		"name: floor\nrows: [{floor: A, meddocan: NOBODY}]\n": "row 1: meddocan: ",
		"name: floor\nrows: [{floor: A, kind: THING}]\n":      "row 1: kind: unknown kind \"THING\"",
		"name: [\n":              "is no file of categories",
		"name: floor\nrow: []\n": "is no file of categories",
	} {
		if err := add(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if err := AddCategories(filepath.Join(t.TempDir(), "missing")); err == nil {
		t.Error("no file: no error")
	}
	if len(OwnSchemes()) != 0 {
		t.Errorf("%q", OwnSchemes())
	}
	const ward = "name: testward\nrows:\n  - {testward: TESTMEDICO, meddocan: NOMBRE_PERSONAL_SANITARIO, primary-care: PERSON}\n  - {testward: TESTSALA, kind: LOCATION}\n  - {testward: TESTOTRO}\n"
	for range 2 {
		if err := add(ward); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(OwnSchemes(), []string{"testward"}) {
		t.Errorf("%q", OwnSchemes())
	}
	for name, want := range map[string]pipeline.Kind{"TESTMEDICO": pipeline.NameKind, "TESTSALA": pipeline.PlaceKind} {
		if c, err := pipeline.ParseCategory(name); err != nil || c.Kind() != want {
			t.Errorf("%s is of kind %v, %v", name, c.Kind(), err)
		}
	}
	m, err := CategoryMap("testward", "primary-care")
	if err != nil {
		t.Fatal(err)
	}
	doctor, _ := pipeline.ParseCategory("TESTMEDICO")
	room, _ := pipeline.ParseCategory("TESTSALA")
	if m[doctor].String() != "PERSON" || m[room] != pipeline.None {
		t.Errorf("%v", m)
	}
}

// FuzzCategories: of a file that anybody may have written only labels are taken that no format breaks, each once.
func FuzzCategories(f *testing.F) {
	f.Add([]byte("name: ward\nrows:\n  - {ward: MEDICO, meddocan: NOMBRE_PERSONAL_SANITARIO}\n  - {ward: SALA, kind: LOCATION}\n"))
	f.Add([]byte("name: ward\nrows: [{ward: A, kind: THING}]\n"))
	f.Add([]byte("rows: [[[{"))
	f.Add([]byte("name: &a ward\nrows: [*a]\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, labels, err := readCategories(text)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		for _, l := range labels {
			if !plainName.MatchString(l.Name) || seen[l.Name] {
				t.Errorf("a label twice, or one that is no plain name, of %d", len(labels))
			}
			seen[l.Name] = true
		}
		if !plainName.MatchString(file.Name) || len(labels) == 0 || len(labels) > len(file.Rows) {
			t.Errorf("%d labels of %d rows", len(labels), len(file.Rows))
		}
	})
}
