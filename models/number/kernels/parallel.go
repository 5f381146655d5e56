package kernels

import (
	"sync"
	"sync/atomic"
)

// Parallel calls do(worker, share) once for every share in [0, shares), on up
// to workers goroutines; it returns when all are done. It is the one parallel
// loop of training.
//
// Workers take the next share as they become free, so that a slow core does
// not hold up the rest. Results stay the same for any number of workers as
// long as do writes only what belongs to its share, adds in an order that
// depends on the share alone, and uses scratch[worker] as scratch only; the
// caller then adds the shares up in their order.
func Parallel(workers, shares int, do func(worker, share int)) {
	workers = min(max(workers, 1), shares)
	if workers <= 1 {
		for s := range shares {
			do(0, s)
		}
		return
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for s := next.Add(1) - 1; s < int64(shares); s = next.Add(1) - 1 {
				do(w, int(s))
			}
		})
	}
	wg.Wait()
}

// Share returns the half-open range of n items that belongs to share s of
// shares: contiguous, in order, as equal as can be.
func Share(n, s, shares int) (lo, hi int) { return n * s / shares, n * (s + 1) / shares }
