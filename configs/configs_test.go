package configs

import (
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/velum-health/velum/pipeline"
)

// members returns the categories of a scheme.
func members(t *testing.T, scheme string) []pipeline.Category {
	t.Helper()
	var all []pipeline.Category
	names := []string{scheme}
	if scheme == "meddocan" {
		names = append(names, "meddocan-rare")
	}
	for _, n := range names {
		set, err := pipeline.Labels(n)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, set.Categories...)
	}
	return all
}

func TestEveryCategoryIsMapped(t *testing.T) {
	for _, from := range Schemes() {
		for _, to := range append(Schemes(), "untyped") {
			m, err := CategoryMap(from, to)
			if err != nil {
				t.Fatal(err)
			}
			want := members(t, from)
			if len(m) != len(want) {
				t.Errorf("%s to %s: %d categories mapped, the scheme has %d", from, to, len(m), len(want))
			}
			targets := map[pipeline.Category]bool{pipeline.None: true}
			for _, c := range members(t, to) {
				targets[c] = true
			}
			for _, c := range want {
				image, ok := m[c]
				if !ok {
					t.Errorf("%s to %s: %v is missing from categories.yaml", from, to, c)
				}
				if !targets[image] {
					t.Errorf("%s to %s: %v becomes %v, which is not in %s", from, to, c, image, to)
				}
				if from == to && image != c {
					t.Errorf("%s: %v becomes %v in its own scheme", from, c, image)
				}
				if to == "untyped" && image == pipeline.None {
					t.Errorf("%s: %v is no PHI", from, c)
				}
			}
		}
	}
}

func TestCategoryMap(t *testing.T) {
	for _, tt := range []struct{ from, to, category, want string }{
		{"meddocan", "primary-care", "NOMBRE_PERSONAL_SANITARIO", "PERSON"},
		{"meddocan", "primary-care", "CALLE", "LOCATION"},
		{"meddocan", "primary-care", "FAMILIARES_SUJETO_ASISTENCIA", ""},
		{"primary-care", "meddocan", "PERSON", "NOMBRE_SUJETO_ASISTENCIA"},
		{"primary-care", "meddocan", "LOCATION", "TERRITORIO"},
		{"primary-care", "hipaa", "AGE", "DATE"},
		{"pattern", "meddocan", "DNI", "ID_SUJETO_ASISTENCIA"},
		{"pattern", "primary-care", "POSTAL_CODE", "LOCATION"},
		{"i2b2", "meddocan", "DOCTOR", "NOMBRE_PERSONAL_SANITARIO"},
		{"hipaa", "primary-care", "PHOTO", ""},
		{"names", "primary-care", "ORG", "LOCATION"},
		{"meddocan", "untyped", "SEXO_SUJETO_ASISTENCIA", "PHI"},
	} {
		m, err := CategoryMap(tt.from, tt.to)
		if err != nil {
			t.Fatal(err)
		}
		c, err := pipeline.ParseCategory(tt.category)
		if err != nil {
			t.Fatal(err)
		}
		if got := m[c].String(); got != tt.want {
			t.Errorf("%s to %s: %s becomes %q, want %q", tt.from, tt.to, tt.category, got, tt.want)
		}
	}
	for _, pair := range [][2]string{{"meddocan", "x"}, {"x", "meddocan"}, {"untyped", "meddocan"}} {
		if _, err := CategoryMap(pair[0], pair[1]); err == nil {
			t.Errorf("%s to %s: no error", pair[0], pair[1])
		}
	}
}

func TestProfilesAndPoliciesAreYAML(t *testing.T) {
	check := func(name string, text []byte, err error) {
		var v map[string]any
		if err == nil {
			err = yaml.Unmarshal(text, &v)
		}
		if err != nil || len(v) == 0 {
			t.Errorf("%s: %v, %d keys", name, err, len(v))
		}
	}
	for _, name := range Profiles() {
		text, err := Profile(name)
		check(name, text, err)
	}
	if len(Policies()) < 3 {
		t.Errorf("policies: %v", Policies())
	}
	for _, name := range Policies() {
		text, err := Policy(name)
		check(name, text, err)
	}
	if _, err := Profile("none"); err == nil {
		t.Error("a profile that does not exist has no error")
	}
}
