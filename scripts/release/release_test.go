// Package release holds the tests of what a release is made of.
package release

import (
	"bytes"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestWheel: a wheel has the package, the binary as a script that may run, and a record of all of it; its bytes
// depend on nothing else. What is no static Linux
// binary is none, and what Python and its tools leave beside a package is no part of it.
func TestWheel(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	const program = `
import hashlib, base64, io, os, sys, tempfile, zipfile, wheel
name, data = wheel.pack("linux/amd64", "1.2.0-3-gabc1234", b"binary", b"licences", 1767323045)
assert name == "velum-1.2.0.post3+gabc1234-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl", name
assert data == wheel.pack("linux/amd64", "1.2.0-3-gabc1234", b"binary", b"licences", 1767323045)[1]
z, info = zipfile.ZipFile(io.BytesIO(data)), "velum-1.2.0.post3+gabc1234.dist-info/"
files = {f.filename: z.read(f) for f in z.infolist()}
for f in z.infolist():
    assert bool(f.external_attr >> 16 & 0o111) == f.filename.endswith("/scripts/velum"), f
    assert f.date_time == (2026, 1, 2, 3, 4, 4), f.date_time
for want in ("velum/__init__.py", "velum/process.py", "velum/py.typed", info + "licenses/LICENSE", info + "licenses/NOTICE"):
    assert want in files, want
assert b"\nVersion: 1.2.0.post3+gabc1234\n" in files[info + "METADATA"] and b"\nTag: py3-none-musllinux_1_1_x86_64\n" in files[info + "WHEEL"]
record = files.pop(info + "RECORD").decode()
assert record.count("\n") == len(files) + 1
for name, text in files.items():
    sum = base64.urlsafe_b64encode(hashlib.sha256(text).digest()).decode().rstrip("=")
    assert f"{name},sha256={sum},{len(text)}\n" in record, name
for version, want in {"1.2.0": "1.2.0", "9b73b95": "0.dev0+g9b73b95", "4549639": "0.dev0+g4549639", "4549639-dirty": "0.dev0+g4549639.dirty",
        "0.dev0+g4549639": "0.dev0+g4549639", "v2": "2", "v2-1-g00": "2.post1+g00", "0.0.1-g9b73b95": "0.0.1.dev0+g9b73b95", "9b-dirty": "0.dev0+g9b.dirty"}.items():
    assert wheel.pep440(version) == want, (version, wheel.pep440(version))
with tempfile.TemporaryDirectory() as d:
    for name in ("a.py", "sub/py.typed", "__pycache__/a.pyc", ".mypy_cache"):
        os.makedirs(os.path.dirname(os.path.join(d, name)), exist_ok=True)
        open(os.path.join(d, name), "w").close()
    assert sorted(n for n, _ in wheel.package(d)) == ["velum/a.py", "velum/sub/py.typed"]
for path in sys.argv[1:]:
    try:
        wheel.inspect(path)
    except ValueError:
        continue
    raise SystemExit(path + " passes")
`
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	python := exec.Command("python3", "-B", "-c", program, script, "/bin/sh")
	if out, err := python.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestNotice: NOTICE names every module of the binary with its licence.
func TestNotice(t *testing.T) {
	notice, err := os.ReadFile("../../NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./cmd/velum")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := slices.Compact(slices.Sorted(strings.FieldsSeq(string(out))))
	if len(modules) < 20 {
		t.Fatalf("%d modules", len(modules))
	}
	for _, m := range modules {
		licence := regexp.MustCompile(`(?m)^  (.*, )?` + regexp.QuoteMeta(m) + `(, .*)?: (Apache-2\.0|MIT|BSD-[23]-Clause|Unlicense)\b`)
		if m != "github.com/velum-health/velum" && !licence.Match(notice) {
			t.Errorf("%s and its licence are missing", m)
		}
	}
}

// TestTwoFolders: the build that the Makefile does says nothing of where it was
// done, and of no repository: two folders give one file.
func TestTwoFolders(t *testing.T) {
	if testing.Short() {
		t.Skip("links twice")
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil || !bytes.Contains(makefile, []byte("build -trimpath -buildvcs=false -ldflags")) {
		t.Errorf("make build is not the build of this test: %v", err)
	}
	var sums [2][32]byte
	for i := range sums {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module example.org/two\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() { println(1) }\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if i == 1 { // one of them is a repository, and a dirty one
			for _, args := range [][]string{{"init", "-q"}, {"add", "."}} {
				git := exec.Command("git", args...)
				git.Dir = dir
				if text, err := git.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, text)
				}
			}
		}
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", "two", ".")
		build.Dir, build.Env = dir, append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=")
		if text, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		binary, err := os.ReadFile(filepath.Join(dir, "two"))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(binary)
	}
	if sums[0] != sums[1] {
		t.Error("two folders give two files")
	}
}
