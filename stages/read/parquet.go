package read

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
	"github.com/velum-health/velum/pipeline/durable"
)

// Parquet reads the notes of a range of row groups. It is a pipeline.Source.
type Parquet struct {
	path    string
	o       ParquetOptions
	file    *os.File
	disk    durable.Witness // of file
	text    cursor
	ids     []cursor
	signed  []bool
	extra   []extraReader
	columns []pipeline.Column // of extra, without values

	first   int64 // row of the first note in the file
	rows    int64 // notes in the range, by the footer
	done    int64
	scratch []pipeline.Bytes // ids as read, a column each
	naming  naming

	stays func(*os.File) error // checks that the file is what was hashed; nil: nobody hashed it
}

// NewParquet opens the row groups [from, to) of a file; to < 0 means all. It
// checks the schema and the footer before any row is read. Errors:
// *SchemaError if a column is not what the options say,
// *commit.DamageError if the file is no sound Parquet file.
func NewParquet(path string, from, to int, o ParquetOptions) (*Parquet, error) {
	o = o.withDefaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	p := &Parquet{path: path, o: o, file: f, naming: newNaming(&o)}
	err = p.fence(func() error { return p.open(from, to) })
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return p, nil
}

func (p *Parquet) open(from, to int) error {
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	f, err := readFooter(p.path, p.disk.Watch(p.file), info.Size())
	if err != nil {
		return err
	}
	b, err := f.bind(&p.o)
	if err != nil {
		return err
	}
	groups := f.meta.RowGroups
	if to < 0 {
		to = len(groups)
	}
	if from < 0 || from > to || to > len(groups) {
		return fmt.Errorf("%s: row groups %d to %d of %d", p.path, from, to, len(groups))
	}
	for i := range groups[:to] {
		if i < from {
			p.first += groups[i].NumRows
		} else {
			p.rows += groups[i].NumRows
		}
	}
	if err := f.checkChunks(from, to, b.columns()); err != nil {
		return err
	}
	return p.cursors(f, &b, from, to)
}

func (p *Parquet) cursors(f *footer, b *bindings, from, to int) error {
	file, err := f.open(b.columns(), from, to)
	if err != nil {
		return err
	}
	p.text = f.cursor(b.text.column, 0, file, from, to)
	for _, id := range b.ids {
		p.ids, p.signed = append(p.ids, f.cursor(id.column, 0, file, from, to)), append(p.signed, id.signed)
	}
	for _, x := range b.extra {
		column, err := newColumn(x.as, x.shape)
		if err != nil {
			return &SchemaError{p.path, x.name, "is of a type that cannot be kept", "name another column"}
		}
		p.columns = append(p.columns, column)
		p.extra = append(p.extra, f.extraReader(x, file, from, to))
	}
	p.scratch = make([]pipeline.Bytes, len(p.ids))
	return nil
}

// Hold checks the file, which was hashed, with stays: now, and when its last note was read.
func (p *Parquet) Hold(stays func(*os.File) error) error {
	p.stays = stays
	return stays(p.file)
}

// Stat is that of the open file.
func (p *Parquet) Stat() (os.FileInfo, error) { return p.file.Stat() }

// First returns the row of the first note in the file.
func (p *Parquet) First() int64 { return p.first }

// Columns are those of Batch.Extra, without values.
func (p *Parquet) Columns() []pipeline.Column { return p.columns }

// Has tells whether the file has a column of Batch.Extra, by its number. One that it lacks is null.
func (p *Parquet) Has(k int) bool { return p.extra[k].column >= 0 }

// GroupRows returns the rows of each row group of the range, by the footer.
func (p *Parquet) GroupRows() []int64 {
	rows := make([]int64, 0, len(p.text.groups))
	for _, g := range p.text.groups {
		rows = append(rows, g.NumRows())
	}
	return rows
}

// Close closes the file.
func (p *Parquet) Close() error {
	err := p.fence(func() error {
		err := p.text.close()
		for i := range p.ids {
			err = errors.Join(err, p.ids[i].close())
		}
		for i := range p.extra {
			for k := range p.extra[i].leaves {
				err = errors.Join(err, p.extra[i].leaves[k].close())
			}
		}
		return err
	})
	return errors.Join(err, p.file.Close())
}

// Next implements pipeline.Source. Errors are *commit.DamageError.
func (p *Parquet) Next(b *pipeline.Batch) error {
	err := p.fence(func() error { return p.fill(b) })
	if err == io.EOF && p.stays != nil {
		return cmp.Or(p.stays(p.file), err)
	}
	return err
}

// fence is fence, and finds out whether it is the file that is damaged or the
// system that could not read it.
func (p *Parquet) fence(do func() error) error {
	err := fence(p.path, do)
	said := p.disk.Err()
	// Go itself refuses places before the file, which a broken footer may ask
	// for: only what the system says counts.
	if _, system := errors.AsType[syscall.Errno](said); err == nil || err == io.EOF || !system {
		return err
	}
	unread := &commit.DamageError{Path: p.path, RowGroup: -1, Cause: "cannot be read: " + inputCause(said), Unread: true}
	if damage, ok := errors.AsType[*commit.DamageError](err); ok {
		unread.RowGroup, unread.Column = damage.RowGroup, damage.Column
	}
	return unread
}

func (p *Parquet) fill(b *pipeline.Batch) error {
	if err := p.decode(b); err != nil {
		return err
	}
	p.naming.name(b, p.scratch)
	return nil
}

// Decode is Next without making ids: it returns their columns as they were read.
func (p *Parquet) Decode(b *pipeline.Batch) (ids []pipeline.Bytes, err error) {
	return p.scratch, p.fence(func() error { return p.decode(b) })
}

// decode fills all but the ids, whose columns it puts into scratch.
func (p *Parquet) decode(b *pipeline.Batch) error {
	b.First = p.first + p.done
	if err := p.texts(b); err != nil {
		return err
	}
	n := b.Len()
	if n == 0 {
		return p.end()
	}
	for i := range p.ids {
		p.scratch[i].Reset()
		if err := p.ids[i].idBytes(&p.scratch[i], p.signed[i], n); err != nil {
			return err
		}
	}
	readyColumns(b, p.columns)
	for i := range p.extra {
		if err := p.extra[i].read(&b.Extra[i], n); err != nil {
			return err
		}
	}
	p.done += int64(n)
	return nil
}

// end checks that all columns end together and that no row is missing.
func (p *Parquet) end() error {
	if p.done != p.rows {
		return &commit.DamageError{RowGroup: -1, Cause: fmt.Sprintf("%d rows read, the footer says %d", p.done, p.rows)}
	}
	all := [][]cursor{p.ids}
	for i := range p.extra {
		all = append(all, p.extra[i].leaves)
	}
	for _, cursors := range all {
		for i := range cursors {
			if err := cursors[i].load(); err != io.EOF {
				return cmp.Or[error](err, cursors[i].damage("has more values than the text"))
			}
		}
	}
	return io.EOF
}

// texts appends notes until the batch is full.
func (p *Parquet) texts(b *pipeline.Batch) error {
	c := &p.text
	for b.Len() < p.o.BatchNotes && len(b.Text.Data) < p.o.BatchBytes {
		if err := c.load(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for c.n > 0 && b.Len() < p.o.BatchNotes && len(b.Text.Data) < p.o.BatchBytes {
			at := c.step()
			if at < 0 {
				b.Text.End()
				b.Reason = append(b.Reason, pipeline.NullText)
				continue
			}
			appendText(b, c.bytes(at), p.o.MaxText)
		}
	}
	return nil
}
