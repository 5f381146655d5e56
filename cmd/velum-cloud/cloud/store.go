package cloud

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// An object is what a listing says of one.
type object struct {
	size int64
	md5  []byte // nil: the store has none
	made time.Time
}

// version is another whenever the object was put again.
func (o object) version() string { return fmt.Sprintf("%d-%d-%x", o.size, o.made.UnixNano(), o.md5) }

// A bucket is the part of a store that is used here. Tests put faults into it.
type bucket interface {
	list(ctx context.Context, prefix string, add func(key string, o object)) error
	etag(ctx context.Context, key string) (string, error)
	read(ctx context.Context, key string, from int64) (io.ReadCloser, error)
	write(ctx context.Context, key string, body io.Reader, fresh bool) error // fresh: if there is none
	remove(ctx context.Context, key string) error
}

// gocloud is what lies in a bucket of gocloud.dev/blob under names that begin in a certain way.
type gocloud struct {
	b      *blob.Bucket
	prefix string // "" or with a slash at its end
}

func (g gocloud) list(ctx context.Context, prefix string, add func(string, object)) error {
	all := g.b.List(&blob.ListOptions{Prefix: g.prefix + prefix})
	for {
		o, err := all.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !o.IsDir {
			add(strings.TrimPrefix(o.Key, g.prefix), object{o.Size, o.MD5, o.ModTime})
		}
	}
}

func (g gocloud) etag(ctx context.Context, key string) (string, error) {
	a, err := g.b.Attributes(ctx, g.prefix+key)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(a.ETag, a.Size, a.ModTime.UnixNano()), nil
}

func (g gocloud) read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	return g.b.NewRangeReader(ctx, g.prefix+key, from, -1, nil)
}

// write uses Upload and no Writer, and so no ContentMD5: the Writer of azureblob panics in Close when
// an upload has failed. Eight files at once take 8 MiB twice each.
func (g gocloud) write(ctx context.Context, key string, body io.Reader, fresh bool) error {
	return g.b.Upload(ctx, g.prefix+key, body, &blob.WriterOptions{ContentType: "application/octet-stream", BufferSize: 8 << 20, MaxConcurrency: 2, IfNotExist: fresh})
}

func (g gocloud) remove(ctx context.Context, key string) error { return g.b.Delete(ctx, g.prefix+key) }

// A folder is what an URL names: a bucket, in which keys begin behind the folder's name.
type folder struct {
	bucket
	url   string // without what follows "?"
	log   *slog.Logger
	pause func(ctx context.Context, try int) error
}

// parse takes an URL apart; a path of this machine is one too. s3://BUCKET/a/b?region=x is
// the bucket s3://BUCKET?region=x and the prefix a/b. A key is taken as it is written: "%20" and "#" are no signs of an URL.
func parse(name string) (at, prefix, bucketURL string, err error) {
	scheme, rest, is := strings.Cut(name, "://")
	if !is || scheme == "file" {
		if rest, err = filepath.Abs(strings.TrimPrefix(name, "file://")); err != nil {
			return "", "", "", err
		}
		return "file://" + rest, "", (&url.URL{Scheme: "file", Path: rest, RawQuery: "metadata=skip&no_tmp_dir=true"}).String(), nil
	}
	rest, query, has := strings.Cut(rest, "?")
	host, key, _ := strings.Cut(rest, "/")
	if host == "" || strings.Trim(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-$") != "" {
		return "", "", "", wrong("write it as s3://BUCKET/FOLDER, gs:// or azblob://; credentials come from the provider's chain, never from an URL", "what --in, --out or --private names is no URL of a bucket")
	}
	if prefix = strings.Trim(path.Clean("/"+key), "/"); has {
		query = "?" + query
	}
	return strings.TrimSuffix(scheme+"://"+host+"/"+prefix, "/"), prefix, scheme + "://" + host + query, nil
}

// How often something is done with an object before the run ends. The provider's library sends each
// request Requests times at the most, and so a request goes out twelve times at the most.
const (
	tries    = 4
	Requests = 3
)

// stall is how long a try may go on without a byte: the connection has been cut.
const stall = 2 * time.Minute

var errStalled = fmt.Errorf("no byte came for %v", stall)

// pause waits before a try, longer each time: 4, 16, 64 seconds at the most.
func pause(ctx context.Context, try int) error {
	d := time.Second << (2 * try)
	timer := time.NewTimer(d/2 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// passing tells whether an error may be another at the next try.
func passing(err error) bool {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound, gcerrors.AlreadyExists, gcerrors.FailedPrecondition, gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.Unimplemented:
		return false
	}
	_, local := errors.AsType[*os.PathError](err)
	return !local && !errors.Is(err, errKilled) && !slices.Contains([]int{401, 403, 404, 405, 501}, status(err))
}

// status is that of an answer of S3; the other two have codes for what matters here.
func status(err error) int {
	answer, is := errors.AsType[interface {
		error
		HTTPStatusCode() int
	}](err)
	if !is {
		return 0
	}
	return answer.HTTPStatusCode()
}

// errKilled is that of tests that end a run in the middle.
var errKilled = errors.New("killed")

// again does something with an object until it succeeds, or has failed often enough. Whoever
// does it calls alive when there was a byte.
func (f *folder) again(ctx context.Context, verb, key string, do func(ctx context.Context, alive func()) error) error {
	for try := 1; ; try++ {
		attempt, stop := context.WithCancelCause(ctx)
		timer := time.AfterFunc(stall, func() { stop(errStalled) })
		err := do(attempt, func() { timer.Reset(stall) })
		timer.Stop()
		if stop(nil); err != nil && context.Cause(attempt) == errStalled {
			err = errStalled
		}
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		said := strings.ReplaceAll(asked.ReplaceAllString(err.Error(), "$1"), strings.Repeat("-", 80), "") // Azure's are pages
		err = &failure{verb + " " + strings.TrimSuffix(f.url+"/"+key, "/") + ": " + strings.Join(strings.Fields(said), " "), err}
		if gcerrors.Code(err) == gcerrors.PermissionDenied || status(err) == 401 || status(err) == 403 {
			return wrong("look at what the credentials may do", "%v", err)
		}
		if try == tries || !passing(err) {
			return err
		}
		f.log.Warn("tried again", "error", err)
		if f.pause(ctx, try) != nil {
			return context.Cause(ctx)
		}
	}
}

// A failure says what was done with which object. What follows "?" in the URL of a request may be a signature.
type failure struct {
	said string
	err  error
}

func (f *failure) Error() string { return f.said }
func (f *failure) Unwrap() error { return f.err }

var asked = regexp.MustCompile(`(https?://[^\s"?]*)\?[^\s"]*`)

// A pulse is a reader that tells when it is read.
type pulse struct {
	io.Reader
	alive func()
}

func (p pulse) Read(b []byte) (int, error) {
	p.alive()
	return p.Reader.Read(b)
}

// all lists what lies in the folder, with names that begin in a certain way.
func (f *folder) all(ctx context.Context, prefix string) (map[string]object, error) {
	var found map[string]object
	err := f.again(ctx, "list", prefix, func(ctx context.Context, alive func()) error {
		found = map[string]object{}
		return f.list(ctx, prefix, func(name string, o object) {
			if alive(); name != "" && !strings.HasSuffix(name, "/") {
				found[name] = o
			}
		})
	})
	if gcerrors.Code(err) == gcerrors.NotFound {
		err = wrong("look at its name and at what the credentials may do", "%v", err)
	}
	return found, err
}

// copyTo reads an object, going on where a connection was cut, and returns its SHA-256.
func (f *folder) copyTo(ctx context.Context, key string, size int64, to io.Writer) (string, error) {
	sum, have := sha256.New(), int64(0)
	err := f.again(ctx, "read", key, func(ctx context.Context, alive func()) error {
		body, err := f.read(ctx, key, have)
		if err != nil {
			return err
		}
		n, err := io.Copy(io.MultiWriter(sum, to), io.LimitReader(pulse{body, alive}, size-have+1))
		have += n
		if err := errors.Join(err, body.Close()); err != nil && have < size {
			return err
		}
		if have < size {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	if err == nil && have != size {
		err = broken("start again", "%s/%s has not %d bytes: it was put again while it was read", f.url, key, size)
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// fetch brings an object to a file, whole or not at all, and returns its SHA-256.
func (f *folder) fetch(ctx context.Context, key string, size int64, name string) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", err
	}
	file, err := os.CreateTemp(filepath.Dir(name), ".fetch-")
	if err != nil {
		return "", err
	}
	sum, err = f.copyTo(ctx, key, size, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return sum, os.Rename(file.Name(), name)
}

// small reads an object that fits memory.
func (f *folder) small(ctx context.Context, key string) (data []byte, err error) {
	err = f.again(ctx, "read", key, func(ctx context.Context, alive func()) error {
		body, err := f.read(ctx, key, 0)
		if err != nil {
			return err
		}
		data, err = io.ReadAll(pulse{body, alive})
		return errors.Join(err, body.Close())
	})
	return data, err
}

// put puts a file.
func (f *folder) put(ctx context.Context, key, name string) error {
	return f.again(ctx, "write", key, func(ctx context.Context, alive func()) error {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		return f.write(ctx, key, pulse{file, alive}, false)
	})
}

// create puts an object if there is none, and tells whether there was.
func (f *folder) create(ctx context.Context, key string, data []byte) (was bool, err error) {
	err = f.again(ctx, "write", key, func(ctx context.Context, alive func()) error {
		return f.write(ctx, key, pulse{bytes.NewReader(data), alive}, true)
	})
	if code := gcerrors.Code(err); code == gcerrors.FailedPrecondition || code == gcerrors.AlreadyExists {
		return true, nil
	}
	return false, err
}

// drop removes an object that may be gone already.
func (f *folder) drop(ctx context.Context, key string) error {
	return f.again(ctx, "remove", key, func(ctx context.Context, _ func()) error {
		if err := f.remove(ctx, key); gcerrors.Code(err) != gcerrors.NotFound {
			return err
		}
		return nil
	})
}
