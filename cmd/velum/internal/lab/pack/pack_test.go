package pack_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/lab/pack"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/configs"
	"github.com/velum-health/velum/models/embedded"
	networks "github.com/velum-health/velum/models/tag/rules"
)

// TestEmbedded: the model in the binary is that of the rules that ship. After a
// change: velum teach rules build configs/rules/shipped.atn --out models/embedded/rules.velum, then go run ./scripts/data/pack
func TestEmbedded(t *testing.T) {
	cfg, err := option.Load(option.Sources{})
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "rules.velum")
	if err := pack.Build(t.Context(), &console.Console{Out: io.Discard}, cfg, &pack.Options{File: configs.ShippedPack, Out: out}); err != nil {
		t.Fatal(err)
	}
	made, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if sha256.Sum256(made) != embedded.Digest("rules") {
		t.Error("rules.velum is not made of shipped.atn: velum teach rules build shipped --out models/embedded/rules.velum; go run ./scripts/data/pack")
	}
}

// TestPackVersion: other rules have another version, or a run would take what
// was masked by the old ones for done.
func TestPackVersion(t *testing.T) {
	text, err := configs.Pack(configs.ShippedPack)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%s %x", configs.PackVersion, sha256.Sum256(append(text, networks.ShippedWords().Text()...)))
	const want = "rules-11 11fe6e943f36436b6846c2e38266698502751249d2124f63d3d49401d403d932"
	if got != want {
		t.Errorf("the rules that ship have changed: raise configs.PackVersion, then write %q here", got)
	}
}
