package read

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
)

// stream reads a file from its begin to its end: line by line or byte by byte.
type stream struct {
	file *os.File
	r    *bufio.Reader
	buf  []byte
	line int // lines begun so far
}

// openStream opens path, unpacks it if it is packed with gzip, and steps over
// a byte order mark.
func openStream(path string) (*stream, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		f.Close()
		return nil, &InputError{Path: path, Cause: "a folder, not a file", Remedy: "give one file"}
	}
	s := &stream{file: f, r: bufio.NewReaderSize(f, 1<<16)}
	if magic, err := s.r.Peek(2); err == nil && string(magic) == "\x1f\x8b" {
		unpacked, err := gzip.NewReader(s.r)
		if err != nil {
			f.Close()
			return nil, &InputError{Path: path, Cause: "no sound gzip file", Remedy: "ask for it again"}
		}
		s.r = bufio.NewReaderSize(unpacked, 1<<16)
	}
	if mark, err := s.r.Peek(3); err == nil && string(mark) == "\ufeff" {
		s.r.Discard(3)
	}
	return s, nil
}

// next returns the next line without its line feed. It is good until the next
// call. A last line without line feed counts; an empty one does not.
func (s *stream) next() ([]byte, error) {
	s.buf = s.buf[:0]
	for {
		piece, err := s.r.ReadSlice('\n')
		s.buf = append(s.buf, piece...)
		if err == bufio.ErrBufferFull {
			if len(s.buf) > maxInput {
				s.line++
				return nil, &InputError{Path: s.file.Name(), Line: s.line, Cause: "line of more than 1 GiB", Remedy: "leave it out: it is no note"}
			}
			continue
		}
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: read failed behind line %d: %w", s.file.Name(), s.line, err)
		}
		if len(s.buf) == 0 {
			return nil, io.EOF
		}
		s.line++
		return bytes.TrimSuffix(s.buf, []byte("\n")), nil
	}
}

// Close closes the file. It may be called twice.
func (s *stream) Close() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file = nil
	return err
}
