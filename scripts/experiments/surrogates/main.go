// Command surrogates masks notes whose spans are given, so that an experiment says
// itself what is missed (surrogates.py). Stdin and stdout are JSONL:
//
//	{"id": "1", "patient": "p", "text": "...", "spans": [[start, end, "PERSON"]]}  ->  {"text": "...", "spans": [...]}
//
// Spans count bytes. The key is made of --seed: nothing here is for real notes.
package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"

	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/models/word/language"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/mask"
	"github.com/velum-health/velum/stages/tokenize"
)

type row struct {
	ID      string `json:"id,omitempty"`
	Patient string `json:"patient,omitempty"`
	Text    string `json:"text"`
	Spans   []span `json:"spans"`
}

// span is start, end and category.
type span [3]any

func main() {
	chain := flag.String("operator", "surrogate strategy=markov", "what stands in place of every value")
	seed := flag.Uint64("seed", 1, "of the key")
	names := flag.String("names", "", "table of names: kind,name,people")
	flag.Parse()
	if err := run(*chain, *names, *seed, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "surrogates:", err)
		os.Exit(1)
	}
}

func run(operator, names string, seed uint64, in io.Reader, out io.Writer) error {
	chain, err := mask.ParseChain(operator)
	if err != nil {
		return err
	}
	key, err := keyOf(seed)
	if err != nil {
		return err
	}
	o := mask.Options{Default: chain, Key: key}
	if names != "" {
		if o.Names, err = readNames(names); err != nil {
			return err
		}
	}
	m, err := mask.NewMasker(o)
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	rows, lines := json.NewDecoder(in), json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	for {
		var r row
		if err := rows.Decode(&r); errors.Is(err, io.EOF) {
			return w.Flush()
		} else if err != nil {
			return err
		}
		if err := r.mask(m); err != nil {
			return err
		}
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
}

// readNames reads a table of names.
func readNames(path string) (*surrogate.Names, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, err
	}
	var all []surrogate.Name
	for _, r := range rows[1:] {
		kind, _ := surrogate.KindOf(r[0])
		people, _ := strconv.Atoi(r[2])
		all = append(all, surrogate.Name{Kind: kind, Text: r[1], People: people})
	}
	return surrogate.NewNames(all), nil
}

// mask replaces the text and the spans of a row.
func (r *row) mask(m *mask.Masker) error {
	var spans []pipeline.Span
	for _, s := range r.Spans {
		start, _ := s[0].(float64)
		end, _ := s[1].(float64)
		name, _ := s[2].(string)
		category, err := pipeline.ParseCategory(name)
		if err != nil {
			return err
		}
		spans = append(spans, pipeline.Span{Start: int32(start), End: int32(end), Category: category})
	}
	n := mask.NewNote([]byte(r.ID), []byte(r.Text), spans)
	n.Patient = []byte(r.Patient)
	var t tokenize.Tokenizer
	n.Language, _ = language.Of(n.Text, t.Tokens(nil, n.Text))
	text, places, ok := m.Mask(nil, nil, n)
	if !ok {
		return fmt.Errorf("note %s: spans that do not fit", r.ID)
	}
	*r = row{ID: r.ID, Patient: r.Patient, Text: string(text)}
	for _, p := range places {
		r.Spans = append(r.Spans, span{p.Start, p.End, p.Category.String()})
	}
	return nil
}

func keyOf(seed uint64) (*secret.Key, error) {
	dir, err := os.MkdirTemp("", "surrogates")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	sum := sha256.Sum256(fmt.Appendf(nil, "surrogates %d", seed))
	path := filepath.Join(dir, "key")
	if err := os.WriteFile(path, sum[:], 0o400); err != nil {
		return nil, err
	}
	return secret.Load(path)
}
