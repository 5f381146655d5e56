package crf

import (
	"sync"
	"sync/atomic"

	"github.com/velum-health/velum/models/number/kernels"
)

// shared holds the scores of forms that the labellers of a model have computed, for each
// other: half of the forms that are new to one another one has met. A labeller
// asks here when its own cache, half as large, does not know a form, and
// copies the block; so a lock is taken once in some twenty tokens. What it holds
// is a function of the form, as in the caches, and never changes a result.
type shared struct {
	mu      sync.Mutex
	bytes   int // of the stripes, the most that a labeller asked for
	stripes atomic.Pointer[[stripes]stripe]
}

// stripes are locked each by itself.
const stripes = 64

type stripe struct {
	sync.Mutex
	c *cache
	_ [48]byte // a lock's line of the processor's cache is its own
}

// make makes room of about so many bytes, if there is less.
func (s *shared) make(bytes, rows, labels int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bytes <= s.bytes {
		return
	}
	s.bytes = bytes
	all, size := new([stripes]stripe), 0
	for i := range all {
		all[i].c = new(cache)
		size += all[i].c.size(bytes/stripes, rows, labels)
	}
	slab := kernels.Pages[byte](all, size)
	for i := range all {
		all[i].c.carve(&slab)
	}
	s.stripes.Store(all)
}

// leastShared is how many bytes are worth a lock.
const leastShared = 1 << 18

// of returns the stripe of a form, nil if nothing is shared of it.
func (s *shared) of(hash uint64, form []byte) *stripe {
	if s == nil || len(form) > maxForm {
		return nil
	}
	return &s.stripes.Load()[hash>>8%stripes]
}

// take copies what is known of a form to its place in a labeller's cache, and
// tells whether anything is.
func (s *stripe) take(to *cache, at int, hash uint64, form []byte) bool {
	if s == nil {
		return false
	}
	s.Lock()
	defer s.Unlock()
	from, known := s.c.look(hash, form)
	if known {
		to.copyFrom(at, s.c, from)
	}
	return known
}

// give keeps what a labeller computed of a form.
func (s *stripe) give(from *cache, at int, hash uint64, form []byte) {
	if s == nil {
		return
	}
	s.Lock()
	defer s.Unlock()
	to, known := s.c.form(hash, form, -1)
	if !known {
		s.c.copyFrom(to, from, at)
	}
}
