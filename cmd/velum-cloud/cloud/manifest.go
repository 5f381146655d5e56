package cloud

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A manifest is a commit: what both trees are, and which inputs they were made of. It
// lies in a folder of its own beside the private tree, as manifest-N.json, and is never
// removed: a number that was taken stays taken, so that a run that slept cannot commit.
type manifest struct {
	Schema   string            `json:"schema"`
	Number   int               `json:"number"`
	Attempt  string            `json:"attempt"`  // who made it
	Settings string            `json:"settings"` // digest of options and of the files they name
	Scratch  string            `json:"scratch"`  // where the trees lay: velum's list of inputs has paths
	Inputs   map[string]string `json:"inputs"`   // version by URL
	Files    []file            `json:"files"`    // of both trees, sorted
}

// A file is one of a tree.
type file struct {
	Private bool   `json:"private,omitempty"`
	Path    string `json:"path"`
	Bytes   int64  `json:"bytes"`
	SHA256  string `json:"sha256"`
	MD5     string `json:"md5"` // what stores tell of an object
}

const schema = "velum.cloud/1"

// part tells whether the file's name is a function of what is in it.
func (f file) part() bool { return strings.HasPrefix(path.Base(f.Path), "part-") }

// hollow tells whether scratch has a file without blocks in its place.
func (f file) hollow() bool { return f.part() && !f.Private }

func (f file) tree() int {
	if f.Private {
		return 1
	}
	return 0
}

// staged is the name of what is no part until it is put in its place.
func (f file) staged() string { return staging + f.SHA256 }

const staging = "files/"

// inOrder sorts as files are put in their places: what readers go by comes last.
func inOrder(a, b file) int {
	last := func(f file) int { return slices.Index([]string{"manifest.json", "_SUCCESS"}, f.Path) }
	return cmp.Or(cmp.Compare(last(a), last(b)), cmp.Compare(b.tree(), a.tree()), cmp.Compare(a.Path, b.Path))
}

func manifestKey(n int) string { return fmt.Sprintf("manifest-%d.json", n) }

// newest is the number of the last commit; 0: there was none.
func (r *run) newest(ctx context.Context) (n int, err error) {
	there, err := r.state.all(ctx, "manifest-")
	for key := range there {
		if m, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(key, "manifest-"), ".json")); err == nil {
			n = max(n, m)
		}
	}
	return n, err
}

// load reads a manifest; that of number 0 is empty.
func (r *run) load(ctx context.Context, n int) (*manifest, error) {
	m := &manifest{Inputs: map[string]string{}}
	if n == 0 {
		return m, nil
	}
	data, err := r.state.small(ctx, manifestKey(n))
	if err != nil {
		return nil, err
	}
	if json.Unmarshal(data, m) != nil || m.Schema != schema || m.Number != n {
		return nil, broken("use the velum-cloud that wrote it, or put back an earlier version of the object", "%s/%s is no manifest of this version of velum-cloud", r.state.url, manifestKey(n))
	}
	return m, nil
}

// commit puts the manifest that follows the base, if nobody else has.
func (r *run) commit(ctx context.Context, m *manifest) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	key := manifestKey(m.Number)
	was, err := r.state.create(ctx, key, data)
	if !was && (err == nil || !passing(err)) {
		return err
	}
	// Refused; or nobody knows, since the answer was lost: perhaps by the very one that is there.
	won, bad := r.load(ctx, m.Number)
	switch {
	case bad != nil:
		return cmp.Or(err, bad)
	case won.Attempt == m.Attempt:
		return nil
	}
	return &Error{Locked, fmt.Sprintf("%s/%s was committed by %s while this run worked: nothing of this batch was committed", r.state.url, key, won.Attempt), "start again: what the other one did is not done twice"}
}

// own says in the store whose these folders are, and finds out whether the store honours what a commit needs. A
// folder that holds what nobody knows is no output: parts of others would be taken for junk.
func (r *run) own(ctx context.Context, n int) error {
	const key = "output.json"
	mine := fmt.Appendf(nil, "{\"schema\":%q,\"public\":%q,\"private\":%q}\n", schema, r.trees[0].url, r.trees[1].url)
	var foreign error
	for _, t := range r.trees { // in this order: another run puts the object first
		there, err := t.all(ctx, "")
		if err != nil {
			return err
		}
		if _, ours := there[key]; ours && t == r.state {
			foreign = nil
		} else if len(there) > 0 && n == 0 {
			foreign = wrong("name an empty folder, or --private as it was then", "%s holds objects, and no run is known that put them there", t.url)
		}
	}
	if foreign != nil {
		return foreign
	}
	for range 2 {
		was, err := r.state.create(ctx, key, mine)
		if err != nil {
			return err
		}
		if !was {
			continue
		}
		if have, err := r.state.small(ctx, key); err != nil || !bytes.Equal(have, mine) {
			return cmp.Or(err, wrong("name another --private; or remove that object if the output has moved", "%s/%s is that of another output", r.state.url, key))
		}
		return nil
	}
	return wrong("use one that has (S3 has since 2024)", "the store of %s does not honour If-None-Match: two runs at once would overwrite each other", r.state.url)
}

// Junk are parts that no commit lists: of a run that died, or of one that is putting them now. What is old is of the
// first kind, since a run that has not committed what it put within tooLong gives up. How old says the store: by the
// newest of its objects, and not by the clock of this machine.
const (
	tooLong = 12 * time.Hour
	junkAge = 24 * time.Hour
)

// settle puts the files of a commit in their places, and removes what only the commit
// before lists. It returns the parts that should be there and are not.
func (r *run) settle(ctx context.Context, before, now *manifest) (missing []file, err error) {
	for {
		missing, err = r.settleOnce(ctx, before, now)
		n, bad := r.newest(ctx)
		if bad != nil || n == now.Number {
			return missing, cmp.Or(err, bad)
		}
		// Another run has committed meanwhile: what was just put may be older than what it
		// put, and what was not found it has removed.
		before = now
		if now, err = r.load(ctx, n); err != nil {
			return nil, err
		}
	}
}

// there lists what the store has, and tells when the newest of it was put.
func (r *run) there(ctx context.Context) (all [3]map[string]object, newest time.Time, err error) {
	for i, t := range r.trees {
		if all[i], err = t.all(ctx, ""); err != nil {
			return all, newest, err
		}
		for _, o := range all[i] {
			if o.made.After(newest) {
				newest = o.made
			}
		}
	}
	return all, newest, nil
}

func (r *run) settleOnce(ctx context.Context, before, now *manifest) (missing []file, err error) {
	there, newest, err := r.there(ctx)
	if err != nil {
		return nil, err
	}
	old, listed := before.names(), now.names()
	for _, f := range now.Files {
		o := there[f.tree()][f.Path]
		if f.part() && o.size != f.Bytes {
			missing = append(missing, f)
		}
		if !f.part() {
			if err := r.place(ctx, f, o); err != nil {
				return nil, err
			}
		}
	}
	for i, t := range r.trees {
		for key, o := range there[i] {
			junk := (strings.HasPrefix(path.Base(key), "part-") || strings.HasPrefix(key, staging)) && newest.Sub(o.made) > junkAge
			if listed[i][key] || !old[i][key] && !junk {
				continue
			}
			if err := r.removeOld(ctx, t, key, o, now); err != nil {
				return nil, err
			}
		}
	}
	return missing, nil
}

// names lists what a commit has in both trees and beside the manifests.
func (m *manifest) names() [3]map[string]bool {
	all := [3]map[string]bool{{}, {}, {}}
	for _, f := range m.Files {
		if all[f.tree()][f.Path] = true; !f.part() {
			all[2][f.staged()] = true
		}
	}
	return all
}

// removeOld removes an object, unless another run has put it again or has committed.
func (r *run) removeOld(ctx context.Context, t *folder, key string, o object, now *manifest) error {
	if n, err := r.newest(ctx); err != nil || n != now.Number {
		return err
	}
	is, err := t.all(ctx, key)
	if err != nil || is[key].version() != o.version() {
		return err
	}
	return t.drop(ctx, key)
}

// place puts a staged file in its place, unless it is there. What a store calls MD5 is none where it encrypts with keys
// of the house: such a file is read.
func (r *run) place(ctx context.Context, f file, o object) error {
	t := r.trees[f.tree()]
	if o.size == f.Bytes && !o.made.IsZero() {
		if hex.EncodeToString(o.md5) == f.MD5 {
			return nil
		}
		if sum, err := t.copyTo(ctx, f.Path, f.Bytes, io.Discard); err == nil && sum == f.SHA256 {
			return nil
		}
	}
	name := r.scratch("tmp")
	sum, err := r.state.fetch(ctx, f.staged(), f.Bytes, name)
	if err != nil {
		return err
	}
	if sum != f.SHA256 {
		return broken("", "%s/%s is not what was put there", r.state.url, f.staged())
	}
	return cmp.Or(t.put(ctx, f.Path, name), os.Remove(name))
}
