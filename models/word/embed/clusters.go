package embed

import (
	"encoding/binary"
	"errors"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/kernels"
)

// Clusters tells the cluster of a form, from a few bytes a word: half a hash
// of the form and the cluster's number. It holds no words, and fits into the
// file of a tagger's model. It implements features.Slot and features.Stored.
//
//	0   4     "vcl\x01"
//	4   1     normalization
//	5   3     zero
//	8   4     words n
//	12  4·n   hashes, ascending
//	…   2·n   clusters
//
// Two forms of a vocabulary of 65,536 share half a hash in one case of two (one
// pair); an unknown form is taken for a known one in 15 cases of a million.
type Clusters struct {
	data []byte
	norm Normalization
	n    int

	// The same as a hash table, at most half full: a first lookup of a word costs one memory access instead of three.
	places []place // 2ⁿ
	shift  int     // of a hash to its place
}

// place is a word of the table, and one more than its cluster; 0 is free.
type place struct{ hash, cluster uint32 }

// ClustersKind identifies clusters in a model file.
const ClustersKind = "clusters"

const (
	clustersMagic = "vcl\x01"
	clustersHead  = 12
	// maxClustered is the largest number of words in Clusters, the most frequent ones: rarer words hardly occur in a
	// training corpus, and the file stays under 400 KB.
	maxClustered = 65_536
)

// Clusters returns the assignment of the most frequent words to k clusters; nil if the file has none for that k.
func (f *File) Clusters(k int) *Clusters {
	of, ok := f.clusters[k]
	if !ok {
		return nil
	}
	type entry struct {
		hash    uint32
		cluster uint16
	}
	entries := make([]entry, min(len(of), maxClustered))
	for i := range entries {
		entries[i] = entry{half(f.form(i)), of[i]}
	}
	// Stable, so that of two words with one hash the more frequent is kept.
	slices.SortStableFunc(entries, func(a, b entry) int { return int(int64(a.hash) - int64(b.hash)) })
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.hash == b.hash })
	data := append([]byte(clustersMagic), byte(f.header.Normalization), 0, 0, 0)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(entries)))
	for _, x := range entries {
		data = binary.LittleEndian.AppendUint32(data, x.hash)
	}
	for _, x := range entries {
		data = binary.LittleEndian.AppendUint16(data, x.cluster)
	}
	c := &Clusters{data: data, norm: f.header.Normalization, n: len(entries)}
	c.sortIn()
	return c
}

// sortIn fills the table.
func (c *Clusters) sortIn() {
	bits := 1
	for 2*c.n > 1<<bits {
		bits++
	}
	c.places, c.shift = kernels.Pages[place](c, 1<<bits), 32-bits
	for i := range c.n {
		h := c.hash(i)
		at := h >> c.shift
		for c.places[at].cluster != 0 {
			at = (at + 1) % uint32(len(c.places))
		}
		c.places[at] = place{h, 1 + uint32(binary.LittleEndian.Uint16(c.data[clustersHead+4*c.n+2*i:]))}
	}
}

func half(norm []byte) uint32 { return uint32(xxh3.Hash(norm) >> 32) }

var errClusters = errors.New("the data of clusters are damaged")

// OpenClusters decodes the result of Data.
func OpenClusters(data []byte) (*Clusters, error) {
	if len(data) < clustersHead || string(data[:4]) != clustersMagic || data[4] >= byte(numNormalizations) || data[5]|data[6]|data[7] != 0 {
		return nil, errClusters
	}
	n := binary.LittleEndian.Uint32(data[8:])
	if n > maxClustered || len(data) != clustersHead+6*int(n) {
		return nil, errClusters
	}
	c := &Clusters{data: data, norm: Normalization(data[4]), n: int(n)}
	for i := 1; i < c.n; i++ {
		if c.hash(i-1) >= c.hash(i) {
			return nil, errClusters
		}
	}
	c.sortIn()
	return c, nil
}

// Kind returns ClustersKind.
func (c *Clusters) Kind() string { return ClustersKind }

// Data returns the encoded clusters, which must not be changed.
func (c *Clusters) Data() []byte { return c.data }

// Len returns the number of words.
func (c *Clusters) Len() int { return c.n }

func (c *Clusters) hash(i int) uint32 { return binary.LittleEndian.Uint32(c.data[clustersHead+4*i:]) }

// Find returns the cluster of a form, which it normalizes.
func (c *Clusters) Find(form []byte) (cluster int, ok bool) {
	if len(form) > MaxForm || c.n == 0 {
		return 0, false
	}
	var room [2 * MaxForm]byte
	h := half(c.norm.Append(room[:0], form))
	for at := h >> c.shift; ; at = (at + 1) & uint32(len(c.places)-1) {
		switch p := &c.places[at]; {
		case p.cluster == 0:
			return 0, false
		case p.hash == h:
			return int(p.cluster) - 1, true
		}
	}
}

// Value appends the number of the form's cluster, nothing if it is unknown.
func (c *Clusters) Value(dst, form []byte) []byte {
	if k, ok := c.Find(form); ok {
		return strconv.AppendInt(dst, int64(k), 10)
	}
	return dst
}
