package crf

import (
	"sync"
	"sync/atomic"
)

// shared is what the labellers of a model have computed of forms, for each
// other: half of the forms that are new to one another one has met. A labeller
// asks here when its own cache does not know a form, and copies the block; so
// a lock is taken once in some thirty tokens. What it holds is a function of
// the form, as in the caches, and never changes a result.
//
// It is made with the second labeller: one alone has nobody to ask.
type shared struct {
	labellers atomic.Int32
	stripes   atomic.Pointer[[stripes]stripe]
}

// stripes are locked each by itself.
const stripes = 64

type stripe struct {
	sync.Mutex
	c *cache
	_ [48]byte // a lock's line of the processor's cache is its own
}

// join counts a labeller with a cache of so many bytes.
func (s *shared) join(bytes, rows, labels int) {
	if s.labellers.Add(1) != 2 {
		return
	}
	all, size := new([stripes]stripe), 0
	for i := range all {
		all[i].c = new(cache)
		size += all[i].c.size(bytes/stripes, rows, labels)
	}
	slab := aligned(size)
	for i := range all {
		all[i].c.carve(&slab)
	}
	s.stripes.Store(all)
}

// of returns the stripe of a form, nil if nothing is shared or kept of it.
func (s *shared) of(hash uint64, form []byte) *stripe {
	all := s.stripes.Load()
	if all == nil || len(form) > maxForm {
		return nil
	}
	return &all[hash>>8%stripes]
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
