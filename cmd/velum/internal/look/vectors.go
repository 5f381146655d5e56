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

// inspectVectors prints the header of a file of vectors, or the neighbours of a word.
func inspectVectors(c *console.Console, f *embed.File, word string, n int) error {
	if word != "" {
		return printNeighbours(c, f, word, n)
	}
	return c.Tell(map[string]any{"message_type": "embedding", "header": f.Header(), "clusters": SizesOf(f)}, VectorsText)
}

// sizes describes the sizes of clusters in words, for one number of clusters.
type sizes struct {
	Clusters int     `json:"clusters"`
	Mean     float64 `json:"mean"`
	Median   int     `json:"median"`
	Largest  int     `json:"largest"`
	Empty    int     `json:"empty"`
}

// SizesOf returns the sizes of the clusters of a file of vectors, for each number of clusters.
func SizesOf(f *embed.File) (all []sizes) {
	for _, k := range f.Header().Clusters {
		median, largest, empty := f.Sizes(k)
		all = append(all, sizes{k, float64(f.Header().Words) / float64(k), median, largest, empty})
	}
	return all
}

// VectorsText is a template of console.Tell for the header of a file of vectors, and the sizes of its clusters.
const VectorsText = `{{with .header}}{{.words}} words in {{.dimensions}} numbers each, {{.method}}, {{.normalization}}, from {{.notes}} notes with {{.tokens}} tokens ({{.known_tokens}} of them known)
{{end}}{{range .clusters}}  {{printf "%5d" .clusters}} clusters: {{figure "%.1f" .mean}} words on average, median {{.median}}, largest {{.largest}}, {{.empty}} empty
{{end}}`

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
	var clusters []map[string]any
	for _, k := range f.Header().Clusters {
		cluster, _ := f.Cluster(i, k)
		words, size := f.Members(cluster, k, 8)
		var forms []string
		for _, m := range words {
			forms = append(forms, f.Word(m).Form)
		}
		clusters = append(clusters, map[string]any{"cluster": cluster, "of": k, "words": size, "first": forms})
	}
	of := f.Word(i)
	return c.Tell(map[string]any{"message_type": "neighbours", "word": word, "count": of.Count, "notes": of.Notes, "clusters": clusters,
		"neighbours": near},
		`{{.word}}: {{.count}} times in {{.notes}} notes
{{range .clusters}}  cluster {{.cluster}} of {{.of}}, {{.words}} words:{{range .first}} {{.}}{{end}}
{{end}}{{range .neighbours}}{{figure "%.3f" .cosine}}  {{printf "%-24s %9d" .form .count}}
{{end}}`)
}
