package crf

import (
	"sync"
	"sync/atomic"

	"github.com/velum-health/velum/models/number/kernels"
)

// shared holds the scores of forms that all labellers of a model have computed, since half of the forms that are new to
// one labeller are known to another. A labeller asks here when its own cache, half as large, does not know a form, and
// copies the block; so a lock is taken once in some twenty tokens. A block is a function of its form, so sharing never
// changes a result.
type shared struct {
	mu      sync.Mutex
	bytes   int // of the stripes, the most that a labeller asked for
	stripes atomic.Pointer[[stripes]stripe]
}

// stripes is the number of parts with a lock each.
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

// take copies the block of a form into a labeller's cache, and reports whether there is one.
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

// give stores a block that a labeller has computed.
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
