package cloud

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"gocloud.dev/blob"
)

// Options are what a run is told.
type Options struct {
	In           []string // URLs, or paths of this machine
	Out, Private string
	Scratch      string // folder in which there may be one of ours; "": that of the system
	Limit        int64  // bytes in scratch
	Args         []string

	Open  func(ctx context.Context, url string) (*blob.Bucket, error)
	Velum func(ctx context.Context, out io.Writer, lock *os.File, args ...string) (exit int, err error) // starts velum
	Log   *slog.Logger

	program              string // velum
	json, quiet, emptyOK bool
}

// A run is one start of velum-cloud.
type run struct {
	trees    [3]*folder // public, private, state
	state    *folder    // manifests, and what is no part
	dir      string     // scratch
	limit    int64
	room     int64 // bytes of inputs at once: as much again is for what is made of them, and for what is being made
	args     []string
	velum    func(ctx context.Context, out io.Writer, lock *os.File, args ...string) (int, error)
	open     func(ctx context.Context, name string, create bool) (*folder, error)
	log      *slog.Logger
	lock     *os.File
	attempt  string
	settings string
	base     *manifest // what the store has
	whole    bool      // scratch has public parts too
	atOnce   int
	look     time.Duration // how often scratch is measured while velum works there
}

func (r *run) scratch(name ...string) string {
	return filepath.Join(append([]string{r.dir}, name...)...)
}

// newRun opens the folders of the output.
func newRun(ctx context.Context, o *Options) (*run, error) {
	host, _ := os.Hostname()
	begun := time.Now().UTC().Format("2006-01-02 15:04:05Z")
	r := &run{args: o.Args, limit: o.Limit, velum: o.Velum, log: o.Log, atOnce: 8, look: 2 * time.Second, attempt: fmt.Sprintf("%s, process %d, begun %s (%s)", host, os.Getpid(), begun, rand.Text()[:6])}
	r.open = func(ctx context.Context, name string, create bool) (*folder, error) {
		at, prefix, bucketURL, err := parse(name)
		if err != nil {
			return nil, err
		}
		if create && strings.HasPrefix(at, "file://") {
			bucketURL += "&create_dir=true&dir_file_mode=0700"
		}
		b, err := o.Open(ctx, bucketURL)
		if err != nil { // the error has the URL, and people put secrets into those
			_, query, _ := strings.Cut(bucketURL, "?")
			said := strings.ReplaceAll(err.Error(), "?"+query, "")
			return nil, wrong("see the names and variables of the provider in `velum-cloud help`", "%s cannot be opened: %s", at, said)
		}
		if prefix != "" {
			prefix += "/"
		}
		return &folder{gocloud{b, prefix}, at, o.Log, pause}, nil
	}
	private := o.Private
	if private == "" {
		private = beside(o.Out, ".private")
	}
	for i, name := range []string{o.Out, private, beside(private, ".cloud")} {
		f, err := r.open(ctx, name, true)
		if err == nil && strings.Count(f.url, "/") < 3 {
			err = wrong("name a folder in it", "%s is a whole bucket", f.url)
		}
		if err != nil {
			return nil, err
		}
		r.trees[i], r.state = f, f
	}
	if within(r.trees[0].url, r.trees[1].url) || within(r.trees[1].url, r.trees[0].url) {
		return nil, wrong("name two folders", "%s and %s must not stand inside each other", r.trees[0].url, r.trees[1].url)
	}
	return r, nil
}

// beside is the URL of a folder with something after its name.
func beside(name, suffix string) string {
	at, query, has := strings.Cut(name, "?")
	at = strings.TrimRight(at, "/") + suffix
	if has {
		at += "?" + query
	}
	return at
}

func within(a, b string) bool { return strings.HasPrefix(a+"/", b+"/") }

// Run masks what is new in the inputs. The exit code is that of velum.
func Run(ctx context.Context, o *Options) (exit int, err error) {
	r, err := newRun(ctx, o)
	if err != nil {
		return ExitCode(err), err
	}
	if exit, err = r.inScratch(ctx, o, func() (int, error) { return r.run(ctx, o) }); err != nil {
		exit = cmp.Or(exit, ExitCode(err))
	}
	return exit, err
}

// Forget takes files out of the output. All of it is brought to scratch.
func Forget(ctx context.Context, o *Options) (exit int, err error) {
	r, err := newRun(ctx, o)
	if err != nil {
		return ExitCode(err), err
	}
	exit, err = r.inScratch(ctx, o, func() (int, error) {
		if r.settings = r.base.Settings; r.base.Number == 0 {
			return Nothing, &Error{Nothing, r.trees[0].url + ": there is no output", ""}
		}
		if err := r.restore(ctx, true); err != nil {
			return 0, err
		}
		exit, err := r.work(ctx, append([]string{"forget", "--out", r.scratch(treeNames[0])}, r.args...)...)
		if err != nil || exit != 0 {
			return exit, err
		}
		return 0, r.publish(ctx, r.base.Inputs)
	})
	return cmp.Or(exit, ExitCode(err)), err
}

// inScratch does something with a folder of ours, which no other process has, and with the last
// commit as the base. The folder goes when all went well: else the next start goes on from there.
func (r *run) inScratch(ctx context.Context, o *Options, do func() (int, error)) (exit int, err error) {
	sum := sha256.Sum256([]byte(r.trees[0].url + "\n" + r.trees[1].url))
	base, err := filepath.Abs(cmp.Or(o.Scratch, os.TempDir()))
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		return Config, wrong("make the folder, or name another with --scratch", "--scratch: %v", err)
	}
	r.dir = filepath.Join(base, fmt.Sprintf("velum-cloud-%x", sum[:6]))
	if err := os.Mkdir(r.dir, 0o700); err != nil && !os.IsExist(err) {
		return Config, wrong("name another folder with --scratch", "--scratch: %v", err)
	}
	info, err := os.Lstat(r.dir)
	if err != nil {
		return 0, err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !info.IsDir() || info.Mode().Perm()&0o077 != 0 || ok && int(owner.Uid) != os.Getuid() {
		return Config, wrong("remove it, or name another folder with --scratch", "scratch %s is no folder of its owner's alone", r.dir)
	}
	if r.lock, err = os.OpenFile(r.scratch("lock"), os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return 0, err
	}
	defer r.lock.Close()
	// velum inherits the lock: a child that outlived a killed velum-cloud still has scratch.
	if err := syscall.Flock(int(r.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return Locked, &Error{Locked, fmt.Sprintf("scratch %s is that of a run that goes on", r.dir), "wait until it has ended"}
	}
	if mine, err := r.lock.Stat(); err != nil || !isFile(r.scratch("lock"), mine) { // whoever had it has just removed it
		return Locked, &Error{Locked, fmt.Sprintf("scratch %s was that of a run that has just ended", r.dir), "start again"}
	}
	if err = r.begin(ctx, slices.Contains(r.args, "--fresh")); err == nil {
		exit, err = do()
	}
	if err != nil || exit != 0 && exit != Quarantined && exit != Nothing {
		if made, bad := os.ReadDir(r.dir); bad == nil && len(made) == 1 { // the lock
			return exit, cmp.Or(err, os.RemoveAll(r.dir))
		}
		r.log.Warn("scratch stays: it holds words of notes, and the next start goes on from there", "scratch", r.dir)
		return exit, err
	}
	return exit, os.RemoveAll(r.dir)
}

func isFile(name string, f os.FileInfo) bool {
	info, err := os.Stat(name)
	return err == nil && os.SameFile(info, f)
}

// begin reads the last commit, and ends what whoever made it did not come to.
func (r *run) begin(ctx context.Context, mends bool) error {
	n, err := r.newest(ctx)
	if err != nil {
		return err
	}
	if r.base, err = r.load(ctx, n); err != nil || n == 0 {
		return err
	}
	if err := r.own(ctx, n); err != nil {
		return err
	}
	before, err := r.load(ctx, n-1)
	if err != nil {
		return err
	}
	missing, err := r.settle(ctx, before, r.base)
	if err == nil && len(missing) > 0 && !mends {
		f := missing[0]
		err = broken("with --fresh and all of --in it is done again", "%s/%s is missing or changed, and %d more", r.trees[f.tree()].url, f.Path, len(missing)-1)
	}
	return err
}

func (r *run) run(ctx context.Context, o *Options) (exit int, err error) {
	if r.settings, err = r.digest(ctx); err != nil {
		return 0, err
	}
	all, err := r.inputs(ctx, o.In)
	if err != nil {
		return 0, err
	}
	replace, fresh := slices.Contains(r.args, "--replace"), slices.Contains(r.args, "--fresh")
	others := r.base.Number > 0 && r.settings != r.base.Settings
	every := fresh || replace || others
	whole := replace || others || slices.ContainsFunc(r.args, func(a string) bool { return strings.HasPrefix(a, "--audit") })
	todo := all[:0:0]
	for _, in := range all {
		was, known := r.base.Inputs[in.url()]
		if every || was != in.version {
			todo = append(todo, in)
			whole = whole || known && was != in.version // velum compares it with what lay there
		}
	}
	r.log.Info("inputs", "objects", len(all), "new", len(todo), "output", r.trees[0].url, "manifest", r.base.Number)
	if len(todo) == 0 {
		return Nothing, nil
	}
	if r.base.Number == 0 {
		err = r.own(ctx, 0)
	}
	if err != nil {
		return 0, err
	}
	if err := r.restore(ctx, whole); err != nil {
		return 0, err
	}
	batches, err := r.batches(todo)
	if err == nil && replace && len(batches) > 1 {
		err = wrong("give more with --scratch-limit", "--replace needs all of --in at once, which does not fit scratch")
	}
	if err != nil {
		return 0, err
	}
	inputs := maps.Clone(r.base.Inputs)
	if replace {
		clear(inputs)
	}
	masked := false
	for len(batches) > 0 {
		batch := batches[0]
		r.log.Info("batch", "objects", len(batch), "batches left", len(batches)-1)
		code, err := r.batch(ctx, batch, inputs)
		if n := len(batch); errors.Is(err, errFull) && n > 1 && !replace {
			r.log.Warn("scratch is too small for this batch: it is divided", "objects", n, "limit", r.limit)
			batches = append([][]input{batch[:n/2], batch[n/2:]}, batches[1:]...)
			if err = os.RemoveAll(r.scratch("base")); err == nil {
				err = r.restore(ctx, whole)
			}
			if err == nil {
				continue
			}
		}
		if err != nil || code != 0 && code != Quarantined && code != Nothing {
			return code, err
		}
		if code == Quarantined {
			exit = code
		}
		masked = masked || code != Nothing
		batches = batches[1:]
	}
	if !masked {
		return Nothing, nil
	}
	return exit, nil
}

// errFull ends what would make scratch larger than its limit.
var errFull = &Error{DiskFull, "what velum makes of this does not fit scratch", "give more with --scratch-limit"}

// work starts velum, and ends it when scratch gets larger than its limit.
func (r *run) work(ctx context.Context, args ...string) (exit int, err error) {
	ctx, stop := context.WithCancelCause(ctx)
	var watch sync.WaitGroup
	watch.Go(func() {
		ticker := time.NewTicker(r.look)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
				if r.used() > r.limit {
					stop(errFull)
				}
			}
		}
	})
	exit, err = r.velum(ctx, nil, r.lock, args...)
	stop(nil)
	watch.Wait()
	return exit, err
}

// used is how many bytes scratch takes. Files come and go meanwhile.
func (r *run) used() (bytes int64) {
	_ = filepath.WalkDir(r.dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := e.Info(); err == nil {
			if on, is := info.Sys().(*syscall.Stat_t); is {
				bytes += on.Blocks * 512
			}
		}
		return nil
	})
	return bytes
}

// batch has velum mask some inputs, and publishes what came out.
func (r *run) batch(ctx context.Context, batch []input, inputs map[string]string) (exit int, err error) {
	if err := os.RemoveAll(r.scratch("in")); err != nil {
		return 0, err
	}
	if err := r.each(ctx, len(batch), func(ctx context.Context, i int) error { return batch[i].fetch(ctx, r) }); err != nil {
		return 0, err
	}
	args := append([]string{"run", "--out", r.scratch(treeNames[0]), "--private", r.scratch(treeNames[1])}, r.args...)
	var roots []string
	for _, in := range batch {
		if root := in.root(r); !slices.Contains(roots, root) {
			roots = append(roots, root)
			args = append(args, "--in", root)
		}
	}
	exit, err = r.work(ctx, append(args, "--set", "run.recheck=never", "--set", "run.vanished=keep")...)
	if err != nil || exit != 0 && exit != Quarantined && exit != Nothing {
		return exit, err
	}
	unread, err := r.unread()
	if err != nil {
		return 0, err
	}
	for _, in := range batch {
		if !unread[in.name] {
			inputs[in.url()] = in.version
		}
	}
	if unread != nil { // exit code 4 too: an earlier start may have been killed before it published
		err = r.publish(ctx, maps.Clone(inputs))
	}
	return exit, cmp.Or(err, os.RemoveAll(r.scratch("in")))
}

// unread lists the inputs that the system could not read, which the next start tries again.
func (r *run) unread() (map[string]bool, error) {
	var m struct {
		Units []struct {
			Input   string
			Unread  bool
			Members []struct {
				Input  string
				Unread bool
			}
		}
	}
	data, err := os.ReadFile(r.scratch(treeNames[1], "manifest.json"))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err == nil && json.Unmarshal(data, &m) != nil {
		err = broken("", "manifest.json in scratch cannot be read")
	}
	unread := map[string]bool{}
	for _, u := range m.Units {
		for _, f := range u.Members {
			unread[f.Input] = unread[f.Input] || f.Unread
		}
		unread[u.Input] = unread[u.Input] || u.Unread
	}
	return unread, err
}

// digest is of all that may change what velum makes of an input: its version, options and
// the content of every file that an option names. If it is another than before, inputs are brought again.
func (r *run) digest(ctx context.Context) (string, error) {
	var said strings.Builder
	args := []string{"config", "print"}
	for i, a := range r.args {
		for _, global := range []string{"--set", "--config", "--profile"} {
			if strings.HasPrefix(a, global+"=") {
				args = append(args, a)
			} else if a == global && i+1 < len(r.args) {
				args = append(args, a, r.args[i+1])
			}
		}
	}
	for _, args := range [][]string{{"version"}, args} {
		if code, err := r.velum(ctx, &said, r.lock, args...); err != nil || code != 0 {
			return "", cmp.Or(err, wrong("correct the options", "velum %s ended with exit code %d", args[0], code))
		}
	}
	sum := sha256.New()
	args = shaping(r.args)
	fmt.Fprintf(sum, "%s\n%q\n", said.String(), args)
	words := strings.FieldsFunc(said.String(), func(c rune) bool { return strings.ContainsRune(" \t\n\"',[]", c) })
	for _, a := range args {
		words = append(words, a, a[strings.LastIndex(a, "=")+1:])
	}
	for _, word := range words {
		if err := digestFiles(sum, word); err != nil {
			return "", err
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// shaping leaves out of velum's arguments what changes no byte of what it masks.
func shaping(args []string) (left []string) {
	for i := 0; i < len(args); i++ {
		flag, _, is := strings.Cut(args[i], "=")
		switch flag {
		case "--metrics", "--private-metrics", "--audit-log", "--audit", "--workers", "--units", "--memory-limit", "--deadline":
			if !is {
				i++
			}
		case "--fresh", "--replace", "--quiet", "-q", "--verbose", "-v", "--json", "--no-color", "--empty-ok":
		default:
			left = append(left, args[i])
		}
	}
	return left
}

// digestFiles adds the content of a file, or of what lies in a folder, if there is one of that name.
func digestFiles(sum io.Writer, word string) error {
	info, err := os.Stat(word)
	if err != nil || info.IsDir() && !strings.Contains(strings.Trim(word, "/"), "/") || !info.IsDir() && !info.Mode().IsRegular() {
		return nil // a word, and no name of a file
	}
	return filepath.WalkDir(word, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		fmt.Fprintf(sum, "%s\n", name)
		_, err = io.Copy(sum, f)
		return err
	})
}
