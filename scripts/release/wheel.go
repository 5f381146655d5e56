package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"compress/flate"
	"crypto/sha256"
	"debug/elf"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// maxWheel is the budget of a wheel: PyPI takes 100 MB, hospitals that mirror it less.
const maxWheel = 70_000_000

// wheelTags are the platforms of a wheel: a static binary runs with any C library.
var wheelTags = map[string][]string{
	"linux/amd64": {"manylinux2014_x86_64", "manylinux_2_17_x86_64", "musllinux_1_1_x86_64"},
	"linux/arm64": {"manylinux2014_aarch64", "manylinux_2_17_aarch64", "musllinux_1_1_aarch64"},
}

// described is what git describe says of a commit behind a tag.
var described = regexp.MustCompile(`^(\d+(?:\.\d+)*)(?:-(\d+)-(g[0-9a-f]+))?$`)

// wheelVersion is a version as PEP 440 wants it.
func wheelVersion(version, commit string) string {
	m := described.FindStringSubmatch(version)
	switch {
	case m == nil:
		return "0.dev0+g" + commit[:min(len(commit), 12)]
	case m[2] == "":
		return m[1]
	}
	return m[1] + ".post" + m[2] + "+" + m[3]
}

// wheel makes the wheel of a platform: the Python package of source, and the binary as
// a script, which pip puts beside the interpreter. Its bytes depend on these alone.
func (r *release) wheel(source, platform string, binary, licences []byte) error {
	version := wheelVersion(r.version, r.commit)
	info := "velum-" + version + ".dist-info/"
	tags, ok := wheelTags[platform]
	if !ok {
		return fmt.Errorf("no wheel for %s", platform)
	}
	about := "Wheel-Version: 1.0\nGenerator: velum\nRoot-Is-Purelib: false\n"
	for _, t := range tags {
		about += "Tag: py3-none-" + t + "\n"
	}
	files, err := folder(filepath.Join(source, "scripts", "python", "velum"), "velum")
	files = slices.DeleteFunc(files, func(e entry) bool { return strings.Contains(e.name, "__pycache__") })
	if err == nil && len(files) == 0 {
		err = errors.New("no Python package in scripts/python/velum")
	}
	readme, bad := os.ReadFile(filepath.Join(source, "cmd", "velum", "topics", "streams.md"))
	err = errors.Join(err, bad)
	files = append(files,
		entry{name: "velum-" + version + ".data/scripts/velum", data: binary, executable: true},
		entry{name: info + "WHEEL", data: []byte(about)},
		entry{name: info + "METADATA", data: fmt.Appendf(nil, wheelMetadata, version, readme)},
		entry{name: info + "licenses/THIRD_PARTY_LICENSES", data: licences},
	)
	for _, name := range []string{"LICENSE", "NOTICE"} {
		data, bad := os.ReadFile(filepath.Join(source, name))
		err = errors.Join(err, bad)
		files = append(files, entry{name: info + "licenses/" + name, data: data})
	}
	if err != nil {
		return err
	}
	data, err := zipped(r.time, info+"RECORD", files)
	if err == nil && len(data) > maxWheel {
		err = fmt.Errorf("the wheel has %d bytes, %d are allowed", len(data), maxWheel)
	}
	return errors.Join(err, r.write("velum-"+version+"-py3-none-"+strings.Join(tags, ".")+".whl", data))
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
Requires-Dist: pyarrow>=14; extra == 'frames'
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

// platformOf tells for which platform a binary is.
func platformOf(binary []byte) (string, error) {
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return "", errors.New("it is no binary for Linux")
	}
	switch f.Machine {
	case elf.EM_X86_64:
		return "linux/amd64", nil
	case elf.EM_AARCH64:
		return "linux/arm64", nil
	}
	return "", fmt.Errorf("it is for %v", f.Machine)
}
