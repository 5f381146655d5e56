package cloud

import (
	"cmp"
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// An input is an object that is masked.
type input struct {
	folder  *folder
	name    string // below the folder
	single  bool   // it was named itself, not the folder
	size    int64
	version string
}

func (in input) url() string { return in.folder.url + "/" + in.name }

// at is where the input lies in scratch: the same place every time, since velum takes what
// lies at one path for versions of one file.
func (in input) at(r *run) string {
	return r.scratch("in", filepath.FromSlash(strings.Replace(in.url(), "://", "/", 1)))
}

// root is what velum is given.
func (in input) root(r *run) string {
	if in.single {
		return in.at(r)
	}
	return r.scratch("in", filepath.FromSlash(strings.Replace(in.folder.url, "://", "/", 1)))
}

// inputs lists the objects of all URLs, each once.
func (r *run) inputs(ctx context.Context, urls []string) ([]input, error) {
	var all []input
	files := map[string]bool{} // by URL
	for _, name := range urls {
		found, err := r.inputsOf(ctx, name)
		if err != nil {
			return nil, err
		}
		for _, in := range found {
			_, key, _ := strings.Cut(in.url(), "://")
			odd := strings.ContainsFunc(key, func(c rune) bool { return unicode.IsControl(c) || c == utf8.RuneError })
			if odd || path.Clean(key) != key || !filepath.IsLocal(strings.TrimPrefix(key, "/")) || len(path.Base(key)) > 200 {
				return nil, wrong("copy it under another name", "%q has a name that no file can have", in.url())
			}
			if !files[in.url()] {
				files[in.url()] = true
				all = append(all, in)
			}
		}
	}
	for _, in := range all {
		for i := range len(in.name) {
			if above := in.folder.url + "/" + in.name[:i]; in.name[i] == '/' && files[above] {
				return nil, wrong("copy one of them under another name", "%s cannot be a file and the folder of %s", above, in.url())
			}
		}
	}
	return all, nil
}

func (r *run) inputsOf(ctx context.Context, name string) ([]input, error) {
	at, prefix, _, err := parse(name)
	if err != nil {
		return nil, err
	}
	for _, out := range r.trees {
		if within(at, out.url) || within(out.url, at) {
			return nil, wrong("name an output outside of the archive", "output %s and input %s must not stand inside each other", out.url, at)
		}
	}
	local, err := os.Stat(strings.TrimPrefix(at, "file://"))
	if err != nil || local.IsDir() {
		f, err := r.open(ctx, name, false)
		if err != nil {
			return nil, err
		}
		objects, err := f.all(ctx, "")
		if err != nil || len(objects) > 0 {
			return inputsIn(f, objects, ""), err
		}
	}
	if local != nil && !local.IsDir() || prefix != "" { // perhaps it is an object, and no folder
		slash := strings.LastIndex(at, "/")
		query := ""
		if _, q, has := strings.Cut(name, "?"); has && prefix != "" {
			query = "?" + q
		}
		f, err := r.open(ctx, at[:slash]+query, false)
		if err != nil {
			return nil, err
		}
		objects, err := f.all(ctx, at[slash+1:])
		if found := inputsIn(f, objects, at[slash+1:]); err != nil || len(found) > 0 {
			return found, err
		}
	}
	return nil, &Error{Nothing, at + ": there are no objects", "look at --in"}
}

// inputsIn makes inputs of the objects of a folder, or of one of them.
func inputsIn(f *folder, objects map[string]object, only string) []input {
	var found []input
	for key, o := range objects {
		if only == "" || key == only {
			found = append(found, input{f, key, only != "", o.size, o.version()})
		}
	}
	return found
}

// smallFile is the size up to which velum lets files share parts: those are brought together.
const smallFile = 256 << 10

// batches divides the inputs into what fits scratch.
func (r *run) batches(todo []input) ([][]input, error) {
	slices.SortFunc(todo, func(a, b input) int {
		large := func(in input) int { return int(min(in.size/(smallFile+1), 1)) }
		return cmp.Or(cmp.Compare(large(a), large(b)), cmp.Compare(a.url(), b.url()))
	})
	var all [][]input
	left := int64(-1)
	for _, in := range todo {
		if in.size > r.room {
			return nil, wrong("give more with --scratch-limit: three times the largest object, and what the private tree has", "%s has %d bytes, which do not fit scratch", in.url(), in.size)
		}
		if left -= in.size; left < 0 {
			all, left = append(all, nil), r.room-in.size
		}
		all[len(all)-1] = append(all[len(all)-1], in)
	}
	return all, nil
}

// fetch brings the input to scratch. What was put again meanwhile is refused: the next start has it.
func (in input) fetch(ctx context.Context, r *run) error {
	tag := func() (tag string, err error) {
		err = in.folder.again(ctx, "read", in.name, func(ctx context.Context, _ func()) error {
			tag, err = in.folder.etag(ctx, in.name)
			return err
		})
		return tag, err
	}
	before, err := tag()
	if err != nil {
		return err
	}
	if _, err := in.folder.fetch(ctx, in.name, in.size, in.at(r)); err != nil {
		return err
	}
	after, err := tag()
	if err == nil && before != after {
		err = broken("start again", "%s was put again while it was read", in.url())
	}
	return err
}
