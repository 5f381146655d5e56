package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/velum-health/velum/pipeline/commit"
)

// outputs tries to write an output, or a private tree, where another output
// stands: above, below, in the same place, by links and by roundabout paths. All
// are refused, and nothing of the other is touched.
func (t *torture) outputs() (string, error) {
	if err := t.archive("outputs", 1, 300); err != nil {
		return "", err
	}
	in, above := t.path("outputs"), t.path("outputs.above")
	out := filepath.Join(above, "a", "b")
	link := t.path("outputs.link")
	if err := errors.Join(os.MkdirAll(filepath.Dir(out), 0o700), must(0, t.mask(in, out)), os.Symlink(above, link)); err != nil {
		return "", err
	}
	want, err := sumOfTrees(out)
	if err != nil {
		return "", err
	}
	free := t.path("outputs.free")
	done, times := 0, turns(200, 14)
	for ; done < times; done++ {
		// where the output goes, and where its private tree does ("" for beside it)
		at := [][2]string{
			{above, ""}, {filepath.Dir(out), ""}, {filepath.Join(out, "inner"), ""}, {filepath.Join(out, "masked"), ""}, {filepath.Join(out, "masked", "2026"), ""},
			{out + ".private", ""}, {filepath.Join(out+".private", "inner"), ""},
			{free, out}, {free, out + ".private"}, {free, filepath.Join(out, "inner")}, {free, above}, {free, filepath.Join(out+".private", "quarantine")},
			{out, filepath.Join(out, "inner")}, {out, out},
		}[done%14]
		where := t.roundabout(at[0], above, link)
		var flags []string
		if at[1] != "" {
			flags = []string{"--private", t.roundabout(at[1], above, link)}
		}
		if t.rng.IntN(4) == 0 {
			flags = append(flags, "--fresh")
		}
		if err := must(10, t.mask(in, where, flags...)); err != nil {
			return "", fmt.Errorf("turn %d, %q %q: %w", done, at, flags, err)
		}
		if err := errors.Join(t.is(out, want), t.clear(free)); err != nil {
			return "", fmt.Errorf("turn %d, %q: %w", done, at, err)
		}
	}
	return fmt.Sprintf("%d outputs and private trees inside, around and in place of another, by links and roundabout paths: all refused, nothing changed", done), nil
}

// roundabout writes a path in another way.
func (t *torture) roundabout(path, above, link string) string {
	switch t.rng.IntN(4) {
	case 0:
		return path + "/"
	case 1:
		return filepath.Dir(path) + "/./" + filepath.Base(path)
	case 2:
		return path + "/../" + filepath.Base(path)
	}
	if below, ok := strings.CutPrefix(path, above); ok {
		return link + below
	}
	return path
}

// oddNames are names of folders that somebody's archive has.
var oddNames = []string{
	"año 2026", "mes\xe9", "\xff\xfe", "a\nb", "\x1b[31mrojo", "-rf", "--out", "a..b", "a..", "'; drop", "$(touch x)", "%s%n", "a|b", "*", "con", "year=", "=",
	"month=01%2F02", "\u202eabc", " ", "a ", "~", "CAFE\u0301", "Café", strings.Repeat("n", 255), strings.Repeat("ñ", 127),
}

// folders masks archives whose folders have odd names, stand very deep, and
// hold what is no file. Every note of a file is masked or in quarantine; what is
// no file is named, with exit code 3, and waits for nobody.
func (t *torture) folders() (string, error) {
	if err := t.archive("folders.of", 1, 200); err != nil {
		return "", err
	}
	file, out, key := t.path("folders.of", "month=01", "notes.parquet"), t.path("folders.out"), t.path("folders.key")
	if err := os.WriteFile(key, []byte(strings.Repeat("0123456789abcdef", 4)), 0o400); err != nil {
		return "", err
	}
	done, times := 0, turns(200, 3)
	for ; done < times; done++ {
		in := t.path("folders")
		if err := errors.Join(os.RemoveAll(in), os.Mkdir(in, 0o700)); err != nil {
			return "", err
		}
		files, odd, err := t.oddFolder(in, file)
		if err != nil {
			return "", err
		}
		want := 0
		if odd > 0 {
			want = 3
		}
		if err := must(want, t.mask(in, out, "--set", "key.file="+key, "--set", "read.opaque="+fmt.Sprint(done%2 == 0))); err != nil {
			return "", fmt.Errorf("turn %d, %d files and %d odd things: %w", done, files, odd, err)
		}
		m, err := commit.ReadManifest(out)
		if err == nil && (m.Rows != int64(200*files) || m.Masked+m.Quarantined != m.Rows) {
			err = fmt.Errorf("%d notes of %d files", m.Rows, files)
		}
		if err := errors.Join(err, t.clear(out)); err != nil {
			return "", fmt.Errorf("turn %d: %w", done, err)
		}
	}
	return fmt.Sprintf("%d archives with %d odd names, deep folders, pipes, sockets, devices and links: every note accounted for, what is no file named", done, len(oddNames)), nil
}

// oddFolder fills an archive: files in folders with odd names, and things that
// are no files.
func (t *torture) oddFolder(in, file string) (files, odd int, err error) {
	at := in
	for range 1 + t.rng.IntN(5) {
		name := oddNames[t.rng.IntN(len(oddNames))]
		if t.rng.IntN(2) == 0 {
			at = in
		}
		if at = filepath.Join(at, name); len(at) > 3000 {
			at = filepath.Join(in, name)
		}
		if err := os.MkdirAll(at, 0o700); err != nil {
			return 0, 0, err
		}
		path := filepath.Join(at, "notes.parquet")
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := copyFile(file, path); err != nil {
			return 0, 0, err
		}
		files++
	}
	for range t.rng.IntN(3) {
		path := filepath.Join(in, fmt.Sprintf("%d.parquet", odd))
		switch t.rng.IntN(4) {
		case 0:
			err = syscall.Mkfifo(path, 0o600)
		case 1:
			err = os.Symlink(filepath.Join(in, "nowhere"), path)
		case 2:
			err = os.Symlink("/dev/zero", path)
		case 3:
			err = makeSocket(path)
		}
		if err != nil {
			return 0, 0, err
		}
		odd++
	}
	return files, odd, nil
}

// makeSocket leaves a socket under a name.
func makeSocket(path string) error {
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return err
	}
	return errors.Join(syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}), syscall.Close(fd))
}
