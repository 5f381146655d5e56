package cloud

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/url"
	"os"
	"path"
	"path/filepath"
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
	write(ctx context.Context, key string, body io.Reader, md5 []byte, fresh bool) error // fresh: if there is none
	remove(ctx context.Context, key string) error
}

// gocloud is a bucket of gocloud.dev/blob.
type gocloud struct{ b *blob.Bucket }

func (g gocloud) list(ctx context.Context, prefix string, add func(string, object)) error {
	all := g.b.List(&blob.ListOptions{Prefix: prefix})
	for {
		o, err := all.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if !o.IsDir {
			add(o.Key, object{o.Size, o.MD5, o.ModTime})
		}
	}
}

func (g gocloud) etag(ctx context.Context, key string) (string, error) {
	a, err := g.b.Attributes(ctx, key)
	if err != nil {
		return "", err
	}
	return fmt.Sprint(a.ETag, a.Size, a.ModTime.UnixNano()), nil
}

func (g gocloud) read(ctx context.Context, key string, from int64) (io.ReadCloser, error) {
	return g.b.NewRangeReader(ctx, key, from, -1, nil)
}

// write uses Upload and no Writer: that of azureblob panics in Close when the condition fails.
func (g gocloud) write(ctx context.Context, key string, body io.Reader, md5 []byte, fresh bool) error {
	return g.b.Upload(ctx, key, body, &blob.WriterOptions{ContentType: "application/octet-stream", ContentMD5: md5, IfNotExist: fresh})
}

func (g gocloud) remove(ctx context.Context, key string) error { return g.b.Delete(ctx, key) }

// A folder is what an URL names: a bucket, and how keys in it begin.
type folder struct {
	bucket
	url    string // without what follows "?"
	prefix string // "" or with a slash at its end
	pause  func(ctx context.Context, try int) error
}

// parse takes an URL apart; a path of this machine is one too. s3://BUCKET/a/b?region=x is
// the bucket s3://BUCKET?region=x and the prefix a/b.
func parse(name string) (at, prefix, bucketURL string, err error) {
	if !strings.Contains(name, "://") {
		if name, err = filepath.Abs(name); err != nil {
			return "", "", "", err
		}
		name = (&url.URL{Scheme: "file", Path: name}).String()
	}
	u, err := url.Parse(name)
	if err != nil || u.User != nil || u.Host == "" && u.Scheme != "file" {
		return "", "", "", wrong("write it as s3://BUCKET/FOLDER; credentials come from the provider's chain, never from an URL", "what --in, --out or --private names is no URL of a bucket")
	}
	clean := strings.Trim(path.Clean("/"+u.Path), "/")
	at = u.Scheme + "://" + path.Join(u.Host, clean)
	if u.Scheme == "file" {
		dir := &url.URL{Scheme: "file", Path: "/" + clean, RawQuery: "create_dir=true&metadata=skip&no_tmp_dir=true&dir_file_mode=0700"}
		return "file:///" + clean, "", dir.String(), nil
	}
	return at, clean, u.Scheme + "://" + u.Host + strings.TrimSuffix("?"+u.RawQuery, "?"), nil
}

const tries = 6

// pause waits before a try, longer each time.
func pause(ctx context.Context, try int) error {
	d := min(time.Second<<try, 30*time.Second)
	timer := time.NewTimer(d/2 + rand.N(d/2))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// patience is how long one try may take: a connection that is slower than this has been cut.
func patience(bytes int64) time.Duration {
	return 2*time.Minute + time.Duration(bytes>>19)*time.Second // half a MiB/s
}

// passing tells whether an error may be another at the next try.
func passing(err error) bool {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound, gcerrors.AlreadyExists, gcerrors.FailedPrecondition, gcerrors.PermissionDenied, gcerrors.InvalidArgument, gcerrors.Unimplemented:
		return false
	}
	_, local := errors.AsType[*os.PathError](err)
	return !local && !errors.Is(err, errKilled)
}

// errKilled is that of tests that end a run in the middle.
var errKilled = errors.New("killed")

// again does something with an object until it succeeds, or has failed often enough.
func (f *folder) again(ctx context.Context, verb, key string, bytes int64, do func(context.Context) error) error {
	for try := 1; ; try++ {
		attempt, stop := context.WithTimeout(ctx, patience(bytes))
		err := do(attempt)
		stop()
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if try < tries && passing(err) && f.pause(ctx, try) == nil {
			continue
		}
		return fmt.Errorf("%s %s: %w", verb, strings.TrimSuffix(f.url+"/"+key, "/"), err)
	}
}

// all lists what lies in the folder.
func (f *folder) all(ctx context.Context) (map[string]object, error) {
	var found map[string]object
	err := f.again(ctx, "list", "", 1<<30, func(ctx context.Context) error {
		found = map[string]object{}
		return f.list(ctx, f.prefix, func(key string, o object) {
			if name := strings.TrimPrefix(key, f.prefix); name != "" && !strings.HasSuffix(name, "/") {
				found[name] = o
			}
		})
	})
	return found, err
}

// copyTo reads an object, going on where a connection was cut, and returns its SHA-256.
func (f *folder) copyTo(ctx context.Context, key string, size int64, to io.Writer) (string, error) {
	sum, have := sha256.New(), int64(0)
	err := f.again(ctx, "read", key, size, func(ctx context.Context) error {
		body, err := f.read(ctx, f.prefix+key, have)
		if err != nil {
			return err
		}
		n, err := io.Copy(io.MultiWriter(sum, to), body)
		have += n
		if err := errors.Join(err, body.Close()); err != nil {
			return err
		}
		if have < size {
			return io.ErrUnexpectedEOF
		}
		return nil
	})
	if err == nil && have != size {
		err = broken("", "%s/%s has %d bytes, not %d: it was changed while it was read", f.url, key, have, size)
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// fetch brings an object to a file, whole or not at all, and returns its SHA-256.
func (f *folder) fetch(ctx context.Context, key string, size int64, name string) (sum string, err error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return "", err
	}
	tmp := name + ".fetched"
	file, err := os.OpenFile(tmp, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	sum, err = f.copyTo(ctx, key, size, file)
	if err := errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(tmp))
	}
	return sum, os.Rename(tmp, name)
}

// small reads an object that fits memory.
func (f *folder) small(ctx context.Context, key string) (data []byte, err error) {
	err = f.again(ctx, "read", key, 0, func(ctx context.Context) error {
		body, err := f.read(ctx, f.prefix+key, 0)
		if err != nil {
			return err
		}
		data, err = io.ReadAll(body)
		return errors.Join(err, body.Close())
	})
	return data, err
}

// put puts a file.
func (f *folder) put(ctx context.Context, key, name string, size int64, md5 string) error {
	sum, err := hex.DecodeString(md5)
	if err != nil {
		return err
	}
	return f.again(ctx, "write", key, size, func(ctx context.Context) error {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		return f.write(ctx, f.prefix+key, file, sum, false)
	})
}

// drop removes an object that may be gone already.
func (f *folder) drop(ctx context.Context, key string) error {
	return f.again(ctx, "remove", key, 0, func(ctx context.Context) error {
		if err := f.remove(ctx, f.prefix+key); gcerrors.Code(err) != gcerrors.NotFound {
			return err
		}
		return nil
	})
}
