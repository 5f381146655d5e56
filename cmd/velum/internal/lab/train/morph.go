package train

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/velum-health/velum/cmd/velum/internal/console"
	"github.com/velum-health/velum/cmd/velum/internal/exit"
	"github.com/velum-health/velum/cmd/velum/internal/option"
	"github.com/velum-health/velum/models/learn/morphtrain"
)

// morphFolds is how many folds the accuracy of a morph model is measured on.
const morphFolds = 5

// trainMorph makes a table of parts of speech and lemmas of treebanks.
func trainMorph(_ context.Context, c *console.Console, _ *option.Config, o *Options) error {
	if err := o.need(); err != nil {
		return err
	}
	var all [][]morphtrain.Word
	for _, path := range o.Train {
		sentences, err := readTreebank(path)
		if err != nil {
			return exit.Misconfigured(fmt.Errorf("%s: %w", path, err), "CoNLL-U with parts of speech and lemmas, plain or gzipped, is read")
		}
		all = append(all, sentences...)
	}
	known, unknown, err := morphtrain.Folds(all, morphFolds, morphtrain.Options{})
	if err != nil {
		return err
	}
	m, err := morphtrain.Train(all, morphtrain.Options{Name: o.modelName(), Scores: morphScores(known, unknown)})
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := m.Write(&b); err != nil {
		return err
	}
	h := m.Header()
	return writeModel(c, o.Out, b.Bytes(), map[string]any{"tokens": h.Tokens, "forms": h.Forms, "scores": h.Scores, "folds": morphFolds,
		"known_tokens": known.Tokens, "unknown_tokens": unknown.Tokens}, `, {{.forms}} forms from {{.tokens}} tokens
accuracy over {{.folds}} folds	tokens	part of speech	lemma
known forms	{{.known_tokens}}	{{figure "%.4f" .scores.known_pos}}	{{figure "%.4f" .scores.known_lemma}}
unknown forms	{{.unknown_tokens}}	{{figure "%.4f" .scores.unknown_pos}}	{{figure "%.4f" .scores.unknown_lemma}}
`)
}

func morphScores(known, unknown morphtrain.Accuracy) map[string]float64 {
	share := func(n, of int) float64 { return float64(n) / float64(max(of, 1)) }
	return map[string]float64{
		"known_pos": share(known.POS, known.Tokens), "known_lemma": share(known.Lemma, known.Tokens),
		"unknown_pos": share(unknown.POS, unknown.Tokens), "unknown_lemma": share(unknown.Lemma, unknown.Tokens),
		"unknown_share": share(unknown.Tokens, known.Tokens+unknown.Tokens),
	}
}

// readTreebank reads a CoNLL-U file, gzipped if it is called .gz.
func readTreebank(path string) (all [][]morphtrain.Word, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return nil, err
		}
	}
	for s, err := range morphtrain.Sentences(r) {
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
