package durable

import (
	"errors"
	"io"
	"sync"
)

// A Witness records the I/O errors of files that a library reads. Parquet readers report an I/O error as damage of the
// file and lose its cause. The zero value is ready; it may be used by several goroutines.
type Witness struct {
	mu  sync.Mutex
	err error // the first
}

// Watch returns a file whose read errors the witness records.
func (w *Witness) Watch(f File) File { return &watchedFile{f, w} }

// Err returns the first recorded error; the end of a file is no error.
func (w *Witness) Err() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// Joined returns err joined with the recorded error; nil if err is nil.
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
