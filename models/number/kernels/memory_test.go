package kernels

import (
	"runtime"
	"testing"
)

// TestPages: pages are zeroes and can be written, few and many, after others were
// given back as well.
func TestPages(t *testing.T) {
	type owner struct{ pages []int16 }
	for _, n := range []int{1, 1000, 3 << 20} {
		for range 5 {
			o := new(owner)
			o.pages = Pages[int16](o, n)
			if len(o.pages) != n {
				t.Fatalf("%d numbers, want %d", len(o.pages), n)
			}
			for i := range o.pages {
				if o.pages[i] != 0 {
					t.Fatalf("%d numbers: number %d is %d", n, i, o.pages[i])
				}
				o.pages[i] = int16(i) | 1
			}
			runtime.KeepAlive(o)
			runtime.GC()
		}
	}
}
