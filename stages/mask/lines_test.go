package mask_test

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/velum-health/velum/models/form/surrogate"
	"github.com/velum-health/velum/pipeline"
	"github.com/velum-health/velum/pipeline/secret"
	"github.com/velum-health/velum/stages/mask"
)

// lineRow is a note whose spans are given: start, end and category of each, in bytes.
type lineRow struct {
	ID      string   `json:"id,omitempty"`
	Patient string   `json:"patient,omitempty"`
	Catalan bool     `json:"catalan,omitempty"`
	Text    string   `json:"text"`
	Spans   [][3]any `json:"spans"`
}

// TestLines masks a file of notes whose spans are given, so that scripts/bench/surrogates.py says itself what is missed:
//
//	VELUM_LINES=IN.jsonl VELUM_LINES_OUT=OUT.jsonl VELUM_LINES_POLICY="surrogate strategy=markov; AGE=age class=5" VELUM_LINES_KEY=1 [VELUM_LINES_NAMES=NAMES.csv]
func TestLines(t *testing.T) {
	in := os.Getenv("VELUM_LINES")
	if in == "" {
		t.Skip("VELUM_LINES names no file")
	}
	o, err := linePolicy(os.Getenv("VELUM_LINES_POLICY"))
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("lines " + os.Getenv("VELUM_LINES_KEY")))
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, sum[:], 0o400); err != nil {
		t.Fatal(err)
	}
	if o.Key, err = secret.Load(key); err != nil {
		t.Fatal(err)
	}
	if names := os.Getenv("VELUM_LINES_NAMES"); names != "" {
		if o.Names, err = lineNames(names); err != nil {
			t.Fatal(err)
		}
	}
	if err := maskLines(o, in, os.Getenv("VELUM_LINES_OUT")); err != nil {
		t.Fatal(err)
	}
}

// linePolicy reads a chain for all categories and, behind semicolons, those of some as AGE=chain.
func linePolicy(text string) (o mask.Options, err error) {
	first, rest, more := strings.Cut(text, ";")
	if o.Default, err = mask.ParseChain(first); err != nil || !more {
		return o, err
	}
	o.Policy = map[pipeline.Category]*mask.Chain{}
	for row := range strings.SplitSeq(rest, ";") {
		name, chain, _ := strings.Cut(strings.TrimSpace(row), "=")
		c, err := pipeline.ParseCategory(name)
		if err != nil {
			return o, err
		}
		if o.Policy[c], err = mask.ParseChain(chain); err != nil {
			return o, err
		}
	}
	return o, nil
}

// lineNames reads a table of names: kind,name,people.
func lineNames(path string) (*surrogate.Names, error) {
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

func maskLines(o mask.Options, from, to string) error {
	m, err := mask.NewMasker(o)
	if err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer out.Close()
	w := bufio.NewWriter(out)
	rows, lines := json.NewDecoder(bufio.NewReader(in)), json.NewEncoder(w)
	for {
		var r lineRow
		if err := rows.Decode(&r); errors.Is(err, io.EOF) {
			return w.Flush()
		} else if err != nil {
			return err
		}
		var spans []pipeline.Span
		for _, s := range r.Spans {
			category, err := pipeline.ParseCategory(s[2].(string))
			if err != nil {
				return err
			}
			spans = append(spans, pipeline.Span{Start: int32(s[0].(float64)), End: int32(s[1].(float64)), Category: category})
		}
		n := &mask.Note{ID: []byte(r.ID), Text: []byte(r.Text), Spans: spans, Patient: []byte(r.Patient)}
		if n.Language = pipeline.Spanish; r.Catalan {
			n.Language = pipeline.Catalan
		}
		text, places, ok := m.Mask(nil, nil, n)
		if !ok {
			return fmt.Errorf("note %s: spans that do not fit", r.ID)
		}
		r.Text, r.Spans = string(text), nil
		for _, p := range places {
			r.Spans = append(r.Spans, [3]any{p.Start, p.End, p.Category.String()})
		}
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
}
