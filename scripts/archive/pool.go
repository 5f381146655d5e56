package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// pool is the sentences of the corpora, in the order of their texts.
type pool struct{ sentences []string }

// loadPool reads the corpora that are there. None at all is no error.
func loadPool(dir string) (*pool, error) {
	p := new(pool)
	for _, name := range []string{
		"unlabelled-es-clinical/nubes.jsonl.gz", "unlabelled-es-clinical/cantemist.jsonl.gz",
		"unlabelled-es-clinical/multicardioner.jsonl.gz", "unlabelled-es-clinical/codiesp.jsonl.gz",
		"unlabelled-ca/health-sentences.txt.gz",
	} {
		err := p.load(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return p, nil
}

func (p *pool) load(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		text := lines.Text()
		if strings.Contains(path, ".jsonl") {
			var doc struct{ Text string }
			if json.Unmarshal(lines.Bytes(), &doc) != nil {
				return errors.New("a line is not JSON")
			}
			text = doc.Text
		}
		p.split(text)
	}
	return lines.Err()
}

// split appends the sentences of text: lines, cut at full stops.
func (p *pool) split(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		for s := range strings.SplitAfterSeq(line, ". ") {
			if s = strings.TrimSpace(s); len(s) > 3 {
				p.sentences = append(p.sentences, s)
			}
		}
	}
}

// note makes a note of one to four sentences. Sentences that follow each
// other in a text follow each other in a note half of the time. Words are cut
// off at a length drawn so that the mean is near 19, with a long tail.
func (p *pool) note(rng *rand.Rand) []byte {
	limit := int(4 + rng.ExpFloat64()*19)
	var out []byte
	words, at := 0, rng.IntN(len(p.sentences))
	for words < limit {
		for w := range strings.FieldsSeq(p.sentences[at]) {
			if words == limit {
				break
			}
			if len(out) > 0 && rng.IntN(60) != 0 { // else glued
				out = append(out, ' ')
			}
			out = append(out, vary(rng, w)...)
			words++
		}
		if rng.IntN(3) == 0 {
			break
		}
		at = (at + 1) % len(p.sentences)
		if rng.IntN(2) == 0 {
			at = rng.IntN(len(p.sentences))
		}
	}
	return recase(rng, out)
}

// vary gives numbers other digits and misspells one word in eighty.
func vary(rng *rand.Rand, w string) []byte {
	out := []byte(w)
	for i, c := range out {
		if c > '0' && c <= '9' {
			out[i] = byte('1' + rng.IntN(9))
		}
	}
	if len(out) > 4 && rng.IntN(80) == 0 {
		i := 1 + rng.IntN(len(out)-3)
		if out[i] < 0x80 && out[i+1] < 0x80 {
			if rng.IntN(2) == 0 {
				out[i], out[i+1] = out[i+1], out[i]
			} else {
				out = append(out[:i], out[i+1:]...)
			}
		}
	}
	return out
}

func recase(rng *rand.Rand, text []byte) []byte {
	switch rng.IntN(8) {
	case 0:
		return []byte(strings.ToUpper(string(text)))
	case 1, 2:
		return []byte(strings.ToLower(string(text)))
	}
	return text
}
