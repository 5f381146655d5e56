package option

import (
	"os"
	"slices"
	"testing"

	"github.com/velum-health/velum/pipeline"
)

// TestImitated: which categories have realistic values in their place, and how dates move, of a policy of the house and of operators.
func TestImitated(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("own.yaml", []byte("default: surrogate\ncategories:\n  PERSON: placeholder\n  DATE: suppress\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	category := func(name string) pipeline.Category {
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	load := func(set ...string) *Config {
		c, err := Load(Sources{}.With(append(set, "mask.without_patient=true")))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	all, err := load("mask.policy=own.yaml").Imitated()
	if err != nil || len(all) != pipeline.Categories()-3 || slices.Contains(all, pipeline.None) || slices.Contains(all, category("PERSON")) || slices.Contains(all, category("DATE")) || !slices.Contains(all, category("LOCATION")) {
		t.Errorf("%v of %d, %v", all, pipeline.Categories(), err)
	}
	if all, err := load().Imitated(); err != nil || len(all) != 0 {
		t.Errorf("placeholders: %v, %v", all, err)
	}
	c := load("mask.operators=PERSON=surrogate strategy=markov,DATE=shift days=40")
	if all, err := c.Imitated(); err != nil || !slices.Equal(all, []pipeline.Category{category("PERSON"), category("DATE")}) && !slices.Equal(all, []pipeline.Category{category("DATE"), category("PERSON")}) {
		t.Errorf("%v, %v", all, err)
	}
	if by, err := c.Strategies(); err != nil || by["PERSON"] != "markov" || by[pipeline.None.String()] != "" {
		t.Errorf("%v, %v", by, err)
	}
	if moved, err := c.Dates(); err != nil || moved == "" {
		t.Errorf("%q, %v", moved, err)
	}
	if moved, err := load().Dates(); err != nil || moved != "" {
		t.Errorf("%q, %v", moved, err)
	}
}
