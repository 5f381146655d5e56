package read

import (
	"io"
	"sync/atomic"

	"github.com/zeebo/xxh3"
)

// IDSet counts how often ids come again, within a fixed memory. It keeps 32
// bits of a hash of every id, in buckets of one cache line, so that an id is
// taken for another one with a probability of about n / 2^53 among n ids.
// Every id may stand in either of two buckets and goes to the emptier one,
// which fills the set to five sixths before both are full (measured; taking
// the second only when the first is full gets to half). What then finds no
// room is looked up but not kept, so that the count becomes a lower bound,
// which Full tells.
//
// Sources of units that are read side by side may share one; an id that two
// of them add at the same instant may count as new twice. A nil *IDSet counts
// nothing.
type IDSet struct {
	buckets    []bucket
	mask       uint64
	duplicates atomic.Int64
	full       atomic.Int64
}

type bucket [16]atomic.Uint32 // 0 is free

// NewIDSet makes a set of at most so many bytes, of which an id takes five;
// 0 means 128 MiB: exact up to some 27 million ids. The memory does not grow
// with the data.
func NewIDSet(bytes int) *IDSet {
	if bytes == 0 {
		bytes = 128 << 20
	}
	n := uint64(1)
	for n*2*64 <= uint64(bytes) {
		n *= 2
	}
	return &IDSet{buckets: make([]bucket, n), mask: n - 1}
}

// Add notes an id.
func (s *IDSet) Add(id []byte) {
	if s != nil {
		s.add(xxh3.Hash(id))
	}
}

// AddPart notes the ids of a Parquet part of ours that are not empty. It reads
// some hundred ids ahead, so that the memory of their buckets is on its way
// before it is needed: one after the other, waiting for it takes ten times as
// long as everything else. Errors are those of NewTagged.
func (s *IDSet) AddPart(r io.ReaderAt, size int64, path string) error {
	ahead := make([]uint64, 0, 256)
	err := eachID(r, size, path, func(id []byte) {
		ahead = append(ahead, xxh3.Hash(id))
		if len(ahead) == cap(ahead) {
			s.addAll(ahead)
			ahead = ahead[:0]
		}
	})
	s.addAll(ahead)
	return err
}

func (s *IDSet) addAll(hashes []uint64) {
	for _, h := range hashes {
		a, b := s.places(h)
		a[0].Load() // atomic: never left out, and none waits for the others
		b[0].Load()
	}
	for _, h := range hashes {
		s.add(h)
	}
}

// places returns the two buckets of a hash.
func (s *IDSet) places(h uint64) (a, b *bucket) {
	return &s.buckets[h&s.mask], &s.buckets[(h*0x9E3779B97F4A7C15>>20)&s.mask]
}

func (s *IDSet) add(h uint64) {
	print := max(uint32(h>>32), 1)
	for {
		emptier, other := s.places(h)
		at, known := emptier.find(print)
		if !known {
			var free int
			if free, known = other.find(print); free < at {
				emptier, at = other, free
			}
		}
		switch {
		case known:
			s.duplicates.Add(1)
			return
		case at == len(emptier):
			s.full.Add(1)
			return
		case emptier[at].CompareAndSwap(0, print):
			return
		} // else somebody else took the place
	}
}

// find tells whether the bucket holds print, and otherwise its first free
// place, or its length.
func (b *bucket) find(print uint32) (free int, known bool) {
	for i := range b {
		switch b[i].Load() {
		case print:
			return i, true
		case 0:
			return i, false
		}
	}
	return len(b), false
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
