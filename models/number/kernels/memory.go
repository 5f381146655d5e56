package kernels

import (
	"runtime"
	"unsafe"
)

// Pages returns n zeroes for what is read at random places: outside of the heap and on
// huge pages, if they are enough to fill one. They are given back when owner, the
// object that has them, is garbage.
//
// The heap would count them as live and let half as much garbage lie about, and
// would clear, and so fill, what it had used before.
//
// T has no pointers: the garbage collector does not look there.
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

// Grow returns s with length n, in new memory if need be; nothing is kept of
// what it held.
func Grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/4)
	}
	return s[:n]
}
