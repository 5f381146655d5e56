package cloud

import (
	"bytes"
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"
)

// faulty is a bucket with a fault at the Nth of what is asked of the whole store.
type faulty struct {
	bucket
	s    *store
	name string // of the folder
}

// A store is buckets in memory, by URL.
type store struct {
	buckets  map[string]*blob.Bucket
	asked    int
	fault    func(n int, verb, key string) string // "", "503", "killed", "cut", "lost answer", "killed after"
	writes   []string
	verbs    []string // of all that was asked
	denied   error    // the answer to all that is asked
	look     time.Duration
	working  context.Context                // of velum
	kms      bool                           // encrypted with a key of the house: what the store calls MD5 is none
	careless bool                           // conditions of writes are not looked at
	age      func(key string) time.Duration // how long ago an object was put
}

var err503 = errors.New("503 Slow Down")

func (s *store) ask(verb, key string) (before, after error, cut bool) {
	s.asked++
	s.verbs = append(s.verbs, verb)
	if verb == "write" || verb == "remove" {
		s.writes = append(s.writes, verb+" "+key)
	}
	if s.fault == nil {
		return s.denied, nil, false
	}
	switch s.fault(s.asked, verb, key) {
	case "503":
		return err503, nil, false
	case "killed":
		return errKilled, nil, false
	case "killed after":
		return nil, errKilled, false
	case "lost answer":
		return nil, io.ErrUnexpectedEOF, false
	case "cut":
		return nil, nil, true
	}
	return nil, nil, false
}

func (f faulty) list(ctx context.Context, prefix string, add func(string, object)) error {
	before, after, _ := f.s.ask("list", f.name+"/"+prefix)
	if before != nil {
		return before
	}
	return cmp.Or(f.bucket.list(ctx, prefix, func(key string, o object) {
		if f.s.kms {
			sum := md5.Sum(append([]byte("key of the house"), o.md5...))
			o.md5 = sum[:]
		}
		if f.s.age != nil && f.name != "archive" {
			o.made = o.made.Add(-f.s.age(f.name + "/" + key))
		}
		add(key, o)
	}), after)
}

func (f faulty) etag(ctx context.Context, key string) (string, error) {
	if before, _, _ := f.s.ask("etag", f.name+"/"+key); before != nil {
		return "", before
	}
	return f.bucket.etag(ctx, key)
}

func (f faulty) read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	before, after, cut := f.s.ask("read", f.name+"/"+key)
	if before != nil || after != nil {
		return nil, cmp.Or(before, after)
	}
	body, err := f.bucket.read(ctx, key, from)
	if err == nil && cut {
		return struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(body, 7), broke{}), body}, nil
	}
	return body, err
}

type broke struct{}

func (broke) Read([]byte) (int, error) { return 0, errors.New("connection reset by peer") }

func (f faulty) write(ctx context.Context, key string, body io.Reader, fresh bool) error {
	before, after, cut := f.s.ask("write", f.name+"/"+key)
	if before != nil {
		return before
	}
	if cut {
		_, err := io.CopyN(io.Discard, body, 3)
		return cmp.Or(err, io.ErrUnexpectedEOF)
	}
	return cmp.Or(f.bucket.write(ctx, key, body, fresh && !f.s.careless), after)
}

func (f faulty) remove(ctx context.Context, key string) error {
	before, after, _ := f.s.ask("remove", f.name+"/"+key)
	if before != nil {
		return before
	}
	return cmp.Or(f.bucket.remove(ctx, key), after)
}

func newStore() *store { return &store{buckets: map[string]*blob.Bucket{}} }

func (s *store) bucket(url string) *blob.Bucket {
	url, _, _ = strings.Cut(url, "?")
	if s.buckets[url] == nil {
		s.buckets[url] = memblob.OpenBucket(nil)
	}
	return s.buckets[url]
}

func (s *store) put(t *testing.T, url, text string) {
	t.Helper()
	_, prefix, at, err := parse(url)
	if err == nil {
		err = s.bucket(at).WriteAll(t.Context(), prefix, []byte(text), nil)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// objects lists what lies below an URL, with its content.
func (s *store) objects(t *testing.T, url string) map[string]string {
	t.Helper()
	_, prefix, at, err := parse(url)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	b := s.bucket(at)
	list := b.List(&blob.ListOptions{Prefix: prefix + "/"})
	for {
		o, err := list.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := b.ReadAll(t.Context(), o.Key)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimPrefix(o.Key, prefix+"/")] = string(data)
	}
}

// tree is what both trees of an output hold, without what says when and where.
func (s *store) tree(t *testing.T, url string) string {
	all := map[string]string{}
	for _, tree := range []string{"", ".private"} {
		for key, text := range s.objects(t, url+tree) {
			all[tree+"/"+key] = text
		}
	}
	return said(all)
}

func said(all map[string]string) string {
	var lines []string
	for key, text := range all {
		if !strings.Contains(key, "/_audit/") && !strings.HasSuffix(key, "/_inputs") {
			lines = append(lines, fmt.Sprintf("%s %x", key, sha256.Sum256([]byte(text))))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// start is one start of velum-cloud; its store is s.
func start(t *testing.T, s *store, v func([]string) (int, error), o Options) (int, error) {
	t.Helper()
	o.Open = func(_ context.Context, url string) (*blob.Bucket, error) { return s.bucket(url), nil }
	o.Velum = func(ctx context.Context, out io.Writer, _ *os.File, args ...string) (int, error) {
		s.working = ctx
		if out != nil {
			_, err := io.WriteString(out, strings.Join(args, " "))
			return 0, err
		}
		return v(args)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Limit == 0 {
		o.Limit = 1 << 20
	}
	r, err := newRun(t.Context(), &o)
	if err != nil {
		return ExitCode(err), err
	}
	spoil := func(f *folder) {
		f.bucket = faulty{f.bucket, s, strings.TrimPrefix(f.url, "mem://notes/")}
		f.pause = func(context.Context, int) error { return nil }
	}
	for _, f := range r.trees {
		spoil(f)
	}
	open := r.open
	r.open = func(ctx context.Context, name string, create bool) (*folder, error) {
		f, err := open(ctx, name, create)
		if err == nil {
			spoil(f)
		}
		return f, err
	}
	r.atOnce, r.look = 1, cmp.Or(s.look, time.Hour)
	r.dir = "" // set in inScratch
	code, err := r.inScratch(t.Context(), &o, func() (int, error) { return r.run(t.Context(), &o) })
	if err != nil {
		code = ExitCode(err)
	}
	return code, err
}

// toy stands for velum: of each input it makes a public and a private part, named by what
// is in it; an input whose name comes again replaces its parts. Both manifests list the
// parts. What it does not find as long as it was, it refuses, as velum does.
func toy(args []string) (int, error) {
	var trees [2]string
	var roots []string
	for i, a := range args {
		switch a {
		case "--out":
			trees[0] = args[i+1]
		case "--private":
			trees[1] = args[i+1]
		case "--in":
			roots = append(roots, args[i+1])
		}
	}
	made := map[string][2]toyPart{} // by input
	if data, err := os.ReadFile(filepath.Join(trees[1], "manifest.json")); err == nil {
		var m toyManifest
		if err := json.Unmarshal(data, &m); err != nil {
			return 0, err
		}
		made = m.Made
	}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			var parts [2]toyPart
			for i, tree := range trees {
				content := strings.Repeat(strings.ToUpper(string(text)), i+1)
				parts[i] = toyPart{fmt.Sprintf("part-%x", sha256.Sum256([]byte(content)))[:20], int64(len(content))}
				if err := writeFile(filepath.Join(tree, "parts", parts[i].Name), content); err != nil {
					return err
				}
			}
			rel, err := filepath.Rel(filepath.Dir(root), name)
			made[path.Base(rel)] = parts
			return err
		})
		if err != nil {
			return 0, err
		}
	}
	return toyCommit(trees, made)
}

type toyPart struct {
	Name  string
	Bytes int64
}

type toyManifest struct{ Made map[string][2]toyPart }

func toyCommit(trees [2]string, made map[string][2]toyPart) (int, error) {
	manifest, err := json.Marshal(toyManifest{made})
	if err != nil {
		return 0, err
	}
	for i, tree := range trees {
		listed := map[string]int64{}
		for _, parts := range made {
			listed[parts[i].Name] = parts[i].Bytes
		}
		names, err := os.ReadDir(filepath.Join(tree, "parts"))
		if err != nil {
			return 0, err
		}
		for _, e := range names {
			if info, err := e.Info(); err != nil || info.Size() != listed[e.Name()] {
				if err := os.Remove(filepath.Join(tree, "parts", e.Name())); err != nil {
					return 0, err
				}
				continue
			}
			delete(listed, e.Name())
		}
		if len(listed) > 0 {
			return Integrity, nil
		}
		for name, text := range map[string]string{"manifest.json": string(manifest), "_SUCCESS": fmt.Sprintf("%x", sha256.Sum256(manifest))} {
			if err := writeFile(filepath.Join(tree, name), text); err != nil {
				return 0, err
			}
		}
	}
	return 0, nil
}

func writeFile(name, text string) error {
	if have, err := os.ReadFile(name); err == nil && string(have) == text {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(name), 0o700)
	return cmp.Or(err, os.WriteFile(name, []byte(text), 0o600))
}

const (
	archive = "mem://notes/archive"
	output  = "mem://notes/masked"
)

// filled is a store with an archive of n inputs.
func filled(t *testing.T, n int) *store {
	s := newStore()
	for i := range n {
		s.put(t, fmt.Sprintf("%s/2026/%02d.txt", archive, i), strings.Repeat(fmt.Sprintf("note %d ", i), 400))
	}
	return s
}

// options are those of most tests; a limit of 22 kB makes batches of two or fewer inputs.
func options(t *testing.T) Options {
	return Options{In: []string{archive}, Out: output, Scratch: t.TempDir(), Limit: 22_000}
}

// sound checks that whoever reads the public tree finds all that its manifest lists.
func sound(t *testing.T, s *store) {
	t.Helper()
	tree := s.objects(t, output)
	if tree["manifest.json"] == "" {
		return
	}
	var m toyManifest
	if err := json.Unmarshal([]byte(tree["manifest.json"]), &m); err != nil {
		t.Fatal(err)
	}
	for input, parts := range m.Made {
		if int64(len(tree["parts/"+parts[0].Name])) != parts[0].Bytes {
			t.Errorf("the part of %s is not there", input)
		}
	}
}

func wantEnd(t *testing.T, s *store, o Options, want int) error {
	t.Helper()
	code, err := start(t, s, toy, o)
	if code != want {
		t.Fatalf("ended with %d, want %d: %v", code, want, err)
	}
	return err
}

// undisturbed is the tree that every history must end in, and what the store is asked.
func undisturbed(t *testing.T, n int) (tree string, verbs []string) {
	s := filled(t, n)
	o := options(t)
	o.Limit = 1 << 20
	wantEnd(t, s, o, 0)
	tree = s.tree(t, output)
	s = filled(t, n)
	wantEnd(t, s, options(t), 0)
	if got := s.tree(t, output); got != tree {
		t.Fatalf("batches give another tree:\n%s\nwant\n%s", got, tree)
	}
	return tree, s.verbs
}

// TestFaults plants one fault at each of all that is asked of the store.
func TestFaults(t *testing.T) {
	const n = 3
	want, verbs := undisturbed(t, n)
	kinds := map[string][]string{"list": {"503"}, "etag": {"503"}, "read": {"cut"}, "write": {"503", "cut", "lost answer"}, "remove": {"lost answer"}}
	for at, verb := range verbs {
		for _, kind := range kinds[verb] {
			s := filled(t, n)
			s.fault = func(i int, _, _ string) string {
				if i == at+1 {
					return kind
				}
				return ""
			}
			wantEnd(t, s, options(t), 0)
			if got := s.tree(t, output); got != want {
				t.Fatalf("%s at %d of %d: another tree:\n%s\nwant\n%s", kind, at, len(verbs), got, want)
			}
		}
	}
}

// TestKilled ends a run before or after each of what it asks of the store, and starts it again, on
// the same machine or on another one.
func TestKilled(t *testing.T) {
	const n = 3
	want, verbs := undisturbed(t, n)
	for at, verb := range verbs {
		for i, kind := range []string{"killed", "killed after"} {
			if kind == "killed after" && verb != "write" && verb != "remove" {
				continue
			}
			s, o := filled(t, n), options(t)
			s.fault = func(i int, _, _ string) string {
				if i >= at+1 {
					return kind
				}
				return ""
			}
			if _, err := start(t, s, toy, o); err == nil && kind == "killed" {
				t.Fatal("nobody was killed")
			}
			sound(t, s)
			if s.fault = nil; (at+i)%2 == 1 { // another machine
				o.Scratch = t.TempDir()
			}
			if code, err := start(t, s, toy, o); code != 0 && code != Nothing {
				t.Fatalf("%s at %d: the next start ended with %d: %v", kind, at, code, err)
			}
			if got := s.tree(t, output); got != want {
				t.Fatalf("%s at %d of %d: another tree:\n%s\nwant\n%s", kind, at, len(verbs), got, want)
			}
			if left, err := os.ReadDir(o.Scratch); err != nil || len(left) > 0 {
				t.Fatalf("scratch is not clean: %v %v", left, err)
			}
		}
	}
}

// A store that is down ends the run after a bounded number of tries.
func TestDown(t *testing.T) {
	s := filled(t, 2)
	s.fault = func(_ int, verb, _ string) string {
		if verb == "write" {
			return "503"
		}
		return ""
	}
	err := wantEnd(t, s, options(t), Failed)
	if !errors.Is(err, err503) || !strings.Contains(err.Error(), "mem://notes/masked") || len(s.writes) != tries {
		t.Errorf("%d writes, then: %v", len(s.writes), err)
	}
}

// TestTwoFinishers lets another run commit while one masks.
func TestTwoFinishers(t *testing.T) {
	want, _ := undisturbed(t, 3)
	s, o := filled(t, 3), options(t)
	other := func(args []string) (int, error) {
		wantEnd(t, s, options(t), 0)
		return toy(args)
	}
	code, err := start(t, s, other, o)
	if code != Locked || err == nil || !strings.Contains(err.Error(), "masked.private.cloud/manifest-1.json was committed by") || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
		t.Fatalf("ended with %d: %v", code, err)
	}
	if got := s.tree(t, output); got != want {
		t.Errorf("another tree:\n%s", got)
	}
	wantEnd(t, s, o, Nothing)
	if left, err := os.ReadDir(o.Scratch); err != nil || len(left) > 0 {
		t.Errorf("scratch is not clean: %v %v", left, err)
	}
}

// TestTwo lets another run begin and commit before each of what the first one asks of the store: one of them ends well, and
// the first is told so.
func TestTwo(t *testing.T) {
	want, verbs := undisturbed(t, 3)
	for at := range verbs {
		s, done := filled(t, 3), false
		end := func() {
			if code, err := start(t, s, toy, options(t)); code != 0 && code != Locked && code != Nothing {
				t.Fatalf("at %d of %d (%s): ended with %d: %v", at, len(verbs), verbs[at], code, err)
			}
		}
		s.fault = func(i int, _, _ string) string {
			if i == at+1 && !done {
				done = true
				end()
			}
			return ""
		}
		end()
		if got := s.tree(t, output); got != want {
			t.Fatalf("at %d: another tree:\n%s\nwant\n%s", at, got, want)
		}
	}
}

// TestZombie lets another run commit while one puts files in their places, at each of them.
func TestZombie(t *testing.T) {
	want, _ := undisturbed(t, 4)
	for _, at := range []string{"list masked/", "write masked/manifest.json", "write masked.private/_SUCCESS", "write masked/_SUCCESS"} {
		s, done := filled(t, 3), false
		s.fault = func(_ int, verb, key string) string {
			committed := slices.ContainsFunc(s.writes, func(w string) bool { return strings.Contains(w, "manifest-1") })
			if committed && !done && verb+" "+key == at {
				done = true
				s.put(t, archive+"/2026/03.txt", strings.Repeat("note 3 ", 400))
				o := options(t)
				o.Limit = 1 << 20
				wantEnd(t, s, o, 0)
			}
			return ""
		}
		o := options(t)
		o.Limit = 1 << 20 // one batch: with more, the next would be refused
		wantEnd(t, s, o, 0)
		if got := s.tree(t, output); got != want || !done {
			t.Errorf("%s: done %v, another tree:\n%s\nwant\n%s", at, done, got, want)
		}
	}
}

// TestNights lets an archive grow and change. Of parts that are there none is brought back.
func TestNights(t *testing.T) {
	s, o := filled(t, 2), options(t)
	wantEnd(t, s, o, 0)
	s.put(t, archive+"/2026/02.txt", strings.Repeat("note 2 ", 400))
	s.fault = func(_ int, verb, key string) string {
		if verb == "read" && (strings.HasPrefix(key, "masked/parts/") || strings.HasPrefix(key, "archive/") && !strings.HasSuffix(key, "02.txt")) {
			t.Errorf("%s is brought back", key)
		}
		return ""
	}
	wantEnd(t, s, o, 0)
	want, _ := undisturbed(t, 3)
	if got := s.tree(t, output); got != want {
		t.Errorf("another tree:\n%s\nwant\n%s", got, want)
	}
	s.fault = nil
	wantEnd(t, s, o, Nothing)
	o.Limit = 1 << 20 // what has changed is compared with all that there was
	for i := range 3 {
		s.put(t, fmt.Sprintf("%s/2026/%02d.txt", archive, i), strings.Repeat(fmt.Sprintf("other %d ", i), 200))
	}
	wantEnd(t, s, o, 0)
	if n := len(s.objects(t, output)); n != 5 {
		t.Errorf("%d objects, want 3 parts and 2 files: what was replaced is there", n)
	}
	for key, text := range s.objects(t, output+".private.cloud") {
		if strings.HasPrefix(key, staging) && strings.Contains(text, "NOTE") {
			t.Errorf("%s is of an old commit", key)
		}
	}
	o.Args = []string{"--lang", "ca"} // other settings: all is brought again, and changes nothing
	s.asked = 0
	wantEnd(t, s, o, 0)
}

// TestJunk leaves parts that nobody lists while somebody may be putting them. How old they are says the store.
func TestJunk(t *testing.T) {
	s, o := filled(t, 1), options(t)
	wantEnd(t, s, o, 0)
	s.put(t, output+"/parts/part-of-nobody", "x")
	for _, c := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {23 * time.Hour, true}, {25 * time.Hour, false}} {
		s.age = func(key string) time.Duration {
			if strings.HasSuffix(key, "part-of-nobody") {
				return c.after + 1000*time.Hour
			}
			return 1000 * time.Hour // the clock of this machine is wrong
		}
		wantEnd(t, s, o, Nothing)
		if _, is := s.objects(t, output)["parts/part-of-nobody"]; is != c.want {
			t.Errorf("after %v it is there: %v", c.after, is)
		}
		s.put(t, archive+"/2026/00.txt", strings.Repeat("note 0 ", 400)) // what is listed is another version
		s.age = nil
		wantEnd(t, s, o, 0)
	}
}

// TestHouseKey has a store that encrypts with a key of the house, so that it knows no MD5.
func TestHouseKey(t *testing.T) {
	want, _ := undisturbed(t, 3)
	s, o := filled(t, 2), options(t)
	s.kms = true
	wantEnd(t, s, o, 0)
	s.put(t, archive+"/2026/02.txt", strings.Repeat("note 2 ", 400))
	wantEnd(t, s, o, 0)
	if got := s.tree(t, output); got != want {
		t.Errorf("another tree:\n%s\nwant\n%s", got, want)
	}
	s.writes = nil
	wantEnd(t, s, o, Nothing)
	if len(s.writes) > 1 { // that of output.json, which is refused
		t.Errorf("nothing is new, and %v", s.writes)
	}
}

// TestOwner has folders that are not those of the output.
func TestOwner(t *testing.T) {
	s, o := filled(t, 2), options(t)
	s.careless = true
	if err := wantEnd(t, s, o, Config); !strings.Contains(err.Error(), "mem://notes/masked.private.cloud does not honour If-None-Match") {
		t.Error(err)
	}
	s = filled(t, 2)
	s.put(t, output+"/part-00000.parquet", "another's")
	if err := wantEnd(t, s, o, Config); !strings.Contains(err.Error(), "mem://notes/masked holds objects") || len(s.objects(t, output+".private.cloud")) > 0 {
		t.Error(err)
	}
	s = filled(t, 2)
	wantEnd(t, s, o, 0)
	other := o
	other.Out, other.Private = "mem://notes/other", output+".private"
	if err := wantEnd(t, s, other, Config); !strings.Contains(err.Error(), "output.json is that of another output") {
		t.Error(err)
	}
	wantEnd(t, s, o, Nothing)
}

// TestFull makes more of inputs than scratch may hold: they are masked in smaller batches, or not at all.
func TestFull(t *testing.T) {
	want, _ := undisturbed(t, 4)
	s, o, started := filled(t, 4), options(t), 0
	s.look = time.Millisecond
	o.Limit = 200_000
	large := func(n int) func(args []string) (int, error) {
		return func(args []string) (int, error) {
			inputs, err := filepath.Glob(args[len(args)-1])
			for i, a := range args {
				if a == "--in" && err == nil {
					inputs, err = filepath.Glob(filepath.Join(args[i+1], "2026", "*"))
				}
			}
			started++
			if err == nil && len(inputs) > n {
				err = writeFile(filepath.Join(args[2], ".unfinished"), strings.Repeat("x", 300_000))
				<-s.working.Done()
				return 0, cmp.Or(err, context.Cause(s.working))
			}
			return toy(args)
		}
	}
	code, err := start(t, s, large(1), o)
	if code != 0 || started != 7 || s.tree(t, output) != want {
		t.Errorf("ended with %d after %d starts of velum: %v", code, started, err)
	}
	s = filled(t, 4)
	s.look = time.Millisecond
	if code, err := start(t, s, large(0), o); code != DiskFull || !strings.Contains(err.Error(), "--scratch-limit") {
		t.Errorf("ended with %d: %v", code, err)
	}
	if n := len(s.objects(t, output)); n > 0 {
		t.Errorf("%d objects were put", n)
	}
}

// TestSecrets: an error has no signature, and velum no variable that opens a store.
func TestSecrets(t *testing.T) {
	var log bytes.Buffer
	f := &folder{url: "azblob://notes/masked", log: slog.New(slog.NewTextHandler(&log, nil)), pause: func(context.Context, int) error { return nil }}
	err := f.again(t.Context(), "write", "a", func(context.Context, func()) error {
		return fmt.Errorf("put\n"+strings.Repeat("-", 80)+"\n: %w", &url.Error{Op: "Put", URL: "https://house.example/notes/a?sv=1&sig=hunter2", Err: io.ErrUnexpectedEOF})
	})
	if said := log.String() + err.Error(); strings.Contains(said, "hunter2") || !strings.Contains(said, "https://house.example/notes/a") || strings.Count(said, "EOF") != tries || strings.Count(said, "\n") != tries-1 {
		t.Error(said)
	}
	o := options(t)
	o.Out, o.Log, o.Open = "s3://notes/masked?sig=hunter2", slog.New(slog.DiscardHandler), blob.OpenBucket
	if _, err := newRun(t.Context(), &o); err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
	got := environment([]string{"AWS_SECRET_ACCESS_KEY=x", "VELUM_KEY=k", "HOME=/h", "GOOGLE_APPLICATION_CREDENTIALS=x", "IDENTITY_HEADER=x", "HTTPS_PROXY=http://me:x@p", "LC_ALL=C", "GOMEMLIMIT=1", "NEW_VENDOR_TOKEN=x"})
	if want := []string{"VELUM_KEY=k", "HOME=/h", "LC_ALL=C", "GOMEMLIMIT=1"}; !slices.Equal(got, want) {
		t.Errorf("velum sees %q", got)
	}
}

// denial is an answer as that of S3 is.
type denial int

func (d denial) Error() string       { return "denied" }
func (d denial) HTTPStatusCode() int { return int(d) }

// TestDenied: what no second try mends is asked once, and leaves no scratch.
func TestDenied(t *testing.T) {
	s, o := filled(t, 1), options(t)
	s.denied = denial(403)
	err := wantEnd(t, s, o, Config)
	left, bad := os.ReadDir(o.Scratch)
	if s.asked != 1 || !strings.Contains(err.Error(), "list mem://notes/masked.private.cloud/manifest-: denied; look at what the credentials may do") || len(left) > 0 || bad != nil {
		t.Errorf("asked %d times: %v; %v %v", s.asked, err, left, bad)
	}
}

func TestParseFlags(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"--in s3://b/x --in=gs://c --out s3://b/y --recall 0.99 --fresh", "[s3://b/x gs://c] s3://b/y 50000000000 [--recall 0.99 --fresh]"},
		{"--scratch-limit 1.5TB --in a,b --json", "[a b]  1500000000000 [--json]"},
		{"--scratch-limit 20000", "[]  20000 []"},
		{"--scratch-limit much", "refused"},
		{"--scratch-limit 1e300TB", "refused"},
		{"--scratch-limit NaN", "refused"},
		{"--out", "refused"},
		{"--dry-run", "refused"},
	} {
		o, err := parseFlags(strings.Fields(c.line))
		got := "refused"
		if err == nil {
			got = fmt.Sprint(o.In, " ", o.Out, " ", o.Limit, " ", o.Args)
		} else if ExitCode(err) != Config {
			t.Errorf("%s: %v", c.line, err)
		}
		if got != c.want {
			t.Errorf("%s: got %s, want %s", c.line, got, c.want)
		}
	}
}

// TestRefused has what must not begin.
func TestRefused(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o700); err != nil {
		t.Fatal(err)
	}
	s := filled(t, 2)
	for bucket, keys := range map[string][]string{"odd": {"archive/a/../b.txt"}, "line": {"archive/a\nb.txt"}, "both": {"a/b", "a"}, "empty": nil} {
		for _, key := range keys {
			if err := s.bucket("mem://"+bucket).WriteAll(t.Context(), key, []byte("x"), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, c := range []struct {
		name string
		do   func(o *Options)
		code int
		want string
	}{
		{"output in the input", func(o *Options) { o.In = []string{"mem://notes"} }, Config, "must not stand inside each other"},
		{"private in the output", func(o *Options) { o.Private = output + "/private" }, Config, "must not stand inside each other"},
		{"a whole bucket", func(o *Options) { o.Out = "mem://notes" }, Config, "is a whole bucket"},
		{"a secret in the URL", func(o *Options) { o.Out = "mem://me:hunter2@notes/masked" }, Config, "credentials come from"},
		{"no objects", func(o *Options) { o.In = []string{"mem://notes/achive"} }, Nothing, "there are no objects"},
		{"too large", func(o *Options) { o.Limit = 100 }, Config, "do not fit scratch"},
		{"a key that is no name", func(o *Options) { o.In = []string{"mem://odd/archive"} }, Config, "no file can have"},
		{"a key of two lines", func(o *Options) { o.In = []string{"mem://line/archive"} }, Config, "no file can have"},
		{"a file and a folder", func(o *Options) { o.In = []string{"mem://both"} }, Config, "cannot be a file and the folder of"},
		{"an empty bucket", func(o *Options) { o.In = []string{"mem://empty"} }, Nothing, "there are no objects"},
		{"no folder", func(o *Options) { o.In = []string{filepath.Join(open, "typo")} }, Nothing, "there are no objects"},
		{"no scratch", func(o *Options) { o.Scratch = filepath.Join(open, "not", "there") }, Config, "--scratch"},
		{"replace in batches", func(o *Options) { o.Args = []string{"--replace"}; o.Limit = 15_000 }, Config, "--replace needs all"},
	} {
		o := options(t)
		c.do(&o)
		code, err := start(t, s, toy, o)
		if code != c.code || err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: ended with %d: %v", c.name, code, err)
		}
		if n := len(s.objects(t, output)); n > 0 {
			t.Errorf("%s: %d objects were put", c.name, n)
		}
	}
}

// TestScratch: what others can read or have is no scratch.
func TestScratch(t *testing.T) {
	s, o := filled(t, 2), options(t)
	var dir string
	code, err := start(t, s, func(args []string) (int, error) {
		dir = filepath.Dir(args[2])
		code, err := start(t, s, toy, o)
		if code != Locked || !strings.Contains(err.Error(), "a run that goes on") {
			t.Errorf("a second start ended with %d: %v", code, err)
		}
		return 1, filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
			if info, bad := e.Info(); bad != nil || info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", name, info.Mode())
			}
			return err
		})
	}, o)
	if code != 1 || err != nil {
		t.Fatalf("ended with %d: %v", code, err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := wantEnd(t, s, o, Config); !strings.Contains(err.Error(), "its owner's alone") {
		t.Error(err)
	}
}

// TestCheck changes, removes and adds an object.
func TestCheck(t *testing.T) {
	s, o := filled(t, 2), options(t)
	wantEnd(t, s, o, 0)
	o.Open = func(_ context.Context, url string) (*blob.Bucket, error) { return s.bucket(url), nil }
	check := func(want int, lines ...string) {
		t.Helper()
		var out bytes.Buffer
		code, err := Check(t.Context(), &o, &out)
		for _, line := range lines {
			if !strings.Contains(out.String(), line) {
				t.Errorf("%q is not in\n%s", line, &out)
			}
		}
		if code != want || err != nil {
			t.Errorf("ended with %d: %v\n%s", code, err, &out)
		}
	}
	check(0, ", 0 differ")
	var part string
	for key := range s.objects(t, output) {
		if strings.HasPrefix(key, "parts/") {
			part = key
		}
	}
	text := s.objects(t, output)[part]
	s.put(t, output+"/"+part, "x"+text[1:])
	s.put(t, output+"/parts/part-0", "x")
	check(Integrity, "changed\t"+output+"/"+part, "unknown\t"+output+"/parts/part-0", ", 2 differ")
	s.put(t, output+"/"+part, text[1:])
	check(Integrity, "changed\t"+output+"/"+part)
	if err := s.bucket("mem://notes").Delete(t.Context(), "masked/"+part); err != nil {
		t.Fatal(err)
	}
	check(Integrity, "missing\t"+output+"/"+part)
	s.put(t, archive+"/2026/09.txt", "a new one")
	if err := wantEnd(t, s, o, Integrity); !strings.Contains(err.Error(), part) {
		t.Error(err)
	}
	o.Args = []string{"--fresh"}
	wantEnd(t, s, o, 0)
	if s.objects(t, output)[part] != text {
		t.Error("--fresh does not put again what is missing")
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, at, prefix, bucket string }{
		{"s3://b/50%25 a#1/ñ", "s3://b/50%25 a#1/ñ", "50%25 a#1/ñ", "s3://b"},
		{"s3://b/a/c/?region=x&y=1", "s3://b/a/c", "a/c", "s3://b?region=x&y=1"},
		{"azblob://box", "azblob://box", "", "azblob://box"},
		{"file:///srv/x", "file:///srv/x", "", "file:///srv/x?metadata=skip&no_tmp_dir=true"},
		{"/srv/x", "file:///srv/x", "", "file:///srv/x?metadata=skip&no_tmp_dir=true"},
	} {
		at, prefix, bucket, err := parse(c.name)
		if at != c.at || prefix != c.prefix || bucket != c.bucket || err != nil {
			t.Errorf("%s: %q %q %q %v", c.name, at, prefix, bucket, err)
		}
	}
}

func TestMovePlaces(t *testing.T) {
	name := filepath.Join(t.TempDir(), "_inputs")
	// the lines of pipeline/commit/places.go
	line := func(dir string) string {
		body := fmt.Sprintf(`{"path":"%s/in/s3/b/1.csv","units":["u"]}`, dir)
		return fmt.Sprintf("%08x %s\n", crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)), body)
	}
	err := os.WriteFile(name, []byte(line("/a")), 0o600)
	if err == nil {
		err = movePlaces(name, "/a", "/b/c")
	}
	got, err2 := os.ReadFile(name)
	if string(got) != line("/b/c") || cmp.Or(err, err2) != nil {
		t.Errorf("got %q %v %v", got, err, err2)
	}
}
