package parquet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"

	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/commit"
)

// Cursor iterates over the values of one leaf column in a range of row groups. The pages of different columns do not
// align, so every column has its own cursor.
//
// A cursor for a column that the file does not have (leaf < 0) returns nulls.
type Cursor struct {
	name   string
	leaf   int
	groups []parquet.RowGroup
	base   int // number of groups[0] in the file

	list bool // the values of a row are a list
	full byte // definition level of a value that is not null; 0 and 1 are the same

	group int           // groups[group] is being read
	pages parquet.Pages // of that row group; nil before and after
	seen  int64         // rows of it in the pages so far
	page  parquet.Page

	// What is left of the current page.
	defs []byte // definition levels: full is a value, less null; nil if required
	reps []byte // repetition levels of a list: 0 begins a row
	N    int    // values left, nulls included
	next int    // number of the next value that is not null

	// Values that are not null: value k is number idx[k] of these if idx is
	// set, else number k.
	idx     []int32
	data    []byte   // byte strings, with offsets; or fixed-width numbers
	Offsets []uint32 // nil for numbers
	width   int      // bytes a number
	bits    bool     // data holds bits
}

// Damage returns a *commit.DamageError for the current position.
func (c *Cursor) Damage(cause string) *commit.DamageError {
	return &commit.DamageError{RowGroup: c.base + c.group, Column: c.name, Cause: cause}
}

// Load reads the next page if no values are left (N == 0), or returns io.EOF.
func (c *Cursor) Load() error {
	for c.N == 0 {
		if c.leaf < 0 {
			return c.loadMissing()
		}
		c.release()
		if c.group == len(c.groups) {
			return io.EOF
		}
		if c.pages == nil {
			c.pages = c.groups[c.group].ColumnChunks()[c.leaf].Pages()
			c.seen = 0
		}
		page, err := c.pages.ReadPage()
		if err == io.EOF {
			if err := c.endGroup(); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return c.Damage(ownWords(err))
		}
		if err := c.open(page); err != nil {
			return err
		}
	}
	return nil
}

// loadMissing fills a column that the file lacks with nulls.
func (c *Cursor) loadMissing() error {
	for c.group < len(c.groups) && c.N == 0 {
		c.N = int(c.groups[c.group].NumRows())
		c.group++
	}
	if c.N == 0 {
		return io.EOF
	}
	return nil
}

func (c *Cursor) endGroup() error {
	rows := c.groups[c.group].NumRows()
	if c.seen != rows {
		return c.Damage(fmt.Sprintf("holds %d values, the footer says %d", c.seen, rows))
	}
	err := c.pages.Close()
	c.pages = nil
	c.group++
	return err
}

// open starts a page.
func (c *Cursor) open(page parquet.Page) error {
	c.page = page
	c.N, c.next = int(page.NumValues()), 0
	c.defs, c.reps = page.DefinitionLevels(), page.RepetitionLevels()
	if (c.list || len(c.defs) > 0) && len(c.defs) != c.N || c.list && len(c.reps) != c.N {
		return c.Damage("has a page whose levels and values differ in number")
	}
	c.seen += int64(c.rows())
	if c.seen > c.groups[c.group].NumRows() {
		return c.Damage("holds more values than the footer says")
	}
	values := page.Data()
	c.idx = nil
	if d := page.Dictionary(); d != nil {
		c.idx = values.Int32()
		values = d.Page().Data()
	}
	c.Offsets, c.width, c.bits = nil, 0, false
	stored := 0
	switch page.Type().Kind() {
	case parquet.ByteArray:
		c.data, c.Offsets = values.ByteArray()
		stored = len(c.Offsets) - 1
	case parquet.Boolean:
		c.data, c.bits = values.Boolean(), true
		stored = 8 * len(c.data)
	case parquet.FixedLenByteArray:
		c.data, c.width = values.FixedLenByteArray()
		if c.width <= 0 {
			return c.Damage("has a type that changed between pages")
		}
		stored = len(c.data) / c.width
	case parquet.Int96:
		c.data, c.width = int96Bytes(values.Int96()), 12
		stored = len(c.data) / 12
	case parquet.Int32, parquet.Float:
		c.data, _ = values.Data()
		c.width = 4
		stored = len(c.data) / 4
	case parquet.Int64, parquet.Double:
		c.data, _ = values.Data()
		c.width = 8
		stored = len(c.data) / 8
	default:
		return c.Damage("has a type that changed between pages")
	}
	if c.idx != nil {
		stored = len(c.idx)
	}
	if stored < c.values() {
		return c.Damage("has a page with fewer values than its header says")
	}
	return nil
}

// rows returns how many rows begin in the page.
func (c *Cursor) rows() int {
	if !c.list {
		return c.N
	}
	return bytes.Count(c.reps, []byte{0})
}

// values returns how many values of the page are not null.
func (c *Cursor) values() int {
	if len(c.defs) == 0 {
		return c.N
	}
	return bytes.Count(c.defs, []byte{max(c.full, 1)})
}

func int96Bytes(values []deprecated.Int96) []byte {
	out := make([]byte, 0, 12*len(values))
	for _, v := range values {
		for _, word := range v {
			out = binary.LittleEndian.AppendUint32(out, word)
		}
	}
	return out
}

// Step moves to the next value and returns its index in the data, or -1 for null. It may be called N times after Load.
func (c *Cursor) Step() int {
	c.N--
	if c.leaf < 0 {
		return -1
	}
	if len(c.defs) > 0 && c.defs[len(c.defs)-1-c.N] == 0 {
		return -1
	}
	k := c.next
	c.next++
	if c.idx != nil {
		return int(c.idx[k])
	}
	return k
}

// Bytes returns byte string k. It is valid until the next Load.
func (c *Cursor) Bytes(k int) []byte { return c.data[c.Offsets[k]:c.Offsets[k+1]] }

// Fixed returns the bits of number k.
func (c *Cursor) Fixed(k int) uint64 {
	switch {
	case c.bits:
		return uint64(c.data[k/8]>>(k%8)) & 1
	case c.width == 4:
		return uint64(binary.LittleEndian.Uint32(c.data[4*k:]))
	case c.width == 12:
		return uint64(int96Micros(c.data[12*k:]))
	}
	return binary.LittleEndian.Uint64(c.data[8*k:])
}

// julianEpoch is the Julian day of 1970-01-01, in which Int96 counts.
const julianEpoch = 2440588

// int96Micros turns the timestamps of old Spark files, nanoseconds of a day
// and its Julian number, into microseconds since 1970.
func int96Micros(b []byte) int64 {
	nanos := int64(binary.LittleEndian.Uint64(b))
	day := int64(binary.LittleEndian.Uint32(b[8:]))
	return (day-julianEpoch)*secondsADay*1e6 + nanos/1000
}

func (c *Cursor) release() {
	if c.page != nil {
		parquet.Release(c.page)
		c.page = nil
	}
}

func (c *Cursor) Close() error {
	c.release()
	if c.pages == nil {
		return nil
	}
	err := c.pages.Close()
	c.pages = nil
	return err
}

// extra appends the next n values to a pass-through column.
func (c *Cursor) extra(to *pipeline.Column, convert func(uint64) uint64, n int) error {
	for n > 0 {
		if err := c.Load(); err != nil {
			return c.Early(err)
		}
		k := min(n, c.N)
		n -= k
		for range k {
			at := c.Step()
			to.Valid = append(to.Valid, at >= 0)
			switch {
			case to.Kind == pipeline.BytesColumn:
				if at >= 0 {
					to.Bytes.Data = append(to.Bytes.Data, c.value(at)...)
				}
				to.Bytes.End()
			case at < 0:
				to.Fixed = append(to.Fixed, 0)
			case convert != nil:
				to.Fixed = append(to.Fixed, convert(c.Fixed(at)))
			default:
				to.Fixed = append(to.Fixed, c.Fixed(at))
			}
		}
	}
	return nil
}

// Early turns io.EOF of a column that ends before the others into damage.
func (c *Cursor) Early(err error) error {
	if err == io.EOF {
		return c.Damage("ends before the other columns")
	}
	return err
}

// place returns where the k-th non-null value of the page is in data.
func (c *Cursor) place(k int) int {
	if c.idx != nil {
		return int(c.idx[k])
	}
	return k
}
