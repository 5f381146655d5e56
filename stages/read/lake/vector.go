package lake

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"github.com/RoaringBitmap/roaring/v2/roaring64"

	"github.com/velum-health/velum/pipeline/guard"
)

// A deletion vector is a bitmap of rows. Delta Lake and Iceberg write the same bytes
// (a magic number, then the portable form of 64-bit roaring bitmaps) between a length
// and a CRC-32, both big-endian; Iceberg counts the magic number as it stands, and in a
// file of Puffin.

const vectorMagic = 1681511377 // little-endian

// mostVector bounds what is read for one vector.
const mostVector = 1 << 30

var errVector = errors.New("its deletion vector cannot be decoded")

// parseVector reads magic number and bitmap.
func parseVector(data []byte) (rows *roaring64.Bitmap, err error) {
	if len(data) < 4 || binary.LittleEndian.Uint32(data) != vectorMagic {
		return nil, errVector
	}
	return parseBitmap(data[4:])
}

// parseBitmap reads a bitmap.
func parseBitmap(data []byte) (rows *roaring64.Bitmap, err error) {
	if len(data) < 8 || binary.LittleEndian.Uint64(data) > uint64(len(data))/8 {
		return nil, errVector // the library makes room for as many bitmaps as it is told
	}
	rows = roaring64.New()
	if guard.Note(func() {
		if _, err = rows.ReadFrom(bytes.NewReader(data)); err == nil {
			err = rows.Validate()
		}
	}) || err != nil {
		return nil, errVector
	}
	return rows, nil
}

// readVector reads the vector whose length, bytes and sum stand at a place of a file.
// size is the length that the log gives.
func readVector(path string, at, size int64) (*roaring64.Bitmap, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	if size < 4 || size > mostVector || at < 0 {
		return nil, errVector
	}
	data := make([]byte, size+8)
	if _, err := f.ReadAt(data, at); err != nil {
		return nil, fmt.Errorf("%w: it ends too early", errVector)
	}
	return framedVector(data, size)
}

// framedVector is a vector with its length before it and its sum behind.
func framedVector(data []byte, size int64) (*roaring64.Bitmap, error) {
	body := data[4 : len(data)-4]
	switch {
	case int64(binary.BigEndian.Uint32(data)) != size:
		return nil, fmt.Errorf("%w: it is not as long as the log says", errVector)
	case crc32.ChecksumIEEE(body) != binary.BigEndian.Uint32(data[len(data)-4:]):
		return nil, fmt.Errorf("%w: it does not have its checksum", errVector)
	}
	return parseVector(body)
}

// z85 is the alphabet of ZeroMQ's Base85 (RFC 32), in which Delta Lake writes UUIDs and
// short vectors.
const z85 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

var z85Value = func() (of [256]int16) {
	for i := range of {
		of[i] = -1
	}
	for i := range len(z85) {
		of[z85[i]] = int16(i)
	}
	return of
}()

// decodeZ85 decodes groups of five characters; every fifth of the length must be whole.
func decodeZ85(s string) ([]byte, error) {
	if len(s)%5 != 0 {
		return nil, errVector
	}
	var data []byte
	for ; len(s) > 0; s = s[5:] {
		n := uint64(0)
		for i := range 5 {
			v := z85Value[s[i]]
			if v < 0 {
				return nil, errVector
			}
			n = n*85 + uint64(v)
		}
		if n > 1<<32-1 {
			return nil, errVector
		}
		data = binary.BigEndian.AppendUint32(data, uint32(n))
	}
	return data, nil
}

// only reads at most so many bytes: a length in a broken file must not take all memory.
func only(path string, most int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(data)) > most {
		err = errors.New("is larger than any log")
	}
	return data, err
}
