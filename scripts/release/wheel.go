// Command release makes what no tool makes: the Python wheel of a binary. Its files are
// the package scripts/python/velum and the binary as a script, which pip puts beside the
// interpreter. The rest of a release is GoReleaser's (goreleaser.yaml), which calls it.
//
// Before that it looks whether the binary is what is promised: for its platform, static,
// without cgo, and without a path of this machine.
package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

// wheelTags are the platforms of a wheel: a static binary runs with any C library.
var wheelTags = map[string][]string{
	"linux/amd64": {"manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"},
	"linux/arm64": {"manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"},
}

// described is what git describe says of a commit, and GoReleaser of a snapshot: 1.2.0,
// 1.2.0-3-gabc1234 (three commits behind the tag), 1.2.1-gabc1234 (before that version).
// A hash alone is none: 4549639 would be a version above all others.
var described = regexp.MustCompile(`^v?(\d+(?:\.\d+)*)(?:-(?:(\d+)-)?g([0-9a-f]+))?$`)

// wheel is a wheel to be made in the folder of a repository.
type wheel struct {
	source, binary, licences, version, out string
	time                                   time.Time // of the commit, for all files
}

func main() {
	w := wheel{source: "."}
	flag.StringVar(&w.binary, "binary", "bin/velum", "program to put into the wheel")
	flag.StringVar(&w.licences, "licences", "", "`FILE` of the licences of what is linked into it")
	flag.StringVar(&w.version, "version", "", "version (default: git describe)")
	flag.StringVar(&w.out, "out", "out/wheel", "folder to write")
	flag.Parse()
	if err := w.run(); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (w *wheel) run() error {
	seconds, err := git("log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return err
	}
	w.time = time.Unix(n, 0).UTC()
	if w.version == "" {
		if w.version, err = git("describe", "--tags", "--always"); err != nil {
			return err
		}
	}
	binary, err := os.ReadFile(w.binary)
	if err != nil {
		return err
	}
	platform, err := inspect(binary)
	if err != nil {
		return fmt.Errorf("%s: %w", w.binary, err)
	}
	licences, err := os.ReadFile(w.licences)
	if err != nil {
		return err
	}
	name, data, err := w.pack(platform, binary, licences)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.out, 0o755); err != nil {
		return err
	}
	fmt.Printf("%s: %.1f MB\n", name, float64(len(data))/1e6)
	return os.WriteFile(filepath.Join(w.out, name), data, 0o644)
}

func git(args ...string) (string, error) {
	out, err := exec.Command("git", args...).Output()
	if err != nil {
		return "", fmt.Errorf("a wheel is made in a git repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// inspect tells for which platform a binary is, if it is what is promised.
func inspect(binary []byte) (platform string, err error) {
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return "", errors.New("it is no binary for Linux")
	}
	platform = map[elf.Machine]string{elf.EM_X86_64: "linux/amd64", elf.EM_AARCH64: "linux/arm64"}[f.Machine]
	if platform == "" {
		return "", fmt.Errorf("it is for %v", f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return "", errors.New("it is not static")
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return "", err
	}
	for key, want := range map[string]string{"CGO_ENABLED": "0", "-trimpath": "true"} {
		if !slices.Contains(info.Settings, debug.BuildSetting{Key: key, Value: want}) {
			return "", fmt.Errorf("it was not built with %s=%s", key, want)
		}
	}
	here, err1 := os.Getwd()
	cache, err2 := os.UserCacheDir()
	for _, path := range []string{here, cache} { // whose names are nobody's business
		if path != "" && bytes.Contains(binary, []byte(path)) {
			return "", errors.New("it holds a path of this machine")
		}
	}
	return platform, errors.Join(err1, err2)
}

// pep440 is a version as PEP 440 wants it.
func pep440(version string) string {
	m := described.FindStringSubmatch(version)
	switch {
	case m == nil || m[3] == "" && !strings.ContainsAny(version, "v."): // a commit, where there is no tag
		return "0.dev0+g" + strings.ReplaceAll(strings.TrimPrefix(version, "0.dev0+g"), "-", ".")
	case m[3] == "":
		return m[1]
	case m[2] == "":
		return m[1] + ".dev0+g" + m[3]
	}
	return m[1] + ".post" + m[2] + "+g" + m[3]
}

// pack makes the wheel of a platform. Its bytes depend on what goes in alone.
func (w *wheel) pack(platform string, binary, licences []byte) (name string, data []byte, err error) {
	version := pep440(w.version)
	info := "velum-" + version + ".dist-info/"
	tags, ok := wheelTags[platform]
	if !ok {
		return "", nil, fmt.Errorf("no wheel for %s", platform)
	}
	about := "Wheel-Version: 1.0\nGenerator: velum\nRoot-Is-Purelib: false\n"
	for _, t := range tags {
		about += "Tag: py3-none-" + t + "\n"
	}
	files, err := folder(filepath.Join(w.source, "scripts", "python", "velum"), "velum")
	if err == nil && len(files) == 0 {
		err = errors.New("no Python package in scripts/python/velum")
	}
	read := func(to string, path ...string) {
		data, bad := os.ReadFile(filepath.Join(append([]string{w.source}, path...)...))
		err = errors.Join(err, bad)
		files = append(files, entry{name: info + to, data: data})
	}
	readme, bad := os.ReadFile(filepath.Join(w.source, "cmd", "velum", "topics", "streams.md"))
	err = errors.Join(err, bad)
	files = append(files,
		entry{name: "velum-" + version + ".data/scripts/velum", data: binary, executable: true},
		entry{name: info + "WHEEL", data: []byte(about)},
		entry{name: info + "METADATA", data: fmt.Appendf(nil, wheelMetadata, version, readme)},
		entry{name: info + "licenses/THIRD_PARTY_LICENSES", data: licences},
	)
	read("licenses/LICENSE", "LICENSE")
	read("licenses/NOTICE", "NOTICE")
	if err != nil {
		return "", nil, err
	}
	data, err = zipped(w.time, info+"RECORD", files)
	return "velum-" + version + "-py3-none-" + strings.Join(tags, ".") + ".whl", data, err
}

const wheelMetadata = `Metadata-Version: 2.1
Name: velum
Version: %s
Summary: Personal health information out of clinical notes in Spanish and Catalan, without a network
License: Apache-2.0
Requires-Python: >=3.10
Classifier: Typing :: Typed
Classifier: Operating System :: POSIX :: Linux
Provides-Extra: frames
Requires-Dist: pyarrow>=17; extra == 'frames'
Description-Content-Type: text/markdown

%s`

// zipped makes a zip file, with a record of all that is in it.
func zipped(at time.Time, record string, files []entry) ([]byte, error) {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b entry) int { return cmp.Compare(a.name, b.name) })
	var sums bytes.Buffer
	for _, f := range files {
		sum := sha256.Sum256(f.data)
		fmt.Fprintf(&sums, "%s,sha256=%s,%d\n", f.name, base64.RawURLEncoding.EncodeToString(sum[:]), len(f.data))
	}
	fmt.Fprintf(&sums, "%s,,\n", record)
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range append(files, entry{name: record, data: sums.Bytes()}) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(0o644)
		if f.executable {
			h.SetMode(0o755)
		}
		w, err := z.CreateHeader(h)
		if err == nil {
			_, err = w.Write(f.data)
		}
		if err != nil {
			return nil, err
		}
	}
	err := z.Close()
	return b.Bytes(), err
}

// entry is a file of the wheel.
type entry struct {
	name       string // with slashes
	data       []byte
	executable bool
}

// folder reads the files of a folder, which is called name in the wheel.
func folder(dir, name string) (all []entry, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(d.Name(), "__pycache__") {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || strings.HasPrefix(d.Name(), ".") {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(file)
		all = append(all, entry{name: path.Join(name, filepath.ToSlash(rel)), data: data})
		return err
	})
	return all, err
}
