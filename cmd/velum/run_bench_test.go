package main

import (
	"cmp"
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
	again(b, "run")
}

// BenchmarkFast is the same with the CRF alone and one worker: its work is counted
// (scripts/bench/work). VELUM_OUT keeps what came out.
func BenchmarkFast(b *testing.B) {
	again(b, "run", "--fast", "--workers", "1")
}

// BenchmarkMask makes an extract of it with the spans of VELUM_TAGGED, what
// `velum run` has made of it.
func BenchmarkMask(b *testing.B) {
	tagged := os.Getenv("VELUM_TAGGED")
	if tagged == "" {
		b.Skip("VELUM_TAGGED is not set")
	}
	again(b, "mask", "--tagged", tagged)
}

func again(b *testing.B, args ...string) {
	b.Helper()
	archive := os.Getenv("VELUM_ARCHIVE")
	if archive == "" {
		b.Skip("VELUM_ARCHIVE is not set")
	}
	for b.Loop() {
		out := cmp.Or(os.Getenv("VELUM_OUT"), filepath.Join(b.TempDir(), "out"))
		if code := start(append(args, "--quiet", "--in", archive, "--out", out), io.Discard, os.Stderr, nil); code != exit.Done {
			b.Fatalf("exit code %d", code)
		}
	}
}
