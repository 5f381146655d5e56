package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gocloud.dev/blob"
)

// TestServers is the evaluation of `make cloud`: the programs in VELUM_CLOUD_BIN, the archive in
// VELUM_CLOUD_ARCHIVE, and servers that scripts/bench/cloud.sh has started. A line of VELUM_CLOUD_SERVERS is
// a name, the URL with PATH and HOST in it, and the address. Between is a proxy that counts, refuses and cuts.
func TestServers(t *testing.T) {
	if os.Getenv("VELUM_CLOUD_SERVERS") == "" {
		t.Skip("make cloud starts the servers")
	}
	e := &evaluation{bin: os.Getenv("VELUM_CLOUD_BIN"), archive: os.Getenv("VELUM_CLOUD_ARCHIVE"), dir: t.TempDir()}
	began := time.Now()
	if out, err := exec.CommandContext(t.Context(), e.bin+"/velum", "run", "-q", "--in", e.archive, "--out", e.dir+"/local").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("velum on folders: %.1f s", time.Since(began).Seconds())
	e.want = local(t, e.dir+"/local")
	for line := range strings.Lines(os.Getenv("VELUM_CLOUD_SERVERS")) {
		if f := strings.Fields(line); len(f) == 3 {
			t.Run(f[0], func(t *testing.T) { e.server(t, f[1], f[2]) })
		}
	}
}

type evaluation struct {
	bin, archive, dir string
	want              map[string]string // sums of the trees of a run on folders
}

// A proxy stands before a server.
type proxy struct {
	asked, refused, cut atomic.Int64
	refuse, cutAt       atomic.Int64 // every Nth request; 0: none
}

func (p *proxy) wrap(to http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := p.asked.Add(1)
		if every := p.refuse.Load(); every > 0 && n%every == 0 {
			p.refused.Add(1)
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if every := p.cutAt.Load(); every > 0 && n%every == 0 {
			p.cut.Add(1)
			w = &cutter{ResponseWriter: w, left: 1000}
		}
		to.ServeHTTP(w, r)
	})
}

// A cutter closes the connection in the middle of an answer.
type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	if c.left -= len(b); c.left < 0 {
		panic(http.ErrAbortHandler)
	}
	return c.ResponseWriter.Write(b)
}

func (e *evaluation) server(t *testing.T, name, address string) {
	p := &proxy{}
	back := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	back.ErrorLog = nil
	front := httptest.NewServer(p.wrap(back))
	defer front.Close()
	host := strings.TrimPrefix(front.URL, "http://")
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	prefix := fmt.Sprint(time.Now().UnixNano())
	at := func(path string) string {
		return strings.NewReplacer("PATH", prefix+"/"+path, "HOST", host).Replace(name)
	}
	e.upload(t, at("archive"))

	run := func(out, scratch string, more ...string) *exec.Cmd {
		dir := filepath.Join(e.dir, scratch)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return exec.CommandContext(t.Context(), e.bin+"/velum-cloud", append([]string{"run", "--in", at("archive"), "--out", at(out), "--scratch", dir}, more...)...)
	}
	began := time.Now()
	c := run("plain", "plain")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	e.same(t, at("plain"))
	t.Logf("run: %.1f s, %.1f s of processor time with velum's, %d requests", time.Since(began).Seconds(), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), p.asked.Load())

	e.killed(t, run, at)
	e.two(t, run, at)

	p.refuse.Store(5)
	p.cutAt.Store(7)
	if out, err := run("faults", "faults").CombinedOutput(); err != nil {
		t.Errorf("with faults: %v\n%s", err, out)
	}
	p.refuse.Store(0)
	p.cutAt.Store(0)
	e.same(t, at("faults"))
	t.Logf("faults: %d requests refused, %d cut", p.refused.Load(), p.cut.Load())

	out, err := exec.CommandContext(t.Context(), e.bin+"/velum-cloud", "check", "--out", at("faults")).CombinedOutput()
	if err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}
	t.Logf("check: %s", bytes.TrimSpace(out))
}

// killed kills a run again and again, later each time, until one has come through.
func (e *evaluation) killed(t *testing.T, run func(out, scratch string, more ...string) *exec.Cmd, at func(string) string) {
	kills, scratch := 0, "killed"
	for after := 50 * time.Millisecond; ; after = after * 5 / 4 {
		c := run("killed", scratch)
		var said bytes.Buffer
		c.Stderr = &said
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { _ = c.Process.Kill() })
		err := c.Wait()
		if timer.Stop(); err == nil || code(err) == 4 {
			break
		}
		switch code(err) {
		case -1:
			if kills++; kills%4 == 0 { // the next start is on another machine
				scratch = fmt.Sprint("killed-", kills)
			}
		case 11: // velum of the one that was killed still has scratch
		default:
			t.Fatalf("%v\n%s", err, &said)
		}
	}
	e.same(t, at("killed"))
	t.Logf("killed %d times with -9, on %d machines", kills, kills/4+1)
}

// two starts two runs at once.
func (e *evaluation) two(t *testing.T, run func(out, scratch string, more ...string) *exec.Cmd, at func(string) string) {
	var codes []int
	var said [2]bytes.Buffer
	a, b := run("two", "two-a"), run("two", "two-b")
	for i, c := range []*exec.Cmd{a, b} {
		c.Stderr = &said[i]
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*exec.Cmd{a, b} {
		codes = append(codes, code(c.Wait()))
	}
	slices.Sort(codes)
	if !slices.Equal(codes, []int{0, 11}) {
		t.Errorf("two at once ended with %v\n%s\n%s", codes, &said[0], &said[1])
	}
	for i := range said {
		for line := range strings.Lines(said[i].String()) {
			if strings.HasPrefix(line, "velum-cloud: ") {
				t.Logf("two at once: %v; %s", codes, strings.ReplaceAll(line, "\n", ""))
			}
		}
	}
	e.same(t, at("two"))
}

func code(err error) int {
	if ended, is := errors.AsType[*exec.ExitError](err); is {
		return ended.ExitCode()
	}
	if err != nil {
		return -2
	}
	return 0
}

// bucketOf opens the bucket of an URL.
func bucketOf(t *testing.T, name string) (*blob.Bucket, string) {
	t.Helper()
	u, err := url.Parse(name)
	if err != nil {
		t.Fatal(err)
	}
	b, err := blob.OpenBucket(context.Background(), u.Scheme+"://"+u.Host+"?"+u.RawQuery)
	if err != nil {
		t.Fatal(err)
	}
	return b, strings.Trim(u.Path, "/") + "/"
}

func (e *evaluation) upload(t *testing.T, to string) {
	t.Helper()
	b, prefix := bucketOf(t, to)
	err := filepath.WalkDir(e.archive, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(e.archive, name)
		return errors.Join(err, b.WriteAll(t.Context(), prefix+filepath.ToSlash(rel), data, nil))
	})
	if err := errors.Join(err, b.Close()); err != nil {
		t.Fatal(err)
	}
}

// kept tells whether a file is the same for equal archives, wherever and whenever they are masked.
func kept(path string) bool {
	return !strings.Contains(path, "/_audit/") && !strings.HasSuffix(path, "/_inputs") && !strings.HasSuffix(path, "/.lock")
}

func local(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, tree := range []string{"", ".private"} {
		err := filepath.WalkDir(dir+tree, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := os.ReadFile(name)
			if path := tree + "/" + strings.TrimPrefix(name, dir+tree+"/"); kept(path) {
				all[path] = fmt.Sprintf("%x", sha256.Sum256(data))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// same wants both trees of an output to be those of the run on folders.
func (e *evaluation) same(t *testing.T, out string) {
	t.Helper()
	have := map[string]string{}
	for _, tree := range []string{"", ".private"} {
		at, query, _ := strings.Cut(out, "?")
		b, prefix := bucketOf(t, at+tree+"?"+query)
		list := b.List(&blob.ListOptions{Prefix: prefix})
		for {
			o, err := list.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			var data []byte
			if err == nil {
				data, err = b.ReadAll(t.Context(), o.Key)
			}
			if err != nil {
				t.Fatal(err)
			}
			if path := tree + "/" + strings.TrimPrefix(o.Key, prefix); kept(path) {
				have[path] = fmt.Sprintf("%x", sha256.Sum256(data))
			}
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for path, sum := range e.want {
		if have[path] != sum {
			t.Errorf("%s: %s differs from the run on folders", out, path)
		}
	}
	if len(have) != len(e.want) {
		t.Errorf("%s: %d files, want %d", out, len(have), len(e.want))
	}
}
