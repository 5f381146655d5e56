package stream

import (
	"errors"
	"io"
	"slices"
	"strconv"
	"sync"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"

	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/offset"
)

// arrows reads and writes Arrow record batches in the IPC stream format. Each input batch becomes one output batch with
// as many rows.
type arrows struct {
	*shape
	in     *intake
	mem    *bounded
	r      *ipc.Reader
	at     []int // columns of the fields of the filler
	kept   []int // columns that pass
	row    record
	left   int // rows of the current record that are in no batch
	rows   int64
	before int64 // of them, those before the current record
	err    error

	mu      sync.Mutex
	waiting []pending // records that came in and did not go out

	w       *ipc.Writer
	schema  *arrow.Schema
	columns []array.Builder // ids, texts, spans (tag alone), status
	bad     []int           // rows of the current record that are not sound
	index   offset.Index
}

// pending is a record whose rows are on their way.
type pending struct {
	rows int
	kept []arrow.Array
}

// record is the current row, for the filler.
type record struct {
	cells []cell
	i     int
}

// Field implements input.Fields.
func (r *record) Field(k int) (value []byte, number, ok bool) { return r.cells[k](r.i) }

// intake distinguishes a stream that ends between messages from one that ends within a message, which the library
// treats alike.
type intake struct {
	io.Reader
	within bool // bytes were read since the last message
}

// Read implements io.Reader.
func (in *intake) Read(p []byte) (int, error) {
	n, err := in.Reader.Read(p)
	if err == io.EOF && in.within {
		err = io.ErrUnexpectedEOF
	}
	in.within = in.within || n > 0
	return n, err
}

const (
	maxRecord = 512 << 20 // bytes of a record batch, unpacked
	maxRows   = 1 << 24   // of one: null takes no bytes
)

// bounded limits the memory for one record batch. Lengths precede their data, and compressed buffers state their size,
// so that a few bytes could request all memory.
type bounded struct {
	memory.Allocator
	left int
}

// Allocate implements memory.Allocator. It panics above the memory limit; the Arrow reader turns the panic into an
// error.
func (b *bounded) Allocate(n int) []byte {
	if n < 0 || n > b.left {
		b.left = -1
		panic("too large")
	}
	b.left -= n
	return b.Allocator.Allocate(n)
}

// Reallocate implements memory.Allocator.
func (b *bounded) Reallocate(n int, old []byte) []byte {
	if n <= cap(old) {
		return old[:n]
	}
	return append(b.Allocate(n)[:0], old...)[:n]
}

func newArrow(s *shape, in *intake, out io.Writer) (*arrows, error) {
	a := &arrows{shape: s, in: in, mem: &bounded{memory.DefaultAllocator, maxRecord}}
	var err error
	if a.r, err = ipc.NewReader(in, ipc.WithAllocator(a.mem)); err != nil {
		return nil,
			exit.Misconfiguredf("write it with pyarrow.ipc.new_stream; a file (Feather) is no stream, and types that Arrow has since 2024, such as decimal32, are unknown here", where+" is no stream of Arrow that can be read")
	}
	in.within = false
	fields := a.r.Schema().Fields()
	names := make([]string, len(fields))
	for i, f := range fields {
		names[i] = f.Name
	}
	if a.at, err = s.o.Settle(where, names); err != nil {
		return nil, exit.Misconfigured(err, "")
	}
	text := len(s.o.ID)
	for k, i := range a.at {
		if t := valueType(fields[i].Type); k == text && !isText(t) || k != text && cellType(t) == 0 {
			return nil, exit.Misconfiguredf("cast it, or name another column", where+": column %q has the type %s", names[i], t)
		}
	}
	to := []arrow.Field{{Name: idColumn, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: textColumn, Type: arrow.BinaryTypes.String, Nullable: true}}
	if id := valueType(fields[a.at[text]].Type).ID(); id == arrow.LARGE_STRING || id == arrow.STRING_VIEW {
		to[1].Type = arrow.BinaryTypes.LargeString
	}
	if s.tag {
		to = append(to, arrow.Field{Name: spansColumn, Type: spanList})
	}
	to = append(to, arrow.Field{Name: statusColumn, Type: arrow.BinaryTypes.String})
	for _, f := range to {
		a.columns = append(a.columns, array.NewBuilder(memory.DefaultAllocator, f.Type))
	}
	for _, name := range s.keep {
		i := slices.Index(names, name)
		if i < 0 {
			return nil, exit.Misconfiguredf("name columns of the stream in read.keep", where+" has no column %q", name)
		}
		t := keptType(fields[i].Type)
		if t == nil {
			return nil, exit.Misconfiguredf("cast it, or leave it out of read.keep", where+": column %q has the type %s, which cannot be kept", name,
				fields[i].Type)
		}
		a.kept = append(a.kept, i)
		to = append(to, arrow.Field{Name: name, Type: t, Nullable: true, Metadata: fields[i].Metadata})
	}
	a.schema = arrow.NewSchema(to, nil)
	a.w = ipc.NewWriter(out, ipc.WithSchema(a.schema))
	return a, nil
}

var spanList = arrow.ListOf(arrow.StructOf(
	arrow.Field{Name: "start", Type: arrow.PrimitiveTypes.Int32}, arrow.Field{Name: "end", Type: arrow.PrimitiveTypes.Int32},
	arrow.Field{Name: "label", Type: arrow.BinaryTypes.String}, arrow.Field{Name: "source", Type: arrow.BinaryTypes.String},
	arrow.Field{Name: "score", Type: arrow.PrimitiveTypes.Float32}))

func (a *arrows) times() (kept []pipeline.Column) {
	for k, i := range a.kept {
		c := pipeline.Column{Name: a.keep[k], Kind: pipeline.BytesColumn}
		if hasTime(a.r.Schema().Field(i).Type) {
			c.Kind = pipeline.TimestampColumn
		}
		kept = append(kept, c)
	}
	return kept
}

// hasTime tells whether a type, or what is nested in it, is a date or a timestamp.
func hasTime(t arrow.DataType) bool {
	switch t := t.(type) {
	case *arrow.Date32Type, *arrow.Date64Type, *arrow.TimestampType:
		return true
	case *arrow.DictionaryType:
		return hasTime(t.ValueType)
	case arrow.ExtensionType:
		return hasTime(t.StorageType())
	case arrow.NestedType:
		return slices.ContainsFunc(t.Fields(), func(f arrow.Field) bool { return hasTime(f.Type) })
	}
	return false
}

func (a *arrows) broken() error { return a.err }

func (a *arrows) close() error { return a.w.Close() }

// Next implements pipeline.Source. A record without rows is a batch without notes.
func (a *arrows) Next(b *pipeline.Batch) error {
	if a.left == 0 {
		if err := a.next(); err != nil {
			return err
		}
	}
	a.fill.Begin(b, a.rows)
	if pipeline.Try(func() error { a.take(b); return nil }) != nil { // values that lie nowhere
		a.cut(false)
		b.Reset()
		return io.EOF
	}
	a.fill.End(b)
	a.rows += int64(b.Len())
	return nil
}

// take fills a batch with rows of the current record.
func (a *arrows) take(b *pipeline.Batch) {
	n := int(a.r.Record().NumRows())
	for a.left > 0 && !a.fill.Full(b) {
		a.row.i = n - a.left
		a.fill.Row(b, &a.row, true)
		a.left--
	}
}

// cut ends the stream at the current record; within says that the record is incomplete. None of its rows is written.
func (a *arrows) cut(within bool) {
	const again = "write it again: the rows before it went out"
	switch {
	case within:
		a.err = exit.Errorf(exit.Failed, again, where+" ends within the record batch behind row %d", a.before)
	case a.mem.left < 0:
		a.err = exit.Misconfiguredf("write smaller ones, as with max_chunksize=10000",
			where+": the record batch behind row %d has more than %d MiB, or %d rows", a.before, maxRecord>>20, maxRows)
	default:
		a.err = exit.Misconfiguredf(again, where+": the record batch behind row %d cannot be read", a.before)
	}
}

// next waits for the next record.
func (a *arrows) next() error {
	a.in.within, a.before, a.mem.left = false, a.rows, maxRecord
	if !a.r.Next() {
		if err := a.r.Err(); err != nil {
			a.cut(errors.Is(err, io.ErrUnexpectedEOF))
		}
		return io.EOF
	}
	if a.r.Record().NumRows() > maxRows {
		a.mem.left = -1
		a.cut(false)
		return io.EOF
	}
	r := a.r.Record()
	a.row.cells = a.row.cells[:0]
	for _, i := range a.at {
		a.row.cells = append(a.row.cells, cellOf(r.Column(i)))
	}
	p := pending{rows: int(r.NumRows())}
	for _, i := range a.kept {
		column := r.Column(i)
		column.Retain()
		p.kept = append(p.kept, column)
	}
	a.mu.Lock()
	a.waiting = append(a.waiting, p)
	a.mu.Unlock()
	a.left = p.rows
	return nil
}

// Put implements pipeline.Sink: a record goes out when its last row is there.
func (a *arrows) Put(b *pipeline.Batch) error {
	for i := range b.Len() {
		if err := a.put(b, i); err != nil {
			return err
		}
	}
	a.mu.Lock()
	p := a.waiting[0]
	whole := a.columns[0].Len() == p.rows
	if whole {
		a.waiting = slices.Delete(a.waiting, 0, 1)
	}
	a.mu.Unlock()
	if !whole {
		return nil
	}
	return a.send(p)
}

func (a *arrows) put(b *pipeline.Batch, i int) error {
	sound := b.Reason[i] == pipeline.Sound
	if !sound {
		a.bad = append(a.bad, a.columns[0].Len())
	}
	id := a.id(b, i)
	appendBytes(a.columns[0], id, len(id) > 0)
	var text []byte
	if sound {
		text = a.shape.text(b, i)
	}
	appendBytes(a.columns[1], text, sound)
	if list, ok := a.columns[2].(*array.ListBuilder); ok {
		list.Append(true)
		if sound {
			if err := a.spans(list.ValueBuilder().(*array.StructBuilder), b, i); err != nil {
				return err
			}
		}
	}
	appendBytes(a.columns[len(a.columns)-1], []byte(a.status(b, i)), true)
	return nil
}

func appendBytes(to array.Builder, value []byte, ok bool) {
	switch to := to.(type) {
	case *array.StringBuilder:
		if ok {
			to.BinaryBuilder.Append(value)
			return
		}
	case *array.LargeStringBuilder:
		if ok {
			to.BinaryBuilder.Append(value)
			return
		}
	}
	to.AppendNull()
}

func (a *arrows) spans(to *array.StructBuilder, b *pipeline.Batch, i int) error {
	spans := b.Spans.At(i)
	if len(spans) == 0 {
		return nil
	}
	a.index.Reset(b.Text.At(i), a.unit)
	for _, s := range spans {
		start, ok1 := a.index.FromByte(int(s.Start))
		end, ok2 := a.index.FromByte(int(s.End))
		if !ok1 || !ok2 {
			return errors.New("a span cuts a character; report it")
		}
		to.Append(true)
		to.FieldBuilder(0).(*array.Int32Builder).Append(int32(start))
		to.FieldBuilder(1).(*array.Int32Builder).Append(int32(end))
		to.FieldBuilder(2).(*array.StringBuilder).Append(s.Category.String())
		to.FieldBuilder(3).(*array.StringBuilder).Append(s.Source.String())
		to.FieldBuilder(4).(*array.Float32Builder).Append(s.Score)
	}
	return nil
}

// send writes a record.
func (a *arrows) send(p pending) (err error) {
	columns := make([]arrow.Array, 0, len(a.columns)+len(p.kept))
	for _, c := range a.columns {
		columns = append(columns, c.NewArray())
	}
	for k, c := range p.kept {
		if c, err = passed(c, a.schema.Field(len(a.columns)+k).Type, a.bad); err != nil {
			return exit.Misconfiguredf("leave it out of read.keep", where+": column %q cannot be kept", a.keep[k])
		}
		columns = append(columns, c)
	}
	a.bad = a.bad[:0]
	r := array.NewRecord(a.schema, columns, int64(p.rows))
	defer r.Release()
	for _, c := range columns {
		c.Release()
	}
	return a.w.Write(r)
}

// A cell is the value of a row in one column: see input.Fields.
type cell func(i int) (value []byte, number, ok bool)

// valueType is the type of the values of a column that counts them in a dictionary.
func valueType(t arrow.DataType) arrow.DataType {
	if d, ok := t.(*arrow.DictionaryType); ok {
		return d.ValueType
	}
	return t
}

func isText(t arrow.DataType) bool { return cellType(t) == 't' }

// cellType tells what the values of a type are as text: 't' text, 'n' whole numbers,
// 'f' other numbers, 'd' dates; 0 is no type of an id, a date or a text.
func cellType(t arrow.DataType) byte {
	switch id := t.ID(); {
	case id == arrow.STRING, id == arrow.LARGE_STRING, id == arrow.STRING_VIEW, id == arrow.NULL:
		return 't'
	case arrow.IsInteger(id):
		return 'n'
	case id == arrow.FLOAT32, id == arrow.FLOAT64:
		return 'f'
	case id == arrow.DATE32, id == arrow.DATE64, id == arrow.TIMESTAMP:
		return 'd'
	}
	return 0
}

// cellOf returns the values of a column of a type that cellType knows.
func cellOf(column arrow.Array) cell {
	if d, ok := column.(*array.Dictionary); ok {
		of := cellOf(d.Dictionary())
		return func(i int) (value []byte, number, ok bool) {
			if d.IsNull(i) {
				return nil, false, false
			}
			return of(d.GetValueIndex(i))
		}
	}
	var value func(dst []byte, i int) []byte
	switch c := column.(type) {
	case *array.Null:
		return func(int) ([]byte, bool, bool) { return nil, false, false }
	case interface{ Value(i int) string }:
		value = func(dst []byte, i int) []byte { return append(dst, c.Value(i)...) }
	case *array.Float32:
		value = func(dst []byte, i int) []byte { return strconv.AppendFloat(dst, float64(c.Value(i)), 'f', -1, 32) }
	case *array.Float64:
		value = func(dst []byte, i int) []byte { return strconv.AppendFloat(dst, c.Value(i), 'f', -1, 64) }
	default:
		value = func(dst []byte, i int) []byte { return append(dst, column.ValueStr(i)...) }
	}
	kind := cellType(column.DataType())
	var scratch []byte
	return func(i int) ([]byte, bool, bool) {
		if column.IsNull(i) {
			return nil, false, false
		}
		scratch = value(scratch[:0], i)
		return scratch, kind == 'n' || kind == 'f', true
	}
}
