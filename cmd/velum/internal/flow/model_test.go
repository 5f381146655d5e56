package flow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/embedded"
	"github.com/velum-health/velum/models/number/modelfile"
)

// TestBesideModel: a model beside the program is found in the second folder, too; another file of its name is
// refused, and where there is none the error says where to put it.
func TestBesideModel(t *testing.T) {
	empty, spoiled, shipped := t.TempDir(), t.TempDir(), filepath.Join("..", "..", "..", "..", "models", "embedded")
	for _, name := range embedded.Beside() {
		if err := os.WriteFile(filepath.Join(spoiled, name+".velum"), []byte("velum"), 0o600); err != nil {
			t.Fatal(err)
		}
		data, err := besideModel(name, empty, shipped)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := modelfile.Parse(data); err != nil {
			t.Error(err)
		}
		if _, err := besideModel(name, spoiled, shipped); exit.CodeOf(err) != exit.Integrity {
			t.Errorf("another file: %v", err)
		}
		_, err = besideModel(name, empty)
		if code, remedy := exit.Explain(err); code != exit.Config || !strings.Contains(remedy, empty) {
			t.Errorf("no file: %v, remedy %q", err, remedy)
		}
	}
}
