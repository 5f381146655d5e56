package durable

import (
	"errors"
	"io"
	"sync"
)

// A Witness remembers what the disk said while a library read from it: Parquet
// readers take an I/O error for damage of the file, and its words are lost on
// the way. The zero value is ready; it may be used by several goroutines.
type Witness struct {
	mu  sync.Mutex
	err error // the first
}

// Watch returns the file with the witness beside it.
func (w *Witness) Watch(f File) File { return &watchedFile{f, w} }

// Err returns the first error of a file that was watched; the end of a file
// is none.
func (w *Witness) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Joined returns err with what the disk said, if err is an error at all.
func (w *Witness) Joined(err error) error {
	said := w.Err()
	if err == nil || said == nil || errors.Is(err, said) {
		return err
	}
	return errors.Join(said, err)
}

func (w *Witness) note(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil && err != nil && err != io.EOF {
		w.err = err
	}
}

type watchedFile struct {
	File
	w *Witness
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
