package kernels

import "syscall"

// hugePage is the size of a huge page on amd64, and on arm64 with pages of
// 4 kB.
const hugePage = 2 << 20

// pages returns n bytes of memory from the system; nil if there is none.
func pages(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

func giveBack(b []byte) { _ = syscall.Munmap(b) }

// wishHuge asks the kernel for huge pages for b. A cache is read at random positions, and with 4 kB pages nearly every
// look-up also waits for the page tables (of guest and host on a virtual machine). Without huge pages nothing is lost.
func wishHuge(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
