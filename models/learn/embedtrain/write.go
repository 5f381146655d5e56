package embedtrain

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/word/embed"
)

// Contents holds everything that Write puts into a file.
type Contents struct {
	Header   embed.Header // method, name, options, tokens and notes; the rest is filled in
	Vectors  *Vectors
	Clusters map[int][]uint16 // by their number
}

// Write writes vectors, vocabulary and clusters as [embed.Load] reads them.
func Write(w io.Writer, c Contents) error {
	x := c.Vectors
	v := x.Vocabulary
	if len(v.Words) == 0 {
		return errors.New("no word reaches the cut-off")
	}
	h := c.Header
	h.Kind, h.Normalization, h.Dim, h.Words, h.Known = embed.Kind, v.Normalization, x.Dim, len(v.Words), v.Tokens
	h.Clusters = nil
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
	for k := range c.Clusters {
		h.Clusters = append(h.Clusters, k)
	}
	slices.Sort(h.Clusters)
	for _, k := range h.Clusters {
		sections = append(sections, modelfile.Section{Name: embed.Section(k), Data: modelfile.Bytes(c.Clusters[k])})
	}
	return modelfile.Write(w, h, sections...)
}

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
