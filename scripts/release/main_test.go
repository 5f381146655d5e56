package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

var commitTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// TestPack: the order of the files does not matter, names and modes come out,
// and nothing says where or by whom the archive was made.
func TestPack(t *testing.T) {
	files := []entry{{name: "velum", data: []byte("binary"), executable: true}, {name: "LICENSE", data: []byte("text")}, {name: "man/velum.1", data: []byte("page")}}
	a, err := pack("velum_1", commitTime, files)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(files)
	b, err := pack("velum_1", commitTime, files)
	if err != nil || !bytes.Equal(a, b) {
		t.Errorf("the same files in another order make another archive, %v", err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(a))
	if err != nil || zip.Name != "" || !zip.ModTime.IsZero() {
		t.Fatalf("gzip header %+v, %v", zip.Header, err)
	}
	var names []string
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
		if h.Uid != 0 || h.Uname != "" || !h.ModTime.Equal(commitTime) || (h.Mode == 0o755) != (h.Name == "velum_1/velum") {
			t.Errorf("%+v", h)
		}
	}
	if !slices.Equal(names, []string{"velum_1/LICENSE", "velum_1/man/velum.1", "velum_1/velum"}) {
		t.Errorf("files %q", names)
	}
}

// TestWheel: a wheel has the package, the binary as a script that may run, and a record
// of all of it; its bytes depend on nothing else.
func TestWheel(t *testing.T) {
	r := release{out: t.TempDir(), version: "1.2.0-3-gabc1234", commit: strings.Repeat("c", 40), time: commitTime}
	name := filepath.Join(r.out, "velum-1.2.0.post3+gabc1234-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl")
	var before []byte
	for range 2 {
		if err := r.wheel("../..", "linux/amd64", []byte("binary"), []byte("licences")); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil || before != nil && !bytes.Equal(before, data) {
			t.Fatal("another wheel", err)
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
	for version, want := range map[string]string{"1.2.0": "1.2.0", "9b73b95": "0.dev0+gcccccccccccc", "v2": "0.dev0+gcccccccccccc", "2-1-g00": "2.post1+g00"} {
		if got := wheelVersion(version, r.commit); got != want {
			t.Errorf("%s is %s, want %s", version, got, want)
		}
	}
	if err := r.wheel("../..", "windows/amd64", nil, nil); err == nil {
		t.Error("a wheel for Windows")
	}
	if _, err := platformOf([]byte("#!/bin/sh")); err == nil {
		t.Error("a script is a binary")
	}
}

func TestFolder(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.yaml": "a", "sub/b.service": "b", "c_test.go": "package c"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	all, err := folder(dir, "deploy")
	if err != nil || len(all) != 2 || all[0].name != "deploy/a.yaml" || all[1].name != "deploy/sub/b.service" {
		t.Errorf("%v, %v", all, err)
	}
}

// TestListModules reads what this test was made of.
func TestListModules(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	modules, err := listModules(t.Context(), info)
	if err != nil {
		t.Fatal(err)
	}
	if modules[0].Path != "std" || modules[0].Licence != "BSD-3-Clause" || len(modules) != len(info.Deps)+1 {
		t.Errorf("%+v", modules)
	}
	if got := escape("github.com/JohnCGriffin/overflow"); got != "github.com/!john!c!griffin/overflow" {
		t.Errorf("escaped: %s", got)
	}
	info.Deps = append(info.Deps, &debug.Module{Path: "example.org/x", Replace: &debug.Module{}})
	if _, err := listModules(t.Context(), info); err == nil {
		t.Error("a replaced module was released")
	}
}

// TestSBOM looks at the shape that CycloneDX 1.6 wants, and at reproducibility.
func TestSBOM(t *testing.T) {
	info := &buildinfo.BuildInfo{GoVersion: "go1.26.8", Main: debug.Module{Path: "github.com/velum-health/velum"},
		Settings: []debug.BuildSetting{{Key: "GOARCH", Value: "arm64"}, {Key: "-ldflags", Value: "-X secret"}}}
	modules := []goModule{
		{Path: "std", Version: "1.26.8", Licence: "BSD-3-Clause"},
		{Path: "github.com/spf13/cobra", Version: "v1.10.2", Sum: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=", Licence: "Apache-2.0"},
		{Path: "example.org/unknown", Version: "v0.1.0", Sum: "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
	}
	bill, err := sbom("1.2.0", commitTime, []byte("binary"), info, modules)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := sbom("1.2.0", commitTime, []byte("binary"), info, modules); !bytes.Equal(bill, again) {
		t.Error("two bills of one binary differ")
	}
	var b cdxBill
	if err := json.Unmarshal(bill, &b); err != nil {
		t.Fatal(err)
	}
	if b.Format != "CycloneDX" || b.Spec != "1.6" || b.Version != 1 || !b.Metadata.Time.Equal(commitTime) {
		t.Errorf("head %+v", b)
	}
	if !regexp.MustCompile(`^urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(b.Serial) {
		t.Errorf("serial number %s", b.Serial)
	}
	main := b.Metadata.Component
	if main.Purl != "pkg:golang/github.com/velum-health/velum@1.2.0" || len(main.Hashes) != 1 || len(main.Hashes[0].Content) != 64 {
		t.Errorf("component %+v", main)
	}
	if len(b.Components) != 3 || len(b.Dependencies) != 4 || len(b.Dependencies[0].On) != 3 {
		t.Errorf("%d components, dependencies %+v", len(b.Components), b.Dependencies)
	}
	const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if c := b.Components[1]; c.Purl != "pkg:golang/github.com/spf13/cobra@v1.10.2" || c.Hashes[0].Content != empty || c.Licences[0].Licence.ID != "Apache-2.0" {
		t.Errorf("%+v", c)
	}
	if bytes.Contains(bill, []byte("secret")) {
		t.Error("linker flags are in the bill")
	}
	modules[1].Sum = "h2:xyz"
	if _, err := sbom("1.2.0", commitTime, nil, info, modules); err == nil {
		t.Error("a checksum of another kind was taken")
	}
}

func TestLicenceOf(t *testing.T) {
	for want, text := range map[string]string{
		"Apache-2.0":                  "                                 Apache License\n                           Version 2.0, January 2004\n",
		"MIT":                         "Copyright\n\nPermission is hereby granted, free of charge, to any person obtaining a\ncopy of this software",
		"BSD-3-Clause":                "Redistributions in binary form must reproduce the above copyright notice\n... may be used to endorse or promote products\nderived from this software",
		"BSD-2-Clause":                "Redistributions in binary form must reproduce the above\ncopyright notice",
		"Apache-2.0 AND BSD-3-Clause": "... used to endorse ... may be used to endorse or promote products derived from this software ... Redistributions in binary form must reproduce the above copyright notice ... Apache License, Version 2.0",
		"":                            "All rights reserved.",
	} {
		if got := licenceOf([]licenceText{{"LICENSE", []byte(text)}}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestReadLicences(t *testing.T) {
	dir := t.TempDir()
	if _, err := readLicences(dir); err == nil {
		t.Error("a module without a licence was released")
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("README.md", "A library.")
	if _, err := readLicences(dir); err == nil {
		t.Error("a README that is no licence was taken for one")
	}
	write("README.md", "MIT. Permission is hereby granted, free of charge, to any person obtaining a copy")
	if texts, err := readLicences(dir); err != nil || len(texts) != 1 {
		t.Errorf("%v, %v", texts, err)
	}
	write("License.txt", "x")
	write("licenses.go", "x")
	if texts, err := readLicences(dir); err != nil || len(texts) != 1 || texts[0].name != "License.txt" {
		t.Errorf("%v, %v", texts, err)
	}
	if _, err := readLicences(filepath.Join(dir, "none")); err == nil {
		t.Error("a module that is not there was released")
	}
}

// TestInspect: what is no static Linux binary is no release.
func TestInspect(t *testing.T) {
	r := release{work: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	// a test binary is not built with -trimpath, or is for another platform
	for _, platform := range platforms {
		if _, err := r.inspect(binary, platform); err == nil {
			t.Errorf("a test binary passes for %s", platform)
		}
	}
	if _, err := r.inspect([]byte("#!/bin/sh"), "linux/amd64"); err == nil {
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
	if err != nil || !bytes.Contains(makefile, []byte("build -trimpath -buildvcs=false -pgo=")) {
		t.Errorf("make build is not the build of this test: %v", err)
	}
	profile, err := os.ReadFile("../../cmd/velum/run.pgo")
	if err != nil {
		t.Fatal(err)
	}
	var sums [2][32]byte
	for i := range sums {
		dir := t.TempDir()
		for name, text := range map[string]string{"go.mod": "module example.org/two\n\ngo 1.26\n", "main.go": "package main\n\nfunc main() { println(1) }\n", "run.pgo": string(profile)} {
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
		build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-pgo=run.pgo", "-ldflags", "-s -w", "-o", "two", ".")
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

// TestProfile: what the compiler reads of a run names functions, and no folder of
// the machine that it was made on.
func TestProfile(t *testing.T) {
	packed, err := os.ReadFile("../../cmd/velum/run.pgo")
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	profile, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(profile, []byte("velum/stages/resolve.(*worker).note")) {
		t.Error("it is the profile of no run: make pgo")
	}
	if path := regexp.MustCompile(`[^\w.@)-]/(home|root|tmp|usr|work|opt|var|Users)\b[\w/.-]*`).Find(profile); path != nil {
		t.Errorf("it holds the path %q", path)
	}
}
