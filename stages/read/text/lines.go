package text

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/velum-health/velum/stages/read/input"
)

// stream reads a file from its begin to its end: line by line or byte by byte.
type stream struct {
	file *os.File
	r    *bufio.Reader
	buf  []byte
	line int   // lines begun so far
	at   int64 // bytes of the characters that are done

	plain bool // the file's bytes are the reader's: neither packed nor decoded
}

// Stdin is the path for standard input.
const Stdin = "-"

// openFile opens the reader's file, unpacks it if it is packed with gzip or zstd,
// decodes its characters and steps over a byte order mark. What it found of
// the encoding holds from then on.
func (i *intake) openFile() (*stream, error) {
	f, err := os.Stdin, error(nil)
	if i.path != Stdin {
		f, err = os.Open(i.path)
	}
	if err != nil {
		return nil, err
	}
	s := &stream{file: f}
	e, err := s.decode(i.path, i.o.Encoding)
	if err != nil {
		f.Close()
		return nil, err
	}
	i.written(e)
	return s, nil
}

// written returns the encoding of the current file.
func (i *intake) written(e input.Encoding) {
	i.encoding = e
	if e != input.UTF8 {
		i.warnings.Encoding = e.String()
	}
}

// decode makes the reader one of characters in UTF-8, and tells what the file,
// which is at its begin, is written in.
func (s *stream) decode(path string, e input.Encoding) (input.Encoding, error) {
	info, err := s.file.Stat()
	if err != nil || info.IsDir() {
		return e, &input.Error{Path: path, Cause: "a folder, not a file", Remedy: "give one file"}
	}
	switch {
	case e == input.DetectEncoding && !info.Mode().IsRegular():
		e = input.UTF8 // a pipe is read once
	case e == input.DetectEncoding:
		r, _, err := Unpacked(s.file, path)
		if err == nil {
			e, err = input.Detect(r)
		}
		if err == nil {
			_, err = s.file.Seek(0, io.SeekStart)
		}
		if err != nil {
			return e, broken(path, err)
		}
	}
	var packed bool
	if s.r, packed, err = Unpacked(s.file, path); err != nil {
		return e, err
	}
	s.plain = !packed && e == input.UTF8
	if e != input.UTF8 {
		s.r = bufio.NewReaderSize(e.Decoder(s.r), 1<<16)
	}
	if mark, err := s.r.Peek(3); err == nil && string(mark) == "\ufeff" {
		s.at = 3
		_, err = s.r.Discard(3)
		return e, err
	}
	return e, nil
}

// byte returns how many bytes of the file have been read; -1 if the reader returns decoded or unpacked bytes, so that
// its count is not one of the file.
func (s *stream) byte() int64 {
	if !s.plain {
		return -1
	}
	return s.at
}

// seek continues at byte at of the file, before which there are that many lines.
func (s *stream) seek(at int64, lines int) error {
	_, err := s.file.Seek(at, io.SeekStart)
	s.r.Reset(s.file)
	s.at, s.line = at, lines
	return err
}

// window returns the size of the read buffer: that of the file if it is small, since there may be thousands of small
// files.
func window(f *os.File) int {
	const usual, least = 1 << 16, 1 << 12
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() >= usual {
		return usual
	}
	return max(int(info.Size())+1, least)
}

// Unpacked returns a reader of the decompressed content of a file, and whether it was compressed.
func Unpacked(f *os.File, path string) (r *bufio.Reader, packed bool, err error) {
	r = bufio.NewReaderSize(f, window(f))
	magic, _ := r.Peek(4)
	var in io.Reader
	switch {
	case bytes.HasPrefix(magic, []byte("\x1f\x8b")):
		in, err = gzip.NewReader(r)
	case bytes.HasPrefix(magic, []byte("\x28\xb5\x2f\xfd")):
		// The decoder uses one goroutine: further ones would still run after an error.
		in, err = zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
	case bytes.HasPrefix(magic, []byte("PK\x03\x04")), bytes.HasPrefix(magic, []byte("\xd0\xcf\x11\xe0")): // whatever its name says
		return nil, true, &input.Error{Path: path, Cause: "is a workbook or a zip file, and no text; its sheet has to be saved as CSV",
			Remedy: "save its sheet as CSV (UTF-8), or unpack it"}
	default:
		return r, false, nil
	}
	if err != nil {
		return nil, true, broken(path, err)
	}
	return bufio.NewReaderSize(whole{in, path}, 1<<16), true, nil
}

// whole adds the path of the file to errors of the decompressor.
type whole struct {
	io.Reader
	path string
}

func (w whole) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if err != nil && err != io.EOF {
		err = broken(w.path, err)
	}
	return n, err
}

// broken replaces errors about truncated or damaged compressed files by one with a remedy.
func broken(path string, err error) error {
	if _, ok := errors.AsType[*input.Error](err); ok {
		return err
	}
	return &input.Error{Path: path, Cause: "cannot be read or unpacked to its end",
		Remedy: "test it with gzip -t or zstd -t, and copy it again"}
}

// next returns the next line without its line feed. It is good until the next
// call. A last line without line feed counts; an empty one does not.
func (s *stream) next() ([]byte, error) {
	s.buf = s.buf[:0]
	for {
		piece, err := s.r.ReadSlice('\n')
		s.buf = append(s.buf, piece...)
		if err == bufio.ErrBufferFull {
			if len(s.buf) > maxLine {
				s.line++
				return nil, &input.Error{Path: s.file.Name(), Line: s.line, Cause: "line of more than 128 MiB", Remedy: "leave it out: it is no note"}
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
		s.at += int64(len(s.buf))
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
