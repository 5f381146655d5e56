package kernels

import (
	"runtime"
	"unsafe"
)

// Pages returns n zeros for a table that is read at random positions. The memory is outside of the heap and on huge
// pages, if it fills at least one. It is freed when owner, the object that holds it, is garbage collected.
//
// On the heap it would count as live data, so that the collector would allow more garbage, and its memory would be
// cleared before use.
//
// T must not contain pointers, because the garbage collector does not look there.
func Pages[T, O any](owner *O, n int) []T {
	size := n * int(unsafe.Sizeof(*new(T)))
	if size < hugePage {
		return make([]T, n)
	}
	slab := pages(size + hugePage)
	if slab == nil {
		return make([]T, n)
	}
	runtime.AddCleanup(owner, giveBack, slab)
	slab = slab[-uintptr(unsafe.Pointer(&slab[0]))%hugePage:]
	wishHuge(slab[:size&^(hugePage-1)])
	return unsafe.Slice((*T)(unsafe.Pointer(&slab[0])), n)
}

// Grow returns s with length n, in new memory if needed; the content is undefined.
func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
