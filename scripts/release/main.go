// Command release builds what is given to others:
//
//	out/release/
//	  velum_1.2.0_linux_amd64.tar.gz       static binary, licences, manual pages, completions, recipes
//	  velum_1.2.0_linux_amd64.cdx.json     what the binary is made of (CycloneDX)
//	  velum-1.2.0-py3-none-manylinux2014_x86_64….whl  the binary with its Python package
//	  velum_1.2.0_linux_arm64.tar.gz …
//	  SHA256SUMS
//
// It builds what is committed, not what lies in the folder: the commit is
// exported, twice, to two places, and built in each with a compiler cache of
// its own. Binaries that differ by a byte are no release. Every time in the
// archives is that of the commit, so anybody with the same commit and the same
// version of Go gets the same SHA256SUMS.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// platforms are what a release is built for. GOAMD64=v1 and GOARM64=v8.0, the
// defaults, run everywhere; the kernels look for AVX2 themselves.
var platforms = []string{"linux/amd64", "linux/arm64"}

// maxBinary is the budget of the binary with its models, which are 46 MB of it,
// 33 of them networks.
const maxBinary = 96 << 20

type release struct {
	out, version, commit string
	time                 time.Time
	twice                bool
	work                 string // temporary folder
	made                 []string
}

func main() {
	r := release{}
	flag.StringVar(&r.out, "out", "out/release", "folder to write")
	flag.StringVar(&r.version, "version", "", "version (default: git describe)")
	flag.BoolVar(&r.twice, "twice", true, "build everything twice and compare")
	built := flag.String("wheel", "", "write the wheel of this `BINARY` (make build) and of the Python package in this folder, and nothing else")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := error(nil)
	if *built != "" {
		err = r.wheelOf(ctx, *built)
	} else {
		err = r.run(ctx)
	}
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func (r *release) run(ctx context.Context) (err error) {
	if err := r.describe(ctx); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "velum-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, removeTree(r.work)) }()
	if err := errors.Join(os.RemoveAll(r.out), os.MkdirAll(r.out, 0o755)); err != nil {
		return err
	}
	source, err := r.export(ctx, "a")
	if err != nil {
		return err
	}
	pages, err := r.pages(ctx, source)
	if err != nil {
		return err
	}
	for _, p := range platforms {
		if err := r.platform(ctx, source, p, pages); err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
	}
	return r.sums()
}

// wheelOf writes the wheel of a binary that is there.
func (r *release) wheelOf(ctx context.Context, name string) error {
	if err := r.describe(ctx); err != nil {
		return err
	}
	binary, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	platform, err := platformOf(binary)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	info, err := r.inspect(binary, platform)
	if err != nil {
		return err
	}
	modules, err := listModules(ctx, info)
	if err != nil {
		return err
	}
	licences, err := licenceTexts(modules)
	if err != nil {
		return err
	}
	return errors.Join(os.MkdirAll(r.out, 0o755), r.wheel(".", platform, binary, licences))
}

// describe finds out what is built.
func (r *release) describe(ctx context.Context) error {
	git := func(args ...string) (string, error) {
		out, err := exec.CommandContext(ctx, "git", args...).Output()
		return strings.TrimSpace(string(out)), err
	}
	var err1, err2, err3 error
	r.commit, err1 = git("rev-parse", "HEAD")
	seconds, err2 := git("log", "-1", "--format=%ct")
	if r.version == "" {
		r.version, err3 = git("describe", "--tags", "--always")
	}
	r.version = strings.TrimPrefix(r.version, "v")
	if err := errors.Join(err1, err2, err3); err != nil {
		return fmt.Errorf("a release is built from a git repository: %w", err)
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	r.time = time.Unix(n, 0).UTC()
	return err
}

// export writes the files of the commit to a folder.
func (r *release) export(ctx context.Context, name string) (string, error) {
	dir := filepath.Join(r.work, name, "velum")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	tarball, err := exec.CommandContext(ctx, "git", "archive", r.commit).Output()
	if err != nil {
		return "", fmt.Errorf("git archive: %w", err)
	}
	unpack := exec.CommandContext(ctx, "tar", "-x", "-C", dir)
	unpack.Stdin, unpack.Stderr = bytes.NewReader(tarball), os.Stderr
	return dir, unpack.Run()
}

// goCommand runs the go command in a folder.
func goCommand(ctx context.Context, dir string, env []string, args ...string) error {
	c := exec.CommandContext(ctx, "go", args...)
	c.Dir, c.Stdout, c.Stderr = dir, os.Stderr, os.Stderr
	c.Env = append(append(os.Environ(), "GOFLAGS=", "CGO_ENABLED=0"), env...)
	return c.Run()
}

// build builds the binary of a platform from an exported tree.
func (r *release) build(ctx context.Context, source, platform, to string, env ...string) error {
	system, arch, _ := strings.Cut(platform, "/")
	ldflags := fmt.Sprintf("-s -w -buildid= -X main.version=%s -X main.revision=%s", r.version, r.commit)
	return goCommand(ctx, source, append(env, "GOOS="+system, "GOARCH="+arch),
		"build", "-trimpath", "-buildvcs=false", "-pgo=cmd/velum/run.pgo", "-gcflags=gorgonia.org/...=-l", "-gcflags=gonum.org/...=-l", "-mod=readonly", "-ldflags", ldflags, "-o", to, "./cmd/velum")
}

// pages lets the binary of this machine write manual pages and completions.
func (r *release) pages(ctx context.Context, source string) ([]entry, error) {
	velum := filepath.Join(r.work, "here", "velum")
	if err := r.build(ctx, source, runtime.GOOS+"/"+runtime.GOARCH, velum); err != nil {
		return nil, err
	}
	man := filepath.Join(r.work, "man")
	if err := exec.CommandContext(ctx, velum, "man", man).Run(); err != nil {
		return nil, fmt.Errorf("manual pages: %w", err)
	}
	all, err := folder(man, "man")
	for _, shell := range []string{"bash", "zsh", "fish"} {
		text, bad := exec.CommandContext(ctx, velum, "completion", shell).Output()
		err = errors.Join(err, bad)
		all = append(all, entry{name: "completions/velum." + shell, data: text})
	}
	return all, err
}

// platform makes the archive and the bill of materials of one platform.
func (r *release) platform(ctx context.Context, source, platform string, pages []entry) error {
	name := fmt.Sprintf("velum_%s_%s", r.version, strings.ReplaceAll(platform, "/", "_"))
	velum := filepath.Join(r.work, name)
	if err := r.build(ctx, source, platform, velum); err != nil {
		return err
	}
	if r.twice {
		if err := r.again(ctx, platform, velum); err != nil {
			return err
		}
	}
	binary, err := os.ReadFile(velum)
	if err != nil {
		return err
	}
	if len(binary) > maxBinary {
		return fmt.Errorf("binary has %d MB, more than %d", len(binary)>>20, maxBinary>>20)
	}
	info, err := r.inspect(binary, platform)
	if err != nil {
		return err
	}
	modules, err := listModules(ctx, info)
	if err != nil {
		return err
	}
	licences, err := licenceTexts(modules)
	if err != nil {
		return err
	}
	files, err := r.files(source, binary, licences, pages)
	if err != nil {
		return err
	}
	tarball, err := pack(name, r.time, files)
	if err != nil {
		return err
	}
	bill, err := sbom(r.version, r.time, binary, info, modules)
	if err != nil {
		return err
	}
	return errors.Join(r.write(name+".tar.gz", tarball), r.write(name+".cdx.json", bill), r.wheel(source, platform, binary, licences))
}

// again builds a platform from another folder with an empty cache, and wants
// the same bytes.
func (r *release) again(ctx context.Context, platform, velum string) error {
	source, err := r.export(ctx, "another-place-"+filepath.Base(velum))
	if err != nil {
		return err
	}
	second := velum + ".again"
	cache := filepath.Join(r.work, "cache")
	if err := r.build(ctx, source, platform, second, "GOCACHE="+cache); err != nil {
		return err
	}
	a, err1 := os.ReadFile(velum)
	b, err2 := os.ReadFile(second)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("two builds differ: %x and %x", sha256.Sum256(a), sha256.Sum256(b))
	}
	fmt.Printf("%s: built twice, same bytes: %x\n", platform, sha256.Sum256(a))
	return nil
}

// inspect checks that a binary is what a release promises: for its platform,
// static, without cgo, small enough, and without a path of this machine.
func (r *release) inspect(binary []byte, platform string) (*buildinfo.BuildInfo, error) {
	f, err := elf.NewFile(bytes.NewReader(binary))
	if err != nil {
		return nil, err
	}
	machines := map[string]elf.Machine{"linux/amd64": elf.EM_X86_64, "linux/arm64": elf.EM_AARCH64}
	if f.Machine != machines[platform] {
		return nil, fmt.Errorf("binary is for %v", f.Machine)
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_INTERP || p.Type == elf.PT_DYNAMIC {
			return nil, errors.New("binary is not static")
		}
	}
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		return nil, err
	}
	for key, want := range map[string]string{"CGO_ENABLED": "0", "-trimpath": "true", "-pgo": "run.pgo"} {
		if !slices.ContainsFunc(info.Settings, func(s buildSetting) bool { return s.Key == key && s.Value == want }) {
			return nil, fmt.Errorf("binary was not built with %s=%s", key, want)
		}
	}
	for _, path := range machinePaths(r.work) {
		if path != "" && bytes.Contains(binary, []byte(path)) {
			return nil, errors.New("binary holds a path of this machine")
		}
	}
	return info, nil
}

// machinePaths lists folders whose names are nobody's business.
func machinePaths(work string) []string {
	paths := []string{work}
	if dir, err := os.Getwd(); err == nil {
		paths = append(paths, dir)
	}
	if cache, err := os.UserCacheDir(); err == nil {
		paths = append(paths, cache)
	}
	return paths
}

// files lists what goes into the archive.
func (r *release) files(source string, binary, licences []byte, pages []entry) (files []entry, err error) {
	files = []entry{{name: "velum", data: binary, executable: true}, {name: "THIRD_PARTY_LICENSES", data: licences}}
	for _, name := range []string{"LICENSE", "NOTICE", "README.md", "CHANGELOG.md"} {
		data, bad := os.ReadFile(filepath.Join(source, name))
		err = errors.Join(err, bad)
		files = append(files, entry{name: name, data: data})
	}
	deploy, bad := folder(filepath.Join(source, "configs", "deploy"), "deploy")
	return slices.Concat(files, deploy, pages), errors.Join(err, bad)
}

func (r *release) write(name string, data []byte) error {
	r.made = append(r.made, name)
	fmt.Printf("%s: %.1f MB\n", name, float64(len(data))/1e6)
	return os.WriteFile(filepath.Join(r.out, name), data, 0o644)
}

// sums writes SHA256SUMS, as `sha256sum --check` reads it.
func (r *release) sums() error {
	slices.Sort(r.made)
	var b bytes.Buffer
	for _, name := range r.made {
		data, err := os.ReadFile(filepath.Join(r.out, name))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), name)
	}
	_, err := os.Stdout.Write(b.Bytes())
	return errors.Join(err, os.WriteFile(filepath.Join(r.out, "SHA256SUMS"), b.Bytes(), 0o644))
}

// removeTree removes a folder even where the compiler made it read-only.
func removeTree(dir string) error {
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(path, 0o700)
		}
		return err
	})
	return errors.Join(err, os.RemoveAll(dir))
}
