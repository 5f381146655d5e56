package bilstm

import (
	"math"
	"math/rand/v2"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/word/embed"
)

// Vectors are those of words, learned from text without labels. *embed.File is
// one.
type Vectors interface {
	Header() embed.Header
	Len() int
	Word(i int) embed.Word
	At(i int) []float32
	Find(form []byte) (i int, ok bool)
}

// word returns the row of a form's word: of the form as it stands, else in lower
// case, else as the vectors have it that words began with, else of its lemma,
// else that of all unknown words (BOOT §3.5.1).
func (v *vocabulary) word(form []byte) int32 {
	if row, ok := v.words[string(form)]; ok {
		return row
	}
	v.lower = lower(v.lower[:0], form)
	if row, ok := v.words[string(v.lower)]; ok {
		return row
	}
	if v.vectors {
		v.lower = v.norm.Append(v.lower[:0], form)
		if row, ok := v.words[string(v.lower)]; ok {
			return row
		}
	}
	if v.lemma == nil {
		return unknown
	}
	v.lower = v.lemma.Value(v.lower[:0], form)
	return v.words[string(v.lower)]
}

// addVectors gives a row to every word that has a vector.
func (v *vocabulary) addVectors(from Vectors) {
	v.vectors, v.norm = true, from.Header().Normalization
	for i := range from.Len() {
		form := from.Word(i).Form
		if _, ok := v.words[form]; !ok {
			v.words[form] = int32(len(v.words)) + 1
		}
	}
}

// startWords gives the rows of words the vectors that are known of them, in the
// same scale as random ones, where the word, in lower case, or its lemma has one;
// else the mean, which the row of unknown words has too. Numbers behind those
// of the vectors stay small and random.
func (t *training) startWords(from Vectors, rng *rand.Rand) {
	table := t.network.named("words")
	dim, n := len(from.At(0)), from.Len()
	mean, norms := make([]float32, dim), 0.0
	for i := range n {
		x := from.At(i)
		kernels.AddScaled(mean, 1/float32(n), x)
		for _, v := range x {
			norms += float64(v) * float64(v)
		}
	}
	scale := float32(1 / math.Sqrt(max(norms/float64(n), 1e-12)))
	set := func(row int32, x []float32) {
		to := table.row(row)
		uniform(rng, to, 0.01)
		clear(to[:dim])
		kernels.AddScaled(to, scale, x)
	}
	set(unknown, mean)
	lemma := []byte(nil)
	words, _, _ := t.v.lists()
	for row, w := range words[1:] {
		x := mean
		if i, ok := from.Find([]byte(w)); ok {
			x = from.At(i)
		} else if t.v.lemma != nil {
			lemma = t.v.lemma.Value(lemma[:0], []byte(w))
			if i, ok := from.Find(lemma); ok {
				x = from.At(i)
			}
		}
		set(int32(row+1), x)
	}
}
