package kernels

import "unsafe"

// Pages returns n zeroes for what is read at random places: on huge pages, if they
// are enough to fill one.
func Pages[T byte | int16](n int) []T {
	size := n * int(unsafe.Sizeof(T(0)))
	if size < hugePage {
		return make([]T, n)
	}
	slab := make([]byte, size+hugePage)
	slab = slab[-uintptr(unsafe.Pointer(&slab[0]))%hugePage:]
	hugePages(slab[:size&^(hugePage-1)])
	return unsafe.Slice((*T)(unsafe.Pointer(&slab[0])), n)
}
