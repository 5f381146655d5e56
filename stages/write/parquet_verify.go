package write

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
)

// Verify re-reads a part of ours with Arrow's reader and returns the rows and
// the digest that it finds: what commit.UnitOptions.Verify is. It is for our own parts
// only: that reader panics on damaged files and checks no page checksums.
func Verify(_ string, r io.ReaderAt, size int64) (rows int64, digest string, err error) {
	props := parquet.NewReaderProperties(nil)
	props.BufferedStreamEnabled = true // or it takes the memory of a whole column chunk
	f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size), file.WithReadProps(props))
	if err != nil {
		return 0, "", fmt.Errorf("the footer does not read")
	}
	schema := f.MetaData().Schema
	h := sha256.New()
	v := verifier{batch: 1024}
	for c := range schema.NumColumns() {
		column := schema.Column(c)
		d := newColumnDigest()
		d.scratch, v.scratch = v.scratch, scratch{}
		for g := range f.NumRowGroups() {
			if err := v.chunk(f.RowGroup(g), c, &d); err != nil {
				return 0, "", fmt.Errorf("column %s, row group %d: %w", column.Path(), g, err)
			}
		}
		d.sum(h, column.ColumnPath()[0])
		v.scratch = d.scratch
	}
	return f.NumRows(), hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// verifier holds the buffers of a re-reading.
type verifier struct {
	batch    int64
	scratch  scratch
	defs     []int16
	reps     []int16
	bytes    []parquet.ByteArray
	int32s   []int32
	int64s   []int64
	float32s []float32
	float64s []float64
	bools    []bool
	int96s   []parquet.Int96
	fixed    []parquet.FixedLenByteArray
}

// chunk adds the values of one column of one row group to its digest.
func (v *verifier) chunk(g *file.RowGroupReader, c int, d *columnDigest) error {
	r, err := g.Column(c)
	if err != nil {
		return fmt.Errorf("does not open")
	}
	column := r.Descriptor()
	hasLevels := column.MaxDefinitionLevel() > 0
	v.defs, v.reps = grown(v.defs, v.batch), grown(v.reps, v.batch)
	for r.HasNext() {
		levels, err := v.values(r, d)
		if err != nil {
			return fmt.Errorf("does not read")
		}
		if levels == 0 {
			break
		}
		for i := range levels {
			if !hasLevels {
				break
			}
			rep := 0
			if column.MaxRepetitionLevel() > 0 {
				rep = int(v.reps[i])
			}
			d.level(rep, int(v.defs[i]))
		}
		d.flush()
	}
	return r.Err()
}

// values reads the next values and returns how many levels they have.
func (v *verifier) values(r file.ColumnChunkReader, d *columnDigest) (levels int64, err error) {
	switch r := r.(type) {
	case *file.ByteArrayColumnChunkReader:
		return readInto(v, &v.bytes, r.ReadBatch, func(x parquet.ByteArray) { d.bytes(x) })
	case *file.FixedLenByteArrayColumnChunkReader:
		return readInto(v, &v.fixed, r.ReadBatch, func(x parquet.FixedLenByteArray) { d.bytes(x) })
	case *file.Int96ColumnChunkReader:
		return readInto(v, &v.int96s, r.ReadBatch, func(x parquet.Int96) { d.bytes(x[:]) })
	case *file.Int32ColumnChunkReader:
		return readInto(v, &v.int32s, r.ReadBatch, func(x int32) { d.uint32(uint32(x)) })
	case *file.Int64ColumnChunkReader:
		return readInto(v, &v.int64s, r.ReadBatch, func(x int64) { d.uint64(uint64(x)) })
	case *file.Float32ColumnChunkReader:
		return readInto(v, &v.float32s, r.ReadBatch, func(x float32) { d.float32(x) })
	case *file.Float64ColumnChunkReader:
		return readInto(v, &v.float64s, r.ReadBatch, func(x float64) { d.float64(x) })
	case *file.BooleanColumnChunkReader:
		return readInto(v, &v.bools, r.ReadBatch, func(x bool) { d.bool(x) })
	}
	return 0, fmt.Errorf("has a type that we do not write")
}

// readInto reads a batch of values, calls each with them, and returns how many levels they have.
func readInto[T any](v *verifier, to *[]T, read func(int64, []T, []int16, []int16) (int64, int, error), each func(T)) (int64, error) {
	*to = grown(*to, v.batch)
	levels, n, err := read(v.batch, *to, v.defs, v.reps)
	for _, x := range (*to)[:n] {
		each(x)
	}
	return levels, err
}

func grown[T any](s []T, n int64) []T {
	if int64(len(s)) < n {
		return make([]T, n)
	}
	return s
}
