package bilstmtrain

import (
	"math"
	"math/rand/v2"

	"github.com/velum-health/velum/models/number/kernels"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/word/embed"
)

// Vectors supplies word vectors learned from unlabelled text. *embed.File implements it.
type Vectors interface {
	Header() embed.Header
	Len() int
	Word(i int) embed.Word
	At(i int) []float32
	Find(form []byte) (i int, ok bool)
}

// startWords gives the rows of words the vectors that are known of them, in the
// same scale as random ones, where the word, in lower case, or its lemma has one;
// else the mean, which the row of unknown words has too. Numbers behind those
// of the vectors stay small and random.
func (t *training) startWords(from Vectors, rng *rand.Rand) {
	table := t.network.Named("words")
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
		to := table.Row(row)
		uniform(rng, to, 0.01)
		clear(to[:dim])
		kernels.AddScaled(to, scale, x)
	}
	set(bilstm.Unknown, mean)
	lemma := []byte(nil)
	for i, w := range t.v.Words {
		x := mean
		if at, ok := from.Find([]byte(w)); ok {
			x = from.At(at)
		} else if t.v.Lemma != nil {
			lemma = t.v.Lemma.Value(lemma[:0], []byte(w))
			if at, ok := from.Find(lemma); ok {
				x = from.At(at)
			}
		}
		set(int32(i+1), x)
	}
}
