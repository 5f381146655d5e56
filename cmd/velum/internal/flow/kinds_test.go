package flow

import (
	"reflect"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// TestFastIsCalibrated: the first member of the cascade is a model that ships by itself, so that a
// run with --fast has an expected number as one with that model has.
func TestFastIsCalibrated(t *testing.T) {
	header := func(settings ...string) any {
		c, err := option.Load(option.Sources{}.With(settings))
		if err != nil {
			t.Fatal(err)
		}
		m, err := OpenModel(c.Tag.Model, c)
		if err != nil {
			t.Fatal(err)
		}
		if m.Header().Risk == nil {
			t.Errorf("%v: nobody knows what its confidences are worth", settings)
		}
		return m.Header()
	}
	if fast, alone := header("tag.fast=true"), header("tag.model=primary-care"); !reflect.DeepEqual(fast, alone) {
		t.Error("the header of the fast model is not that of primary-care")
	}
	header()
}
