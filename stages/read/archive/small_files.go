package archive

import (
	"errors"
	"io"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
)

// sharedFiles reads the small files of a unit one after the other, as if they were
// one. A file comes whole or not at all: the notes of one that cannot be read go to
// quarantine, and the others go on. It is a pipeline.Source.
type sharedFiles struct {
	a       *Archive
	unit    *commit.Unit
	member  int            // the next file
	file    pipeline.Batch // the notes of the current file
	more    pipeline.Batch // and more of them
	at      int            // the next note of it
	row     int64          // of the unit
	damaged map[int]*commit.DamageError
}

func newSharedFiles(a *Archive, u *commit.Unit) *sharedFiles {
	s := &sharedFiles{a: a, unit: u, damaged: map[int]*commit.DamageError{}}
	input.ReadyColumns(&s.file, a.Extra)
	input.ReadyColumns(&s.more, a.Extra)
	return s
}

// Damaged returns the function that reports which members of a bundled unit could not be read; nil for a unit of one
// file.
func Damaged(src UnitSource) func() map[int]*commit.DamageError {
	if s, ok := src.(*sharedFiles); ok {
		return func() map[int]*commit.DamageError { return s.damaged }
	}
	return nil
}

// Close does nothing: no file stays open between notes.
func (s *sharedFiles) Close() error { return nil }

// Next implements pipeline.Source.
func (s *sharedFiles) Next(b *pipeline.Batch) error {
	b.First = s.row
	input.ReadyColumns(b, s.a.Extra)
	return input.Fill(b, s.a.o.Full, func() error {
		switch {
		case s.at < s.file.Len():
			b.AppendRead(&s.file, s.at)
			s.at++
			s.row++
			return nil
		case s.member == len(s.unit.Members):
			return io.EOF
		}
		return s.next()
	})
}

// next opens the next file.
func (s *sharedFiles) next() error {
	m := s.unit.Members[s.member]
	m.First = 0 // in its file
	s.at = 0
	s.file.Reset()
	err := s.read(&m)
	damage, damaged := errors.AsType[*commit.DamageError](err)
	if err != nil && !damaged {
		return err
	}
	if damaged {
		s.damaged[s.member] = damage
		s.file.Reset()
		for range m.Rows {
			s.file.ID.End()
			s.file.Text.End()
			s.file.Reason = append(s.file.Reason, pipeline.BadUnit)
		}
		for k := range s.file.Extra {
			for range m.Rows {
				s.file.Extra[k].AppendNull()
			}
		}
	}
	s.member++
	return nil
}

// mostText is the largest text of a small file: a page of Parquet can repeat a long text thousands of times.
const mostText = 64 << 20

// read reads the notes of a file.
func (s *sharedFiles) read(m *commit.Unit) error {
	src, err := s.a.Open(m)
	if err != nil {
		return err
	}
	into := &s.file
	for {
		err = src.Next(into)
		if err != nil {
			break
		}
		if into == &s.more {
			for i := range into.Len() {
				s.file.AppendRead(into, i)
			}
			into.Reset()
		}
		if len(s.file.Text.Data) > mostText {
			err = input.Damage(m.Input, "holds a thousand times more text than it has bytes")
			break
		}
		into = &s.more
	}
	if err == io.EOF {
		err = nil
	}
	if err == nil && int64(s.file.Len()) != m.Rows {
		err = s.a.files[m.Input].changed()
	}
	return errors.Join(err, src.Close())
}
