package cloud

import (
	"cmp"
	"context"
	"crypto/md5"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// stamp is the time of files in scratch that are as the base has them: whoever writes
// one gives it another.
var stamp = time.Unix(1e9, 0)

// local is where a file of the trees lies in scratch.
func (r *run) local(f file) string { return r.scratch(treeNames[f.tree()], filepath.FromSlash(f.Path)) }

var treeNames = [2]string{"masked", "masked.private"}

// restore makes the trees of the base in scratch, unless an earlier start has.
func (r *run) restore(ctx context.Context, whole bool) error {
	r.whole = whole
	bytes := int64(0)
	for _, f := range r.base.Files {
		if !f.hollow() || whole {
			bytes += f.Bytes
		}
	}
	if r.room = (r.limit - bytes) / 3; r.room <= 0 {
		return wrong("give more with --scratch-limit", "what this needs of the output, %d bytes, does not fit scratch", bytes)
	}
	if have, err := os.ReadFile(r.scratch("base")); err == nil && string(have) == r.mark() {
		r.log.Info("scratch has what an earlier start left", "scratch", r.dir)
		return nil
	}
	for _, name := range []string{"base", treeNames[0], treeNames[1]} {
		if err := os.RemoveAll(r.scratch(name)); err != nil {
			return err
		}
	}
	err := r.each(ctx, len(r.base.Files), func(ctx context.Context, i int) error { return r.bring(ctx, r.base.Files[i], whole) })
	if err != nil {
		return err
	}
	return os.WriteFile(r.scratch("base"), []byte(r.mark()), 0o600)
}

// mark says what the trees in scratch began with.
func (r *run) mark() string { return fmt.Sprint(r.base.Number, " ", r.base.Attempt, " ", r.whole) }

// bring makes a file of the base in scratch.
func (r *run) bring(ctx context.Context, f file, whole bool) error {
	name := r.local(f)
	if !filepath.IsLocal(filepath.FromSlash(f.Path)) {
		return broken("", "%s lists a file outside of the trees", r.state.url)
	}
	if f.hollow() && !whole {
		return hollow(name, f.Bytes)
	}
	t, key := r.at(f)
	sum, err := t.fetch(ctx, key, f.Bytes, name)
	if err == nil && sum != f.SHA256 {
		err = broken("`velum-cloud check` lists what is changed; with --fresh and all of --in it is done again", "%s/%s is changed since it was written", t.url, key)
	}
	if err == nil && f.Private && f.Path == "_inputs" {
		err = movePlaces(name, r.base.Scratch, r.dir)
	}
	if err != nil {
		return err
	}
	return os.Chtimes(name, stamp, stamp)
}

// hollow makes a file that is as long as it should be and has no blocks.
func hollow(name string, bytes int64) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Truncate(bytes), file.Close()); err != nil {
		return err
	}
	return os.Chtimes(name, stamp, stamp)
}

// movePlaces lets velum's list of where inputs lay speak of this scratch. It is lines of a
// CRC and JSON (pipeline/commit, places.go).
func movePlaces(name, from, to string) error {
	if from == to {
		return nil
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	quoted := func(s string) string { q, _ := json.Marshal(s + "/"); return strings.TrimSuffix(string(q), `"`) }
	var moved []byte
	for line := range strings.Lines(string(data)) {
		if _, body, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			body = strings.ReplaceAll(body, quoted(from), quoted(to))
			moved = fmt.Appendf(moved, "%08x %s\n", crc32.Checksum([]byte(body), crc32.MakeTable(crc32.Castagnoli)), body)
		}
	}
	return os.WriteFile(name, moved, 0o600)
}

// survey lists the trees in scratch. Of files that nobody touched it says what the base says.
func (r *run) survey(ctx context.Context) ([]file, error) {
	known := map[file]file{}
	for _, f := range r.base.Files {
		known[file{Private: f.Private, Path: f.Path, Bytes: f.Bytes}] = f
	}
	var files []file
	var changed []int
	for i, tree := range treeNames {
		root := r.scratch(tree)
		err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || strings.HasPrefix(e.Name(), ".") {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			rel, err := filepath.Rel(root, name)
			f := file{Private: i == 1, Path: filepath.ToSlash(rel), Bytes: info.Size()}
			if was, ok := known[f]; ok && info.ModTime().Equal(stamp) {
				f = was
			} else {
				changed = append(changed, len(files))
			}
			files = append(files, f)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err := r.each(ctx, len(changed), func(_ context.Context, i int) error { return files[changed[i]].sum(r) })
	slices.SortFunc(files, inOrder)
	return files, err
}

// sum reads the file in scratch.
func (f *file) sum(r *run) error {
	in, err := os.Open(r.local(*f))
	if err != nil {
		return err
	}
	defer in.Close()
	sha, md := sha256.New(), md5.New()
	if f.Bytes, err = io.Copy(io.MultiWriter(sha, md), in); err != nil {
		return err
	}
	f.SHA256, f.MD5 = hex.EncodeToString(sha.Sum(nil)), hex.EncodeToString(md.Sum(nil))
	return nil
}

// publish puts what velum has committed on scratch into the store, and commits that.
func (r *run) publish(ctx context.Context, inputs map[string]string) error {
	began := time.Now().Round(0) // a machine that slept has been away, too
	files, err := r.survey(ctx)
	if err != nil {
		return err
	}
	next := &manifest{Schema: schema, Number: r.base.Number + 1, Attempt: r.attempt, Settings: r.settings, Scratch: r.dir, Inputs: inputs, Files: files}
	if r.base.says(next) {
		return nil
	}
	if err := r.upload(ctx, files); err != nil {
		return err
	}
	if time.Now().Round(0).Sub(began) > tooLong {
		return &Error{Failed, "putting the output took too long to be committed", "start again"}
	}
	if err := r.commit(ctx, next); err != nil {
		return err
	}
	missing, err := r.settle(ctx, r.base, next)
	if err == nil && len(missing) > 0 { // taken by a run that slept for junk
		err = r.each(ctx, len(missing), func(ctx context.Context, i int) error { return r.putAgain(ctx, missing[i]) })
	}
	if err != nil {
		return err
	}
	r.base = next
	r.log.Info("committed", "manifest", r.state.url+"/"+manifestKey(next.Number), "files", len(files))
	return r.evict(files)
}

// says tells whether another manifest would say the same.
func (m *manifest) says(n *manifest) bool {
	a, b := *m, *n
	a.Schema, a.Number, a.Attempt, a.Scratch = b.Schema, b.Number, b.Attempt, b.Scratch
	one, err := json.Marshal(a)
	other, err2 := json.Marshal(b)
	return cmp.Or(err, err2) == nil && string(one) == string(other)
}

// upload puts what the base does not have: parts in their places, other files beside the manifests. What a
// start that was killed has put is put again, so that nobody takes it for junk.
func (r *run) upload(ctx context.Context, files []file) error {
	had := r.base.names()
	there, _, err := r.there(ctx)
	if err != nil {
		return err
	}
	return r.each(ctx, len(files), func(ctx context.Context, i int) error {
		f := files[i]
		at, key := f.tree(), f.Path
		if !f.part() {
			at, key = 2, f.staged()
		}
		if o, is := there[at][key]; is && had[at][key] && o.size == f.Bytes {
			return nil
		}
		return r.putAgain(ctx, f)
	})
}

// at is where the store has the file: a part in its place, another beside the manifests.
func (r *run) at(f file) (t *folder, key string) {
	if f.part() {
		return r.trees[f.tree()], f.Path
	}
	return r.state, f.staged()
}

// putAgain puts a file of scratch, if it is not hollow there.
func (r *run) putAgain(ctx context.Context, f file) error {
	t, key := r.at(f)
	if info, err := os.Stat(r.local(f)); err != nil || f.hollow() && info.ModTime().Equal(stamp) {
		return cmp.Or(err, broken("with --fresh and all of --in it is done again", "%s/%s is missing or changed", t.url, key))
	}
	return t.put(ctx, key, r.local(f))
}

// evict gives the blocks of public parts back, and marks all files as those of the base.
func (r *run) evict(files []file) error {
	for _, f := range files {
		name := r.local(f)
		err := os.Chtimes(name, stamp, stamp)
		if f.hollow() && !r.whole {
			err = hollow(name, f.Bytes)
		}
		if err != nil {
			return err
		}
	}
	return os.WriteFile(r.scratch("base"), []byte(r.mark()), 0o600)
}

// each does something n times, some at once, and returns the first error.
func (r *run) each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(r.atOnce)
	for i := range n {
		all.Go(func() error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return do(ctx, i)
		})
	}
	return all.Wait()
}
