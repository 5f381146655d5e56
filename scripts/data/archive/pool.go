package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
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

// note makes a note of one to some sentences. Words are cut off at a length
// drawn so that the mean is 19.5 (19.2 with the generated notes among them, as
// in BOOT appendix B), with a long tail.
func (p *pool) note(rng *rand.Rand) []byte {
	limit := int(4 + rng.ExpFloat64()*20)
	return recase(rng, p.words(rng, limit, 6, ' '))
}

// report makes a document of about 3 kB, a sentence a line.
func (p *pool) report(rng *rand.Rand) []byte {
	return recase(rng, p.words(rng, 380+rng.IntN(200), 0, '\n'))
}

// words recombines sentences into at most limit words. One sentence in stop is
// the last one (0: none before the limit). Sentences that follow each other in
// a text do so here half of the time.
func (p *pool) words(rng *rand.Rand, limit, stop int, between byte) []byte {
	var out []byte
	words, at := 0, rng.IntN(len(p.sentences))
	for words < limit {
		space := between
		for w := range strings.FieldsSeq(p.sentences[at]) {
			if words == limit {
				break
			}
			if len(out) > 0 && rng.IntN(60) != 0 { // else glued
				out = append(out, space)
			}
			space = ' '
			out = append(out, vary(rng, w)...)
			words++
		}
		if stop > 0 && rng.IntN(stop) == 0 {
			break
		}
		at = (at + 1) % len(p.sentences)
		if rng.IntN(2) == 0 {
			at = rng.IntN(len(p.sentences))
		}
	}
	return out
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
