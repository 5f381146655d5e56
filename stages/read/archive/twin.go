package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/stages/read/input"
	"github.com/velum-health/velum/stages/read/parquet"
)

// A file without checksums can be damaged so that it reads as another sound
// one: no second decoding of the same bytes tells (tried, with Arrow's reader:
// BENCHMARKS.md), and nothing in the file does. A list of SHA-256 sums tells,
// and so does a second copy of the file, or a second export of the same notes:
// a twin. What is the same byte for byte needs no more; else every row, all
// columns that are read, must be the same, in whatever row groups.

// twin is the second file of notes.
type twin struct {
	file   *File
	groups []parquet.GroupSize
}

// twice finds the twin of a file that has nothing else to vouch for it, and
// compares the bytes. cause says what is wrong.
func (s *scanner) twice(ctx context.Context, f *File) (t *twin, cause string, err error) {
	if s.a.o.Twice == "" || s.sums != nil {
		return nil, "", nil
	}
	two := &File{Path: s.a.o.Twice, Folder: f.Folder, form: f.form}
	if info, err := os.Stat(two.Path); err == nil && info.IsDir() {
		two.Path = filepath.Join(two.Path, f.raw, filepath.Base(f.Path))
	}
	if _, cause, err = s.hash(ctx, two); err != nil || cause != "" {
		return nil, "its second copy " + cause, err
	}
	if two.SHA256 == f.SHA256 {
		return nil, "", nil
	}
	return &twin{file: two}, "", nil
}

// sameBytes is twice for files of text, which are the same or are not.
func (s *scanner) sameBytes(ctx context.Context, f *File) (cause string, err error) {
	t, cause, err := s.twice(ctx, f)
	if t != nil {
		cause = "is not what its second copy is, byte for byte"
	}
	return cause, err
}

// settleTwin looks whether the twin of a Parquet file can have the same notes.
func (s *scanner) settleTwin(ctx context.Context, f *File, l *parquet.Layout) (cause string, err error) {
	t, cause, err := s.twice(ctx, f)
	if t == nil || err != nil {
		return cause, err
	}
	two, err := s.inspect(t.file)
	if err != nil {
		if damage, ok := errors.AsType[*commit.DamageError](err); ok {
			return "its second copy: " + damage.Cause, nil
		}
		return "its second copy has not the same columns", nil
	}
	if err := two.Check(t.file.Path, &s.a.o); err != nil {
		return "its second copy has a footer that cannot be", nil
	}
	for i, x := range two.Extra {
		if y := l.Extra[i]; x.Missing != y.Missing || x.Null != y.Null || !x.Missing && !x.Null && !parquet.SameShape(x.Shape, y.Shape) {
			return "its second copy has not the same columns", nil
		}
	}
	if rowsOf(two.Groups) != rowsOf(l.Groups) {
		return fmt.Sprintf("it has %d notes, its second copy %d", rowsOf(l.Groups), rowsOf(two.Groups)), nil
	}
	t.groups = two.Groups
	f.twin = t
	return "", nil
}

func rowsOf(groups []parquet.GroupSize) (n int64) {
	for _, g := range groups {
		n += g.Rows
	}
	return n
}

// unit returns the row groups that hold the rows of another file's unit.
func (t *twin) unit(u *commit.Unit) *commit.Unit {
	two := &commit.Unit{Input: t.file.Path}
	at := int64(0)
	for g, size := range t.groups {
		switch {
		case at+size.Rows <= u.First:
			two.From, two.To, two.First = int64(g+1), int64(g+1), at+size.Rows
		case at < u.First+u.Rows:
			two.To, two.Rows = int64(g+1), at+size.Rows-two.First
		}
		at += size.Rows
	}
	return two
}

// compared hands out the notes of a file if its twin has the same. It is a
// pipeline.Source.
type compared struct {
	UnitSource
	twin UnitSource
	feed input.Feed
	skip int64 // notes of the twin before the first
	path string
}

// compare opens the twin of a unit, if it has one.
func (a *Archive) compare(src UnitSource, f *File, u *commit.Unit) (UnitSource, error) {
	if f.twin == nil {
		return src, nil
	}
	unit := f.twin.unit(u)
	two, err := a.open(f.twin.file, unit)
	if err != nil {
		damage := &commit.DamageError{Path: f.Path, RowGroup: -1, Cause: "its second copy cannot be read", Unread: true}
		return nil, errors.Join(damage, src.Close())
	}
	return &compared{UnitSource: src, twin: two, feed: input.Feed{Src: two}, skip: u.First - unit.First, path: f.Path}, nil
}

// Close closes both files.
func (c *compared) Close() error { return errors.Join(c.UnitSource.Close(), c.twin.Close()) }

// Next implements pipeline.Source. A note that is not that of the twin fails
// the unit, as unread: one of the two files is damaged, and who mends it may
// leave the other as it is.
func (c *compared) Next(b *pipeline.Batch) error {
	if err := c.UnitSource.Next(b); err != nil {
		return err
	}
	for ; c.skip > 0; c.skip-- {
		if err := c.feed.Next(); err != nil {
			return c.differs(b.First)
		}
	}
	for i := range b.Len() {
		if err := c.feed.Next(); err != nil || !sameNote(b, i, &c.feed.In, c.feed.At) {
			return c.differs(b.First + int64(i))
		}
	}
	return nil
}

func (c *compared) differs(row int64) error {
	return &commit.DamageError{Path: c.path, RowGroup: -1, Cause: fmt.Sprintf("row %d is not what its second copy has", row), Unread: true}
}

// sameNote tells whether two notes are the same in all that was read.
func sameNote(a *pipeline.Batch, i int, b *pipeline.Batch, k int) bool {
	if a.Reason[i] != b.Reason[k] || !bytes.Equal(a.ID.At(i), b.ID.At(k)) || !bytes.Equal(a.Text.At(i), b.Text.At(k)) {
		return false
	}
	for c := range a.Extra {
		if !sameValue(&a.Extra[c], i, &b.Extra[c], k) {
			return false
		}
	}
	return true
}

func sameValue(a *pipeline.Column, i int, b *pipeline.Column, k int) bool {
	if a.Kind == pipeline.NestedColumn {
		for n := range a.Leaves {
			if !sameRow(&a.Leaves[n], i, &b.Leaves[n], k) {
				return false
			}
		}
		return true
	}
	if a.Valid[i] != b.Valid[k] {
		return false
	}
	if a.Kind == pipeline.BytesColumn {
		return bytes.Equal(a.Bytes.At(i), b.Bytes.At(k))
	}
	return a.Fixed[i] == b.Fixed[k]
}

func sameRow(a *pipeline.Leaf, i int, b *pipeline.Leaf, k int) bool {
	at, bt := a.Rows[i:i+2], b.Rows[k:k+2]
	if !bytes.Equal(a.Rep[at[0]:at[1]], b.Rep[bt[0]:bt[1]]) || !slices.Equal(a.Def[at[0]:at[1]], b.Def[bt[0]:bt[1]]) {
		return false
	}
	for v := range a.Starts[i+1] - a.Starts[i] {
		if !bytes.Equal(a.Values.At(int(a.Starts[i]+v)), b.Values.At(int(b.Starts[k]+v))) {
			return false
		}
	}
	return true
}
