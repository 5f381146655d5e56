package look

import (
	"errors"
	"os"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/models/number/modelfile"
	"github.com/velum-health/velum/models/word/embed"
)

// openVectors opens a file of vectors; ok is false if it is not one, perhaps
// another kind of model.
func openVectors(path string) (f *embed.File, ok bool, err error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, false, nil
	}
	f, err = embed.Open(path)
	if errors.Is(err, modelfile.ErrNotAModel) {
		return nil, false, nil
	}
	if err != nil {
		return nil, true, exit.With(exit.Integrity, err, "make it again: velum teach embed")
	}
	return f, true, nil
}

// inspectVectors prints what a file of vectors says of itself, or the
// neighbours of a word.
func inspectVectors(c *console.Console, f *embed.File, word string, n int) error {
	if word != "" {
		return printNeighbours(c, f, word, n)
	}
	return c.Answer(map[string]any{"message_type": "embedding", "header": f.Header()}, "%s", DescribeVectors(f))
}

// DescribeVectors is what a file of vectors says of itself.
func DescribeVectors(f *embed.File) (w console.Words) {
	h := f.Header()
	w.Say("%d words in %d numbers each, %s, %s, from %d notes with %d tokens (%.1f %% known)\n",
		h.Words, h.Dim, h.Method, h.Normalization, h.Notes, h.Tokens, 100*float64(h.Known)/float64(max(h.Tokens, 1)))
	for _, k := range h.Clusters {
		median, largest, empty := f.Sizes(k)
		w.Say("  %5d clusters: %.1f words on average, median %d, largest %d, %d empty\n", k, float64(h.Words)/float64(k), median, largest, empty)
	}
	return w
}

// neighbourJSON is a word near another.
type neighbourJSON struct {
	Form   string  `json:"form"`
	Cosine float32 `json:"cosine"`
	Count  uint64  `json:"count"`
}

func printNeighbours(c *console.Console, f *embed.File, word string, n int) error {
	i, known := f.Find([]byte(word))
	if !known {
		return exit.Errorf(exit.Nothing, "only forms above the cut-off have one", "the word has no vector")
	}
	near := []neighbourJSON{}
	for _, x := range f.Neighbours(f.At(i), n, i) {
		w := f.Word(x.Word)
		near = append(near, neighbourJSON{w.Form, x.Cosine, w.Count})
	}
	var w console.Words
	of := f.Word(i)
	w.Say("%s: %d times in %d notes\n", of.Form, of.Count, of.Notes)
	for _, k := range f.Header().Clusters {
		cluster, _ := f.Cluster(i, k)
		words, size := f.Members(cluster, k, 8)
		w.Say("  cluster %d of %d, %d words:", cluster, k, size)
		for _, m := range words {
			w.Say(" %s", f.Word(m).Form)
		}
		w.Say("\n")
	}
	for _, x := range near {
		w.Say("%.3f  %-24s %9d\n", x.Cosine, x.Form, x.Count)
	}
	return c.Answer(map[string]any{"message_type": "neighbours", "word": word, "neighbours": near}, "%s", w)
}
