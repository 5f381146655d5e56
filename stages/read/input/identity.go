package input

import (
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Identity identifies a file and its state. It changes if the file is written, replaced or renamed after it was hashed;
// then its rows must not be recorded under the old SHA-256.
type Identity struct {
	Device, Inode     uint64
	Size              int64
	Modified, Changed int64 // nanoseconds since 1970; Changed moves with content and names, and nobody can set it back
}

func Identify(info os.FileInfo) Identity {
	id := Identity{Size: info.Size(), Modified: info.ModTime().UnixNano()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		id.Device, id.Inode, id.Changed = uint64(s.Dev), s.Ino, changed(s)
	}
	return id
}

// settle waits until a change of the file would show in its times: those of
// most file systems move with the ticks of the kernel, and what is written in
// the tick of the hashing has the same time.
func (id *Identity) settle() {
	for range 50 {
		if now := tick(); now > max(id.Changed, id.Modified) || now == 0 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

var (
	errChanged = errors.New("was written while it was read")
	errSpecial = errors.New("is no file")
)

// openRegular opens a file that is one: no pipe, socket or device, which may
// have no end.
func openRegular(path string) (*os.File, os.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errSpecial
	}
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, info, nil
}

// Special describes a file mode that is no regular file: a folder, a pipe, a socket or a device.
func Special(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "is a folder, not a file"
	case m&fs.ModeNamedPipe != 0:
		return "is a pipe, not a file"
	case m&fs.ModeSocket != 0:
		return "is a socket, not a file"
	case m&fs.ModeDevice != 0:
		return "is a device, not a file"
	}
	return "is no file"
}

// HashFile reads a file once, copying its bytes to a writer, and returns its SHA-256 and the Identity that it had
// meanwhile.
func HashFile(path string, to io.Writer, stop func() error) (sum [sha256.Size]byte, id Identity, err error) {
	f, info, err := openRegular(path)
	if err != nil {
		return sum, id, err
	}
	defer f.Close() // only read
	id = Identify(info)
	id.settle()
	h := sha256.New()
	buf := make([]byte, min(info.Size()+1, 1<<20))
	for {
		n, err := f.Read(buf)
		h.Write(buf[:n])
		if _, err := to.Write(buf[:n]); err != nil {
			return sum, id, err
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return sum, id, err
		}
		if err := stop(); err != nil {
			return sum, id, err
		}
	}
	if info, err = f.Stat(); err != nil {
		return sum, id, err
	}
	if Identify(info) != id {
		return sum, id, errChanged
	}
	h.Sum(sum[:0])
	return sum, id, nil
}
