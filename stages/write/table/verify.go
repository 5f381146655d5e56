package table

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v15/parquet"
	"github.com/apache/arrow/go/v15/parquet/file"
)

// Verify reads a part that velum has written again with Arrow's reader and returns its number of rows and its digest
// (commit.UnitOptions.Verify). It must not be used for other files: that reader panics on damaged files and checks no
// page checksums.
func Verify(_ string, r io.ReaderAt, size int64) (rows int64, digest string, err error) {
	props := parquet.NewReaderProperties(nil)
	props.BufferedStreamEnabled = true // or it takes the memory of a whole column chunk
	f, err := file.NewParquetReader(io.NewSectionReader(r, 0, size), file.WithReadProps(props))
	if err != nil {
		return 0, "", fmt.Errorf("the footer does not read")
	}
	schema := f.MetaData().Schema
	h := sha256.New()
	const batch = 1024
	v := verifier{batch: batch, defs: make([]int16, batch), reps: make([]int16, batch)}
	for c := range schema.NumColumns() {
		column := schema.Column(c)
		d := NewDigest(column.MaxDefinitionLevel() > 0)
		d.scratch, v.scratch = v.scratch, scratch{}
		for g := range f.NumRowGroups() {
			if err := v.chunk(f.RowGroup(g), c, &d); err != nil {
				return 0, "", fmt.Errorf("column %s, row group %d: %w", column.Path(), g, err)
			}
		}
		d.Sum(h, column.ColumnPath()[0])
		v.scratch = d.scratch
	}
	return f.NumRows(), hex.EncodeToString(h.Sum(nil)[:16]), nil
}

// verifier holds the buffers of a re-reading.
type verifier struct {
	batch      int64
	scratch    scratch
	defs, reps []int16
}

// chunk adds the values of one column of one row group to its digest.
func (v *verifier) chunk(g *file.RowGroupReader, c int, d *Digest) error {
	r, err := g.Column(c)
	if err != nil {
		return fmt.Errorf("does not open")
	}
	switch r := r.(type) {
	case *file.ByteArrayColumnChunkReader:
		return readAll(v, d, r)
	case *file.FixedLenByteArrayColumnChunkReader:
		return readAll(v, d, r)
	case *file.Int96ColumnChunkReader:
		return readAll(v, d, r)
	case *file.Int32ColumnChunkReader:
		return readAll(v, d, r)
	case *file.Int64ColumnChunkReader:
		return readAll(v, d, r)
	case *file.Float32ColumnChunkReader:
		return readAll(v, d, r)
	case *file.Float64ColumnChunkReader:
		return readAll(v, d, r)
	case *file.BooleanColumnChunkReader:
		return readAll(v, d, r)
	}
	return fmt.Errorf("has a type that we do not write")
}

// chunkOf is a column chunk of values of a type.
type chunkOf[T any] interface {
	file.ColumnChunkReader
	ReadBatch(batchSize int64, values []T, defLvls, repLvls []int16) (total int64, valuesRead int, err error)
}

// readAll adds a column to its digest, in batches.
func readAll[T any](v *verifier, d *Digest, r chunkOf[T]) error {
	column, values := r.Descriptor(), make([]T, v.batch)
	for r.HasNext() {
		levels, n, err := r.ReadBatch(v.batch, values, v.defs, v.reps)
		if err != nil {
			return fmt.Errorf("does not read")
		}
		if levels == 0 {
			break
		}
		switch all := any(values[:n]).(type) {
		case []parquet.ByteArray:
			for _, x := range all {
				d.Bytes(x)
			}
		case []parquet.FixedLenByteArray:
			for _, x := range all {
				d.Bytes(x)
			}
		case []parquet.Int96:
			for _, x := range all {
				d.Bytes(x[:])
			}
		default:
			d.payload, _ = binary.Append(d.payload, binary.LittleEndian, all) // numbers have a size
		}
		for i := range levels {
			if !d.leveled {
				break
			}
			rep := 0
			if column.MaxRepetitionLevel() > 0 {
				rep = int(v.reps[i])
			}
			d.level(rep, int(v.defs[i]))
		}
		d.Flush()
	}
	return r.Err()
}
