package pipeline

import (
	"errors"
	"io"
	"sync"
)

// A witness remembers what the disk said while a library read from it: Parquet
// readers take an I/O error for damage of the file, and its words are lost on
// the way.
type witness struct {
	mu  sync.Mutex
	err error // the first
}

// watch returns the file with the witness beside it.
func (w *witness) watch(f File) File { return &watchedFile{f, w} }

// joined returns err with what the disk said, if err is an error at all.
func (w *witness) joined(err error) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil || w.err == nil || errors.Is(err, w.err) {
		return err
	}
	return errors.Join(w.err, err)
}

func (w *witness) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && err != nil && err != io.EOF {
		w.err = err
	}
}

type watchedFile struct {
	File
	w *witness
}

// Read implements io.Reader.
func (f *watchedFile) Read(p []byte) (int, error) {
	n, err := f.File.Read(p)
	f.w.note(err)
	return n, err
}

// ReadAt implements io.ReaderAt.
func (f *watchedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(p, at)
	f.w.note(err)
	return n, err
}
