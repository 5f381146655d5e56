package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// TestServers is the evaluation of `make cloud`: the programs in CLOUD_BIN, the archive in CLOUD_ARCHIVE, and servers that
// scripts/bench/cloud.sh has started. A line of CLOUD_SERVERS is a name, the URL with PATH and HOST in it, and the
// address. Between is a proxy, at the next port, that counts, refuses, cuts and loses answers.
func TestServers(t *testing.T) {
	if os.Getenv("CLOUD_SERVERS") == "" {
		t.Skip("make cloud starts the servers")
	}
	e := &evaluation{bin: os.Getenv("CLOUD_BIN"), dir: t.TempDir()}
	e.archive = e.dir + "/archive"
	if err := os.CopyFS(e.archive, os.DirFS(os.Getenv("CLOUD_ARCHIVE"))); err != nil {
		t.Fatal(err)
	}
	e.plant(t)
	began := time.Now()
	if out, err := exec.CommandContext(t.Context(), e.bin+"/velum", "run", "-q", "--in", e.archive, "--out", e.dir+"/local").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	e.want = local(t, e.dir+"/local")
	t.Logf("velum on folders: %.1f s, tree %s", time.Since(began).Seconds(), hash(e.want))
	for line := range strings.Lines(os.Getenv("CLOUD_SERVERS")) {
		if f := strings.Fields(line); len(f) == 3 {
			t.Run(f[0], func(t *testing.T) { e.server(t, f[1], f[2]) })
		}
	}
}

type evaluation struct {
	bin, archive, dir string
	want              map[string]string // sums of the trees of a run on folders
	said              transcript        // all that velum-cloud has said, and all names that servers were told
}

// A transcript is written by several at once.
type transcript struct {
	lock sync.Mutex
	all  bytes.Buffer
}

func (s *transcript) Write(b []byte) (int, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.all.Write(b)
}

func (s *transcript) Len() int { return len(s.since(0)) }

func (s *transcript) since(from int) string {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.all.String()[from:]
}

// canaries are words of notes, and of nothing else. scripts/bench/cloud.sh looks for them in the logs of the servers.
var canaries = []string{"Zanahoriez", "Qwertzuiop", "48213397"}

// plant adds notes with canaries, in files of odd names.
func (e *evaluation) plant(t *testing.T) {
	t.Helper()
	dir := e.archive + "/odd 100% #1 + ñ=&'?"
	text := "note_id,text\n"
	for i := range 40 {
		text += fmt.Sprintf("planted-%d,\"Acude Qwertzuiop Zanahoriez con DNI 48213397X; nota %d\"\n", i, i)
	}
	err := os.MkdirAll(dir, 0o700)
	for i, name := range []string{"notas \\ (2026) [a].csv", "e\u0301.csv", "%2e%2e.csv"} {
		err = errors.Join(err, os.WriteFile(dir+"/"+name, []byte(strings.ReplaceAll(text, "planted", fmt.Sprint("planted-", i))), 0o600))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A proxy stands before a server, and does something to every Nth request; 0: to none.
type proxy struct {
	asked, done                atomic.Int64
	refuse, cut, lose, hangups atomic.Int64
	names                      func(string)
}

func (p *proxy) wrap(to http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := p.asked.Add(1)
		p.names(r.URL.String())
		every := func(nth *atomic.Int64) bool {
			is := nth.Load() > 0 && n%nth.Load() == 0
			if is {
				p.done.Add(1)
			}
			return is
		}
		switch {
		case every(&p.refuse):
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		case every(&p.hangups):
			panic(http.ErrAbortHandler)
		case every(&p.cut):
			w = &cutter{ResponseWriter: w, left: 1000}
		case every(&p.lose): // the server does what it was asked, and nobody hears of it
			to.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
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
	p := &proxy{names: func(s string) { fmt.Fprintln(&e.said, s) }}
	back := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})
	back.ErrorLog = log.New(io.Discard, "", 0)
	host, port, err := net.SplitHostPort(address)
	n, err2 := strconv.Atoi(port)
	listen, err3 := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(n+1)))
	if err := errors.Join(err, err2, err3); err != nil {
		t.Fatal(err)
	}
	host = listen.Addr().String()
	front := &http.Server{Handler: p.wrap(back), ErrorLog: back.ErrorLog}
	go func() { _ = front.Serve(listen) }()
	defer front.Close()
	t.Setenv("STORAGE_EMULATOR_HOST", host)
	prefix := fmt.Sprint(time.Now().UnixNano())
	at := func(path string) string {
		return strings.NewReplacer("PATH", prefix+"/"+path, "HOST", host).Replace(name)
	}
	b, _ := bucketOf(t, at("archive"))
	var azure *container.Client
	if b.As(&azure) { // Azurite begins without containers; the others take folders for buckets
		if _, err := azure.Create(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	honours(t, b, prefix)
	e.upload(t, e.archive, at("archive"))

	run := func(out, scratch string, more ...string) *exec.Cmd {
		dir := filepath.Join(e.dir, t.Name(), scratch)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if more == nil {
			more = []string{"--in", at("archive"), "--scratch-limit", "4MB"} // two batches
		}
		c := exec.CommandContext(t.Context(), e.bin+"/velum-cloud", append([]string{"run", "--out", at(out), "--scratch", dir}, more...)...)
		c.Stdout, c.Stderr = &e.said, &e.said
		return c
	}
	must := func(what string, c *exec.Cmd) {
		t.Helper()
		from := e.said.Len()
		if err := c.Run(); err != nil {
			t.Errorf("%s: %v\n%s", what, err, e.said.since(from))
		}
	}
	began := time.Now()
	c := run("plain", "plain")
	must("run", c)
	e.same(t, at("plain"))
	t.Logf("run: %.1f s, %.1f s of processor time with velum's, %d requests", time.Since(began).Seconds(), (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Seconds(), p.asked.Load())

	e.stopped(t, "killed", syscall.SIGKILL, run, at)
	e.stopped(t, "ended", syscall.SIGTERM, run, at)
	e.two(t, run, at)

	for _, fault := range []struct {
		name  string
		every *atomic.Int64
		nth   int64
	}{{"refused", &p.refuse, 4}, {"hung-up", &p.hangups, 5}, {"cut", &p.cut, 3}, {"lost", &p.lose, 4}} {
		p.done.Store(0)
		from := p.asked.Load()
		fault.every.Store(fault.nth)
		must(fault.name, run(fault.name, fault.name))
		fault.every.Store(0)
		e.same(t, at(fault.name))
		t.Logf("%s: %d of %d requests", fault.name, p.done.Load(), p.asked.Load()-from)
	}
	check := exec.CommandContext(t.Context(), e.bin+"/velum-cloud", "check", "--out", at("lost"))
	out, err := check.CombinedOutput()
	if err != nil {
		t.Errorf("check: %v\n%s", err, out)
	}
	t.Logf("check: %s", bytes.TrimSpace(out))
	e.many(t, at, run)
	for _, word := range canaries {
		if strings.Contains(e.said.since(0), word) {
			t.Errorf("%s is in a log or a name", word)
		}
	}
}

// honours wants of sixteen writers of one key, each of whom writes if there is none, that one succeeds: with an object of one
// request and with one of several.
func honours(t *testing.T, b *blob.Bucket, prefix string) {
	t.Helper()
	for size, n := range map[int]int{100: 16, 20 << 20: 3} {
		for round := range 3 {
			var won atomic.Int64
			var writers sync.WaitGroup
			for i := range n {
				writers.Go(func() {
					body := bytes.Repeat([]byte{byte(i)}, size)
					err := b.Upload(t.Context(), fmt.Sprint(prefix, "/honours-", size, "-", round), bytes.NewReader(body), &blob.WriterOptions{ContentType: "x/x", BufferSize: 8 << 20, IfNotExist: true})
					if err == nil {
						won.Add(1)
					} else if c := gcerrors.Code(err); c != gcerrors.FailedPrecondition && c != gcerrors.AlreadyExists {
						t.Logf("not honoured: %d bytes: another error than a refusal: %v", size, err)
					}
				})
			}
			if writers.Wait(); won.Load() != 1 {
				t.Errorf("not honoured: of %d writers of %d bytes %d succeeded", n, size, won.Load())
			}
		}
	}
}

// many has more objects than a page of a listing.
func (e *evaluation) many(t *testing.T, at func(string) string, run func(out, scratch string, more ...string) *exec.Cmd) {
	t.Helper()
	dir := filepath.Join(e.dir, "many")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 1100 {
		if err := os.WriteFile(fmt.Sprintf("%s/%04d.txt", dir, i), fmt.Appendf(nil, "Nota %d. Acude con tos y fiebre.", i), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e.upload(t, dir, at("many"))
	c := run("many-out", "many", "--in", at("many"), "--json")
	from := e.said.Len()
	if err := c.Run(); err != nil || !strings.Contains(e.said.since(from), `"objects":1100`) {
		t.Errorf("1,100 objects: %v\n%s", err, e.said.since(from))
	}
}

// stopped stops a run again and again, later each time, until one has come through.
func (e *evaluation) stopped(t *testing.T, name string, by syscall.Signal, run func(out, scratch string, more ...string) *exec.Cmd, at func(string) string) {
	stops, scratch := 0, name
	for after := 100 * time.Millisecond; ; after *= 2 {
		c, from := run(name, scratch), e.said.Len()
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		timer := time.AfterFunc(after, func() { _ = c.Process.Signal(by) })
		err := c.Wait()
		if timer.Stop(); err == nil || code(err) == 4 {
			break
		}
		switch code(err) {
		case -1, 128 + int(by):
			if stops++; stops%4 == 0 { // the next start is on another machine
				scratch = fmt.Sprint(name, "-", stops)
			}
		case 11: // velum of the one that was killed still has scratch
		default:
			t.Fatalf("%v\n%s", err, e.said.since(from))
		}
	}
	e.same(t, at(name))
	t.Logf("stopped %d times with signal %d, on %d machines", stops, by, stops/4+1)
}

// two starts two runs at once, after one that was killed.
func (e *evaluation) two(t *testing.T, run func(out, scratch string, more ...string) *exec.Cmd, at func(string) string) {
	first := run("two", "two-a")
	if err := first.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(time.Second)
	_ = first.Process.Kill()
	_ = first.Wait()
	var codes []int
	var said [2]bytes.Buffer
	a, b := run("two", "two-b"), run("two", "two-c")
	for i, c := range []*exec.Cmd{a, b} {
		c.Stdout, c.Stderr = &said[i], &said[i]
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
				t.Logf("two at once: %v; %s", codes, strings.TrimSpace(line))
			}
		}
		_, _ = e.said.Write(said[i].Bytes())
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

// hash is that of a tree.
func hash(tree map[string]string) string {
	sum := sha256.New()
	for _, path := range slices.Sorted(maps.Keys(tree)) {
		fmt.Fprintln(sum, path, tree[path])
	}
	return fmt.Sprintf("%x", sum.Sum(nil)[:8])
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

func (e *evaluation) upload(t *testing.T, dir, to string) {
	t.Helper()
	b, prefix := bucketOf(t, to)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
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
	for path := range have {
		fmt.Fprintln(&e.said, path)
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
