package read

import (
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// IDSet counts how often ids come again, within a fixed memory. It keeps 32
// bits of a hash of every id, in buckets of one cache line: two ids are taken
// for one with a probability of about n / 2^50 for n ids. When a bucket is
// full, ids that would belong there are looked up but not kept, so that the
// count becomes a lower bound, which Full tells.
//
// Sources of units that are read side by side may share one. A nil *IDSet
// counts nothing.
type IDSet struct {
	buckets    []bucket
	mask       uint64
	duplicates atomic.Int64
	full       atomic.Int64
}

type bucket [16]atomic.Uint32 // 0 is free

// NewIDSet makes a set of about so many bytes; 0 means 64 MiB, exact up to some
// 15 million ids. The memory does not grow with the data.
func NewIDSet(bytes int) *IDSet {
	if bytes == 0 {
		bytes = 64 << 20
	}
	n := uint64(1)
	for n*2*64 <= uint64(bytes) {
		n *= 2
	}
	return &IDSet{buckets: make([]bucket, n), mask: n - 1}
}

// Add notes an id.
func (s *IDSet) Add(id []byte) {
	if s == nil {
		return
	}
	h := xxh3.Hash(id)
	print := max(uint32(h>>32), 1)
	// Two buckets are tried, so that nearly all fill up before one is full.
	for _, at := range [2]uint64{h & s.mask, (h * 0x9E3779B97F4A7C15 >> 20) & s.mask} {
		switch s.buckets[at].add(print) {
		case found:
			s.duplicates.Add(1)
			return
		case added:
			return
		}
	}
	s.full.Add(1)
}

type outcome uint8

const (
	noRoom outcome = iota
	added
	found
)

func (b *bucket) add(print uint32) outcome {
	for i := range b {
		have := b[i].Load()
		if have == 0 {
			if b[i].CompareAndSwap(0, print) {
				return added
			}
			have = b[i].Load() // somebody else was faster
		}
		if have == print {
			return found
		}
	}
	return noRoom
}

// Duplicates returns how many ids had come before.
func (s *IDSet) Duplicates() int64 {
	if s == nil {
		return 0
	}
	return s.duplicates.Load()
}

// Full returns for how many ids there was no room; if it is not 0, there may
// be more duplicates than counted.
func (s *IDSet) Full() int64 {
	if s == nil {
		return 0
	}
	return s.full.Load()
}
