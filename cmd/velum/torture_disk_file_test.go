package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/velum-health/velum/pipeline/durable"
)

// file is an open file. It is worth nothing when its process has died.
type diskFile struct {
	d       *memoryDisk
	node    *diskNode
	name    string
	at      int64
	life    int
	appends bool
	closed  bool
}

func (f *diskFile) begin(kind string) error {
	if f.closed || f.life != f.d.life {
		return diskFailed(kind, f.name, os.ErrClosed)
	}
	if err := f.d.begin(diskOp{Kind: kind, Path: f.name}); err != nil {
		return diskFailed(kind, f.name, err)
	}
	return nil
}

// Read implements io.Reader.
func (f *diskFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.at)
	f.at += int64(n)
	if n > 0 {
		err = nil
	}
	return n, err
}

// ReadAt implements io.ReaderAt.
func (f *diskFile) ReadAt(p []byte, at int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.begin("read"); err != nil {
		return 0, err
	}
	if f.node.dir {
		return 0, diskFailed("read", f.name, syscall.EISDIR)
	}
	if at >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.node.data[at:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// Write implements io.Writer. One that fails, or in which the process dies,
// may have written a piece.
func (f *diskFile) Write(p []byte) (int, error) {
	d := f.d
	d.mu.Lock()
	defer d.mu.Unlock()
	n, gone := len(p), f.closed || d.dead || f.life != d.life
	err := f.begin("write")
	if gone {
		return 0, err
	}
	if err != nil {
		n = d.rng.IntN(n + 1)
	}
	if d.Room > 0 && d.used+int64(n) > d.Room {
		n, err = int(max(d.Room-d.used, 0)), diskFailed("write", f.name, syscall.ENOSPC)
	}
	if f.appends {
		f.at = int64(len(f.node.data))
	}
	w := diskWrite{at: f.at, data: slices.Clone(p[:n])}
	was := len(f.node.data)
	f.node.data = w.apply(f.node.data)
	f.node.writes = append(f.node.writes, w)
	d.used += int64(len(f.node.data) - was)
	f.at += int64(n)
	if err != nil {
		return n, err
	}
	return n, d.after()
}

// apply returns data with the change made.
func (w *diskWrite) apply(data []byte) []byte {
	end := w.at + int64(len(w.data))
	if w.data == nil {
		end = w.size
		data = data[:min(int64(len(data)), end)]
	}
	if grow := end - int64(len(data)); grow > 0 {
		data = append(slices.Clip(data), make([]byte, grow)...)
	}
	copy(data[min(w.at, int64(len(data))):], w.data)
	return data
}

// Truncate implements pipeline.File.
func (f *diskFile) Truncate(size int64) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.begin("truncate"); err != nil {
		return err
	}
	f.d.resize(f.node, size)
	return f.d.after()
}

func (d *memoryDisk) resize(n *diskNode, size int64) {
	was := len(n.data)
	w := diskWrite{size: size}
	n.data = w.apply(n.data)
	n.writes = append(n.writes, w)
	d.used += int64(len(n.data) - was)
}

// Sync implements pipeline.File. One that fails has lost what was to be
// synced, as Linux does: the next one has nothing left to complain of (Rebello
// et al., "Can Applications Recover from fsync Failures?", ATC 2020).
func (f *diskFile) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.begin("sync"); err != nil {
		if f.life == f.d.life && !f.d.dead && !f.closed {
			f.node.data = slices.Clone(f.node.synced)
			f.node.writes = nil
		}
		return err
	}
	if f.d.Skip != nil && f.d.Skip(diskOp{Kind: "sync", Path: f.name}) {
		return nil
	}
	f.node.synced, f.node.writes = slices.Clone(f.node.data), nil
	return f.d.after()
}

// Close implements io.Closer.
func (f *diskFile) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	err := f.begin("close")
	f.closed = true
	return err
}

// Stat implements pipeline.File.
func (f *diskFile) Stat() (fs.FileInfo, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if err := f.begin("fstat"); err != nil {
		return nil, err
	}
	return diskNewInfo(filepath.Base(f.name), f.node), nil
}

// info implements fs.FileInfo.
type diskInfo struct {
	name string
	size int64
	dir  bool
}

func diskNewInfo(name string, n *diskNode) diskInfo { return diskInfo{name, int64(len(n.data)), n.dir} }

func (i diskInfo) Name() string       { return i.name }
func (i diskInfo) Size() int64        { return i.size }
func (i diskInfo) ModTime() time.Time { return time.Time{} }
func (i diskInfo) IsDir() bool        { return i.dir }
func (i diskInfo) Sys() any           { return nil }

func (i diskInfo) Mode() fs.FileMode {
	if i.dir {
		return fs.ModeDir | 0o700
	}
	return 0o600
}

func diskSortedNames(names map[string]*diskNode) []string {
	var all []string
	for name := range names {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// Lock implements durable.FS. Like flock it ends with the process, and only
// its file stays.
func (d *memoryDisk) Lock(name string, _ durable.Holder) (io.Closer, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	op := diskOp{Kind: "lock", Path: name}
	if err := d.begin(op); err != nil {
		return nil, diskFailed("lock", name, err)
	}
	dir, base, err := d.parent("lock", name)
	if err != nil {
		return nil, err
	}
	if d.locked[name] {
		return nil, &durable.LockedError{Path: name}
	}
	if dir.names[base] == nil {
		d.changed(op, diskNamePart{dir, base, &diskNode{}})
	}
	d.locked[name] = true
	return &diskLock{d, name, d.life}, d.after()
}

type diskLock struct {
	d    *memoryDisk
	name string
	life int
}

// Close implements io.Closer. The kernel takes the lock back whatever happens
// to its file.
func (l *diskLock) Close() error {
	l.d.mu.Lock()
	defer l.d.mu.Unlock()
	if l.life != l.d.life || l.d.dead {
		return diskFailed("unlock", l.name, os.ErrClosed)
	}
	delete(l.d.locked, l.name)
	if err := l.d.begin(diskOp{Kind: "unlock", Path: l.name}); err != nil {
		return diskFailed("unlock", l.name, err)
	}
	return l.d.remove(l.name)
}

// Files lists every file below a folder with its content, and every folder
// with a slash at its end, as processes see them.
func (d *memoryDisk) Files(dir string) map[string]string {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := map[string]string{}
	if n := d.find(dir); n != nil && n.dir {
		n.list("", all)
	}
	return all
}

func (n *diskNode) list(below string, all map[string]string) {
	for name, inner := range n.names {
		if inner.dir {
			all[below+name+"/"] = ""
			inner.list(below+name+"/", all)
		} else {
			all[below+name] = string(inner.data)
		}
	}
}

// damage flips a bit of a file, durably.
func (d *memoryDisk) damage(name string, bit int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := d.find(name)
	if n == nil || len(n.data) == 0 {
		return
	}
	n.data = slices.Clone(n.data)
	n.data[bit/8%len(n.data)] ^= 1 << (bit % 8)
	n.synced, n.writes = slices.Clone(n.data), nil
}

// has tells whether a name is there.
func diskHas(files map[string]string, name string) bool {
	_, ok := files[name]
	return ok
}

// below returns the files of one folder of a list.
func diskBelow(files map[string]string, dir string) map[string]string {
	some := map[string]string{}
	for name, data := range files {
		if rest, ok := strings.CutPrefix(name, dir+"/"); ok && rest != "" {
			some[rest] = data
		}
	}
	return some
}
