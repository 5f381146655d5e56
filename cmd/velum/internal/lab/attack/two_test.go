package attack

import (
	"testing"

	"github.com/velum-health/velum/models/release/anonymity"
	"github.com/velum-health/velum/models/word/gazetteer"
)

// TestTwo: names that change are known to be put there; the same texts tell nothing.
// Classes are those of both tables together.
func TestTwo(t *testing.T) {
	known := gazetteer.Default()
	here, there := []byte("Visto por Teresa Puig, acude con Núria Vila."), []byte("Visto por Marta Soler, acude con Núria Vila.")
	var same, others twoFigures
	same.compare(known, here, here)
	others.compare(known, here, there)
	if same.Names != 4 || same.Changed != 0 || others.Names != 4 || others.Changed != 2 {
		t.Errorf("the same: %+v; others: %+v", same, others)
	}
	if frame(here) != frame(there) || frame(here) == frame([]byte("Acude solo.")) {
		t.Error("frames of texts")
	}
	a := &extract{columns: map[uint64]string{1: "age=20-29", 2: "age=20-29", 3: "age=30-39", 4: "age=30-39", 5: "age=" + anonymity.Suppressed}}
	b := &extract{columns: map[uint64]string{1: "age=20-24", 2: "age=25-29", 3: "age=30-39", 4: "age=30-39", 5: "age=" + anonymity.Suppressed}}
	if same.join(a, a, 2); same.Classes != 3 || same.Under != 0 {
		t.Errorf("one table: %+v", same)
	}
	if others.join(a, b, 2); others.Classes != 4 || others.Under != 2 {
		t.Errorf("two tables: %+v", others)
	}
}
