package modelfile

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"
)

// A number is what sections hold arrays of.
type number interface {
	~int8 | ~uint16 | ~uint32 | ~uint64 | ~int32 | ~float32
}

// littleEndian tells whether numbers lie in memory as they lie in files.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// View returns a section as a slice of numbers. It aliases the section on a little-endian machine if the data is
// aligned; otherwise it is a copy.
func View[T number](data []byte) ([]T, error) {
	size := int(unsafe.Sizeof(*new(T)))
	if len(data)%size != 0 {
		return nil, fmt.Errorf("%w: a section has %d bytes, no multiple of %d", ErrDamaged, len(data), size)
	}
	if len(data) == 0 {
		return nil, nil
	}
	if littleEndian && uintptr(unsafe.Pointer(&data[0]))%uintptr(size) == 0 {
		return unsafe.Slice((*T)(unsafe.Pointer(&data[0])), len(data)/size), nil
	}
	out := make([]T, len(data)/size)
	if _, err := binary.Decode(data, binary.LittleEndian, out); err != nil {
		return nil, fmt.Errorf("%w: a section cannot be decoded", ErrDamaged)
	}
	return out, nil
}

// Bytes is the inverse of View: it returns the little-endian bytes of v.
func Bytes[T number](v []T) []byte {
	out := make([]byte, 0, len(v)*int(unsafe.Sizeof(*new(T))))
	out, err := binary.Append(out, binary.LittleEndian, v)
	if err != nil {
		panic("modelfile: array of numbers without a size") // a bug: number has sizes
	}
	return out
}

// Finite reports whether v has no NaN and no infinity, which a checksum does not detect.
func Finite(v []float32) bool {
	for _, x := range v {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return false
		}
	}
	return true
}

// Brain rounds x to bfloat16, with eight significant bits and sixteen zero bits. The number takes half the space in a
// packed file, and the sum of a token's sixty weights changes by less than a hundredth.
func Brain(x float32) float32 {
	b := math.Float32bits(x)
	if x != x {
		return x
	}
	return math.Float32frombits((b + 0x7fff + b>>16&1) &^ 0xffff)
}
