package train

import (
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/flow"
)

// TestTrainers: a kind learns if and only if there is a trainer of its name.
func TestTrainers(t *testing.T) {
	learns := 0
	for _, k := range flow.Kinds {
		if _, ok := Trainers[k.Name]; ok != k.Learns {
			t.Errorf("%s: learns %t, trainer %t", k.Name, k.Learns, ok)
		}
		if k.Learns {
			learns++
		}
	}
	if learns != len(Trainers) {
		t.Errorf("%d trainers of %d kinds that learn", len(Trainers), learns)
	}
}
