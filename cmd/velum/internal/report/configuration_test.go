package report

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/option"
)

// What was set is told, and no word of a house.
func TestChosen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "names")
	if err := os.WriteFile(file, []byte("PERSON:Secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ set, key, want string }{
		{"", "tag.recall", ""},
		{"VELUM_TAG_RECALL=0.9", "tag.recall", "0.9"},
		{"VELUM_RUN_WORKERS=3", "run.workers", ""}, // shapes nothing
		{"VELUM_RESOLVE_ALWAYS=PERSON:Secret", "resolve.always", "(set)"},
		{"VELUM_RESOLVE_ALWAYS_FILE=" + file, "resolve.always_file", "(set)"},
		{"VELUM_READ_KEEP=center,date", "read.keep", "[center, date]"},
	} {
		c, err := option.Load(option.Sources{Env: []string{tt.set}})
		if err != nil {
			t.Fatal(tt.set, err)
		}
		if got := chosen(c)[tt.key]; got != tt.want {
			t.Errorf("%s: %s is %q, want %q", tt.set, tt.key, got, tt.want)
		}
	}
}
