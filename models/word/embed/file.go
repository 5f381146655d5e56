package embed

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unsafe"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/zeebo/xxh3"
)

// kind is what a file of vectors says it is.
const kind = "embedding"

// Header is what a file of vectors says of itself.
type Header struct {
	Kind          string        `json:"kind"`
	Name          string        `json:"name,omitempty"`
	Method        string        `json:"method"` // skip-gram, cbow, glove
	Normalization Normalization `json:"normalization"`
	Dim           int           `json:"dimensions"`
	Words         int           `json:"words"`
	Tokens        uint64        `json:"tokens"` // of the text; those of the vocabulary are fewer
	Known         uint64        `json:"known_tokens"`
	Notes         int64         `json:"notes"`
	CutOff        CutOff        `json:"cut_off"`
	Options       Options       `json:"options"`
	Grams         [2]int        `json:"ngrams"`
	Buckets       int           `json:"buckets,omitempty"`
	Clusters      []int         `json:"clusters,omitempty"`
}

// Contents is what Write puts into a file.
type Contents struct {
	Header   Header // method, name, options, tokens and notes; the rest is filled in
	Vectors  *Vectors
	Clusters map[int][]uint16 // by their number
}

// Write writes vectors, vocabulary and clusters:
//
//	count     [words] uint64
//	notes     [words] uint32
//	start     [words+1] uint32: of the form in text
//	text      the forms, by falling count
//	slot      [2^n] uint32: hash table of the forms, word + 1, 0 for empty
//	scale     [words] float32
//	vector    [words][dimensions] int8: times scale
//	gscale    [buckets] float32, and
//	gvector   [buckets][dimensions] int8: the same for n-grams
//	clusterK  [words] uint16
//
// Numbers of a vector are stored in eight bits with one scale a word: a quarter
// of the size, and the cosine of two words moves by less than 0.01, far less
// than between two seeds.
func Write(w io.Writer, c Contents) error {
	x := c.Vectors
	v := x.Vocabulary
	if len(v.Words) == 0 {
		return errors.New("no word reaches the cut-off")
	}
	h := c.Header
	h.Kind, h.Normalization, h.Dim, h.Words, h.Known = kind, v.Normalization, x.Dim, len(v.Words), v.Tokens
	h.Grams, h.Clusters = x.grams, nil
	var text bytes.Buffer
	counts, notes, start := make([]uint64, h.Words), make([]uint32, h.Words), make([]uint32, h.Words+1)
	for i, word := range v.Words {
		text.WriteString(word.Form)
		counts[i], notes[i], start[i+1] = word.Count, word.Notes, uint32(text.Len())
	}
	scale, vector := quantize(x.data, h.Words, x.Dim, x.rows)
	sections := []modelfile.Section{
		{Name: "count", Data: modelfile.Bytes(counts)}, {Name: "notes", Data: modelfile.Bytes(notes)},
		{Name: "start", Data: modelfile.Bytes(start)}, {Name: "text", Data: text.Bytes()},
		{Name: "slot", Data: modelfile.Bytes(hashTable(v))},
		{Name: "scale", Data: modelfile.Bytes(scale)}, {Name: "vector", Data: vector},
	}
	if len(x.gramRows) > 0 {
		h.Buckets = len(x.gramRows) / x.rows
		scale, vector := quantize(x.gramRows, h.Buckets, x.Dim, x.rows)
		sections = append(sections, modelfile.Section{Name: "gscale", Data: modelfile.Bytes(scale)}, modelfile.Section{Name: "gvector", Data: vector})
	}
	for k := range c.Clusters {
		h.Clusters = append(h.Clusters, k)
	}
	slices.Sort(h.Clusters)
	for _, k := range h.Clusters {
		sections = append(sections, modelfile.Section{Name: clusterSection(k), Data: modelfile.Bytes(c.Clusters[k])})
	}
	return modelfile.Write(w, h, sections...)
}

func clusterSection(k int) string { return "cluster" + strconv.Itoa(k) }

// quantize stores n rows in eight bits: the largest number of a row is 127.
func quantize(data []float32, n, dim, rows int) (scale []float32, vector []byte) {
	scale, vector = make([]float32, n), make([]byte, n*dim)
	for i := range n {
		row := data[i*rows:][:dim]
		top := float32(0)
		for _, v := range row {
			top = max(top, v, -v)
		}
		if top == 0 {
			continue
		}
		scale[i] = top / 127
		for j, v := range row {
			vector[i*dim+j] = byte(int8(math.RoundToEven(float64(v / scale[i]))))
		}
	}
	return scale, vector
}

// hashTable places every word, half of the slots stay empty.
func hashTable(v *Vocabulary) []uint32 {
	n := 2
	for n < 2*len(v.Words) {
		n *= 2
	}
	slots := make([]uint32, n)
	for i, w := range v.Words {
		at := int(xxh3.HashString(w.Form)) & (n - 1)
		for slots[at] != 0 {
			at = (at + 1) & (n - 1)
		}
		slots[at] = uint32(i + 1)
	}
	return slots
}

// File is vectors, vocabulary and clusters, used where they lie. It is safe
// for concurrent use.
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
	gscale   []float32
	gvector  []int8
	clusters map[int][]uint16
}

// Open maps a file of vectors. The errors wrap those of modelfile.
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

// Load reads the sections of an opened model file, which the result closes.
// Nothing in it is trusted: every offset and number is checked here, so that
// no look-up can leave the file.
func Load(f *modelfile.File) (*File, error) {
	if f.Kind() != kind {
		return nil, fmt.Errorf("%w of vectors: see `velum embed`", modelfile.ErrNotAModel)
	}
	e := &File{file: f, clusters: map[int][]uint16{}}
	if err := f.Header(&e.header); err != nil {
		return nil, err
	}
	h := &e.header
	if h.Words < 1 || h.Dim < 1 || h.Dim > maxDim || h.Buckets < 0 || h.Normalization >= numNormalizations ||
		h.Grams[0] < 0 || h.Grams[0] > h.Grams[1] || h.Grams[1] > maxForm || (h.Buckets > 0) != (h.Grams[0] > 0) {
		return nil, fmt.Errorf("%w: its header is not of vectors", modelfile.ErrDamaged)
	}
	p := parts{file: f}
	e.counts = section[uint64](&p, "count", h.Words)
	e.notes = section[uint32](&p, "notes", h.Words)
	e.start = section[uint32](&p, "start", h.Words+1)
	e.scale = section[float32](&p, "scale", h.Words)
	e.vector = p.signed("vector", h.Words, h.Dim)
	if h.Buckets > 0 {
		e.gscale = section[float32](&p, "gscale", h.Buckets)
		e.gvector = p.signed("gvector", h.Buckets, h.Dim)
	}
	for _, k := range h.Clusters {
		e.clusters[k] = section[uint16](&p, clusterSection(k), h.Words)
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
func section[T uint16 | uint32 | uint64 | float32](p *parts, name string, n int) []T {
	x, err := modelfile.View[T](p.data(name))
	if err == nil && n >= 0 && len(x) != n {
		err = fmt.Errorf("%w: section %q has a wrong size", modelfile.ErrDamaged, name)
	}
	if p.err == nil {
		p.err = err
	}
	return x
}

func (p *parts) signed(name string, n, dim int) []int8 {
	data := p.data(name)
	if len(data)/dim != n || len(data)%dim != 0 {
		if p.err == nil {
			p.err = fmt.Errorf("%w: section %q has a wrong size", modelfile.ErrDamaged, name)
		}
		return nil
	}
	if len(data) == 0 {
		return nil
	}
	return unsafe.Slice((*int8)(unsafe.Pointer(&data[0])), len(data))
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
	for _, s := range [][]float32{f.scale, f.gscale} {
		for _, v := range s {
			if !(v >= 0 && v < math.MaxFloat32) {
				return wrong("a scale is no number")
			}
		}
	}
	for k, of := range f.clusters {
		if k < 1 || k > MaxClusters || int(slices.Max(of)) >= k {
			return wrong("a cluster's number")
		}
	}
	return nil
}

// Close gives the memory back.
func (f *File) Close() error { return f.file.Close() }

// Header returns what the file says of itself.
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
	var room [2 * maxForm]byte
	return f.find(f.header.Normalization.Append(room[:0], form))
}

func (f *File) find(norm []byte) (int, bool) {
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
	return addRow(make([]float32, f.header.Dim), f.vector, f.scale, i)
}

// addRow adds a stored row to dst.
func addRow(dst []float32, vector []int8, scale []float32, i int) []float32 {
	for j, v := range vector[i*len(dst):][:len(dst)] {
		dst[j] += float32(v) * scale[i]
	}
	return dst
}

// Vector returns the vector of a form, which it normalizes; that of its
// n-grams if the form is unknown and the file has any; else nil. It implements
// features.Vector.
func (f *File) Vector(form []byte) []float32 {
	norm := f.header.Normalization.Append(nil, form)
	if i, ok := f.find(norm); ok {
		return f.At(i)
	}
	if f.header.Buckets == 0 || len(form) > maxForm {
		return nil
	}
	grams := ngrams(nil, norm, f.header.Grams, f.header.Buckets)
	if len(grams) == 0 {
		return nil
	}
	sum := make([]float32, f.header.Dim)
	for _, b := range grams {
		addRow(sum, f.gvector, f.gscale, int(b))
	}
	for j := range sum {
		sum[j] /= float32(len(grams))
	}
	return sum
}

// Cluster returns the cluster of word i among k.
func (f *File) Cluster(i, k int) (int, bool) {
	of, ok := f.clusters[k]
	if !ok {
		return 0, false
	}
	return int(of[i]), true
}

// Neighbour is a word near another one.
type Neighbour struct {
	Word   int
	Cosine float32
}

// Neighbours returns the n words whose vectors point most nearly where v
// does, nearest first, without the word except (-1: none).
func (f *File) Neighbours(v []float32, n, except int) []Neighbour {
	n = min(n, f.Len())
	target := make([]float32, len(v))
	unit(target, v)
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
