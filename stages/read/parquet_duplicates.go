package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/pipeline"
)

// IDPart is a Parquet part of ours that has a column note_id.
type IDPart struct {
	Path  string
	Bytes int64
	Open  func() (interface {
		io.ReaderAt
		io.Closer
	}, error)
}

// IDOptions are the choices of DuplicateIDs. The zero value works.
type IDOptions struct {
	Rows    int64 // ids in all parts; 0 means some million
	Workers int   // 0 means 1
	Memory  int   // bytes that hashes may take; 0 means 96 MiB
}

// DuplicateIDs counts the ids that had come before in the same or another
// part; those that are empty do not count.
//
// It keeps 128 bits of a hash of every id, so that two ids are taken for one
// with a probability of n²/2¹²⁹: 1e-24 among 30 million. What does not fit into
// the memory is left for another pass over the parts, by ranges of the hash:
// a pass of 30 million ids is a second on two cores, and a temporary file of
// ids would be one more place that has to be guarded. The count depends on
// the ids alone. Errors are those of NewTagged, and the cause of ctx.
func DuplicateIDs(ctx context.Context, parts []IDPart, o IDOptions) (int64, error) {
	fit := max(cmp.Or(o.Memory, 96<<20)/idHashBytes, 1<<10)
	passes := max(int(math.Ceil(float64(o.Rows)/float64(fit))), 1)
	room := int(min(max(o.Rows, 1<<16), int64(fit)))
	set := newIDHashes(room)
	seen, kept := int64(0), int64(0)
	for pass := range passes {
		set.reset()
		n, err := gatherIDs(ctx, parts, o, pass, passes, set)
		if err != nil {
			return 0, fmt.Errorf("duplicate ids: %w", err)
		}
		seen += n
		kept += set.distinct()
	}
	return seen - kept, nil
}

const idHashBytes = 16

// gatherIDs puts the hashes of one range into the set and returns how many
// there were. Workers read parts side by side; the set has one owner.
func gatherIDs(ctx context.Context, parts []IDPart, o IDOptions, pass, passes int, set *idHashes) (seen int64, err error) {
	read := func(b *pipeline.Batch) error {
		if len(b.Extra) == 0 {
			b.Extra = []pipeline.Column{{Name: "hash", Kind: pipeline.Int64Column}}
		}
		hashes := &b.Extra[0].Fixed
		return parts[b.Seq].each(func(id []byte) {
			h := xxh3.Hash128(id)
			if passes == 1 || rangeOf(h.Hi, passes) == pass {
				*hashes = append(*hashes, h.Hi, h.Lo)
			}
		})
	}
	step := pipeline.Step{Name: "ids", Workers: o.Workers, New: func() func(*pipeline.Batch) error { return read }}
	err = pipeline.Run(ctx, &emptyBatches{len(parts)}, []pipeline.Step{step}, hashSink(func(hashes []uint64) {
		seen += int64(len(hashes) / 2)
		for i := 0; i < len(hashes); i += 2 {
			set.add(xxh3.Uint128{Hi: hashes[i], Lo: hashes[i+1]})
		}
	}), nil)
	return seen, err
}

// rangeOf returns which of n equal ranges a hash is in.
func rangeOf(h uint64, n int) int { return int(h >> 32 * uint64(n) >> 32) }

func (p *IDPart) each(do func(id []byte)) error {
	file, err := p.Open()
	if err != nil {
		return err
	}
	return errors.Join(eachID(file, p.Bytes, p.Path, do), file.Close())
}

// emptyBatches is a source of n empty batches: who gets batch k reads part k.
type emptyBatches struct{ left int }

func (e *emptyBatches) Next(*pipeline.Batch) error {
	if e.left == 0 {
		return io.EOF
	}
	e.left--
	return nil
}

// hashSink takes the hashes of a batch.
type hashSink func(hashes []uint64)

func (s hashSink) Put(b *pipeline.Batch) error {
	if len(b.Extra) > 0 {
		s(b.Extra[0].Fixed)
	}
	return nil
}

// idHashes is a multiset of hashes that keeps its different members only when
// memory is short. Members lie in buckets by some of their bits, small enough
// to be sorted in the first-level cache: a hash table of this size waits for
// memory at every id.
type idHashes struct {
	buckets [][]xxh3.Uint128
	mask    uint64
}

// bucketHashes is how many hashes a bucket is meant for: 16 KiB.
const bucketHashes = 1 << 10

func newIDHashes(room int) *idHashes {
	n := 1
	for n*bucketHashes < room {
		n *= 2
	}
	s := &idHashes{buckets: make([][]xxh3.Uint128, n), mask: uint64(n - 1)}
	each := room/n + 8
	each += 4 * int(math.Sqrt(float64(each))) // hashes fall at random
	all := make([]xxh3.Uint128, n*each)
	for i := range s.buckets {
		s.buckets[i] = all[i*each : i*each : (i+1)*each]
	}
	return s
}

// add appends a hash. A full bucket drops what it has twice before it grows:
// an archive in which all ids are the same takes no more memory.
func (s *idHashes) add(h xxh3.Uint128) {
	b := &s.buckets[h.Lo&s.mask]
	if len(*b) == cap(*b) {
		compactHashes(b)
		if n := len(*b); n > cap(*b)/4*3 {
			*b = slices.Grow(*b, n)
		}
	}
	*b = append(*b, h)
}

func compactHashes(b *[]xxh3.Uint128) {
	slices.SortFunc(*b, func(x, y xxh3.Uint128) int {
		if x.Hi != y.Hi {
			return cmp.Compare(x.Hi, y.Hi)
		}
		return cmp.Compare(x.Lo, y.Lo)
	})
	*b = slices.Compact(*b)
}

// distinct returns how many different hashes were added.
func (s *idHashes) distinct() (n int64) {
	for i := range s.buckets {
		compactHashes(&s.buckets[i])
		n += int64(len(s.buckets[i]))
	}
	return n
}

func (s *idHashes) reset() {
	for i := range s.buckets {
		s.buckets[i] = s.buckets[i][:0]
	}
}
