package embed

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/zeebo/xxh3"
)

// Kind identifies files of word vectors.
const Kind = "embedding"

// Header is the header of a file of word vectors.
type Header struct {
	Kind          string        `json:"kind"`
	Name          string        `json:"name,omitempty"`
	Method        string        `json:"method"` // skip-gram or glove; cbow in files of before
	Normalization Normalization `json:"normalization"`
	Dim           int           `json:"dimensions"`
	Words         int           `json:"words"`
	Tokens        uint64        `json:"tokens"` // of the text; those of the vocabulary are fewer
	Known         uint64        `json:"known_tokens"`
	Notes         int64         `json:"notes"`
	CutOff        CutOff        `json:"cut_off"`
	Options       Options       `json:"options"`
	Clusters      []int         `json:"clusters,omitempty"`
}

// Section names the section of the clusters of a number:
//
//	count     [words] uint64
//	notes     [words] uint32
//	start     [words+1] uint32: of the form in text
//	text      the forms, by falling count
//	slot      [2^n] uint32: hash table of the forms, word + 1, 0 for empty
//	scale     [words] float32
//	vector    [words][dimensions] int8: times scale
//	clusterK  [words] uint16
//
// Numbers of a vector are stored in eight bits with one scale a word: a quarter
// of the size, and the cosine of two words moves by less than 0.01, far less
// than between two seeds.
func Section(clusters int) string { return "cluster" + strconv.Itoa(clusters) }

// Word is one form of a vocabulary, normalized.
type Word struct {
	Form  string
	Count uint64 // occurrences
	Notes uint32 // notes that it occurs in
}

// CutOff holds the minimal counts of a form in a vocabulary; a form must reach all of them. The minima of notes and
// patients keep rare names out of the file.
type CutOff struct {
	Count    uint64 `json:"count"`    // least occurrences
	Notes    int    `json:"notes"`    // least notes
	Patients int    `json:"patients"` // least distinct patients; 0 does not look
}

// Options holds the options of training. The defaults are BOOT's (§3.3).
type Options struct {
	Dim       int     `json:"dimensions"` // numbers a vector; 0 means 100
	Window    int     `json:"window"`     // words on each side; 0 means 5
	Epochs    int     `json:"epochs"`     // 0 means 5, GloVe 15
	Negatives int     `json:"negatives"`  // words drawn against each true one; 0 means 5
	Sample    float64 `json:"sample"`     // share of the text above which a word is left out now and then; 0 means 1e-3
	Rate      float64 `json:"rate"`       // first step size; 0 means 0.025, GloVe 0.05
	Workers   int     `json:"-"`          // goroutines; more than one race in skip-gram, see there; 0 means 1
	Seed      uint64  `json:"seed"`
}

// Upper limits on the content of a file, far above useful sizes.
const (
	MaxDim      = 4096
	MaxClusters = 1 << 16 // the number of a cluster is kept in 16 bits
)

// File holds vectors, vocabulary and clusters, used in place. It is safe for concurrent use.
type File struct {
	file     *modelfile.File
	header   Header
	counts   []uint64
	notes    []uint32
	start    []uint32
	text     []byte
	slots    []uint32
	scale    []float32
	vector   []int8
	clusters map[int][]uint16
}

// Open opens a file of word vectors, memory-mapped. The errors wrap those of modelfile.
func Open(path string) (*File, error) {
	f, err := modelfile.Open(path)
	if err != nil {
		return nil, err
	}
	e, err := Load(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), f.Close())
	}
	return e, nil
}

// Load reads the sections of an open model file; File.Close closes it. It checks every offset and number, so that no
// look-up can leave the file.
func Load(f *modelfile.File) (*File, error) {
	if f.Kind() != Kind {
		return nil, fmt.Errorf("%w of vectors: see `velum teach embed`", modelfile.ErrNotAModel)
	}
	e := &File{file: f, clusters: map[int][]uint16{}}
	if err := f.Header(&e.header); err != nil {
		return nil, err
	}
	h := &e.header
	if h.Words < 1 || h.Dim < 1 || h.Dim > MaxDim || h.Normalization >= numNormalizations {
		return nil, fmt.Errorf("%w: its header is not of vectors", modelfile.ErrDamaged)
	}
	p := parts{file: f}
	e.counts = section[uint64](&p, "count", h.Words)
	e.notes = section[uint32](&p, "notes", h.Words)
	e.start = section[uint32](&p, "start", h.Words+1)
	e.scale = section[float32](&p, "scale", h.Words)
	e.vector = section[int8](&p, "vector", h.Words*h.Dim)
	for _, k := range h.Clusters {
		e.clusters[k] = section[uint16](&p, Section(k), h.Words)
	}
	e.slots = section[uint32](&p, "slot", -1)
	e.text = p.data("text")
	if p.err != nil {
		return nil, p.err
	}
	return e, e.check()
}

// parts collects sections and keeps the first error.
type parts struct {
	file *modelfile.File
	err  error
}

func (p *parts) data(name string) []byte {
	data, err := p.file.Section(name)
	if p.err == nil {
		p.err = err
	}
	return data
}

// section returns a section of n numbers (-1: any number).
func section[T int8 | uint16 | uint32 | uint64 | float32](p *parts, name string, n int) []T {
	x, err := modelfile.View[T](p.data(name))
	if err == nil && n >= 0 && len(x) != n {
		err = fmt.Errorf("%w: section %q has a wrong size", modelfile.ErrDamaged, name)
	}
	if p.err == nil {
		p.err = err
	}
	return x
}

func (f *File) check() error {
	wrong := func(what string) error { return fmt.Errorf("%w: %s", modelfile.ErrDamaged, what) }
	if f.start[0] != 0 || !slices.IsSorted(f.start) || int(f.start[len(f.start)-1]) != len(f.text) {
		return wrong("offsets of its words")
	}
	n := len(f.slots)
	if n < 2 || n&(n-1) != 0 || !slices.Contains(f.slots, 0) || int(slices.Max(f.slots)) > f.header.Words {
		return wrong("its hash table")
	}
	for _, v := range f.scale {
		if !(v >= 0 && v < math.MaxFloat32) {
			return wrong("a scale is no number")
		}
	}
	for k, of := range f.clusters {
		if k < 1 || k > MaxClusters || int(slices.Max(of)) >= k {
			return wrong("a cluster's number")
		}
	}
	return nil
}

// Close unmaps the file.
func (f *File) Close() error { return f.file.Close() }

// Header returns the header of the file.
func (f *File) Header() Header { return f.header }

// Len returns the number of words.
func (f *File) Len() int { return f.header.Words }

// Word returns word i: form, count and notes.
func (f *File) Word(i int) Word {
	return Word{Form: string(f.form(i)), Count: f.counts[i], Notes: f.notes[i]}
}

func (f *File) form(i int) []byte { return f.text[f.start[i]:f.start[i+1]] }

// Find returns the word of a form, which it normalizes.
func (f *File) Find(form []byte) (i int, ok bool) {
	var room [2 * MaxForm]byte
	norm := f.header.Normalization.Append(room[:0], form)
	mask := len(f.slots) - 1
	for at := int(xxh3.Hash(norm)) & mask; f.slots[at] != 0; at = (at + 1) & mask {
		if i := int(f.slots[at] - 1); bytes.Equal(f.form(i), norm) {
			return i, true
		}
	}
	return 0, false
}

// At returns the vector of word i.
func (f *File) At(i int) []float32 {
	x := make([]float32, f.header.Dim)
	for j, v := range f.vector[i*len(x):][:len(x)] {
		x[j] = float32(v) * f.scale[i]
	}
	return x
}

// Cluster returns the cluster of word i among k.
func (f *File) Cluster(i, k int) (int, bool) {
	of, ok := f.clusters[k]
	if !ok {
		return 0, false
	}
	return int(of[i]), true
}

// Unit writes v scaled to length one to dst; a zero vector stays zero.
func Unit(dst, v []float32) {
	sum := 0.0
	for _, a := range v {
		sum += float64(a) * float64(a)
	}
	if sum == 0 {
		clear(dst)
		return
	}
	f := float32(1 / math.Sqrt(sum))
	for i, a := range v {
		dst[i] = a * f
	}
}

// Neighbour is a word with its similarity to another one.
type Neighbour struct {
	Word   int
	Cosine float32
}

// Neighbours returns the n words with the highest cosine to v, nearest first, without the word except (-1: none).
func (f *File) Neighbours(v []float32, n, except int) []Neighbour {
	n = min(n, f.Len())
	target := make([]float32, len(v))
	Unit(target, v)
	var best []Neighbour
	for i := range f.header.Words {
		dot, square := float32(0), float32(0)
		for j, b := range f.vector[i*len(v):][:len(v)] {
			dot += target[j] * float32(b)
			square += float32(b) * float32(b)
		}
		if i == except || square == 0 {
			continue
		}
		c := dot / float32(math.Sqrt(float64(square)))
		if len(best) == n && (n == 0 || c <= best[n-1].Cosine) {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, c, func(b Neighbour, c float32) int {
			if b.Cosine >= c {
				return -1
			}
			return 1
		})
		best = slices.Insert(best, at, Neighbour{i, c})
		best = best[:min(len(best), n)]
	}
	return best
}

// Members returns up to n words of a cluster among k, the most frequent first,
// and how many there are.
func (f *File) Members(cluster, k, n int) (words []int, size int) {
	for i, c := range f.clusters[k] {
		if int(c) == cluster {
			if size++; len(words) < n {
				words = append(words, i)
			}
		}
	}
	return words, size
}

// Sizes returns the median and the largest number of words in a cluster among
// k, and how many clusters are empty.
func (f *File) Sizes(k int) (median, largest, empty int) {
	sizes := make([]int, k)
	for _, c := range f.clusters[k] {
		sizes[c]++
	}
	slices.SortFunc(sizes, cmp.Compare)
	for empty < k && sizes[empty] == 0 {
		empty++
	}
	return sizes[k/2], sizes[k-1], empty
}
