package bilstmtrain

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/tag/bilstm"
	"github.com/velum-health/velum/models/tag/features"
	"github.com/velum-health/velum/models/tag/tagger"
	"github.com/velum-health/velum/models/word/embed"
	"github.com/velum-health/velum/pipeline"
)

// known are vectors of words: the words, and two numbers each.
type known struct {
	words   []string
	vectors [][]float32
}

func (k known) Header() embed.Header {
	return embed.Header{Normalization: embed.Fold, Dim: len(k.vectors[0])}
}
func (k known) Len() int              { return len(k.words) }
func (k known) Word(i int) embed.Word { return embed.Word{Form: k.words[i]} }
func (k known) At(i int) []float32    { return k.vectors[i] }

func (k known) Find(form []byte) (int, bool) {
	i := slices.Index(k.words, string(embed.Fold.Append(nil, form)))
	return i, i >= 0
}

// towns are words that no note of the tests has; by their vectors they are like
// the places that there are.
var towns = known{
	words: []string{"villanueva", "pardo", "sotoverde", "ojuelos", "castro", "pinar", "montclar", "acude", "dolor", "control", "rodilla"},
	vectors: [][]float32{
		{3, 0}, {3, 0}, {3, 0}, {3, 0}, {3, 0}, {3, 0}, {3, 0}, {0, 3}, {0, 3}, {0, 3}, {0, 3},
	},
}

// TestVectors: words that only the vectors know are known to the network, by
// whatever form; frozen ones stay as they began.
func TestVectors(t *testing.T) {
	a, r := tiny(t, "default")
	a.Chars, a.Feature = "none", 0
	r.Epochs, r.Batch, r.Rate, r.WarmUp, r.KeepO, r.Rare, r.Frozen = 60, 4, 1e-2, 5, 1, 0, true
	r.Input, r.Locked, r.Output, r.Word, r.Swap = 0, 0, 0, 0, 0
	m, err := Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 1, Vectors: towns})
	if err != nil {
		t.Fatal(err)
	}
	row := func(form string) []float32 {
		return m.Parameters().Named("words").Numbers()[int(m.Vocabulary().Word([]byte(form)))*a.Word:][:2]
	}
	for form, want := range map[string]float32{"pardo": 1, "Montclar": 1, "MÓNTCLAR": 1, "dolor": 0, "quiensabe": 7. / 11} {
		if got := row(form)[0]; got < want-0.02 || got > want+0.02 {
			t.Errorf("%s begins with %.3f, want %.3f", form, got, want)
		}
	}
	var file bytes.Buffer
	if err := m.Write(&file); err != nil {
		t.Fatal(err)
	}
	f, err := modelfile.Parse(file.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	read, err := bilstm.Load(f, features.Resources{})
	if err != nil {
		t.Fatal(err)
	}
	n := parse("Natural de [L:Mòntclar]")
	got := make([]pipeline.Tag, len(n.tokens))
	if read.NewLabeller(tagger.LabelOptions{}).Label(n.text, n.tokens, nil, got); !slices.Equal(got, n.tags) {
		t.Errorf("a town that only the vectors know is tagged %v", got)
	}
	r.Frozen = false
	if m, err = Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 1, Vectors: towns}); err != nil {
		t.Fatal(err)
	}
	moved := row("pardo")[0]
	if moved > 0.99 && moved < 1.01 {
		t.Error("vectors that are learned did not move")
	}
	for _, bad := range []known{{words: []string{"a"}, vectors: [][]float32{make([]float32, 17)}}, {vectors: [][]float32{nil}}} {
		if _, err := Train(corpusOf(t, a, sentences), TrainOptions{Recipe: r, Seed: 1, Vectors: bad}); err == nil {
			t.Error("vectors that do not fit are no error")
		}
	}
}

// TestNoise: a network that has seen disturbed notes tags them; the corpus
// stays as it was.
func TestNoise(t *testing.T) {
	a, r := tiny(t, "default")
	r.Epochs, r.Batch, r.Rate, r.WarmUp, r.KeepO, r.Output, r.Noise, r.MinCount = 60, 4, 1e-2, 5, 1, 0.1, 0.5, 1
	c := corpusOf(t, a, sentences)
	tokens := len(c.form)
	m, err := Train(c, TrainOptions{Recipe: r, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.form) != tokens {
		t.Errorf("%d tokens, there were %d", len(c.form), tokens)
	}
	l, wrong := m.NewLabeller(tagger.LabelOptions{}), 0
	for _, change := range []func(string) string{strings.ToUpper, strings.ToLower, func(s string) string { return string(withoutAccents([]byte(s))) }} {
		for _, s := range sentences {
			n := parse(s)
			text := []byte(change(string(n.text)))
			if len(text) != len(n.text) {
				continue // offsets are those of the note as it was
			}
			got := make([]pipeline.Tag, len(n.tokens))
			if l.Label(text, n.tokens, nil, got); !slices.Equal(got, n.tags) {
				wrong++
			}
		}
	}
	if wrong > 4 {
		t.Errorf("%d disturbed notes are tagged otherwise", wrong)
	}
}
