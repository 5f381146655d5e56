package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestWheel: a wheel has the package, the binary as a script that may run, and a record
// of all of it; its bytes depend on nothing else.
func TestWheel(t *testing.T) {
	w := wheel{source: "../..", version: "1.2.0-3-gabc1234", time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	const want = "velum-1.2.0.post3+gabc1234-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl"
	var before []byte
	for range 2 {
		name, data, err := w.pack("linux/amd64", []byte("binary"), []byte("licences"))
		if err != nil || name != want || before != nil && !bytes.Equal(before, data) {
			t.Fatal("another wheel", name, err)
		}
		before = data
	}
	z, err := zip.NewReader(bytes.NewReader(before), int64(len(before)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(text)
		if runs := f.Mode()&0o111 != 0; runs != strings.HasSuffix(f.Name, "/scripts/velum") {
			t.Errorf("%s has mode %v", f.Name, f.Mode())
		}
	}
	const info = "velum-1.2.0.post3+gabc1234.dist-info/"
	for _, want := range []string{"velum/__init__.py", "velum/process.py", "velum/py.typed", "velum-1.2.0.post3+gabc1234.data/scripts/velum", info + "WHEEL", info + "licenses/LICENSE"} {
		if _, ok := files[want]; !ok {
			t.Errorf("no %s", want)
		}
	}
	if !strings.Contains(files[info+"METADATA"], "\nVersion: 1.2.0.post3+gabc1234\n") || !strings.Contains(files[info+"WHEEL"], "\nTag: py3-none-musllinux_1_1_x86_64\n") {
		t.Error(files[info+"METADATA"], files[info+"WHEEL"])
	}
	for file, text := range files {
		sum := sha256.Sum256([]byte(text))
		line := fmt.Sprintf("%s,sha256=%s,%d\n", file, base64.RawURLEncoding.EncodeToString(sum[:]), len(text))
		if file != info+"RECORD" && !strings.Contains(files[info+"RECORD"], line) {
			t.Errorf("the record lacks %s", file)
		}
	}
	if len(files) != strings.Count(files[info+"RECORD"], "\n") {
		t.Errorf("%d files, and the record is\n%s", len(files), files[info+"RECORD"])
	}
	for version, want := range map[string]string{"1.2.0": "1.2.0", "9b73b95": "0.dev0+g9b73b95", "4549639": "0.dev0+g4549639", "4549639-dirty": "0.dev0+g4549639.dirty", "0.dev0+g4549639": "0.dev0+g4549639", "v2": "2", "v2-1-g00": "2.post1+g00", "0.0.1-g9b73b95": "0.0.1.dev0+g9b73b95", "9b-dirty": "0.dev0+g9b.dirty"} {
		if got := pep440(version); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
	if _, _, err := w.pack("windows/amd64", nil, nil); err == nil {
		t.Error("a wheel for Windows")
	}
}

// TestFolder: what Python and its tools leave beside a package is none of it.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.py": "a", "sub/py.typed": "", "__pycache__/a.pyc": "c", ".mypy_cache": "d"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err := folder(dir, "velum")
	if err != nil || len(all) != 2 || all[0].name != "velum/a.py" || all[1].name != "velum/sub/py.typed" {
		t.Errorf("%v, %v", all, err)
	}
}

// TestInspect: what is no static Linux binary is no release.
func TestInspect(t *testing.T) {
	binary, err := os.ReadFile("/bin/sh")
	if err != nil {
		t.Skip("no program that is linked with others")
	}
	if _, err := inspect(binary); err == nil {
		t.Error("a program that is not static passes")
	}
	if _, err := inspect([]byte("#!/bin/sh")); err == nil {
		t.Error("a script passes")
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
