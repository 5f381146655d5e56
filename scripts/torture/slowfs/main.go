//go:build linux

// Command slowfs shows a folder under another path, read-only, on a file system
// that stalls: now and then a read is answered late, as by a disk that spins up,
// or a server that is away. It speaks FUSE with the kernel itself and answers
// one request at a time, so that a stall holds up all. It needs root, and ends
// when the path is unmounted.
//
//	slowfs -from DIR -at EMPTYDIR -seed 1 -every 20 -stall 1500ms
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	s := &server{nodes: []string{"", ""}}
	flag.StringVar(&s.from, "from", "", "folder to show")
	at := flag.String("at", "", "where")
	seed := flag.Uint64("seed", 1, "of the reads that stall")
	flag.IntVar(&s.every, "every", 20, "one read of so many stalls")
	flag.DurationVar(&s.stall, "stall", time.Second, "how long")
	flag.Parse()
	s.rng = rand.New(rand.NewPCG(*seed, 0))
	if err := s.serve(*at); err != nil {
		fmt.Fprintln(os.Stderr, "slowfs:", err)
		os.Exit(1)
	}
}

// server is the file system. Node 1 is its root.
type server struct {
	from  string
	every int
	stall time.Duration
	rng   *rand.Rand

	nodes []string // paths below from, by number
	dev   *os.File
	reply bytes.Buffer
}

// Requests that are answered; the numbers are those of linux/fuse.h.
const (
	lookup     = 1
	forget     = 2
	getattr    = 3
	open       = 14
	read       = 15
	release    = 18
	flush      = 25
	initialize = 26
	opendir    = 27
	readdir    = 28
	releasedir = 29
	interrupt  = 36
	forgetMany = 42
)

// header begins every request.
type header struct {
	Len, Op       uint32
	Unique, Node  uint64
	UID, GID, PID uint32
	_             uint32
}

// attributes of a file, as the kernel wants them.
type attributes struct {
	Ino, Size, Blocks     uint64
	Atime, Mtime, Ctime   uint64
	AtimeNS, MtimeNS      uint32
	CtimeNS, Mode         uint32
	Links, UID, GID, Rdev uint32
	BlockSize, _          uint32
}

// keep is for how long the kernel may believe what it was told, seconds.
const keep = 3600

func (s *server) serve(at string) error {
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR|syscall.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	s.dev = os.NewFile(uintptr(fd), "/dev/fuse")
	defer s.dev.Close()
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d,allow_other", fd, os.Getuid(), os.Getgid())
	if err := syscall.Mount("slowfs", at, "fuse.slowfs", syscall.MS_RDONLY|syscall.MS_NOSUID|syscall.MS_NODEV, options); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	request := make([]byte, 1<<17+4096)
	for {
		n, err := syscall.Read(fd, request)
		switch {
		case errors.Is(err, syscall.ENODEV):
			return nil // unmounted
		case errors.Is(err, syscall.EINTR) || errors.Is(err, syscall.ENOENT):
			continue
		case err != nil:
			return err
		}
		var h header
		body := bytes.NewReader(request[:n])
		if err := binary.Read(body, binary.NativeEndian, &h); err != nil {
			return err
		}
		if h.Op == forget || h.Op == forgetMany || h.Op == interrupt {
			continue // want no answer
		}
		s.reply.Reset()
		if err := s.send(h.Unique, s.answer(&h, body)); err != nil {
			return err
		}
	}
}

// send answers a request with what is in reply, or with an error.
func (s *server) send(unique uint64, failed syscall.Errno) error {
	if failed != 0 {
		s.reply.Reset()
	}
	var out bytes.Buffer
	s.put(&out, uint32(16+s.reply.Len()), -int32(failed), unique)
	out.Write(s.reply.Bytes())
	_, err := syscall.Write(int(s.dev.Fd()), out.Bytes())
	if errors.Is(err, syscall.ENOENT) {
		return nil // nobody waits for it any more
	}
	return err
}

func (s *server) put(to *bytes.Buffer, values ...any) {
	for _, v := range values {
		_ = binary.Write(to, binary.NativeEndian, v) // a buffer takes all
	}
}

// answer writes the answer of a request to reply.
func (s *server) answer(h *header, body *bytes.Reader) syscall.Errno {
	if h.Node >= uint64(len(s.nodes)) {
		return syscall.ENOENT
	}
	path := s.nodes[h.Node]
	switch h.Op {
	case initialize:
		// version 7.31, no read-ahead, no features
		s.put(&s.reply, uint32(7), uint32(31), uint32(0), uint32(0), uint16(12), uint16(9), uint32(1<<17), uint32(1), uint16(32), uint16(0), [8]uint32{})
		return 0
	case lookup:
		name, err := io.ReadAll(body)
		if err != nil {
			return syscall.EIO
		}
		return s.found(filepath.Join(path, string(bytes.TrimRight(name, "\x00"))))
	case getattr:
		a, failed := s.attributes(path, h.Node)
		s.put(&s.reply, uint64(keep), uint32(0), uint32(0), a)
		return failed
	case open, opendir:
		const direct = 1 // every read comes here
		s.put(&s.reply, uint64(0), uint32(direct), uint32(0))
		return 0
	case read, readdir:
		var q struct {
			Handle, Offset uint64
			Size           uint32
		}
		if binary.Read(body, binary.NativeEndian, &q) != nil {
			return syscall.EIO
		}
		if h.Op == readdir {
			return s.list(path, q.Offset)
		}
		return s.read(path, int64(q.Offset), q.Size)
	case flush, release, releasedir:
		return 0
	}
	return syscall.ENOSYS
}

func (s *server) attributes(path string, node uint64) (a attributes, failed syscall.Errno) {
	var st syscall.Stat_t
	if err := syscall.Lstat(filepath.Join(s.from, path), &st); err != nil {
		return a, syscall.ENOENT
	}
	return attributes{
		Ino: node, Size: uint64(st.Size), Blocks: uint64(st.Blocks), Mtime: uint64(st.Mtim.Sec), MtimeNS: uint32(st.Mtim.Nsec),
		Ctime: uint64(st.Ctim.Sec), CtimeNS: uint32(st.Ctim.Nsec), Mode: st.Mode, Links: uint32(st.Nlink), UID: st.Uid, GID: st.Gid, BlockSize: 4096,
	}, 0
}

// found answers a lookup. A path has one number for good.
func (s *server) found(path string) syscall.Errno {
	node := 0
	for i, have := range s.nodes[2:] {
		if have == path {
			node = i + 2
		}
	}
	if node == 0 {
		node = len(s.nodes)
	}
	a, failed := s.attributes(path, uint64(node))
	if failed != 0 {
		return failed
	}
	if node == len(s.nodes) {
		s.nodes = append(s.nodes, path)
	}
	s.put(&s.reply, uint64(node), uint64(0), uint64(keep), uint64(keep), uint32(0), uint32(0), a)
	return 0
}

// read answers with bytes of a file, late now and then.
func (s *server) read(path string, at int64, size uint32) syscall.Errno {
	if s.rng.IntN(s.every) == 0 {
		time.Sleep(s.stall)
	}
	f, err := os.Open(filepath.Join(s.from, path))
	if err != nil {
		return syscall.EIO
	}
	defer f.Close()
	if _, err := io.Copy(&s.reply, io.NewSectionReader(f, at, int64(size))); err != nil {
		return syscall.EIO
	}
	return 0
}

// list answers with the names in a folder, all at once.
func (s *server) list(path string, from uint64) syscall.Errno {
	if from > 0 {
		return 0
	}
	entries, err := os.ReadDir(filepath.Join(s.from, path))
	if err != nil {
		return syscall.EIO
	}
	for i, e := range entries {
		kind := uint32(syscall.DT_REG)
		if e.Type()&fs.ModeDir != 0 {
			kind = syscall.DT_DIR
		}
		name := e.Name()
		s.put(&s.reply, uint64(i+2), uint64(i+1), uint32(len(name)), kind)
		s.reply.WriteString(name)
		s.reply.Write(make([]byte, (8-len(name)%8)%8))
	}
	return 0
}
