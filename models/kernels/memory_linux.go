package kernels

import "syscall"

// hugePage is the size of a huge page on amd64, and on arm64 with pages of
// 4 kB.
const hugePage = 2 << 20

// hugePages asks for huge pages behind b. A cache is read at random places,
// and with pages of 4 kB nearly every look-up of a form also waits for the
// page tables (of the guest and of the host on a virtual machine). It is a
// wish: a kernel that has no huge pages says no, and nothing is lost.
//
// b is zeroes, begins with a huge page and is as long as some. Where the heap
// had used the memory before, Go has written these zeroes, to small pages; they
// are given back, so that the large ones come in their place.
func hugePages(b []byte) {
	if len(b) >= hugePage && syscall.Madvise(b, syscall.MADV_HUGEPAGE) == nil {
		_ = syscall.Madvise(b, syscall.MADV_DONTNEED)
	}
}
