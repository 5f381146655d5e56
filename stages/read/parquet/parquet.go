// Package parquet reads notes from Parquet with its own footer parser, only the columns that are named, and one cursor
// per column. It takes a range of row groups and returns a pipeline.Source. A damaged file gives a *commit.DamageError
// with the place.
package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
	"github.com/velum-health/velum/stages/read/input"
)

// Reader reads the notes in a range of row groups. It is a pipeline.Source.
type Reader struct {
	path    string
	o       input.Options
	file    *os.File
	disk    durable.Witness // of file
	text    Cursor
	ids     []extraReader // as text
	valid   []bool        // scratch
	extra   []extraReader
	columns []pipeline.Column // of extra, without values

	first   int64 // row of the first note in the file
	rows    int64 // notes in the range, by the footer
	done    int64
	scratch []pipeline.Bytes // ids as read, a column each
	naming  input.Naming

	stays func(*os.File) error // checks that the file is what was hashed; nil: nobody hashed it
}

// New opens the row groups [from, to) of a file; to < 0 means all. It checks the schema and the footer before reading
// any row. The error is an *input.SchemaError if a column does not agree with the options, and a *commit.DamageError if
// the file is no valid Parquet file.
func New(path string, from, to int, o input.Options) (*Reader, error) {
	o = o.WithDefaults()
	if err := o.Check(); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &Reader{path: path, o: o, file: f, naming: input.NewNaming(&o)}
	err = p.fence(func() error { return p.open(from, to) })
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func (r *Reader) open(from, to int) error {
	info, err := r.file.Stat()
	if err != nil {
		return err
	}
	f, err := ReadFooter(r.path, r.disk.Watch(r.file), info.Size())
	if err != nil {
		return err
	}
	f.rename(r.o.Names)
	b, err := f.bind(&r.o)
	if err != nil {
		return err
	}
	groups := f.Meta.RowGroups
	if to < 0 {
		to = len(groups)
	}
	if from < 0 || from > to || to > len(groups) {
		return fmt.Errorf("%s: row groups %d to %d of %d", r.path, from, to, len(groups))
	}
	for i := range groups[:to] {
		if i < from {
			r.first += groups[i].NumRows
		} else {
			r.rows += groups[i].NumRows
		}
	}
	if err := f.CheckChunks(from, to, b.columns()); err != nil {
		return err
	}
	return r.cursors(f, &b, from, to)
}

func (r *Reader) cursors(f *Footer, b *bindings, from, to int) error {
	file, err := f.Open(b.columns())
	if err != nil {
		return err
	}
	r.text = f.Cursor(b.text.column, 0, file, from, to)
	for _, id := range b.ids {
		id.value = textOf(&f.Columns[id.column].Elements[0])
		r.ids = append(r.ids, f.extraReader(id, file, from, to))
	}
	for _, x := range b.extra {
		column, err := NewColumn(x.As, x.Shape)
		if err != nil {
			return &input.SchemaError{Path: r.path, Column: x.Name, Cause: "is of a type that cannot be kept", Remedy: "name another column"}
		}
		r.columns = append(r.columns, column)
		r.extra = append(r.extra, f.extraReader(x, file, from, to))
	}
	r.scratch = make([]pipeline.Bytes, len(r.ids))
	return nil
}

// Hold calls stays with the open file, now and after the last note, to check that the file is still the one that was
// hashed.
func (r *Reader) Hold(stays func(*os.File) error) error {
	r.stays = stays
	return stays(r.file)
}

// Stat returns the FileInfo of the open file.
func (r *Reader) Stat() (os.FileInfo, error) { return r.file.Stat() }

// First returns the row of the first note in the file.
func (r *Reader) First() int64 { return r.first }

// Columns returns the columns of Batch.Extra, without values.
func (r *Reader) Columns() []pipeline.Column { return r.columns }

// Has reports whether the file has the Extra column with index k. A missing column is filled with nulls.
func (r *Reader) Has(k int) bool { return r.extra[k].column >= 0 }

// GroupRows returns the number of rows in each row group of the range, from the footer.
func (r *Reader) GroupRows() []int64 {
	rows := make([]int64, 0, len(r.text.groups))
	for _, g := range r.text.groups {
		rows = append(rows, g.NumRows())
	}
	return rows
}

// Close closes the file.
func (r *Reader) Close() error {
	err := r.fence(func() error {
		err := r.text.Close()
		for _, x := range slices.Concat(r.ids, r.extra) {
			for i := range x.leaves {
				err = errors.Join(err, x.leaves[i].Close())
			}
		}
		return err
	})
	return errors.Join(err, r.file.Close())
}

// Next implements pipeline.Source. Errors are *commit.DamageError.
func (r *Reader) Next(b *pipeline.Batch) error {
	err := r.fence(func() error { return r.fill(b) })
	if err == io.EOF && r.stays != nil {
		return cmp.Or(r.stays(r.file), err)
	}
	return err
}

// fence is fence, and finds out whether it is the file that is damaged or the
// system that could not read it.
func (r *Reader) fence(do func() error) error {
	err := Guard(r.path, do)
	said := r.disk.Err()
	// Go itself refuses places before the file, which a broken footer may ask
	// for: only what the system says counts.
	if _, system := errors.AsType[syscall.Errno](said); err == nil || err == io.EOF || !system {
		return err
	}
	unread := input.Unread(r.path, "cannot be read: "+input.Cause(said))
	if damage, ok := errors.AsType[*commit.DamageError](err); ok {
		unread.RowGroup, unread.Column = damage.RowGroup, damage.Column
	}
	return unread
}

func (r *Reader) fill(b *pipeline.Batch) error {
	if err := r.decode(b); err != nil {
		return err
	}
	r.naming.Name(b, r.scratch)
	return nil
}

// Decode is Next without making ids: it returns the id columns as read.
func (r *Reader) Decode(b *pipeline.Batch) (ids []pipeline.Bytes, err error) {
	return r.scratch, r.fence(func() error { return r.decode(b) })
}

// decode fills all but the ids, whose columns it puts into scratch.
func (r *Reader) decode(b *pipeline.Batch) error {
	b.First = r.first + r.done
	if err := r.texts(b); err != nil {
		return err
	}
	n := b.Len()
	if n == 0 {
		return r.end()
	}
	for i := range r.ids {
		r.scratch[i].Reset()
		r.valid = r.valid[:0]
		// a longer one does not count as an id anyway
		if err := r.ids[i].leaves[0].texts(&r.scratch[i], &r.valid, r.ids[i].value, input.MaxID+1, n); err != nil {
			return err
		}
	}
	input.ReadyColumns(b, r.columns)
	for i := range r.extra {
		if err := r.extra[i].read(&b.Extra[i], n); err != nil {
			return err
		}
	}
	r.done += int64(n)
	return nil
}

// end checks that all columns end together and that no row is missing.
func (r *Reader) end() error {
	if r.done != r.rows {
		return input.Damage("", fmt.Sprintf("%d rows read, the footer says %d", r.done, r.rows))
	}
	for _, x := range slices.Concat(r.ids, r.extra) {
		for i := range x.leaves {
			if err := x.leaves[i].Load(); err != io.EOF {
				return cmp.Or[error](err, x.leaves[i].Damage("has more values than the text"))
			}
		}
	}
	return io.EOF
}

// texts appends notes until the batch is full.
func (r *Reader) texts(b *pipeline.Batch) error {
	c := &r.text
	for !r.o.Full(b) {
		if err := c.Load(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for c.N > 0 && !r.o.Full(b) {
			at := c.Step()
			if at < 0 {
				b.Text.End()
				b.Reason = append(b.Reason, pipeline.NullText)
				continue
			}
			input.AppendText(b, c.Bytes(at), r.o.MaxText)
		}
	}
	return nil
}
