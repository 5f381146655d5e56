package main

import (
	"io/fs"
	"math/rand/v2"
	"path"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/velum-health/velum/pipeline/durable"
)

// memoryDisk is a file system in memory that does to a run what disks do: it
// loses what was not synced, fails at any operation, fills up; and it is where
// a process dies. It implements durable.FS.
//
// The model is what POSIX leaves open, and no file system is kinder to rely on
// (Pillai et al., "All File Systems Are Not Created Equal", OSDI 2014):
//
//   - the content of a file is safe when the file was synced; what was written
//     since is there, is not, or is there in pieces, with zeros where a piece
//     is missing;
//   - a name is safe when its folder was synced; of the names made, changed and
//     removed since, any subset survives, in any order;
//   - a rename happens or does not: there is no moment without the old or the
//     new file, and both its folders agree.
//
// A process that dies loses nothing by itself: what it wrote is in the
// machine's memory, unsynced, and the next process sees it. Only then may the
// power go too, so that a run can rest on names that nobody ever synced.

// Disk is the file system. Make one with New.
type memoryDisk struct {
	mu      sync.Mutex
	rng     *rand.Rand
	root    *diskNode
	pending []diskChange // of names, since their folders were synced; in their order
	seq     int          // of the last change
	locked  map[string]bool
	life    int // number of the process

	ops   []diskOp // of this process
	fault diskFault
	dead  bool
	used  int64

	// Skip, if set, is a planted bug: a sync for which it returns true does
	// nothing and says that all is well.
	Skip func(diskOp) bool
	// Room bounds the bytes of all files; 0: no bound.
	Room int64
}

// node is a file or a folder.
type diskNode struct {
	dir   bool
	names map[string]*diskNode // of a folder, as processes see it
	safe  map[string]diskEntry // of a folder, as it is after a power loss

	data   []byte      // of a file, as processes see it
	synced []byte      // of a file, when it was last synced
	writes []diskWrite // since then
}

// entry is what a name stood for when change seq was made; nil: nothing.
type diskEntry struct {
	node *diskNode
	seq  int
}

// change is one operation on names that is not safe yet: one part, or two for
// a rename, which happen together.
type diskChange struct {
	op    diskOp
	seq   int
	parts []diskNamePart
}

type diskNamePart struct {
	dir  *diskNode
	name string
	to   *diskNode // nil: removed
}

// write is one change of a file's content: data at an offset, or a new size.
type diskWrite struct {
	at   int64
	data []byte
	size int64 // for a truncation, where data is nil
}

// New makes an empty disk with one folder, dir, that is safe.
func newMemoryDisk(seed uint64, dir string) *memoryDisk {
	d := &memoryDisk{rng: rand.New(rand.NewPCG(seed, 1)), root: diskNewFolder(), locked: map[string]bool{}}
	at := d.root
	for _, name := range diskSplit(dir) {
		next := diskNewFolder()
		at.names[name], at.safe[name] = next, diskEntry{next, 0}
		at = next
	}
	return d
}

func diskNewFolder() *diskNode {
	return &diskNode{dir: true, names: map[string]*diskNode{}, safe: map[string]diskEntry{}}
}

// split cuts a path into its names.
func diskSplit(name string) []string {
	var names []string
	for name = path.Clean(filepath.ToSlash(name)); name != "/" && name != "."; name = path.Dir(name) {
		names = append(names, path.Base(name))
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return names
}

// find returns the node of a path, nil if there is none.
func (d *memoryDisk) find(name string) *diskNode {
	at := d.root
	for _, n := range diskSplit(name) {
		if at == nil || !at.dir {
			return nil
		}
		at = at.names[n]
	}
	return at
}

func diskFailed(op, name string, err error) error { return &fs.PathError{Op: op, Path: name, Err: err} }

// parent returns the folder of a path and its last name.
func (d *memoryDisk) parent(op, name string) (*diskNode, string, error) {
	dir := d.find(filepath.Dir(name))
	if dir == nil {
		return nil, "", diskFailed(op, name, fs.ErrNotExist)
	}
	if !dir.dir {
		return nil, "", diskFailed(op, name, syscall.ENOTDIR)
	}
	return dir, filepath.Base(name), nil
}

// changed makes a change of names that is not safe yet.
func (d *memoryDisk) changed(op diskOp, parts ...diskNamePart) {
	d.seq++
	for _, p := range parts {
		if p.to == nil {
			delete(p.dir.names, p.name)
		} else {
			p.dir.names[p.name] = p.to
		}
	}
	d.pending = append(d.pending, diskChange{op, d.seq, parts})
}

// settle makes a change safe. What a later one made safe already stays.
func (c *diskChange) settle() {
	for _, p := range c.parts {
		if c.seq > p.dir.safe[p.name].seq {
			p.dir.safe[p.name] = diskEntry{p.to, c.seq}
		}
	}
}

func (c *diskChange) touches(dir *diskNode) bool {
	for _, p := range c.parts {
		if p.dir == dir {
			return true
		}
	}
	return false
}

// OpenFile implements durable.FS.
func (d *memoryDisk) OpenFile(name string, flag int, _ fs.FileMode) (durable.File, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	op := diskOp{Kind: "open", Path: name}
	if flag&syscall.O_CREAT != 0 {
		op.Kind = "create"
	}
	if err := d.begin(op); err != nil {
		return nil, diskFailed("open", name, err)
	}
	dir, base, err := d.parent("open", name)
	if err != nil {
		return nil, err
	}
	n := dir.names[base]
	switch {
	case n == nil && flag&syscall.O_CREAT == 0:
		return nil, diskFailed("open", name, fs.ErrNotExist)
	case n == nil:
		n = &diskNode{}
		d.changed(op, diskNamePart{dir, base, n})
	case n.dir && flag != 0:
		return nil, diskFailed("open", name, syscall.EISDIR)
	case flag&syscall.O_TRUNC != 0:
		d.resize(n, 0)
	}
	f := &diskFile{d: d, node: n, name: name, life: d.life, appends: flag&syscall.O_APPEND != 0}
	return f, d.after()
}

// Rename implements durable.FS.
func (d *memoryDisk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	op := diskOp{Kind: "rename", Path: to}
	if err := d.begin(op); err != nil {
		return diskFailed("rename", to, err)
	}
	a, base1, err := d.parent("rename", from)
	if err != nil {
		return err
	}
	b, base2, err := d.parent("rename", to)
	if err != nil {
		return err
	}
	n := a.names[base1]
	if n == nil {
		return diskFailed("rename", from, fs.ErrNotExist)
	}
	d.free(b.names[base2])
	d.changed(op, diskNamePart{a, base1, nil}, diskNamePart{b, base2, n})
	return d.after()
}

// Remove implements durable.FS.
func (d *memoryDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(diskOp{Kind: "remove", Path: name}); err != nil {
		return diskFailed("remove", name, err)
	}
	return d.remove(name)
}

func (d *memoryDisk) remove(name string) error {
	dir, base, err := d.parent("remove", name)
	if err != nil {
		return err
	}
	n := dir.names[base]
	if n == nil {
		return diskFailed("remove", name, fs.ErrNotExist)
	}
	if len(n.names) > 0 {
		return diskFailed("remove", name, syscall.ENOTEMPTY)
	}
	d.free(n)
	d.changed(diskOp{Kind: "remove", Path: name}, diskNamePart{dir, base, nil})
	return d.after()
}

// free gives the room of a file back that has lost its name.
func (d *memoryDisk) free(n *diskNode) {
	if n != nil {
		d.used -= int64(len(n.data))
	}
}

// Mkdir implements durable.FS.
func (d *memoryDisk) Mkdir(name string, _ fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	op := diskOp{Kind: "mkdir", Path: name}
	if err := d.begin(op); err != nil {
		return diskFailed("mkdir", name, err)
	}
	dir, base, err := d.parent("mkdir", name)
	if err != nil {
		return err
	}
	if dir.names[base] != nil {
		return diskFailed("mkdir", name, fs.ErrExist)
	}
	d.changed(op, diskNamePart{dir, base, diskNewFolder()})
	return d.after()
}

// SyncDir implements durable.FS.
func (d *memoryDisk) SyncDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dir := d.find(name)
	op := diskOp{Kind: "syncdir", Path: name}
	for i := range d.pending {
		if dir != nil && d.pending[i].touches(dir) {
			op.After = d.pending[i].op.Kind + " " + d.pending[i].op.Path
		}
	}
	if err := d.begin(op); err != nil {
		return diskFailed("sync", name, err)
	}
	if dir == nil || !dir.dir {
		return diskFailed("sync", name, fs.ErrNotExist)
	}
	if d.Skip != nil && d.Skip(op) {
		return nil
	}
	left := d.pending[:0]
	for i := range d.pending {
		if d.pending[i].touches(dir) {
			d.pending[i].settle()
		} else {
			left = append(left, d.pending[i])
		}
	}
	d.pending = left
	return d.after()
}

// ReadDir implements durable.FS.
func (d *memoryDisk) ReadDir(name string) ([]fs.DirEntry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(diskOp{Kind: "readdir", Path: name}); err != nil {
		return nil, diskFailed("readdir", name, err)
	}
	dir := d.find(name)
	if dir == nil {
		return nil, diskFailed("readdir", name, fs.ErrNotExist)
	}
	if !dir.dir {
		return nil, diskFailed("readdir", name, syscall.ENOTDIR)
	}
	var all []fs.DirEntry
	for _, base := range diskSortedNames(dir.names) {
		all = append(all, fs.FileInfoToDirEntry(diskNewInfo(base, dir.names[base])))
	}
	return all, nil
}

// Stat implements durable.FS.
func (d *memoryDisk) Stat(name string) (fs.FileInfo, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.begin(diskOp{Kind: "stat", Path: name}); err != nil {
		return nil, diskFailed("stat", name, err)
	}
	n := d.find(name)
	if n == nil {
		return nil, diskFailed("stat", name, fs.ErrNotExist)
	}
	return diskNewInfo(filepath.Base(name), n), nil
}
