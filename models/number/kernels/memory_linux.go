package kernels

import "syscall"

// hugePage is the size of a huge page on amd64, and on arm64 with pages of
// 4 kB.
const hugePage = 2 << 20

// pages returns n bytes of the system, nil if it has none.
func pages(n int) []byte {
	b, err := syscall.Mmap(-1, 0, n, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil
	}
	return b
}

func giveBack(b []byte) { _ = syscall.Munmap(b) }

// wishHuge asks for huge pages behind b. A cache is read at random places,
// and with pages of 4 kB nearly every look-up of a form also waits for the
// page tables (of the guest and of the host on a virtual machine). It is a
// wish: a kernel that has no huge pages says no, and nothing is lost.
func wishHuge(b []byte) { _ = syscall.Madvise(b, syscall.MADV_HUGEPAGE) }
