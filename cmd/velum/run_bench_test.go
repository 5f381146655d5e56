package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
)

// BenchmarkRun masks the archive that VELUM_ARCHIVE names, for profiles:
//
//	VELUM_ARCHIVE=$PWD/out/archive go test ./cmd/velum -run '^$' -bench Run -benchtime 1x -cpuprofile cpu.out
func BenchmarkRun(b *testing.B) {
	archive := os.Getenv("VELUM_ARCHIVE")
	if archive == "" {
		b.Skip("VELUM_ARCHIVE is not set")
	}
	for b.Loop() {
		out := filepath.Join(b.TempDir(), "out")
		if code := start([]string{"run", "--quiet", "--in", archive, "--out", out, "--set", "tag.note_cache=0"}, io.Discard, os.Stderr, nil); code != exit.Done {
			b.Fatalf("exit code %d", code)
		}
	}
}
